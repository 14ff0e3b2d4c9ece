"""Findings as a Markdown page: each cause with its evidence, its claims and their figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dpnoise_papers.claims.references import NOT_RUN, REFERENCE
from dpnoise_papers.claims.report import headline
from dpnoise_papers.pages import markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import pandas as pd

    from dpnoise_papers.claims.model import Cause

_OPENING = (
    "What the papers print, against a run at their scale, and why it does not hold where it does "
    "not. Numbers are those of the run of which [snapshot/verdicts.csv](snapshot/verdicts.csv) has "
    "every verdict. Written by `make readme`; the causes are in `published/`."
)
_COLUMNS = ["statement", "printed", "ours", "verdict"]


def page(
    causes: Sequence[Cause],
    verdicts: pd.DataFrame,
    numbers: Mapping[str, str],
    pictures: AbstractSet[str],
) -> str:
    """Page of findings, one section for each paper.

    Parameters
    ----------
    causes : sequence of Cause
        One subsection each, if it explains something in this run.
    verdicts : DataFrame of str
        Verdicts as `judge` returns them.
    numbers : mapping of str to str
        What each reference in the text of the causes reads; an unknown one reads '[not run]'.
    pictures : set of str
        Items, as 'paper/item', whose figure is kept; each is shown once, below the first cause
        that explains one of its claims.
    """
    lines = ["# Findings", "", _OPENING, "", markdown_table(headline(verdicts))]
    shown: set[str] = set()
    named = verdicts["cause"].str.split(";")
    for paper in dict.fromkeys(cause.paper for cause in causes):
        lines += ["", f"## {paper}"]
        for cause in (cause for cause in causes if cause.paper == paper):
            rows = verdicts[named.map(lambda names, own=cause.id: own in names)]
            if rows.empty:
                continue
            lines += ["", f"### {_filled(cause.finding, numbers)}", ""]
            lines += [_filled(cause.evidence, numbers), "", _claims(rows)]
            for name in dict.fromkeys(rows["paper"] + "/" + rows["item"]):
                if name in pictures - shown:
                    lines += ["", f"![{name.replace('/', ', ')}](snapshot/{name}.png)"]
                    shown.add(name)
            lines += ["", f"Cause `{cause.id}`."]
    return "\n".join(lines) + "\n"


def _filled(text: str, numbers: Mapping[str, str]) -> str:
    """Text with its references replaced by numbers, on one line of Markdown."""
    filled = REFERENCE.sub(lambda match: numbers.get(match[1], NOT_RUN), text)
    return _escaped(" ".join(filled.split()))


def _escaped(text: str) -> str:
    """Text whose stars, bars and angles are none of Markdown's; code in backquotes stays."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*|<])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _claims(rows: pd.DataFrame) -> str:
    """Claims that a cause explains, as a table."""
    shown = rows[_COLUMNS].map(_escaped)
    return markdown_table(shown.rename(columns={"statement": "what is printed"}))
