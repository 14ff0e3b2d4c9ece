"""What one person adds to counts and sums of groups, bounded, and the set of what that changes.

A person counts in the first m groups of the person's own rows. What the person's rows add to a
group is added up and clamped to the bounds. Both depend on the person's own rows and on nothing
else: so a person more or less changes at most m groups, each by a number within the bounds.

Clamped numbers are rounded to multiples of a unit, a power of two that is chosen without the data,
and stay within the bounds. Multiples are integers: their sum has no rounding, whatever the order.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._frames import key_of
from dpnoise._validation import is_integer
from dpnoise.noise.exact import as_double_above
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise._validation import Problems
    from dpnoise.sensitivity.base import Sensitivity

_FINENESS = 2.0**-30  # of the record unit, over the distance of the bounds
_PRECISION = 2.0**-52  # over the larger bound
_MOST_WHOLE = 2**50  # of a bound of integers
_HUGE = 1e150  # beyond all bounds, for infinite records
_MOST_COUNTS = 2000  # of `Counts` with any m


class Bounds(NamedTuple):
    """Public bounds of what one person adds to one group.

    Attributes
    ----------
    low, high : float
        The bounds, low < high.
    whole : bool
        Whether records and bounds are integers.
    """

    low: float
    high: float
    whole: bool

    @property
    def unit(self) -> float:
        """The record unit: 1 for integers, else a power of two by the bounds alone."""
        if self.whole:
            return 1.0
        size = max(-self.low, self.high)
        distance = self.high - self.low
        return max(power_below(distance) * _FINENESS, power_below(size) * _PRECISION)

    def ends(self, unit: float) -> tuple[int, int]:
        """The multiples of a unit within the bounds: the lowest and the highest; 0 if none is."""
        low, high = (
            math.ceil(Fraction(self.low) / Fraction(unit)),
            math.floor(Fraction(self.high) / Fraction(unit)),
        )
        return (low, high) if low <= high else (0, 0)

    def multiples(self, values: Iterable[float], unit: float) -> list[int]:
        """Numbers clamped to the bounds, in multiples of a unit."""
        low, high = self.ends(unit)
        within = (min(max(value, self.low), self.high) for value in values)
        return [min(max(round(value / unit), low), high) for value in within]

    def number(self, record: Any, number: float) -> float:  # noqa: ANN401
        """A record, which is this double, as a number; what is none counts as the lower bound."""
        if self.whole:
            return int(record) if is_integer(record) or isinstance(record, bool) else int(self.low)
        return self.low if math.isnan(number) else min(max(number, -_HUGE), _HUGE)

    def set_of_sums(self, m: int, of: int, relation: str) -> Sensitivity:
        """What one person changes in the sums of `of` groups, of which the person is in at most m.

        The differences of two persons without a sign in common may lie in 2 m groups.
        """
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        size = max(-low, high)
        if low < 0.0 < high:
            if relation == REPLACE_ONE:
                both = as_double_above(Fraction(high) - Fraction(low))
                return AtMost(min(2 * m, of), of, both, relation=relation)
            return AtMost(m, of, size, relation=relation)
        return set_of_counts(m, of, relation, each=size, whole=self.whole)


def set_of_counts(
    m: int, of: int, relation: str, *, each: float = 1.0, whole: bool = True
) -> Sensitivity:
    """What one person changes in numbers of one sign: `Counts`, or a set around it for many."""
    if of > _MOST_COUNTS and m < of and (relation == REPLACE_ONE or m > 1):
        more = 2 if relation == REPLACE_ONE else 1
        return AtMost(min(more * m, of), of, each, relation=relation)
    return Counts(m, of, each, whole=whole, relation=relation)


def power_below(x: float) -> float:
    """The largest power of two that is at most a positive number."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def read_bounds(problems: Problems, bounds: Any) -> tuple[float, float]:  # noqa: ANN401
    """Two public bounds, the lower one first."""
    pair = isinstance(bounds, tuple | list) and len(bounds) == 2
    good = problems.require(pair, "bounds", "two numbers", bounds)
    found = [
        good and problems.number(f"bounds[{k}]", bounds[k], low=-1e100, high=1e100) for k in (0, 1)
    ]
    if not all(found):
        return 0.0, 1.0
    low, high = float(bounds[0]), float(bounds[1])
    wide = high - low >= 1e-100
    problems.require(wide, "bounds", "the lower one first, at least 1e-100 apart", bounds)
    return low, high


def bounds_of(bounds: Any, low: float, high: float, *, whole: bool) -> Bounds:  # noqa: ANN401
    """Checked bounds for records that are integers or not."""
    whole = whole and all(is_integer(end) and abs(end) <= _MOST_WHOLE for end in bounds)
    return Bounds(low, high, whole)


def is_missing(person: object) -> bool:
    """Whether a row says of no person that it is the person's: None, NaN, NA or NaT."""
    try:
        return person is None or bool(person != person)  # noqa: PLR0124
    except Exception:  # noqa: BLE001  (of NA)
        return True


def contributions(
    rows: Iterable[tuple[Any, Any, float]], labels: list[Any], m: int
) -> list[list[float]]:
    """For each label what each person's rows add up to, of persons with it among their first m.

    Row by row: compared as columns, one row could change how those of others are read.
    """
    place = {key_of(label): k for k, label in enumerate(labels)}
    own: dict[Any, dict[int, float]] = {}
    for person, record, value in rows:
        with suppress(Exception):  # what cannot be a label is in no category, and no person
            k = place.get(record)
            kept = own.setdefault(person, {})
            if k is not None and (k in kept or len(kept) < m):
                kept[k] = kept.get(k, 0) + value
    found: list[list[float]] = [[] for _ in labels]
    for kept in own.values():
        for k, value in kept.items():
            found[k].append(value)
    return found
