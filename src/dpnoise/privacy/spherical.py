"""The profile of K-norm noise in the l2 norm, from above and to second order.

Lengths are in units of the scale, so that neighbours are at most a = 1 / scale apart. With g of
l2 balls (`dpnoise.joint.profile`), I the incomplete beta function with both parameters
(K + 1) / 2, regularised, V a gamma variate of shape K + 1 and e = epsilon / a, delta is

    A - exp(epsilon) B,  A = E I(x(1 / V)),  B = E I(y(1 / V)),
    x(z), y(z) = (1 - e) / 2 +- a (1 - e^2) z / 4, cut off at 1 and at 0,

B by moving the variable of integration by epsilon. I is convex below 1 / 2 and concave above, and
x and y are linear in z. So over a cell of V, whose mass and mean of z are known, Jensen's
inequality and the chord bound E I on either side, with an error that falls with the square of the
cell. A is bounded above, B below (docs/budget.md).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.lattice.discrete import ListedLoss

if TYPE_CHECKING:
    from fractions import Fraction

    from dpnoise._types import Array

_CELLS = 2**10
_EACH, _FEWEST, _MOST = 96.0, 96, 1024  # epsilons for each root of K, and their number
_TAIL = 1e-250  # of V, left to the outermost cells
_SMALLER = 1.0 - 2.0**-44  # of epsilon: more than the rounding of the arguments
_TINY = 1e-290  # more than an underflow
STEEPEST = 600  # largest loss: beyond about 690 e^epsilon or what it is multiplied by has no double


class Spherical(NamedTuple):
    """K-norm noise in the l2 norm, or that of an ellipsoid, for a sensitivity of 1 in that norm.

    Attributes
    ----------
    dimension : int
        The number K of coordinates, above 1.
    scale : Fraction
        The scale.
    """

    dimension: int
    scale: Fraction


def relative_error(dimension: float) -> float:
    """Bound on the relative error of SciPy's incomplete beta and gamma functions.

    Tested against 350-digit arithmetic for parameters to 3000 and values to 1e-290; 5 times what
    was seen.
    """
    return 1e-12 + 2e-14 * dimension


class _Cells(NamedTuple):
    """Cells of V: the ends of z = 1 / V, masses and integrals of z, bounded on either side."""

    low: Array  # of z
    high: Array
    under: Array  # mass
    over: Array  # mass
    integral: Array  # of z, from above


def _masses(k: float, v: Array) -> tuple[Array, Array]:
    """The masses of a gamma variate between nodes, and bounds on their errors."""
    below, above = special.gammainc(k, v), special.gammaincc(k, v)
    left = below < 0.5
    mass = np.where(left[1:], np.diff(below), -np.diff(above))
    mass = np.where(left[:-1] & ~left[1:], 1.0 - below[:-1] - above[1:], mass)
    tail = np.minimum(below, above)
    error = 4.0 * relative_error(k) * np.maximum(tail[1:], tail[:-1]) + 1e-300
    return mass, error


def _cells(K: int) -> _Cells:
    k = K + 1.0
    ends = special.gammaincinv(k, _TAIL), special.gammainccinv(k, _TAIL)
    inner = np.linspace(ends[0] ** 0.5, ends[1] ** 0.5, _CELLS - 1) ** 2
    mass, error = _masses(k, np.concatenate([[0.0], inner, [np.inf]]))
    # The integral of 1 / v against the density of shape K + 1 is 1 / K times a mass of shape K.
    integral, slack = _masses(float(K), np.concatenate([[0.0], inner, [np.inf]]))
    z = np.concatenate([[np.inf], 1.0 / inner, [0.0]])
    above = (integral + slack) / K * (1.0 + 1e-15)
    return _Cells(z[1:], z[:-1], np.maximum(mass - error, 0.0), mass + error, above)


def _upper(K: int, a: float, share: Array) -> Array:
    """Upper bounds on delta at epsilon = share a, for shares in (0, 1)."""
    cells, b, error = _cells(K), 0.5 * (K + 1.0), 4.0 * relative_error(K)
    share = share[:, None]
    middle, slope = 0.5 * (1.0 - share), 0.25 * a * (1.0 - share * share)

    def beta(x: Array) -> Array:
        return special.betainc(b, b, np.clip(x, 0.0, 1.0))

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = np.minimum(cells.integral / cells.under, cells.high)
    nodes = np.append(cells.low[0], cells.low[1:])
    at_low = beta(middle + slope * nodes)
    at_high = np.concatenate([np.ones(share.shape), at_low[:, :-1]], axis=1)
    excess = np.maximum(cells.integral - cells.low * cells.under, 0.0)
    width = np.where(np.isfinite(cells.high), cells.high - cells.low, np.inf)
    chord = cells.over * at_low + excess * ((at_high - at_low) / width)
    plain = cells.over * at_high
    jensen = cells.over * beta(middle + slope * mean)
    start, end = middle + slope * cells.low, middle + slope * np.minimum(cells.high, 1e300)
    above = np.where(end <= 0.5, np.minimum(chord, plain), plain)
    above = np.where(start >= 0.5, np.minimum(jensen, plain), above)
    below = cells.under * beta(middle - slope * mean)
    A = np.sum(above, axis=1) * (1.0 + error) + _TINY
    B = np.sum(below, axis=1) * (1.0 - error)
    return np.clip(A - np.exp(a * share[:, 0]) * B, 0.0, 1.0)


@lru_cache(maxsize=64)
def spherical_loss(K: int, scale: Fraction) -> ListedLoss:
    """A pair that dominates K-norm noise in K > 1 coordinates, for an l2 sensitivity of 1."""
    a = as_double_above(1 / scale)
    count = int(min(max(_EACH * K**0.5, _FEWEST), _MOST))
    share = (2.0 * np.arange(count) + 1.0) / (2.0 * count - 1.0)
    inner = np.asarray(share[:-1] * _SMALLER, dtype=np.float64)
    deltas = np.append(_upper(K, a, inner), 0.0)
    return ListedLoss(tuple((a * share).tolist()), tuple(deltas.tolist()), 1 / scale)
