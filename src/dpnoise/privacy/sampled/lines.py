"""Delta and epsilon of many sampled losses by one line for each, where that suffices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.sampled.contour import Contour, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpnoise.privacy.sampled.contour import Tilts
    from dpnoise.privacy.sampled.transform import MixedTransform

REMOVED, ADDED = "removed", "added"
DEEP = 25.0  # the share beyond the cut is e^-25 of delta
_SHALLOW = 18.0  # and then e^-18
DEEPEST = -760.0  # of its logarithm
STEEP = 1.5
CLOSE = 1e-8  # gap with which the search ends
_USEFUL = 1e-3  # the gap of a line from which an epsilon is taken
_JUMP, _BACK = 3.0, 3  # of the variance between tilts, and smaller tilts tried then
_WIDENINGS = 25
UNKNOWN = LogBounds(-math.inf, 0.0, 0.0)


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
    of the cut, and `square` is about the variance of the loss.
    """

    def __init__(
        self, transform: Callable[[str, float, float], MixedTransform], square: float
    ) -> None:
        self._transform, self._spread = transform, math.sqrt(square)
        self._last: dict[str, Contour] = {}
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
                self._last[direction] = line
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

    def log_delta(
        self, epsilon: float, direction: str, guess: float | None, gap: float = CLOSE
    ) -> LogBounds:
        """Bounds on log delta with a gap, if possible; `guess` is what it is about, if known."""
        best = UNKNOWN
        if direction in self._last:
            line = self._last[direction]
            best = with_rest(line.bounds(epsilon), line.rest)
        for rest in self._rests(direction, guess):
            if best.gap <= gap:
                break
            for line in self._lines(direction, _Aim(None, epsilon), rest):
                best = sharper(best, with_rest(line.bounds(epsilon), line.rest))
                if best.gap <= gap:
                    break
        return best

    def chernoff(self, epsilon: float, direction: str, log_delta: float) -> float:
        """A bound on log delta by Chernoff's inequality, good near a given one; 0 if none is found.

        It holds for all outputs: nothing is cut.
        """
        tilts = self._search(direction, _Aim(log_delta, None))
        return 0.0 if tilts is None else tilts.chernoff(epsilon)

    def epsilon(self, log_delta: float, direction: str) -> tuple[float, float] | None:
        """Bounds on the least epsilon, close to each other; None if they are not found."""
        best: tuple[float, float] | None = None
        for rest in self._rests(direction, log_delta):
            for line in self._lines(direction, _Aim(log_delta, None), rest):
                found = _ends(line, log_delta)
                if found is None:
                    continue
                if best is not None:
                    found = max(best[0], found[0]), min(best[1], found[1])
                if found[1] - found[0] <= CLOSE * found[1]:
                    return found
                best = found
        return best


def _ends(line: Contour, log_delta: float) -> tuple[float, float] | None:
    """Epsilons at which the bounds on delta are on either side."""
    found = line.epsilon_at(log_delta, line.middle)
    if found is None:
        return None
    root, slope = found
    if root <= 0.0:
        here = with_rest(line.bounds(0.0), line.rest)
        return (0.0, 0.0) if here.upper <= log_delta else None
    here = with_rest(line.bounds(root), line.rest)
    if here.gap > _USEFUL:
        return None
    ends = []
    for side in (-1.0, 1.0):
        doubt = here.estimate - here.lower if side < 0.0 else here.upper - here.estimate
        move = 1.5 * doubt / slope + 1e-13 * root
        # ends: None: another account is asked
        for _ in range(_WIDENINGS):
            at = root + side * move
            if at <= 0.0:
                ends.append(0.0)
                break
            bounds = with_rest(line.bounds(at), line.rest)
            if bounds.lower >= log_delta if side < 0.0 else bounds.upper <= log_delta:
                ends.append(float(at))
                break
            move *= 2.0
        else:
            return None
    return ends[0], ends[1]
