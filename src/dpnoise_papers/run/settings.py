"""Settings of one run beside the papers': what differs, and where its files go.

results/ and figures/ hold what the settings of config.yaml give, and nothing else. A run with other
settings has a folder of its own, by the setting `folder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise_papers.config import ConfigError, load, places
from dpnoise_papers.strict_yaml import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dpnoise_papers.settings import Section

_NOT_OF_PAPERS = {"data", "folder", "pathvars", "strict"}  # where files lie and what is an error
_SHOWN = 3


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
    paper = run = load(papers)
    if over or overrides:
        run = load(papers, *over, overrides=overrides)
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
