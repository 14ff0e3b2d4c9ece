"""The trapezoidal rule on one vertical line, with bounds on its rounding and on all it leaves out.

With s = c + i u and q(u) = exp(-s epsilon) M(s) / (s (s + 1)), the rule with step h returns

    (h / 2 pi) sum_k q(k h) = sum_n delta(epsilon + n P) e^(c n P),  P = 2 pi / h,

over all integers (Poisson). The aliases n != 0 are positive and bounded by Chernoff's
inequality, and what lies beyond the last point by `transform.Line.envelope`. All numbers here are
relative to exp(log_scale) = M(c) exp(-c epsilon). docs/vector-privacy.md has the proofs.

**Slopes, without bounds** (`log_delta_and_slopes`): with M(s) = prod M_g(s)^n_g the slope of log
delta in the logarithm of one group's scale is the same integral with the factor n_g d log M_g(s),
over delta. All slopes come from one pass over the points of the rule. Atoms of the loss make the
integrand fade slowly; we add a fictitious Gaussian loss of small variance, which raises delta by
about a tenth of a percent, and its slopes alike. This serves an allocation to find a direction.
"""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.transform import LossTransform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array, ComplexArray
    from dpnoise.noise.base import Noise
    from dpnoise.privacy.inversion.loss import CoordinateLoss
    from dpnoise.privacy.inversion.transform import Line

    Counts = NDArray[np.int64]

_EPS = np.finfo(float).eps
_RATIO = 1.2  # of the grid on which the tail is bounded
_TAIL_STEPS = 120
_MIN_SHARE = 1e-100  # of atoms in a transform; below it there is no need to remove them
_PERIODS = 1.06 ** np.arange(200.0)
_STEPS = np.geomspace(0.1, 1e3, 16)
_MARGIN = 1.0 + 3e-3  # over the rounding of a bound of no influence on the result
_CHUNK = 1 << 15  # stretches times points evaluated at once


class TrapezoidPlan(NamedTuple):
    """Points of a trapezoidal rule.

    `level` orders of atoms, 0, 1 or 2, are subtracted from the transform, and a Gaussian loss of
    variance `blur` = a^2 or 0 is added. `period` is the distance P of the aliases and `points` the
    number of points with u > 0. `tail` bounds what lies beyond the last one, `density_tail` the
    same for blur times the density.
    """

    level: int
    blur: float
    period: float
    points: int
    tail: float
    density_tail: float = 0.0


def log_payoff(c: Array) -> Array:
    """Log of the largest (1 - e^-x) e^(-c x), Chernoff's factor."""
    return -c * np.log1p(1.0 / c) - np.log1p(c)


def _expansion(order: Array, level: int) -> Array:
    """e^x less its first `level` terms, and infinity beyond x = 300.

    It bounds (A + E)^K less its first terms in E, over A^K, for x = K E / A.
    """
    x = np.minimum(order, 300.0)
    rest = np.expm1(x)
    if level == 2:
        rest = np.where(x < 1e-3, 0.5 * x * x * np.exp(x), rest - x)
    return np.where(order > x, math.inf, rest)


class Rule:
    """The rule on the line through c.

    `bend` is roughly the second derivative of log M at c, and `removable` whether orders of atoms
    may be subtracted.
    """

    def __init__(
        self, transform: LossTransform, epsilon: float, c: float, bend: float, *, removable: bool
    ) -> None:
        self.transform, self.epsilon, self.c = transform, epsilon, c
        self.line = transform.line(c)
        self.spread = math.sqrt(bend + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2)
        self._prepare_aliases()
        self._prepare_tail(removable)

    @property
    def log_scale(self) -> float:
        """The logarithm of what all numbers are relative to."""
        return self.line.log_transform - self.c * self.epsilon

    def moved(self, epsilon: float) -> Rule:
        """The rule on the same line for another epsilon."""
        other = copy(self)
        other.epsilon = epsilon
        return other

    @property
    def guess(self) -> float:
        """The saddle point approximation of delta, relative to exp(log_scale)."""
        return 1.0 / (self.c * (self.c + 1.0) * math.sqrt(2.0 * math.pi) * self.spread)

    @property
    def chernoff(self) -> float:
        """Chernoff's bound on delta, relative to exp(log_scale)."""
        return float(np.exp(log_payoff(np.asarray(self.c))))

    @property
    def scale_error(self) -> float:
        """A bound on the relative error of exp(log_scale)."""
        return self.line.norm_error + 4.0 * _EPS * abs(self.c * self.epsilon)

    def _prepare_aliases(self) -> None:
        """Chernoff's bound on delta at exponents on either side of c."""
        c, steps = self.c, _STEPS / self.spread
        above = c + np.append(steps, c * np.array([0.25, 1.0, 5.0, 50.0]))
        below = c - np.append(steps[steps < c], c * np.array([0.25, 0.5, 0.75, 0.9, 0.99]))
        both = np.concatenate([above, below])
        # Exponent 0 is delta <= 1.
        self._exponents = np.append(both, 0.0)
        self._log_bounds = np.append(self.transform.log_real(both) + log_payoff(both), 0.0)

    def aliases(self, period: Array, blur: float) -> Array:
        """Bounds on the sum of the aliases."""
        gap = self._exponents - self.c
        decay = np.abs(gap) * np.asarray(period)[..., None]
        rise = 0.5 * blur * self._exponents * (self._exponents + 1.0)
        log_chernoff = self._log_bounds - self._exponents * self.epsilon - self.log_scale
        log_terms = log_chernoff + rise - decay - np.log(-np.expm1(-decay))
        sides = [log_terms[..., side].min(axis=-1) for side in (gap > 0.0, gap < 0.0)]
        return np.exp(np.minimum(np.logaddexp(*sides), 700.0)) * _MARGIN

    def _prepare_tail(self, removable: bool) -> None:
        """Bounds on the transform beyond each u of a grid, with 0, 1 or 2 orders removed."""
        self.u = u = 0.3 / self.spread * _RATIO ** np.arange(float(_TAIL_STEPS))
        copies, atoms = self.transform.copies, self.line.atoms
        fall = self.line.envelope(u)
        levels = [np.exp(copies @ np.log(np.maximum(np.minimum(atoms + fall, 1.0), 1e-300)))]
        if removable and atoms.min() > _MIN_SHARE:
            scale = math.exp(max(float(copies @ np.log(atoms[:, 0])), -700.0))
            order = copies @ (fall / atoms)
            for level in range(1, self.transform.orders + 1):
                levels.append(np.minimum(scale * _expansion(order, level), levels[0]))
        gaussian = np.exp(-0.5 * self.transform.gaussian * u * u)
        self._levels = [level * gaussian for level in levels]

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self._levels)

    def plan(self, level: int, blur: float, alias: float, tail: float, most: int) -> TrapezoidPlan:
        """The rule with the fewest points that leaves out at most `alias` and `tail`.

        Where `most` points do not suffice, the tail is longer.
        """
        periods = 2.0 * self.spread * _PERIODS
        good = np.flatnonzero(self.aliases(periods, blur) <= alias)
        period = float(periods[good[0] if good.size else -1])
        step = 2.0 * math.pi / period
        most = self.line.affordable(step, most)
        tails, density_tails = self._tails(level, blur)
        enough = np.flatnonzero(tails + density_tails <= tail)
        far = int(enough[0]) if enough.size else len(tails) - 1
        affordable = int(np.searchsorted(self.u, most * step, side="right")) - 1
        last = max(min(far, affordable), 0)
        points = min(math.ceil(self.u[last] / step), most)
        reached = points * step >= self.u[last]
        left_out = (float(t[last]) if reached else math.inf for t in (tails, density_tails))
        return TrapezoidPlan(level, blur, period, points, *left_out)

    def _tails(self, level: int, blur: float) -> tuple[Array, Array]:
        """Bounds on what lies beyond each u of the grid, for delta and the density."""
        u, c = self.u, self.c
        height = self._levels[level] * np.exp(0.5 * blur * (c * (c + 1.0) - u * u))
        # Over each interval, and over the rest.
        size = np.hypot(c, u) * np.hypot(c + 1.0, u)
        weights = [np.append(np.diff(u) / size[:-1], _RATIO / u[-1])]
        if blur > 0.0:
            weights.append(blur * np.append(np.diff(u), _RATIO / (blur * u[-1])))
        tails = [np.cumsum((height * w)[::-1])[::-1] * (_MARGIN / math.pi) for w in weights]
        return tails[0], tails[1] if blur > 0.0 else np.zeros_like(u)


class TruncatedSums(NamedTuple):
    """Truncated sums, with all aliases, and bounds on their rounding.

    `delta` belongs to the blurred loss, `density` to a^2 times e^(a^2 s (s + 1) / 2) M(s), the vega
    of the payoff times a.
    """

    delta: float
    rounding: float
    density: float
    density_rounding: float


def _log_power(z: ComplexArray, copies: Array) -> tuple[Array, Array]:
    """Log modulus and phase of the product of z ** copies over all groups."""
    log_z = np.log(np.where(z == 0.0, 1e-300, z))
    return copies @ log_z.real, copies @ log_z.imag


class LineTerms:
    """The terms of a plan on the line of a rule, which serve every epsilon.

    That only turns them, by e^(-i u epsilon).
    """

    def __init__(self, rule: Rule, plan: TrapezoidPlan) -> None:
        step, blur, c = 2.0 * math.pi / plan.period, plan.blur, rule.c
        size = max(_CHUNK // max(rule.transform.rows, 1), 256)
        self._blur, self._u = blur, step * np.arange(plan.points + 1.0)
        parts, doubts = [], np.zeros(2)
        for start in range(0, plan.points + 1, size):
            u = self._u[start : start + size]
            factor, error = product_on_line(rule.line, u, plan.level)
            if start == 0:
                factor[0] *= 0.5
                error[0] *= 0.5
            if blur > 0.0:
                factor = factor * np.exp((0.5 * blur) * (c + 1j * u) * (c + 1.0 + 1j * u))
                error = error * np.exp(0.5 * blur * (c * (c + 1.0) - u * u))
            parts.append(factor * (step / math.pi))
            size_of_pole = np.hypot(c, u) * np.hypot(c + 1.0, u)
            doubts += float((error / size_of_pole).sum()), float(error.sum())
        factor, s = np.concatenate(parts), c + 1j * self._u
        self._terms = factor / (s * (s + 1.0)), factor if blur > 0.0 else None
        self._doubts = doubts * (step / math.pi)
        spins = [
            32.0 * _EPS * float(self._u @ np.abs(part)) for part in self._terms if part is not None
        ]
        self._spins = spins[0], spins[-1]

    def at(self, epsilon: float) -> TruncatedSums:
        """The sums at an epsilon."""
        turn = np.exp(-1j * epsilon * self._u)
        first, second = self._terms
        delta = float((first * turn).real.sum())
        density = 0.0 if second is None else float((second * turn).real.sum())
        doubt, density_doubt = (
            float(known) + spin * abs(epsilon) + 1e-14 * abs(total)
            for known, spin, total in zip(self._doubts, self._spins, (delta, density), strict=True)
        )
        blur = self._blur
        return TruncatedSums(delta, doubt, blur * density, blur * density_doubt)


def product_on_line(line: Line, u: Array, level: int) -> tuple[ComplexArray, Array]:
    """M(s) / M(c) on the line through c, less what is removed, and error bounds."""
    transform = line.transform
    copies, gaussian = transform.copies, transform.gaussian
    values = line.values(u)
    atoms, continuous = values.atoms / line.norm, values.continuous / line.norm
    doubt = values.error / line.norm + 4.0 * _EPS
    size, phase = _log_power(atoms + continuous, copies)
    size = size - 0.5 * gaussian * u * u
    turn = 0.5 * gaussian * (2.0 * line.c + 1.0) * u
    factor = np.exp(size + 1j * (phase + turn))
    spins = 32.0 * _EPS * (np.abs(turn) + 4.0 * copies.sum() + 4.0)
    if level == 0:
        modulus = np.abs(atoms + continuous)
    else:
        size_atoms, phase_atoms = _log_power(atoms, copies)
        removed = np.exp(size_atoms + 1j * (phase_atoms + turn))
        if level == 2:
            ratio = continuous / np.where(atoms == 0.0, 1e-300, atoms)
            removed = removed * (1.0 + copies @ ratio)
        factor = factor - removed
        modulus, doubt = np.abs(atoms) + np.abs(continuous), 2.0 * doubt
    log_low = copies @ np.log(np.maximum(modulus, 1e-300)) - 0.5 * gaussian * u * u
    log_high = copies @ np.log(modulus + doubt) - 0.5 * gaussian * u * u
    high = np.exp(log_high)
    error = high * (-np.expm1(log_low - log_high) + spins)
    return factor, error * (1.0 if level == 0 else 3.0)


# Of the slopes.
_DIFFERENCE = 1e-3  # of c + 10 times the logarithm of a scale
_BLUR = 0.0005  # a^2 c (c + 1) of the added Gaussian loss
_END, _BLURRED_PERIOD = 6.0, 24.0  # where the rule ends and how far off its aliases are
_SLOPE_ERROR = 1e-3
_MOST_POINTS, _BLOCK = 20_000, 512
# Many groups fade early: fewer points, but at least so many; and an end where two blocks in a row
# add nothing.
_MOST_WORK, _FEWEST, _NOTHING = 300_000, 1024, 1e-9
_VISIBLE = np.geomspace(1e-7, 1e6, 53)  # beyond, finite differences lose their digits


class Slopes(NamedTuple):
    """An estimate of delta."""

    log_delta: float
    slopes: Array  # shape (G,), derivatives in the logarithms of the scales
    work: int = 0  # points of the rule times transforms, the same on every machine


def _saddle(transform: LossTransform, epsilon: float) -> tuple[float, float]:
    """Contour c near the saddle point, and the curvature of the logarithm of the integrand."""
    c = _VISIBLE
    # ends: a search direction; what it leads to is certified
    for _ in range(3):
        log_m = transform.log_real(c)
        height = log_m - c * epsilon - np.log(c) - np.log1p(c)
        best = min(max(int(np.argmin(height)), 1), len(c) - 2)
        found, inner = float(c[best]), slice(best - 1, best + 2)
        x, y = c[inner], height[inner]
        c = np.geomspace(x[0], x[2], 13)
    (rise, fall), (left, right) = np.diff(y), np.diff(x)
    bend = 2.0 * (fall / right - rise / left) / (left + right)
    minimum = 1.0 / found**2 + 1.0 / (found + 1.0) ** 2
    return found, max(float(bend), minimum) if math.isfinite(bend) else minimum


def _losses(noises: Sequence[Noise], ratios: Array) -> list[CoordinateLoss]:
    return [
        coordinate_loss(noise.scaled(float(ratio)))
        for noise, ratio in zip(noises, ratios, strict=True)
    ]


def log_delta_and_slopes(
    noises: Sequence[Noise], ratios: Array, counts: Counts, epsilon: float
) -> Slopes:
    """Estimate of log delta and its slopes, for groups of log-concave noise with quadratic pieces.

    `ratios` are scale over sensitivity. RuntimeError if rounding hides the result.
    """
    losses = _losses(noises, ratios)
    squares = np.array([loss.gaussian for loss in losses])  # mu^2, 0 if not Gaussian
    others = np.flatnonzero(squares == 0.0)
    gaussian = float(counts @ squares)
    copies, some = counts[others].tolist(), counts[others].astype(float)
    middle = LossTransform([losses[g] for g in others], copies, gaussian)
    c, bend = _saddle(middle, epsilon)
    blur, change = _BLUR / (c * (c + 1.0)), _DIFFERENCE / (10.0 + c)
    up, down = (_losses(noises, ratios * math.exp(x)) for x in (change, -change))
    three = LossTransform([each[g] for each in (losses, up, down) for g in others], 3 * copies, 0.0)
    step = 2.0 * math.pi / (_BLURRED_PERIOD * math.sqrt(bend + gaussian + blur))
    last = _END / math.sqrt(gaussian + blur)
    most = min(_MOST_POINTS, max(_MOST_WORK // (3 * len(losses)), _FEWEST))
    u = step * np.arange(min(math.ceil(last / step), most) + 1)
    weight = np.full(u.size, step / math.pi)
    weight[0] *= 0.5
    peak = three.peaks(np.array([c]))
    spread = 0.5 * (gaussian + blur)

    def transforms(s: ComplexArray) -> list[ComplexArray]:
        """Transforms of the losses at three scales."""
        values = three.values(s, peak)
        total = values.atoms + values.continuous
        return [m * np.exp(p) for m, p in zip(np.split(total, 3), peaks, strict=True)]

    peaks = [p - peak[: others.size] for p in np.split(peak, 3)]
    # In units of its value at c a transform has no power that overflows.
    unit = transforms(np.array([c + 0j]))[0].real
    log_scale = c * (spread * (c + 1.0) - epsilon)
    log_scale += float(some @ (peak[: others.size, 0] + np.log(unit[:, 0])))
    total, sums, quiet, work = 0.0, np.zeros(len(losses)), 0, 0
    for k in range(0, u.size, _BLOCK):
        s, w = np.asarray(c + 1j * u[k : k + _BLOCK], dtype=complex), weight[k : k + _BLOCK]
        product = s * (s + 1.0)
        base = np.exp(spread * (product - c * (c + 1.0)) - 1j * epsilon * s.imag) / product
        work += 3 * len(losses) * s.size
        if others.size:
            m, more, less = transforms(s)
            with np.errstate(all="ignore"):  # refused below
                base = base * np.exp(some @ np.log(m / unit))
                change_of_m = (((more - less) / m) * base).real @ w
            sums[others] += some * change_of_m / (2.0 * change)
        total += float(base.real @ w)
        level = float(np.abs(base) @ w)
        sums -= counts * squares * float((product * base).real @ w)
        quiet = quiet + 1 if level < _NOTHING * abs(total) else 0
        if quiet == 2:
            break
    # More noise means less delta; what says otherwise is rounding.
    good = total > 0.0 and bool(np.all(sums <= _SLOPE_ERROR * np.max(np.abs(sums))))
    if not good:
        raise RuntimeError(f"allocation: rounding hides delta at epsilon={epsilon!r}")
    return Slopes(math.log(total) + log_scale, sums / total, work)
