"""Mechanisms side by side, best first, as rows, as text and as a plot."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

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


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One mechanism for a sensitivity set at a budget, with what is known about its error.

    Errors without a coordinate are means over all K coordinates, with the weights of the request.

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
    left_out: dict[str, str] = field(default_factory=dict)

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
    def variance(self) -> float | Array:
        """The variance per coordinate: a number if all are equal, else of shape (K,)."""
        values = self.variances
        return float(values[0]) if np.all(values == values[0]) else values

    @property
    def mean_variance(self) -> float:
        """The mean of the variances."""
        return self.request.mean(self.variances)

    @property
    def std(self) -> float:
        """The root of the mean variance."""
        return math.sqrt(self.mean_variance)

    @cached_property
    def _marginals(self) -> tuple[Array, Array]:
        """E|X_i| and half-width of each coordinate."""
        return marginals(self.noise, LEVEL)

    @property
    def mean_abs(self) -> float:
        """The mean of E|X_i|."""
        return self.request.mean(self._marginals[0])

    @property
    def half_width(self) -> float:
        """The mean of the h_i with P(|X_i| <= h_i) = 0.95, coordinate by coordinate.

        For joint noise estimated to about 0.5 %. All K intervals together hold less often.
        """
        return self.request.mean(self._marginals[1])

    @property
    def error(self) -> float:
        """The error that the request asks to be small."""
        errors = {"mean-abs": "mean_abs", "half-width": "half_width"}
        return float(getattr(self, errors.get(self.request.error, "mean_variance")))

    @property
    def floor(self) -> float:
        """Proved lower bound on the mean variance of any additive noise for the same request."""
        return self.request.floor

    @property
    def ratio(self) -> float:
        """The mean variance over the floor."""
        return self.mean_variance / self.floor if self.floor > 0.0 else math.inf

    @property
    def has_sampler(self) -> bool:
        """Whether `noise` can be drawn from."""
        return hasattr(self.noise, "rvs")

    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        numbers = (self.std, self.mean_abs, self.half_width, self.mean_variance, self.ratio)
        return (self.name, *(f"{x:.4g}" for x in numbers), f"{self.delta:.3g}", self.reference)

    def __repr__(self) -> str:
        """The mechanism in one line."""
        return (
            f"<{self.name}: standard deviation {self.std:.4g}, certified for {self.promise}; "
            f"{self.noise!r}>"
        )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Mechanisms for one request, best first.

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
    left_out: dict[str, str]
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

    def __str__(self) -> str:
        """The table as plain text."""
        request = self.request
        lines = [_HEADER, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        budget = f"epsilon = {request.epsilon:g}, delta = {request.delta:g}"
        text = [f"K = {request.dimension}, {budget}: best {request.error} first; errors are means"]
        for cells in lines:
            first, *middle, last = cells
            inner = [cell.rjust(n) for cell, n in zip(middle, widths[1:-1], strict=True)]
            text.append("  ".join([first.ljust(widths[0]), *inner, last]))
        text.append(f"floor: no noise for this set has a mean variance below {self.floor:.4g}")
        text.append(f"promise: {self.promise}")
        reasons = list(dict.fromkeys(self.left_out.values()))
        for reason in reasons:
            names = ", ".join(name for name, why in self.left_out.items() if why == reason)
            text.append(f"left out: {names} ({reason})")
        return "\n".join(text)

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        return f"<pre>{html.escape(str(self))}</pre>"

    @property
    def promise(self) -> str:
        """The budget that every row keeps, in one sentence, with the relation of the set."""
        return self.request.sensitivity.promise(self.request.epsilon, self.request.delta)

    @property
    def floor(self) -> float:
        """Proved lower bound on the mean variance of any additive noise."""
        return self.request.floor

    def plot(self, ax: Any) -> None:  # noqa: ANN401  (Matplotlib is not imported)
        """Standard deviations as bars, with the floor, on Matplotlib axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
            Where to draw.
        """
        rows = self.rows[::-1]
        ax.barh([row.name for row in rows], [row.std for row in rows], color="0.7")
        ax.axvline(math.sqrt(self.floor), color="k", linestyle="--", label="floor")
        ax.set_xlabel("standard deviation")
        ax.legend()
