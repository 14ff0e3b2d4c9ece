"""Sums, counts and means of groups, released together under one entry of the budget.

Each person is in at most m groups, by `dpnoise.sensitivity.contributions`, so that one entry pays
for all groups: the noise is the best one for what a person truly changes, few of them (parallel
composition if m = 1).

A sum is an integer S of record units u, and its noise X is rounded to a grid g, both powers of two.
With S u = a g + r, 0 <= r < g, the number next to S u + X is a g plus the one next to r + X; r has
few digits, so that it is a double, and a g is added in integers.

A mean is the sum of v - c over the number of persons, plus c; both are released together, as the
product of their sets. The centre c is the middle of the bounds, which halves what a person adds;
where a person is replaced it is the lower bound, as then all that counts is the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._frames import is_whole, kind_of
from dpnoise._results import labelled_cells, labelled_like
from dpnoise._validation import Problems, is_integer
from dpnoise.joint.base import ROUNDED_UP
from dpnoise.mechanisms.compare import best
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.integer_sets import LARGEST_SIZE
from dpnoise.releases.aggregates import read_labels, read_numbers, read_records
from dpnoise.releases.released import Entry, Released
from dpnoise.releases.sums import grid_of, noisy
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.contributions import (
    Bounds,
    bounds_of,
    contributions,
    is_missing,
    read_bounds,
    set_of_counts,
)
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.noise.exact import Entropy
    from dpnoise.releases.released import ReleaseRequest
    from dpnoise.sensitivity.base import Sensitivity

_MOST = 2**52  # of released integers before the noise: a sum of many persons is cut off there
_FINEST = 2.0**-50  # of the record unit, over the grid
_EXPECTED = (
    "the public groups, each once: as groups=, or by the categorical type of by= (those that are "
    "in the data are private)"
)


class Grouping(NamedTuple):
    """How records are grouped: the arguments of the helpers.

    Attributes
    ----------
    by : array_like, shape (n,)
        The group of each record.
    groups : iterable or None
        The public groups.
    person : array_like or None
        Whose record it is; None if each is of another person.
    at_most : int
        In how many groups a person counts.
    """

    by: Any
    groups: Any
    person: Any
    at_most: Any

    def refuse(self, problems: Problems, expected: str = "none without by=") -> None:
        """Record of what is given where there are no groups, by name: persons are private."""
        names = [name for name in ("groups", "person") if getattr(self, name) is not None]
        names += ["at_most"] if self.at_most != 1 else []
        if names:
            problems.add(f"{', '.join(names)}: expected {expected}")

    def read(self, problems: Problems) -> tuple[list[Any], list[Any], list[Any] | None]:
        """The groups, that of each record, and whose it is."""
        groups = self.groups
        if groups is None:
            groups = getattr(getattr(self.by, "dtype", None), "categories", None)
        if groups is None:
            problems.require(False, "groups", _EXPECTED, None)
        labels = [] if groups is None else read_labels(problems, "groups", groups, self.by)
        records = read_records(problems, "by", self.by)
        people = None if self.person is None else read_records(problems, "person", self.person)
        same = people is None or len(people) == len(records)
        if not same:
            problems.add("person: expected as many as by, got another number")
        top = 1 if people is None else max(len(labels), 1)
        good = is_integer(self.at_most) and 1 <= self.at_most <= top
        expected = f"a whole number from 1 to {top}, the number of groups"
        if people is None:
            expected = "1 without person=, as each record is then of another person"
        problems.require(good, "at_most", expected, self.at_most)
        return labels, records, people


class _Asked(NamedTuple):
    """A checked release of groups: records, their groups and labels, and what is asked for."""

    values: Any
    grouping: Grouping
    labels: list[Any]
    request: ReleaseRequest

    @property
    def size(self) -> tuple[int, int, str]:
        """How many groups a person counts in, how many there are, and the relation."""
        return int(self.grouping.at_most), len(self.labels), self.request.relation

    def best(self, ball: Sensitivity, *, whole: bool, weights: Array | None = None) -> Mechanism:
        """The best noise for what a person changes."""
        epsilon, delta = self.request.epsilon, self.request.delta
        return best(ball, integer=whole, weights=weights, epsilon=epsilon, delta=delta)

    def charged(self, found: Mechanism) -> Entry:
        """The entry of all groups, charged before anything is drawn."""
        entry = Entry(found, relation=self.request.relation)
        self.request.charge(entry)
        return entry

    def answer(self, numbers: Array) -> dict[str, Any]:
        """Released numbers by group, in the container of the records, with groups and label."""
        value = labelled_cells(self.values, numbers, categories=self.labels, by=self.grouping.by)
        return {"value": value, "categories": tuple(self.labels), **self.request.said}

    def integers(self, found: Mechanism, totals: list[int]) -> Released:
        """Integers of groups with noise on the integers."""
        exact = np.array([min(max(one, -_MOST), _MOST) for one in totals], dtype=np.int64)
        entry = self.charged(found)
        drawn = noisy(exact, found.noise, None, self.request.entropy)
        more = self.answer(drawn)
        return Released(noise=found.noise, entry=entry, promise=found.promise, **more)


@dataclass(frozen=True, eq=False, repr=False)
class GroupMeans(Released):
    """Private means of groups: quotients of sums and counts that are released together.

    Attributes
    ----------
    counts, sums : numpy.ndarray, shape (G,)
        The noisy number of persons of each group, and the sum of their values less `centre`.
    centre : float
        What is added to the quotient.
    bounds : tuple of float
        The means are within them.
    """

    counts: Any = None
    sums: Any = None
    centre: float = 0.0
    bounds: tuple[float, float] = (0.0, 0.0)

    @property
    def std(self) -> Array:
        """Standard deviations to first order in the noise, shape (G,)."""
        each = np.split(self.noise.var(), 2)
        number = np.maximum(self.counts, 1.0)
        ratio = np.asarray(self.value) - self.centre
        return np.sqrt(each[1] + ratio**2 * each[0]) / number

    def _ends(self, level: float) -> Any:  # noqa: ANN401
        """The ends of the quotients, from intervals of sum and count that hold together."""
        width = self.noise.half_width(0.5 * (1.0 + level)) + self.step
        counts, sums = np.split(width * ROUNDED_UP, 2)
        lowest = np.maximum(self.counts - counts, 1.0)  # of a group that has a mean
        most = np.maximum(self.counts + counts, 1.0)
        ends = [(self.sums + sign * sums) / n for sign in (-1, 1) for n in (lowest, most)]
        low = np.clip(np.min(ends, axis=0) + self.centre, *self.bounds)
        high = np.clip(np.max(ends, axis=0) + self.centre, *self.bounds)
        spare = 4.0 * np.spacing(np.maximum(np.abs(low), np.abs(high)))
        return tuple(labelled_like(self.value, end) for end in (low - spare, high + spare))


def grouped_count(
    records: Any,  # noqa: ANN401
    contribution: Any,  # noqa: ANN401
    grouping: Grouping,
    request: ReleaseRequest,
) -> Released:
    """The private numbers of persons by group, of those with a record that counts."""
    problems = Problems("release.count")
    request.check(problems)
    problems.require(contribution == 1, "contribution", "1 beside by=", contribution)
    labels, by, people = grouping.read(problems)
    kept = by if records is None else read_records(problems, "records", records)
    if kind_of(records) not in (None, "numbers"):
        problems.require(False, "records", "a column of bools", kind_of(records))
    _same_length(problems, "records", kept, by)
    problems.raise_if_any()
    if records is not None:
        chosen = [_is_true(one) for one in kept]
        by = [one for one, counts in zip(by, chosen, strict=True) if counts]
        if people is not None:
            people = [one for one, counts in zip(people, chosen, strict=True) if counts]
    asked = _Asked(records, grouping, labels, request)
    m, K, relation = asked.size
    found = asked.best(set_of_counts(m, K, relation), whole=True)
    totals = [len(one) for one in contributions(_rows(people, by, [1] * len(by)), labels, m)]
    return asked.integers(found, totals)


def grouped_sum(
    values: Any,  # noqa: ANN401
    bounds: Any,  # noqa: ANN401
    grouping: Grouping,
    request: ReleaseRequest,
    *,
    mean: bool,
) -> Released:
    """The private sums by group of what persons have there, clamped, or the means of it."""
    problems = Problems("release.mean" if mean else "release.sum")
    request.check(problems)
    low, high = read_bounds(problems, bounds)
    labels, by, people = grouping.read(problems)
    numbers = read_numbers(problems, "values", values).tolist()
    _same_length(problems, "values", numbers, by)
    problems.raise_if_any()
    # A person who is replaced moves a sum of integers by up to the distance of the bounds.
    whole = is_whole(values) and not mean and max(high, 0.0) - min(low, 0.0) <= LARGEST_SIZE
    known = bounds_of(bounds, low, high, whole=whole)
    records = read_records(problems, "values", values) if known.whole else numbers
    rows = _rows(people, by, list(map(known.number, records, numbers)))
    asked = _Asked(values, grouping, labels, request)
    if mean:
        return _means(asked, known, rows)
    m, K, relation = asked.size
    found = asked.best(known.set_of_sums(m, K, relation), whole=known.whole)
    each = contributions(rows, labels, m)
    if known.whole:
        return asked.integers(found, [sum(known.multiples(one, 1.0)) for one in each])
    step = grid_of(found.noise)
    unit = _unit(known, step)
    sums = [sum(known.multiples(one, unit)) for one in each]
    entry = asked.charged(found)
    drawn = _noisy_multiples(sums, [unit] * K, found, step, request.entropy)
    more = asked.answer(drawn)
    return Released(noise=found.noise, entry=entry, promise=found.promise, step=step, **more)


def _is_true(record: object) -> bool:
    """Whether a record counts: True, or 1."""
    try:
        return bool(record == 1)
    except Exception:  # noqa: BLE001  (of a type of the user, or NA)
        return False


def _same_length(problems: Problems, name: str, values: list[Any], by: list[Any]) -> None:
    """Record of a problem unless there is a group of each record."""
    if len(values) != len(by):
        problems.add(f"{name}, by: expected one group for each record, got different lengths")


def _rows(people: list[Any] | None, by: list[Any], amounts: list[Any]) -> Any:  # noqa: ANN401
    """Person, group and amount of each row of a person."""
    if people is None:
        return zip(range(len(by)), by, amounts, strict=True)
    every = zip(people, by, amounts, strict=True)
    return (row for row in every if not is_missing(row[0]))


def _unit(known: Bounds, step: Array) -> float:
    """The record unit, not so fine that the rest of a sum beside the grid is no double."""
    return max(known.unit, float(np.max(step)) * _FINEST)


def _noisy_multiples(
    sums: list[int], units: list[float], found: Mechanism, step: Array, entropy: Entropy
) -> Array:
    """Integers times units plus noise, on the grid of each."""
    wholes, rests = [], []
    for one, unit, grid in zip(sums, units, step.tolist(), strict=True):
        whole, rest = divmod(one * Fraction(unit), Fraction(grid))
        wholes.append(int(whole))
        rests.append(float(rest))
    drawn = noisy(np.array(rests), found.noise, None, entropy) / step
    more = [round(one) for one in drawn.tolist()]
    parts = zip(wholes, more, step.tolist(), strict=True)
    return np.array([float((a + n) * Fraction(grid)) for a, n, grid in parts])


def _means(asked: _Asked, known: Bounds, rows: Any) -> Released:  # noqa: ANN401
    """Means by group, from counts and sums that are released together."""
    m, K, relation = asked.size
    distance = as_double_above(Fraction(known.high) - Fraction(known.low))
    replaced = relation == REPLACE_ONE
    size = distance if replaced else as_double_above(Fraction(distance) / 2)
    if replaced:
        ball = set_of_counts(m, K, relation, each=size, whole=False)
    else:
        ball = AtMost(m, K, size, relation=relation)
    # An error of the count moves a mean by its distance from the centre, about half of size.
    weights = np.repeat([0.5 * size, 2.0 / size], K)
    both = Product(set_of_counts(m, K, relation), ball)
    found = asked.best(both, whole=False, weights=weights)
    step = grid_of(found.noise)
    unit = _unit(known, step[K:])
    ends = known.ends(unit)
    middle = 2 * ends[0] if replaced else sum(ends)  # twice the centre, in units
    each = contributions(rows, asked.labels, m)
    counts = [len(one) for one in each]
    sums = [2 * sum(known.multiples(one, unit)) - middle * len(one) for one in each]
    entry = asked.charged(found)
    units = [1.0] * K + [0.5 * unit] * K
    drawn = _noisy_multiples([*counts, *sums], units, found, step, asked.request.entropy)
    numbers, totals = np.split(drawn, 2)
    centre = float(Fraction(middle, 2) * Fraction(unit))
    quotients = np.clip(centre + totals / np.maximum(numbers, 1.0), known.low, known.high)
    return GroupMeans(
        noise=found.noise,
        entry=entry,
        promise=found.promise,
        step=step,
        counts=numbers,
        sums=totals,
        centre=centre,
        bounds=(known.low, known.high),
        **asked.answer(quotients),
    )
