"""Symmetric densities exp(-psi(|t|)) up to a factor, in doubles.

psi is piecewise offset + rate t + curvature t^2/2 and convex. Moments, Fisher information, tails of
the privacy loss and the privacy profile are Gauss-Legendre sums over stretches between the seams of
the integrand: no closed form, no normaliser, no distribution function.

The minimum variance of a family under a privacy budget is searched for: for each shape the scale at
which all of delta is spent is a root; the shape is scanned on a grid and then minimised around the
best. Theorem 8 of flipped-huber-2023, which some searches keep, is as printed, with the digits of
mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import mpmath as mp
import numpy as np
from scipy import optimize, special

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_STRETCHES = 24
_DEPTH = 80.0  # where exp(-psi) has fallen by exp(-80) the rest is nothing
_REACHES = 2.0 ** np.arange(-330.0, 331.0)
_NOTHING = 1e-300
_REFUSED = 1.0  # delta where a condition says nothing
_SCAN, _FEWER = 181, 15  # shapes: some minima are narrow
_UNDER = 1.0 - 1e-5  # a hint has six digits
_STRIDES = (0.02, 0.2, 1.0, 4.0, 12.0, 30.0, 60.0)  # of log scale, around a guess
_CLOSE: Any = {"xatol": 1e-9, "maxiter": 100}
_FEW: Any = {"xatol": 1e-10, "maxiter": 8}
_SIX_DIGITS = 1.1e-5  # relative, of a shape: a ratio of two numbers of six digits
_ROUGH: Any = {"xatol": 1e-4, "maxiter": 15}


@dataclass(frozen=True)
class Density:
    """Symmetric density exp(-psi(|t|)) up to a factor, with convex psi.

    `pieces` are (start, offset, rate, curvature) of psi from 0 outwards; beyond `bound` there is
    no density.
    """

    pieces: tuple[tuple[float, float, float, float], ...]
    bound: float = math.inf

    def psi(self, t: Array | float) -> Array:
        """Minus the logarithm of the density, up to a constant; infinite beyond the bound."""
        t = np.abs(t)
        starts, offset, rate, curvature = self._columns
        k = starts.searchsorted(t, side="right") - 1
        value = offset[k] + t * (rate[k] + 0.5 * curvature[k] * t)
        return value if math.isinf(self.bound) else np.where(t <= self.bound, value, np.inf)

    @cached_property
    def _columns(self) -> Array:
        """Starts, offsets, rates and curvatures of the pieces."""
        return np.array(self.pieces).T

    @cached_property
    def seams(self) -> list[float]:
        """Points t >= 0 at which psi is not smooth."""
        inner = [piece[0] for piece in self.pieces]
        return inner if math.isinf(self.bound) else [*inner, self.bound]

    def reach(self, start: float, depth: float = _DEPTH) -> float:
        """Distance from 0 at which exp(-psi) is at most exp(-depth) of its value at `start`.

        At most twice as far from the start as that, and never beyond the bound.
        """
        start = abs(start)
        steps = start + _REACHES
        if math.isfinite(self.bound):
            steps = np.minimum(steps, self.bound)
        beyond = self.psi(steps) >= float(self.psi(start)) + depth
        return float(steps[int(np.argmax(beyond))]) if beyond.any() else self.bound

    @cached_property
    def half(self) -> float:
        """Integral of exp(-psi) over t >= 0."""
        return self.integral(lambda t: np.exp(-self.psi(t)), 0.0, self.reach(0.0))

    def integral(
        self,
        function: Callable[[Array], Array],
        low: float,
        high: float,
        more: Iterable[float] = (),
    ) -> float:
        """Integral of a function that is smooth between the seams and `more` points."""
        marks = [*more, *self.seams, *(-seam for seam in self.seams)]
        t, weights = panels([low, high, *(mark for mark in marks if low < mark < high)])
        return float(weights @ function(t))

    def expectation(self, function: Callable[[Array], Array]) -> float:
        """Mean of an even function of the noise."""
        density = self.integral(
            lambda t: function(t) * np.exp(-self.psi(t)), 0.0, self.reach(0.0, 1.5 * _DEPTH)
        )
        return density / self.half

    @property
    def variance(self) -> float:
        """Variance of the noise."""
        return self.expectation(np.square)

    @property
    def fisher_information(self) -> float:
        """Mean of the squared derivative of psi."""
        starts, _, rate, curvature = self._columns

        def slope(t: Array) -> Array:
            k = np.searchsorted(starts, t, side="right") - 1
            return rate[k] + curvature[k] * t

        return self.expectation(lambda t: slope(t) ** 2)

    def loss(self, t: Array | float, shift: float) -> Array:
        """Privacy loss log g(t) - log g(t + shift)."""
        return self.psi(t + shift) - self.psi(t)

    def crossing(self, shift: float, epsilon: float) -> float | None:
        """Smallest t >= -shift/2 with a loss of epsilon >= 0 or more, None if there is none."""
        low, high = -0.5 * shift, self.reach(0.0, 4.0 * _DEPTH)
        marks = [s * seam + o for seam in self.seams for s in (1, -1) for o in (0.0, -shift)]
        edges = np.array(sorted({low, high, *(mark for mark in marks if low < mark < high)}))
        last = edges[-1] if math.isinf(self.bound) else self.bound - 0.5 * shift
        losses = self.loss(np.minimum(edges, last), shift)
        beyond = np.flatnonzero(losses >= epsilon)
        if not beyond.size:
            return None
        place = int(beyond[0])
        if place == 0:
            return float(edges[0])

        def excess(t: float) -> float:
            return min(float(self.loss(t, shift)), 1e9) - epsilon

        if excess(edges[place - 1]) >= 0.0:
            return float(edges[place - 1])
        return float(
            optimize.brentq(excess, edges[place - 1], edges[place], xtol=1e-300, rtol=1e-15)
        )

    def delta(self, shift: float, epsilon: float) -> float:
        """Privacy profile: the integral of [g(t) - e^epsilon g(t + shift)]_+."""
        if 2.0 * self.bound <= shift:
            return 1.0
        start = self.crossing(shift, epsilon)
        if start is None:
            return 0.0
        top = float(self.psi(start)) if start > 0.0 else float(self.psi(0.0))

        def gain(t: Array) -> Array:
            return np.exp(top - self.psi(t)) * -np.expm1(
                np.minimum(epsilon - self.loss(t, shift), 0.0)
            )

        end = self.reach(max(start, 0.0))
        shifted = [mark - shift for seam in self.seams for mark in (seam, -seam)]
        return self.integral(gain, start, end, shifted) * math.exp(-top) / (2.0 * self.half)

    def loss_tail(self, shift: float, epsilon: float) -> float:
        """Probability that the loss is epsilon or more."""
        start = self.crossing(shift, epsilon)
        return 0.0 if start is None else self.tail(start)

    def tail(self, start: float) -> float:
        """Probability of t >= start."""
        if start < 0.0:
            return 1.0 - self.tail(-start)
        if start >= self.bound:
            return 0.0
        top = float(self.psi(start))
        part = self.integral(lambda t: np.exp(top - self.psi(t)), start, self.reach(start))
        return part * math.exp(-top) / (2.0 * self.half)


def panels(edges: Iterable[float]) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre sums, on several stretches between each two edges."""
    ordered = np.array(sorted(set(edges)))
    steps = np.linspace(0.0, 1.0, _STRETCHES + 1)
    ends = ordered[:-1, None] + np.diff(ordered)[:, None] * steps
    low, high = ends[:, :-1].ravel(), ends[:, 1:].ravel()
    half = 0.5 * (high - low)
    nodes = (0.5 * (low + high))[:, None] + half[:, None] * _NODES
    return nodes.ravel(), (half[:, None] * _WEIGHTS).ravel()


def gaussian(sigma: float) -> Density:
    """Gaussian density of standard deviation sigma."""
    return Density(((0.0, 0.0, 0.0, sigma**-2),))


def laplace(beta: float) -> Density:
    """Laplace density of scale beta."""
    return Density(((0.0, 0.0, 1.0 / beta, 0.0),))


def flipped_huber(alpha: float, gamma: float) -> Density:
    """Flipped Huber density, equations (7) and (8) of flipped-huber-2023."""
    tail = (alpha, 0.5 * (alpha / gamma) ** 2, 0.0, gamma**-2)
    return Density(((0.0, 0.0, alpha / gamma**2, 0.0), tail) if alpha > 0.0 else (tail,))


def offset_symmetric_gaussian(theta: float, rho: float) -> Density:
    """Offset-symmetric Gaussian density, Appendix F of flipped-huber-2023."""
    return Density(((0.0, 0.0, theta / rho**2, rho**-2),))


def truncated_laplace(beta: float, bound: float) -> Density:
    """Laplace density of scale beta inside a bound (Geng, Ding, Guo & Kumar 2020)."""
    return Density(((0.0, 0.0, 1.0 / beta, 0.0),), bound)


def huber(alpha: float, scale: float) -> Density:
    """Huber density: Gaussian up to alpha times the scale, exponential from there."""
    tail = (alpha * scale, -0.5 * alpha**2, alpha / scale, 0.0)
    return Density(((0.0, 0.0, 0.0, scale**-2), tail))


Spent = Callable[[Density], float]


class Family(NamedTuple):
    """Family of noise: its member of a shape and a scale, and the range of log shape."""

    member: Callable[[float, float], Density]
    shapes: tuple[float, float]


# Nearer to Laplace noise than exp(9) flipped Huber noise leaves too few digits of its delta; where
# the minimum lies there, Laplace noise stands for it.
FAMILIES = {
    "flipped-huber": Family(lambda shape, scale: flipped_huber(shape * scale, scale), (-6.0, 9.0)),
    "offset-symmetric-gaussian": Family(
        lambda shape, scale: offset_symmetric_gaussian(shape * scale, scale), (-6.0, 12.0)
    ),
    "truncated-laplace": Family(
        lambda shape, scale: truncated_laplace(scale, shape * scale), (-4.0, 6.0)
    ),
}
SIMPLE = {"gaussian": gaussian, "laplace": laplace}
BOXED = {"flipped-huber": flipped_huber, "offset-symmetric-gaussian": offset_symmetric_gaussian}


class Minimum(NamedTuple):
    """Minimum variance and where it is reached."""

    variance: float
    scale: float
    shape: float


def scale_that_spends(
    member: Callable[[float], Density],
    spent: Spent,
    delta: float,
    guess: float = 1.0,
    close: float = 1e-13,
) -> float:
    """Scale at which noise spends delta; a larger scale spends less."""
    target, middle = math.log(delta), math.log(guess)

    @cache
    def excess(log_scale: float) -> float:
        return math.log(max(spent(member(math.exp(log_scale))), _NOTHING)) - target

    way = 1.0 if excess(middle) > 0.0 else -1.0
    near = middle
    for stride in _STRIDES:
        end = middle + way * stride
        if way * excess(end) <= 0.0:
            return math.exp(optimize.brentq(excess, near, end, xtol=close, rtol=1e-14))
        near = end
    raise ArithmeticError(f"no scale spends delta={delta!r}")


def minimum(
    family: str,
    spent: Spent,
    delta: float,
    *,
    coarse: Spent | None = None,
    hint: float | None = None,
) -> Minimum:
    """Minimum variance of a family among noise that spends at most delta.

    `coarse` is a faster `spent` for the search. With the shape that a result claims to be best as
    `hint`, the search is less fine, and both are compared: a hint that is not private, or is not
    best, shows.
    """
    if family in SIMPLE:
        scale = scale_that_spends(SIMPLE[family], spent, delta)
        return Minimum(SIMPLE[family](scale).variance, scale, math.nan)
    guess = 1.0

    def variance(log_shape: float, account: Spent, close: float = 1e-13) -> tuple[float, float]:
        nonlocal guess
        member = partial(FAMILIES[family].member, math.exp(log_shape))
        guess = scale_that_spends(member, account, delta, guess, close)
        return member(guess).variance, guess

    search = coarse or spent
    grid = np.linspace(*FAMILIES[family].shapes, _SCAN if hint is None else _FEWER)
    values = [variance(shape, search, 1e-7)[0] for shape in grid]
    k = int(np.argmin(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    account, options = (spent, _CLOSE) if hint is None else (search, _ROUGH)
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(
        lambda shape: variance(shape, account)[0], bounds=ends, method="bounded", options=options
    )
    shapes = [float(found.x), *ends]
    if hint is not None and math.log(hint) <= FAMILIES[family].shapes[1]:
        near = math.log(hint) - _SIX_DIGITS, math.log(hint) + _SIX_DIGITS
        # ends: a recomputation: a minimum that is missed shows as a disagreement
        close = optimize.minimize_scalar(
            lambda shape: variance(shape, spent)[0], bounds=near, method="bounded", options=_FEW
        )
        shapes = [float(found.x), float(close.x)]
    return min(Minimum(*variance(x, spent), math.exp(x)) for x in shapes)


def scalar_delta(epsilon: float, sensitivity: float) -> Spent:
    """Delta of one-dimensional noise at a shift of the sensitivity."""
    return lambda noise: noise.delta(sensitivity, epsilon)


def minimum_in_box(
    family: str,
    spent: Spent,
    delta: float,
    box: tuple[tuple[float, float], tuple[float, float]],
    *,
    coarse: Spent | None = None,
    hint: float | None = None,
) -> float:
    """Minimum variance of a family with both parameters in a box; NaN if none is private.

    The parameters are alpha and gamma, or theta and rho; `coarse` and `hint` are as for `minimum`.
    """
    build = BOXED[family]
    (low, high), (bottom, ceiling) = box

    @cache
    def variance(log_alpha: float) -> float:
        member, account = partial(build, math.exp(log_alpha)), coarse or spent
        if account(member(ceiling)) > delta:
            return math.inf
        if account(member(bottom)) <= delta:
            return member(bottom).variance
        target = math.log(delta)

        def excess(log_gamma: float) -> float:
            return math.log(max(account(member(math.exp(log_gamma))), _NOTHING)) - target

        root = optimize.brentq(excess, math.log(bottom), math.log(ceiling), xtol=1e-9)
        return member(math.exp(root)).variance

    grid = np.linspace(math.log(low), math.log(high), _FEWER if hint else _FEWER * _FEWER // 4)
    values = [variance(x) for x in grid]
    k = int(np.argmin(values))
    if math.isinf(values[k]):
        return math.nan
    if hint:
        return min(values[k], _hinted(family, spent, delta, box, hint))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(variance, bounds=ends, method="bounded", options=_CLOSE)
    return min(float(found.fun), *(variance(end) for end in ends))


def _hinted(
    family: str,
    spent: Spent,
    delta: float,
    box: tuple[tuple[float, float], tuple[float, float]],
    hint: float,
) -> float:
    """Variance of the noise of a shape that spends delta, infinite outside of a box."""

    def variance(log_shape: float) -> float:
        member = partial(FAMILIES[family].member, math.exp(log_shape))
        scale = scale_that_spends(member, spent, delta, box[1][1])
        pairs = zip((math.exp(log_shape) * scale, scale), box, strict=True)
        inside = all(low * _UNDER <= value <= high / _UNDER for value, (low, high) in pairs)
        return member(scale).variance if inside else math.inf

    near = math.log(hint) - _SIX_DIGITS, math.log(hint) + _SIX_DIGITS
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    found = optimize.minimize_scalar(variance, bounds=near, method="bounded", options=_FEW)
    return min(float(found.fun), variance(math.log(hint)))


def theorem_8_delta(epsilon: float, sensitivity: float, dimension: int) -> Spent:
    """Delta of Theorem 8 of flipped-huber-2023 as printed, in decimals, for all K at the corner."""

    def spent(noise: Density) -> float:
        alpha = noise.pieces[-1][0]
        gamma = noise.pieces[-1][3] ** -0.5
        return theorem_8(
            noise,
            (alpha, gamma),
            epsilon,
            dimension,
            (dimension * sensitivity, math.sqrt(dimension) * sensitivity, sensitivity),
        )

    return spent


def theorem_8(
    noise: Density, shape: tuple[float, float], epsilon: float, dimension: int,
    norms: tuple[float, float, float],
) -> float:  # fmt: skip
    """Delta of Theorem 8 for Delta_1, Delta_2 and Delta; 1 where it does not apply."""
    (alpha, gamma), (l1, l2, single) = shape, norms
    cost = dimension * (alpha**2 - max(alpha - single, 0.0) ** 2)
    if cost > 2.0 * gamma**2 * epsilon - l2**2:
        return _REFUSED
    # omega = kappa e^(alpha^2 / (2 gamma^2)) / gamma with kappa the integral of exp(-psi)
    log_omega = math.log(2.0 * noise.half / gamma) + 0.5 * (alpha / gamma) ** 2
    theta = -gamma * float(special.ndtri_exp(0.5 * math.log(math.pi / 2.0) - log_omega))
    centre = (l2**2 + cost) / (2.0 * gamma * l2)
    start = gamma * epsilon / l2
    with mp.workdps(60):
        far = mp.mpf(start) + centre + theta * l1 / (gamma * l2)
        return float(mp.ncdf(centre - mp.mpf(start)) - mp.exp(epsilon) * mp.ncdf(-far))
