"""Negative controls: the cells behind each claim are changed, and its verdict has to change.

A check that agrees whatever it is shown proves nothing. Cells are moved to where the claim fails;
where it does not hold, all are moved to where it would. Verdicts that stay as they are have to be
explained in `published/constant-verdicts.yaml`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise_papers.claims.judge import (
    COMPATIBLE,
    CORRECTED,
    DEPENDS,
    DIFFERS,
    EQUAL,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    bands,
    judge,
)
from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import NotRunError, corrected, read_tables, rows_of
from dpnoise_papers.config import load, places
from dpnoise_papers.seeds import generator
from dpnoise_papers.steps import PUBLISHED
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.random import Generator

    from dpnoise_papers.claims.interval import Band
    from dpnoise_papers.claims.model import Claim, Condition

REASONS = "constant-verdicts.yaml"
CELLS = 12  # of one claim, beside the deciding one
_NOTES = ("data_note", "equal_by_construction")  # columns that decide a verdict by themselves
_OPEN = ("_least", "_greatest", "_low", "_high", "_se")  # beside a column: they widen its band


class Control(NamedTuple):
    """One change of cells: what was changed, and the verdict before and after."""

    claim: str
    change: str
    before: str
    after: str

    @property
    def works(self) -> bool:
        """Whether the verdict changed."""
        return self.before != self.after


def controls(
    claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame], rng: Generator
) -> list[Control]:
    """Controls of all claims that have a verdict in a run with these result tables."""
    return [one for claim in claims for one in _of_claim(claim, tables, rng)]


def constant(found: Sequence[Control], reasons: Mapping[str, str]) -> list[str]:
    """What is wrong: changes without an effect and without a reason, reasons without need."""
    stays = {one.claim for one in found if not one.works}
    lines = [
        f"{one.claim}: {one.change} leaves it '{one.before}'"
        for one in found
        if not one.works and one.claim not in reasons
    ]
    known = {one.claim for one in found}
    unneeded = sorted((set(reasons) & known) - stays)
    return lines + [f"{name}: {REASONS} explains a verdict that does change" for name in unneeded]


def reasons_in(folder: Path) -> dict[str, str]:
    """Reasons why verdicts cannot change, by claim; ValueError names every mistake of the file."""
    path = folder / REASONS
    return read_typed(path, dict[str, str]) if path.is_file() else {}


def _of_claim(
    claim: Claim, tables: Mapping[str, pd.DataFrame], rng: Generator
) -> Iterator[Control]:
    """Controls of one claim, on its table alone and without notes that settle the verdict."""
    if claim.result not in tables:
        return
    table = tables[claim.result]
    table = table.drop(columns=[name for name in _NOTES if name in table])
    claim = dataclasses.replace(claim.within(table.columns), ordering="")
    band = bands([claim], {claim.result: table}).get(claim.id)
    before = _verdict(claim, table)
    if before in (NOT_RUN, EQUAL) or band is None:
        return
    cases = [("", claim, before)]
    if before in CORRECTED.values():
        cases = _printed_and_corrected(claim)
    for words, one, verdict in cases:
        own = bands([one], {claim.result: table})[claim.id]
        for change, cells in _moved(one, table, verdict, own, rng):
            yield Control(claim.id, f"{words}{change}", verdict, _verdict(one, cells))


def _printed_and_corrected(claim: Claim) -> list[tuple[str, Claim, str]]:
    """A claim that holds as corrected, as printed and as corrected, with the verdict on each."""
    right = corrected(claim) if claim.corrected_statement else claim
    right = dataclasses.replace(right, printed=claim.corrected or claim.printed)
    return [
        (words, dataclasses.replace(one, corrected=None, corrected_statement=""), verdict)
        for words, one, verdict in (
            ("as printed, ", claim, DIFFERS),
            ("as corrected, ", right, REPRODUCED),
        )
    ]


def _verdict(claim: Claim, table: pd.DataFrame) -> str:
    """Reason of the verdict on one claim by one table; UNDECIDED for all that is open."""
    found = judge([claim], {claim.result: table}).iloc[0]
    is_open = found["verdict"] in (COMPATIBLE, DEPENDS) and found["reason"] != EQUAL
    return UNDECIDED if is_open else str(found["reason"])


def _moved(
    claim: Claim, table: pd.DataFrame, before: str, band: Band, rng: Generator
) -> Iterator[tuple[str, pd.DataFrame]]:
    """The table with cells of the claim moved to where its verdict would be another one.

    Where a claim on all of its rows holds, one cell at a time is moved to where it fails; where it
    does not hold, all are moved to where it would, and of an undecided one to where it fails too.
    """
    (select, column), *others = claim.sides
    try:
        rows = rows_of(table, select, claim.result)
    except NotRunError:
        return
    places = rows.index.to_numpy()
    fails = _target(claim, table, band, others, holds=False)
    if before == REPRODUCED and claim.reduce in ("one", "all", "open"):
        some = rng.permutation(places)[:CELLS].tolist()
        for place in sorted({*some, _deciding(rows, column, band)}):
            yield f"line {place + 2}, {column}", _with(table, [place], column, fails)
        return
    if before in (REPRODUCED, UNDECIDED):
        yield f"all of {column} to where it fails", _with(table, places.tolist(), column, fails)
    if before in (DIFFERS, UNDECIDED):
        holds = _target(claim, table, band, others, holds=True)
        yield f"all of {column} to where it holds", _with(table, places.tolist(), column, holds)


def _deciding(rows: pd.DataFrame, column: str, band: Band) -> int:
    """Place of the row whose value is nearest to the one that was judged."""
    distance = np.abs(rows[column].to_numpy(dtype=float) - band.value)
    return int(rows.index[int(np.argmin(distance))])


def _target(
    claim: Claim,
    table: pd.DataFrame,
    band: Band,
    others: Sequence[tuple[tuple[Condition, ...], str]],
    *,
    holds: bool,
) -> float:
    """Value of the first side with which the claim holds or fails."""
    size = max(abs(band.value), abs(band.printed), 1e-3)
    goal = band.printed
    if not holds:
        goal += 10.0 * size * (1.0 if claim.relation.startswith("<") else -1.0)
        if not claim.relation:
            goal = band.printed + 10.0 * (size + band.clear[1] - band.printed)
    elif claim.relation:
        goal += 10.0 * size * (-1.0 if claim.relation.startswith("<") else 1.0)
    if claim.quantity == "number":
        return goal
    against, other_column = others[0]
    second = rows_of(table, against, claim.result)[other_column].to_numpy(dtype=float)
    if claim.quantity == "ratio":
        return float(goal * (np.max(second) if goal > band.value else np.min(second)))
    spread = np.max(np.abs(second)) if len(second) else 0.0
    return float(goal + np.sign(goal - band.printed) * 10.0 * spread + np.median(second))


def _with(table: pd.DataFrame, places: Sequence[int], column: str, value: float) -> pd.DataFrame:
    """Table with one value in some cells of a column, which lose what is said of their noise."""
    changed = table.copy()
    changed[column] = changed[column].astype(float)
    changed.loc[list(places), column] = value
    for end in _OPEN:
        if f"{column}{end}" in changed:
            changed[f"{column}{end}"] = changed[f"{column}{end}"].astype(float)
            changed.loc[list(places), f"{column}{end}"] = 0.0 if end == "_se" else value
    return changed


class Outcome(NamedTuple):
    """Controls of a run, those without an effect that nothing explains, and the claims left out."""

    found: list[Control]
    wrong: list[str]
    without: list[str]

    def lines(self) -> list[str]:
        """Outcome in words."""
        claims = len({one.claim for one in self.found})
        effects = sum(one.works for one in self.found)
        told = [f"without a verdict, so without a control: {', '.join(self.without)}"]
        return [
            *(told if self.without else []),
            *(f"CANNOT CHANGE: {line}" for line in self.wrong),
            (
                f"{claims} claims changed in {len(self.found)} ways: {effects} verdicts change, "
                f"{len(self.found) - effects} do not, {len(self.wrong)} of them without a reason"
            ),
        ]


def mutate(*files: str, folder: str = "", seed: int) -> Outcome:
    """Negative controls of the claims of a run; `files` and `folder` are as for `verify`.

    ValueError if there is no run.
    """
    config = load("config.yaml", *files, overrides={"folder": folder} if folder else None)
    results = places(config)["results"]
    claims = read_published(PUBLISHED).claims
    tables = read_tables((claim.result for claim in claims if claim.result), results)
    if not tables:
        raise ValueError(f"verify: no results in {results}/: a run (make reproduce) comes first")
    found = controls(claims, tables, generator(seed, "controls"))
    judged = {one.claim for one in found}
    without = [claim.id for claim in claims if claim.id not in judged]
    return Outcome(found, constant(found, reasons_in(Path(PUBLISHED))), without)
