"""Events that tell two inputs apart: of statistics of outputs, and on the lattice of outputs.

Where densities are known, the log-likelihood ratio is the optimal statistic (Neyman & Pearson).
Otherwise statistics are the outputs themselves and one linear discriminant of them all.

Noise that is drawn and added in floating-point arithmetic leaves traces in the low-order bits: the
sum of an answer and a draw misses some doubles, which depend on the answer, so that no finite
epsilon holds (Mironov, "On significance of the least significant bits for differential privacy",
CCS 2012). Two kinds of events show this for each number of an output:

- by magnitude and lowest set bit: |x| below 2^a or not, and a multiple of 2^m or not;
- by repetition: x is one of the values that outputs on one input had.

All events, and the discriminant, are chosen by outputs that do not judge, and so need no correction
of their own. When they are chosen, a value counts as seen on its own input if it was seen there
twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray

    Pair = tuple[Array, Array]
    Counts = NDArray[np.int64]
    Scores = Callable[[Counts, Counts], Iterable[Array]]

_THRESHOLDS = 200  # for each statistic and direction, evenly, and as many towards either end
_LARGEST = 1e300
_FARTHEST = 1e6  # log-likelihood ratio
_RATIO_DIGITS = 9  # of a log-likelihood ratio: below, constant stretches differ by rounding
_DIGITS = 53  # of a double
_ZERO, _ALL = -1100, 2000  # exponent of 0, and lowest bit: it is a multiple of every 2^m
_KEPT = 50  # candidates of each kind and score, among thousands
INPUTS = ("first", "second")


class AnyEvent:
    """Event of outputs or of their statistics; `swapped` if p belongs to the second input."""

    swapped: bool

    def holds(self, outputs: Array, statistics: Array | None = None) -> BoolArray:
        """Whether it happened, shape (n,)."""
        raise NotImplementedError

    def words(self, names: tuple[str, ...]) -> str:
        """Wording of the event, for statistics of these names."""
        raise NotImplementedError

    def counts(self, outputs: Pair, statistics: Pair) -> tuple[int, int]:
        """Frequencies of the event on either input, that of p first."""
        pairs = zip(outputs, statistics, strict=True)
        first, second = (int(np.count_nonzero(self.holds(*pair))) for pair in pairs)
        return (second, first) if self.swapped else (first, second)


class Candidates(NamedTuple):
    """Events among which to choose, with their frequencies on either input."""

    hits: tuple[Counts, Counts]
    events: Sequence[AnyEvent]


@dataclass(frozen=True)
class Event(AnyEvent):
    """Event that a statistic, times sign, is at least (or exactly) a level."""

    column: int
    sign: float
    level: float
    exact: bool
    swapped: bool = False

    def holds(self, outputs: Array, statistics: Array | None = None) -> BoolArray:  # noqa: ARG002
        """Whether it happened, shape (n,)."""
        assert statistics is not None  # noqa: S101
        signed = self.sign * statistics[:, self.column]
        return signed == self.level if self.exact else signed >= self.level

    def words(self, names: tuple[str, ...]) -> str:
        """Wording of the event, for statistics of these names."""
        name, level = names[self.column], self.sign * self.level
        if name.endswith("is missing"):
            return name if level > 0.0 else f"not: {name}"
        relation = "==" if self.exact else (">=" if self.sign > 0.0 else "<=")
        return f"{name} {relation} {level!r}"


def choose(candidates: Iterable[Candidates], scores: Scores) -> list[AnyEvent]:
    """The event of maximum score, for each score of the frequencies behind p and q."""
    best: dict[int, AnyEvent] = {}
    maximum: dict[int, float] = {}
    for some in candidates:
        for swapped in (False, True):
            gains = scores(some.hits[swapped], some.hits[not swapped])
            for k, gain in enumerate(gains):
                if gain.size and gain.max() > maximum.get(k, -np.inf):
                    place = int(gain.argmax())
                    maximum[k] = float(gain[place])
                    best[k] = replace(some.events[place], swapped=swapped)  # type: ignore[type-var]
    return list(dict.fromkeys(best.values())) or [Event(0, 1.0, 0.0, exact=False)]


def statistic_candidates(runs: Pair) -> Iterator[Candidates]:
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
            events = [Event(column, sign, level, exact) for level in chosen.tolist()]
            yield Candidates((hits[0], hits[1]), events)


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


@dataclass(frozen=True)
class Statistics:
    """Statistics of outputs of shape (n, d), of shape (n, len(names)), without NaN."""

    names: tuple[str, ...]
    values: Callable[[Array], Array]


def discriminating(runs: tuple[Array, Array]) -> Statistics:
    """Statistics chosen by outputs of shape (n, d) on either input: 3 d + 2 of them.

    Missing or not (d), values (d), a linear discriminant (1), distances of the last d + 1 from
    their medians (d + 1).
    """
    together = np.vstack(runs)
    usual = np.nanmedian(np.where(np.isnan(together).all(axis=0), 0.0, together), axis=0)

    def filled(outputs: Array) -> Array:
        return np.clip(np.where(np.isnan(outputs), usual, outputs), -_LARGEST, _LARGEST)

    centre = filled(together).mean(axis=0)
    spread = np.abs(filled(together) - centre).max(axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    scaled = [(filled(part) - centre) / unit for part in runs]
    within = sum(np.cov(part, rowvar=False, ddof=0).reshape(len(unit), -1) for part in scaled)
    apart = scaled[0].mean(axis=0) - scaled[1].mean(axis=0)
    direction = np.linalg.lstsq(within + 1e-9 * np.eye(len(unit)), apart)[0]
    score = ((filled(together) - centre) / unit) @ direction
    middle = np.append(np.median(filled(together), axis=0), np.median(score))

    def statistics(outputs: Array) -> Array:
        values = filled(outputs)
        values = np.column_stack([values, ((values - centre) / unit) @ direction])
        return np.column_stack([np.isnan(outputs), values, np.abs(values - middle)])

    numbers = [f"output {k}" for k in range(len(unit))]
    values = [*numbers, "linear discriminant"]
    far = [f"distance of {name} from its median" for name in values]
    return Statistics((*(f"{name} is missing" for name in numbers), *values, *far), statistics)


def likelihood(noise: Any, shift: Array) -> Statistics:  # noqa: ANN401  (of any family)
    """The log-likelihood ratio of noise around 0 and around `shift`, and the way along the shift.

    `noise` is that of a number (shift of shape (1,)), of vectors, or a sequence for coordinates.
    """
    size = float(np.abs(shift).max())
    way = shift / size / float(np.sum((shift / size) ** 2)) / size if size > 0.0 else shift

    def statistics(outputs: Array) -> Array:
        with np.errstate(invalid="ignore"):
            ratio = log_density(noise, outputs - shift) - log_density(noise, outputs)
        ratio = np.clip(np.where(np.isnan(ratio), 0.0, ratio), -_FARTHEST, _FARTHEST)
        along = np.clip(np.nan_to_num(outputs @ way), -_LARGEST, _LARGEST)
        return np.column_stack([np.round(ratio, _RATIO_DIGITS), along])

    return Statistics(("log-likelihood ratio", "output along the shift"), statistics)


def log_density(noise: Any, x: Array) -> Array:  # noqa: ANN401  (of any family)
    """The log density, or log probability, of noise at vectors of shape (n, d)."""
    if isinstance(noise, list | tuple):
        each = [log_density(one, x[:, [k]]) for k, one in enumerate(noise)]
        return np.sum(each, axis=0)
    if hasattr(noise, "dimension"):
        return np.asarray(noise.logpdf(x))
    density = noise.logpdf if hasattr(noise, "logpdf") else noise.logpmf
    return np.asarray(density(x[:, 0]))


def of_callable(statistic: Callable[[Array], Any]) -> Statistics:
    """The statistic of a caller, shape (n,), as one column; ValueError if it is not that."""

    def values(outputs: Array) -> Array:
        found = np.asarray(statistic(outputs), dtype=float)
        if found.shape != (len(outputs),) or np.isnan(found).any():
            shape, missing = found.shape, int(np.isnan(found).sum())
            message = (
                f"audit: statistic: expected {len(outputs)} numbers, one for each output, "
                f"got shape {shape} with {missing} NaN"
            )
            raise ValueError(message)
        return found[:, None]

    return Statistics(("statistic",), values)


def exponents(x: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The e with 2^(e - 1) <= |x| < 2^e and the largest m with x a multiple of 2^m."""
    share, e = np.frexp(np.abs(x))
    whole = np.ldexp(share, _DIGITS).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(float))[1] - 1
    zero = whole == 0
    return np.where(zero, _ZERO, e), np.where(zero, _ALL, e - _DIGITS + lowest)


@dataclass(frozen=True)
class BitEvent(AnyEvent):
    """Event that |x| is below 2^exponent (or not) and x a multiple of 2^bit (or not)."""

    column: int
    exponent: int
    bit: int
    below: bool
    multiple: bool
    swapped: bool = False

    def holds(self, outputs: Array, statistics: Array | None = None) -> BoolArray:  # noqa: ARG002
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


@dataclass(frozen=True, eq=False)
class SeenEvent(AnyEvent):
    """Event that x is one of the values of the outputs that chose (or not)."""

    column: int
    values: Array  # in order, each once
    source: str
    inside: bool
    swapped: bool = False

    def holds(self, outputs: Array, statistics: Array | None = None) -> BoolArray:  # noqa: ARG002
        """Whether it happened, shape (n,)."""
        x = outputs[:, self.column]
        place = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        return np.asarray((self.values[place] == x) == self.inside)

    def words(self, names: tuple[str, ...]) -> str:  # noqa: ARG002
        """Wording of the event."""
        no = "" if self.inside else "not "
        some = f"{len(self.values)} values of the {self.source} input that chose the events"
        return f"output {self.column} is {no}one of {some}"


def lattice_candidates(runs: Pair) -> Iterator[Candidates]:
    """Events on the lattice of outputs, shape (n, d), among which to choose."""
    for column in range(runs[0].shape[1]):
        yield _bits(column, (runs[0][:, column], runs[1][:, column]))
        for source in (0, 1):
            yield _seen(column, runs, source)


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
        events.append(BitEvent(column, *at, below=below, multiple=multiple))
    return Candidates((first[keep], second[keep]), events)


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
        nothing = np.zeros(0, dtype=np.int64)
        return Candidates((nothing, nothing), [])
    both = [SeenEvent(column, values, INPUTS[source], inside=inside) for inside in (True, False)]
    hits = [int(both[0].holds(run).sum()) for run in runs]
    hits[source] = int(counts[counts > 1].sum())  # without the output itself
    first, second = (np.array([k, len(runs[0]) - k]) for k in hits)
    return Candidates((first, second), both)
