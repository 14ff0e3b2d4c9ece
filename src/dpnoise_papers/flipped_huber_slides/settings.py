"""Settings of flipped-huber-slides, one field for each section of config.yaml.

The slides present experiments of flipped-huber-2023, whose models are used here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from dpnoise_papers.flipped_huber_2023.settings import (
    Box,
    Densities,
    Family,
    FisherInformation,
    MinimumVariances,
    VectorVariances,
    within_reach,
)
from dpnoise_papers.settings import (
    Delta,
    Dimension,
    Distinct,
    Epsilon,
    Epsilons,
    Points,
    Section,
    Sensitivity,
)

_MAXIMUM_STEPS = 10_000  # of a staircase density


class HuberDensity(Section):
    """Huber's density, which turns from Gaussian to Laplace at `alpha`, on a symmetric grid."""

    alpha: Sensitivity
    half_width: Sensitivity
    points: Points


class HuberMass(Section):
    """Transitions for which the mass of Huber's density, as printed, is computed."""

    alphas: Distinct[Sensitivity]


class CalibratedDensities(Section):
    """Densities of each family's minimum-variance noise for one budget, on a symmetric grid.

    Attributes
    ----------
    dimension : int
        Coordinates, each with noise of its own.
    points : int
        Grid points; 0 and both sides of each jump of a density are added.
    """

    epsilon: Epsilon
    delta: Delta
    sensitivity: Sensitivity
    dimension: Dimension
    mechanisms: Distinct[Family]
    half_width: Sensitivity
    points: Points

    @model_validator(mode="after")
    def _within_reach(self) -> CalibratedDensities:
        within_reach((self.epsilon,), (self.delta,), (self.dimension,), self.mechanisms)
        if self.half_width > _MAXIMUM_STEPS * self.sensitivity:
            raise ValueError(f"expected half_width of at most {_MAXIMUM_STEPS:g} sensitivities")
        return self


class IllustrativeValues(Section):
    """Parameters of minimum variance at some epsilons, exactly and on the paper's grid.

    Attributes
    ----------
    box : ((float, float), (float, float))
        Ranges of alpha and gamma on the grid.
    resolution : (int, int)
        How many equidistant values of each.
    """

    delta: Delta
    sensitivity: Sensitivity
    epsilons: Epsilons
    box: Box
    resolution: tuple[
        Annotated[int, Field(ge=2, le=200_000)], Annotated[int, Field(ge=2, le=1_000_000)]
    ]

    @model_validator(mode="after")
    def _within_reach(self) -> IllustrativeValues:
        within_reach(self.epsilons, (self.delta,), (1,), ())
        return self


class Settings(Section):
    """All settings of the slides."""

    huber_density: HuberDensity
    huber_mass: HuberMass
    densities: Densities
    normalised_fisher_information: FisherInformation
    variances: MinimumVariances
    illustrative_values: IllustrativeValues
    densities_1d: CalibratedDensities
    densities_20d: CalibratedDensities
    variances_20d: VectorVariances
    curves_kd: VectorVariances
