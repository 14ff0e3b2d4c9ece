"""Mechanisms side by side, best first, as rows, as text and as a plot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._equality import EqualByValue
from dpnoise._shown import axes_or_new, data_frame, html_table
from dpnoise.mechanisms.marginals import marginals
from dpnoise.privacy.odometer.releases import spending_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array
    from dpnoise.mechanisms.request import Request
    from dpnoise.mechanisms.vector_noise import VectorNoise
    from dpnoise.privacy.odometer.ledger import Ledger
    from dpnoise.sensitivity.base import Sensitivity

LEVEL = 0.95
_HEADER = ("mechanism", "std", "mean |error|", "95 % within", "variance", "/ floor", "delta", "by")


_COLUMNS = ("std", "mean_abs", "half_width", "variance", "floor", "ratio", "delta", "reference")
_FEW = 50  # coordinates that are drawn as points


def _frame(rows: tuple[Mechanism, ...]) -> Any:  # noqa: ANN401  (of pandas)
    """Mechanisms as a data frame."""
    columns = {name: [getattr(row, name) for row in rows] for name in _COLUMNS}
    return data_frame(columns, [row.name for row in rows], "mechanism")


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(EqualByValue):
    """One mechanism for a sensitivity set at a budget, with what is known about its error.

    An error in the singular is a number, in the plural an array of shape (K,), one number for each
    coordinate. The number is the mean over all K coordinates with the weights of the request, as in
    the floor; `std` is the root of the mean variance. Mechanisms are equal if they are of the same
    name for the same request with the same noise.

    Attributes
    ----------
    name : str
        Of the mechanism.
    noise : object
        The noise to add, with `rvs(size, random_state)` of shape (*size, K).
    delta : float
        Proved upper bound on its delta at the epsilon of the request, for the whole vector.
    reference : str
        Where the mechanism is published.
    request : Request
        The set, the budget and the error.
    left_out : dict of str
        From `best`: mechanisms that were not tried and may be better, with the reason.
    """

    name: str
    noise: VectorNoise
    delta: float
    reference: str
    request: Request
    left_out: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def sensitivity(self) -> Sensitivity:
        """The set of differences between neighbouring answers that was asked for."""
        return self.request.sensitivity

    @property
    def relation(self) -> str | None:
        """Which data sets are neighbours; None if the set does not state it."""
        return self.sensitivity.relation

    @property
    def epsilon(self) -> float:
        """The epsilon that was asked for."""
        return self.request.epsilon

    @property
    def promise(self) -> str:
        """The guarantee in one sentence; it says so if the set states no relation."""
        return self.sensitivity.promise(self.epsilon, self.delta)

    def spending(self) -> Ledger:
        """What one release costs a `Budget`: by the account of the noise, and as certified."""
        return spending_of(self.noise, self.sensitivity, self.epsilon, self.delta)

    @cached_property
    def variances(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.noise.var()

    @property
    def variance(self) -> float:
        """The mean of the variances."""
        return self.request.mean(self.variances)

    @property
    def stds(self) -> Array:
        """The standard deviation of each coordinate, shape (K,)."""
        return np.sqrt(self.variances)

    @property
    def std(self) -> float:
        """The root of the mean variance."""
        return math.sqrt(self.variance)

    @cached_property
    def _marginals(self) -> tuple[Array, Array]:
        """E|X_i| and half-width of each coordinate."""
        return marginals(self.noise, LEVEL)

    @property
    def mean_abs_values(self) -> Array:
        """E|X_i| of each coordinate, shape (K,)."""
        return self._marginals[0]

    @property
    def mean_abs(self) -> float:
        """The mean of E|X_i|."""
        return self.request.mean(self.mean_abs_values)

    @property
    def half_widths(self) -> Array:
        """The h_i with P(|X_i| <= h_i) = 0.95, coordinate by coordinate, shape (K,).

        For joint noise estimated to about 0.5 %. All K intervals together hold less often.
        """
        return self._marginals[1]

    @property
    def half_width(self) -> float:
        """The mean of the half-widths."""
        return self.request.mean(self.half_widths)

    @property
    def error(self) -> float:
        """The error that the request asks to be small."""
        errors = {"mean-abs": "mean_abs", "half-width": "half_width"}
        return float(getattr(self, errors.get(self.request.error, "variance")))

    @property
    def floor(self) -> float:
        """Proved lower bound on the mean variance of any additive noise for the same request.

        For integers it is one on the mean squared error of any noise on the integers.
        """
        return self.request.floor

    @property
    def ratio(self) -> float:
        """The mean variance over the floor."""
        return self.variance / self.floor if self.floor > 0.0 else math.inf

    @property
    def has_sampler(self) -> bool:
        """Whether `noise` can be drawn from."""
        return hasattr(self.noise, "rvs")

    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        numbers = (self.std, self.mean_abs, self.half_width, self.variance, self.ratio)
        return (self.name, *(f"{x:.4g}" for x in numbers), f"{self.delta:.3g}", self.reference)

    def __repr__(self) -> str:
        """The mechanism in one line."""
        return (
            f"<{self.name}: standard deviation {self.std:.4g}, certified for {self.promise}; "
            f"{self.noise!r}>"
        )

    def _repr_html_(self) -> str:
        """The mechanism for notebooks."""
        numbers = zip(_HEADER[1:], self.cells()[1:], strict=True)
        rows = [*numbers, ("noise", repr(self.noise)), ("promise", self.promise)]
        return html_table(self.name, (), rows)

    def to_frame(self) -> Any:  # noqa: ANN401  (of pandas)
        """Errors, floor, delta and reference as a row, of the same columns as a comparison's.

        Returns
        -------
        pandas.DataFrame
            With one row, whose index is the name of the mechanism.

        Raises
        ------
        ModuleNotFoundError
            Without pandas.

        Examples
        --------
        >>> from dpnoise import best
        >>> found = best([1.0, 0.5], epsilon=1.0)
        >>> bool(found.to_frame()["variance"].item() == found.variance)
        True
        """
        return _frame((self,))

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401  (Matplotlib is not imported)
        """Standard deviation and 95 % half-width of each coordinate, with the floor.

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
        >>> from dpnoise import best
        >>> best([1.0, 0.5], epsilon=1.0).plot(Figure().subplots()).get_xlabel()
        'coordinate'
        """
        ax = axes_or_new(ax)
        K = self.request.dimension
        style = "o" if K <= _FEW else "-"
        places = np.arange(1, K + 1)
        ax.plot(places, self.half_widths, style, color="0.7", label="95 % within")
        ax.plot(places, self.stds, style, color="k", label="standard deviation")
        ax.axhline(math.sqrt(self.floor), color="k", linestyle="--", label="floor of the mean")
        ax.set_ylim(bottom=0.0)
        ax.set(xlabel="coordinate", ylabel="noise", title=self.name)
        ax.legend()
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(EqualByValue):
    """Mechanisms for one request, best first; its `repr` is the table.

    Attributes
    ----------
    rows : tuple of Mechanism
        The mechanisms that apply.
    left_out : dict of str
        Why a mechanism that applies is not among them, by its name.
    request : Request
        What was asked.
    """

    rows: tuple[Mechanism, ...]
    left_out: dict[str, str] = field(compare=False)
    request: Request

    def __iter__(self) -> Iterator[Mechanism]:
        """The rows, best first."""
        return iter(self.rows)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Mechanism:
        """A row by its place or by the name of its mechanism."""
        if isinstance(key, str):
            found = [row for row in self.rows if row.name == key]
            if not found:
                names = ", ".join(row.name for row in self.rows)
                message = f"comparison: name: expected one of {names}, got {key!r}"
                raise KeyError(message)
            return found[0]
        return self.rows[key]

    def __repr__(self) -> str:
        """The table as plain text."""
        lines = [_HEADER, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [self._title()]
        for cells in lines:
            first, *middle, last = cells
            inner = [cell.rjust(n) for cell, n in zip(middle, widths[1:-1], strict=True)]
            text.append("  ".join([first.ljust(widths[0]), *inner, last]))
        return "\n".join([*text, *self._notes()])

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        rows = [row.cells() for row in self.rows]
        return html_table(self._title(), _HEADER, rows, self._notes())

    def _title(self) -> str:
        """What was asked, and what the numbers are."""
        request = self.request
        budget = f"epsilon = {request.epsilon:g}, delta = {request.delta:g}"
        return f"K = {request.dimension}, {budget}: best {request.error} first; errors are means"

    def _notes(self) -> list[str]:
        """What stands below the table."""
        notes = [
            f"floor: {self.request.floor_words} {self.floor:.4g}",
            f"promise: {self.promise}",
        ]
        for reason in dict.fromkeys(self.left_out.values()):
            names = ", ".join(name for name, why in self.left_out.items() if why == reason)
            notes.append(f"left out: {names} ({reason})")
        return notes

    @property
    def promise(self) -> str:
        """The budget that every row keeps, in one sentence, with the relation of the set."""
        return self.request.sensitivity.promise(self.request.epsilon, self.request.delta)

    @property
    def floor(self) -> float:
        """Proved lower bound on the mean variance of any additive noise."""
        return self.request.floor

    def to_frame(self) -> Any:  # noqa: ANN401  (of pandas)
        """Errors, floor, delta and reference by the name of the mechanism.

        Returns
        -------
        pandas.DataFrame
            A row for each mechanism, best first; the errors are means over the coordinates.

        Raises
        ------
        ModuleNotFoundError
            Without pandas.

        Examples
        --------
        >>> from dpnoise import compare
        >>> table = compare([1.0, 0.5], epsilon=1.0, exhaustive=False).to_frame()
        >>> bool(table.loc["Laplace", "std"] ** 2 >= table["floor"].iloc[0])
        True
        """
        return _frame(self.rows)

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401  (Matplotlib is not imported)
        """Standard deviations as bars, with the floor.

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
        >>> from dpnoise import compare
        >>> table = compare([1.0, 0.5], epsilon=1.0, exhaustive=False)
        >>> table.plot(Figure().subplots()).get_xlabel()
        'standard deviation'
        """
        ax = axes_or_new(ax)
        rows = self.rows[::-1]
        ax.barh([row.name for row in rows], [row.std for row in rows], color="0.7")
        ax.axvline(math.sqrt(self.floor), color="k", linestyle="--", label="floor")
        ax.set_xlabel("standard deviation")
        ax.legend()
        return ax
