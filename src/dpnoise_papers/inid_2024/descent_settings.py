"""Settings of Figures 5 and 6 of inid-2024 and of what varies them: coordinate descent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from dpnoise_papers.descent.settings import (
    BudgetDelta,
    Objective,
    Passes,
    Registered,
    SearchGrid,
    SeveralTrials,
    StrengthBySize,
)
from dpnoise_papers.settings import Distinct, Epsilon, Grid, Section, Seeded, within

Features = Literal["raw", "standardise"]
DATASETS = {"california", "electricity"}  # of Figure 5 and of Figure 6
_MAXIMUM_AT_ONCE = 2000  # descents with one step; each fits all samples of a data set


def _odd(points: int) -> int:
    if points % 2 == 0:
        raise ValueError("expected an odd number, so that the best of the coarse grid is tried")
    return points


def _with_cyclic(orders: tuple[str, ...]) -> tuple[str, ...]:
    if "cyclic" not in orders:
        raise ValueError("expected cyclic among them, which Figures 5 and 6 show")
    return orders


Refine = Annotated[int, Field(ge=1, le=101), AfterValidator(_odd)]
Exponent = Annotated[float, Field(ge=-10, le=10)]
ExponentGrid = Annotated[Grid, within(-10.0, 10.0)]


class StrengthByFeatures(Section):
    """Strength of the penalty for each way of scaling the features; '1/N' for N samples."""

    raw: StrengthBySize
    standardise: StrengthBySize


class ScaledTask(Objective):
    """An objective for raw and for standardised features."""

    strength: StrengthByFeatures


class ImprovedDescent(Seeded):
    """Coordinate descent with noise by coordinate, against passes.

    Attributes
    ----------
    epsilon, delta : float
        The budget; delta may be '1/N^2' for N samples.
    features : tuple of str
        Ways of scaling them.
    orders : tuple of str
        Of the coordinates in a pass; 'permuted' for the longest run only.
    passes : tuple of int
        Each with a run of its own, whose noise pays for so many passes.
    curve : tuple of int
        After which passes the longest run is looked at.
    trials : int
        On which step and clipping constant are chosen.
    coarse_trials : int
        How many of them the coarse grid is run on.
    evaluate : int
        Fresh trials, on which nothing was chosen.
    steps, clips : Grid
        The coarse grid.
    refine : int
        Points per axis between the neighbours of the best of the coarse grid.
    tasks : dict
        What is learned from each data set.
    """

    epsilon: Epsilon
    delta: BudgetDelta
    features: Distinct[Features]
    orders: Annotated[Distinct[Literal["cyclic", "permuted"]], AfterValidator(_with_cyclic)]
    passes: Distinct[Passes]
    curve: Distinct[Passes]
    trials: SeveralTrials
    coarse_trials: Annotated[int, Field(ge=1)]
    evaluate: SeveralTrials
    steps: SearchGrid
    clips: SearchGrid
    refine: Refine
    tasks: Annotated[dict[str, ScaledTask], Field(min_length=1), Registered]

    @model_validator(mode="after")
    def _trials_suffice(self) -> ImprovedDescent:
        if self.coarse_trials > self.trials:
            got = f"{self.coarse_trials} > {self.trials}"
            raise ValueError(f"expected coarse_trials <= trials, got {got}")
        at_once = max(self.clips.count * self.coarse_trials, self.refine * self.trials)
        if at_once > _MAXIMUM_AT_ONCE:
            expected = f"at most {_MAXIMUM_AT_ONCE} (points of the grid of clips times trials)"
            raise ValueError(f"expected {expected}, got {at_once}")
        return self


class DescentVariants(Section):
    """Losses and errors of noise for other weights, and of variants of the noise.

    Attributes
    ----------
    exponents : Grid
        a of the loss sum M_i^a sigma_i^2.
    clip_exponents : Grid
        c of clipping levels C_i proportional to M_i^c.
    measured : tuple of float
        The a for which the descent is run with noise that is optimal for weights M_i^a.
    """

    exponents: ExponentGrid
    clip_exponents: ExponentGrid
    measured: Distinct[Exponent]


class DescentOrders(Section):
    """Runs in many orders of the columns.

    Attributes
    ----------
    documented : dict
        By data set and name, the columns in a documented order.
    random : int
        How many random permutations follow.
    seen : tuple of int
        After which passes the run is looked at, beside its end.
    coarse_trials, refine : int
        Of a search that is finer than that of `ImprovedDescent`.
    keep : float
        The first order is searched on the whole coarse grid; a point of it is left out for the
        others if its error there exceeds this multiple of the smallest.
    audit : int
        How many of the last orders are searched on the whole coarse grid again.
    """

    documented: dict[str, dict[str, Distinct[Annotated[str, Field(min_length=1)]]]]
    random: Annotated[int, Field(ge=1, le=1000)]
    seen: Distinct[Passes]
    coarse_trials: Annotated[int, Field(ge=1)]
    refine: Refine
    keep: Annotated[float, Field(ge=1, le=1e10)]
    audit: Annotated[int, Field(ge=0, le=1000)]

    @model_validator(mode="after")
    def _orders_of_the_same_columns(self) -> DescentOrders:
        for dataset, orders in self.documented.items():
            if len({frozenset(columns) for columns in orders.values()}) > 1:
                names = ", ".join(orders)
                raise ValueError(f"expected the same columns of {dataset} in {names}")
        return self


def check_together(descent: ImprovedDescent, orders: DescentOrders) -> None:
    """Refusal of sections that do not fit each other, with ValueError."""
    for where, names in (
        ("improved_descent.tasks", set(descent.tasks)),
        ("descent_orders.documented", set(orders.documented) | DATASETS),
    ):
        if names != DATASETS:
            expected = " and ".join(sorted(DATASETS))
            raise ValueError(f"{where}: expected {expected}, got {', '.join(sorted(names))}")
    searched_in(descent, orders)


def searched_in(descent: ImprovedDescent, orders: DescentOrders) -> ImprovedDescent:
    """Settings with the finer search of the orders, refused if it has too many trials."""
    finer = {"coarse_trials": orders.coarse_trials, "refine": orders.refine}
    return ImprovedDescent.model_validate(dict(descent) | finer)
