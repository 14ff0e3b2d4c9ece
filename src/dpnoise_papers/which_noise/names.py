"""Mechanisms as `dpnoise.compare` calls them, each with the colour of its cells."""

from __future__ import annotations

from dpnoise_papers.style import COLOURS, GREY

CELLS = {
    "Laplace": COLOURS["laplace"],
    "Laplace, delta used": "#F2A679",
    "truncated Laplace": COLOURS["truncated-laplace"],
    "Gaussian": COLOURS["gaussian"],
    "flipped Huber": COLOURS["flipped-huber"],
    "Huber": COLOURS["huber"],
    "offset symmetric Gaussian": COLOURS["offset-symmetric-gaussian"],
    "Subbotin": COLOURS["subbotin"],
    "staircase per coordinate": COLOURS["staircase"],
    "staircase per coordinate, delta used": "#F7C873",
    "staircase in the norm": "#F4DE8A",
    "K-norm": COLOURS["k-norm"],
    "K-norm, delta used": "#9C9CE0",
    "truncated K-norm": "#C79AD9",
    "generalised gamma": "#B8C4D9",
    "K-norm of an ellipsoid": COLOURS["james-stein"],
    "generalised gamma of an ellipsoid": "#6E7A8A",
    "correlated Gaussian": "#5BB5C9",
    "blocks": "#B5A58A",
}
SETS = {"all": "all K change by 1", "three": "at most 3 of K change by 1"}
PLAIN_NOISE = ("Laplace", "Gaussian")


def colour(mechanism: str) -> str:
    """Colour of a mechanism's cells; grey for one that is new."""
    return CELLS.get(mechanism, GREY)
