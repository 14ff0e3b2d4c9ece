"""Lower bound on the variance of additive noise for a cube, from a product of tests.

Let each coordinate of the noise move by +1 or -1, outwards with a probability that grows with its
size: by +1 with probability p(x), p rising from 0 to 1 and p(-x) = 1 - p(x). Summed over the 2^K
vectors of signs, (epsilon, delta)-DP says (docs/floor.md, section 7)

    e^-epsilon (1 - 2^K delta) <= E prod_i (1 - rho(T_i)),  rho(y) = p(y + 1) - p(y - 1):

noise that is too small would nearly always be moved. With p' = rho0 / 2 and
rho0(u) = 1 - exp(-kappa (lam - u^2)_+), whose integral over u > 0 may be 1,

    1 - rho(y) <= exp(-kappa' (lam' - y^2)_+),
    kappa' = kappa (1 + 2 kappa / 3),  lam' = (lam - 1) / (1 + 2 kappa / 3),

so that e^-epsilon (1 - 2^K delta) <= E exp(-kappa' (K lam' - |T|^2)_+), which is at most a linear
function of E |T|^2. As epsilon falls and K rises the bound tends to K^2 / (3 epsilon^2) per
coordinate, the variance of K-norm noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import dawsn

from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.sensitivity.balls import LInf

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_HALVINGS = 60
_MOST_DIMENSIONS = 10_000
_LARGEST_POWER = 1024  # of 2, from which on it has no double
_WIDEST_STEP = 2.0  # of group times epsilon


@dataclass(frozen=True)
class ProductTest:
    """Certificate for a cube with equal weights.

    Parameters
    ----------
    group : int
        The shifts are this many sides of the cube long (group privacy).
    kappa : float
        Of rho0, positive.
    """

    group: int
    kappa: float

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "product test"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times the bound on the mean variance; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        if not equal or not isinstance(sensitivity, LInf) or not self.kappa > 0.0:
            return 0.0
        budget = group_budget(self.group, epsilon, delta)
        value = float(_mean_variance(sensitivity.dimension, *budget, np.array([self.kappa]))[0])
        total = float(np.sum(weights)) * (self.group * sensitivity.radius) ** 2
        return max(0.0, value) * total * (1.0 - 1e-10)


def _mean_variance(K: int, epsilon: float, delta: float, kappa: Array) -> Array:
    """Bounds on the mean variance for the unit cube, for each kappa."""
    patterns = 0.0  # of signs, times delta
    if delta > 0.0:  # where 2^K has no double, nothing is proved
        patterns = delta * 2.0**K if K < _LARGEST_POWER else math.inf
    kept = math.exp(-epsilon) * max(0.0, 1.0 - patterns)
    more = 1.0 + kappa * (2.0 / 3.0)
    lam = (_largest_lam(kappa) - 1.0) / more
    outside = np.exp(-kappa * more * K * np.maximum(lam, 0.0))
    value = lam * (kept - outside) / np.maximum(1.0 - outside, 1e-300)
    return np.where((lam > 0.0) & (kept > outside), value, 0.0)


def _largest_lam(kappa: Array) -> Array:
    """Value of lam for which the integral of rho0 over u > 0 is just below 1.

    The integral is sqrt(lam) - D(sqrt(kappa lam)) / sqrt(kappa), D Dawson's function, and rises.
    """
    low = np.ones_like(kappa)
    high = 4.0 + 4.0 / kappa
    for _ in range(_HALVINGS):
        lam = 0.5 * (low + high)
        root = np.sqrt(kappa)
        fits = np.sqrt(lam) - dawsn(root * np.sqrt(lam)) / root <= 1.0 - 1e-9
        low, high = np.where(fits, lam, low), np.where(fits, high, lam)
    return low


def product_test(dimension: int, epsilon: float, delta: float) -> ProductTest | None:
    """Certificate for the unit cube, or None where it proves nothing."""
    if dimension > _MOST_DIMENSIONS:
        return None
    best, highest = None, 0.0
    most = max(1.0, _WIDEST_STEP / epsilon)
    for group in np.unique(np.geomspace(max(1.0, most / 100.0), most, 12).astype(int)).tolist():
        wide, spent = group_budget(group, epsilon, delta)
        # kappa lam^(3/2) is about 3 / 2, with lam of the order of (K / epsilon)^2.
        kappa = np.geomspace(0.01, 10.0, 100) * (wide / dimension) ** 3
        values = group**2 * _mean_variance(dimension, wide, spent, kappa)
        place = int(np.argmax(values))
        if values[place] > highest:
            best, highest = ProductTest(group, float(kappa[place])), float(values[place])
    return best
