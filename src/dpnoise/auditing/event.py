"""Events that tell two inputs apart, and the choice among them on outputs that do not judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from dpnoise._types import Array

    Pair = tuple[Array, Array]
    Counts = NDArray[np.int64]
    Score = Callable[[Counts, Counts], Array]

_THRESHOLDS = 200  # for each statistic and direction, evenly, and as many towards either end


class AnyEvent(Protocol):
    """Event of outputs or of their statistics, which are given on either input."""

    @property
    def swapped(self) -> bool:
        """Whether p belongs to the second input."""

    @property
    def threshold(self) -> float:
        """The number that it is about."""

    def counts(self, outputs: Pair, statistics: Pair) -> tuple[int, int]:
        """Frequencies of the event on either input, that of p first."""

    def words(self, names: tuple[str, ...]) -> str:
        """Wording of the event, for statistics of these names."""


class SomeEvents(Protocol):
    """Events among which to choose, with their frequencies on either input."""

    @property
    def hits(self) -> tuple[Counts, Counts]:
        """The frequencies."""

    def event(self, place: int, *, swapped: bool) -> AnyEvent:
        """One of the events; `swapped` if p belongs to the second input."""


@dataclass(frozen=True)
class Event:
    """Event that a statistic, times sign, is at least (or exactly) a level."""

    column: int
    sign: float
    level: float
    exact: bool
    swapped: bool  # whether p belongs to the second input

    @property
    def threshold(self) -> float:
        """The threshold of the statistic."""
        return self.sign * self.level

    def counts(self, outputs: Pair, statistics: Pair) -> tuple[int, int]:  # noqa: ARG002
        """Frequencies of the event on either input, that of p first."""
        found = []
        for values in statistics:
            signed = self.sign * values[:, self.column]
            hits = signed == self.level if self.exact else signed >= self.level
            found.append(int(np.count_nonzero(hits)))
        return (found[1], found[0]) if self.swapped else (found[0], found[1])

    def words(self, names: tuple[str, ...]) -> str:
        """Wording of the event, for statistics of these names."""
        name, level = names[self.column], self.sign * self.level
        if name.endswith("is missing"):
            return name if level > 0.0 else f"not: {name}"
        relation = "==" if self.exact else (">=" if self.sign > 0.0 else "<=")
        return f"{name} {relation} {level!r}"


class _Candidates(NamedTuple):
    """Events of one statistic and direction, with their frequencies on either input."""

    column: int
    sign: float
    exact: bool
    levels: Array
    hits: tuple[Counts, Counts]

    def event(self, place: int, *, swapped: bool) -> Event:
        """One of the events; `swapped` if p belongs to the second input."""
        return Event(self.column, self.sign, float(self.levels[place]), self.exact, swapped)


def thresholds(levels: Array) -> list[Event]:
    """Events of one statistic at given levels, in both directions and from either side."""
    return [
        Event(0, sign, sign * float(level), exact=False, swapped=swapped)
        for level in levels
        for sign in (1.0, -1.0)
        for swapped in (False, True)
    ]


def choose(candidates: Iterable[SomeEvents], scores: list[Score]) -> list[AnyEvent]:
    """The event of maximum score, for each score of the frequencies behind p and q."""
    best: list[AnyEvent] = [Event(0, 1.0, 0.0, exact=False, swapped=False)] * len(scores)
    maximum = [-np.inf] * len(scores)
    for some in candidates:
        for swapped in (False, True):
            hits, false_hits = some.hits[swapped], some.hits[not swapped]
            for k, score in enumerate(scores):
                gain = score(hits, false_hits)
                if gain.size and gain.max() > maximum[k]:
                    place = int(gain.argmax())
                    maximum[k] = float(gain[place])
                    best[k] = some.event(place, swapped=swapped)
    return list(dict.fromkeys(best))


def statistic_candidates(runs: Pair) -> Iterator[_Candidates]:
    """Events of statistics, shape (n, m): thresholds evenly and towards the ends, and ties."""
    for column in range(runs[0].shape[1]):
        parts = [np.sort(part[:, column]) for part in runs]
        values, counts = np.unique(np.concatenate(parts), return_counts=True)
        tied = values[counts > 1][np.argsort(-counts[counts > 1], kind="stable")[:_THRESHOLDS]]
        levels = values[_places(len(values))]
        for sign, chosen, exact in (
            (1.0, levels, False),
            (-1.0, -levels, False),
            (1.0, tied, True),
        ):
            ordered = parts if sign > 0.0 else [-part[::-1] for part in parts]
            hits = [_hits(one, chosen, exact=exact) for one in ordered]
            yield _Candidates(column, sign, exact, chosen, (hits[0], hits[1]))


def _places(size: int) -> NDArray[np.intp]:
    """Places of thresholds among `size` ordered values."""
    even = np.linspace(0, size - 1, min(size, _THRESHOLDS)).round()
    steps = np.geomspace(1, size, min(size, _THRESHOLDS)).round() - 1.0
    return np.unique(np.concatenate([even, steps, size - 1 - steps])).astype(np.intp)


def _hits(ordered: Array, levels: Array, *, exact: bool) -> Counts:
    """Frequency of ordered values that are at least, or exactly, each level."""
    left = np.searchsorted(ordered, levels, side="left")
    end = np.searchsorted(ordered, levels, side="right") if exact else len(ordered)
    return end - left
