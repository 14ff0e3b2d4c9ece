"""What the page for reviewers says of a run, and the rows behind a claim.

The stamp is read from `results/provenance.json`; what that file does not say reads 'not recorded'.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise_papers.claims.model import replaced
from dpnoise_papers.claims.quantity import NotRunError, corrected, quantity, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from dpnoise_papers.claims.interval import Band
    from dpnoise_papers.claims.model import Claim


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
    rows = [] if datasets is None else datasets.astype(object).fillna("").to_dict("records")
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
        data=[(r["name"], r["status"], r["fingerprint"] or r["reason"]) for r in rows],
        settings=None if changed is None else [_change(one) for one in changed],
        packages=sorted((str(k), str(v)) for k, v in (provenance.get("packages") or {}).items()),
    )


def _change(change: dict[str, Any]) -> tuple[str, str, str]:
    """A changed setting: its name, the paper's value and that of the run."""
    return change["setting"], _plain(change.get("paper")), _plain(change.get("run"))


def _plain(value: object) -> str:
    """Setting as short JSON."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 120 else f"{text[:117]}..."


MOST = 5  # rows shown of each side of a claim
_BESIDE = ("_se", "_low", "_high", "_least", "_greatest")


class Evidence(NamedTuple):
    """Rows of one table, as texts.

    `lines` are the lines of the file on which the rows stand, `deciding` those that the verdict
    rests on, `omitted` how many further rows the claim selects.
    """

    columns: list[str]
    lines: list[int]
    rows: list[list[str]]
    deciding: set[int]
    omitted: int

    @property
    def numbered(self) -> list[list[object]]:
        """Rows, each with its line in front."""
        return [[line, *row] for line, row in zip(self.lines, self.rows, strict=True)]


def evidence(
    claim: Claim, tables: Mapping[str, pd.DataFrame], band: Band | None, *, misprint: bool = False
) -> Evidence | None:
    """Rows behind a claim, the one that decides it first; None if there are none.

    Of a misprint in words they are the rows of what should have been printed.
    """
    if misprint and claim.corrected_statement:
        claim = corrected(claim)
    if claim.result not in tables:
        return None
    table = tables[claim.result]
    claim = claim.within(table.columns)
    try:
        first = rows_of(table, claim.select, claim.result)
    except NotRunError:
        return None
    order = _by_distance(claim, tables, band, len(first))
    near = first.index[order[:MOST]]
    others = _others(claim, table, first, near)
    shown = [*near, *(line for line in others if line not in set(near))]
    columns = _columns(claim, table)
    known = band is not None and claim.reduce in ("one", "all", "open", "min", "max")
    decisive = [near[0], *others[:1]] if known and len(order) else []
    return Evidence(
        columns=columns,
        lines=[int(line) + 2 for line in shown],
        rows=[[_cell(value) for value in row] for row in table.loc[shown, columns].to_numpy()],
        deciding={int(line) + 2 for line in decisive},
        omitted=len(first) - len(near),
    )


def _by_distance(
    claim: Claim, tables: Mapping[str, pd.DataFrame], band: Band | None, rows: int
) -> list[int]:
    """Places of the selected rows, those first whose value is the one that was judged."""
    try:
        values = quantity(dataclasses.replace(claim, reduce="all"), tables).value
    except NotRunError:
        return list(range(rows))
    if band is None or len(values) != rows:
        return list(range(rows))
    return [int(place) for place in np.argsort(np.abs(values - band.value), kind="stable")]


def _others(
    claim: Claim, table: pd.DataFrame, first: pd.DataFrame, near: pd.Index[int]
) -> list[int]:
    """Lines of the second side that belong to some rows of the first."""
    if claim.quantity == "number":
        return []
    try:
        second = rows_of(table, replaced(claim.select, claim.against), claim.result)
    except NotRunError:
        return []
    if second.index.equals(first.index):
        return []
    if len(second) == 1 or not claim.pair:
        return list(second.index[:MOST])
    keys = list(claim.pair)
    places = {
        tuple(row): line for line, row in zip(second.index, second[keys].to_numpy(), strict=True)
    }
    wanted = [tuple(row) for row in first.loc[near, keys].to_numpy()]
    return [places[key] for key in wanted if key in places]


def _columns(claim: Claim, table: pd.DataFrame) -> list[str]:
    """Columns that a claim selects, pairs or speaks of, with what is said of their noise."""
    chosen = [condition.column for condition in (*claim.select, *claim.against)]
    values = [claim.column, *([claim.against_column] if claim.quantity != "number" else [])]
    beside = [f"{name}{end}" for name in dict.fromkeys(values) for end in _BESIDE]
    names = dict.fromkeys([*chosen, *claim.pair, *values, *beside, "repetitions", "data_note"])
    return [name for name in names if name in table]


def _cell(value: object) -> str:
    """Cell as text: six digits of a number, nothing for one that is missing."""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    return "" if value is None else str(value)
