"""Floors in closed form: the staircase in the norm at delta = 0, one step for large epsilon.

*Least variance of epsilon-DP noise for the l2 ball.* Averaging over rotations makes noise for the
l2 ball radial, without changing its mean variance. A radial density f(|x|) is epsilon-DP if and
only if f(r) <= e^epsilon f(s) whenever |r - s| <= 1 (radius 1). The least variance under this
constraint is that of a staircase: f falls by e^-epsilon at gamma, gamma + 1, gamma + 2, ...
(docs/floor.md, section 3). With b = e^-epsilon its mean variance per coordinate is

    sum_k b^k (gamma + k)^(K + 2) / ((K + 2) sum_k b^k (gamma + k)^K),  0 <= gamma <= 1.

Where K is large and epsilon is not, the sums hardly depend on gamma, by Poisson's summation
formula. Else the minimum over gamma is enclosed by cells: both sums are convex, so that on a cell
the upper one lies above its tangent and the lower one below its chord, and a ratio of two linear
functions is least at an end. For K = 1 this is the optimum of Geng & Viswanath (2016).

For the norm R of noise, in any norm, and any moment E R^q, the least is that of such a staircase,
too (docs/floor.md, section 11): with K + q in the place of K + 2,

    E R^q = K / (K + q) sum_k b^k (gamma + k)^(K + q) / sum_k b^k (gamma + k)^K.

*One step outwards*, for large epsilon. The mass near 0 of good noise is found again, e^-epsilon
times as much, at every shift. Let D be a convex set, symmetric about 0, that contains the l2 ball
of radius rho, and 0 < s <= rho / 2. Every point x of the ball of radius s is moved to every point y
beyond it in (1 - s / rho) D, with the density (|y|^2 - s^2) / Z: no such move is outside D. If
e^epsilon times the integral psi of (s^2 - |x|^2)_+ is at most Z, the noise has (docs/floor.md,
section 10)

    E |T|^2 >= s^2 (1 - delta |D| (m + 2 s sqrt(m)) / Z),   m = E |d|^2 for d uniform in D.

As epsilon grows this tends to the variance of the best noise: uniform in a small ball, and beyond
it e^-epsilon times as dense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.sensitivity.balls import L2, LInf

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_MARGIN = 1e-11  # relative, for powers and sums of doubles
_GAP = 1e-9  # relative, of the minimum over gamma
_CELLS = 8
# Where the minimum is flat, K large, more open cells than these end the search at a wider gap, or
# at so many terms.
_MOST_CELLS, _FLAT_GAP, _MOST_TERMS = 64, 3e-6, 2**20
_FLAT = 1e-8  # of the sums, relative: then the K-norm noise itself is the least
_ROUNDS = 40
_SMALL_EPSILON = 1e-3, 0.02, 0.1, 0.15, 0.3  # below, group privacy (K = 1 to 5), losing < 1e-6
_STEP_MARGIN = 1e-10  # relative, for sums of powers and logarithms
_TRIED = np.geomspace(0.3, 1.0, 5000)  # of the largest s for a point mass at 0


def _series(gamma: Array, powers: Array, epsilon: float) -> Array:
    """Sums over k of b^k (gamma + k)^p, scaled by one factor; shape (powers, gammas).

    Terms below e^-60 of the largest are left out; `_MARGIN` covers them.
    """
    top = float(np.max(powers))
    width = math.sqrt(top) + 1.0
    last = math.ceil((top + 12.0 * width + 80.0) / epsilon) + 2
    first = max(0, math.floor((top - 14.0 * width) / epsilon) - 2)
    points = np.arange(first, last) + gamma[:, None]
    peak = max(top / epsilon, 1.0)
    with np.errstate(divide="ignore"):
        size = np.log(points / peak)
    decay = epsilon * (np.arange(first, last) - peak)
    found = [np.sum(np.exp(p * size - decay), axis=1) for p in powers.ravel()]
    # (x / peak)^p stands for x^p: the ratio of two sums is peak^(p - q) times that of these.
    return np.array(found)


def staircase_minimum(dimension: int, epsilon: float) -> tuple[float, float, float]:
    """Bounds on the least mean variance of radial staircase noise for radius 1, and its gamma."""
    low, upper, gamma = smallest_moment(dimension, epsilon, 2)
    return low / dimension, upper / dimension, gamma


@lru_cache(maxsize=256)
def smallest_moment(dimension: int, epsilon: float, order: int) -> tuple[float, float, float]:
    """Bounds on the least E R^order of epsilon-DP noise, R its norm, and the staircase's gamma.

    For the unit ball of that norm, order 1 or 2.
    """
    K, q = dimension, order
    if K == q == 1:  # Geng & Viswanath (2016), e^(epsilon / 2) / (e^epsilon - 1)
        value = 0.5 / math.sinh(0.5 * epsilon)
        gamma = 1.0 / (1.0 + math.exp(0.5 * epsilon))
        return value * (1.0 - _MARGIN), value * (1.0 + _MARGIN), gamma
    k_norm = K * ((K + 1.0) / epsilon if q == 2 else 1.0) / epsilon
    swing, other = _swing(K + q, epsilon), _swing(K, epsilon)
    known = k_norm * max(0.0, 1.0 - swing) / (1.0 + other) * (1.0 - _MARGIN)
    if max(swing, other) < _FLAT:
        return known, k_norm * (1.0 + swing) / (1.0 - other) * (1.0 + _MARGIN), 0.5
    powers = np.array([K + q, K + q - 1, K], dtype=float)
    peak = max((K + q) / epsilon, 1.0)
    unit = peak**q * K / (K + q)
    small = np.exp(np.arange(-1.5 * epsilon / (K + q) - 1.0, -math.log(_CELLS), 2.0))
    left = np.concatenate([[0.0], small, np.arange(1, _CELLS + 1) / _CELLS])
    cells = np.stack([left[:-1], left[1:]], axis=1)
    low, upper, best = math.inf, math.inf, 0.0
    lower = np.zeros(1)
    # ends: the minimum stays enclosed in a wider interval
    for _ in range(_ROUNDS):
        middle = np.mean(cells, axis=1)
        at = _series(np.concatenate([cells[:, 0], middle, cells[:, 1]]), powers, epsilon)
        above, slope, below = at.reshape(3, 3, -1)
        ratio = unit * (above / below)
        place = np.unravel_index(np.argmin(ratio), ratio.shape)
        if ratio[place] < upper:
            upper = float(ratio[place])
            best = float(np.stack([cells[:, 0], middle, cells[:, 1]])[place])
        half = 0.5 * (cells[:, 1] - cells[:, 0])
        rise = (K + q) / peak * slope[1] * half
        ends = np.minimum((above[1] - rise) / below[0], (above[1] + rise) / below[2])
        lower = unit * ends
        open_ = lower < upper * (1.0 - _GAP)
        low = min(low, float(np.min(lower[~open_], initial=math.inf)))
        if not np.any(open_):
            break
        count, smallest = int(np.count_nonzero(open_)), float(np.min(lower))
        fine = max(known, smallest) >= upper * (1.0 - _FLAT_GAP)
        if count > _MOST_CELLS and (fine or count * (K + q + 100.0) / epsilon > _MOST_TERMS):
            low = min(low, smallest)
            break
        keep, cut = cells[open_], middle[open_]
        cells = np.concatenate(
            [np.stack([keep[:, 0], cut], axis=1), np.stack([cut, keep[:, 1]], axis=1)]
        )
    else:
        low = min(low, float(np.min(lower)))
    return max(known, low * (1.0 - _MARGIN)), upper * (1.0 + _MARGIN), best


def _swing(power: int, epsilon: float) -> float:
    """Bound on the relative change of b^gamma sum_k b^k (gamma + k)^n with gamma, for n >= 1.

    By Poisson's summation formula: n! / epsilon^(n + 1) times 1 plus terms of the size
    |1 + 2 pi i m / epsilon|^-(n + 1) for m = 1, -1, 2, -2, ...
    """
    n, ratio = float(power), 2.0 * math.pi / epsilon
    m = np.arange(1.0, max(8.0, math.ceil(epsilon)) + 1.0)
    terms = np.exp(-0.5 * (n + 1.0) * np.log1p((ratio * m) ** 2))
    rest = math.exp(min(0.0, -(n + 1.0) * math.log(ratio) - n * math.log(m[-1]) - math.log(n)))
    return 2.0 * (float(np.sum(terms)) + rest) * (1.0 + 1e-9)


@dataclass(frozen=True)
class RadialStaircase:
    """Certificate for the l2 ball at delta = 0: the closed form of the least variance.

    Parameters
    ----------
    group : int
        The steps are this many radii wide (group privacy), 1 unless the sums had too many terms.
    """

    group: int = 1

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "radial staircase"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times the least variance; 0 where the theorem does not apply."""
        equal = bool(np.all(weights == weights[0]))
        radius = sensitivity.ball_radius(2.0)
        if delta > 0.0 or not equal or not radius:
            return 0.0
        low, _, _ = staircase_minimum(sensitivity.dimension, self.group * epsilon)
        total = float(np.sum(weights)) * (1.0 - 1e-12)
        return total * low * (self.group * radius) ** 2


def step_group(dimension: int, epsilon: float) -> int:
    """Number of radii that a step is wide, so that the sums have a manageable number of terms."""
    return max(1, math.floor(_SMALL_EPSILON[min(dimension, 5) - 1] / epsilon))


def radial_certificate(dimension: int, epsilon: float) -> RadialStaircase:
    """Certificate for the l2 ball at delta = 0."""
    return RadialStaircase(step_group(dimension, epsilon))


class Shape(NamedTuple):
    """What counts of the set: K, the logarithm of |D|, m, and rho.

    A set is convex or, if `one_sided`, that of the vectors in [0, 1]^K and their negatives.
    """

    dimension: int
    log_volume: float
    mean_square: float
    inradius: float
    one_sided: bool = False

    def within(self, s: Array) -> tuple[Array, Array]:
        """Of points y with y - x in the set for all |x| <= s: share of |D| and mean of |y|^2."""
        K = self.dimension
        if self.one_sided:
            inner = 1.0 - 2.0 * s
            return inner**K, K * (0.25 + inner**2 / 12.0)
        inner = 1.0 - s / self.inradius
        return inner**K, inner**2 * self.mean_square


INTERVAL = Shape(1, math.log(2.0), 1.0 / 3.0, 1.0)


def one_step(shape: Shape, epsilon: float, delta: float, s: Array) -> Array:
    """Lower bounds on E |T|^2, one for each s > 0; 0 where s proves nothing."""
    K, rho = shape.dimension, shape.inradius
    m = shape.mean_square
    share, square = shape.within(s)
    # Z and the integral of (s^2 - |x|^2)_+ in units of |D|; Z without its part within the ball.
    target = share * (square - s * s) * (1.0 - _STEP_MARGIN)
    log_ball = 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
    log_psi = log_ball + math.log(2.0 / (K + 2.0)) + (K + 2.0) * np.log(s) - shape.log_volume
    fits = (s <= 0.5 * rho) & (target > 0.0)
    target = np.where(fits, target, 1.0)
    fits &= epsilon + log_psi + _STEP_MARGIN * (1.0 + K) <= np.log(target)
    lost = delta * (m + 2.0 * s * math.sqrt(m)) / target
    return np.where(fits, s * s * np.maximum(1.0 - lost, 0.0) * (1.0 - _STEP_MARGIN), 0.0)


def steps(shape: Shape, epsilon: float) -> Array:
    """Values of s worth trying."""
    K = shape.dimension
    log_ball = 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
    mass = math.log(shape.mean_square * (0.5 * K + 1.0)) + shape.log_volume - log_ball - epsilon
    return np.asarray(np.minimum(_TRIED * math.exp(mass / (K + 2.0)), 0.5 * shape.inradius))


@dataclass(frozen=True)
class OneStep:
    """Certificate for a cube or an l2 ball with equal weights.

    Parameters
    ----------
    share : float
        s in units of the set's radius, at most 1/2.
    """

    share: float

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "one step"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Mean of the weights times the bound on E |T|^2; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        radius = sensitivity.ball_radius(2.0) or sensitivity.ball_radius(math.inf)
        if not equal or not radius or not 0.0 < self.share <= 0.5:
            return 0.0
        shape = unit_shape(sensitivity)
        value = float(one_step(shape, epsilon, delta, np.array([self.share]))[0])
        return value * float(weights[0]) * radius**2 * (1.0 - 1e-12)


def unit_shape(sensitivity: Sensitivity) -> Shape:
    """The cube or l2 ball, scaled to radius 1."""
    K = sensitivity.dimension
    unit = L2(1.0, K) if sensitivity.ball_radius(2.0) else LInf(1.0, K)
    return Shape(K, unit.log_volume, float(np.sum(unit.mean_square)), 1.0)


def best_step(sensitivity: Sensitivity, epsilon: float, delta: float) -> OneStep | None:
    """Certificate for a cube or an l2 ball, or None where it proves nothing."""
    shape = unit_shape(sensitivity)
    s = steps(shape, epsilon)
    values = one_step(shape, epsilon, delta, s)
    place = int(np.argmax(values))
    return OneStep(float(s[place])) if values[place] > 0.0 else None
