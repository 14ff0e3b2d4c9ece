"""One vertical line on which the transform of many sampled losses is inverted at many epsilons.

The saddle point approximation in terms of the tilt, from log M and its derivatives at a few dozen
tilts, says where delta or epsilon is what is asked for; nothing rests on it. One line near that
tilt then serves all epsilons nearby: the values of the transform on it, the bound on what lies
beyond the last one and the bounds of Chernoff on the aliases depend on epsilon by a factor only.
The bounds are those of `dpnoise.privacy.inversion.trapezoid`, without atoms or blur, for sums that
fade in a few hundred points; others are left to `dpnoise.privacy.inversion.inversion`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.inversion.trapezoid import log_payoff, product_on_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.privacy.sampled.transform import MixedTransform

_EPS = float(np.finfo(float).eps)
_MARGIN = 1.0 + 3e-3  # over the rounding of a bound of no influence on the result
_TILTS, _BROAD = 20, 300.0  # tilts at once, and the ratio of the largest to the smallest
_WIDENINGS = 4  # of the range of tilts
_USABLE = 1e-3  # error of log M
_PERIODS = 1.1 ** np.arange(100.0)
_REACH = 5.5 * 1.25 ** np.arange(40.0)  # of the line, in units of one over the spread
_AT_ONCE = 4  # of them
_MOST_POINTS = 100_000
_ALIAS, _TAIL = 1e-11, 1e-11  # relative to delta
_STEPS = 30  # of Newton's method
_SMALL = 1e-13  # change of epsilon at which it ends


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
    for _ in range(_WIDENINGS):
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
        self.epsilon = 0.0  # of what `product_on_line` returns
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
        factor, error = product_on_line(self, self._u, 0)  # type: ignore[arg-type]  # of its interface
        s = c + 1j * self._u
        pole = s * (s + 1.0)
        whole = np.full(points + 1, step / math.pi)
        whole[0] *= 0.5
        self._s, self._terms = s, whole * factor / pole
        self._doubt = float(whole @ (error / np.abs(pole)))
        self._spin = 32.0 * _EPS * float(whole @ (self._u * np.abs(factor / pole)))
        return True

    def _sums(self, epsilon: float) -> tuple[float, float]:
        """The sum, and minus its derivative by epsilon, relative."""
        terms = self._terms * np.exp(-1j * epsilon * self._u)
        return float(terms.real.sum()), float((self._s * terms).real.sum())

    def bounds(self, epsilon: float) -> LogBounds:
        """Bounds on log delta."""
        total, _ = self._sums(epsilon)
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

    def epsilon_at(self, log_delta: float, epsilon: float) -> tuple[float, float] | None:
        """The epsilon where the sum is a delta, and the slope of log delta; None if not found."""
        # ends: bounds are taken on either side of wherever it ends
        for _ in range(_STEPS):
            total, fall = self._sums(epsilon)
            if total <= 0.0 or fall <= 0.0:
                return None
            miss = math.log(total) + self._log_scale(epsilon) - log_delta
            change = miss * total / fall
            change = min(max(change, -3.0 / self.c), 3.0 / self.c)
            epsilon += change
            if abs(change) <= _SMALL * abs(epsilon):
                break
        return epsilon, fall / total
