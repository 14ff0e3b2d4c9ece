"""Settings of flipped-huber-2023, one field for each section of config.yaml.

What `dpnoise.calibration.calibrate` and the search in a box would refuse is refused here: a
method that a family does not have, a budget that is too small for it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3
from dpnoise_papers.settings import (
    Delta,
    DeltaGrid,
    Deltas,
    Dimension,
    Dimensions,
    Distinct,
    Epsilon,
    EpsilonGrid,
    Epsilons,
    Grid,
    NonNegative,
    Points,
    Positive,
    Section,
    Seeded,
    Sensitivity,
    Trials,
    within,
)

Rival = Literal[
    "gaussian", "laplace", "offset-symmetric-gaussian", "staircase", "truncated-laplace",
    "subbotin", "huber",
]  # fmt: skip
Family = Literal[Rival, "flipped-huber"]
Method = Literal["exact", "pure", "grid", "box", "sufficient", "sufficient-box"]
# The families that have a method; "exact" is for all. "pure" is epsilon-DP noise, delta = 0.
METHODS: dict[str, tuple[str, ...]] = {
    "pure": ("laplace", "staircase", "subbotin", "huber"),
    "grid": ("flipped-huber", "offset-symmetric-gaussian"),
    "box": ("flipped-huber", "offset-symmetric-gaussian"),
    "sufficient": ("flipped-huber",),
    "sufficient-box": ("flipped-huber",),
}
_MINIMUM_BUDGET = 1e-7  # of epsilon or delta for each coordinate
_MAXIMUM_STAIRCASE = 700.0  # of epsilon for each coordinate


def _offered(pair: tuple[str, str]) -> tuple[str, str]:
    family, method = pair
    if method != "exact" and family not in METHODS[method]:
        raise ValueError(f"expected for {method} one of {', '.join(METHODS[method])}")
    return pair


def _rises(ends: tuple[float, float]) -> tuple[float, float]:
    if not ends[0] < ends[1]:
        raise ValueError("expected (low, high) with low < high")
    return ends


def within_reach(
    epsilons: tuple[float, ...],
    deltas: tuple[float, ...],
    dimensions: tuple[int, ...],
    families: tuple[str, ...],
) -> None:
    """Refuse combinations of budgets, dimensions and families that `calibrate` refuses."""
    if max(min(epsilons), min(deltas)) < _MINIMUM_BUDGET * max(dimensions):
        expected = f"{_MINIMUM_BUDGET:g} times the dimension"
        raise ValueError(f"expected every epsilon, or every delta, of at least {expected}")
    if "staircase" in families and max(epsilons) > _MAXIMUM_STAIRCASE * min(dimensions):
        expected = f"{_MAXIMUM_STAIRCASE:g} times the dimension"
        raise ValueError(f"expected epsilons of at most {expected} for staircase noise")
    if "subbotin" in families and max(dimensions) > 1:
        raise ValueError("expected no subbotin noise in several dimensions")


Calibrated = Annotated[tuple[Family, Method], AfterValidator(_offered)]
Box = tuple[
    Annotated[tuple[Sensitivity, Sensitivity], AfterValidator(_rises)],
    Annotated[tuple[Sensitivity, Sensitivity], AfterValidator(_rises)],
]


class MinimumVariances(Section):
    """Minimum variances in one dimension against epsilon.

    Attributes
    ----------
    also : tuple of float
        Further epsilons, such as those of printed numbers.
    box : ((float, float), (float, float))
        What the methods 'box' and 'sufficient-box' search: the ranges of alpha or theta and of
        gamma or rho.
    mechanisms : tuple of (family, method)
        'exact' is unrestricted.
    """

    delta: Delta
    sensitivity: Sensitivity
    epsilons: EpsilonGrid
    also: Epsilons
    box: Box
    mechanisms: Distinct[Calibrated]

    @model_validator(mode="after")
    def _within_reach(self) -> MinimumVariances:
        if any(method == "pure" for _, method in self.mechanisms):
            raise ValueError("expected mechanisms that keep delta, got the method 'pure'")
        families = tuple(family for family, _ in self.mechanisms)
        ends = (self.epsilons.low, self.epsilons.high)
        within_reach((*ends, *self.also), (self.delta,), (1,), families)
        return self


class VarianceRatio(Section):
    """Variance of flipped Huber noise over that of the family `against`."""

    against: Rival
    sensitivity: Sensitivity
    epsilons: EpsilonGrid
    deltas: DeltaGrid

    @model_validator(mode="after")
    def _within_reach(self) -> VarianceRatio:
        deltas = (self.deltas.low, self.deltas.high)
        within_reach((self.epsilons.low, self.epsilons.high), deltas, (1,), (self.against,))
        return self


class VectorVariances(Section):
    """Minimum variances per coordinate in all combinations of dimension, delta and epsilon.

    Attributes
    ----------
    box : ((float, float), (float, float))
        What the methods 'box' and 'sufficient-box' search.
    mechanisms : tuple of (family, method)
        'pure' is (epsilon, 0)-DP noise.
    """

    dimensions: Dimensions
    deltas: Deltas
    epsilons: Epsilons
    box: Box
    mechanisms: Distinct[Calibrated]

    @model_validator(mode="after")
    def _within_reach(self) -> VectorVariances:
        families = tuple(family for family, _ in self.mechanisms)
        within_reach(self.epsilons, self.deltas, self.dimensions, families)
        return self


class Gain(Section):
    """Gain of flipped Huber noise by dimension, one curve for each budget (epsilon, delta)."""

    dimensions: Dimensions
    budgets: Distinct[tuple[Epsilon, Delta]]

    @model_validator(mode="after")
    def _within_reach(self) -> Gain:
        for epsilon, delta in self.budgets:
            within_reach((epsilon,), (delta,), self.dimensions, ())
        return self


class Remark(Section):
    """Budgets of one sentence of the paper: several epsilons at one delta."""

    epsilons: Epsilons
    delta: Delta

    @model_validator(mode="after")
    def _within_reach(self) -> Remark:
        within_reach(self.epsilons, (self.delta,), (1,), ())
        return self


class Limit(Section):
    """Minimum cost of any additive noise in one dimension, and mechanisms beside it.

    Attributes
    ----------
    epsilons, deltas : tuple of float
        Beyond epsilon = 8 the programs ask for too fine a lattice.
    costs : tuple of str
        Mechanisms have the minimum variance of their family in either case; the staircase has
        the gamma that suits the cost.
    gap : float
        How close the bounds on the limit should be, relative.
    """

    epsilons: Distinct[Annotated[float, Field(gt=0, le=8)]]
    deltas: Distinct[Annotated[float, Field(ge=0, lt=1)]]
    costs: Distinct[Literal["variance", "mean-abs"]]
    mechanisms: Distinct[Family]
    gap: Annotated[float, Field(ge=1e-4, le=1)]


def _odd(points: int) -> int:
    if points % 2 == 0:
        raise ValueError("expected an odd number, so that 0 is on the grid")
    return points


class Densities(Section):
    """Flipped Huber densities.

    Attributes
    ----------
    parameters : tuple of (alpha, gamma)
        One density each.
    half_width : float
        The grid runs from minus to plus this; the transitions at -alpha and alpha are added.
    points : int
        Odd, so that 0 is one of them.
    """

    parameters: Distinct[tuple[NonNegative, Positive]]
    half_width: Positive
    points: Annotated[Points, AfterValidator(_odd)]


class FisherInformation(Section):
    """Normalised Fisher information; `ratios` is the grid of alpha/gamma, to which 0 is added."""

    ratios: Annotated[Grid, within(1e-100, 1e100)]


class PublishedCases(Seeded):
    """Table I: random (alpha, gamma, Delta, epsilon) for each case and for each border of two."""

    trials: Trials


class LossAndBound(Section):
    """Centred privacy losses of flipped Huber noise and their affine bounds.

    Attributes
    ----------
    alpha, gamma : float
        The noise.
    shifts : tuple of float
        The shifts d, one curve each.
    margin : float
        How far the grid goes beyond the last hinge, abs(t) = alpha + d/2.
    points : int
        Grid points; the hinges, where the slope changes, are added.
    """

    alpha: Annotated[float, Field(ge=0, le=1e100)]
    gamma: Sensitivity
    shifts: Distinct[Sensitivity]
    margin: Sensitivity
    points: Points


class ProfilesAtOneVariance(Section):
    """Privacy profiles of mechanisms of one variance.

    Attributes
    ----------
    variance : float
        Of every mechanism.
    scale : float
        gamma and rho; alpha and theta are solved for. Its square exceeds `variance`.
    """

    variance: Annotated[float, Field(ge=1e-100, le=1e100)]
    scale: Sensitivity
    sensitivity: Sensitivity
    epsilons: Annotated[Grid, within(0.0, 1e4)]

    @model_validator(mode="after")
    def _scale_exceeds(self) -> ProfilesAtOneVariance:
        if not self.scale > self.variance**0.5:
            raise ValueError(f"expected a scale above {self.variance**0.5:g}, got {self.scale:g}")
        return self


class LossesAtOneScale(Section):
    """Centred privacy losses of four mechanisms with one scale parameter.

    Attributes
    ----------
    scale : float
        sigma, beta, gamma = alpha and rho = theta.
    shift : float
        The shift d.
    half_width : float
        The grid runs from minus to plus this.
    points : int
        Grid points; the hinges of the losses, where they lie inside, are added.
    """

    scale: Sensitivity
    shift: Sensitivity
    half_width: Sensitivity
    points: Points


class Algorithm2(Section):
    """Algorithm 2 as published and corrected.

    Attributes
    ----------
    cases : tuple of (alpha, gamma, dimension, epsilon)
        The noise per coordinate, the number of coordinates and where the profile is wanted;
        sensitivity 1.
    grid_points : int
        Points of the set of epsilons, from 0 to `grid_factor` times epsilon.
    nodes : int
        Points of the trapezoidal rule in t.
    """

    cases: Distinct[tuple[NonNegative, Positive, Dimension, Epsilon]]
    grid_points: Annotated[int, Field(ge=3, le=10_000)]
    grid_factor: Annotated[float, Field(ge=1, le=1e4)]
    nodes: Annotated[int, Field(ge=3, le=10_000)]


class Theory(Seeded):
    """How many random parameters each statement is tried on; slow checks take a part of them."""

    trials: Annotated[int, Field(ge=20, le=100_000)]


class Counterexamples(Section):
    """How many significant digits each value has."""

    digits: Annotated[int, Field(ge=5, le=60)]


class Settings(Section):
    """All settings of the paper."""

    figure_1: Densities
    figure_2: FisherInformation
    table_1: PublishedCases
    figure_3a: MinimumVariances
    figure_3b: VarianceRatio
    figure_3c: VarianceRatio
    figure_4a: VectorVariances
    figure_4b: VectorVariances
    table_2: VectorVariances
    algorithm_2: Algorithm2
    remark_1: Remark
    identification: Remark
    gain: Gain
    figure_5: LossAndBound
    figure_6: ProfilesAtOneVariance
    figure_7: LossesAtOneScale
    theory: Theory
    counterexamples: Counterexamples
    limit: Limit
    table_3: Table3

    @model_validator(mode="after")
    def _figure_4_can_be_compared(self) -> Settings:
        one, two = self.figure_4a, self.figure_4b
        if len(one.dimensions) > 1 or len(two.dimensions) > 1:
            raise ValueError("figure_4a, figure_4b: expected one dimension in each")
        if (set(one.deltas), set(one.epsilons)) != (set(two.deltas), set(two.epsilons)):
            raise ValueError("figure_4a, figure_4b: expected the same deltas and epsilons")
        return self
