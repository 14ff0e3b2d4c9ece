"""Typed settings: read strictly, merged, validated once, all mistakes listed together.

The settings of a paper are the model `Settings` in its `settings.py`, one field for each section
of config.yaml. Models are closed (unknown keys are refused), frozen and strict (no text for a
number, no 5.0 for a whole number); their constraints are what the table functions need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from dpnoise_papers.papers import MODULES
from dpnoise_papers.strict_yaml import YamlError, read_yaml, read_yaml_text

_SOURCES = {"src", "workflow", "tests", "docs", "published", "profiles", "benchmarks", ".git"}


class ConfigError(ValueError):
    """Settings that cannot be used; the message lists every mistake."""


class Section(BaseModel):
    """Base of all settings: closed, frozen and strict; lists are tuples."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _frozen(cls, given: Any) -> Any:  # noqa: ANN401
        return (
            {key: _tuples(one) for key, one in given.items()} if isinstance(given, dict) else given
        )


class Seeded(Section):
    """Settings of what draws random numbers; the seed is that of the whole config."""

    seed: Annotated[int, Field(ge=0, lt=2**63)]


def _tuples(value: Any) -> Any:  # noqa: ANN401
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _folder(text: str) -> str:
    path = PurePosixPath(text)
    inside = not path.is_absolute() and not {"..", "~"} & set(path.parts) and path.parts
    if not inside or text.startswith("~") or "\\" in text or path.parts[0] in _SOURCES:
        raise ValueError("expected a relative folder below the repository, outside its sources")
    if not Path(text).resolve().is_relative_to(Path.cwd().resolve()):
        raise ValueError("expected a folder below the repository, not a link that leaves it")
    return text


def distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values that are all different (a validator).

    Raises
    ------
    ValueError
        If one stands there twice.
    """
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(f"expected different values, got {value!r} twice")
    return values


Folder = Annotated[str, Field(min_length=1), AfterValidator(_folder)]
Positive = Annotated[float, Field(gt=0, le=1e300)]
NonNegative = Annotated[float, Field(ge=0, le=1e300)]
Share = Annotated[float, Field(gt=0, lt=1)]
Epsilon = Annotated[float, Field(gt=0, le=1e4)]
Delta = Annotated[float, Field(ge=1e-300, lt=1)]
DeltaOrZero = Annotated[float, Field(ge=0, lt=1)]
Sensitivity = Annotated[float, Field(ge=1e-100, le=1e100)]
Trials = Annotated[int, Field(ge=1, le=1_000_000)]
Points = Annotated[int, Field(ge=2, le=1_000_000)]
Dimension = Annotated[int, Field(ge=1, le=100_000)]
Epsilons = Annotated[tuple[Epsilon, ...], Field(min_length=1), AfterValidator(distinct)]
Deltas = Annotated[tuple[Delta, ...], Field(min_length=1), AfterValidator(distinct)]
Dimensions = Annotated[tuple[Dimension, ...], Field(min_length=1), AfterValidator(distinct)]


class Grid(Section):
    """A grid of `count` points from `low` to `high`, evenly spaced or evenly in the logarithm."""

    low: float
    high: float
    count: Annotated[int, Field(ge=2, le=100_000)]
    spacing: Literal["linear", "log"]

    @model_validator(mode="after")
    def _runs_upwards(self) -> Grid:
        if not self.low < self.high:
            raise ValueError(f"expected low < high, got {self.low:g} and {self.high:g}")
        if self.spacing == "log" and not self.low > 0:
            raise ValueError(f"expected low > 0 on a logarithmic grid, got {self.low:g}")
        return self


def within(low: float, high: float) -> AfterValidator:
    """Return a validator of grids whose points lie between `low` and `high`."""

    def check(grid: Grid) -> Grid:
        if not low <= grid.low <= grid.high <= high:
            got = f"{grid.low:g} to {grid.high:g}"
            raise ValueError(f"expected a grid between {low:g} and {high:g}, got {got}")
        return grid

    return AfterValidator(check)


EpsilonGrid = Annotated[Grid, within(1e-100, 1e4)]
DeltaGrid = Annotated[Grid, within(1e-300, math.nextafter(1.0, 0.0))]


class Data(Section):
    """Where data sets are kept."""

    cache: Folder
    offline: bool


class Pathvars(Section):
    """Folders of what a run writes."""

    results: Folder = "results"
    figures: Folder = "figures"
    logs: Folder = "logs"
    benchmarks: Folder = "logs/benchmarks"


def config_model() -> type[Section]:
    """Return the model of a whole config: the general settings and a section for each paper."""
    sections: dict[str, Any] = {
        name: (import_module(f"dpnoise_papers.{name}.settings").Settings, ...) for name in MODULES
    }
    return create_model(
        "Config",
        __base__=Section,
        seed=(Annotated[int, Field(ge=0, lt=2**63)], ...),
        strict=(bool, ...),
        data=(Data, ...),
        pathvars=(Pathvars, Pathvars()),
        **sections,
    )


def load(*paths: str | Path, overrides: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
    """Return the validated settings of some files, later ones over earlier ones.

    Parameters
    ----------
    *paths : path
        YAML files, read strictly: a duplicate key, `010` or `1:30` is a mistake.
    overrides : mapping, optional
        Settings of the command line over those of the files. Text in it is read as YAML, because
        Snakemake hands over 'true' for true.

    Returns
    -------
    Config
        See `config_model`.

    Raises
    ------
    ConfigError
        Naming every mistake, with the file and line where the YAML itself is wrong.
    """
    if not paths:
        raise ConfigError("config: no file given")
    merged: dict[str, Any] = {}
    mistakes = []
    for path in paths:
        try:
            content = read_yaml(path)
        except (YamlError, OSError) as error:
            mistakes.append(str(error))
            continue
        if isinstance(content, dict):
            merged = _merge(merged, content)
        else:
            mistakes.append(f"{path}: expected a mapping, got {type(content).__name__}")
    if not mistakes:
        try:
            merged = _merge(merged, _retyped(dict(overrides or {})))
            mistakes = _with_seed(merged)
            config = config_model().model_validate(merged)
        except ValidationError as error:
            mistakes += [_line(one) for one in error.errors(include_url=False)]
        except YamlError as error:
            mistakes.append(str(error))
    if mistakes:
        listed = "\n".join(f"  - {mistake}" for mistake in mistakes)
        raise ConfigError(f"config: {len(mistakes)} mistake(s)\n{listed}")
    return config


def sections(config: Section, paper: str, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return sections of a paper's settings as plain values, to be read by `typed`."""
    settings = getattr(config, paper)
    return {name: getattr(settings, name).model_dump(mode="json") for name in names}


def typed(paper: str, plain: Mapping[str, Mapping[str, Any]]) -> list[Section]:
    """Return what `sections` made plain as typed settings again."""
    fields = import_module(f"dpnoise_papers.{paper}.settings").Settings.model_fields
    return [fields[name].annotation.model_validate(dict(value)) for name, value in plain.items()]


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a config file, for editors."""
    schema = config_model().model_json_schema()
    for definition in schema["$defs"].values():
        if definition.get("properties", {}).pop("seed", None):  # filled in from the top level
            definition["required"].remove("seed")
    return schema


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another, as Snakemake does: mappings merge, all else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _retyped(value: Any) -> Any:  # noqa: ANN401
    """Read the text of the command line as YAML, at any depth."""
    if isinstance(value, Mapping):
        return {key: _retyped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_retyped(one) for one in value]
    return read_yaml_text(value, f"--config {value!r}") if isinstance(value, str) else value


def _with_seed(merged: dict[str, Any]) -> list[str]:
    """Give the seed to every section that draws random numbers; list those that have their own."""
    mistakes = []
    for name in MODULES:
        fields = import_module(f"dpnoise_papers.{name}.settings").Settings.model_fields
        paper = merged.get(name)
        for key, field in fields.items() if isinstance(paper, dict) else ():
            seeded = isinstance(field.annotation, type) and issubclass(field.annotation, Seeded)
            if seeded and isinstance(paper.get(key), dict):
                if "seed" in paper[key]:
                    mistakes.append(f"{name}.{key}.seed: the seed is set once, at the top level")
                paper[key] = {**paper[key], "seed": merged.get("seed")}
    return mistakes


def _line(error: Mapping[str, Any]) -> str:
    """Word one mistake as 'where: what was expected, got what'."""
    where = ".".join(str(part) for part in error["loc"]) or "top level"
    message = error["msg"].removeprefix("Value error, ")
    got = error["input"]
    shown = not isinstance(got, Mapping) and error["type"] not in {"missing", "extra_forbidden"}
    return f"{where}: {message[:1].lower() + message[1:]}" + (f", got {got!r}" if shown else "")
