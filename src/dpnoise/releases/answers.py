"""What a helper returns, and how it is charged to a budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._results import EqualByValue, axes_or_new, data_frame, html_table
from dpnoise._validation import Problems
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, guaranteed
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.sensitivity.base import joined, require_relation
from dpnoise.sensitivity.relation import promise

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.exact import Entropy


@dataclass(frozen=True, eq=False)
class Entry(EqualByValue):
    """A release as `Budget` counts it.

    Attributes
    ----------
    noise, sensitivity : object
        The arguments of `Budget.spend`; None where only epsilon is known.
    epsilon : float
        The pure epsilon where no noise is stated.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours.
    """

    noise: Any = None
    sensitivity: Any = None
    epsilon: float = 0.0
    relation: str = field(kw_only=True)

    def spending(self) -> Ledger:
        """What it costs a `Budget`, with its relation."""
        problems = Problems("budget")
        if self.noise is None:
            found = guaranteed(self.epsilon, 0.0)
        else:
            found = read_release(problems, self.noise, self.sensitivity)
        problems.raise_if_any()
        return replace(found, relation=self.relation)

    def spend(self, budget: Budget) -> None:
        """Charge it to a budget; refused as by `Budget.spend`."""
        if self.noise is None:
            budget.spend_dp(self.epsilon, relation=self.relation)
        else:
            budget.spend(self.noise, self.sensitivity, relation=self.relation)


@dataclass(frozen=True, eq=False)
class Released(EqualByValue):
    """A private answer; two are equal if all that they say is.

    Attributes
    ----------
    value : int, float, numpy.ndarray or pandas.Series
        What may be published; of a histogram of a Series, a Series by category or interval.
    noise : Noise, IntegerNoise or None
        What was added to each number; None for a quantile.
    interval95 : tuple or None
        Two numbers, or arrays, between which each exact answer lies with a probability of at least
        95 % over the noise and the rounding; None for a quantile.
    entry : Entry
        What it costs; already charged if a budget was passed.
    promise : str
        What is guaranteed, in one sentence.
    edges : numpy.ndarray, shape (K + 1,), or None
        The ends of the cells of a histogram; each cell has its lower end, the last one both.
    categories : tuple or None
        The labels of a histogram by category, in the order of the values.
    """

    value: Any
    noise: Any
    interval95: tuple[Any, Any] | None
    entry: Entry
    promise: str
    edges: Array | None = None
    categories: tuple[Any, ...] | None = None

    @property
    def _cells(self) -> list[str]:
        """The names of the cells of a histogram, or of the one answer."""
        if self.categories is not None:
            return [str(label) for label in self.categories]
        if self.edges is None:
            return [""]
        ends = [f"{end:g}" for end in self.edges]
        shown = [f"[{low}, {high})" for low, high in pairwise(ends)]
        return [*shown[:-1], shown[-1][:-1] + "]"]

    def _columns(self) -> dict[str, Array]:
        """Value and interval as arrays with one axis."""
        columns = {"value": self.value}
        if self.interval95 is not None:
            columns |= {"low": self.interval95[0], "high": self.interval95[1]}
        return {name: np.atleast_1d(np.asarray(column)) for name, column in columns.items()}

    def _repr_html_(self) -> str:
        """Value, interval and promise for notebooks."""
        columns = self._columns()
        rows = zip(*(map(str, column.tolist()) for column in columns.values()), strict=True)
        cells = [(cell, *row) for cell, row in zip(self._cells, rows, strict=True)]
        return html_table("private answer, 95 % interval", ("", *columns), cells, [self.promise])

    def to_frame(self) -> Any:  # noqa: ANN401  (of pandas)
        """Value and the ends of its interval, a row for each cell.

        Returns
        -------
        pandas.DataFrame
            With the columns value, low and high (of a quantile, value alone); the index has the
            categories, or the cells as text.

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
        return data_frame(self._columns(), index, "cell")

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401  (Matplotlib is not imported)
        """Values with their 95 % intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on axes of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib, if no axes are given.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from dpnoise import release
        >>> released = release.count(120, epsilon=1.0, relation="add-remove")
        >>> released.plot(Figure().subplots()).get_ylabel()
        'value'
        """
        ax = axes_or_new(ax)
        columns = self._columns()
        value = columns["value"].astype(float)
        low, high = columns.get("low", value), columns.get("high", value)
        places = np.arange(value.size)
        ax.errorbar(places, value, yerr=[value - low, high - value], fmt="o", color="k", capsize=3)
        ax.set_xticks(places, self._cells)
        ax.set_ylabel("value")
        return ax

    def spending(self) -> Ledger:
        """What it costs a `Budget`, if it was not charged to one already."""
        return self.entry.spending()


class ReleaseRequest(NamedTuple):
    """The privacy that is asked for, the budget that pays, and the source of bits."""

    epsilon: float
    delta: float
    stated: str | None  # by the call
    budget: Budget | None
    entropy: Entropy

    @property
    def relation(self) -> str:
        """Which data sets are neighbours, of a checked request."""
        return self.stated or self.budget.relation  # type: ignore[union-attr, return-value]

    def check(self, problems: Problems) -> None:
        """Record of what is wrong with it."""
        problems.budget(self.epsilon, self.delta)
        known = self.budget is None or isinstance(self.budget, Budget)
        problems.require(known, "budget", "a Budget", self.budget)
        of_budget = getattr(self.budget, "relation", None)
        one = of_budget if self.stated is None else self.stated
        if require_relation(problems, one, "of the Budget or as relation="):
            joined(problems, of_budget, self.stated, "the budget and relation=")

    def promise(self, change: str) -> str:
        """The guarantee in one sentence, for what one person changes in words."""
        return promise(self.relation, change, self.epsilon, self.delta)

    def charge(self, entry: Entry) -> None:
        """Charge a release, which comes before its draw."""
        if self.budget is not None:
            entry.spend(self.budget)
