"""Mechanisms side by side, best first, as rows, as text and as a plot.

**Errors.** Half-widths of joint noise are estimated from a sample with a fixed seed, `DRAWS` values
for each kind of coordinate: to about 0.5 %. So are largest errors of blocks, of noise on the
integers and in the norms of other sets than boxes, l1 and l2 balls, ellipsoids and 'at most m
counts', and norms of noise that was made for another norm. All else has closed forms, or is one
integral.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._results import EqualByValue, axes_or_new, data_frame, html_table
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import JointNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise, IntegerVector, RoundedNoise
from dpnoise.mechanisms.request import coordinate_kinds
from dpnoise.privacy.odometer.releases import spending_of
from dpnoise.sensitivity.base import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpnoise._types import Array
    from dpnoise.mechanisms.noise import VectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.privacy.odometer.ledger import Ledger

LEVEL = 0.95
OPTIMAL = 1e-4  # relative, of an error over its floor: what counts as equal
_HEADER = ("mechanism", "std", "mean |error|", "95 % within", "variance", "/ floor", "delta", "by")

_COLUMNS = ("std", "mean_abs", "half_width", "variance", "floor", "ratio", "delta", "reference")
# What each error is called as an attribute and in tables, the last two only where asked for.
_ATTRIBUTES = {
    "variance": "variance",
    "mean-abs": "mean_abs",
    "half-width": "half_width",
    "max": "mean_largest",
    "norm": "mean_norm",
}
_ASKED = {"max": "largest", "norm": "norm"}
_FEW = 50  # coordinates that are drawn as points


def _header(request: Request) -> tuple[str, ...]:
    """The names of the columns, with the error that was asked for."""
    asked = (_ASKED[request.error],) if request.error in _ASKED else ()
    return (_HEADER[0], *asked, *_HEADER[1:])


def _frame(rows: tuple[Mechanism, ...]) -> Any:  # noqa: ANN401  (of pandas)
    """Mechanisms as a data frame."""
    error = rows[0].request.error
    asked = (_ATTRIBUTES[error],) if error in _ASKED else ()
    columns = {name: [getattr(row, name) for row in rows] for name in (*asked, *_COLUMNS)}
    return data_frame(columns, [row.name for row in rows], "mechanism")


DRAWS = 2**18
_SEED = 20231
_MOST_ENTRIES = 2**23  # of one sample


def _half_width(noise: JointNoise, level: float) -> Array:
    """The quantile of |X_i| at a level."""
    sigma = np.sqrt(noise.var())
    kinds = np.where(sigma > 0.0, coordinate_kinds(noise.ball), -1)
    width = np.zeros(sigma.size)
    fewest = min(int(np.sum(kinds == kind)) for kind in set(kinds.tolist()) - {-1})
    rows = min(-(-DRAWS // fewest), max(_MOST_ENTRIES // noise.dimension, 2**8))
    x = np.abs(noise.rvs(rows, _SEED))
    for kind in set(kinds.tolist()) - {-1}:
        some = np.flatnonzero(kinds == kind)
        ratio = x[:, some] / sigma[some]
        width[some] = sigma[some] * float(np.quantile(ratio, level))
    return width


def _rows(noise: VectorNoise | Sensitivity, entry: Callable[[Array], Array]) -> float:
    """The mean of a number of each vector, from a sample: of noise, or uniform in a set."""
    K = noise.dimension
    rows = min(DRAWS, max(_MOST_ENTRIES // K, 2**8))
    draw = noise.sample if isinstance(noise, Sensitivity) else noise.rvs
    total = 0.0
    step = max(1, _MOST_ENTRIES // K)
    for first in range(0, rows, step):
        some = min(step, rows - first)
        total += float(np.sum(entry(np.asarray(draw(some, _SEED + first), dtype=float))))
    return total / rows


def mean_largest(noise: VectorNoise, weights: Array) -> float:
    """E max w_i |X_i|."""
    known = getattr(noise, "mean_largest", None)
    exact = known(weights) if known else None
    if exact is not None:
        return float(exact)

    def largest(x: Array) -> Array:
        return np.asarray(np.max(weights * np.abs(x), axis=-1))

    if isinstance(noise, JointNoise):  # one factor for all noise in the same norm
        return noise.layer_moment(1) * _rows(noise.ball, largest)
    return _rows(noise, largest)


def mean_norm(noise: VectorNoise, ball: Sensitivity) -> float:
    """The mean of the norm whose unit ball is the set; exact for noise in that norm."""
    if isinstance(noise, JointNoise) and noise.ball == ball.geometry:
        return noise.mean_norm()
    norm = ball.plain.coordinate_norm
    if norm and norm[0] == "largest":
        return mean_largest(noise, norm[1])
    if norm:
        return float(np.sum(norm[1] * marginals(noise)[0]))
    if isinstance(noise, JointNoise):
        return noise.layer_moment(1) * _rows(noise.ball, ball.norm)
    return _rows(noise, ball.norm)


def marginals(noise: VectorNoise, level: float = 0.95) -> tuple[Array, Array]:
    """E|X_i| and the h_i with P(|X_i| <= h_i) = level, each of shape (K,).

    Of rounded noise E|X_i| is that before rounding, which rounding lowers a little (a sum of a
    convex tail at midpoints is below its integral).
    """
    if isinstance(noise, IndependentNoise | CorrelatedGaussian):
        return noise.mean_abs(), noise.half_width(level)
    if isinstance(noise, JointNoise):
        return noise.mean_abs(), _half_width(noise, level)
    if isinstance(noise, BlockNoise):
        mean = np.zeros(noise.dimension)
        width = np.zeros(noise.dimension)
        for indices, part in noise.blocks:
            mean[indices], width[indices] = marginals(part, level)
        return mean, width
    if isinstance(noise, IntegerVector):
        return noise.mean_abs(), noise.half_width(level)
    if isinstance(noise, RoundedNoise):  # |Z| <= k + 1/2 rounds to at most k
        mean, width = marginals(noise.real, level)
        return mean, np.maximum(np.ceil(width - 0.5), 0.0)
    message = f"marginals: expected noise of vectors, got {noise!r}"
    raise TypeError(message)


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

    @cached_property
    def mean_largest(self) -> float:
        """E max w_i |X_i|, the expected largest error; the largest weight counts as 1.

        Of blocks, of integers and in norms without a formula estimated to about 0.5 %.
        """
        return mean_largest(self.noise, self.request.weights)

    @cached_property
    def mean_norm(self) -> float:
        """The expected norm of the noise, the set being its unit ball.

        Of noise made for another norm estimated to about 0.5 %, where there is no formula.
        """
        return mean_norm(self.noise, self.sensitivity)

    @property
    def error(self) -> float:
        """The error that the request asks to be small."""
        return float(getattr(self, _ATTRIBUTES[self.request.error]))

    @property
    def floor(self) -> float:
        """Proved lower bound on the error of any additive noise for the same request.

        It is about the error that was asked for, and about the mean variance where that is the
        half-width. For integers it is one on the error of any noise on the integers.
        """
        return self.request.floor

    @property
    def ratio(self) -> float:
        """The error that the floor is about over the floor: 1 if no noise can do better."""
        error = float(getattr(self, _ATTRIBUTES[self.request.bounded]))
        return error / self.floor if self.floor > 0.0 else math.inf

    @property
    def optimal(self) -> bool:
        """Whether no additive noise has an error smaller by more than 1e-4 of it, proved."""
        return self.request.bounded == self.request.error and self.ratio <= 1.0 + OPTIMAL

    @property
    def has_sampler(self) -> bool:
        """Whether `noise` can be drawn from."""
        return hasattr(self.noise, "rvs")

    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        numbers = (self.std, self.mean_abs, self.half_width, self.variance, self.ratio)
        asked = (self.error,) if self.request.error in _ASKED else ()
        shown = (f"{x:.4g}" for x in (*asked, *numbers))
        return (self.name, *shown, f"{self.delta:.3g}", self.reference)

    def __repr__(self) -> str:
        """The mechanism in one line."""
        name = f"{self.name}, optimal" if self.optimal else self.name
        return (
            f"<{name}: standard deviation {self.std:.4g}, certified for {self.promise}; "
            f"{self.noise!r}>"
        )

    def _repr_html_(self) -> str:
        """The mechanism for notebooks."""
        numbers = zip(_header(self.request)[1:], self.cells()[1:], strict=True)
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
        if self.request.bounded == "variance":
            floor = math.sqrt(self.floor)
            ax.axhline(floor, color="k", linestyle="--", label="floor of the mean")
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
        lines = [_header(self.request), *(row.cells() for row in self.rows)]
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
        return html_table(self._title(), _header(self.request), rows, self._notes())

    def _title(self) -> str:
        """What was asked, and what the numbers are."""
        request = self.request
        budget = f"epsilon = {request.epsilon:g}, delta = {request.delta:g}"
        return f"K = {request.dimension}, {budget}: best {request.error} first; errors are means"

    def _notes(self) -> list[str]:
        """What stands below the table."""
        best = ": the first row is optimal" if self.rows[0].optimal else ""
        notes = [
            f"floor: {self.request.floor_words} {self.floor:.4g}{best}",
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
        """Proved lower bound on the error of any additive noise, as of the rows."""
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
        """Standard deviations as bars, with the root of the floor of the mean variance.

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
        if self.request.bounded == "variance":
            label = "root of the floor of the mean variance"
            ax.axvline(math.sqrt(self.floor), color="k", linestyle="--", label=label)
        ax.set_xlabel("standard deviation")
        ax.legend()
        return ax
