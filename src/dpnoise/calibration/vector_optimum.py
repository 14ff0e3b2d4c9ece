"""The least variance in K dimensions, and of families without a vectorised profile.

Flipped Huber noise in K dimensions (flipped-huber-2023, Section IV-B; Algorithm 2 there is a
grid search). The profile has a kink where the largest loss of the Laplace centres together,
K sensitivity alpha / gamma^2, is epsilon: beyond it they cost delta with probability about
2^-K. Along that curve one scalar root spends delta, a candidate, always below the variance of
(epsilon, 0)-DP Laplace noise. The other landmarks are the Gaussian, a member, and Laplace noise
for (epsilon, delta), a limit; from the best of the three the shapes between are searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration import closed_forms
from dpnoise.calibration.certify import settle
from dpnoise.calibration.dual_search import DualSearch, Known, root
from dpnoise.noise import (
    FlippedHuber,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Subbotin,
    TruncatedLaplace,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise import Noise

    Array = NDArray[np.float64]

# Rounding must not put the largest loss of a kink above epsilon.
_BELOW = 1.0 - 1e-12
_ROUGH, _FINE = 1e-5, 1e-7  # errors of log delta on the kink, to compare and to hand out
_BESIDE_KINK = 0.9, 0.98, 1.02, 1.1


def _laplace_variance(budget: Budget) -> float:
    """Return the variance of the least Laplace noise for sensitivity 1."""
    if budget.dimension == 1:
        return 2.0 * closed_forms.laplace_scale(budget.epsilon, budget.tight.delta) ** 2
    search = DualSearch(lambda _, scale: Laplace(scale), budget)
    pure = budget.epsilon / budget.dimension
    # Just beyond the pure scale delta grows with a power of the excess.
    start = math.log(max(pure, 1e-3)) - 4.0
    excess = root(lambda x: search.excess(Laplace(1.0), pure + math.exp(x)), start, 1.0)
    return 2.0 / (pure + math.exp(excess)) ** 2


def laplace(budget: Budget) -> Calibration:
    """Return the least Laplace noise for delta > 0."""
    beta = math.sqrt(0.5 * _laplace_variance(budget))
    return settle(Laplace(beta * budget.sensitivity), budget)


def _gaussian_variance(budget: Budget) -> float:
    return closed_forms.gaussian(budget.unit).variance


class VectorFamily(NamedTuple):
    """What the search needs to know of a family.

    Attributes
    ----------
    make : callable
        (shape, scale) -> noise. Where the noise is Laplace, up to a bound or in its centre, its
        scale is scale / shape.
    grid : numpy.ndarray
        Increasing shapes to scan.
    laplace, gaussian : float or None
        Shapes that stand for these limits.
    kink : float or None
        Where to look for the kink of a family with an inner Laplace part.
    """

    make: Callable[[float, float], Noise]
    grid: Array
    laplace: float | None = None
    gaussian: float | None = None
    kink: float | None = None


def _flipped_huber(budget: Budget) -> VectorFamily:
    depth = budget.epsilon / budget.dimension - math.log(budget.delta)
    last = math.sqrt(depth + 3.0)
    return VectorFamily(
        make=lambda b, scale: FlippedHuber(b * scale, scale),
        grid=np.geomspace(0.03, last, 16),
        # There the tails of all coordinates hold less than 1e-9 delta.
        laplace=math.sqrt(depth + math.log(budget.dimension) + 25.0),
        gaussian=0.0,
        kink=0.5 * math.sqrt(depth),
    )


def _offset_gaussian(budget: Budget) -> VectorFamily:  # noqa: ARG001
    return VectorFamily(
        make=lambda b, scale: OffsetSymmetricGaussian(b * scale, scale),
        grid=np.geomspace(0.03, 3e3, 24),
        laplace=1e5,
        gaussian=0.0,
    )


def _truncated_laplace(budget: Budget) -> VectorFamily:
    share = budget.epsilon / budget.dimension
    last = share - math.log(budget.delta / budget.dimension) + 5.0
    return VectorFamily(
        make=lambda r, scale: TruncatedLaplace(scale / r, scale),
        grid=np.geomspace(1e-3, last, 24),
        laplace=last + 25.0,
        kink=last - 5.0,
    )


def _huber(budget: Budget) -> VectorFamily:  # noqa: ARG001
    return VectorFamily(make=Huber, grid=np.geomspace(0.01, 30.0, 20), laplace=1e-5, gaussian=60.0)


def _subbotin(budget: Budget) -> VectorFamily:  # noqa: ARG001
    # The unit scale / shape of the Laplace noise at p = 1 holds for shape 1 only.
    return VectorFamily(make=Subbotin, grid=np.geomspace(1.02, 1e3, 28), laplace=1.0, gaussian=2.0)


_FAMILIES = {
    FlippedHuber: _flipped_huber,
    OffsetSymmetricGaussian: _offset_gaussian,
    TruncatedLaplace: _truncated_laplace,
    Huber: _huber,
    Subbotin: _subbotin,
}


def _kink(search: DualSearch, start: float, step: float, error: float) -> Known | None:
    """Return the noise where the largest loss of the Laplace part is epsilon, if any.

    Parameters
    ----------
    search : DualSearch
        The family and the budget.
    start, step : float
        A first shape, and how far to go in its logarithm at first.
    error : float
        Of log delta, at most 1e-7 for what is handed out.
    """
    share = _BELOW * search.budget.epsilon / search.budget.dimension
    if share == 0.0:
        return None

    def excess(log_shape: float) -> float:  # delta falls with the shape
        shape = math.exp(-log_shape)
        return search.excess(search.make(shape, 1.0), share / shape, error)

    try:
        shape = math.exp(-root(excess, -math.log(start), step, 0.1 * error))
    except RuntimeError:
        return None
    return Known(search.make(shape, 1.0).var() / (share / shape) ** 2, shape, limit=False)


def vector_optimum(kind: type[Noise], budget: Budget) -> Calibration:
    """Return the noise of least variance of a family, for delta > 0.

    Parameters
    ----------
    kind : type
        FlippedHuber, OffsetSymmetricGaussian, TruncatedLaplace, Huber or Subbotin.
    budget : Budget
        With positive delta.
    """
    family = _FAMILIES[kind](budget)
    search = DualSearch(family.make, budget.unit)
    known = []
    if family.laplace is not None:
        limit = kind is not Subbotin
        known.append(Known(_laplace_variance(budget), family.laplace, limit))
    if family.gaussian is not None:
        limit = kind is Huber
        known.append(Known(_gaussian_variance(budget), family.gaussian, limit))
    grid = family.grid
    kink = None
    if family.kink is not None and (kink := _kink(search, family.kink, 0.15, _ROUGH)):
        known.append(kink)
        grid = np.union1d(grid, kink.shape * np.array(_BESIDE_KINK))
    best = search.least(known, grid)
    if best is kink:
        best = _kink(search, kink.shape, _ROUGH, _FINE) or kink
    variance = search.solve(best.shape, best.variance, 1e-6) if best.limit else best.variance
    scale = math.sqrt(variance / family.make(best.shape, 1.0).var())
    noise = family.make(best.shape, scale * budget.sensitivity)
    infimum = best.variance * budget.sensitivity**2 if best.limit else None
    return settle(noise, budget, infimum=infimum)
