"""The least epsilon at which delta is a given one, by a search over bounds on delta.

An estimate of log delta leads the search: by tangents from a saddle point approximation, or within
a bracket. Nothing rests on it. Every bound that was seen counts: epsilon is at least any at which
the lower bound on delta is too large, and at most any at which the upper one is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy import optimize

from dpnoise.privacy.inversion.inversion import by_tangents

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.privacy.inversion.inversion import LogBounds

_DOUBLINGS = 20  # of epsilon from where it begins, or as many tenths
_CLIP = 700.0
_WIDENINGS = 25
_STRIDE, _POLISH = 1e-4, 1  # relative, for a slope, and steps by it
_MOST_GROWTH = 15.0  # of the distance of an end from the root
_SMALLEST = 1e-12  # epsilon next to which ends are looked for


class _SpentError(Exception):
    """No work is left for a search."""


class EpsilonSearch:
    """A search by `bounds`, on log delta at an epsilon, until `spent` says that it is enough."""

    def __init__(
        self, bounds: Callable[[float], LogBounds], log_delta: float, spent: Callable[[], bool]
    ) -> None:
        self._bounds, self._log_delta, self._spent = bounds, log_delta, spent
        self._known: dict[float, LogBounds] = {}

    def ends(
        self, start: float, known: tuple[float, float] | None, top: float
    ) -> tuple[float, float]:
        """Bounds on epsilon from about where it is; 0 and infinity where there are none.

        `known` is a better guess with the slope of log delta there, if there is one, below `top`.
        """
        try:
            root = None if known is None else by_tangents(self._excess, *known, top)
            root = self._bracketed(start) if root is None else root
            if root is not None:
                self._surround(root)
        except _SpentError:
            pass
        low = max(
            (at for at, one in self._known.items() if one.lower >= self._log_delta), default=0.0
        )
        high = min(
            (at for at, one in self._known.items() if one.upper <= self._log_delta),
            default=math.inf,
        )
        return min(low, high), high

    def _told(self, epsilon: float) -> LogBounds:
        if epsilon not in self._known:
            self._known[epsilon] = self._bounds(epsilon)
        return self._known[epsilon]

    def _excess(self, epsilon: float) -> float:
        if epsilon not in self._known and self._spent():
            raise _SpentError
        return min(max(self._told(epsilon).estimate - self._log_delta, -_CLIP), _CLIP)

    def _bracketed(self, start: float) -> float | None:
        """A root of the excess, None if there is none or 0 is enough."""
        low, high, excess = 0.0, start, self._excess
        if excess(high) > 0.0:
            # ends: no upper bound is known, or a bracket
            for _ in range(_DOUBLINGS):
                low, high = high, 2.0 * high
                if excess(high) <= 0.0:
                    break
            else:
                return None
        else:
            low = 0.5 * high
            if excess(low) <= 0.0:
                if self._told(0.0).upper <= self._log_delta:
                    return None
                low, high = 0.0, low
                # ends: a bracket down to 0
                for _ in range(_DOUBLINGS):
                    low = 0.1 * high
                    if excess(low) > 0.0:
                        break
                    low, high = 0.0, low
        # Where delta at 0 is what is asked for, give or take rounding, nothing changes its sign.
        above, below = excess(low), excess(high)
        if not above > 0.0 >= below:
            return high
        near, slope = (high if -below < above else low), (below - above) / (high - low)
        root = by_tangents(excess, near, slope, high) if near > 0.0 else None
        if root is None or not low <= root <= high:
            root = float(optimize.brentq(excess, low, high, xtol=1e-8 * high, rtol=1e-7))
        return root

    def _surround(self, root: float) -> None:
        """Bounds on either side of a root, as near as may be."""
        log_delta, root = self._log_delta, max(root, _SMALLEST)
        step, here = _STRIDE * root, self._told(root)
        # ends: bounds are taken on either side of wherever it ends
        for _ in range(_POLISH):
            there = self._told(root + step)
            fall = here.estimate - there.estimate
            if not math.isfinite(fall):  # next to the largest loss: what was seen is all there is
                return
            slope = max(fall / step, 1e-9 / root)
            root = max(root + (here.estimate - log_delta) / slope, _SMALLEST)
            here = self._told(root)
        if not math.isfinite(here.estimate):
            return
        root += min(max((here.estimate - log_delta) / slope, -step), step)
        for side in (-1.0, 1.0):
            doubt = here.estimate - here.lower if side < 0.0 else here.upper - here.estimate
            move = 1.5 * min(doubt, 1e3) / slope + 1e-11 * root
            # ends: what was seen is all there is
            for _ in range(_WIDENINGS):
                at = root + side * move
                if at <= 0.0:
                    break
                bounds = self._told(at)
                miss = log_delta - bounds.lower if side < 0.0 else bounds.upper - log_delta
                if miss <= 0.0:
                    break
                move += min(max(1.5 * miss / slope, move), _MOST_GROWTH * move)
