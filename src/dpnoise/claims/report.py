"""Write verdicts for people: Markdown that reads in a terminal and on a code host.

Also hands the printed numbers of one table of a paper to its figure, as a tidy table.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import pandas as pd

from dpnoise.claims.judge import LEGEND, REPRODUCED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.claims.model import Claim


def markdown(claims: Sequence[Claim], verdicts: pd.DataFrame) -> str:
    """Return the verdicts as one Markdown page.

    Parameters
    ----------
    claims : sequence of Claim
    verdicts : DataFrame
        As `judge` returns it for these claims.

    Returns
    -------
    str
        A summary (verdicts counted by paper and item), the meaning of each verdict, then
        one table per item with the reason for all that is not reproduced below it. What
        several claims share is said once.
    """
    lines = [
        "# Verdicts",
        "",
        f"{len(verdicts)} claims that the papers print, against this run.",
        "",
    ]
    groups = list(verdicts.groupby(["paper", "item"], sort=False))
    counts = [
        (paper, item, *(_count(group, word) for word in LEGEND), str(len(group)))
        for (paper, item), group in groups
    ]
    total = ("all", "", *(_count(verdicts, word) for word in LEGEND), str(len(verdicts)))
    lines += _table(("paper", "item", *LEGEND, "claims"), [*counts, total])
    lines += ["", *(f"- **{word}**: {meaning}" for word, meaning in LEGEND.items())]
    for (paper, item), group in groups:
        lines += ["", f"## {paper}, {item}", ""]
        rows = [(*row[:3], _error(row[3], row[1]), *row[4:]) for row in _rows(group)]
        lines += _table(("verdict", "printed", "ours", "standard error", "statement", "id"), rows)
        lines += _explanations(group, {claim.id: claim.reason for claim in claims})
    return "\n".join(lines) + "\n"


def printed_numbers(
    claims: Sequence[Claim], verdicts: pd.DataFrame, *, paper: str, item: str
) -> pd.DataFrame:
    """Return the numbers that one item of a paper prints, as a tidy table for its figure.

    Parameters
    ----------
    claims : sequence of Claim
    verdicts : DataFrame
        As `judge` returns it for these claims.
    paper, item : str
        Which item.

    Returns
    -------
    DataFrame
        One row per claim of kind 'number' without a relation: a column for each column
        that the claim selects by, then `column`, `printed`, `half_unit` and `verdict`.
    """
    words = dict(zip(verdicts["id"], verdicts["verdict"], strict=True))
    rows = [
        {condition.column: condition.value for condition in claim.select}
        | {"column": claim.column, "printed": claim.printed.value}
        | {"half_unit": claim.printed.half_unit, "verdict": words[claim.id]}
        for claim in claims
        if (claim.paper, claim.item, claim.kind, claim.relation) == (paper, item, "number", "")
    ]
    return pd.DataFrame(rows)


def _rows(group: pd.DataFrame) -> list[tuple]:
    columns = ["verdict", "printed", "ours", "uncertainty", "statement", "id"]
    return list(group[columns].itertuples(index=False, name=None))


def _error(se: float, printed: str) -> str:
    """Return a standard error as text, in percent where the number is printed so."""
    if math.isnan(se):
        return ""
    return f"{100 * se:.2g}%" if printed.endswith("%") else f"{se:.2g}"


def _explanations(group: pd.DataFrame, reasons: dict[str, str]) -> list[str]:
    """Return the lines on all that is not reproduced: what was found, then what may be why."""
    found, because = defaultdict(list), defaultdict(list)
    for name, verdict, why in group[["id", "verdict", "why"]].itertuples(index=False, name=None):
        reason = reasons.get(name, "")
        if verdict == REPRODUCED:
            continue
        if reason and why.endswith(reason):
            because[reason].append(name)
        found[why.removesuffix(reason).strip()].append(name)
    lines = [""] if found else []
    lines += [f"- {', '.join(names)}: {why}" for why, names in found.items()]
    for reason, names in because.items():
        lines += ["", f"Why ({', '.join(names)}): {reason}"]
    return lines


def _count(group: pd.DataFrame, word: str) -> str:
    number = int((group["verdict"] == word).sum())
    return str(number) if number else "-"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, padded so that it also reads as plain text."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
