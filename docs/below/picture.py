"""Picture of docs/literature.md: errors as reported, lower bounds, and Gaussian noise.

    python docs/below/picture.py

writes docs/images/below-the-floor.svg. The numbers are those of the page's snippets.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpnoise import L2, gaussian_sigma
from dpnoise.optimality.floor import floor
from dpnoise_papers.style import COLOURS, GREY, house_style, legend_below, page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS = Path(__file__).parents[1]
SAVED = {1: 67.80, 2: 79.16, 3: 87.58, 4: 91.87, 5: 94.68}  # percent, as reported
DIMENSIONS = (5, 10, 20, 50, 100, 200, 500, 1000)


def mixtures() -> dict[str, list[float]]:
    """E|T| of Gaussian noise, what the reported saving leaves of it, and the floor."""
    gaussian = [float(gaussian_sigma(e, 1e-5)) * math.sqrt(2 / math.pi) for e in SAVED]
    return {
        "gaussian": gaussian,
        "reported": [(1 - s / 100) * g for s, g in zip(SAVED.values(), gaussian, strict=True)],
        "floor": [floor(1.0, epsilon=e, delta=1e-5, error="mean-abs").value for e in SAVED],
    }


def one_direction() -> dict[str, list[float]]:
    """E|T|^2 in M coordinates at epsilon = 1 and delta = 1e-6, of the same three."""

    def claimed(m: int) -> float:
        log = math.log(1e-6) + math.lgamma((m - 1) / 2) - math.lgamma(m / 2)
        return 2 / math.exp((log - math.log(math.pi) / 2) * 2 / (m - 2))

    return {
        "gaussian": [m * float(gaussian_sigma(1.0, 1e-6)) ** 2 for m in DIMENSIONS],
        "reported": [claimed(m) for m in DIMENSIONS],
        "floor": [m * floor(L2(1.0, of=m), epsilon=1.0, delta=1e-6).value for m in DIMENSIONS],
    }


@house_style()
def picture() -> Figure:
    """Mixtures of Gaussians over epsilon on the left, one random direction over M on the right."""
    figure, ((left, right),) = page(1, 2, height=2.8)
    for axes, x, curves in (
        (left, np.array(list(SAVED)), mixtures()),
        (right, np.array(DIMENSIONS), one_direction()),
    ):
        axes.plot(x, curves["gaussian"], color=COLOURS["gaussian"], label="Gaussian noise")
        axes.fill_between(x, 1e-3, curves["floor"], color=GREY, alpha=0.25, linewidth=0)
        axes.plot(x, curves["floor"], color="black", label="floor of any additive noise")
        axes.plot(x, curves["reported"], "o", color=COLOURS["laplace"], label="as reported")
        axes.set_yscale("log")
    left.set_xticks(list(SAVED))
    left.set_ylim(0.02, 5)
    left.set_xlabel(r"$\epsilon$, at $\delta = 10^{-5}$ ('Mind the Gap')")
    left.set_ylabel("E|T|")
    right.set_xscale("log")
    right.set_ylim(1, 1e5)
    right.set_xlabel(r"coordinates, at $\epsilon = 1$, $\delta = 10^{-6}$ (R1SMG)")
    right.set_ylabel(r"E|T|$^2$")
    legend_below(figure)
    return figure


@house_style()
def write(path: Path) -> None:
    """Write the picture as SVG, with the same bytes on every run."""
    picture().savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    write(DOCS / "images" / "below-the-floor.svg")
