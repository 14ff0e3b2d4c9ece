"""Settings of Section VI of inid-2024: private principal components and deep learning."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from dpnoise_papers.settings import Delta, Distinct, Section, Seeded, Share

Noise = Literal["gaussian", "laplace"]
VariantName = Literal[
    "stated", "stated-largest", "unclipped", "unclipped-largest", "add-remove", "replace-one",
    "approximate",
]  # fmt: skip
Variants = Distinct[VariantName]
PcaEpsilon = Annotated[float, Field(ge=1e-3, le=1e4)]
Features = Annotated[int, Field(ge=2, le=1000)]
PcaTrials = Annotated[int, Field(ge=2, le=100_000)]

_MAXIMUM_ORDER = 1024  # of the Renyi divergences of table_4


class Unions(Section):
    """Other data models of Table III: unions of so many random subspaces."""

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
        Of Gaussian noise, and of the variant 'approximate'; other Laplace noise has 0.
    trials : int
        Each with data of its own.
    variants : tuple of str
        Keys of `dpnoise_papers.inid_2024.tables.pca_variants.VARIANTS`.
    others : Unions
        How far the data model moves the numbers.
    """

    samples: Annotated[int, Field(ge=2, le=20_000)]
    features: Features
    rank: Annotated[int, Field(ge=1)]
    epsilons: Distinct[PcaEpsilon]
    delta: Delta
    trials: PcaTrials
    variants: Variants
    others: Unions

    @model_validator(mode="after")
    def _fit(self) -> Pca:
        if self.rank >= min(self.features, self.samples):
            raise ValueError("expected a rank below the numbers of samples and features")
        if max(self.others.counts) > self.rank:
            raise ValueError("expected no more subspaces (others.counts) than the rank")
        return self


class PcaAttack(Seeded):
    """Attack on private principal components.

    Attributes
    ----------
    features : int
        M.
    epsilon, delta : float
        The claimed budget of the Gaussian mechanism.
    draws : int
        Releases with the sample, and as many without it.
    confidence : float
        Of the epsilon that is shown at the chosen threshold.
    thresholds : int
        How many are tabulated.
    """

    features: Features
    epsilon: PcaEpsilon
    delta: Delta
    draws: Annotated[int, Field(ge=1000, le=10_000_000_000)]
    confidence: Share
    thresholds: Annotated[int, Field(ge=2, le=1000)]


class PcaPrivacy(Section):
    """Privacy of private principal components at single pairs of neighbours."""

    variants: Variants
    features: Features
    epsilons: Distinct[PcaEpsilon]
    delta: Delta

    @model_validator(mode="after")
    def _unclipped(self) -> PcaPrivacy:
        if {"stated", "stated-largest"} & set(self.variants):
            raise ValueError("expected variants without clipping of entries, not 'stated'")
        return self


class PcaSensitivities(Section):
    """Sensitivities of the second moment of samples of norm 1."""

    features: Features


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


class PublicWeights(Section):
    """Choice of thresholds and weights without private data, in training of Table IV's kind.

    Attributes
    ----------
    budget : TrainingBudget
        Of Gaussian noise.
    learning_rates : tuple of float
        One grid for all choices.
    search, repetitions : int
        Networks for each learning rate of the grid, and networks reported, of other seeds.
    networks, images : int
        Untrained networks, and synthetic images for each.
    """

    budget: TrainingBudget
    learning_rates: Distinct[Annotated[float, Field(ge=1e-6, le=1e6)]]
    search: Annotated[int, Field(ge=1, le=1000)]
    repetitions: Annotated[int, Field(ge=2, le=1000)]
    networks: Annotated[int, Field(ge=1, le=1000)]
    images: Annotated[int, Field(ge=2, le=10_000)]

    @model_validator(mode="after")
    def _fit(self) -> PublicWeights:
        if self.budget.noise != "gaussian":
            raise ValueError("expected a budget of Gaussian noise")
        return self
