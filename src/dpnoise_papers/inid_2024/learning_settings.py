"""Settings of Section VI of inid-2024: principal components, deep learning, coordinate descent."""

from __future__ import annotations

import math
from typing import Annotated, Literal, NamedTuple

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
from dpnoise_papers.settings import (
    Delta,
    Distinct,
    Epsilon,
    Folder,
    Section,
    Seeded,
)

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
        How many samples of each network are differentiated at once; on a GPU they are always so
        many, some of which may be padding.
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
