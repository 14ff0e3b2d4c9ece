"""What one person adds to counts and sums of groups, bounded, and the set of what that changes.

A person counts in the first m groups of the person's own rows. What the person's rows add to a
group is added up and clamped to the bounds. Both depend on the person's own rows and on nothing
else: so a person more or less changes at most m groups, each by a number within the bounds.

Clamped numbers are rounded to multiples of a unit, a power of two that is chosen without the data,
and stay within the bounds. Multiples are integers: their sum has no rounding, whatever the order.
`from_frame` makes counts and sums of a data frame so, with their set.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from contextlib import suppress
from fractions import Fraction
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._frames import (
    frame_like,
    is_whole,
    key_of,
    kind_of,
    libraries,
    misfits,
    number_of,
    records_of,
)
from dpnoise._results import data_frame, shortened
from dpnoise._validation import Problems, is_integer
from dpnoise.noise.exact import as_double_above
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise.sensitivity.base import Sensitivity

_FINENESS = 2.0**-30  # of the record unit, over the distance of the bounds
_FRAME_FINENESS = 2.0**-24  # of the record unit, over the larger bound
_MOST = 2**52  # units in a sum
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
        first, last = (Fraction(end) / Fraction(unit) for end in (self.low, self.high))
        low, high = math.ceil(first), math.floor(last)
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
    number = problems.number
    found = [good and number(f"bounds[{k}]", bounds[k], low=-1e100, high=1e100) for k in (0, 1)]
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


class BoundedCounts(NamedTuple):
    """Exact counts or sums with a bounded contribution of each person, and their sensitivity set.

    Attributes
    ----------
    counts : Series
        The private counts or sums by category, shape (K,), of the frame's library: not for
        publication without noise.
    sensitivity : Counts or AtMost
        What one person more or less can change in them.
    """

    counts: Any
    sensitivity: Sensitivity


def from_frame(
    df: Any,  # noqa: ANN401  (of pandas)
    *,
    person: Hashable,
    by: Hashable,
    at_most: int,
    categories: Iterable[Any] | None = None,
    values: Hashable | None = None,
    bounds: tuple[float, float] | None = None,
) -> BoundedCounts:
    """Counts of persons or sums by category, each person in at most m, and their sensitivity.

    Parameters
    ----------
    df : DataFrame of pandas or polars
        Rows of persons; a person may have any number of them.
    person : hashable
        The column that says whose row it is. Rows without a person are left out.
    by : hashable
        The column of categories. Rows in no public category are left out.
    at_most : int
        The number m of categories, at most K, in which a person counts, once in each: the first m
        in the order of the person's own rows, which must not depend on the rows of others.
    categories : iterable, optional
        The K public categories. By default those of the type of the column, if this is categorical:
        stated beforehand by `pandas.CategoricalDtype`, as `astype("category")` reads them off the
        data, which publishes that somebody has each.
    values : hashable, optional
        The column to add up, in the place of counts. What a person's rows add to one category is
        added up and clamped to the bounds; what is no number counts as the lower bound.
    bounds : tuple of float, optional
        Public lower and upper bound of that; needed beside `values`.

    Returns
    -------
    BoundedCounts
        The counts or sums, a Series by category, and the set of what one person more or less
        changes: `Counts(m, of=K)` with the larger bound as `each`, or `AtMost` where the bounds
        have both signs. Counts are int64, and so are sums of a column of integers with integer
        bounds. Other sums are multiples of 2^-24 of the larger bound, so that they are exact.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem and shows no row.
    ModuleNotFoundError
        Without pandas.

    Notes
    -----
    Proved: for frames that differ by the rows of one person, with the order of the other rows kept,
    the counts differ by an element of the set. Persons are the same if their values are equal.

    References
    ----------
    Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo & Gipson, "Differentially private SQL with
    bounded user contribution" (PoPETs 2020), who sample rows where the first are kept here.

    Examples
    --------
    >>> import pandas as pd
    >>> from dpnoise import best, from_frame, release
    >>> visits = pd.DataFrame(
    ...     {"who": ["Ada", "Bo", "Ada", "Ada", "Ada"], "shop": ["x", "x", "x", "z", "y"]}
    ... )
    >>> counts, D = from_frame(visits, person="who", by="shop", at_most=2, categories="xyz")
    >>> counts.to_dict()                     # Ada's first two shops are x and z
    {'x': 2, 'y': 0, 'z': 1}
    >>> D
    Counts(m=2, of=3, each=1.0, relation='add-remove')
    >>> release(counts, best(D, epsilon=1.0)).index.tolist()
    ['x', 'y', 'z']
    """
    problems = Problems("from_frame")
    if not (libraries(df) and hasattr(df, "columns")):
        problems.require(False, "df", "a DataFrame of pandas or polars", type(df).__name__)
        problems.raise_if_any()
    columns = list(df.columns)
    named = {"person": person, "by": by, **({} if values is None else {"values": values})}
    singles = {}
    for name, column in named.items():
        single = isinstance(column, Hashable) and columns.count(column) == 1
        singles[name] = problems.require(single, name, "the name of one column", column)
    single = singles["by"]
    both = (values is None) == (bounds is None)
    problems.require(both, "values, bounds", "both of them or none", (values, bounds))
    low, high = (0.0, 1.0) if bounds is None else read_bounds(problems, bounds)
    if values is not None and singles["values"]:
        kind = kind_of(df[values])
        problems.require(kind in ("numbers", None), "values", "a column of numbers", kind)
    if categories is None and single:
        categories = getattr(df[by].dtype, "categories", None)
    labels = _labels(problems, categories) if single or categories is not None else []
    misfit = misfits(labels, df[by]) if single else ""
    if misfit:
        problems.add(f"categories: expected labels that are {misfit}")
    good = is_integer(at_most) and at_most >= 1 and (at_most <= len(labels) or not labels)
    most = f"K = {len(labels)}, the number of categories" if labels else "that of the categories"
    problems.require(good, "at_most", f"a whole number from 1 to {most}", at_most)
    problems.raise_if_any()
    m, K = int(at_most), len(labels)
    whose = [not is_missing(one) for one in records_of(df[person]) or []]
    people = [list(compress(records_of(df[column]) or [], whose)) for column in (person, by)]
    if values is None:
        counts = [len(one) for one in contributions(zip(*people, repeat(1)), labels, m)]
        series = _by_label(df, by, "count", np.array(counts, dtype=np.int64), labels)
        return BoundedCounts(series, set_of_counts(m, K, ADD_REMOVE))
    known = bounds_of(bounds, low, high, whole=is_whole(df[values]))
    kept = compress(records_of(df[values]) or [], whose)
    amounts = (known.number(one, number_of(one)) for one in kept)
    unit = 1.0 if known.whole else power_below(max(-low, high)) * _FRAME_FINENESS
    each = contributions(zip(*people, amounts, strict=True), labels, m)
    sums = [sum(known.multiples(one, unit)) for one in each]
    # A sum of many persons is cut off where doubles stop to hold all integers.
    exact = np.array([min(max(one, -_MOST), _MOST) for one in sums], dtype=np.int64)
    numbers = exact if known.whole else exact * unit
    series = _by_label(df, by, values, numbers, labels)
    return BoundedCounts(series, known.set_of_sums(m, K, ADD_REMOVE))


def _by_label(df: Any, by: Hashable, name: Any, numbers: Any, labels: list[Any]) -> Any:  # noqa: ANN401
    """Numbers as a Series of the frame's library; of pandas by label."""
    other = frame_like(df, {str(name): numbers})
    return data_frame({name: numbers}, labels, by)[name] if other is None else other[str(name)]


def _labels(problems: Problems, categories: Any) -> list[Any]:  # noqa: ANN401
    """The public categories; empty where they are refused."""
    expected = (
        "the public categories, each once and none missing: as categories=, or by the categorical "
        "type of the column (those that happen to be in the data are private)"
    )
    with suppress(TypeError):  # of what cannot be a label, or is no iterable
        labels = list(categories)
        given = all(label is not None and label == label for label in labels)  # noqa: PLR0124
        if given and 0 < len(labels) == len(set(labels)):
            return labels
    problems.require(False, "categories", expected, shortened(categories))
    return []
