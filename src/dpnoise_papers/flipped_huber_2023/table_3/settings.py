"""Settings of Table III of flipped-huber-2023, its replications and its ablation."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator, model_validator

from dpnoise_papers.descent.settings import (
    MAXIMUM_RUNS,
    BudgetDelta,
    Passes,
    Penalised,
    Registered,
    SearchGrid,
    SeveralTrials,
)
from dpnoise_papers.settings import Distinct, Epsilon, Positive, Section, Seeded, Share

if TYPE_CHECKING:
    from collections.abc import Iterable

Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Mechanism = Literal["gaussian", "flipped-huber", "gaussian-tight"]
Scaling = Literal["standardise", "center", "raw"]
Split = Literal["per-trial", "fixed"]
Order = Literal["cyclic", "random"]
Iterate = Literal["last", "averaged"]
WineTask = Literal["colour", "colour-and-quality", "quality"]
CaliforniaFeatures = Literal["ratios", "counts"]
Optimum = Literal["exact"] | Passes  # what NMSE is measured from
CHOSEN = "chosen"  # the variant without a change
_MANGOLD = "gaussian-dp-cd"  # by the bound of Mangold et al., which holds for small budgets


class OpenChoices(Section):
    """What the paper leaves open.

    Attributes
    ----------
    features, target : str
        How both are scaled, the target in regression only.
    split : str
        Whether the trials of a run of the protocol share one training and test part (fixed), or
        each has its own.
    order : str
        Of the coordinates in a pass.
    iterate : str
        The last iterate, or the mean of the iterates after each pass.
    penalty_scale : float
        Multiplies the strength of the penalty.
    wine_task, california_features : str
        What is learned from wine-quality, and from which columns of california.
    """

    features: Scaling
    target: Scaling
    split: Split
    test_fraction: Share
    order: Order
    iterate: Iterate
    intercept: bool
    penalty_scale: Positive
    wine_task: WineTask
    california_features: CaliforniaFeatures


class HeldOut(Section):
    """How many trials configurations are selected on, and how many others are reported."""

    select: SeveralTrials
    evaluate: SeveralTrials


class Table3(Seeded):
    """Private coordinate descent with several noises, over a grid of configurations.

    Attributes
    ----------
    epsilon, delta : float
        The budget; delta may be '1/N^2' for N training samples.
    xi_grid : int
        Points of the paper's search over (xi, eta).
    passes, steps, clips
        The configurations.
    trials : int
        Of the printed protocol, which selects and reports on the same trials.
    tasks : dict
        What is learned from each data set.
    """

    epsilon: Epsilon
    delta: BudgetDelta
    mechanisms: Distinct[Mechanism]
    xi_grid: Annotated[int, Field(ge=2, le=100_000)]
    passes: Distinct[Passes]
    steps: SearchGrid
    clips: SearchGrid
    trials: SeveralTrials
    held_out: HeldOut
    setting: OpenChoices
    tasks: Annotated[dict[str, Penalised], Field(min_length=1), Registered]

    @property
    def all_trials(self) -> int:
        """Trials of both protocols together; replications are numbered after them."""
        return self.trials + self.held_out.select + self.held_out.evaluate

    def runs(self, trials: int) -> int:
        """Number of configurations times trials."""
        return len(self.passes) * self.steps.count * self.clips.count * trials

    @model_validator(mode="after")
    def _fits_in_memory(self) -> Table3:
        _few_enough(self.runs(self.all_trials))
        return self


class NoiseVariant(Section):
    """Variant of the noise, the passes or the optimum; all as printed if left out."""

    gaussian: Literal["gaussian", "gaussian-tight", "gaussian-dp-cd"] = "gaussian"
    flipped_huber: Literal["flipped-huber", "flipped-huber-exact"] = "flipped-huber"
    passes: Distinct[Passes] | None = None
    optimum: Optimum = "exact"


class ChoiceVariant(Section):
    """Changes of the open choices or of the configurations."""

    features: Scaling | None = None
    target: Scaling | None = None
    split: Split | None = None
    test_fraction: Share | None = None
    order: Order | None = None
    iterate: Iterate | None = None
    intercept: bool | None = None
    penalty_scale: Positive | None = None
    wine_task: WineTask | None = None
    california_features: CaliforniaFeatures | None = None
    passes: Distinct[Passes] | None = None
    steps: SearchGrid | None = None
    clips: SearchGrid | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _given(cls, value: object) -> object:
        if value is None:
            raise ValueError("expected a value, or to be left out where nothing changes, got null")
        return value


class Combinations(Section):
    """Values of some open choices, each of which is combined with each of the others."""

    features: Distinct[Scaling] | None = None
    target: Distinct[Scaling] | None = None
    split: Distinct[Split] | None = None
    penalty_scale: Distinct[Positive] | None = None
    wine_task: Distinct[WineTask] | None = None
    california_features: Distinct[CaliforniaFeatures] | None = None
    clips: Distinct[SearchGrid] | None = None

    def variants(self) -> list[ChoiceVariant]:
        """Every combination."""
        given = {name: values for name, values in self if values is not None}
        return [
            ChoiceVariant(**dict(zip(given, one, strict=True))) for one in product(*given.values())
        ]


class Table3Replicates(Section):
    """Replications of the printed protocol.

    Attributes
    ----------
    replications : int
        How many are made of the variant 'chosen'.
    variant_replications : int
        How many, at most as many, are made of each other variant, and of each combination with the
        smallest or the greatest median of a number.
    few : int
        How many, at most as many, are made of the other combinations.
    pilot : int
        By how many of the first the grid of configurations is thinned.
    audit : int
        How many of the last are made on the whole grid again.
    keep : float
        A configuration is left out if its error in the better half of the pilot's trials exceeds
        this multiple of the smallest.
    variants : dict
        With one called 'chosen'.
    combinations : tuple
        Of open choices, which together give the range of what the paper leaves open.
    """

    replications: Annotated[int, Field(ge=2, le=10_000)]
    variant_replications: Annotated[int, Field(ge=2, le=10_000)]
    few: Annotated[int, Field(ge=2, le=10_000)]
    pilot: Annotated[int, Field(ge=1)]
    audit: Annotated[int, Field(ge=0)]
    keep: Annotated[float, Field(ge=1, le=1e10)]
    variants: dict[Name, NoiseVariant]
    combinations: Annotated[tuple[Combinations, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _counts_fit(self) -> Table3Replicates:
        if self.pilot + self.audit > self.replications:
            got = f"{self.pilot} + {self.audit} > {self.replications}"
            raise ValueError(f"expected pilot + audit <= replications, got {got}")
        if self.variant_replications < self.pilot:
            got = f"{self.variant_replications} < {self.pilot}"
            raise ValueError(f"expected variant_replications >= pilot, got {got}")
        if self.variants.get(CHOSEN) != NoiseVariant():
            raise ValueError(f"expected a variant {CHOSEN!r} without changes")
        return self


class Table3Ablation(Section):
    """Variants of the open choices, on a coarser grid of configurations."""

    steps: SearchGrid
    clips: SearchGrid
    mechanisms: Distinct[Mechanism]
    trials: SeveralTrials
    variants: Annotated[dict[Name, ChoiceVariant], Field(min_length=1)]


def check_together(table: Table3, replicates: Table3Replicates, ablation: Table3Ablation) -> None:
    """Refuse sections that do not fit each other.

    ValueError if there are too many runs to hold, or a budget is beyond the bound of Mangold et al.
    """
    for name, variant in replicates.variants.items():
        delta = table.delta if isinstance(table.delta, float) else 0.0
        if variant.gaussian == _MANGOLD and (table.epsilon > 1 or delta >= 1 / 3):
            where = f"table_3_replicates.variants.{name}: {_MANGOLD}"
            got = f"{table.epsilon:g} and {table.delta}"
            raise ValueError(f"{where} needs table_3.epsilon <= 1 and delta < 1/3, got {got}")
    tried = {passes for one in replicates.variants.values() for passes in one.passes or ()}
    more = table.model_copy(update={"passes": (*table.passes, *tried)})
    _few_enough(more.runs(table.trials * replicates.replications))
    for several in replicates.combinations or ():
        for combination in several.variants():
            _few_enough(changed(table, combination).runs(table.trials * replicates.replications))
    taken = {name for task in table.tasks for name in combined(table, replicates, task)}
    if both := sorted(taken & set(replicates.variants)):
        raise ValueError(f"expected variants with other names than combinations, got {both}")
    ablated = [varied(table, ablation, one) for one in ablation.variants.values()]
    for one in ablated:
        together = one.model_copy(update={"passes": all_passes(ablated)})
        _few_enough(together.runs(ablation.trials))


def changed(table: Table3, variant: ChoiceVariant) -> Table3:
    """Return the settings of Table III under one variant of what the paper leaves open."""
    changes = {name: value for name, value in variant if value is not None}
    choices = {name: changes.pop(name) for name in OpenChoices.model_fields if name in changes}
    setting = table.setting.model_copy(update=choices)
    return table.model_copy(update={**changes, "setting": setting})


def varied(table: Table3, ablation: Table3Ablation, variant: ChoiceVariant) -> Table3:
    """Return the settings of Table III under one variant of the ablation, on its grid."""
    shared = {"steps": ablation.steps, "clips": ablation.clips, "mechanisms": ablation.mechanisms}
    return changed(table.model_copy(update=shared), variant)


def where_it_matters(table: Table3, dataset: str) -> Table3:
    """Return the settings with choices that do not concern a data set at their defaults."""
    same: dict[str, str] = {}
    if table.tasks[dataset].loss == "logistic":
        same["target"] = "raw"
    if dataset != "wine-quality":
        same["wine_task"] = "colour"
    if dataset != "california":
        same["california_features"] = "ratios"
    return table.model_copy(update={"setting": table.setting.model_copy(update=same)})


def combined(table: Table3, replicates: Table3Replicates, dataset: str) -> dict[str, Table3]:
    """Return the settings of Table III under every combination of open choices, by its name.

    The name tells what differs from the settings themselves. Combinations that come to the same on
    the data set stand there once, those that change nothing not at all.
    """
    own = where_it_matters(table, dataset)
    found: dict[str, Table3] = {}
    for several in replicates.combinations or ():
        for variant in several.variants():
            one = where_it_matters(changed(table, variant), dataset)
            words = [
                f"{name.replace('_', '-')}-{value:g}"
                if isinstance(value, float)
                else f"{name.replace('_', '-')}-{value}"
                for name, value in one.setting
                if value != getattr(own.setting, name)
            ]
            if one.clips != own.clips:
                words.append(f"clips-{one.clips.count}")
            if words:
                found.setdefault("+".join(words), one)
    return found


def all_passes(several: Iterable[Table3]) -> tuple[int, ...]:
    """All numbers of passes that are tried under several settings."""
    return tuple(sorted({passes for one in several for passes in one.passes}))


def _few_enough(runs: int) -> None:
    if runs > MAXIMUM_RUNS:
        expected = f"at most {MAXIMUM_RUNS:,} runs (passes, steps, clips and trials multiplied)"
        raise ValueError(f"expected {expected}, got {runs:,}")
