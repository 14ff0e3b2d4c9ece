"""Settings of balle-wang-2018, one field for each section of config.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dpnoise_papers.settings import (
    DeltaGrid,
    DeltaOrZero,
    Deltas,
    Distinct,
    Grid,
    Section,
    Seeded,
    within,
)

# The largest tables and arrays that fit into the memory of a job.
_MAXIMUM_POINTS = 1_000_000
_MAXIMUM_NUMBERS = 50_000_000

# Where calibration to several coordinates and the denoisers have finite answers.
ReleaseEpsilon = Annotated[float, Field(ge=1e-3, le=100)]
ReleaseDelta = Annotated[float, Field(ge=1e-100, lt=1)]
Gains = Distinct[Annotated[float, Field(gt=1, le=1e300)]]
UnitSensitivity = Annotated[float, Field(ge=1e-6, le=1e6)]
Repetitions = Annotated[int, Field(ge=2, le=1_000_000)]
HourOfDay = Annotated[int, Field(ge=0, le=23)]
Denoising = Literal[
    "classical",
    "analytic",
    "flat",
    "james-stein",
    "james-stein-positive",
    "soft-threshold",
    "wavelets",
    "trend-filtering-0",
    "trend-filtering-1",
    "trend-filtering-2",
]


class GainByEpsilon(Section):
    """Both standard deviations over a grid of epsilon, for some deltas."""

    epsilons: Annotated[Grid, within(1e-100, 1)]
    deltas: Deltas
    sensitivity: UnitSensitivity


class GainByDelta(Section):
    """Both standard deviations over a grid of delta, for some epsilons.

    The classical mechanism is for epsilon < 1, and the end of that range is its limit.
    """

    epsilons: Distinct[Annotated[float, Field(ge=1e-100, le=1)]]
    deltas: DeltaGrid
    sensitivity: UnitSensitivity


class Algorithm1(Section):
    """Algorithm 1 as published; `tolerance` is where its bisection stops."""

    epsilons: Annotated[Grid, within(1e-12, 1e4)]  # below, its sigma is 0
    deltas: DeltaGrid
    tolerance: Annotated[float, Field(gt=0, le=0.01)]

    @model_validator(mode="after")
    def _fits_into_memory(self) -> Algorithm1:
        points = self.epsilons.count * self.deltas.count
        if points > _MAXIMUM_POINTS:
            raise ValueError(f"expected at most {_MAXIMUM_POINTS} pairs of the grids, got {points}")
        return self


class Algorithm1Sizes(Section):
    """Excesses of the true delta over the one asked for, as ratios, counted from some delta on."""

    excesses: Gains
    minimum_deltas: Distinct[DeltaOrZero]


class Releases(Seeded):
    """Vectors released by every mechanism.

    Attributes
    ----------
    epsilons : tuple of float
        The classical Gaussian mechanism is a formula without a theorem at epsilon >= 1.
    samples : int
        Data points per data set, n.
    repetitions : int
        Data sets per dimension at least.
    draws : int
        Coordinates that are drawn of each noise at least: a small dimension d has draws / d
        data sets, so that its errors are as clear as those of a large one.
    dimensions : tuple of int
        Each at least 3, for James-Stein.
    """

    epsilons: Distinct[ReleaseEpsilon]
    delta: ReleaseDelta
    samples: Annotated[int, Field(ge=1, le=1_000_000)]
    repetitions: Repetitions
    draws: Annotated[int, Field(ge=0, le=10_000_000)]
    dimensions: Distinct[Annotated[int, Field(ge=3, le=100_000)]]

    @model_validator(mode="after")
    def _fits_into_memory(self) -> Releases:
        numbers = max(self.samples, self.repetitions) * max(self.dimensions)
        if numbers > _MAXIMUM_NUMBERS:
            raise ValueError(
                f"expected at most {_MAXIMUM_NUMBERS} numbers (samples or repetitions times the "
                f"largest dimension), got {numbers}"
            )
        return self

    def data_sets(self, dimension: int) -> int:
        """Return how many data sets a dimension has."""
        return max(self.repetitions, -(-self.draws // dimension))


class CityCounts(Section):
    """Counts of taxi events at the junctions of a city.

    Attributes
    ----------
    events_per_cab : int
        Events that are kept of a cab in an hour: the l2 sensitivity of the counts.
    passengers_per_trip : float
        Turns the day's totals, which count passengers, into trips.
    """

    events_per_cab: Annotated[int, Field(ge=1, le=1_000_000)]
    passengers_per_trip: Annotated[float, Field(gt=0, le=1e3)]


class HeatMap(Seeded):
    """One map, released by every method; `repetitions` draws of the noise for its error."""

    hour: HourOfDay
    epsilon: ReleaseEpsilon
    delta: ReleaseDelta
    repetitions: Repetitions
    methods: Distinct[Denoising]

    @property
    def hours(self) -> tuple[int, ...]:
        """The hour, as a tuple."""
        return (self.hour,)


class HeatMapErrors(Seeded):
    """Errors of maps of some hours over epsilon."""

    hours: Distinct[HourOfDay]
    epsilons: Distinct[ReleaseEpsilon]
    delta: ReleaseDelta
    repetitions: Repetitions
    methods: Distinct[Denoising]


def named_hours(*sections: object) -> list[int]:
    """Hours of the day that some sections name, sorted."""
    return sorted({hour for one in sections for hour in getattr(one, "hours", ())})


class Theory(Seeded):
    """Random parameters for each statement; the slowest checks run a part of the trials."""

    trials: Annotated[int, Field(ge=20, le=20_000)]


class Settings(Section):
    """All settings of the paper."""

    figure_1a: GainByEpsilon
    figure_1b: GainByEpsilon
    figure_3a: GainByDelta
    algorithm_1: Algorithm1
    algorithm_1_sizes: Algorithm1Sizes
    figure_1c: Releases
    figure_1d: Releases
    figure_3b: Releases
    figure_3c: Releases
    figure_4a: Releases
    figure_4b: Releases
    figure_4c: Releases
    figure_4d: Releases
    city: CityCounts
    figure_2: HeatMap
    figure_5: HeatMap
    figure_6: HeatMapErrors
    theory: Theory

    @property
    def hours(self) -> list[int]:
        """Hours of the day for which the city is prepared."""
        return named_hours(*(getattr(self, name) for name in type(self).model_fields))
