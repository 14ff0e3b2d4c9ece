"""Minimum variance inside a box of parameters, such as the one that the paper searches.

Section V-A of flipped-huber-2023 searches a grid in alpha, gamma (or theta, rho) in
[0.02, 150] x [0.02, 50] and does not print its resolution. Here the box is searched
continuously: what is found is what ever finer grids come down to.

At fixed alpha a larger gamma is more private and has more variance (see
`dpnoise.calibration.published`), so for each alpha the smallest private gamma counts. Alphas are
scanned on a geometric grid, then around the best on ever finer ones. An alpha is left at once if
the largest gamma that would still be an improvement is not private.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq

from dpnoise.calibration.budget import Budget
from dpnoise.calibration.certify import delta_to_compare
from dpnoise.calibration.published import theorem_8_delta
from dpnoise.noise import FlippedHuber, OffsetSymmetricGaussian
from dpnoise_papers.grids import describe, parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.noise import Noise

    Family = type[FlippedHuber | OffsetSymmetricGaussian]
    Ranges = tuple[tuple[float, float], tuple[float, float]]

FAMILIES: dict[str, Family] = {
    "flipped-huber": FlippedHuber,
    "offset-symmetric-gaussian": OffsetSymmetricGaussian,
}
_SCAN, _FINER = 33, 9
_FAR = 30.0  # logarithms further from that of delta only say 'far'
_STEEP, _GROWTH = 10.0, 8.0  # by how much log delta falls with log gamma, at least mostly
_CLOSE = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-7, 1e-7)  # of log gamma: scan, then each finer grid


class InBox(NamedTuple):
    """Noise of minimum variance in a box; `noise` is None, the rest NaN, if none is private.

    Attributes
    ----------
    variance : float
        Per coordinate.
    delta : float
        What is certified, or, for "sufficient-box", what Theorem 8 vouches for; at most the
        budget's.
    """

    noise: Noise | None
    variance: float
    delta: float

    @property
    def told(self) -> str:
        """Parameters of the noise."""
        return describe(self.noise) if self.noise else "none in the box"


def minimum_in_box(
    family: str,
    box: Ranges,
    *,
    epsilon: float,
    delta: float,
    sensitivity: float = 1.0,
    dimension: int = 1,
    method: str = "box",
) -> InBox:
    """Noise of minimum variance in a box that keeps a privacy budget.

    Parameters
    ----------
    family : {"flipped-huber", "offset-symmetric-gaussian"}
    box : ((float, float), (float, float))
        The ranges of alpha or theta and of gamma or rho, positive.
    epsilon, delta, sensitivity, dimension
        As for `dpnoise.calibrate`; epsilon and delta positive.
    method : {"box", "sufficient-box"}
        Under the exact privacy profile, or (flipped Huber noise) under Theorem 8.

    Examples
    --------
    >>> box = ((0.02, 150.0), (0.02, 50.0))
    >>> found = minimum_in_box("offset-symmetric-gaussian", box, epsilon=0.3, delta=1e-6)
    >>> round(found.variance, 2)
    27.98
    """
    budget = Budget(epsilon, delta, sensitivity, dimension)

    def spent(noise: Noise) -> float:
        if method == "sufficient-box" and isinstance(noise, FlippedHuber):
            place = noise.alpha, noise.gamma, budget.sensitivity, budget.epsilon, budget.dimension
            return float(theorem_8_delta(*place))
        return delta_to_compare(noise, budget)

    return search(FAMILIES[family], spent, budget.delta, box)


def inside(noise: Noise, box: Ranges) -> bool:
    """Whether the two parameters of a noise lie in a box."""
    pairs = zip(parameters(noise).values(), box, strict=True)
    return all(low <= value <= high for value, (low, high) in pairs)


def search(family: Family, spent: Callable[[Noise], float], delta: float, box: Ranges) -> InBox:
    """Noise of minimum variance in a box that spends at most delta.

    Parameters
    ----------
    family : type
        With two parameters, alpha and gamma.
    spent : callable
        Noise -> delta; no larger for a larger gamma at the same alpha.
    box : ((float, float), (float, float))
        The ranges of alpha and of gamma, positive.
    """
    (low, high), (bottom, ceiling) = box
    best: tuple[float, float, float] | None = None  # variance, alpha, gamma

    def attempt(alphas: Array, close: float) -> None:
        nonlocal best
        for alpha in alphas:
            top = ceiling
            if best is not None:
                top = _gamma_of(family, alpha, best[0], (bottom, ceiling))
            excess = partial(_excess, spent, delta, family, alpha)
            if top <= bottom or excess(math.log(top)) > 0.0:
                continue
            gamma = _smallest_private(excess, (bottom, top), close)
            variance = family(alpha, gamma).var()
            if best is None or variance < best[0]:
                best = variance, float(alpha), gamma

    scan = np.geomspace(low, high, _SCAN)
    scan[-1] = high  # geomspace rounds its ends
    attempt(scan[::-1], _CLOSE[0])
    ratio = math.log(scan[1] / scan[0])
    for close in _CLOSE[1:]:
        if best is None:
            break
        around = best[1] * np.exp(ratio * np.linspace(-1.0, 1.0, _FINER))
        attempt(np.unique(np.clip(around, low, high)), close)
        ratio *= 2.0 / (_FINER - 1)
    if best is None:
        return InBox(None, math.nan, math.nan)
    noise = family(best[1], best[2])
    return InBox(noise, best[0], spent(noise))


def _excess(
    spent: Callable[[Noise], float], delta: float, family: Family, alpha: float, log_gamma: float
) -> float:
    """Log of what noise of two parameters spends, less log delta."""
    found = spent(family(alpha, math.exp(log_gamma)))
    return math.log(found / delta) if found > 0.0 else -math.inf


def _gamma_of(family: Family, alpha: float, variance: float, ends: tuple[float, float]) -> float:
    """Largest gamma in a range at which noise of this alpha has less than a variance."""
    if family(alpha, ends[1]).var() < variance:
        return ends[1]
    low, high = math.log(ends[0]), math.log(ends[1])
    while high - low > _CLOSE[-1]:
        middle = 0.5 * (low + high)
        below = family(alpha, math.exp(middle)).var() < variance
        low, high = (middle, high) if below else (low, middle)
    return math.exp(low)


def _smallest_private(
    excess: Callable[[float], float], ends: tuple[float, float], close: float
) -> float:
    """Private gamma close to the smallest one between `ends`, of which the upper is private.

    `excess` is log delta less that of the budget, as a function of log gamma.
    """
    low, high = math.log(ends[0]), math.log(ends[1])
    private = high

    @cache
    def cut(x: float) -> float:
        nonlocal private
        value = min(max(excess(x), -_FAR), _FAR)
        private = min(private, x) if value <= 0.0 else private
        return value

    # Mostly it is near the upper end: the steps down grow until it is passed.
    step = max(close, -cut(high) / _STEEP)
    while cut(start := max(high - step, low)) <= 0.0:
        if start == low:
            return ends[0]
        high, step = start, _GROWTH * step
    brentq(cut, start, high, xtol=close)
    return math.exp(private)
