"""Names of data sets and mechanisms in figures and pages of private coordinate descent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers import style

if TYPE_CHECKING:
    from collections.abc import Iterable

MECHANISMS = {**style.NAMES, "gaussian-tight": "Gaussian, tight account"}
_DATASETS = {  # in the order of Table III of flipped-huber-2023
    "houses": "Houses",
    "wine-quality": "Wine quality",
    "pumpkin-seeds": "Pumpkin seeds",
    "heart-statlog": "Heart",
    "california": "California",
    "boston": "Boston housing",
    "airfoil": "Airfoil",
    "diabetes": "Diabetes",
}


def title(dataset: str) -> str:
    """Name of a data set for people, from its name in data/registry.yaml."""
    return _DATASETS.get(dataset, dataset.replace("-", " ").capitalize())


def in_order(datasets: Iterable[str]) -> list[str]:
    """Data sets in the order of the printed table, then the others by name."""
    known = list(_DATASETS)
    return sorted(
        set(datasets), key=lambda name: (known.index(name) if name in known else len(known), name)
    )
