"""Minimum variance in closed form, and in one dimension over families with a shape and a scale.

Flipped Huber noise (flipped-huber-2023, Section IV-A). At fixed alpha > sensitivity the profile at
epsilon has a kink where alpha sensitivity = gamma^2 epsilon: there the loss of the Laplace centre
is exactly epsilon, the centre costs no delta, and less noise would make all of it cost. With b =
alpha / gamma the profile on that curve is

    delta = (e^epsilon - 1) exp(-b^2) (1 - b m(b)) / (2 b Z),

which falls with b, and the variance is 2 (sensitivity / epsilon)^2 (1 - s) with

    s = exp(-b^2) [b^2 (1 - b m(b) / 2) + b m(b)] / (b Z),

always below that of (epsilon, 0)-DP Laplace noise. So one scalar root gives a candidate. It is the
optimum for most budgets, not for all: when epsilon is small and delta is not, a shape nearer to the
Gaussian is better, and when epsilon is large, the limit b -> infinity, Laplace noise with beta =
sensitivity / (epsilon - 2 log(1 - delta)). No proof of optimality is known to us. Each candidate is
therefore tested against the profiles of all other shapes at the same variance, one vectorised
evaluation, and where one of them is more private, and for the other families from the start, the
shape is searched.

**Search.** At a fixed shape delta falls with the scale, so that the budget determines one scale,
found by Newton's method for many shapes at once. What is left is the variance as a function of the
shape, with kinks and perhaps with more than one local minimum: it is scanned on a grid, and the
neighbourhood of the best point is divided until it is small enough.

A variance is checked from the other side: at equal variance, is any other shape more private? That
takes one evaluation of the profile, so that a good guess is confirmed without a search.

**Profiles.** A search over a family asks for the profile at thousands of parameters and one
epsilon, the transpose of `dpnoise.privacy_profile`. Noise is split into shape and scale: the shape
is b = alpha / gamma for flipped Huber noise and b = theta / rho for offset symmetric Gaussian noise
(OSGT), b = bound / beta for truncated Laplace noise; the scale enters as d, the sensitivity over
gamma, rho or beta.

With density g, tail SF and t1 the point where the privacy loss of a shift by d crosses epsilon
(flipped-huber-2023, equations (13)-(16)), g(t1) = e^epsilon g(t1 + d), so that

    delta = SF(t1) - e^epsilon SF(t1 + d) = g(t1) [M(t1) - M(t1 + d)],  M = SF / g.

M falls, since the density is log-concave. Its fall is added up over the pieces of g, each a
positive term in closed form with the Mills ratio m = Q / phi, so that nothing cancels at any scale.
t1 maximises SF(t) - e^epsilon SF(t + d), so that the derivative of delta in d is g(t1).

**Closed forms**, or roots of one equation: Gaussian noise (Balle & Wang, ICML 2018), staircase
noise (Geng & Viswanath 2016), the limit of Huber noise for delta = 0, and any family with a scale
and nothing else for delta = 0. In K coordinates with the box of neighbours the l1 sensitivity is K
times and the l2 sensitivity sqrt(K) times the sensitivity.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from dpnoise.calibration.budget import certified_calibration
from dpnoise.noise.exponential_power import Gaussian, Laplace, TruncatedLaplace, mills_ratio
from dpnoise.noise.grafted import (
    FlippedHuber,
    Huber,
    OffsetSymmetricGaussian,
    flipped_huber_variance,
)
from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.privacy.accounts import equal_share
from dpnoise.privacy.gaussian import gaussian_sigma, log_mills_difference, mills_slope

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Calibration, Target
    from dpnoise.noise.base import Noise

_BELOW = 1.0 - 2.0**-46  # rounding must not put the loss of a kink above epsilon
_KINK_STEPS = 400  # down to shapes of 1e-300, by a factor of ten each
_LARGE = 50.0
_NEARLY_LAPLACE = 1e-5  # an alpha at which the variance is within 1e-10 of the limit
UNIT_LAPLACE = Laplace(1.0)


def _flipped_huber_candidate(epsilon: float, delta: float) -> Candidate | None:
    if epsilon < 1e-100:  # b is about epsilon / delta, delta at least 1e-7: no such noise
        return None
    shape = float(kink_shape(np.asarray(epsilon), np.asarray(delta)))
    return Candidate(shape, _BELOW * epsilon / shape) if shape * shape >= epsilon else None


def _truncated_laplace_candidate(epsilon: float, delta: float) -> Candidate | None:
    shape = bound_shape(epsilon, delta) if epsilon > 0.0 else 0.0
    return Candidate(shape, _BELOW * epsilon) if shape >= epsilon > 0.0 else None


def flipped_huber(epsilon: float, delta: float) -> ShapeFamily:
    """Flipped Huber noise, with its account of one coordinate."""
    # Beyond the last shape the tails hold less than delta 1e-19, even times e^epsilon.
    last = math.sqrt(epsilon - math.log(delta) + 45.0)
    return ShapeFamily(
        make=lambda b, scale: FlippedHuber(b * scale, scale),
        log_delta=flipped_huber_log_delta,
        variance=lambda b: flipped_huber_variance(b, 1.0),
        grid=np.append(0.0, np.geomspace(1e-4, last, 64)),
        limit=2.0 * laplace_scale(epsilon, delta) ** 2,
        near=1e-9,
        candidate=_flipped_huber_candidate(epsilon, delta),
    )


def offset_gaussian(epsilon: float, delta: float) -> ShapeFamily:
    """Offset symmetric Gaussian noise, with its account of one coordinate."""
    return ShapeFamily(
        make=lambda b, scale: OffsetSymmetricGaussian(b * scale, scale),
        log_delta=offset_gaussian_log_delta,
        variance=offset_gaussian_variance,
        grid=np.append(0.0, np.geomspace(1e-4, 1e7, 111)),
        limit=2.0 * laplace_scale(epsilon, delta) ** 2,
        near=1e-9,
    )


def truncated_laplace(epsilon: float, delta: float) -> ShapeFamily:
    """Truncated Laplace noise, with its account of one coordinate."""
    return ShapeFamily(
        make=lambda b, scale: TruncatedLaplace(scale, b * scale),
        log_delta=truncated_laplace_log_delta,
        variance=truncated_laplace_variance,
        grid=np.geomspace(1e-9, 2.0 * epsilon - math.log(delta) + 45.0, 128),
        limit=2.0 * laplace_scale(epsilon, delta) ** 2,
        near=1e-9,
        candidate=_truncated_laplace_candidate(epsilon, delta),
    )


def scalar_optimum(shapes: Callable[[float, float], ShapeFamily], budget: Target) -> Calibration:
    """Noise of minimum variance for K = 1 and delta > 0, of the family at epsilon and delta."""
    return minimum_variance(shapes(budget.epsilon, budget.tight.delta), budget)


_STEPS = 200
_LONGEST, _FLATTEST = 3.0, 1e-9  # bounds of the Newton step and of the slope
_CLOSE, _ROUGH = 1e-13, 1e-6  # errors of log d, in the end and in a scan
_EVEN = 1e-5  # error of log delta
_POINTS, _ROUNDS = 17, 30
_FLAT = 4e-13  # differences of log variance that are rounding
_NARROW = 1e-14
# Relative differences of variances below this are rounding, largest for OSGT far out.
_RESOLVED = 1e-11
# Relative distances from a candidate at which other shapes are tried: the grid is coarse.
_BESIDE = np.geomspace(1e-6, 0.6, 40)


class Candidate(NamedTuple):
    """A shape that may be the best one, and d = sensitivity / scale that spends delta."""

    shape: float
    d: float


class ShapeFamily(NamedTuple):
    """A family and a way to account for its privacy.

    `log_delta` maps (shape, d, epsilon) to log delta and its derivative in log d, where d is the
    sensitivity over the scale.
    """

    make: Callable[[float, float], Noise]  # (shape, scale) -> noise
    log_delta: Callable[[Array, Array, float], tuple[Array, Array]]
    variance: Callable[[Array], Array]  # at scale 1, by shape
    grid: Array  # increasing shapes that reach both limits of the family
    limit: float  # variance for sensitivity 1 at the upper limit, which no member attains
    near: float  # how far above the limit noise may be that stands for it, relatively
    candidate: Candidate | None = None


def solve_scale(
    log_delta: Callable[[Array], tuple[Array, Array]],
    target: float,
    start: Array,
    close: float = _CLOSE,
) -> Array:
    """Values of log d with log delta = target, for many increasing functions at once.

    Newton's method in a bracket, from `start` to an error of `close`. `log_delta` gives log delta
    and its derivative in log d.
    """
    x = start
    low, high = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
    # ends: the largest ratio that was seen to be private, or an error
    for k in range(_STEPS):
        value, slope = log_delta(np.exp(x))
        above = value > target
        low, high = np.where(above, low, x), np.where(above, x, high)
        step = np.clip((target - value) / np.maximum(slope, _FLATTEST), -_LONGEST, _LONGEST)
        # Beside a kink the slope is huge, so that a short step is not enough to stop.
        even = (np.abs(value - target) <= _EVEN) | (high - low <= close)
        shortest = np.where(even | np.isfinite(high - low), 0.0, min(close * 2.0**k, _LONGEST))
        following = x + np.where(above, -1.0, 1.0) * np.maximum(np.abs(step), shortest)
        outside = (following <= low) | (following >= high)
        outside &= ~even | (following != x)
        with np.errstate(invalid="ignore"):  # inf - inf before both ends are known
            middle = 0.5 * (low + high)
        following = np.where(outside & np.isfinite(middle), middle, following)
        done = even & (np.abs(following - x) <= close)
        if np.all(done):
            return x
        x = following
    if not np.all(done | np.isfinite(low)):
        message = f"calibration: no scale with log delta = {target!r} within {_STEPS} steps"
        raise RuntimeError(message)
    return np.where(done, x, low)  # the private side


def minimize_on_interval(
    value: Callable[[Array], Array], grid: Array, values: Array
) -> tuple[float, float]:
    """Argument and minimum of a vectorised function of order 1, from its values on a grid.

    The interval between the neighbours of the best point is divided in rounds, so that
    kinks do no harm. Of several local minima that the grid does not resolve, one may be
    missed.
    """
    points = grid
    # ends: a minimum of what was seen, certified
    for _ in range(_ROUNDS):
        best = int(np.argmin(values))
        around = slice(max(best - 1, 0), best + 2)
        low, middle, high = points[around][0], points[best], points[around][-1]
        flat = np.max(values[around]) - values[best] <= _FLAT
        if flat or high - low <= _NARROW * (abs(low) + abs(high)):
            break
        inner = np.linspace(low, high, _POINTS)[1:-1]
        inner = inner[inner != middle]
        order = np.argsort(np.concatenate([points[around], inner]))
        points, values = (
            np.concatenate([old[around], new])[order]
            for old, new in ((points, inner), (values, value(inner)))
        )
    best = int(np.argmin(values))
    return float(points[best]), float(values[best])


class _ScaleSearch:
    """One family and one budget for sensitivity 1."""

    def __init__(self, family: ShapeFamily, epsilon: float, delta: float) -> None:
        self.family, self.epsilon, self.target = family, epsilon, math.log(delta)
        # As if all needed the variance of the limit.
        self._known = family.grid, 0.5 * np.log(family.variance(family.grid) / family.limit)

    def log_d(self, shapes: Array, close: float = _CLOSE) -> Array:
        """Values of log d that spend delta; the solutions are the next start."""
        start = np.interp(shapes, *self._known)
        found = solve_scale(
            lambda d: self.family.log_delta(shapes, d, self.epsilon), self.target, start, close
        )
        self._known = shapes, found
        return found

    def log_variance(self, shapes: Array, close: float = _CLOSE) -> Array:
        """Logarithms of the variances that the budget needs."""
        return np.log(self.family.variance(shapes)) - 2.0 * self.log_d(shapes, close)

    def private(self, shapes: Array, variance: float) -> NDArray[np.bool_]:
        """Whether noise of this variance keeps the budget, by shape."""
        d = np.sqrt(self.family.variance(shapes) / variance)
        return self.family.log_delta(shapes, d, self.epsilon)[0] <= self.target

    def unbeaten(self, variance: float, near: float | None = None) -> bool:
        """Whether no shape of the grid, or near to one, keeps the budget with less variance."""
        shapes = self.family.grid
        if near is not None:
            shapes = np.concatenate([shapes, near * (1.0 - _BESIDE), near * (1.0 + _BESIDE)])
        return not np.any(self.private(shapes, variance * (1.0 - _RESOLVED)))


def minimum_variance(family: ShapeFamily, budget: Target, method: str = "exact") -> Calibration:
    """Certified noise of minimum variance of a family, for a positive delta."""
    search = _ScaleSearch(family, budget.epsilon, budget.tight.delta)
    unit, infimum = budget.sensitivity, None
    if family.candidate:
        shape, d = family.candidate
        variance = float(family.variance(np.array([shape]))[0]) / d**2
        if variance <= family.limit * (1.0 + _RESOLVED) and search.unbeaten(variance, shape):
            return certified_calibration(family.make(shape, unit / d), budget, method=method)
    if search.unbeaten(family.limit):
        infimum = family.limit * unit**2
        close = search.private(family.grid, family.limit * (1.0 + family.near))
        shape = float(family.grid[np.argmax(close)] if close.any() else family.grid[-1])
    else:
        values = search.log_variance(family.grid, _ROUGH)
        shape, _ = minimize_on_interval(search.log_variance, family.grid, values)
    d = math.exp(float(search.log_d(np.array([shape]))[0]))
    return certified_calibration(
        family.make(shape, unit / d), budget, method=method, infimum=infimum
    )


_MINIMUM_SHAPE = 1e-60  # indistinguishable from the Gaussian
_MINIMUM_GAP = 1e-300
_FAR, _DEPTH = 3.0, 48  # an error of exp(-2 _FAR sqrt(2 _DEPTH)) in the continued fraction


def _mills_fall(low: Array, high: Array) -> Array:
    """m(low) - m(high) for 0 <= low <= high."""
    fall, some = np.zeros_like(low), high > low
    if some.any():
        half = 0.5 * (high[some] - low[some])
        fall[some] = np.exp(log_mills_difference(low[some] + half, half))
    return fall


def _combine(log_g: Array, near: Array, far: Array, d: Array) -> tuple[Array, Array]:
    """Logarithm of near + g(t1) far, and d g(t1) over that sum; near is 0 unless t1 < 0."""
    inside = near > 0
    log_delta = np.where(
        inside,
        np.log(np.maximum(near + np.exp(log_g) * far, _MINIMUM_GAP)),
        log_g + np.log(np.maximum(far, _MINIMUM_GAP)),
    )
    return log_delta, np.exp(np.log(d) + log_g - log_delta)


def flipped_huber_log_delta(b: Array, d: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Log delta of flipped Huber noise and its derivative in log d.

    b = alpha / gamma >= 0, d = sensitivity / gamma > 0 and epsilon >= 0 broadcast.
    """
    b, d, epsilon = np.broadcast_arrays(*np.atleast_1d(b, d, epsilon))
    b = np.maximum(b, _MINIMUM_SHAPE)
    square, mills = b * b, mills_ratio(b)
    weight = -np.expm1(-square) + np.exp(-square) * b * mills  # b Z
    # t2 = t1 + d by the pieces that hold t1 and t2, in the order of Table I from the last on.
    excess = epsilon - b * d
    t1 = np.select(
        [
            epsilon >= b * d + 0.5 * d * d,  # both in the tail
            excess >= 0.5 * np.maximum(d - b, 0.0) ** 2,  # centre, tail
            0.5 * d - epsilon / d > b,  # opposite tails
            0.5 * (d + epsilon / b) <= b,  # both in the centre, on opposite sides
        ],
        [
            epsilon / d - 0.5 * d,
            b - d + np.sqrt(2.0 * np.maximum(excess, 0.0)),
            epsilon / d - 0.5 * d,
            0.5 * (epsilon / b - d),
        ],
        np.sqrt(2.0 * (epsilon + b * d)) - b - d,
    )
    t2 = t1 + d
    inner, outer = np.minimum(np.abs(t1), b), np.maximum(np.abs(t1), b)
    log_g = np.log(0.5 * b / weight) - b * inner - 0.5 * (outer - b) * (outer + b)
    # The fall of M between 0 and t1 < 0, times g(t1) ...
    beyond = np.exp(-0.5 * (outer - b) * (outer + b))
    left = (1.0 - beyond) + beyond * -np.expm1(-b * inner) * (0.5 + 0.5 / weight)
    left = np.where(t1 < 0, left + np.exp(log_g) * _mills_fall(b, np.where(t1 < 0, outer, b)), 0.0)
    # ... in the centre, and in the tail.
    low, high = np.clip(t1, 0.0, b), np.minimum(t2, b)
    centre = np.exp(b * (high - b)) * -np.expm1(b * (low - high)) * mills_slope(b) / b
    tail = _mills_fall(np.maximum(t1, b), np.maximum(t2, b))
    return _combine(log_g, left, centre + tail, d)


def offset_gaussian_log_delta(b: Array, d: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Log delta of OSGT noise and its derivative in log d.

    b = theta / rho >= 0, d = sensitivity / rho > 0 and epsilon >= 0 broadcast.
    """
    b, d, epsilon = np.broadcast_arrays(*np.atleast_1d(b, d, epsilon))
    excess = (epsilon - b * d) - 0.5 * d * d
    t1 = np.where(excess >= 0, excess / d, epsilon / (d + 2.0 * b) - 0.5 * d)
    size = np.abs(t1)
    log_g = -size * (0.5 * size + b) - np.log(2.0 * mills_ratio(b))
    left = -np.expm1(-size * (0.5 * size + b)) + np.exp(log_g) * _mills_fall(b, b + size)
    tail = _mills_fall(b + np.maximum(t1, 0.0), b + t1 + d)
    return _combine(log_g, np.where(t1 < 0, left, 0.0), tail, d)


def truncated_laplace_log_delta(b: Array, d: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Log delta of truncated Laplace noise and its derivative in log d.

    b = bound / beta > 0, d = sensitivity / beta > 0 and epsilon >= 0 broadcast.
    """
    b, d, epsilon = np.broadcast_arrays(*np.atleast_1d(b, d, epsilon))
    # The loss crosses epsilon where t + d leaves the support, if not before.
    t1 = np.where(d > epsilon, np.minimum(0.5 * (epsilon - d), b - d), b - d)
    start, end = np.maximum(t1, 0.0), np.minimum(t1 + d, b)
    scale = -2.0 * np.expm1(-b)
    fall = np.exp(end - b) * -np.expm1(start - end)
    # All of the noise lies below a shift by more than the support.
    inner = np.maximum(t1, -b)
    log_g = -np.abs(inner) - np.log(scale)
    left = -np.expm1(np.minimum(inner, 0.0)) / scale * (2.0 - np.exp(-b))
    log_delta, slope = _combine(log_g, left, fall, d)
    return log_delta, np.where(t1 < -b, 0.0, slope)


def offset_gaussian_variance(b: Array) -> Array:
    """Variance of OSGT noise with rho = 1, from b = theta / rho.

    It is 1 + b^2 - b / m(b), which cancels for large b, where a continued fraction has it (see
    `dpnoise.noise.grafted`).
    """

    def near(b: Array) -> Array:
        return 1.0 + b * (b - 1.0 / mills_ratio(b))

    def far(b: Array) -> Array:
        ratio = np.zeros_like(b)
        # ends: a continued fraction of positive terms; test_calibration_shape_profiles
        for n in range(_DEPTH, 1, -1):
            ratio = 1.0 / (b + (n + 1.0) * ratio)
        return 2.0 * ratio / (b + 2.0 * ratio)

    b = np.asarray(b, dtype=float)
    return np.piecewise(b, [b < _FAR], [near, far])


def truncated_laplace_variance(b: Array) -> Array:
    """Variance of truncated Laplace noise with beta = 1."""
    return 2.0 * special.gammainc(3.0, b) / -np.expm1(-b)


def gaussian_scale(budget: Target) -> float:
    """Minimum sigma of Gaussian noise for delta > 0, by the l2 sensitivity."""
    length = math.nextafter(budget.sensitivity * math.sqrt(budget.dimension), math.inf)
    return float(gaussian_sigma(budget.epsilon, budget.tight.delta, length))


def gaussian(budget: Target) -> Calibration:
    """Gaussian noise of minimum variance for delta > 0."""
    return certified_calibration(Gaussian(gaussian_scale(budget)), budget)


def laplace_scale(epsilon: float, delta: float) -> float:
    """Minimum scale of (epsilon, delta)-DP Laplace noise for sensitivity 1 and K = 1.

    The root of the profile 1 - exp((epsilon - 1 / beta) / 2).
    """
    return 1.0 / (epsilon - 2.0 * math.log1p(-delta))


def pure_huber(budget: Target) -> Calibration:
    """Huber noise for delta = 0, close to its limit.

    The loss is at most K alpha sensitivity / scale. At a fixed slope alpha / scale of the tails
    the variance falls with alpha, since a Gaussian centre moves mass outwards: the limit
    alpha -> 0 is Laplace noise.
    """
    scale = _NEARLY_LAPLACE * pure_scale(budget, UNIT_LAPLACE)
    infimum = pure_optimum(UNIT_LAPLACE, budget).variance
    return certified_calibration(Huber(_NEARLY_LAPLACE, scale), budget, infimum=infimum)


def staircase(budget: Target) -> Calibration:
    """Staircase noise of minimum variance, epsilon / K for each coordinate, delta unused."""
    share = equal_share(budget.epsilon, budget.dimension)
    gamma = float(staircase_gamma(share))
    return certified_calibration(Staircase(share, budget.sensitivity, gamma), budget)


def pure_scale(budget: Target, unit: Noise) -> float:
    """Minimum scale of (epsilon, 0)-DP noise, rounded up: K largest_loss / epsilon."""
    loss = unit.largest_loss(budget.sensitivity)
    scale = budget.dimension * float(loss) / budget.epsilon
    minimum = budget.dimension * Fraction(loss) / Fraction(budget.epsilon)
    # ends: one or two doubles up
    while Fraction(scale) < minimum:
        scale = math.nextafter(scale, math.inf)
    return scale


def pure_optimum(unit: Noise, budget: Target) -> Calibration:
    """Noise of minimum variance for delta = 0, from `unit`, which has scale 1."""
    return certified_calibration(unit.scaled(pure_scale(budget, unit)), budget)


def kink_shape(epsilon: Array, delta: Array) -> Array:
    """Shape b = alpha / gamma at which the Laplace centre has loss epsilon and delta is spent.

    Vectorised over budgets with positive epsilon and delta. With gamma = sensitivity b / epsilon
    it is flipped Huber noise of the given profile if alpha >= sensitivity, that is
    b^2 >= epsilon; a smaller b belongs to no such noise.
    """
    target = np.log(2.0 * delta) - epsilon - np.log(-np.expm1(-epsilon))
    # log delta is decreasing, nearly -b^2 - log b^2, and concave in b but for small b, where the
    # bounds keep Newton's method from leaving the domain.
    square = np.maximum(-target, 1.0)
    b = np.sqrt(np.maximum(epsilon, square - np.log(square)))
    # ends: raises
    for _ in range(_KINK_STEPS):
        mills, slope, rim = mills_ratio(b), mills_slope(b), np.exp(-b * b)
        weight = -np.expm1(-b * b) + rim * b * mills
        excess = np.log(slope / weight) - b * b - target
        steepness = -2.0 * b + (b * slope - mills) / slope - rim * (mills + b * slope) / weight
        step = excess / steepness
        b = np.maximum(b - step, 0.1 * b)
        if np.all(np.abs(step) <= 1e-9 * b):  # the error is its square
            return b
    raise RuntimeError(f"calibration: no flipped Huber kink within {_KINK_STEPS} steps")


def bound_shape(epsilon: float, delta: float) -> float:
    """Shape b = bound / beta of truncated Laplace noise with beta = sensitivity / epsilon.

    Geng, Ding, Guo & Kumar (AISTATS 2020): the loss is epsilon up to the bound and delta is the
    mass that a shift moves beyond it.
    """
    if epsilon > _LARGE:  # log((e^epsilon - 1) / (2 delta)) >> 1
        return epsilon - math.log(2.0 * delta)
    return math.log1p(math.expm1(epsilon) / (2.0 * delta))
