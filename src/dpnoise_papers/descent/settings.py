"""Settings that the papers on private coordinate descent have in common."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, model_validator

from dpnoise_papers.data.registry import read_registry
from dpnoise_papers.settings import Grid, Section, within

MAXIMUM_RUNS = 5_000_000  # errors of one mechanism that are held in memory at once
_LOSSES = {"regression": "squared", "classification": "logistic"}


def _budget_delta(value: float | str) -> float | str:
    if value == "1/N^2" or (isinstance(value, float) and 1e-300 <= value < 1.0):
        return value
    raise ValueError("expected a number in [1e-300, 1) or the text 1/N^2")


def _strength(value: float | str) -> float | str:
    if value == "1/N" or (isinstance(value, float) and 0.0 <= value <= 1e10):
        return value
    raise ValueError("expected a number in [0, 1e10] or the text 1/N")


def _logarithmic(grid: Grid) -> Grid:
    if grid.spacing != "log":
        raise ValueError(f"expected spacing: log, got {grid.spacing}")
    if grid.count > 1000:
        raise ValueError(f"expected at most 1000 points, got {grid.count}")
    return grid


BudgetDelta = Annotated[float | str, AfterValidator(_budget_delta)]
Strength = Annotated[float, Field(ge=0, le=1e10)]
StrengthBySize = Annotated[float | str, AfterValidator(_strength)]
SeveralTrials = Annotated[int, Field(ge=2, le=1000)]  # a standard error needs two
Passes = Annotated[int, Field(ge=1, le=10_000)]
SearchGrid = Annotated[Grid, within(1e-30, 1e30), AfterValidator(_logarithmic)]


class Objective(Section):
    """Loss and penalty of one data set; the strength of the penalty is added by each paper."""

    loss: Literal["squared", "logistic"]
    penalty: Literal["none", "l1", "l2"]


class Penalised(Objective):
    """An objective with the strength of its penalty, lambda."""

    strength: Strength

    @model_validator(mode="after")
    def _strength_needs_a_penalty(self) -> Penalised:
        if self.penalty == "none" and self.strength > 0:
            raise ValueError(f"expected strength 0 without a penalty, got {self.strength:g}")
        return self


_Task = TypeVar("_Task", bound=Objective)


@cache
def _kinds() -> dict[str, str]:
    """Name of each registered data set and what it is for."""
    return {name: entry.task for name, entry in read_registry().sets.items()}


def _registered(tasks: dict[str, _Task]) -> dict[str, _Task]:
    for name, task in tasks.items():
        if name not in _kinds():
            raise ValueError(f"expected names of data/registry.yaml or of `data add`, got {name!r}")
        kind = _kinds()[name]
        if task.loss != _LOSSES[kind]:
            expected = f"the {_LOSSES[kind]} loss, for {kind}"
            raise ValueError(f"{name}: expected {expected}, got {task.loss}")
        if task.loss == "logistic" and task.penalty == "l1":  # of which no optimum is known
            raise ValueError(f"{name}: expected the penalty none or l2 for labels, got l1")
    return tasks


Registered = AfterValidator(_registered)  # a loss that fits each data set of the registry
