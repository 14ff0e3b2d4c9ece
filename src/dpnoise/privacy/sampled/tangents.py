"""Epsilon where a log delta is met, by tangents from a saddle point approximation.

Nothing rests on these: bounds are taken on either side of what they find.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.inversion import Inversion

_STEPS, _FOUND = 12, 1e-4  # of a search by tangents
_CLIP = 700.0


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
