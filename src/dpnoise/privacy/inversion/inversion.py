"""Two-sided bounds on the delta of a sum of privacy losses, from its transform.

With M(s) = E exp(s L) and any c > 0,

    delta(epsilon) = E (1 - e^(epsilon - L))_+
                   = 1 / (2 pi) int exp(-s epsilon) M(s) / (s (s + 1)) du,  s = c + i u,

which `trapezoid` evaluates near the saddle point of the integrand. The atoms of the loss do not
fade along the line. Where that is feasible the terms of the product of
transforms with no or one continuous factor are subtracted and added in closed form. Otherwise
the line is made to fade by one more Gaussian coordinate with mu = a: it can only raise delta,
and by no more than a^2 e^(a^2 / 8) f_a, where f_a is the inverse transform of
e^(a^2 s (s + 1) / 2) M(s). docs/vector-privacy.md has the proofs.

**Closed form of atoms.** If every coordinate's loss takes some values with positive mass, so does
their sum. K copies of two values are binomial. K copies of -l, 0, l (staircase noise) have the
coefficients r_n of (q_0 + q_1 x + q_2 x^2)^K, whose ratios rho_n = r_n / r_(n-1) obey

    n q_0 rho_n = (K + 1 - n) q_1 + (2 K + 2 - n) q_2 / rho_(n-1),

a recurrence of positive terms for n <= K, and from the other end for the rest.

**Closed form of one continuous loss.** On a stretch of noise values (see `inversion.loss`) zeta is
monotone, so that (1 - e^(x - zeta))_+ is positive from or up to one point. There the payoff
integrates to the transform of the rest of the stretch at s = 0 less that at s = -1, with zeta
counted from x. Where x is known up to a doubt, the profile is taken at x - doubt, the side on which
it is larger. It is convex in e^x, so that at x + doubt it has fallen by at most e^(2 doubt) - 1
times its slope there.

**Epsilon** where a log delta is met is found by tangents from a saddle point approximation. Nothing
rests on that: bounds are taken on either side of what they find.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from dpnoise.privacy.inversion.transform import integrate
from dpnoise.privacy.inversion.trapezoid import LineTerms, Rule, TrapezoidPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.loss import CoordinateLoss, NoiseStretch
    from dpnoise.privacy.inversion.transform import LossTransform

    Atoms = Sequence[tuple[float, float]]
    Profile = Callable[[Array, float], tuple[Array, Array, Array]]


_MOST_POINTS, _MOST_EVALUATIONS = 200_000, 4_000_000
_FEW_POINTS = 1000  # up to which a simpler plan is preferred
_MOST_ATOMS = 200_000
_WIDEST_BLUR = 1.0  # of a^2 and of a^2 c (c + 1)
_ATTEMPTS = 4
_EVALUATION = 4e-7  # seconds
_TOP = 1e-11  # relative rounding of the greatest loss, with a margin
_DEEPEST = 1e11  # -log delta from which on exponents have no digits left
_MIN_BLUR = 1e-12  # relative to the widest
_SHARES = np.linspace(0.125, 1.0, 8)
_SEARCH = np.geomspace(1e-7, 1e13, 41)
# Relative errors for each coordinate, of a loss and of a mass per unit of its logarithm.
_VALUE_ERROR = 5e-14
_MASS_ERROR = 5e-14
_POINTS = np.array([0.0, -1.0], dtype=complex)
_LOOSER, _MOST_GAP = 1.5, 100.0  # a gap from the line of another epsilon, beside the gap there
_LOOSE, _USEFUL = 1e-2, 0.1  # a gap to aim at, where closer ones left more than that
_STEPS, _FOUND = 12, 1e-4  # of a search by tangents
_CLIP = 700.0


class LogBounds(NamedTuple):
    """Logarithms of a lower bound, an estimate and an upper bound of delta."""

    lower: float
    estimate: float
    upper: float

    @property
    def gap(self) -> float:
        """The width relative to the estimate."""
        if self.upper == -math.inf:
            return 0.0
        if self.upper - self.lower > 700.0:
            return math.inf
        return math.expm1(self.upper - self.lower)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _scaled(log_value: float, log_scale: float) -> float:
    return math.exp(min(log_value - log_scale, 700.0))


def _exact(term: tuple[float, float]) -> LogBounds:
    """The bounds of a closed form with an error, given by their logarithms."""
    log_delta, log_error = term
    # Both logarithms are rounded.
    log_error = float(np.logaddexp(log_error, log_delta + math.log(1e-14)))
    return LogBounds(
        _log_difference(log_delta, log_error), log_delta, _log_sum(log_delta, log_error)
    )


def _log_sum(*terms: float) -> float:
    return float(np.logaddexp.reduce(terms))


def _log_difference(a: float, b: float) -> float:
    return a + math.log(-math.expm1(b - a)) if a > b else -math.inf


def _total(parts: list[LogBounds]) -> LogBounds:
    """The bounds of a sum."""
    low, middle, high = (min(_log_sum(*terms), 0.0) for terms in zip(*parts, strict=True))
    return LogBounds(low, min(max(low, middle), high), high)


class _Kept(NamedTuple):
    """The line of an epsilon, which serves others near it, and the gap there."""

    rule: Rule
    plan: TrapezoidPlan
    terms: LineTerms
    gap: float


class Inversion:
    """The inversion of one transform, with what the epsilons share.

    `rtol` is the width of the bounds to aim at, relative to delta, and `seconds` about how long one
    epsilon may take: less time leaves wider bounds. With `kept` the line of one epsilon serves
    others where it bounds delta about as well. Raises a ValueError where rounding hides delta.
    """

    def __init__(
        self,
        transform: LossTransform,
        rtol: float,
        seconds: float = math.inf,
        *,
        kept: bool = False,
    ) -> None:
        self.transform, self.rtol = transform, rtol
        self._keep = kept
        self._kept: _Kept | None = None  # the last line
        self._most = min(_MOST_EVALUATIONS, 0.4 * seconds / _EVALUATION)
        self._rows = max(transform.rows, len(transform.losses), 1)
        self._added = 0
        self._groups = [
            (loss, int(n)) for loss, n in zip(transform.losses, transform.copies, strict=True)
        ]
        sizes = [number_of_atoms(loss.atoms, n) for loss, n in self._groups]
        removable = transform.gaussian == 0.0 and 0 < math.prod(map(float, sizes)) <= _MOST_ATOMS
        self._atomic = self._combined() if removable else None
        self._continuous = transform.continuous
        if self._continuous or not removable:
            both = transform.log_real(np.concatenate([_SEARCH, -_SHARES]))
            self._searched, self._backwards = both[: len(_SEARCH)], both[len(_SEARCH) :]
            if not np.isfinite(self._searched).any():
                message = (
                    f"vector profile: rounding of {int(transform.copies.sum())} coordinates"
                    " hides the result; expected fewer, or noise nearer the sensitivity"
                )
                raise ValueError(message)

    def _combined(self, without: int | None = None) -> AtomicLoss:
        """The atoms of the sum, or of all coordinates but one of a group."""
        counts = [(loss.atoms, n - (g == without)) for g, (loss, n) in enumerate(self._groups)]
        return combine([(atoms, n) for atoms, n in counts if n > 0])

    def _saddle(self, epsilon: float) -> tuple[float, float]:
        """C > 0 near the saddle point, and the curvature of log M there."""
        c, log_m = _SEARCH, self._searched
        # ends: a choice of contour: bounds hold on any
        for _ in range(2):
            best = int(np.argmin(log_m - c * epsilon - np.log(c) - np.log1p(c)))
            low, high = max(best - 1, 0), min(best + 1, len(c) - 1)
            c = np.geomspace(c[low], c[high], 13)
            log_m = self.transform.log_real(c)
        height = log_m - c * epsilon - np.log(c) - np.log1p(c)
        best = int(np.argmin(height))
        inner = slice(best - 1, best + 2)
        if not 0 < best < len(c) - 1 or not np.isfinite(log_m[inner]).all():
            return float(c[best]), 0.0
        x = c[inner]
        rise, slope = (np.diff(y[inner]) / np.diff(x) for y in (log_m, height))
        bend, turn = (2.0 * float(y[1] - y[0]) / float(x[2] - x[0]) for y in (rise, slope))
        # The vertex of the parabola through three heights.
        vertex = 0.5 * (x[0] + x[1] - 2.0 * slope[0] / turn) if turn > 0.0 else x[1]
        return float(min(max(vertex, x[0]), x[2])), max(bend, 0.0)

    def bounds(self, epsilon: float) -> LogBounds:
        """Bounds on log E (1 - e^(epsilon - L))_+ over the finite losses."""
        infinite = self._infinite
        top = self.transform.largest
        if epsilon >= top * (1.0 - _TOP):
            return self._near_top(epsilon)
        removed = self._discrete(epsilon)
        if removed and not self._continuous:
            return _total([_exact(infinite), *map(_exact, removed)])
        log_chernoff = float(np.min(self._searched - _SEARCH * epsilon))
        if log_chernoff < -_DEEPEST:
            return self._deep(log_chernoff)
        # 1 - delta = E min(1, e^(epsilon - L)) <= e^(t epsilon) M(-t) for t in [0, 1].
        log_rest = float(np.min(self._backwards + _SHARES * epsilon)) + 1e-3
        certain = math.log1p(-math.exp(log_rest)) if log_rest < 0.0 else -math.inf
        if certain > -0.5 * self.rtol:
            return LogBounds(certain, 0.5 * certain, 0.0)
        found = self._inverted(epsilon, [infinite, *removed])
        return LogBounds(max(found.lower, certain), max(found.estimate, certain), found.upper)

    def _inverted(self, epsilon: float, closed: list[tuple[float, float]]) -> LogBounds:
        """Bounds by an inversion, with what has a closed form: the infinite loss, and atoms."""
        if self._kept is not None:
            found = self._again(self._kept, epsilon, closed)
            if found.gap <= max(self.rtol, min(_LOOSER * self._kept.gap, _MOST_GAP)):
                return found
        c, bend = self._saddle(epsilon)
        rule = Rule(self.transform, epsilon, c, bend, removable=len(closed) > 1)
        target = max(_scaled(log_known, rule.log_scale) for log_known, _ in closed)
        target = max(target, rule.guess)
        best: LogBounds | None = None
        sharpness, spent = 1.0, 0
        # ends: the bounds hold, and are wider
        for _ in range(_ATTEMPTS):
            # Bounds that are aimed too close for the time may be wide: a larger blur does better.
            loose = best is not None and best.gap > _USEFUL
            aim = max(self.rtol * sharpness, _LOOSE if loose else 0.0)
            plan = self._plan(rule, aim * target)
            if plan.level == 2 and len(closed) == 2:
                closed.append(self._once(epsilon))
            terms = LineTerms(rule, plan)
            found = self._apply(rule, plan, terms, closed[: 1 + plan.level])
            progress = best is None or found.gap < 0.5 * best.gap
            if best is None or found.gap < best.gap:
                best = found
                self._kept = _Kept(rule, plan, terms, found.gap) if self._keep else None
            spent += plan.points * self._rows
            wide = best.gap > _USEFUL and not loose and self.rtol < _LOOSE
            if found.gap <= self.rtol or not (wide or (progress and spent <= self._most)):
                break
            measured = _scaled(found.estimate, rule.log_scale)
            if measured < 0.9 * target:
                target = max(measured, 1e-3 * target)
            else:
                sharpness *= 0.1
        assert best is not None  # noqa: S101  (there is at least one attempt)
        return best

    def _again(self, kept: _Kept, epsilon: float, closed: list[tuple[float, float]]) -> LogBounds:
        """Bounds from the line of another epsilon."""
        rule, plan = kept.rule.moved(epsilon), kept.plan
        if plan.level == 2 and len(closed) == 2:
            closed.append(self._once(epsilon))
        return self._apply(rule, plan, kept.terms, closed[: 1 + plan.level])

    @property
    def _infinite(self) -> tuple[float, float]:
        """The logarithms of the mass of infinite loss and of a bound on its error."""
        mass = self.transform.infinite
        return _log(mass), _log(1e-13 * mass * (1.0 + float(self.transform.copies.sum())))

    def _near_top(self, epsilon: float) -> LogBounds:
        """Bounds where epsilon is the greatest loss, give or take rounding."""
        known = _exact(self._infinite)
        reach = self.transform.largest * (1.0 + _TOP) - epsilon
        if reach <= 0.0:
            return known
        # (1 - e^(epsilon - L))_+ <= reach, where L > epsilon.
        log_chance = 0.0
        if self._continuous:
            log_chance = min(float(np.min(self._searched - _SEARCH * epsilon)), 0.0)
        log_rest = math.log(reach) + log_chance
        return known._replace(upper=min(_log_sum(known.upper, log_rest), 0.0))

    @property
    def seconds(self) -> float:
        """Time that all calls of `bounds` took so far, roughly."""
        return _EVALUATION * (self.transform.evaluations + self._added)

    def _deep(self, log_chernoff: float) -> LogBounds:
        """Bounds where the finite losses matter by Chernoff's inequality only."""
        high = log_chernoff * (1.0 - _TOP) + 1.0
        return _total([_exact(self._infinite), LogBounds(-math.inf, high, high)])

    def _discrete(self, epsilon: float) -> list[tuple[float, float]]:
        """Log delta and its error of the sums of atoms, if these are few enough."""
        if self._atomic is None:
            return []
        self._added += len(self._atomic.values)
        return [self._atomic.log_delta(epsilon)]

    def _once(self, epsilon: float) -> tuple[float, float]:
        """Log delta and its error of the terms with one continuous factor."""
        self._added += 4 * self._rows * (len(self._atomic.values) if self._atomic else 0)
        terms = [
            self._combined(without=g).log_delta_with(_profile_of(loss), epsilon) + np.log(n)
            for g, (loss, n) in enumerate(self._groups)
            if loss.stretches
        ]
        log_delta, log_error = np.logaddexp.reduce(terms)
        return float(log_delta), float(log_error)

    def _plan(self, rule: Rule, tolerance: float) -> TrapezoidPlan:
        """The cheapest plan that keeps to the tolerance, or comes closest."""
        most = max(min(_MOST_POINTS, int(self._most / self._rows)), 100)
        plans = []
        for level in range(rule.levels):
            plans.append(rule.plan(level, 0.0, 0.05 * tolerance, 0.4 * tolerance, most))
            if plans[-1].tail <= tolerance and plans[-1].points <= _FEW_POINTS:
                return plans[-1]
        # The gap of a blur is about a^2 c (c + 1) times the inverted part of delta.
        sought = 0.6 * tolerance / (rule.guess * rule.c * (rule.c + 1.0))
        widest = _WIDEST_BLUR * min(1.0, 1.0 / (rule.c * (rule.c + 1.0)))
        blur = min(max(sought, _MIN_BLUR * widest), widest)
        # ends: the blur grows to its bound
        while True:
            plan = rule.plan(rule.levels - 1, blur, 0.05 * tolerance, 0.05 * tolerance, most)
            if plan.tail <= tolerance or blur == widest:
                break
            blur = min(1.5 * blur, widest)
        plans.append(plan)
        good = [plan for plan in plans if plan.tail <= tolerance]
        if good:
            return min(good, key=lambda plan: (plan.blur > sought, plan.points))
        return min(plans, key=lambda plan: plan.tail)

    def _apply(
        self,
        rule: Rule,
        plan: TrapezoidPlan,
        terms: LineTerms,
        removed: list[tuple[float, float]],
    ) -> LogBounds:
        """Bounds on log delta from one plan."""
        sums = terms.at(rule.epsilon)
        slack = plan.tail + sums.rounding
        # Chernoff's inequality holds whatever is inverted.
        high = min(sums.delta + slack, 1.001 * rule.chernoff)
        aliases, lift = float(rule.aliases(np.asarray(plan.period), plan.blur)), 0.0
        if plan.blur > 0.0:
            vega = sums.density + sums.density_rounding + plan.density_tail
            lift = math.exp(plan.blur / 8.0) * max(vega, 0.0)
        low = sums.delta - slack - aliases - lift
        middle = sums.delta - 0.5 * sums.density
        scale, doubt = rule.log_scale, 2.0 * rule.scale_error
        inverted = LogBounds(
            _log(low) + scale - doubt, _log(middle) + scale, _log(high) + scale + doubt
        )
        return _total([inverted, *map(_exact, removed)])


def _beyond(cut: NoiseStretch, x: Array) -> Array:
    """Return, as rows like `cut`, the parts of a stretch on which zeta exceeds x."""
    psi, zeta = cut[1:4], cut[4:7]
    start = zeta[0] - x  # zeta at y = 0, from x
    endless = np.isinf(cut.length)
    rise = zeta[1] if endless else zeta[1] + 0.5 * cut.length * zeta[2]
    root = np.sqrt(np.maximum(zeta[1] * zeta[1] - 2.0 * zeta[2] * start, 0.0))
    slope = abs(zeta[1]) + root
    # Where zeta is x. If that is at y = 0, zeta may be stationary there: 0 / 0 is 0. With no
    # slope elsewhere, zeta moves away from x.
    never = np.where(start == 0.0, 0.0, np.inf)
    turn = np.divide(2.0 * np.abs(start), slope, out=never, where=slope > 0.0)
    turn = np.minimum(turn, cut.length)
    if rise > 0.0:
        left = np.where(start >= 0.0, 0.0, turn)
        # An endless stretch on which zeta is linear always has a rest.
        length = np.full_like(x, np.inf) if endless else cut.length - left
    else:
        left = np.zeros_like(x)
        length = np.where(start > 0.0, turn, 0.0)
    first = np.where(left > 0.0, 0.0, start)
    return np.stack(
        [
            length,
            psi[0] + left * (psi[1] + 0.5 * left * psi[2]),
            psi[1] + left * psi[2],
            np.full_like(x, psi[2]),
            first,
            zeta[1] + left * zeta[2],
            np.full_like(x, zeta[2]),
        ],
        axis=-1,
    )


def continuous_delta(
    stretches: Sequence[NoiseStretch], x: Array, doubt: float = 0.0
) -> tuple[Array, Array, Array]:
    """The profile E (1 - e^(x - L))_+ of the continuous part of a loss at x of any sign.

    Beside it, a bound on its error for all x within `doubt`, to which the error of zeta is added,
    and minus its derivative at the lowest of them, each of shape (points,).
    """
    delta, error, slope = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for cut in stretches:
        off = doubt + _VALUE_ERROR * (np.abs(x) + abs(cut.zeta_0))
        rows = _beyond(cut, x - off)
        some = rows[:, 0] > 0.0
        value, rounding = integrate(rows[some], _POINTS)
        kept, lost = np.maximum(value.real.T, 0.0)
        most = np.maximum(kept - lost, 0.0)
        far = off[some]
        fall = np.where(far <= 1.0, np.expm1(2.0 * np.minimum(far, 1.0)) * lost, most)
        half = 0.5 * np.minimum(fall, most)
        delta[some] += most - half
        error[some] += rounding.sum(axis=1) + half
        slope[some] += lost
    return delta, error, slope


def _profile_of(loss: CoordinateLoss) -> Profile:
    """The profile of the continuous part of a loss."""
    own: Profile | None = getattr(loss, "continuous_delta", None)  # of losses on samples
    return own or partial(continuous_delta, loss.stretches)


class AtomicLoss(NamedTuple):
    """A sub-probability on finitely many values of the loss, with their log masses.

    `value_error` bounds the error of each value, `mass_error` the relative error of each mass.
    """

    values: Array
    log_masses: Array
    value_error: float
    mass_error: float

    def log_delta_with(self, profile: Profile, epsilon: float) -> tuple[float, float]:
        """The logarithms of delta and of a bound on its error, with one continuous loss added."""
        doubt = self.value_error + 4.0 * np.finfo(float).eps * abs(epsilon)
        delta, error, _ = profile(epsilon - self.values, doubt)
        error = error + self.mass_error * (delta + error)
        with np.errstate(divide="ignore"):  # nothing beyond epsilon
            terms = np.log(delta), np.log(error)
        log_delta, log_error = (np.logaddexp.reduce(self.log_masses + term) for term in terms)
        return float(log_delta), float(log_error)

    def log_delta(self, epsilon: float) -> tuple[float, float]:
        """The logarithms of the contribution to delta and of a bound on its error."""
        doubt = self.value_error + 4.0 * np.finfo(float).eps * abs(epsilon)
        near = self.values > epsilon - doubt
        gap, log_masses = self.values[near] - epsilon, self.log_masses[near]
        if not gap.size:
            return -math.inf, -math.inf
        with np.errstate(divide="ignore"):  # an atom at epsilon contributes nothing
            payoff = np.log(-np.expm1(-np.maximum(gap, 0.0)))
        log_delta = float(np.logaddexp.reduce(log_masses + payoff))
        slack = float(np.logaddexp.reduce(log_masses + np.minimum(-gap, 0.0)))
        return log_delta, float(
            np.logaddexp(log_delta + math.log(self.mass_error), slack + math.log(2.0 * doubt))
        )


def number_of_atoms(atoms: Atoms, copies: int) -> int:
    """Number of atoms that `powers` gives, or 0 where it knows no closed form."""
    if len(atoms) == 3:
        (a, _), (b, _), (c, _) = sorted(atoms)
        return 2 * copies + 1 if b == 0.0 and a == -c else 0
    return {1: 1, 2: copies + 1}.get(len(atoms), 0)


def _trinomial(first: float, middle: float, last: float, copies: int) -> Array:
    """Log r_0, ..., log r_K of (q_0 + q_1 x + q_2 x^2)^K from the log q."""
    log_ratios = np.empty(copies)
    log_two = 0.5 * (last - first)
    # In units of x sqrt(q_2 / q_0), and by logarithms, of numbers of any size.
    log_one = middle - first - log_two
    for n in range(1, copies + 1):
        ratio = math.log(copies + 1 - n) + log_one
        if n > 1:
            more = math.log(2 * copies + 2 - n) - log_ratios[n - 2]
            ratio = max(ratio, more) + math.log1p(math.exp(-abs(ratio - more)))
        log_ratios[n - 1] = ratio - math.log(n)
    return copies * first + np.concatenate([[0.0], np.cumsum(log_ratios + log_two)])


def powers(atoms: Atoms, copies: int) -> tuple[Array, Array]:
    """Values and log masses of the sum of `copies` independent losses."""
    ordered = sorted(atoms)
    values = np.array([value for value, _ in ordered])
    logs = [log_mass for _, log_mass in ordered]
    if len(ordered) == 1 or copies == 0:
        return copies * values[:1], copies * np.array(logs[:1])
    if len(ordered) == 2:
        n = np.arange(copies + 1.0)
        choose = -special.betaln(n + 1.0, copies - n + 1.0) - math.log(copies + 1.0)
        return (
            n * values[1] + (copies - n) * values[0],
            choose + n * logs[1] + (copies - n) * logs[0],
        )
    first, middle, last = logs
    lower = _trinomial(first, middle, last, copies)
    upper = _trinomial(last, middle, first, copies)
    return values[2] * np.arange(-copies, copies + 1.0), np.concatenate([lower, upper[-2::-1]])


def combine(groups: Sequence[tuple[Atoms, int]]) -> AtomicLoss:
    """The atoms of the sum of independent losses, given as pairs of atoms and copies."""
    values, logs = np.zeros(1), np.zeros(1)
    value_error = mass_error = 0.0
    for atoms, copies in groups:
        more, log_more = powers(atoms, copies)
        values = np.add.outer(values, more).ravel()
        logs = np.add.outer(logs, log_more).ravel()
        value_error += copies * max(abs(value) for value, _ in atoms)
        terms = max(abs(log_mass) for _, log_mass in atoms) + 1.0
        mass_error += copies * (terms + math.log(copies + 1.0))
    return AtomicLoss(values, logs, _VALUE_ERROR * value_error, _MASS_ERROR * (mass_error + 1.0))


def tilts() -> Array:
    """Tilts at which Chernoff's inequality is tried."""
    return np.geomspace(1e-4, 1e8, 73)


def approximate(
    inversion: Inversion, at: float, log_delta: float, top: float
) -> tuple[float, float] | None:
    """About the epsilon of a log delta, and the slope there, by the saddle point alone."""
    # ends: a search between two ends instead
    for _ in range(_STEPS):
        if not 0.0 < at < top:
            return None
        c, bend = inversion._saddle(at)  # noqa: SLF001
        height = float(inversion.transform.log_real(np.array([c]))[0]) - c * at
        if not (math.isfinite(height) and bend > 0.0):
            return None
        height -= math.log(c * (c + 1.0)) + 0.5 * math.log(2.0 * math.pi * bend)
        move = (height - log_delta) / c
        at = min(max(at + move, 0.5 * at), 2.0 * at)
        if abs(move) <= _FOUND * at:
            return (at, -c) if at < top else None
    return None


def by_tangents(
    excess: Callable[[float], float], at: float, slope: float, top: float
) -> float | None:
    """A root of what falls, near one that is known about."""
    known = excess(at)
    # ends: a search between two ends instead
    for _ in range(_STEPS):
        if abs(known) <= _FOUND:
            return at
        after = at - known / slope
        if not (abs(known) < _CLIP and 0.5 * at < after < 2.0 * at and after < top):
            return None
        value = excess(after)
        if value != known:
            slope = min((value - known) / (after - at), 0.5 * slope)
        at, known = after, value
    return None
