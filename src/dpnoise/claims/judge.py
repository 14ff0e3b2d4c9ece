"""Say of each claim whether it holds, by one rule for all papers.

A number holds if it is as near to the printed one as rounding allows; if ours is
stochastic, as rounding and two standard errors of the difference allow, where the
printed number is taken to carry an error of the same size as ours (hence the sqrt 2).
That allowance is never more than the claim's `rtol` of the printed number, so an
imprecise run cannot pass for a match. An ordering or a bound on stochastic values holds
only if it is clear by two standard errors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.claims.model import compare
from dpnoise.claims.quantity import NotRunError, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpnoise.claims.model import Claim, Printed
    from dpnoise.claims.quantity import Quantity

REPRODUCED = "reproduced"
ORDERING = "ordering reproduced"
MISPRINT = "misprint"
DIFFERS = "differs"
NOT_RUN = "not run"
LEGEND = {
    REPRODUCED: "ours agrees with what is printed, by the rule in published/README.md",
    ORDERING: "the number differs, but the ordering that it is part of holds",
    MISPRINT: "ours agrees with the corrected value and not with the printed one",
    DIFFERS: "ours does not agree, or the direction cannot be told from noise",
    NOT_RUN: "there is no value to judge, for the reason given",
}
STANDARD_ERRORS = 2.0
VERDICT_COLUMNS = (
    "id", "paper", "item", "statement", "printed", "ours", "uncertainty", "verdict", "why",
)  # fmt: skip

# Tables carry ten digits: neither a rounding boundary nor '<=' can be read more finely.
_RESOLUTION = 1e-9


class _Finding(NamedTuple):
    verdict: str
    why: str
    ours: str = ""
    se: float | None = None


def judge(claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the verdict on each claim.

    Parameters
    ----------
    claims : sequence of Claim
    tables : mapping of str to DataFrame
        The result tables, by `Claim.result`. A table that is absent makes 'not run'.

    Returns
    -------
    DataFrame
        One row per claim, in the same order, with the columns `VERDICT_COLUMNS`.
        `uncertainty` is the standard error of `ours`, NaN if it is deterministic.
    """
    findings = {claim.id: _finding(claim, tables) for claim in claims}
    rows = []
    for claim in claims:
        found = findings[claim.id]
        verdict, why = found.verdict, found.why
        if verdict == DIFFERS and claim.ordering:
            order = findings[claim.ordering].verdict
            verdict = ORDERING if order == REPRODUCED else DIFFERS
            why += f" The ordering {claim.ordering} is {_ORDER_WORDS[order]}."
        if verdict not in (REPRODUCED, NOT_RUN) and claim.reason:
            why += f" {claim.reason}"
        printed = f"{claim.relation} {claim.printed.text if claim.printed else ''}".strip()
        se = math.nan if found.se is None else found.se
        rows.append(
            (
                claim.id,
                claim.paper,
                claim.item,
                claim.statement,
                printed,
                found.ours,
                se,
                verdict,
                why,
            )
        )
    return pd.DataFrame(rows, columns=list(VERDICT_COLUMNS))


_ORDER_WORDS = {REPRODUCED: "reproduced", DIFFERS: "not reproduced", NOT_RUN: "not run"}


def _finding(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> _Finding:
    """Judge one claim by itself, without the ordering that it is part of."""
    try:
        found = quantity(claim, tables)
    except NotRunError as missing:
        return _Finding(NOT_RUN, f"Not run: {missing}.")
    if claim.kind == "ordering":
        return _relation(claim, found, None)
    test = _relation if claim.relation else _equality
    finding = test(claim, found, claim.printed)
    if finding.verdict == DIFFERS and claim.corrected:
        corrected = test(claim, found, claim.corrected)
        if corrected.verdict == REPRODUCED:
            why = f"Not the printed {claim.printed.text}: {corrected.why}"
            return corrected._replace(verdict=MISPRINT, why=why)
    return finding


def _equality(claim: Claim, found: Quantity, printed: Printed) -> _Finding:
    """Compare with a printed number: the rounding half-unit and a capped allowance for noise."""
    spread = np.zeros_like(found.value) if found.se is None else found.se
    noise = STANDARD_ERRORS * math.sqrt(2) * spread
    cap = claim.rtol * abs(printed.value)
    allowed = printed.half_unit + np.minimum(noise, cap)
    distance = np.abs(found.value - printed.value)
    worst = int(np.argmax(distance - allowed))
    ok = bool(distance[worst] <= allowed[worst] * (1 + _RESOLUTION))
    show = _unit(printed)
    parts = f"half a unit of its last digit, {show(printed.half_unit)}"
    if found.se is not None and noise[worst] <= cap:
        parts += f", and 2 sqrt 2 standard errors, {show(noise[worst])}"
    elif found.se is not None:
        parts += f", and at most {claim.rtol:.0%} of it, {show(cap)}"
    ours = show(found.value[worst])
    why = (
        f"Ours, {ours}{_error(found, worst, show)}, is {show(distance[worst])} from "
        f"{printed.text}, {'within' if ok else 'beyond'} the {show(allowed[worst])} allowed "
        f"({parts})."
    )
    if not ok and distance[worst] <= printed.half_unit + noise[worst]:
        why += (
            f" Noise alone could explain it (2 sqrt 2 standard errors are {show(noise[worst])}), "
            "but so wide a match would say nothing."
        )
    return _Finding(REPRODUCED if ok else DIFFERS, why, ours, _se(found, worst))


def _relation(claim: Claim, found: Quantity, printed: Printed | None) -> _Finding:
    """Compare by an order, with a printed bound or, for an ordering, one side with the other."""
    bound = 0.0 if printed is None else printed.value
    sign = -1.0 if claim.relation.startswith("<") else 1.0
    margin = sign * (found.value - bound)
    clear = 0.0 if found.se is None else STANDARD_ERRORS * found.se
    exact = np.full(margin.shape, True) if found.se is None else found.se == 0
    # For an ordering the sides themselves are compared: their difference may underflow.
    sides = (found.first, found.second) if printed is None and claim.reduce != "mean" else None
    left, right = sides or (found.value, bound)
    kept = compare(left, claim.relation, right)
    if "=" in claim.relation:
        kept |= np.isclose(left, right, rtol=_RESOLUTION, atol=0.0)
    holds = np.where(exact, kept, margin >= clear)
    fails = np.where(exact, ~holds, margin <= -clear)
    rank = np.select([fails, ~holds], [0, 1], 2)
    worst = int(np.lexsort((margin, rank))[0])
    show = _unit(printed)
    value = f"{show(found.value[worst])}{_error(found, worst, show)}"
    if printed is None:
        sides = show(found.first[worst]), show(found.second[worst])
        said, ours = f" {claim.relation} ".join(sides), " and ".join(sides)
        apart = f"the difference is {value}"
    else:
        ours = show(found.value[worst])
        said, apart = f"{ours} {claim.relation} {printed.text}", f"ours is {value}"
    rows = len(margin)
    if rank[worst] == 2:
        where = f" in all {rows} rows, in the tightest" if rows > 1 else ""
        rule = "" if exact[worst] else ", clear by at least two standard errors"
        why = f"Holds{where}: {said} ({apart}{rule})."
    elif rank[worst] == 1:
        where = f" in {int(np.sum(rank == 1))} of {rows} rows" if rows > 1 else ""
        why = f"Cannot be told apart{where}: {said} is not clear by two standard errors ({apart})."
    else:
        where = f" in {int(np.sum(rank == 0))} of {rows} rows, in the worst" if rows > 1 else ""
        why = f"Fails{where}: not {said} ({apart})."
    return _Finding(REPRODUCED if rank[worst] == 2 else DIFFERS, why, ours, _se(found, worst))


def _unit(printed: Printed | None) -> Callable[[float], str]:
    """Return how to write values beside a printed number: in percent if it is."""
    if printed is not None and printed.text.endswith("%"):
        return lambda value: f"{100 * value:.6g}%"
    return lambda value: f"{value:.6g}"


def _se(found: Quantity, place: int) -> float | None:
    return None if found.se is None else float(found.se[place])


def _error(found: Quantity, place: int, show: Callable[[float], str]) -> str:
    """Return the standard error of a value in words, or nothing if it is deterministic."""
    return "" if found.se is None else f" (standard error {show(float(f'{found.se[place]:.2g}'))})"
