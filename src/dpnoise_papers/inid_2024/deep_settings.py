"""Settings of Table IV of inid-2024: training of a network with noise by group of parameters."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from dpnoise_papers.inid_2024.learning_settings import TrainingBudget
from dpnoise_papers.settings import Distinct, Folder, Section, Seeded

Scheme = Literal["iid", "spr", "optimal", "spr-group", "weighted"]
GroupBy = Literal["tensor", "module", "layer"]
Device = Literal["cpu", "cuda"]
Precision = Literal["float32", "bfloat16"]
_Width = Annotated[int, Field(ge=1, le=4096)]


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

    Attributes
    ----------
    network : Network
        What is trained.
    groups : {"tensor", "module", "layer"}
        What is clipped by itself; the paper does not say. A layer is a convolution with its
        normalisation, or the classifier.
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
        Folder of the states after each epoch.
    """

    network: Network
    groups: GroupBy
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
        if "weighted" in self.schemes:
            raise ValueError("expected schemes without weights, got 'weighted'")
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


class MeasuredGradients(Seeded):
    """Gradients and noise of the first steps of a few cells of Table IV.

    Attributes
    ----------
    cells : tuple of str
        Of the table that is measured.
    learning_rate : float
        Of all of them.
    records, steps : int
        How many records there are, and the steps of each.
    tested, shaped : int
        Images for the accuracy of each record, and for the shape of gradients.
    """

    cells: Distinct[str]
    learning_rate: Annotated[float, Field(ge=1e-6, le=1e6)]
    records: Annotated[int, Field(ge=1, le=100_000)]
    steps: Annotated[int, Field(ge=1, le=100_000)]
    tested: Annotated[int, Field(ge=1, le=1_000_000)]
    shaped: Annotated[int, Field(ge=2, le=1_000_000)]
