"""What `release` and its helpers return: private values with noise, interval, promise and entry.

It also holds what a helper is asked for, and how what it returns is charged to a budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpnoise._frames import frame_like
from dpnoise._results import (
    EqualByValue,
    data_frame,
    html_table,
    labelled_like,
)
from dpnoise._validation import Problems
from dpnoise.joint.base import ROUNDED_UP, VectorNoise, level_of_each
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, check_label, guaranteed, today
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.odometer.statement import Statement, composed, protected, words_of
from dpnoise.sensitivity.base import joined, require_relation
from dpnoise.sensitivity.relation import number_words, promise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array
    from dpnoise.noise.exact import Entropy

_MOST_LINES, _MOST_ROWS = 6, 20
_NOTHING_SEEN = (
    "every exact number may be 0. If that is not expected, check that the labels are spelled as in "
    "the data."
)


def _plain(one: Any) -> Any:  # noqa: ANN401
    """The value in the place of a release, also within lists."""
    if isinstance(one, list | tuple):
        return type(one)(map(_plain, one))
    return one.value if isinstance(one, Released) else one


def _listed(values: Array, cells: list[str] | None) -> list[str]:
    """Lines with the first values."""
    if cells is None:
        return np.array2string(values, threshold=60, edgeitems=5).splitlines()[:_MOST_LINES]
    few = values.tolist()[:_MOST_LINES]
    width = max((len(cell) for cell in cells[: len(few)]), default=0)
    pairs = zip(cells, few, strict=False)
    lines = [f"  {cell[:40]:{min(width, 40)}}  {one:.10g}" for cell, one in pairs]
    more = values.size - len(few)
    return [*lines, f"  and {more} more"] if more else lines


@dataclass(frozen=True, eq=False, repr=False)
class Released(EqualByValue, NDArrayOperatorsMixin):
    """A private answer; two are equal if all that they say but the date is.

    It goes for its value in NumPy's functions, in arithmetic and in comparisons with numbers, and
    lends the attributes of the value (`tolist()`, `index`, `shape`).

    Attributes
    ----------
    value : int, float, numpy.ndarray, Series or DataFrame
        What may be published, in the container that was given; of a histogram of a Series, a Series
        by category or interval.
    noise : Noise, IntegerNoise, vector noise or None
        What was added to each number, or to the vector; None for a quantile.
    entry : Entry
        What it costs; already charged if a budget was passed.
    promise : str
        What is guaranteed, in one sentence.
    step : float or numpy.ndarray
        The grid of the value, which rounds it; 0 for noise on the integers.
    edges : numpy.ndarray, shape (K + 1,), or None
        The ends of the cells of a histogram; each cell has its lower end, the last one both.
    categories : tuple or None
        The labels of a histogram by category, or of groups, in the order of the values.
    threshold : int or None
        The least count that is named, where the categories were not known.
    label, date : str
        What the user calls it, and the day of the release.
    guarantee : tuple of float
        The epsilon and delta of the promise.
    """

    value: Any
    noise: Any
    entry: Entry
    promise: str
    step: Any = 0.0
    edges: Array | None = None
    categories: tuple[Any, ...] | None = None
    threshold: int | None = None
    label: str = ""
    date: str = field(default_factory=today, compare=False)
    guarantee: tuple[float, float] = field(kw_only=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: ANN401
        """The value, for `np.asarray`."""
        found = np.asarray(self.value, dtype=dtype)
        return found.copy() if copy else found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """What a function of NumPy makes of the value; so do arithmetic and comparisons."""
        return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """As `__array_ufunc__`, for functions that take lists of arrays and the like."""
        return func(*map(_plain, args), **{name: _plain(one) for name, one in kwargs.items()})

    def __ne__(self, other: object) -> bool:
        """Whether the other says anything else; `==` likewise is about the whole release."""
        return not self == other

    __hash__ = EqualByValue.__hash__

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """A public attribute that only the value has, as `tolist`, `index` or `dtype`."""
        if not name.startswith("_") and "value" in vars(self):
            return getattr(self.value, name)
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    def __len__(self) -> int:
        """The number of numbers along the first axis."""
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        """The numbers."""
        return iter(self.value)

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        """A part of the value."""
        return self.value[key]

    def __float__(self) -> float:
        """A single number."""
        return float(self.value)

    def __int__(self) -> int:
        """A single number, cut off."""
        return int(self.value)

    @property
    def std(self) -> Any:  # noqa: ANN401
        """The standard deviation of the noise, before it is rounded to the grid.

        A float for one noise of all numbers, an array of shape (K,) for noise of a vector; None for
        a quantile.
        """
        return None if self.noise is None else np.sqrt(self.noise.var())[()]

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Any:  # noqa: ANN401
        """Two ends between which the exact answers lie, by the noise and its rounding alone.

        Parameters
        ----------
        level : float
            The probability, from 0 to below 1.
        simultaneous : bool
            Whether all answers lie between their ends together with this probability, by the union
            bound; else each by itself.

        Returns
        -------
        tuple or None
            Two numbers, or containers like the value. None for a quantile, whose rank errs. For
            joint noise the widths are estimated from a sample, to about 0.5 % at 95 %.

        Raises
        ------
        ValueError
            If the level is out of range.

        Examples
        --------
        >>> from dpnoise import Counts, best, release
        >>> found = best(Counts(1, of=3, relation="add-remove"), epsilon=1.0)
        >>> released = release([12, 7, 5], found)
        >>> low, high = released.interval(0.95, simultaneous=True)
        >>> (high - low).tolist()
        [8, 8, 8]
        """
        return self._ends(level_of_each(level, np.size(self.value) if simultaneous else 1))

    def _ends(self, level: float) -> Any:  # noqa: ANN401
        """The ends of the interval of each answer by itself."""
        if self.noise is None:
            return None
        if isinstance(self.noise, VectorNoise):
            width = self.noise.half_width(level)
        else:
            width = np.asarray(float(self.noise.isf(0.5 * (1.0 - level))))
        value = np.asarray(self.value)
        if not np.any(self.step):
            half: Any = width.astype(np.int64)
        else:
            half = np.where(width > 0.0, (width + self.step) * ROUNDED_UP, 0.0)
            half += 2.0 * np.spacing(np.abs(value) + half)  # of the value and the ends as doubles
        ends = value - half, value + half
        if value.ndim == 0:
            return ends[0].item(), ends[1].item()
        return tuple(labelled_like(self.value, one) for one in ends)

    @property
    def interval95(self) -> Any:  # noqa: ANN401
        """The ends of `interval(0.95)`; None for a quantile."""
        return self.interval()

    def __repr__(self) -> str:
        """What was released in at most a dozen lines."""
        lines = [f"<released {self.label!r}" if self.label else "<released"]
        lines[0] += f" on {self.date}: {self._head()}"
        if np.ndim(self.value):
            lines += _listed(np.asarray(self.value), self._cells if self._has_cells else None)
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, f"{self.promise}>"])

    def _head(self) -> str:
        """How many numbers there are, and how far they may be off."""
        values = np.asarray(self.value)
        shown = number_words(values.item()) if values.ndim == 0 else f"{values.size} numbers"
        if self.std is None:
            return shown
        low, high = float(np.min(self.std)), float(np.max(self.std))
        spread = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        return f"{shown}, standard deviation {spread}"

    @property
    def notes(self) -> list[str]:
        """What stands out in the released numbers, and in nothing else of the data."""
        if (
            self.categories
            and self.threshold is None
            and self.noise is not None
            and np.ndim(self.value) == 1
        ):
            low = self.interval(simultaneous=True)[0]
            if np.all(np.asarray(low) <= 0):
                return [_NOTHING_SEEN]
        return []

    @property
    def _has_cells(self) -> bool:
        """Whether the numbers have names."""
        named = hasattr(self.value, "index") and np.ndim(self.value) == 1
        return named or self.categories is not None or self.edges is not None

    @property
    def _cells(self) -> list[str]:
        """The names of the cells of a histogram, or of the one answer."""
        if self.categories is not None:
            return [str(label) for label in self.categories]
        if self.edges is None:
            index = getattr(self.value, "index", None)
            many = np.size(self.value)
            some = [] if index is None or callable(index) else list(index)
            return list(map(str, some if len(some) == many else range(1, many + 1)))
        ends = [f"{end:g}" for end in self.edges]
        shown = [f"[{low}, {high})" for low, high in pairwise(ends)]
        return [*shown[:-1], shown[-1][:-1] + "]"]

    def _columns(self) -> dict[str, Array]:
        """Value and interval as arrays with one axis."""
        columns = {"value": self.value}
        ends = self.interval()
        if ends is not None:
            columns |= {"low": ends[0], "high": ends[1]}
        return {name: np.ravel(np.asarray(column)) for name, column in columns.items()}

    def _repr_html_(self) -> str:
        """Value, interval and promise for notebooks."""
        columns = self._columns()
        rows = zip(*(map(str, column.tolist()) for column in columns.values()), strict=True)
        cells = [(cell, *row) for cell, row in zip(self._cells, rows, strict=True)]
        if len(cells) > _MOST_ROWS:
            cells = [*cells[: _MOST_ROWS - 1], (f"and {len(cells) - _MOST_ROWS + 1} more", "")]
        title = f"private answer {self.label}".rstrip()
        notes = [*self.notes, self.promise]
        return html_table(f"{title}, 95 % interval", ("", *columns), cells, notes)

    @property
    def summary(self) -> str:
        """Noise and sensitivity in few words, as the entry of a budget has them."""
        return self.entry.summary

    def statement(self) -> Statement:
        """Half a page of plain English for a privacy officer to file, dated as the release.

        Returns
        -------
        Statement
            A text that says who is protected, what was released with which accuracy, and what is
            not covered; notebooks show it as HTML.

        Examples
        --------
        >>> from dpnoise import release
        >>> released = release.count(120, epsilon=1.0, relation="add-remove", label="May")
        >>> "One number named 'May'" in released.statement()
        True
        """
        many = np.size(self.value)
        words = "One number" if many == 1 else f"{many} numbers"
        summary = self.summary.removeprefix(f"{words}; ")
        words += f" named {self.label!r}" if self.label else ""
        words += f" ({summary}). " if self.entry.noise is not None else ". "
        parts = [
            ("Who is protected.", protected(self.entry.relation, *self.guarantee), ()),
            ("What was released.", f"{words}{self._accuracy()}", ()),
            ("Promise.", f"In one sentence: {self.promise}.", ()),
        ]
        return composed(f"Privacy statement of {self.date}", parts)

    def _accuracy(self) -> str:
        """How far the numbers may be off, in words."""
        ends = [self.interval(0.95), self.interval(0.95, simultaneous=True)]
        if not np.size(self.value) or ends[0] is None:
            return "No interval is known for it." if ends[0] is None else "Nothing was named."
        far, all_far = (float(np.max(np.asarray(high) - np.asarray(low))) / 2 for low, high in ends)
        named = f" Only counts of at least {self.threshold} are named." if self.threshold else ""
        spread = float(np.max(self.std))
        words = f"The noise has a standard deviation of {spread:.4g} or less. "
        words += "With a probability of 95 % "
        if np.size(self.value) == 1:
            return f"{words}the number is off by at most {far:.4g}.{named}"
        words += f"a number is off by at most {far:.4g}, and all numbers together by {all_far:.4g}."
        return f"{words}{named}"

    def to_frame(self) -> Any:  # noqa: ANN401  (of pandas)
        """Value and the ends of its interval, a row for each cell.

        Returns
        -------
        pandas.DataFrame
            With the columns value, low and high (of a quantile, value alone); the index has the
            categories, or the cells as text. Of a release of polars a frame of polars, with a
            column "cell" for the index.

        Raises
        ------
        ModuleNotFoundError
            Without pandas.

        Examples
        --------
        >>> from dpnoise import release
        >>> asked = {"epsilon": 1.0, "relation": "add-remove"}
        >>> released = release.histogram(["a", "a", "b"], categories=["a", "b", "c"], **asked)
        >>> released.to_frame().index.tolist()
        ['a', 'b', 'c']
        """
        index = self._cells if self.categories is None else list(self.categories)
        columns = self._columns()
        other = frame_like(self.value, {"cell": index, **columns})
        return data_frame(columns, index, "cell") if other is None else other

    def spending(self) -> Ledger:
        """What it costs a `Budget`, if it was not charged to one already."""
        return self.entry.spending()


@dataclass(frozen=True, eq=False)
class Entry(EqualByValue):
    """A release as `Budget` counts it.

    Attributes
    ----------
    noise, sensitivity : object
        The arguments of `Budget.spend`; None where only epsilon is known.
    epsilon : float
        The pure epsilon where no noise is stated.
    relation : {"add-remove", "replace-one"} or None
        Which data sets are neighbours; None if that was not stated.
    failure : float
        A probability with which something may be released that the noise does not hide.
    """

    noise: Any = None
    sensitivity: Any = None
    epsilon: float = 0.0
    relation: str | None = field(kw_only=True)
    failure: float = field(default=0.0, kw_only=True)

    @property
    def summary(self) -> str:
        """Noise and sensitivity in few words, as the entry of a budget has them."""
        if self.noise is None:
            return f"({self.epsilon!r}, 0.0)-DP"
        more = f", and a failure of {self.failure:.4g}" if self.failure else ""
        return f"{words_of(self.noise, self.sensitivity)}{more}"

    def spending(self) -> Ledger:
        """What it costs a `Budget`, with its relation."""
        problems = Problems("budget")
        if self.noise is None:
            found = guaranteed(self.epsilon, 0.0)
        else:
            found = read_release(problems, self.noise, self.sensitivity)
        problems.raise_if_any()
        failure = found.failure + Fraction(self.failure)
        return replace(found, relation=self.relation, failure=failure)

    def spend(self, budget: Budget, *, label: str = "") -> None:
        """Charge it to a budget; refused as by `Budget.spend`."""
        if self.failure:
            budget.spend(self, label=label)
        elif self.noise is None:
            budget.spend_dp(self.epsilon, relation=self.relation, label=label)
        else:
            budget.spend(self.noise, self.sensitivity, relation=self.relation, label=label)


class ReleaseRequest(NamedTuple):
    """The privacy that is asked for, the budget that pays, and the source of bits."""

    epsilon: float
    delta: float
    stated: str | None  # by the call
    budget: Budget | None
    entropy: Entropy
    label: str = ""

    @property
    def relation(self) -> str:
        """Which data sets are neighbours, of a checked request."""
        return self.stated or self.budget.relation  # type: ignore[union-attr, return-value]

    def check(self, problems: Problems) -> None:
        """Record of what is wrong with it."""
        problems.budget(self.epsilon, self.delta)
        known = self.budget is None or isinstance(self.budget, Budget)
        problems.require(known, "budget", "a Budget", self.budget)
        check_label(problems, self.label)
        of_budget = getattr(self.budget, "relation", None)
        one = of_budget if self.stated is None else self.stated
        if require_relation(problems, one, "of the Budget or as relation="):
            joined(problems, of_budget, self.stated, "the budget and relation=")

    @property
    def said(self) -> dict[str, Any]:
        """What the answer says of the request: its label and guarantee."""
        return {"label": self.label, "guarantee": (float(self.epsilon), float(self.delta))}

    def promise(self, change: str) -> str:
        """The guarantee in one sentence, for what one person changes in words."""
        return promise(self.relation, change, self.epsilon, self.delta)

    def charge(self, entry: Entry) -> None:
        """Charge a release, which comes before its draw."""
        if self.budget is not None:
            entry.spend(self.budget, label=self.label)
