"""Settings of inid-2024, one field for each section of config.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from dpnoise_papers.inid_2024.learning_settings import (
    DeepLearning,
    DescentOrders,
    Noise,
    Pca,
    PcaSensitivities,
    PrivateTraining,
)
from dpnoise_papers.settings import (
    Delta,
    Deltas,
    Dimension,
    Dimensions,
    Distinct,
    EpsilonGrid,
    Grid,
    Section,
    Seeded,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Container

ProfileName = Literal["uniform", "linear", "quadratic", "exponential", "one-hot"]
Profiles = Distinct[ProfileName]
Mechanism = tuple[Noise, Literal["iid", "spr", "optimal"]]
_LIST_OR_GRID = Discriminator(lambda given: "list" if isinstance(given, tuple) else "grid")
EpsilonsOrGrid = Annotated[
    Annotated[Distinct[Annotated[float, Field(ge=1e-100, le=1e4)]], Tag("list")]
    | Annotated[EpsilonGrid, Tag("grid")],
    _LIST_OR_GRID,
]
_DATASETS = {"california", "electricity"}  # of Figure 5 and of Figure 6
# The least sensitivity of an exponential profile is then 1e-100, the least that allocation takes.
_MAXIMUM_EXPONENTIAL = 230


def _exponential_at_most(limit: int, profiles: Container[str], dimensions: tuple[int, ...]) -> None:
    if "exponential" in profiles and max(dimensions) > limit:
        raise ValueError(f"expected at most {limit} dimensions of the exponential profile")


class Errors(Section):
    """Mean squared errors (Figures 1, 3 and 4).

    Attributes
    ----------
    mechanisms : tuple of (noise, scheme)
        Gaussian noise is (epsilon, delta)-DP, Laplace noise epsilon-DP.
    profiles : tuple of str
        Of the sensitivities.
    dimensions : tuple of int
        Numbers K of coordinates.
    delta : float, optional
        Of Gaussian noise; absent if there is none.
    norm : {1, 2}
        Which norm of the profile is 1.
    """

    mechanisms: Distinct[Mechanism]
    profiles: Profiles
    dimensions: Dimensions
    epsilons: EpsilonsOrGrid
    delta: Delta | None = None
    norm: Annotated[int, Field(ge=1, le=2)]

    @model_validator(mode="after")
    def _fit(self) -> Errors:
        gaussian = any(noise == "gaussian" for noise, _ in self.mechanisms)
        if gaussian != (self.delta is not None):
            raise ValueError("expected a delta if and only if there is Gaussian noise")
        _exponential_at_most(_MAXIMUM_EXPONENTIAL, self.profiles, self.dimensions)
        return self


class Dispersion(Section):
    """Gini coefficients of profiles of sensitivities (Figure 2)."""

    profiles: Profiles
    dimensions: Dimensions


class LaplaceOrGaussian(Section):
    """Dimensions from which Laplace noise loses; they are looked for up to `largest_dimension`."""

    profiles: Profiles
    epsilons: EpsilonsOrGrid
    deltas: Deltas
    largest_dimension: Annotated[int, Field(ge=1, le=1_000_000)]


class Formulas(Section):
    """Formulas of Table I; `delta` is that of Gaussian noise."""

    profiles: Profiles
    dimension: Dimension
    epsilon: Annotated[float, Field(ge=1e-100, le=1e3)]
    delta: Delta

    @model_validator(mode="after")
    def _fit(self) -> Formulas:
        _exponential_at_most(_MAXIMUM_EXPONENTIAL, self.profiles, (self.dimension,))
        return self


_PlaneEpsilon = Annotated[float, Field(ge=1e-6, le=100)]
_PlaneSensitivity = Annotated[float, Field(ge=1e-6, le=1e6)]


class TwoDimensions(Section):
    """Mean absolute errors for two coordinates (Table II)."""

    sensitivities: tuple[_PlaneSensitivity, _PlaneSensitivity]
    epsilons: Annotated[
        Annotated[Distinct[_PlaneEpsilon], Tag("list")]
        | Annotated[Grid, within(1e-6, 100), Tag("grid")],
        _LIST_OR_GRID,
    ]


class Bisection(Section):
    """Algorithm 1 over epsilon and delta.

    Attributes
    ----------
    odds : Grid
        Of delta / (1 - delta), so that the grid is fine at both ends of (0, 1).
    tolerance : float
        Where bisection stops: the length of the bracket, in units of mu; the paper names none.
    """

    epsilons: EpsilonGrid
    odds: Annotated[Grid, within(1e-299, 1e15)]
    tolerance: Annotated[float, Field(ge=1e-12, le=1)]

    @model_validator(mode="after")
    def _few(self) -> Bisection:
        if self.epsilons.count * self.odds.count > 1_000_000:
            raise ValueError("expected at most 1000000 pairs of epsilons and odds")
        return self


class ApproximateLaplace(Section):
    """Laplace noise with delta > 0 by Corollary 6 and exactly; `dimensions` by profile."""

    dimensions: Annotated[dict[ProfileName, Dimensions], Field(min_length=1)]
    epsilons: Distinct[Annotated[float, Field(ge=1e-3, le=50)]]
    deltas: Deltas

    @model_validator(mode="after")
    def _fit(self) -> ApproximateLaplace:
        # Beyond, the least sensitivities are too small for the exact account.
        _exponential_at_most(20, self.dimensions, self.dimensions.get("exponential", (1,)))
        return self


class Theorem7(Section):
    """Ratio of errors beside nu, the measure of Theorem 7.

    Attributes
    ----------
    dimensions : tuple of int
        Numbers K of coordinates of the linear, quadratic and exponential profiles.
    largest : int
        The number of coordinates of the other two kinds of profile.
    shares : tuple of float
        The part of equal coordinates among absent ones ('block'), and how small all
        sensitivities but one are ('outlier').
    """

    dimensions: Dimensions
    largest: Annotated[int, Field(ge=2, le=1_000_000)]
    shares: Distinct[Annotated[float, Field(gt=0, le=1)]]


class Theory(Seeded):
    """Checks of the statements; `trials` random parameters for each."""

    trials: Annotated[int, Field(ge=20, le=20_000)]


class Settings(Section):
    """All settings of the paper."""

    figure_1a: Errors
    figure_1b: Errors
    figure_2: Dispersion
    figure_3a: Errors
    figure_3b: Errors
    figure_4: Errors
    laplace_or_gaussian: LaplaceOrGaussian
    table_1: Formulas
    table_2: TwoDimensions
    table_2_curves: TwoDimensions
    algorithm_1: Bisection
    corollary_6: ApproximateLaplace
    theorem_7: Theorem7
    theory: Theory
    table_3: Pca
    dp_pca_sensitivities: PcaSensitivities
    table_4: DeepLearning
    table_4_digits: PrivateTraining
    table_4_cifar10: PrivateTraining
    descent_orders: DescentOrders

    @model_validator(mode="after")
    def _sections_fit(self) -> Settings:
        descent, expected = self.descent_orders, ", ".join(sorted(_DATASETS))
        for where, names in (
            ("tasks", set(descent.tasks)), ("documented", set(descent.documented) | _DATASETS)
        ):  # fmt: skip
            if names != _DATASETS:
                got = ", ".join(sorted(names))
                raise ValueError(f"descent_orders.{where}: expected {expected}, got {got}")
        return self
