"""Verdicts on claims, by one rule for all papers.

A false accusation of authors is as bad as a false match, so that ours agrees or disagrees
only where this is clear: beyond rounding, beyond the resolution of our own computation and beyond
the 99 % interval of the noise, which is widened (Bonferroni, Student) for the number of rows that
are looked at and for few draws. What only a choice decides that the paper leaves open is not clear
either. A verdict is one of five words, with its reason beside it: 'reproduced', 'not reproduced',
'compatible' where our own scatter holds what is printed, 'depends on what is not printed', and
'cannot be judged here'. The rule is written out in `published/README.md`.

Figures and pages show the printed numbers of a paper's items beside ours, with their verdicts.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.claims.interval import band_around, band_beyond
from dpnoise_papers.claims.interval import quantile as errors_at
from dpnoise_papers.claims.model import DOUBLED, related
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.claims.quantity import NotRunError, corrected, notes, quantity, rows_of
from dpnoise_papers.result_files import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.claims.interval import Band
    from dpnoise_papers.claims.model import Claim, Printed
    from dpnoise_papers.claims.quantity import Quantity


REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
COMPATIBLE = "compatible"
DEPENDS = "depends on what is not printed"
CANNOT = "cannot be judged here"
LEGEND = {
    REPRODUCED: "ours agrees with what is printed, by the rule in published/README.md",
    NOT_REPRODUCED: "ours differs by more than rounding, noise and open choices explain",
    COMPATIBLE: "what is printed lies within our own scatter, which is too wide for a match",
    DEPENDS: "a choice, a range or a word that the paper leaves open decides",
    CANNOT: "a GPU, data that are not public or an experiment is missing, as the reason says",
}
SIGNS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", COMPATIBLE: "≈", DEPENDS: "?", CANNOT: "○"}
# Reasons beside a word. Of what is not reproduced: plainly so, in the number alone, or corrected.
DIFFERS = "differs"
ORDERING = "number differs, ordering holds"
MISPRINT = "misprint"
SLIP = "slip in the proof, corrected"
INFERENCE = "inference"
# Of what is compatible; of what depends on what is not printed; of what cannot be judged.
SCATTER = "own scatter"
CHOICES = "open choices"
RANGE = "unprinted range"
WORD = "reading of a word"
EQUAL = "equal by construction"
SUBSTITUTE = "substitute data"
NOT_RUN = "not run"
UNDECIDED = "undecided"  # inside this module: neither agreement nor difference is clear
_VERDICT = {
    REPRODUCED: REPRODUCED,
    **dict.fromkeys((DIFFERS, ORDERING, MISPRINT, SLIP, INFERENCE), NOT_REPRODUCED),
    SCATTER: COMPATIBLE,
    **dict.fromkeys((CHOICES, RANGE, WORD, EQUAL), DEPENDS),
    **dict.fromkeys((SUBSTITUTE, NOT_RUN), CANNOT),
}
CORRECTED = {"misprint": MISPRINT, "slip": SLIP, "inference": INFERENCE}
NEAR = 2.0
SOFT = 0.05  # width of the band, relative to the printed number, from which on a match says little
VERDICT_COLUMNS = (
    "id", "paper", "item", "place", "kind", "form", "statement", "printed", "ours", "uncertainty",
    "passes_from", "passes_to", "soft", "verdict", "reason", "why", "cause", "finding", "optional",
)  # fmt: skip

# Tables carry ten digits: a rounding boundary cannot be read more finely.
_DIGITS = 1e-9
_ORDER = [DIFFERS, UNDECIDED, REPRODUCED]  # rank 0, 1, 2: a claim is as good as its worst row


class _Finding(NamedTuple):
    """Reason of the verdict on one claim, why, our value, and the band that it was compared with.

    `verdict` is a reason, or UNDECIDED, whose reason is `open`. `soft` says that the band is wide
    for what is printed, `noisy` that noise has widened it.
    """

    verdict: str
    why: str
    ours: str = ""
    se: float | None = None
    band: Band | None = None
    soft: bool = False
    noisy: bool = False
    open: str = SCATTER

    @property
    def reason(self) -> str:
        """Reason that is shown."""
        return self.open if self.verdict == UNDECIDED else self.verdict


def judge(
    claims: Sequence[Claim],
    tables: Mapping[str, pd.DataFrame],
    optional: Mapping[str, str] = MappingProxyType({}),
    lacking: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Verdict on each claim: one row per claim, in their order, with the columns `VERDICT_COLUMNS`.

    `verdict` is one of `LEGEND`, `reason` says why it is this word: of a range that is not printed
    for how many rows the claim holds. `tables` are result tables by `Claim.result`; an absent one
    makes 'not run'. `optional` maps
    tables that are no part of the default run to why they do not count, or to "" if they do,
    `lacking` tables to which data are missing. `uncertainty` is the standard error of `ours`, NaN
    if it has none; `passes_from` and `passes_to` are the ends
    of the interval in which ours would be reproduced, NaN where an order has no end;
    `soft` is 'yes' where that interval is wide for a printed number or holds two of them; `cause`
    names the causes, joined by ';', of what is not reproduced or never computed, `finding` the
    error of what fails, one for claims that fail by the same; `optional` is 'yes' for a claim
    about an optional table.
    """
    reasons = {**lacking, **optional}
    findings = {
        claim.id: _Finding(NOT_RUN, f"Not run: {reasons[claim.result]}.")
        if reasons.get(claim.result)
        else _of_other_data(_untried(_read_thrice(claim, tables), claim, tables), claim, tables)
        for claim in claims
    }
    rows = []
    for claim in claims:
        found = findings[claim.id]
        if rival := _also_passes_for(claim, found, claims):
            also = " as well" if found.verdict == REPRODUCED else ""
            soft = f" It would pass for {rival}{also}, which is printed beside it."
            if found.verdict == REPRODUCED and found.noisy:
                found = found._replace(verdict=UNDECIDED, open=SCATTER)
            found = found._replace(soft=True, why=found.why + soft)
        verdict, why = found.verdict, found.why
        if verdict == DIFFERS and claim.ordering in findings:
            order = findings[claim.ordering].verdict
            verdict = ORDERING if order == REPRODUCED else DIFFERS
            word = "not reproduced" if order == DIFFERS else order
            why += f" The ordering {claim.ordering} is {word}."
        printed = f"{claim.relation} {claim.printed.text if claim.printed else ''}".strip()
        se = math.nan if found.se is None else found.se
        made = claim.result and claim.result not in optional  # in another run
        holds = verdict == REPRODUCED or (verdict == NOT_RUN and made)
        cause = "" if holds else ";".join(claim.cause)
        passes = [end if math.isfinite(end) else math.nan for end in _allowed(found.band)]
        told = (claim.id, claim.paper, claim.item, claim.place, claim.kind, claim.form)
        numbers = (claim.statement, printed, found.ours, se, *passes, _word(found.soft))
        reason = verdict if verdict != UNDECIDED else found.reason
        word = _VERDICT[reason.partition(":")[0]]
        failed = claim.finding if word == NOT_REPRODUCED else ""
        rest = (word, reason, why, cause, failed, _word(claim.result in optional))
        rows.append((*told, *numbers, *rest))
    return pd.DataFrame(rows, columns=list(VERDICT_COLUMNS))


def _word(given: bool) -> str:
    return "yes" if given else "no"


def _allowed(band: Band | None) -> tuple[float, float]:
    """Ends of the interval in which a claim is reproduced, NaN without a band."""
    return band.allowed if band else (math.nan, math.nan)


def _also_passes_for(claim: Claim, finding: _Finding, claims: Sequence[Claim]) -> str:
    """Another printed number of the same ordering that our value would pass for, or nothing."""
    if not (claim.ordering and claim.printed and finding.band) or claim.relation:
        return ""
    reach = finding.band.allowed[1] - finding.band.printed
    return next(
        (
            other.printed.text
            for other in claims
            if other.ordering == claim.ordering and other.paper == claim.paper
            and other.printed and other.quantity == claim.quantity and not other.relation
            and other.printed.value != claim.printed.value
            and abs(other.printed.value - finding.band.value) <= reach
        ),
        "",
    )  # fmt: skip


def _of_other_data(finding: _Finding, claim: Claim, tables: Mapping[str, pd.DataFrame]) -> _Finding:
    """Finding on data that are not the paper's, which cannot decide about it."""
    found = [] if finding.verdict == NOT_RUN else notes(claim, tables, "data_note")
    said = sorted({note for note in found if note})
    if not said:
        return finding
    why = f"Other data than the paper's ({'; '.join(said)}) decide nothing. On them: "
    return finding._replace(verdict=SUBSTITUTE, why=f"{why}{finding.reason}. {finding.why}")


def _untried(finding: _Finding, claim: Claim, tables: Mapping[str, pd.DataFrame]) -> _Finding:
    """Finding that does not accuse where open choices, which no range covers, were not tried."""
    left = notes(claim, tables, "untried") if finding.verdict == DIFFERS else []
    said = sorted({note for note in left if note})
    if not said:
        return finding
    why = f"Open choices that were not tried may explain it ({'; '.join(said)}). As tried: "
    return finding._replace(verdict=UNDECIDED, open=CHOICES, why=why + finding.why)


def _read_thrice(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> _Finding:
    """Finding on a claim whose words for sizes are also read at half and at double.

    What holds at the word's own value and fails only where the word is doubled is reproduced.
    """
    found = _finding(claim, tables)
    if found.verdict == NOT_RUN:
        return found
    turns = {
        words: f"{words}: {other.reason}{f' ({other.why})' if other.verdict == NOT_RUN else ''}"
        for words, rival in claim.alternatives
        if (other := _finding(rival, tables)).verdict != found.verdict
    }
    if not turns:
        return found
    said = "; ".join(turns.values())
    if found.verdict == REPRODUCED and all(words.endswith(DOUBLED) for words in turns):
        return found._replace(why=f"{found.why} It is no more than the word says: {said}.")
    why = f"The reading of a word decides ({said}). As read: {found.reason}. "
    return found._replace(verdict=UNDECIDED, open=WORD, why=why + found.why)


def bands(claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame]) -> dict[str, Band]:
    """Band of each claim by its id, as `judge` compares; none for what is not run."""
    found = {claim.id: _finding(claim, tables).band for claim in claims}
    return {name: band for name, band in found.items() if band}


def _finding(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> _Finding:
    """Judge one claim by itself, without the ordering that it is part of."""
    try:
        finding = _compared(claim, tables, claim.printed)
        if finding.verdict != DIFFERS:
            return finding
        if claim.corrected and claim.printed:
            right = _compared(claim, tables, claim.corrected)
            why = f"Not the printed {claim.printed.text}: {right.why}"
        elif claim.corrected_statement:
            right = _compared(corrected(claim), tables, claim.printed)
            why = f"As printed: {finding.why} Corrected to '{claim.corrected_statement}': "
            why += right.why
        else:
            return finding
    except NotRunError as missing:
        return _Finding(NOT_RUN, f"Not run: {missing}.")
    word = CORRECTED[claim.correction]
    return right._replace(verdict=word, why=why) if right.verdict == REPRODUCED else finding


def _compared(
    claim: Claim, tables: Mapping[str, pd.DataFrame], printed: Printed | None
) -> _Finding:
    """Compare our value with what is printed, by an order or as a number."""
    found = quantity(claim, tables)
    if not claim.relation and printed is not None:
        return _equality(claim, found, printed)
    finding = _relation(claim, found, printed)
    same = notes(claim, tables, "equal_by_construction")
    if finding.verdict != REPRODUCED and same and all(same):
        why = f"The two sides are one distribution: {'; '.join(sorted(set(same)))}. "
        word = EQUAL
        if found.choices is not None and np.any(found.choices[1] > found.choices[0]):
            why, word = f"{why}Under other choices they are two. ", UNDECIDED
        return finding._replace(verdict=word, open=CHOICES, why=why + finding.why)
    ours, why = _trials(claim, tables)
    return finding._replace(why=why, ours=ours) if why else finding


def _trials(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> tuple[str, str]:
    """Ours and why of searches for violations: how many of their trials or cases fail."""
    table = tables[claim.result]
    rows = rows_of(table, claim.within(table.columns).select, claim.result)
    if claim.column != "violations" or "trials" not in rows:
        return "", ""
    several = len(rows) > 1
    if several and "id" not in rows:
        return "", ""
    counts, told = [], []
    for row in rows.to_dict("records"):
        found = int(row["violations"])
        counts.append(f"{found} of {int(row['trials'])}")
        name = f"{row['id']}: " if several else ""
        at = f", such as at {row['parameters']}" if found and "parameters" in row else ""
        kind = row.get("trials_are", "random trials")
        by = "Drawn by" if kind == "random trials" else "Listed by"
        drawn = f" {by} {row['drawn_by']}: {row['ranges']}." if "drawn_by" in row else ""
        told.append(f"{name}{counts[-1]} {kind} fail{at}.{drawn}")
    clean = [count.startswith("0 ") for count in counts]
    if claim.reduce == "open" and any(clean) and not all(clean):
        told.insert(0, "The paper leaves open which of these is meant.")
    return ", ".join(counts), " ".join(told)


def _equality(claim: Claim, found: Quantity, printed: Printed) -> _Finding:
    """Compare with a printed number: its rounding, and an allowance for noise and open choices."""
    half = printed.half_unit
    distance = np.abs(found.value - printed.value)
    near, far = np.zeros_like(found.value), np.zeros_like(found.value)
    if found.se is not None:
        near = NEAR * math.sqrt(2) * found.se
        far = np.maximum(near, errors_at(found.repetitions, found.rows, two=True) * found.se)
    elif found.interval is not None:
        low, high = found.interval
        near = far = np.where(printed.value < found.value, found.value - low, high - found.value)
    allowed = half + near
    low, high = found.choices or (found.value, found.value)
    choice = np.where(printed.value < found.value, found.value - low, high - found.value)
    clear = half + np.maximum(far, choice)  # the ends of a range carry noise of their own
    # A band that noise makes wide matches too much: such a run decides nothing.
    wide = 2 * allowed > SOFT * abs(printed.value)
    imprecise = wide & (near > half)
    within = distance <= allowed * (1 + _DIGITS)
    # Choices that are open may move ours much, and out of the band as well.
    spread = high - low > SOFT * abs(printed.value)
    turned = spread & (np.maximum(high - printed.value, printed.value - low) > allowed)
    rank = np.select(
        [within & ~imprecise & ~turned, within | (distance <= clear * (1 + _DIGITS))], [2, 1], 0
    )
    worst = int(np.lexsort((allowed - distance, rank))[0])
    noise = distance[worst] <= (half + far[worst]) * (1 + _DIGITS)
    show = unit(printed)
    parts = f"half a unit of its last digit, {show(half)}"
    if found.se is not None:
        parts += f", and 2 sqrt 2 standard errors, {show(near[worst])}"
    elif found.interval is not None:
        parts += f", and the 99 % interval of replications, {show(near[worst])}"
    ours = show(found.value[worst])
    why = (
        f"Ours, {ours}{error_words(found, worst, show)}, is {show(distance[worst])} from "
        f"{printed.text}, {'within' if within[worst] else 'beyond'} the "
        f"{show(allowed[worst])} allowed. That is {parts}."
    )
    if within[worst] and imprecise[worst]:
        why += f" Noise makes that more than {SOFT:.0%} of it wide, so that this is no match."
    elif within[worst] and turned[worst]:
        why += (
            " Choices that the paper leaves open move ours out of that, so that this is no match."
        )
    elif rank[worst] == 1 and noise:
        why += f" Noise alone could explain it: {show(half + far[worst])} would be clear."
    return _decided(
        claim, found, rank, worst, why=why, ours=ours,
        band=band_around(found.value[worst], printed.value, allowed[worst], clear[worst]),
        choice=bool(not noise or (within[worst] and not imprecise[worst])),
        printed=printed,
        soft=bool(wide[worst] or spread[worst]),
        noisy=bool(near[worst] > 0),
    )  # fmt: skip


def _relation(claim: Claim, found: Quantity, printed: Printed | None) -> _Finding:
    """Compare by an order, with a printed bound or, for an ordering, one side with the other."""
    bound = 0.0 if printed is None else printed.value
    margin = (-1.0 if claim.relation.startswith("<") else 1.0) * (found.value - bound)
    # For an ordering the sides themselves are compared: their difference may underflow.
    left, right = (found.value, bound) if printed else (found.first, found.second)
    # A bound of 0 has no scale: there a tie is in the units of the column.
    scale = np.maximum(np.abs(left), np.abs(right)) if printed is None or bound else 1.0
    tie = np.abs(left - right) <= claim.resolution * scale
    kept = related(left, claim.relation, right)
    noisy = np.zeros(margin.shape, dtype=bool)
    if found.se is not None:
        noisy = found.se > 0
    elif found.interval is not None:
        noisy = found.interval[1] > found.interval[0]
    low, high = found.choices or (found.value, found.value)
    choice = high > low
    # 'For all rows' needs no correction to hold, and one for failing in some row; a row that
    # was picked as the largest or smallest needs it both ways.
    picked = found.rows if claim.reduce in ("min", "max") else 1
    below, above = (
        (np.maximum(down, found.value - low), np.maximum(up, high - found.value))
        for down, up in (_reach(found, picked), _reach(found, found.rows))
    )
    if claim.relation.startswith("<"):
        below, above = below[::-1], above[::-1]
    wide = noisy | choice
    holds = np.where(wide, ~tie & (margin > below[0]), np.where(tie, "=" in claim.relation, kept))
    fails = ~tie & np.where(wide, margin < -above[1], ~kept)
    rank = np.select([fails, ~holds], [0, 1], 2)
    worst = int(np.lexsort((margin, rank))[0])
    show = unit(printed)
    value = f"{show(found.value[worst])}{error_words(found, worst, show)}"
    if printed is None:
        texts = show(found.first[worst]), show(found.second[worst])
        said, ours = f" {claim.relation} ".join(texts), " and ".join(texts)
        asked, apart = f"first {claim.relation} second", f"the difference is {value}"
    else:
        ours, asked = show(found.value[worst]), f"it is {claim.relation} {printed.text}"
        said, apart = f"{ours} {claim.relation} {printed.text}", f"ours is {value}"
    verdict, rows = _ORDER[rank[worst]], len(margin)
    of = f" in {int(np.sum(rank == rank[worst]))} of {rows} rows" if rows > 1 else ""
    if verdict == REPRODUCED:
        where = f" in all {rows} rows, in the tightest" if rows > 1 else ""
        rule = ", clear at 99 %" if noisy[worst] else ""
        why = f"Holds{where}: {said} ({apart}{rule})."
    elif verdict == UNDECIDED and choice[worst]:
        why = f"Not clear{of}: whether {asked} hangs on choices that are left open ({apart})."
    elif verdict == UNDECIDED and noisy[worst]:
        why = (
            f"Cannot be told apart{of}: {said} is not clear at 99 %, nor is the reverse ({apart})."
        )
    elif verdict == UNDECIDED:
        why = f"A tie{of}: {said} is within our resolution, {claim.resolution:g} ({apart})."
    else:
        where = f"{of}, in the worst" if rows > 1 else ""
        why = f"Fails{where}: not {said} ({apart})."
    band = band_beyond(
        found.value[worst], bound, below[0][worst], above[1][worst],
        downwards=claim.relation.startswith("<"),
    )  # fmt: skip
    return _decided(
        claim, found, rank, worst, why=why, ours=ours,
        band=band, choice=bool(choice[worst]), printed=printed,
    )  # fmt: skip


def _decided(
    claim: Claim,
    found: Quantity,
    rank: NDArray[np.int64],
    worst: int,
    *,
    why: str,
    ours: str,
    band: Band,
    choice: bool,
    printed: Printed | None,
    soft: bool = False,
    noisy: bool = False,
) -> _Finding:
    """Finding of the row that decides; rows that disagree over an open range decide nothing.

    `choice` says that what is not clear hangs on choices, not on our own scatter.
    """
    show, verdict, reason = unit(printed), _ORDER[rank[worst]], CHOICES if choice else SCATTER
    if claim.reduce == "open" and len(set(rank)) > 1:
        holds, fails = (int(np.sum(rank == place)) for place in (2, 0))
        verdict, reason = UNDECIDED, f"{RANGE}: holds for {holds} of {len(rank)}"
        why = (f"The paper leaves the range open: of {len(rank)} rows {holds} hold and {fails} "
               f"fail. The worst: {why}")  # fmt: skip
    elif verdict == DIFFERS and not claim.relation and printed and printed.value:
        factor = found.value[worst] / printed.value
        why += f" Ours is {factor:.3g} times what is printed." if factor > 0 else ""
    low, high = (show(end[worst]) for end in found.choices or (found.value, found.value))
    if low != high:
        why += f" Choices that the paper leaves open move ours from {low} to {high}."
    se = None if found.se is None else float(found.se[worst])
    return _Finding(verdict, why, ours, se, band, soft and verdict != DIFFERS, noisy, reason)


def _reach(found: Quantity, rows: int) -> tuple[Array, Array]:
    """How far noise reaches below and above our value.

    Intervals come from replications of the whole experiment and are not widened.
    """
    if found.interval is not None:
        return found.value - found.interval[0], found.interval[1] - found.value
    none = np.zeros_like(found.value)
    reach = none if found.se is None else errors_at(found.repetitions, rows) * found.se
    return reach, reach


def unit(printed: Printed | None) -> Callable[[float], str]:
    """How to write values beside a printed number: in percent if it is."""
    if printed is not None and printed.text.endswith("%"):
        return lambda value: f"{100 * value:.6g}%"
    return lambda value: f"{value:.6g}"


def error_words(found: Quantity, place: int, show: Callable[[float], str]) -> str:
    """Noise of a value in words, or nothing if it is deterministic."""
    if found.interval is not None:
        low, high = (show(end[place]) for end in found.interval)
        return f" (99 % interval over replications: {low} to {high})"
    if found.se is None:
        return ""
    return f" (standard error {show(float(f'{found.se[place]:.2g}'))})"


def printed_beside(claims: str, items: Sequence[str], tables: Sequence[str]) -> pd.DataFrame:
    """Printed numbers of some items of a paper, with their verdicts: see `printed_numbers`.

    `claims` is the path of the paper's claims, `tables` are those of the tables that the figure is
    drawn from. Claims about them are judged by them; those about other tables are 'not run'.
    """
    known = {"/".join(Path(path).parts[-2:]): read_table(path) for path in tables}
    own = [[one for one in read_claims(claims) if one.item == item] for item in items]
    return pd.concat([printed_numbers(some, judge(some, known)) for some in own])


def printed_numbers(claims: Sequence[Claim], verdicts: pd.DataFrame) -> pd.DataFrame:
    """Numbers that claims print, as a tidy table; `verdicts` are what `judge` returns for them.

    One row per claim of a number without a relation: a column for each column that the claim
    selects by, then `column`, `printed`, `half_unit` and `verdict`.
    """
    return pd.DataFrame([
        {condition.column: condition.value for condition in claim.select}
        | {"column": claim.column, "printed": claim.printed.value}
        | {"half_unit": claim.printed.half_unit, "verdict": verdict}
        for claim, verdict in zip(claims, verdicts["verdict"], strict=True)
        if claim.quantity == "number" and not claim.relation and claim.printed
    ])  # fmt: skip


def bounds_beside(
    claims: str,
    items: Sequence[str],
    tables: Sequence[str],  # noqa: ARG001 - as for `printed_beside`
) -> pd.DataFrame:
    """Bounds that a paper prints for a column of some items' tables, one row per claim.

    `claims` is the path of the paper's claims. Columns column, relation, printed and place; what
    the paper itself does not print is left out.
    """
    rows = [
        (claim.column, claim.relation, claim.printed.value, claim.place)
        for item in items
        for claim in read_claims(claims)
        if claim.item == item and claim.kind == "printed" and claim.quantity == "number"
        if claim.relation and claim.printed
    ]
    return pd.DataFrame(rows, columns=["column", "relation", "printed", "place"])


def printed_texts(
    claims: Sequence[Claim], item: str, keys: Sequence[str]
) -> dict[tuple[str | float, ...], str]:
    """Single printed numbers of an item by the values of the columns `keys`.

    Values of columns that the claims select by; a number among them becomes a float.
    """
    found = {}
    for claim in claims:
        where = {condition.column: condition.value for condition in claim.select}
        single = claim.quantity == "number" and not claim.relation and claim.kind == "printed"
        if claim.item == item and single and claim.printed and set(keys) <= set(where):
            found[tuple(_value(where[key]) for key in keys)] = claim.printed.text
    return found


def _value(text: str) -> str | float:
    """Float that a text stands for, or the text itself."""
    try:
        return float(text)
    except ValueError:
        return text
