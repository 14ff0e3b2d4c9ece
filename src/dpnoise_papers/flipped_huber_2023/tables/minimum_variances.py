"""Minimum variance of each mechanism for one budget, unrestricted and inside a box.

What Figures 3a and 4, Table II and their slides have in common: for each mechanism and method one
row, and a second one where the minimum is a limit that no member of the family attains.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration.calibrate import calibrate
from dpnoise_papers.flipped_huber_2023.tables.search_box import inside, minimum_in_box
from dpnoise_papers.grids import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dpnoise.calibration.budget import Calibration
    from dpnoise_papers.flipped_huber_2023.tables.search_box import Ranges

# Methods that search a box, with the method of `calibrate` that searches all parameters.
UNRESTRICTED = {"box": "exact", "sufficient-box": "sufficient"}


def delta_of(family: str, delta: float) -> float:
    """The delta that the paper and its slides give a family: 0 for staircase noise."""
    return 0.0 if family == "staircase" else delta


class MinimumVariance(NamedTuple):
    """One row: a mechanism, a method, and the noise of minimum variance that it finds.

    Attributes
    ----------
    mechanism, method : str
        The method 'infimum' has the limit that no noise attains.
    variance : float
        Per coordinate; NaN if no noise of the box is private.
    noise : str
        Its parameters; empty for an infimum.
    delta_bound : float
        Certified.
    attained : int
        1 or 0.
    """

    mechanism: str
    method: str
    variance: float
    noise: str
    delta_bound: float
    attained: int


def minimum_variances(
    mechanisms: Iterable[tuple[str, str]],
    box: Ranges,
    *,
    epsilon: float,
    delta: float,
    sensitivity: float = 1.0,
    dimension: int = 1,
) -> Iterator[MinimumVariance]:
    """Yield the minimum variance of each mechanism for one budget.

    Parameters
    ----------
    mechanisms : iterable of (family, method)
        Families by kebab name. Methods are those of `calibrate` ('exact' is unrestricted);
        'box' and 'sufficient-box', which search a box; and 'pure', (epsilon, 0)-DP noise.
    epsilon, delta, sensitivity, dimension
        As for `calibrate`.
    """

    @cache
    def calibrated(family: str, method: str) -> Calibration:
        pure = method == "pure"
        return calibrate(
            family,
            epsilon=epsilon,
            delta=0.0 if pure else delta_of(family, delta),
            sensitivity=sensitivity,
            dimension=dimension,
            method="exact" if pure else method,
        )

    for mechanism, method in mechanisms:
        found = calibrated(mechanism, UNRESTRICTED.get(method, method))
        if method in UNRESTRICTED and not (found.attained and inside(found.noise, box)):
            boxed = minimum_in_box(
                mechanism,
                box,
                epsilon=epsilon,
                delta=delta,
                sensitivity=sensitivity,
                dimension=dimension,
                method=method,
            )
            private = int(boxed.noise is not None)
            yield MinimumVariance(
                mechanism, method, boxed.variance, boxed.told, boxed.delta, private
            )
            continue
        told, attained = describe(found.noise), int(found.attained)
        yield MinimumVariance(mechanism, method, found.variance, told, found.delta, attained)
        if method == "exact" and not found.attained:
            yield MinimumVariance(mechanism, "infimum", found.infimum, "", np.nan, 0)
