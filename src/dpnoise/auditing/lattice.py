"""Events on the lattice of outputs: which doubles a sampler can return at all.

Noise that is drawn and added in floating-point arithmetic leaves traces in the low-order bits: the
sum of an answer and a draw misses some doubles, which depend on the answer, so that no finite
epsilon holds (Mironov, "On significance of the least significant bits for differential privacy",
CCS 2012). Three kinds of events show this for each number of an output:

- by magnitude and lowest set bit: |x| below 2^a or not, and a multiple of 2^m or not;
- by repetition: x is one of the values that outputs on one input had;
- by gaps: x is a whole number of steps away from a value that outputs on one input had.

They are chosen as all events are, by outputs that do not judge, and so need no correction of their
own. When they are chosen, a value counts as seen on its own input if it was seen there twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray
    from dpnoise.auditing.event import Counts

    Pair = tuple[Array, Array]

_DIGITS = 53  # of a double
_ZERO, _ALL = -1100, 2000  # exponent of 0, and lowest bit: it is a multiple of every 2^m
_KEPT = 50  # candidates of each kind and score, among thousands
_GAPS = 32  # smallest ones, of which the step is the common divisor
_SLACK = 1e-3  # relative error of a gap, in steps
_NEAR = 0.125  # steps
_FINEST = 2.0**-34  # step over the size of outputs
INPUTS = ("first", "second")


def exponents(x: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The e with 2^(e - 1) <= |x| < 2^e and the largest m with x a multiple of 2^m."""
    share, e = np.frexp(np.abs(x))
    whole = np.ldexp(share, _DIGITS).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(float))[1] - 1
    zero = whole == 0
    return np.where(zero, _ZERO, e), np.where(zero, _ALL, e - _DIGITS + lowest)


class _OutputEvent:
    """Event of a number of an output."""

    swapped: bool

    def holds(self, outputs: Array) -> BoolArray:
        """Whether it happened, shape (n,)."""
        raise NotImplementedError

    def counts(self, outputs: Pair, statistics: Pair) -> tuple[int, int]:  # noqa: ARG002
        """Frequencies of the event on either input, that of p first."""
        first, second = (int(np.count_nonzero(self.holds(some))) for some in outputs)
        return (second, first) if self.swapped else (first, second)


@dataclass(frozen=True)
class BitEvent(_OutputEvent):
    """Event that |x| is below 2^exponent (or not) and x a multiple of 2^bit (or not)."""

    column: int
    exponent: int
    bit: int
    below: bool
    multiple: bool
    swapped: bool

    def holds(self, outputs: Array) -> BoolArray:
        """Whether it happened, shape (n,)."""
        x = outputs[:, self.column]
        finite = np.isfinite(x)
        e, lowest = exponents(np.where(finite, x, 0.0))
        small, whole = e <= self.exponent, lowest >= self.bit
        found = finite & (small == self.below) & (whole == self.multiple)
        return np.asarray(found)

    def words(self, names: tuple[str, ...]) -> str:  # noqa: ARG002  (of other statistics)
        """Wording of the event."""
        size = f"|output {self.column}| {'<' if self.below else '>='} 2^{self.exponent}"
        no = "" if self.multiple else "no "
        return f"{size} and {no}multiple of 2^{self.bit}"

    @property
    def threshold(self) -> float:
        """The number of which it is a multiple, or not."""
        return float(np.ldexp(1.0, self.bit))


@dataclass(frozen=True, eq=False)
class SeenEvent(_OutputEvent):
    """Event that x is one of the values of the outputs that chose (or not)."""

    column: int
    values: Array  # in order, each once
    source: str
    inside: bool
    swapped: bool

    def holds(self, outputs: Array) -> BoolArray:
        """Whether it happened, shape (n,)."""
        x = outputs[:, self.column]
        place = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        return np.asarray((self.values[place] == x) == self.inside)

    def words(self, names: tuple[str, ...]) -> str:  # noqa: ARG002
        """Wording of the event."""
        no = "" if self.inside else "not "
        some = f"{len(self.values)} values of the {self.source} input that chose the events"
        return f"output {self.column} is {no}one of {some}"

    @property
    def threshold(self) -> float:
        """The number of values."""
        return float(len(self.values))


@dataclass(frozen=True)
class StepEvent(_OutputEvent):
    """Event that x is near origin + whole number of steps (or not)."""

    column: int
    origin: float
    step: float
    inside: bool
    swapped: bool

    def holds(self, outputs: Array) -> BoolArray:
        """Whether it happened, shape (n,)."""
        with np.errstate(invalid="ignore", over="ignore"):
            steps = (outputs[:, self.column] - self.origin) / self.step
            near = np.abs(steps - np.round(steps)) <= _NEAR
        return np.asarray(near == self.inside)

    def words(self, names: tuple[str, ...]) -> str:  # noqa: ARG002
        """Wording of the event."""
        no = "" if self.inside else "not "
        return f"output {self.column} is {no}near {self.origin!r} and whole steps of {self.step!r}"

    @property
    def threshold(self) -> float:
        """The step."""
        return self.step


LatticeEvent = BitEvent | SeenEvent | StepEvent


class Candidates(NamedTuple):
    """Events with their frequencies, on the first input and on the second."""

    events: Sequence[LatticeEvent]
    hits: tuple[Counts, Counts]

    def event(self, place: int, *, swapped: bool) -> LatticeEvent:
        """One of the events; `swapped` if p belongs to the second input."""
        return replace(self.events[place], swapped=swapped)


def lattice_candidates(runs: Pair) -> Iterator[Candidates]:
    """Events on the lattice of outputs, shape (n, d), among which to choose."""
    for column in range(runs[0].shape[1]):
        pair = runs[0][:, column], runs[1][:, column]
        yield _bits(column, pair)
        for source in (0, 1):
            yield _seen(column, runs, source)
            step = _step(pair[source])
            if step is not None:
                events = [
                    StepEvent(column, *step, inside=inside, swapped=False)
                    for inside in (True, False)
                ]
                counts = [np.array([int(e.holds(run).sum()) for e in events]) for run in runs]
                yield Candidates(events, (counts[0], counts[1]))


def _bits(column: int, pair: Pair) -> Candidates:
    """The most telling events by magnitude and lowest set bit."""
    parts = [exponents(x[np.isfinite(x)]) for x in pair]
    sizes, bits = (np.unique(np.concatenate([part[k] for part in parts])) for k in (0, 1))
    tables: list[Counts] = []
    for e, lowest in parts:
        table = np.zeros((len(sizes), len(bits)), dtype=np.int64)
        np.add.at(table, (np.searchsorted(sizes, e), np.searchsorted(bits, lowest)), 1)
        both = np.cumsum(np.cumsum(table, axis=0)[:, ::-1], axis=1)[:, ::-1]  # <= size, >= bit
        small, whole = both[:, :1], both[-1:, :]
        every = both[-1, 0] if both.size else 0
        tables.append(np.stack([both, small - both, whole - both, every - small - whole + both]))
    first, second = (table.ravel() for table in tables)
    named = (sizes > _ZERO)[:, None] & (bits < _ALL)[None]  # 0 is a tie, if it is common
    keep = _most_telling(first, second)
    keep = keep[np.broadcast_to(named, tables[0].shape).ravel()[keep]]
    kinds = ((True, True), (True, False), (False, True), (False, False))
    events = []
    for place in keep:
        kind, i, j = np.unravel_index(place, tables[0].shape)
        below, multiple = kinds[int(kind)]
        at = int(sizes[i]), int(bits[j])
        events.append(BitEvent(column, *at, below=below, multiple=multiple, swapped=False))
    return Candidates(events, (first[keep], second[keep]))


def _most_telling(first: Counts, second: Counts) -> NDArray[np.intp]:
    """Places of events by two cheap scores of their frequencies, on either side."""
    kept = []
    for hits, false_hits in ((first, second), (second, first)):
        ratio = np.maximum(hits - 3.0 * np.sqrt(hits), 0.0) / (false_hits + 3.0)
        z = (hits - false_hits) / np.sqrt(hits + false_hits + 1.0)
        kept += [np.argsort(-score, kind="stable")[:_KEPT] for score in (ratio, z)]
    return np.unique(np.concatenate(kept))


def _seen(column: int, runs: Pair, source: int) -> Candidates:
    """The event that a value was seen on one input."""
    values, counts = np.unique(runs[source][:, column], return_counts=True)
    values, counts = values[~np.isnan(values)], counts[~np.isnan(values)]
    if not len(values):
        return Candidates([], (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))
    event = SeenEvent(column, values, INPUTS[source], inside=True, swapped=False)
    other = int(event.holds(runs[1 - source]).sum())
    own = int(counts[counts > 1].sum())  # without the output itself
    hits = [
        np.array([k, len(runs[0]) - k]) for k in ((own, other) if source == 0 else (other, own))
    ]
    opposite = SeenEvent(column, values, INPUTS[source], inside=False, swapped=False)
    return Candidates([event, opposite], (hits[0], hits[1]))


def _step(x: Array) -> tuple[float, float] | None:
    """A value, and the step of which all small gaps are multiples; None if there is no step."""
    values = np.unique(x[np.isfinite(x)])
    if len(values) < 2:
        return None
    gaps = np.sort(np.diff(values))[:_GAPS]
    finest = _FINEST * float(np.max(np.abs(values)))
    step = float(gaps[0])
    for gap in gaps[1:].tolist():
        larger = gap
        while step >= finest:  # Euclid's algorithm up to rounding
            rest = abs(larger - step * round(larger / step))
            if rest <= _SLACK * step:
                break
            larger, step = step, rest
    return (float(values[len(values) // 2]), step) if step >= finest else None
