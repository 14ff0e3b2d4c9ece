"""Settings of Table III of flipped-huber-2023: protocol, replications and open choices."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

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

Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Mechanism = Literal["gaussian", "flipped-huber", "gaussian-tight"]
Scaling = Literal["standardise", "center", "raw"]
Split = Literal["per-trial", "fixed"]
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
    penalty_scale : float
        Multiplies the strength of the penalty.
    wine_task, california_features : str
        What is learned from wine-quality, and from which columns of california.
    """

    features: Scaling
    target: Scaling
    split: Split
    test_fraction: Share
    penalty_scale: Positive
    wine_task: WineTask
    california_features: CaliforniaFeatures


class NoiseVariant(Section):
    """Variant of the noise, the passes or the optimum; all as printed if left out."""

    gaussian: Literal["gaussian", "gaussian-tight", "gaussian-dp-cd"] = "gaussian"
    flipped_huber: Literal["flipped-huber", "flipped-huber-exact"] = "flipped-huber"
    passes: Distinct[Passes] | None = None
    optimum: Optimum = "exact"


class Combinations(Section):
    """Values of some open choices, each of which is combined with each of the others."""

    features: Distinct[Scaling] | None = None
    target: Distinct[Scaling] | None = None
    split: Distinct[Split] | None = None
    penalty_scale: Distinct[Positive] | None = None
    wine_task: Distinct[WineTask] | None = None
    california_features: Distinct[CaliforniaFeatures] | None = None
    clips: Distinct[SearchGrid] | None = None

    def changes(self) -> list[dict[str, Any]]:
        """Every combination: its values by name."""
        given = {name: values for name, values in self if values is not None}
        return [dict(zip(given, one, strict=True)) for one in product(*given.values())]


class Table3(Seeded):
    """Replications of private coordinate descent with several noises over a grid of configurations.

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
    curves : tuple of str
        Mechanisms of the slides' curves against the number of passes.
    tasks : dict
        What is learned from each data set.
    replications : int
        How many are made of the variant 'chosen'.
    variant_replications : int
        How many, at most as many, are made of each other variant and of each combination.
    audit : int
        How many of the last are made on the whole grid again.
    keep : float
        A configuration is left out if its error in the better half of the trials of the first
        replication, the pilot, exceeds this multiple of the smallest.
    variants : dict
        With one called 'chosen'.
    combinations : tuple
        Of open choices, which together give the range of what the paper leaves open.
    """

    epsilon: Epsilon
    delta: BudgetDelta
    xi_grid: Annotated[int, Field(ge=2, le=100_000)]
    passes: Distinct[Passes]
    steps: SearchGrid
    clips: SearchGrid
    trials: SeveralTrials
    curves: Distinct[Mechanism]
    setting: OpenChoices
    tasks: Annotated[dict[str, Penalised], Field(min_length=1), Registered]
    replications: Annotated[int, Field(ge=2, le=10_000)]
    variant_replications: Annotated[int, Field(ge=2, le=10_000)]
    audit: Annotated[int, Field(ge=0)]
    keep: Annotated[float, Field(ge=1, le=1e10)]
    variants: dict[Name, NoiseVariant]
    combinations: Annotated[tuple[Combinations, ...], Field(min_length=1)] | None = None

    @property
    def runs(self) -> int:
        """Number of configurations times trials of all replications."""
        trials = self.trials * self.replications
        return len(self.passes) * self.steps.count * self.clips.count * trials

    @model_validator(mode="after")
    def _counts_fit(self) -> Table3:
        if self.audit >= self.replications:
            raise ValueError(f"expected audit < replications, got {self.audit}")
        if self.variant_replications > self.replications:
            got = f"{self.variant_replications} > {self.replications}"
            raise ValueError(f"expected variant_replications <= replications, got {got}")
        if self.variants.get(CHOSEN) != NoiseVariant():
            raise ValueError(f"expected a variant {CHOSEN!r} without changes")
        return self

    @model_validator(mode="after")
    def _bound_of_mangold_holds(self) -> Table3:
        delta = self.delta if isinstance(self.delta, float) else 0.0
        beyond = self.epsilon > 1 or delta >= 1 / 3
        named = [name for name, one in self.variants.items() if one.gaussian == _MANGOLD]
        if named and beyond:
            where = f"variants {', '.join(named)}: {_MANGOLD}"
            got = f"{self.epsilon:g} and {self.delta}"
            raise ValueError(f"{where} needs epsilon <= 1 and delta < 1/3, got {got}")
        return self

    @model_validator(mode="after")
    def _few_enough(self) -> Table3:
        tried = {passes for one in self.variants.values() for passes in one.passes or ()}
        several = [self.model_copy(update={"passes": {*self.passes, *tried}})]
        several += [
            changed(self, one) for some in self.combinations or () for one in some.changes()
        ]
        if (most := max(one.runs for one in several)) > MAXIMUM_RUNS:
            expected = f"at most {MAXIMUM_RUNS:,} runs (passes, steps, clips and trials multiplied)"
            raise ValueError(f"expected {expected}, got {most:,}")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Table3:
        taken = {name for task in self.tasks for name in combined(self, task)}
        if both := sorted(taken & set(self.variants)):
            raise ValueError(f"expected variants with other names than combinations, got {both}")
        return self


def changed(table: Table3, change: dict[str, Any]) -> Table3:
    """Return the settings with some open choices or grids changed."""
    choices = {name: value for name, value in change.items() if name in OpenChoices.model_fields}
    others = {name: value for name, value in change.items() if name not in choices}
    setting = table.setting.model_copy(update=choices)
    return table.model_copy(update={**others, "setting": setting})


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


def combined(table: Table3, dataset: str) -> dict[str, Table3]:
    """Return the settings of Table III under every combination of open choices, by its name.

    Combinations that come to the same on the data set stand there once, those that change nothing
    not at all.
    """
    found: dict[str, Table3] = {}
    for several in table.combinations or ():
        for change in several.changes():
            one = changed(table, change)
            found.setdefault(name_on(table, one, dataset), where_it_matters(one, dataset))
    return {name: one for name, one in found.items() if name != CHOSEN}


def common_variants(table: Table3) -> dict[str, dict[str, str]]:
    """Return what each variant for all data sets together is on each of them, by its name.

    A variant of the noise is itself everywhere; a combination is what its choices come to.
    """
    found = {name: dict.fromkeys(table.tasks, name) for name in table.variants}
    for several in table.combinations or ():
        for change in several.changes():
            one = changed(table, change)
            on_each = {dataset: name_on(table, one, dataset) for dataset in table.tasks}
            found.setdefault(_name(table, one), on_each)
    return found


def name_on(table: Table3, one: Table3, dataset: str) -> str:
    """Return the name of changed settings on a data set: what differs there."""
    return _name(where_it_matters(table, dataset), where_it_matters(one, dataset))


def _name(own: Table3, one: Table3) -> str:
    """What differs between settings, in words; 'chosen' if nothing does."""
    words = [
        f"{name.replace('_', '-')}-{value:g}"
        if isinstance(value, float)
        else f"{name.replace('_', '-')}-{value}"
        for name, value in one.setting
        if value != getattr(own.setting, name)
    ]
    if one.clips != own.clips:
        words.append(f"clips-{one.clips.count}")
    return "+".join(words) or CHOSEN
