"""Counts of a data frame in which each person contributes to few of them, and their sensitivity.

What one person can change is bounded by what one person is allowed to contribute, and this is where
it is enforced. Whether a row is kept depends on earlier rows of the same person and on nothing
else: so a person more or less changes that person's own contributions only, at most m of the K
counts, each by 1.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._frames import key_of, misfits
from dpnoise._results import data_frame, is_data_frame, shortened
from dpnoise._validation import Problems, is_integer
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise._types import IntArray
    from dpnoise.sensitivity.base import Sensitivity


class BoundedCounts(NamedTuple):
    """Exact counts with a bounded contribution of each person, and their sensitivity set.

    Attributes
    ----------
    counts : pandas.Series
        The private numbers of persons by category, shape (K,): not for publication without noise.
    sensitivity : Counts
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
) -> BoundedCounts:
    """Numbers of persons by category, each person in at most m categories, and their sensitivity.

    Parameters
    ----------
    df : pandas.DataFrame
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

    Returns
    -------
    BoundedCounts
        The counts, a Series of int64 by category, and the set `Counts(m, of=K)` for one person more
        or less.

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
    >>> release(counts, best(D, epsilon=1.0).noise).index.tolist()
    ['x', 'y', 'z']
    """
    problems = Problems("from_frame")
    if not is_data_frame(df):
        problems.require(False, "df", "a DataFrame of pandas", type(df).__name__)
        problems.raise_if_any()
    columns = df.columns.tolist()
    for name, column in (("person", person), ("by", by)):
        single = isinstance(column, Hashable) and columns.count(column) == 1
        problems.require(single, name, "the name of one column", column)
    if categories is None and single:  # of by, the last one
        categories = getattr(df[by].dtype, "categories", None)
    labels = _labels(problems, categories) if single or categories is not None else []
    misfit = misfits(labels, df[by]) if single else ""
    if misfit:
        problems.add(f"categories: expected labels that are {misfit}")
    good = is_integer(at_most) and at_most >= 1 and (at_most <= len(labels) or not labels)
    most = f"K = {len(labels)}, the number of categories" if labels else "that of the categories"
    problems.require(good, "at_most", f"a whole number from 1 to {most}", at_most)
    problems.raise_if_any()
    sensitivity = Counts(int(at_most), len(labels), relation=ADD_REMOVE)
    named = df[person].notna().tolist()
    rows = zip(compress(df[person].tolist(), named), compress(df[by].tolist(), named), strict=True)
    counts = _counted(rows, labels, int(at_most))
    series = data_frame({"count": counts}, labels, by)["count"]
    return BoundedCounts(series, sensitivity)


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


def _counted(rows: Iterable[tuple[Any, Any]], labels: list[Any], m: int) -> IntArray:
    """The number of persons with each label among their first m.

    Row by row: compared as columns, one row could change how those of others are read.
    """
    place = {key_of(label): k for k, label in enumerate(labels)}
    counts = np.zeros(len(labels), dtype=np.int64)
    own: dict[Any, set[int]] = {}
    for person, record in rows:
        with suppress(Exception):  # what cannot be a label is in no category, and no person
            k = place.get(record)
            kept = own.setdefault(person, set())
            if k is not None and k not in kept and len(kept) < m:
                kept.add(k)
                counts[k] += 1
    return counts
