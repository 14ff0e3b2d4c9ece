"""Verdicts on claims, by one rule for all papers.

A false 'differs' accuses authors wrongly and is as bad as a false match, so there are
three answers: 'reproduced' where ours agrees, 'differs' where it is clear that it does
not, and 'undecided' where neither is clear. Clear is beyond rounding, beyond the
resolution of our own computation and beyond the 99 % interval of the noise, which is
widened (Bonferroni, Student) for the number of rows that are looked at and for few draws.
What only a choice decides that the paper leaves open is not clear either. The rule is
written out in `published/README.md`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dpnoise_papers.claims.model import related
from dpnoise_papers.claims.quantity import NotRunError, corrected, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim, Printed
    from dpnoise_papers.claims.quantity import Quantity

REPRODUCED = "reproduced"
ORDERING = "ordering reproduced"
MISPRINT = "misprint"
UNDECIDED = "undecided"
DIFFERS = "differs"
NOT_RUN = "not run"
LEGEND = {
    REPRODUCED: "ours agrees with what is printed, by the rule in published/README.md",
    ORDERING: "the number differs, but the ordering that it is part of holds",
    MISPRINT: "what is printed fails, and the corrected number or statement holds",
    UNDECIDED: "neither agreement nor difference is clear beyond noise, resolution, open choices",
    DIFFERS: "ours differs by more than rounding, resolution, noise and open choices explain",
    NOT_RUN: "there is no value to judge, for the reason given",
}
NEAR = 2.0
LEVEL = 0.99
VERDICT_COLUMNS = (
    "id", "paper", "item", "kind", "statement", "printed", "ours", "uncertainty", "verdict",
    "why", "cause",
)  # fmt: skip

# Tables carry ten digits: a rounding boundary cannot be read more finely.
_DIGITS = 1e-9
_ORDER = [DIFFERS, UNDECIDED, REPRODUCED]  # rank 0, 1, 2: a claim is as good as its worst row


class _Finding(NamedTuple):
    """Verdict on one claim, why, and our value."""

    verdict: str
    why: str
    ours: str = ""
    se: float | None = None


def judge(claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Verdict on each claim: one row per claim, in their order, with the columns `VERDICT_COLUMNS`.

    `tables` are result tables by `Claim.result`; an absent one makes 'not run'. `uncertainty` is
    the standard error of `ours`, NaN if it has none; `cause` names the causes, joined by ';', of
    what is not reproduced or never computed.
    """
    findings = {claim.id: _finding(claim, tables) for claim in claims}
    rows = []
    for claim in claims:
        found = findings[claim.id]
        verdict, why = found.verdict, found.why
        if verdict == DIFFERS and claim.ordering in findings:
            order = findings[claim.ordering].verdict
            verdict = ORDERING if order == REPRODUCED else DIFFERS
            word = "not reproduced" if order == DIFFERS else order
            why += f" The ordering {claim.ordering} is {word}."
        printed = f"{claim.relation} {claim.printed.text if claim.printed else ''}".strip()
        se = math.nan if found.se is None else found.se
        holds = verdict == REPRODUCED or (verdict == NOT_RUN and claim.result)
        cause = "" if holds else ";".join(claim.cause)
        told = (claim.id, claim.paper, claim.item, claim.kind, claim.statement, printed)
        rows.append((*told, found.ours, se, verdict, why, cause))
    return pd.DataFrame(rows, columns=list(VERDICT_COLUMNS))


def _finding(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> _Finding:
    """Judge one claim by itself, without the ordering that it is part of."""
    try:
        finding = _compared(claim, quantity(claim, tables), claim.printed)
        if finding.verdict != DIFFERS:
            return finding
        if claim.corrected and claim.printed:
            right = _compared(claim, quantity(claim, tables), claim.corrected)
            why = f"Not the printed {claim.printed.text}: {right.why}"
        elif claim.corrected_statement:
            right = _compared(claim, quantity(corrected(claim), tables), claim.printed)
            why = f"As printed: {finding.why} Corrected to '{claim.corrected_statement}': "
            why += right.why
        else:
            return finding
    except NotRunError as missing:
        return _Finding(NOT_RUN, f"Not run: {missing}.")
    return right._replace(verdict=MISPRINT, why=why) if right.verdict == REPRODUCED else finding


def _compared(claim: Claim, found: Quantity, printed: Printed | None) -> _Finding:
    """Compare our value with what is printed, by an order or as a number."""
    if claim.relation or printed is None:
        return _relation(claim, found, printed)
    return _equality(claim, found, printed)


def _equality(claim: Claim, found: Quantity, printed: Printed) -> _Finding:
    """Compare with a printed number: rounding, and for noise a capped allowance."""
    half = printed.half_unit
    cap = claim.rtol * abs(printed.value)
    distance = np.abs(found.value - printed.value)
    near, far = np.zeros_like(found.value), np.zeros_like(found.value)
    if found.se is not None:
        near = NEAR * math.sqrt(2) * found.se
        far = np.maximum(near, _quantile(found, found.rows, two=True) * found.se)
    elif found.interval is not None:
        low, high = found.interval
        near = far = np.where(printed.value < found.value, found.value - low, high - found.value)
    allowed = half + np.minimum(near, cap)
    low, high = found.choices or (found.value, found.value)
    choice = np.where(printed.value < found.value, found.value - low, high - found.value)
    clear = half + np.maximum(far, choice)  # the ends of a range carry noise of their own
    rank = np.select(
        [distance <= allowed * (1 + _DIGITS), distance <= clear * (1 + _DIGITS)], [2, 1], 0
    )
    worst = int(np.lexsort((allowed - distance, rank))[0])
    show = _unit(printed)
    parts = f"half a unit of its last digit, {show(half)}"
    if near[worst] > cap:
        parts += f", and at most {claim.rtol:.0%} of it, {show(cap)}"
    elif found.se is not None:
        parts += f", and 2 sqrt 2 standard errors, {show(near[worst])}"
    elif found.interval is not None:
        parts += f", and the 99 % interval of replications, {show(near[worst])}"
    ours, of = show(found.value[worst]), _mixed(claim, rank)
    why = (
        f"Ours, {ours}{_error(found, worst, show)}, is {show(distance[worst])} from "
        f"{printed.text}, {'within' if rank[worst] == 2 else 'beyond'} the "
        f"{show(allowed[worst])} allowed ({parts})."
    )
    if rank[worst] == 1 and distance[worst] <= (half + far[worst]) * (1 + _DIGITS):
        why += f" Noise alone could explain it: {show(half + far[worst])} would be clear."
    why += _choices(found, worst, show)
    verdict = UNDECIDED if of else _ORDER[rank[worst]]
    return _Finding(verdict, of + why, ours, _se(found, worst))


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
    show = _unit(printed)
    value = f"{show(found.value[worst])}{_error(found, worst, show)}"
    if printed is None:
        texts = show(found.first[worst]), show(found.second[worst])
        said, ours = f" {claim.relation} ".join(texts), " and ".join(texts)
        apart = f"the difference is {value}"
    else:
        ours = show(found.value[worst])
        said, apart = f"{ours} {claim.relation} {printed.text}", f"ours is {value}"
    verdict, rows = _ORDER[rank[worst]], len(margin)
    of = f" in {int(np.sum(rank == rank[worst]))} of {rows} rows" if rows > 1 else ""
    if verdict == REPRODUCED:
        where = f" in all {rows} rows, in the tightest" if rows > 1 else ""
        rule = ", clear at 99 %" if noisy[worst] else ""
        why = f"Holds{where}: {said} ({apart}{rule})."
    elif verdict == UNDECIDED and choice[worst]:
        why = f"Not clear{of}: {said} neither holds nor fails over all choices ({apart})."
    elif verdict == UNDECIDED and noisy[worst]:
        why = (
            f"Cannot be told apart{of}: {said} is not clear at 99 %, nor is the reverse ({apart})."
        )
    elif verdict == UNDECIDED:
        why = f"A tie{of}: {said} is within our resolution, {claim.resolution:g} ({apart})."
    else:
        where = f"{of}, in the worst" if rows > 1 else ""
        why = f"Fails{where}: not {said} ({apart})."
    mixed = _mixed(claim, rank)
    why = mixed + why + _choices(found, worst, show)
    return _Finding(UNDECIDED if mixed else verdict, why, ours, _se(found, worst))


def _choices(found: Quantity, place: int, show: Callable[[float], str]) -> str:
    """Range over open choices in words, or nothing if none was varied."""
    low, high = (show(end[place]) for end in found.choices or (found.value, found.value))
    if low == high:
        return ""
    return f" Choices that the paper leaves open move ours from {low} to {high}."


def _mixed(claim: Claim, rank: NDArray[np.int64]) -> str:
    """Words for rows that disagree over a range that the paper leaves open."""
    if claim.reduce != "open" or len(set(rank)) == 1:
        return ""
    holds, fails = (int(np.sum(rank == place)) for place in (2, 0))
    return (
        f"The paper leaves the range open: of {len(rank)} rows {holds} hold and {fails} fail. "
        "The worst: "
    )


def _quantile(found: Quantity, rows: int, *, two: bool = False) -> Array:
    """How many standard errors are clear, `rows` being looked at.

    With `two` the printed number is taken to carry an error of the size of ours: the difference has
    sqrt 2 of it and twice the degrees of freedom.
    """
    freedom = np.maximum(np.subtract(found.repetitions, 1), 1) * (2 if two else 1)
    freedom = np.minimum(freedom, 1e10)  # beyond, Student's distribution is the normal one
    errors: Array = stdtrit(freedom, 1 - (1 - LEVEL) / 2 / rows)
    return (math.sqrt(2) if two else 1.0) * errors


def _reach(found: Quantity, rows: int) -> tuple[Array, Array]:
    """How far noise reaches below and above our value.

    Intervals come from replications of the whole experiment and are not widened.
    """
    if found.interval is not None:
        return found.value - found.interval[0], found.interval[1] - found.value
    none = np.zeros_like(found.value)
    reach = none if found.se is None else _quantile(found, rows) * found.se
    return reach, reach


def _unit(printed: Printed | None) -> Callable[[float], str]:
    """How to write values beside a printed number: in percent if it is."""
    if printed is not None and printed.text.endswith("%"):
        return lambda value: f"{100 * value:.6g}%"
    return lambda value: f"{value:.6g}"


def _se(found: Quantity, place: int) -> float | None:
    """Standard error of a value, or None if it is deterministic."""
    return None if found.se is None else float(found.se[place])


def _error(found: Quantity, place: int, show: Callable[[float], str]) -> str:
    """Noise of a value in words, or nothing if it is deterministic."""
    if found.interval is not None:
        low, high = (show(end[place]) for end in found.interval)
        return f" (99 % of replications: {low} to {high})"
    if found.se is None:
        return ""
    return f" (standard error {show(float(f'{found.se[place]:.2g}'))})"
