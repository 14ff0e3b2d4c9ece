"""Settings of what calibrates noise to budgets: figures 3 and 4, Table II, the limit and remarks.

What `dpnoise.calibration.calibrate` and the search in a box would refuse is refused here: a
method that a family does not have, a budget that is too small for it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from dpnoise_papers.settings import (
    Delta,
    DeltaGrid,
    Deltas,
    Dimensions,
    Distinct,
    Epsilon,
    EpsilonGrid,
    Epsilons,
    Section,
    Sensitivity,
)

Family = Literal[
    "gaussian",
    "laplace",
    "flipped-huber",
    "offset-symmetric-gaussian",
    "staircase",
    "truncated-laplace",
    "subbotin",
    "huber",
]
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

    against: Literal[
        "gaussian",
        "laplace",
        "offset-symmetric-gaussian",
        "staircase",
        "truncated-laplace",
        "subbotin",
        "huber",
    ]
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


class JointNoise(Section):
    """Joint noise by dimension; `budgets` (epsilon, delta) are some of those of `gain`."""

    budgets: Distinct[tuple[Epsilon, Delta]]


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
