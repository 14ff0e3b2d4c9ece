"""Noise of the least epsilon that keeps every number within a distance, with a probability."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import MAXIMUM_EPSILON
from dpnoise.joint.base import level_of_each
from dpnoise.mechanisms.repeated import smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dpnoise._validation import Problems
    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.mechanisms.request import Request

LEVEL = 0.95
_CLOSE = 1e-6  # relative, of epsilon
_MIN_LEVEL = 1e-3  # quantiles close to 0 are not known to 2^-40 of their value
_MIN_START = 1e-90  # of a search for epsilon


class Accuracy(NamedTuple):
    """What is asked of the noise in the place of an epsilon.

    Attributes
    ----------
    within : float
        The distance.
    level : float
        The probability.
    simultaneous : bool
        Whether it is that of all numbers together, by the union bound; else of each by itself.
    """

    within: float
    level: float
    simultaneous: bool

    def first(self, rows: Iterable[Mechanism]) -> Mechanism | None:
        """The first row whose noise keeps the distance, if there is any."""
        return next((row for row in rows if self.width(row) <= self.within), None)

    def width(self, row: Mechanism) -> float:
        """Upper bound on the largest half-width of the numbers."""
        level = max(self.level, _MIN_LEVEL)
        each = level_of_each(level, row.dimension if self.simultaneous else 1)
        return float(np.max(row.noise.upper_half_width(each)))

    def find(self, request: Request, rows: Callable[[Request], Sequence[Mechanism]]) -> Mechanism:
        """The noise of the least epsilon, to 1e-6 of it, among those of `rows`, best first.

        Each mechanism by its name is first tried at an epsilon just below the least one found so
        far, and searched further where it keeps the distance there. A RuntimeError is raised if
        none keeps it for any epsilon.
        """

        @cache
        def at(epsilon: float) -> Sequence[Mechanism]:
            try:
                return rows(replace(request, epsilon=min(epsilon, MAXIMUM_EPSILON)))
            except RuntimeError:  # nothing applies
                return ()

        zero = self.first(at(0.0)) if request.delta > 0.0 else None
        best = zero or self._search(at)
        if best is None:
            message = (
                f"noise for {request.sensitivity!r}: nothing found that is within {self.within!r} "
                f"with probability {self.level!r} for any epsilon up to {MAXIMUM_EPSILON:g}"
            )
            raise RuntimeError(message)
        return best

    def _search(self, at: Callable[[float], Sequence[Mechanism]]) -> Mechanism | None:
        """The noise of the least epsilon above 0 from the rows at each epsilon; None if none."""

        def named(name: str, epsilon: float) -> Mechanism | None:
            return self.first(row for row in at(epsilon) if row.name == name)

        best: Mechanism | None = None
        tried: set[str] = set()
        below = 1.0
        # ends: each round tries a mechanism for the first time
        while fresh := [row for row in at(below) if row.name not in tried]:
            name, start = fresh[0].name, below
            tried.add(name)
            if best is None and (first := self.width(fresh[0])) > 0.0:
                start = first / self.within * below  # as of noise without delta
                start = min(max(start, _MIN_START), MAXIMUM_EPSILON)
            elif best is not None and named(name, below) is None:
                continue

            def keeps(epsilon: float, name: str = name) -> bool:
                return named(name, epsilon) is not None

            epsilon = smallest(keeps, start, _CLOSE)
            if epsilon == math.inf and start < below:  # noise for so small an epsilon is not there
                epsilon = smallest(keeps, below, _CLOSE)
            if epsilon < math.inf:
                best, below = named(name, epsilon), min(epsilon, MAXIMUM_EPSILON) * (1.0 - _CLOSE)
        return best


def read_accuracy(
    problems: Problems,
    epsilon: float | None,
    within: float | None,
    level: float,
    simultaneous: bool,
) -> Accuracy | None:
    """The accuracy that is asked for, None for an epsilon; problems are recorded."""
    one = (epsilon is None) != (within is None)
    problems.require(one, "epsilon, within", "one of them", (epsilon, within))
    if within is not None:
        problems.number("within", within, low=0.0, open_low=True)
    problems.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    known = isinstance(simultaneous, bool | np.bool_)
    problems.require(known, "simultaneous", "True or False", simultaneous)
    if within is None:
        unused = level == LEVEL and not simultaneous
        problems.require(unused, "within", "a distance beside level or simultaneous", within)
    if problems.found or within is None:
        return None
    return Accuracy(float(within), float(level), bool(simultaneous))
