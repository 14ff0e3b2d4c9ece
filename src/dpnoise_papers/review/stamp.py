"""The stamp of a run: revision, date, machine, seed, data and changed settings.

It is read from `results/provenance.json`; what that file does not say reads 'not recorded'.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

UNKNOWN = "not recorded"


class Stamp(NamedTuple):
    """What a run was, in words: short facts, then longer lists.

    `settings` are those that differ from the papers', None if that is not recorded.
    """

    facts: list[tuple[str, str]]
    data: list[tuple[str, str, str]]
    settings: list[tuple[str, str, str]] | None
    packages: list[tuple[str, str]]

    @property
    def commit(self) -> str:
        """Revision of the sources in words, or nothing if it is not known."""
        told = dict(self.facts).get("revision", UNKNOWN)
        return "" if told == UNKNOWN else told


def read_provenance(path: Path) -> dict[str, Any]:
    """Content of `results/provenance.json`, empty if there is none.

    ValueError if it is no JSON object.
    """
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: expected JSON: {error}; delete it and run again") from None
    if not isinstance(content, dict):
        message = f"{path}: expected an object, got {type(content).__name__}"
        raise ValueError(message)  # noqa: TRY004 - of the file, not of an argument
    return content


def stamp(provenance: dict[str, Any], seed: int, datasets: pd.DataFrame | None) -> Stamp:
    """Stamp of a run; `datasets` is `results/datasets.csv`."""
    machine = provenance.get("machine") or {}
    revision = str(provenance.get("revision") or UNKNOWN)
    short = revision[:12] if len(revision) == 40 else revision
    modified = " with uncommitted changes" if provenance.get("modified") else ""
    cores = f"{machine['cores']} cores" if machine.get("cores") else ""
    hardware = ", ".join(filter(None, [machine.get("cpu"), cores, machine.get("system")]))
    facts = [
        ("revision", short + modified),
        ("date", str(provenance.get("date") or UNKNOWN).replace("T", " ").split(".")[0]),
        ("machine", hardware or UNKNOWN),
        ("Python", str(machine.get("python") or UNKNOWN)),
        ("seed", str(provenance.get("seed", seed))),
    ]
    changed = provenance.get("settings_changed")
    return Stamp(
        facts=facts,
        data=_data(provenance.get("data") or {}, datasets),
        settings=None if changed is None else [_change(one) for one in changed],
        packages=sorted((str(k), str(v)) for k, v in (provenance.get("packages") or {}).items()),
    )


def _change(change: dict[str, Any]) -> tuple[str, str, str]:
    """A changed setting: its name, the paper's value and that of the run."""
    return change["setting"], _plain(change.get("paper")), _plain(change.get("run"))


def _data(
    recorded: dict[str, dict[str, Any]], datasets: pd.DataFrame | None
) -> list[tuple[str, str, str]]:
    """Name, status and fingerprint (or the reason why there is none) of each data set."""
    if datasets is not None and len(datasets):
        rows = datasets.astype(object).fillna("").astype(str).to_dict("records")
        return [(r["name"], r["status"], r["fingerprint"] or r["reason"]) for r in rows]
    return [
        (name, str(one.get("status", "")), str(one.get("fingerprint") or ""))
        for name, one in sorted(recorded.items())
    ]


def _plain(value: object) -> str:
    """Setting as short JSON."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 120 else f"{text[:117]}..."
