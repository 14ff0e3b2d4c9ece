"""Counts and sums of a data frame in which each person has few of them, and their sensitivity.

What one person can change is bounded by what one person is allowed to contribute
(`dpnoise.sensitivity.contributions`), at most m of the K counts or sums, each within its bounds.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._frames import (
    frame_like,
    is_whole,
    kind_of,
    libraries,
    misfits,
    number_of,
    records_of,
)
from dpnoise._results import data_frame, shortened
from dpnoise._validation import Problems, is_integer
from dpnoise.sensitivity.contributions import (
    bounds_of,
    contributions,
    is_missing,
    power_below,
    read_bounds,
    set_of_counts,
)
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise.sensitivity.base import Sensitivity

_FINENESS = 2.0**-24  # of the record unit, over the larger bound
_MOST = 2**52  # units in a sum


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
    amounts = (
        known.number(one, number_of(one)) for one in compress(records_of(df[values]) or [], whose)
    )
    unit = 1.0 if known.whole else power_below(max(-low, high)) * _FINENESS
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
