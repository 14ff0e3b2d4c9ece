"""Types of settings that the papers share.

The settings of a paper are the model `Settings` in its `settings.py`, one field for each section
of config.yaml. Models are closed (unknown keys are refused), frozen and strict (no text for a
number, no 5.0 for a whole number); their constraints are what the table functions need.
`dpnoise_papers.config` reads and validates them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from dpnoise_papers.strict_yaml import cut

if TYPE_CHECKING:
    from dpnoise._types import Array

T = TypeVar("T")

_SOURCES = {
    "src", "workflow", "tests", "docs", "published", "profiles", "benchmarks", "config", "papers",
}  # fmt: skip
_PART = re.compile(r"\w[\w .+=@,-]*")


class Section(BaseModel):
    """Base of all settings: closed, frozen and strict; lists are tuples."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _frozen(cls, given: Any) -> Any:  # noqa: ANN401
        return _tuples(given) if isinstance(given, dict) else given


class Seeded(Section):
    """Settings of what draws random numbers; the seed is that of the whole config."""

    seed: Annotated[int, Field(ge=0, lt=2**32)]


def _tuples(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _tuples(one) for key, one in value.items()}
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _folder(text: str) -> str:
    path = PurePosixPath(text)
    inside = not path.is_absolute() and not {"..", "~"} & set(path.parts) and path.parts
    if not inside or text.startswith("~") or "\\" in text or _is_source(path):
        raise ValueError("expected a relative folder below the repository, outside its sources")
    if not all(_PART.fullmatch(part) and part == part.strip() for part in path.parts):
        raise ValueError(
            "expected a folder below the repository that is not hidden, of letters, digits, spaces"
            " and _.+=@,-"
        )
    here, real = Path.cwd().resolve(), Path(path).resolve()
    if not real.is_relative_to(here):
        raise ValueError("expected a folder below the repository, not a link that leaves it")
    if real == here or _is_source(PurePosixPath(real.relative_to(here))):
        raise ValueError("expected a folder below the repository, not a link to its sources")
    for one in (path, *path.parents):
        if Path(one).exists() and not Path(one).is_dir():
            raise ValueError(f"expected a folder, but {one} is a file")
    return str(path)


def _is_source(path: PurePosixPath) -> bool:
    """Whether a relative path leads to sources, or to hidden files at the top."""
    first = path.parts[0].casefold()
    return first in _SOURCES or first.startswith(".")


def distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values that are all different (a validator: ValueError if one stands there twice)."""
    seen = set()
    for value in values:
        if value in seen:
            raise ValueError(f"expected different values, got {cut(value)!r} twice")
        seen.add(value)
    return values


Folder = Annotated[str, Field(min_length=1), AfterValidator(_folder)]
Positive = Annotated[float, Field(gt=0, le=1e300)]
NonNegative = Annotated[float, Field(ge=0, le=1e300)]
Share = Annotated[float, Field(gt=0, lt=1)]
Epsilon = Annotated[float, Field(gt=0, le=1e4)]
Delta = Annotated[float, Field(ge=1e-300, lt=1)]
DeltaOrZero = Annotated[float, Field(ge=0, lt=1)]
Sensitivity = Annotated[float, Field(ge=1e-100, le=1e100)]
Trials = Annotated[int, Field(ge=1, le=1_000_000)]
Points = Annotated[int, Field(ge=2, le=1_000_000)]
Dimension = Annotated[int, Field(ge=1, le=100_000)]
Distinct = Annotated[
    tuple[T, ...], Field(min_length=1, max_length=100_000), AfterValidator(distinct)
]
Epsilons = Distinct[Epsilon]
Deltas = Distinct[Delta]
Dimensions = Distinct[Dimension]


class Grid(Section):
    """A grid of `count` points from `low` to `high`, evenly spaced or evenly in the logarithm."""

    low: float
    high: float
    count: Annotated[int, Field(ge=2, le=100_000)]
    spacing: Literal["linear", "log"]

    @model_validator(mode="after")
    def _runs_upwards(self) -> Grid:
        if not self.low < self.high:
            raise ValueError(f"expected low < high, got {self.low:g} and {self.high:g}")
        if self.spacing == "log" and not self.low > 0:
            raise ValueError(f"expected low > 0 on a logarithmic grid, got {self.low:g}")
        return self


def values(grid: Grid | tuple[float, ...]) -> Array:
    """Points of a grid, from the lowest up; listed points stay as they are."""
    if isinstance(grid, tuple):
        return np.array(grid)
    spaced = np.geomspace if grid.spacing == "log" else np.linspace
    return spaced(grid.low, grid.high, grid.count)


def symmetric(half_width: float, points: int, marks: list[float]) -> Array:
    """Grid of `points` from minus to plus `half_width`, with marks of both signs where they lie
    inside.
    """
    inside = [mark for mark in marks if mark <= half_width]
    grid = np.linspace(-half_width, half_width, points)
    return np.union1d(grid, [*inside, *np.negative(inside)])


def within(low: float, high: float) -> AfterValidator:
    """Validator of grids whose points lie between `low` and `high`."""

    def check(grid: Grid) -> Grid:
        if not low <= grid.low <= grid.high <= high:
            got = f"{grid.low:g} to {grid.high:g}"
            raise ValueError(f"expected a grid between {low:g} and {high:g}, got {got}")
        return grid

    return AfterValidator(check)


EpsilonGrid = Annotated[Grid, within(1e-100, 1e4)]
DeltaGrid = Annotated[Grid, within(1e-300, math.nextafter(1.0, 0.0))]
