"""The least variance in K dimensions, and of families without a vectorised profile.

Flipped Huber noise in K dimensions (flipped-huber-2023, Section IV-B; Algorithm 2 there is a
grid search). The profile has a kink where the largest loss of the Laplace centres together,
K sensitivity alpha / gamma^2, is epsilon: beyond it they cost delta with probability about
2^-K. Along that curve one scalar root spends delta, a candidate, always below the variance of
(epsilon, 0)-DP Laplace noise. The other landmarks are the Gaussian, a member, and (epsilon, delta)-DP
Laplace noise, a limit; from the best of the three the shapes between are searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration import closed_forms
from dpnoise.calibration.certify import settle
from dpnoise.calibration.dual_search import DualSearch, Known, root
from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Subbotin,
    TruncatedLaplace,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise import Noise

_CLOSE = 1e-11
# Rounding must not put the largest loss of a kink above epsilon.
_BELOW = 1.0 - 1e-12


def _laplace_variance(budget: Budget) -> float:
    """Return the variance of the least Laplace noise for sensitivity 1."""
    if budget.dimension == 1:
        return 2.0 * closed_forms.laplace_scale(budget.epsilon, budget.delta) ** 2
    search = DualSearch(lambda _, scale: Laplace(scale), budget)
    pure = budget.epsilon / budget.dimension
    # Just beyond the pure scale delta grows with a power of the excess.
    start = math.log(max(pure, 1e-3)) - 4.0
    excess = root(lambda x: search.excess(Laplace(1.0), pure + math.exp(x)), start, 1.0, _CLOSE)
    return 2.0 / (pure + math.exp(excess)) ** 2


def laplace(budget: Budget) -> Calibration:
    """Return the least Laplace noise for delta > 0."""
    beta = math.sqrt(0.5 * _laplace_variance(budget))
    return settle(Laplace(beta * budget.sensitivity), budget)


def _gaussian_variance(budget: Budget) -> float:
    return closed_forms.gaussian(budget.unit).variance


def _kink(search: DualSearch, start: float) -> Known | None:
    """Return the noise where the largest loss of the Laplace part is epsilon, if delta is spent.

    `make(shape, 1)` of the search has slope `shape` where it is Laplace noise.
    """
    dimension, epsilon = search.budget.dimension, search.budget.epsilon
    if epsilon == 0.0:
        return None

    def excess(log_shape: float) -> float:
        shape = math.exp(-log_shape)
        return search.excess(search.make(shape, 1.0), _BELOW * epsilon / dimension / shape)

    try:
        shape = math.exp(-root(excess, -math.log(start), 0.1, _CLOSE))
    except RuntimeError:
        return None
    d = _BELOW * epsilon / dimension / shape
    return Known(search.make(shape, 1.0).var() / d**2, shape, limit=False)
