"""Write verdicts for people: Markdown that reads in a terminal and on a code host.

Also hands the printed numbers of one table of a paper to its figure, as a tidy table.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.claims.judge import LEGEND, NOT_RUN, REPRODUCED
from dpnoise_papers.claims.published import KINDS
from dpnoise_papers.claims.references import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.claims.model import Cause, Claim
    from dpnoise_papers.claims.published import Published


def markdown(
    published: Published,
    verdicts: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    readme: Sequence[str] = (),
) -> str:
    """Return the verdicts as one Markdown page.

    Parameters
    ----------
    published : Published
        The claims and the causes.
    verdicts : DataFrame
        As `judge` returns it for these claims.
    tables : mapping of str to DataFrame
        The result tables that the causes refer to.
    readme : sequence of str
        Where the README differs from this run, as `summary.differences` returns it.

    Returns
    -------
    str
        The counts of what the papers print, by paper; the causes of what does not hold,
        each once, with its evidence and the claims that it explains; then one table per
        item, and below it what was found where a claim is not reproduced.
    """
    lines = [
        "# Verdicts",
        "",
        "What the papers print, against this run. The first table counts only what a paper itself",
        "prints; the second the other rows, by kind.",
        "",
        *_table(("paper", *LEGEND, "claims"), headline(verdicts)),
        "",
        *_table(("kind", "paper", *LEGEND, "claims"), _other_kinds(verdicts)),
        "",
        *(f"- **{word}**: {meaning}" for word, meaning in LEGEND.items()),
        "",
        *(f"- **{word}**: {meaning}" for word, meaning in KINDS.items()),
        "",
        *_causes(published.causes, verdicts, tables),
    ]
    if readme:
        lines += ["", "## README", "", *(f"- {difference}" for difference in readme)]
    for (paper, item), group in verdicts.groupby(["paper", "item"], sort=False):
        lines += ["", f"## {paper}, {item}", ""]
        columns = ("verdict", "printed", "ours", "standard error", "statement", "kind", "id")
        lines += [*_table(columns, _rows(group)), *_explanations(group)]
    return "\n".join(lines) + "\n"


def headline(verdicts: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the counts of what each paper itself prints, and of all, as rows of a table."""
    own = verdicts[verdicts["kind"] == "printed"]
    groups = [*own.groupby("paper", sort=False), ("all", own)]
    return [(str(name), *_counts(group)) for name, group in groups]


def _other_kinds(verdicts: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the counts of the other kinds, by paper."""
    return [
        (kind, paper, *_counts(group))
        for kind in KINDS
        for paper, group in verdicts[verdicts["kind"] == kind].groupby("paper", sort=False)
        if kind != "printed"
    ]


def _causes(
    causes: Sequence[Cause], verdicts: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> list[str]:
    """Return the lines on why claims do not hold: each finding once."""
    lines = ["## Causes", "", "Why claims are not reproduced, each finding once."]
    open_ = verdicts[(verdicts["cause"] != "") | ~verdicts["verdict"].isin((REPRODUCED, NOT_RUN))]
    named = open_["cause"].str.split(";")
    for paper in dict.fromkeys(cause.paper for cause in causes):
        lines += ["", f"### {paper}", ""]
        for cause in (cause for cause in causes if cause.paper == paper):
            rows = open_[named.map(lambda names, cause=cause: cause.id in names)]
            text = f"- **{render(cause.finding, tables)}** ({cause.id}) "
            lines += [text + render(cause.evidence, tables)]
            lines += [
                f"  - {word}: {', '.join(group['id'])}."
                for word, group in rows.groupby("verdict", sort=False)
            ] or ["  - explains nothing in this run"]
    orphans = list(open_["id"][open_["cause"] == ""])
    if orphans:
        lines += ["", f"Without a cause: {', '.join(orphans)}."]
    return lines


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
        One row per claim of a number without a relation: a column for each column
        that the claim selects by, then `column`, `printed`, `half_unit` and `verdict`.
    """
    words = dict(zip(verdicts["id"], verdicts["verdict"], strict=True))
    rows = [
        {condition.column: condition.value for condition in claim.select}
        | {"column": claim.column, "printed": claim.printed.value}
        | {"half_unit": claim.printed.half_unit, "verdict": words[claim.id]}
        for claim in claims
        if (claim.paper, claim.item, claim.quantity, claim.relation) == (paper, item, "number", "")
    ]
    return pd.DataFrame(rows)


def _rows(group: pd.DataFrame) -> list[tuple]:
    columns = ["verdict", "printed", "ours", "uncertainty", "statement", "kind", "id"]
    rows = group[columns].itertuples(index=False, name=None)
    return [(*row[:3], _error(row[3], row[1]), *row[4:]) for row in rows]


def _error(se: float, printed: str) -> str:
    """Return a standard error as text, in percent where the number is printed so."""
    if math.isnan(se):
        return ""
    return f"{100 * se:.2g}%" if printed.endswith("%") else f"{se:.2g}"


def _explanations(group: pd.DataFrame) -> list[str]:
    """Return the lines on all that is not reproduced: what was found, and its cause."""
    found = defaultdict(list)
    for row in group[group["verdict"] != REPRODUCED].itertuples():
        cause = f" See {row.cause.replace(';', ', ')}." if row.cause else ""
        found[row.why + cause].append(row.id)
    lines = [""] if found else []
    return lines + [f"- {', '.join(names)}: {why}" for why, names in found.items()]


def _counts(group: pd.DataFrame) -> tuple[str, ...]:
    """Return how often each verdict occurs, and how many there are, as cells."""
    numbers = [int((group["verdict"] == word).sum()) for word in LEGEND]
    return (*(str(number or "-") for number in numbers), str(len(group)))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, padded so that it also reads as plain text."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
