"""Settings of inid-2024, one field for each section of config.yaml."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from dpnoise_papers.descent.settings import (
    BudgetDelta,
    Objective,
    Passes,
    Registered,
    SearchGrid,
    SeveralTrials,
    StrengthBySize,
)
from dpnoise_papers.settings import (
    Delta,
    Deltas,
    Dimension,
    Dimensions,
    Distinct,
    Epsilon,
    EpsilonGrid,
    Folder,
    Grid,
    Section,
    Seeded,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Container

Noise = Literal["gaussian", "laplace"]
VariantName = Literal["stated", "stated-largest", "unclipped", "unclipped-largest", "add-remove"]
Variants = Distinct[VariantName]
PcaEpsilon = Annotated[float, Field(ge=1e-3, le=1e4)]
PcaFeatures = Annotated[int, Field(ge=2, le=1000)]
PcaTrials = Annotated[int, Field(ge=2, le=100_000)]
_MAXIMUM_ORDER = 1024  # of the Renyi divergences of table_4
Scheme = Literal["iid", "spr", "optimal", "spr-group"]
Device = Literal["cpu", "cuda"]
Precision = Literal["float32", "tensorfloat32"]
_Width = Annotated[int, Field(ge=1, le=4096)]
_MAXIMUM_AT_ONCE = 2000  # descents with one step; each fits all samples of a data set


class Unions(Section):
    """Other data models of Table III, beside a product: unions of so many random subspaces."""

    counts: Distinct[Annotated[int, Field(ge=1)]]
    variants: Variants
    trials: PcaTrials


class Pca(Seeded):
    """Private principal components (Table III).

    Attributes
    ----------
    samples, features, rank : int
        N, M and r.
    delta : float
        Of Gaussian noise; Laplace noise has 0.
    subspaces : int
        Of the data; their dimensions, as equal as can be, add up to the rank.
    trials : int
        Each with data of its own.
    coarse_trials : int, optional
        How many of them Laplace noise has, which is far from what is printed. By default all.
    variants : tuple of str
        Keys of `dpnoise_papers.inid_2024.tables.pca.VARIANTS`.
    others : Unions
        How far the data model moves the numbers.
    """

    samples: Annotated[int, Field(ge=2, le=20_000)]
    features: PcaFeatures
    rank: Annotated[int, Field(ge=1)]
    subspaces: Annotated[int, Field(ge=1)]
    epsilons: Distinct[PcaEpsilon]
    delta: Delta
    trials: PcaTrials
    coarse_trials: PcaTrials | None = None
    variants: Variants
    others: Unions

    @model_validator(mode="after")
    def _fit(self) -> Pca:
        if self.rank >= min(self.features, self.samples):
            raise ValueError("expected a rank below the numbers of samples and features")
        if max(self.subspaces, *self.others.counts) > self.rank:
            raise ValueError("expected no more subspaces than the rank")
        return self


class PcaSensitivities(Section):
    """Sensitivities of the second moment of samples of norm 1."""

    features: PcaFeatures


class TrainingBudget(Section):
    """Noise and budget of three accuracies of Table IV; Laplace noise has delta 0."""

    noise: Noise
    delta: Annotated[float, Field(ge=0, le=0.1)]
    epsilon: Annotated[float, Field(ge=1e-3, le=100)]

    @model_validator(mode="after")
    def _fit(self) -> TrainingBudget:
        if self.noise == "laplace":
            if self.delta != 0:
                raise ValueError("expected delta = 0 for Laplace noise")
            return self
        if self.delta < 1e-100:
            raise ValueError("expected a delta of at least 1e-100 for Gaussian noise")
        # What is left of epsilon at the largest order when there is ever more noise.
        log_term = math.log(self.delta) + math.log(_MAXIMUM_ORDER)
        minimum = math.log1p(-1 / _MAXIMUM_ORDER) - log_term / (_MAXIMUM_ORDER - 1)
        if self.epsilon < minimum + 1e-3:
            raise ValueError(f"expected an epsilon above {minimum:.3g} at this delta")
        return self


class DeepLearning(Section):
    """Noise of each step of deep learning (Table IV).

    Attributes
    ----------
    samples : int
        N.
    rate : float
        q: a batch has q N samples in the mean, an epoch 1/q steps.
    layers : tuple of (int, int)
        Numbers of layers and of the parameters of each.
    """

    samples: Annotated[int, Field(ge=2, le=1_000_000_000)]
    rate: Annotated[float, Field(ge=1e-6, lt=1)]
    epochs: Annotated[int, Field(ge=1, le=1_000_000)]
    layers: Annotated[
        tuple[
            tuple[Annotated[int, Field(ge=1, le=10_000)], Annotated[int, Field(ge=1, le=10**8)]],
            ...,
        ],
        Field(min_length=1, max_length=100),
    ]
    budgets: Distinct[TrainingBudget]

    @property
    def steps(self) -> int:
        """T, of all epochs."""
        return round(self.epochs / self.rate)


class Network(Section):
    """Residual network with group normalisation, as He et al. (2016) have it for CIFAR-10.

    Attributes
    ----------
    widths : tuple of int
        Channels of each stage; a stage halves height and width, but for the first.
    blocks : int
        Residual blocks of a stage, each of two convolutions.
    stride : int
        Of the first convolution.
    normalisation : int
        Groups of channels of a group normalisation.
    """

    widths: Annotated[tuple[_Width, ...], Field(min_length=1, max_length=8)]
    blocks: Annotated[int, Field(ge=1, le=64)]
    stride: Annotated[int, Field(ge=1, le=4)]
    normalisation: Annotated[int, Field(ge=1, le=4096)]

    @model_validator(mode="after")
    def _fit(self) -> Network:
        if any(width % self.normalisation for width in self.widths):
            got = f"{self.normalisation} and {list(self.widths)}"
            raise ValueError(f"expected widths that normalisation divides, got {got}")
        if list(self.widths) != sorted(self.widths):
            raise ValueError(f"expected widths that do not fall, got {list(self.widths)}")
        return self


class Cell(NamedTuple):
    """One entry of Table IV, or training without clipping and noise (no budget)."""

    budget: TrainingBudget | None
    scheme: Scheme | Literal["none"]


class PrivateTraining(Seeded):
    """Training of one network for each entry of Table IV.

    Each layer is clipped by itself, a convolution with its normalisation or the classifier; what is
    one layer the paper does not say.

    Attributes
    ----------
    network : Network
        What is trained.
    clip : float
        C_0, the norm of all thresholds: l2 for Gaussian, l1 for Laplace noise.
    rate : float
        q: the chance of each sample to be in a batch; an epoch has 1/q steps.
    epochs : int
        How long each network is trained.
    budgets, schemes : tuple
        A cell of the table is one of each.
    learning_rates : tuple of float
        One of them is chosen for each cell, by the mean accuracy of `search` networks each that
        are trained for `search_epochs` with other seeds than the `repetitions` reported.
    chunk : int
        How many samples of each network are differentiated at once.
    device, precision : str
        Where, and in which numbers gradients are computed; they are clipped and added in
        float32 and float64 in any case.
    checkpoints : str, optional
        Folder of the states after each epoch and where time ran out.
    """

    network: Network
    clip: Annotated[float, Field(ge=1e-3, le=1e3)]
    rate: Annotated[float, Field(ge=1e-6, le=1)]
    epochs: Annotated[int, Field(ge=1, le=100_000)]
    budgets: Distinct[TrainingBudget]
    schemes: Distinct[Scheme]
    learning_rates: Distinct[Annotated[float, Field(ge=1e-6, le=1e6)]]
    search: Annotated[int, Field(ge=1, le=1000)]
    search_epochs: Annotated[int, Field(ge=1, le=100_000)]
    repetitions: Annotated[int, Field(ge=1, le=1000)]
    chunk: Annotated[int, Field(ge=2, le=65_536)]
    device: Device = "cpu"
    precision: Precision = "float32"
    checkpoints: Folder | None = None

    @model_validator(mode="after")
    def _fit(self) -> PrivateTraining:
        if self.search_epochs > self.epochs:
            raise ValueError("expected at most `epochs` search_epochs")
        return self

    @property
    def cells(self) -> dict[str, Cell]:
        """Cells of the table by name, such as 'gaussian-1e-05-5-iid'; first 'none'."""
        cells = {
            f"{budget.noise}-{budget.delta:g}-{budget.epsilon:g}-{scheme}": Cell(budget, scheme)
            for budget in self.budgets
            for scheme in self.schemes
        }
        return {"none": Cell(None, "none")} | cells


def _odd(points: int) -> int:
    if points % 2 == 0:
        raise ValueError("expected an odd number, so that the best of the coarse grid is tried")
    return points


Refine = Annotated[int, Field(ge=1, le=101), AfterValidator(_odd)]


class ScaledTask(Objective):
    """An objective with the strength of its penalty, lambda; '1/N' for N samples."""

    strength: StrengthBySize


class DescentOrders(Seeded):
    """Coordinate descent with noise by coordinate, in many orders of the columns.

    Attributes
    ----------
    epsilon, delta : float
        The budget; delta may be '1/N^2' for N samples.
    passes : int
        Of a run, whose noise pays for all of them.
    seen : tuple of int
        After which passes the run is looked at, beside its end.
    trials : int
        On which step and clipping constant are chosen.
    evaluate : int
        Fresh trials, on which nothing was chosen.
    steps, clips : Grid
        The coarse grid of the search.
    refine : int
        Points per axis between the neighbours of the best of the coarse grid.
    tasks : dict
        What is learned from each data set.
    documented : dict
        By data set and name, the columns in a documented order.
    random : int
        How many random permutations follow.
    keep : float
        The first order is searched on the whole coarse grid; a point of it is left out for the
        others if its error there exceeds this multiple of the smallest.
    audit : int
        How many of the last orders are searched on the whole coarse grid again.
    """

    epsilon: Epsilon
    delta: BudgetDelta
    passes: Passes
    seen: Distinct[Passes]
    trials: SeveralTrials
    evaluate: SeveralTrials
    steps: SearchGrid
    clips: SearchGrid
    refine: Refine
    tasks: Annotated[dict[str, ScaledTask], Field(min_length=1), Registered]
    documented: dict[str, dict[str, Distinct[Annotated[str, Field(min_length=1)]]]]
    random: Annotated[int, Field(ge=1, le=1000)]
    keep: Annotated[float, Field(ge=1, le=1e10)]
    audit: Annotated[int, Field(ge=0, le=1000)]

    @model_validator(mode="after")
    def _fit(self) -> DescentOrders:
        for dataset, orders in self.documented.items():
            if len({frozenset(columns) for columns in orders.values()}) > 1:
                names = ", ".join(orders)
                raise ValueError(f"expected the same columns of {dataset} in {names}")
        at_once = max(self.clips.count, self.refine) * self.trials
        if at_once > _MAXIMUM_AT_ONCE:
            expected = f"at most {_MAXIMUM_AT_ONCE} (points of the grid of clips times trials)"
            raise ValueError(f"expected {expected}, got {at_once}")
        return self


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
    """Laplace noise with delta > 0 by Corollary 6; `dimensions` by profile."""

    dimensions: Annotated[dict[ProfileName, Dimensions], Field(min_length=1)]
    epsilons: Distinct[Annotated[float, Field(ge=1e-3, le=50)]]
    deltas: Deltas

    @model_validator(mode="after")
    def _fit(self) -> ApproximateLaplace:
        _exponential_at_most(
            _MAXIMUM_EXPONENTIAL, self.dimensions, self.dimensions.get("exponential", (1,))
        )
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
