"""Delta and epsilon of many sampled losses by one line for each, where that suffices.

*The line* is vertical, and the transform of many sampled losses is inverted on it. The saddle point
approximation in terms of the tilt, from log M and its derivatives at a few dozen tilts, says where
delta or epsilon is what is asked for; nothing rests on it. One line near that tilt then serves all
epsilons nearby: the values of the transform on it, the bound on what lies beyond the last one and
the bounds of Chernoff on the aliases depend on epsilon by a factor only. The bounds are those of
`dpnoise.privacy.inversion.trapezoid`, without atoms or blur, for sums that fade in a few hundred
points; others are left to `dpnoise.privacy.inversion.inversion`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.inversion.trapezoid import log_payoff, product_on_line
from dpnoise.privacy.sampled.pairs import ADDED, REMOVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpnoise._types import Array
    from dpnoise.privacy.sampled.transform import MixedTransform

DEEP = 25.0  # the share beyond the cut is e^-25 of delta
_SHALLOW = 18.0  # and then e^-18
DEEPEST = -760.0  # of its logarithm
STEEP = 1.5
CLOSE = 1e-8  # gap with which the search ends
_LOOSER, _MOST_GAP = 1.5, 1.0  # a gap from a kept line, beside the gap that it had
_JUMP, _BACK = 3.0, 3  # of the variance between tilts, and smaller tilts tried then
UNKNOWN = LogBounds(-math.inf, 0.0, 0.0)
_EPS = float(np.finfo(float).eps)
_MARGIN = 1.0 + 3e-3  # over the rounding of a bound of no influence on the result
_TILTS, _BROAD = 20, 300.0  # tilts at once, and the ratio of the largest to the smallest
_TILT_WIDENINGS = 4  # of the range of tilts
_USABLE = 1e-3  # error of log M
_PERIODS = 1.1 ** np.arange(100.0)
_REACH = 5.5 * 1.25 ** np.arange(40.0)  # of the line, in units of one over the spread
_AT_ONCE = 4  # of them
_MOST_POINTS = 100_000
_ALIAS, _TAIL = 1e-11, 1e-11  # relative to delta


def sharper(one: LogBounds, other: LogBounds) -> LogBounds:
    """What both say."""
    lower, upper = max(one.lower, other.lower), min(one.upper, other.upper)
    lower = min(lower, upper)  # up to rounding
    best = one if one.gap <= other.gap else other
    return LogBounds(lower, min(max(best.estimate, lower), upper), upper)


def with_rest(found: LogBounds, rest: float) -> LogBounds:
    """The bounds where outputs of a log probability do not count."""
    if rest == -math.inf:
        return found
    lower = log_minus(found.lower, rest)
    upper = min(float(np.logaddexp(found.upper, rest)), 0.0)
    return LogBounds(lower, max(found.estimate, lower), upper)


def log_minus(first: float, second: float) -> float:
    """Log (e^first - e^second), or minus infinity."""
    return first + math.log(-math.expm1(second - first)) if first > second else -math.inf


class _Aim(NamedTuple):
    """The log delta or the epsilon that is asked about."""

    log_delta: float | None
    epsilon: float | None

    def values(self, tilts: Tilts) -> tuple[np.ndarray, float]:
        """What rises with the tilt, and its aim."""
        if self.log_delta is not None:
            return -tilts.log_delta, -self.log_delta
        assert self.epsilon is not None  # noqa: S101  (one of both)
        return tilts.epsilon, self.epsilon


class Lines:
    """The lines that were used last, one for each direction.

    `transform` gives the transform for a direction, the log chance of what is cut and the steepness
    of the cut, and `spread` is about the standard deviation of the loss.
    """

    def __init__(
        self, transform: Callable[[str, float, float], MixedTransform], spread: float
    ) -> None:
        self._transform, self._spread = transform, spread
        self._last: dict[str, tuple[Contour, float]] = {}  # and the gap, where none had less
        self._tilts: dict[tuple[str, _Aim], Tilts | None] = {}

    def _search(self, direction: str, aim: _Aim, rest: float = -math.inf) -> Tilts | None:
        """Tilts around the one of an aim."""
        steep = 1.0
        if rest > -math.inf:
            known = self._search(ADDED, aim)
            if known is None:
                return None
            start = known.interpolated(*aim.values(known))
            steep = max(STEEP * start, 1.0)
        elif aim.epsilon is not None:
            start = max(aim.epsilon / self._spread, 1.0) / self._spread
        else:
            assert aim.log_delta is not None  # noqa: S101  (one of both)
            start = math.sqrt(max(-2.0 * aim.log_delta, 1.0)) / self._spread
        key = direction, aim
        if rest > -math.inf or key not in self._tilts:
            transform = self._transform(direction, rest, steep)
            found = search(transform, start, aim.values)
            if rest > -math.inf:
                return found
            self._tilts = {key: found, **dict(list(self._tilts.items())[:3])}
        return self._tilts[key]

    def _lines(self, direction: str, aim: _Aim, rest: float) -> Iterator[Contour]:
        """Lines for an aim that can be covered, the saddle point's first."""
        tilts = self._search(direction, aim, rest)
        if tilts is None:
            return
        c = tilts.interpolated(*aim.values(tilts))
        k = int(np.searchsorted(tilts.c, c))
        candidates = [c]
        # Where large losses take over between two tilts, a smaller one serves both kinds.
        if k > 0 and k < len(tilts.c) and tilts.square[k] > _JUMP * tilts.square[k - 1]:
            candidates += tilts.c[max(k - _BACK, 0) : k][::-1].tolist()
        for at in candidates:
            epsilon = aim.epsilon
            if epsilon is None:
                epsilon = float(np.interp(at, tilts.c, tilts.epsilon))
            try:
                line = Contour(tilts, float(at), max(epsilon, 0.0))
            except ValueError:  # too many terms
                continue
            if line.good:
                yield line

    def saddle(self, epsilon: float) -> tuple[float, float] | None:
        """About log delta, by a saddle point approximation, and its tilt; None without one."""
        tilts = self._search(REMOVED, _Aim(None, epsilon))
        return None if tilts is None else tilts.saddle(epsilon)

    @staticmethod
    def _rests(direction: str, guess: float | None) -> list[float]:
        """Log chances of what is cut, each after the first one where bounds are wide so far."""
        if direction == ADDED:
            return [-math.inf]
        guess = -60.0 if guess is None else guess
        return [-math.inf, *(max(guess - deep, DEEPEST) for deep in (DEEP, _SHALLOW))]

    def _sought(
        self, direction: str, aim: _Aim, guess: float | None, gap: float
    ) -> tuple[float | None, LogBounds]:
        """Bounds on log delta by new lines, of which the best is kept, and at which epsilon.

        That is the one of the aim, or where the first line is to serve; None without a line.
        """
        at, best, smallest = aim.epsilon, UNKNOWN, math.inf
        for rest in self._rests(direction, guess):
            for line in self._lines(direction, aim, rest):
                at = line.middle if at is None else at
                found = with_rest(line.bounds(at), line.rest)
                best = sharper(best, found)
                if best.gap <= gap:
                    self._last[direction] = line, 0.0
                    return at, best
                if found.gap < smallest:
                    smallest = found.gap
                    self._last[direction] = line, smallest
        return at, best

    def log_delta(
        self, epsilon: float, direction: str, guess: float | None, gap: float = CLOSE
    ) -> LogBounds:
        """Bounds on log delta with a gap, if possible; `guess` is what it is about, if known."""
        best, enough = UNKNOWN, gap
        if direction in self._last:
            line, smallest = self._last[direction]
            best = with_rest(line.bounds(epsilon), line.rest)
            enough = max(gap, min(_LOOSER * smallest, _MOST_GAP))
        if best.gap > enough:
            found = self._sought(direction, _Aim(None, epsilon), guess, gap)[1]
            best = sharper(best, found)
        return best

    def chernoff(self, epsilon: float, direction: str, log_delta: float) -> float:
        """A bound on log delta by Chernoff's inequality, good near a given one; 0 if none is found.

        It holds for all outputs: nothing is cut.
        """
        tilts = self._search(direction, _Aim(log_delta, None))
        return 0.0 if tilts is None else tilts.chernoff(epsilon)

    def epsilon(self, log_delta: float, direction: str) -> tuple[float, float] | None:
        """About the epsilon of a log delta, and its tilt, next to which a line is kept, if any."""
        aim = _Aim(log_delta, None)
        at, _ = self._sought(direction, aim, log_delta, CLOSE)
        return None if at is None else (at, self._last[direction][0].c)


class Tilts(NamedTuple):
    """Tilts c in rising order, log M there, bounds on its error, and its two derivatives."""

    transform: MixedTransform
    c: Array
    log_m: Array
    error: Array
    mean: Array
    square: Array

    @property
    def epsilon(self) -> Array:
        """The epsilon of which each tilt is the saddle point."""
        return self.mean - 1.0 / self.c - 1.0 / (self.c + 1.0)

    @property
    def log_delta(self) -> Array:
        """The saddle point approximation of log delta there."""
        c = self.c
        spread = self.square + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2
        fall = self.log_m - c * self.epsilon - np.log(c) - np.log1p(c)
        return fall - 0.5 * np.log(2.0 * math.pi * spread)

    def saddle(self, epsilon: float) -> tuple[float, float]:
        """The one of log delta at an epsilon, and a tilt next to the saddle point.

        By the parabola through the lowest three tilts.
        """
        c = self.c
        heights = self.log_m - c * epsilon - np.log(c) - np.log1p(c)
        k = min(max(int(np.argmin(heights)), 1), len(c) - 2)
        before, low, after = heights[k - 1 : k + 2].tolist()
        bend = before - 2.0 * low + after
        if bend > 0.0:  # tilts are equally spaced in their logarithm
            low -= 0.125 * (after - before) ** 2 / bend
        spread = self.square + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2
        return float(low - 0.5 * math.log(2.0 * math.pi * spread[k])), float(c[k])

    def chernoff(self, epsilon: float) -> float:
        """Chernoff's bound on log delta at an epsilon, the best of all tilts."""
        heights = self.log_m + self.error - self.c * epsilon + log_payoff(self.c)
        return min(float(np.min(heights)) + 1e-12, 0.0)

    def interpolated(self, values: Array, at: float) -> float:
        """The tilt where `values`, monotone, are `at`."""
        order = slice(None) if values[-1] > values[0] else slice(None, None, -1)
        return math.exp(float(np.interp(at, values[order], np.log(self.c)[order])))


def tilted(transform: MixedTransform, c: Array) -> Tilts | None:
    """Log M at tilts in rising order, as far as it is known well; None if at fewer than three."""
    total = np.zeros((4, len(c)))
    for loss, n in zip(transform.sampled, transform.counts, strict=True):
        known = loss.moments(c)
        if known is None:
            return None
        total += n * np.array(known)
    if len(transform.other.copies) or transform.gaussian > 0.0:
        near, far = c * (1.0 - 1e-3), c * (1.0 + 1e-3)
        log_m = transform.other.log_real(np.concatenate([near, c, far])).reshape(3, -1)
        with np.errstate(invalid="ignore"):
            slope = (log_m[2] - log_m[0]) / (far - near)
            bend = (log_m[2] - 2.0 * log_m[1] + log_m[0]) / (1e-3 * c) ** 2
        # The error of one value is not told, but USABLE is a bound on it.
        rough = _USABLE if len(transform.other.copies) else 1e-14 * np.abs(log_m[1])
        total += np.array([log_m[1], np.full(c.shape, 1.0) * rough, slope, np.maximum(bend, 0.0)])
    good = np.isfinite(total).all(axis=0) & (total[1] < 2.0 * _USABLE)
    count = len(c) if good.all() else int(np.argmin(good))
    return Tilts(transform, c[:count], *total[:, :count]) if count > 2 else None


def search(
    transform: MixedTransform, start: float, values: Callable[[Tilts], tuple[Array, float]]
) -> Tilts | None:
    """Tilts around the one where what rises with the tilt meets an aim; None if not found.

    `start` is about the tilt.
    """
    high = 4.0 * start
    # ends: None: another account is asked
    for _ in range(_TILT_WIDENINGS):
        found = tilted(transform, high * np.geomspace(1.0 / _BROAD, 1.0, _TILTS))
        if found is None:
            high /= 8.0
            continue
        known, aim = values(found)
        if known[0] > aim:
            high = 2.0 * float(found.c[0])
        elif known[-1] < aim:
            if len(found.c) < _TILTS:
                return None
            high *= 100.0
        else:
            return found
    return None


class Contour:
    """The line through a tilt c, with the bounds on delta at every epsilon from it.

    `tilts` are others, for the aliases, and `middle` is the epsilon where it is to serve. `good`
    says whether the line could be covered, and `rest` is the log chance of what is cut.
    """

    def __init__(self, tilts: Tilts, c: float, middle: float) -> None:
        self.transform, self.c, self.tilts = tilts.transform, c, tilts
        self.middle, self.rest = middle, tilts.transform.log_cut
        self.line = self.transform.line(c)
        curve = np.interp(math.log(c), np.log(tilts.c), tilts.square)
        self.spread = math.sqrt(curve + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2)
        # About delta, relative to M(c) exp(-c epsilon).
        self.guess = 1.0 / (c * (c + 1.0) * math.sqrt(2.0 * math.pi) * self.spread)
        periods = 2.0 * self.spread * _PERIODS
        good = np.flatnonzero(self._aliases(periods, middle) <= _ALIAS * self.guess)
        self.period = float(periods[good[0] if good.size else -1])
        self.good = bool(good.size) and self._cover()

    def _log_scale(self, epsilon: float) -> float:
        return self.line.log_transform - self.c * epsilon

    def _aliases(self, period: Array, epsilon: float) -> Array:
        """Chernoff's bounds on the sum of the aliases, relative."""
        tilts = self.tilts
        exponents = np.append(tilts.c, 0.0)  # 0 is delta <= 1
        logs = tilts.log_m + tilts.error - tilts.c * epsilon + log_payoff(tilts.c)
        logs = np.append(logs, 0.0) - self._log_scale(epsilon)
        gap = exponents - self.c
        some = np.abs(gap) > 1e-9 * self.c
        gap, logs = gap[some], logs[some]
        decay = np.abs(gap) * np.asarray(period)[..., None]
        terms = logs - decay - np.log(-np.expm1(-decay))
        sides = [terms[..., side].min(axis=-1, initial=700.0) for side in (gap > 0.0, gap < 0.0)]
        return np.exp(np.minimum(np.logaddexp(*sides), 700.0)) * _MARGIN

    def _cover(self) -> bool:
        """The values up to where the rest is negligible."""
        c, step = self.c, 2.0 * math.pi / self.period
        copies, gaussian = self.transform.copies, self.transform.gaussian
        for first in range(0, len(_REACH), _AT_ONCE):
            u = _REACH[first : first + _AT_ONCE] / self.spread
            if u[0] > step * _MOST_POINTS:
                return False
            fall = np.minimum(self.line.atoms + self.line.envelope(u), 1.0)
            with np.errstate(divide="ignore"):
                height = np.exp(copies @ np.log(fall) - 0.5 * gaussian * u * u)
            weights = np.append(
                np.diff(u) / (np.hypot(c, u) * np.hypot(c + 1.0, u))[:-1], 1.0 / u[-1]
            )
            tails = np.cumsum((height * weights)[::-1])[::-1] * (_MARGIN / math.pi)
            enough = np.flatnonzero(tails <= _TAIL * self.guess)
            if enough.size:
                break
        else:
            return False
        points = math.ceil(u[enough[0]] / step)
        if points > _MOST_POINTS or self.line.affordable(step, points) < points:
            return False
        self.tail = float(tails[enough[0]])
        self._u = step * np.arange(points + 1.0)
        factor, error = product_on_line(self.line, self._u, 0)  # type: ignore[arg-type]  # of its interface
        s = c + 1j * self._u
        pole = s * (s + 1.0)
        whole = np.full(points + 1, step / math.pi)
        whole[0] *= 0.5
        self._terms = whole * factor / pole
        self._doubt = float(whole @ (error / np.abs(pole)))
        self._spin = 32.0 * _EPS * float(whole @ (self._u * np.abs(factor / pole)))
        return True

    def bounds(self, epsilon: float) -> LogBounds:
        """Bounds on log delta."""
        total = float((self._terms * np.exp(-1j * epsilon * self._u)).real.sum())
        slack = self.tail + self._doubt + self._spin * abs(epsilon) + 1e-14 * abs(total)
        alias = float(self._aliases(np.asarray(self.period), epsilon))
        scale = float(self._log_scale(epsilon))
        doubt = 2.0 * (
            self.line.norm_error + 4.0 * _EPS * abs(self.c * epsilon)
        ) + 4.0 * _EPS * abs(scale)
        low, high = total - slack - alias, total + slack
        high = min(high, 1.001 * math.exp(float(log_payoff(np.asarray(self.c)))))
        lower = math.log(low) + scale - doubt if low > 0.0 else -math.inf
        upper = math.log(high) + scale + doubt if high > 0.0 else math.inf
        middle = math.log(total) + scale if total > 0.0 else lower
        upper = min(upper, 0.0)
        return LogBounds(min(lower, upper), min(middle, upper), upper)
