"""Settings of all experiments: read strictly, merged, validated once, every mistake listed.

The models are those of `dpnoise_papers.settings` and of each paper's `settings.py`.

results/ and figures/ hold what the settings of config.yaml give, and nothing else. A run with other
settings has a folder of its own, by the setting `folder`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, create_model

from dpnoise_papers.item import MODULES
from dpnoise_papers.settings import Folder, Section, Seeded, distinct
from dpnoise_papers.strict_yaml import YamlError, cut, lines_of, read_yaml, read_yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WORDS = {"extra_forbidden": "unknown setting", "missing": "missing setting"}
_LISTED = 50  # mistakes in a message
_LONGEST = 2000  # characters of one; a file of YAML may have several
_BOUNDS = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}
# Where files lie, and what is an error.
_NOT_OF_PAPERS = {"data", "folder", "strict"}
_SHOWN = 3


class ConfigError(ValueError):
    """Settings that cannot be used; the message lists every mistake."""


class Data(Section):
    """Where data sets are kept and taken from."""

    cache: Folder
    source: Literal["nearest", "official"]
    offline: bool


def places(config: Any) -> dict[str, str]:  # noqa: ANN401
    """Folders of results, figures and logs of a run."""
    base = f"{config.folder}/" if config.folder else ""
    return {kind: f"{base}{kind}" for kind in ("results", "figures", "logs")}


Items = Annotated[tuple[str, ...], AfterValidator(distinct)]  # all, if none is named


def _own_folder(text: str) -> str:
    if PurePosixPath(text).parts[0] in {"results", "figures", "logs", "data"}:
        raise ValueError("expected a folder outside those of the papers' results and data")
    return text


@cache
def config_model() -> type[Section]:
    """Model of a whole config: the general settings and a section for each paper.

    The section of a paper whose settings all have defaults may be missing.
    """
    models = {name: import_module(f"dpnoise_papers.{name}.settings").Settings for name in MODULES}
    sections: dict[str, Any] = {
        name: (model, ... if any(f.is_required() for f in model.model_fields.values()) else model())
        for name, model in models.items()
    }
    return create_model(
        "Config",
        __base__=Section,
        seed=(Annotated[int, Field(ge=0, lt=2**32)], ...),
        strict=(bool, ...),
        items=(Items, ()),
        data=(Data, ...),
        folder=(Annotated[Folder, AfterValidator(_own_folder)] | None, None),
        **sections,
    )


def load(*paths: str | Path, overrides: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
    """Validated settings of some YAML files, later ones over earlier ones: see `config_model`.

    `overrides` are settings of the command line, over those of the files. Text in them is read as
    YAML, because Snakemake hands over 'true' for true. ConfigError names every mistake, with the
    file and line where the YAML itself is wrong.
    """
    if not paths:
        raise ConfigError("config: no file given")
    return _validated(_read(paths, {}), overrides, paths)


def _read(paths: Iterable[str | Path], merged: dict[str, Any]) -> dict[str, Any]:
    """Plain settings of YAML files over those that are `merged`, later ones over earlier ones."""
    mistakes = []
    for path in paths:
        try:
            content = read_yaml(path)
        except (YamlError, OSError) as error:
            known = isinstance(error, OSError) and error.strerror
            mistakes.append(f"{path}: {known}" if known else str(error))
            continue
        if isinstance(content, dict):
            merged = _merge(merged, content)
        else:
            mistakes.append(f"{path}: expected a mapping, got {type(content).__name__}")
    if mistakes:
        raise _refusal(mistakes)
    return merged


def _validated(
    settings: dict[str, Any],
    overrides: Mapping[str, Any] | None,
    files: Sequence[str | Path],
) -> Any:  # noqa: ANN401
    """Typed config of the settings of some files, with those of the command line over them."""
    try:
        return validate(_merge(settings, _retyped(dict(overrides or {}))), files)
    except YamlError as error:
        raise _refusal([str(error)]) from None


def validate(settings: Mapping[str, Any], files: Sequence[str | Path] = ()) -> Any:  # noqa: ANN401
    """Plain settings as a typed config, with the seed in every section that draws.

    ConfigError names every mistake, with its line in the last of the `files` that has it.
    """
    seeded, mistakes = _with_seed(settings)
    try:
        config = config_model().model_validate(seeded)
    except ValidationError as error:
        found = error.errors(include_url=False)  # a wrong seed is told once, not for each section
        within = {one["loc"][:-1] for one in found}  # a list of wrong values is not empty as well
        mistakes += [
            f"{_line(one)}{_where(one['loc'], files)}"
            for one in found
            if one["loc"][2:] != ("seed",) and not (_is_empty(one) and one["loc"] in within)
        ]
    else:
        mistakes += _place_mistakes(config)
    if mistakes:
        raise _refusal(mistakes)
    return config


def _where(loc: tuple[int | str, ...], files: Sequence[str | Path]) -> str:
    """File and line of a setting, or of the section that should have it, in brackets."""
    for length in range(len(loc), 0, -1):
        for file in reversed(files):
            if line := _lines(file).get(loc[:length]):
                here = Path(file).is_relative_to(Path.cwd())
                return f" ({Path(file).relative_to(Path.cwd()) if here else file}, line {line})"
    return ""


@cache
def _lines(file: str | Path) -> Mapping[tuple[Any, ...], int]:
    return lines_of(file)


def _place_mistakes(config: Any) -> Iterator[str]:  # noqa: ANN401
    """What is wrong with the folders of downloads and of a run, beside those of the papers."""
    cache, found = config.data.cache, places(config)
    for kind in ("results", "figures", "logs"):
        for folder in sorted({kind, found[kind]}):
            if _within(cache, folder) or _within(folder, cache):
                expected = f"a folder apart from {folder}, which a run writes"
                yield f"data.cache: expected {expected}, got {cache!r}"
    for own in ("results", "figures", "data") if config.folder else ():
        if _within(config.folder, own):
            yield f"folder: expected a folder apart from {own}/, got {config.folder!r}"


def _within(folder: str, other: str) -> bool:
    """Whether a folder is another one or lies below it, also by links and other spellings."""
    paths, there = [Path(folder).resolve(), *Path(folder).resolve().parents], Path(other).resolve()
    return any(one == there or (one.exists() and there.exists() and one.samefile(there))
               for one in paths)  # fmt: skip


def _refusal(mistakes: list[str]) -> ConfigError:
    lines = [f"  - {cut(mistake, _LONGEST)}" for mistake in mistakes[:_LISTED]]
    if len(mistakes) > _LISTED:
        lines.append(f"  - and {len(mistakes) - _LISTED} more")
    return ConfigError("\n".join([f"config: {len(mistakes)} mistake(s)", *lines]))


def sections(config: Section, paper: str, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Sections of a paper's settings as plain values, to be read by `typed`."""
    settings = getattr(config, paper)
    return {
        name: getattr(settings, name).model_dump(mode="json", exclude_unset=True) for name in names
    }


def typed(paper: str, plain: Mapping[str, Mapping[str, Any]]) -> list[Section]:
    """What `sections` made plain, as typed settings again."""
    models = {name: field.annotation for name, field in _models(paper).items()}
    return [models[name].model_validate(dict(value)) for name, value in plain.items()]


def _models(paper: str) -> dict[str, Any]:
    fields: dict[str, Any] = import_module(f"dpnoise_papers.{paper}.settings").Settings.model_fields
    return fields


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one mapping over another: mappings merge, null removes one, all else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        mapping = isinstance(merged.get(key), dict)
        if value is None and mapping:
            del merged[key]
        else:
            both = isinstance(value, Mapping) and mapping
            merged[key] = _merge(merged[key], value) if both else value
    return merged


def _retyped(value: Any) -> Any:  # noqa: ANN401
    """Read the text of the command line as YAML, at any depth."""
    if isinstance(value, Mapping):
        return {key: _retyped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_retyped(one) for one in value]
    return read_yaml_text(value, f"--config {cut(value)!r}") if isinstance(value, str) else value


def _with_seed(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Give the seed to every section that draws; list the sections that have one of their own."""
    seeded, mistakes = dict(settings), []
    for name in MODULES:
        paper = settings.get(name)
        if not isinstance(paper, dict):
            continue
        seeded[name] = dict(paper)
        for key, field in _models(name).items():
            draws = isinstance(field.annotation, type) and issubclass(field.annotation, Seeded)
            if draws and isinstance(paper.get(key), dict):
                if "seed" in paper[key]:
                    mistakes.append(f"{name}.{key}.seed: the seed is set once, at the top level")
                seeded[name][key] = paper[key] | {"seed": settings.get("seed")}
    return seeded, mistakes


def _is_empty(error: Mapping[str, Any]) -> bool:
    return bool(error["type"] == "too_short")


def _line(error: Mapping[str, Any]) -> str:
    """Word one mistake as 'where: what was expected, got what'."""
    where = cut(".".join(str(part) for part in error["loc"]) or "top level")
    if error["type"] in _WORDS:
        return f"{where}: {_WORDS[error['type']]}"
    if _is_empty(error) and not error["input"]:
        return f"{where}: expected at least one value, got none"
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    for bound in _BOUNDS.keys() & error.get("ctx", {}).keys():  # one at most
        message = f"expected a number {_BOUNDS[bound]} {error['ctx'][bound]:.12g}"
    got = "" if isinstance(error["input"], Mapping) else f", got {cut(repr(error['input']))}"
    message = cut(message, 400)
    return f"{where}: {message[:1].lower()}{message[1:]}{got}"


def load_run(
    papers: str | Path,
    *over: str | Path,
    overrides: Mapping[str, Any] | None = None,
) -> tuple[Any, list[dict[str, Any]]]:
    """Settings of a run, and which of them are not the papers', as `settings_changed` says.

    `papers` is the file of the papers' settings; files `over` it and `overrides` are as for
    `dpnoise_papers.config.load`. ConfigError names every mistake, or the changed settings of a run
    that would write over the papers' results.
    """
    plain = _read([papers], {})
    paper = run = validate(plain, [papers])
    if over or overrides:
        run = _validated(_read(over, plain), overrides, [papers, *over])
    changed = settings_changed(run, paper)
    shared = {kind for kind in ("results", "figures") if places(run)[kind] == kind}
    if changed and shared:
        raise ConfigError(_own_folder_wanted(changed))
    return run, changed


def settings_changed(config: Section, paper: Section) -> list[dict[str, Any]]:
    """Settings that differ from the papers': 'setting', its value in 'paper' and in 'run'.

    `config` are the settings of a run, `paper` those of config.yaml. Where files lie, offline and
    strict change no number and are left out; None stands for a setting that one of both lacks.
    """
    before, after = (
        dict(_leaves(one.model_dump(mode="json", exclude=_NOT_OF_PAPERS), ()))
        for one in (paper, config)
    )
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [
        {"setting": name, "paper": before.get(name), "run": after.get(name)}
        for name in sorted(names)
    ]


def _leaves(value: Any, names: tuple[str, ...]) -> Iterable[tuple[str, Any]]:  # noqa: ANN401
    """Values below nested mappings by their dotted names, without the copies of the seed."""
    if not isinstance(value, dict) or not value:
        yield ".".join(names), value
        return
    for key, one in value.items():
        if key != "seed" or not names:
            yield from _leaves(one, (*names, str(key)))


def _own_folder_wanted(changed: Sequence[Mapping[str, Any]]) -> str:
    """Message on settings that would change the papers' results."""
    lines = [
        f"  - {one['setting']}: {cut(one['run'])} instead of {cut(one['paper'])}" for one in changed
    ]
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"  - and {len(lines) - _SHOWN} more"]
    head = (
        f"config: {len(changed)} setting(s) are not those of config.yaml, whose results lie in"
        " results/ and figures/"
    )
    remedy = (
        "Give the run a folder of its own: --config folder=runs/NAME, a line 'folder: NAME' in its"
        " config file, or `make reproduce RUN=NAME CONFIG=FILE`."
    )
    return "\n".join([head, *lines, remedy])
