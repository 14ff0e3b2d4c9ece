"""Every checkable sentence of a paper in the order of its text, with its claims or why it has none.

`published/<paper>.sentences.csv` lists them, so that a reader can go down the paper and find each
sentence judged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from dpnoise._validation import Problems
from dpnoise_papers.claims.model import read_rows
from dpnoise_papers.pages import markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.claims.model import Claim

COLUMNS = ("place", "quote", "rows", "reason")


class Sentence(NamedTuple):
    """A sentence, caption or theorem: where it stands, its words, and its claims or the reason."""

    paper: str
    place: str
    quote: str
    rows: tuple[str, ...]
    reason: str


def read_sentences(path: str | Path, claims: Sequence[Claim]) -> list[Sentence]:
    """Sentences of a paper, from `<paper>.sentences.csv`; `claims` are those of the paper.

    ValueError names every mistake: a row that is no claim, a printed claim that no sentence names,
    and a sentence with both claims and a reason, or with neither.
    """
    path = Path(path)
    problems = Problems(path.name)
    rows = read_rows(path, COLUMNS, problems)
    paper, known = path.name.removesuffix(".sentences.csv"), {claim.id for claim in claims}
    found = []
    for name, row in rows:
        ids = tuple(one.strip() for one in row["rows"].split(";") if one.strip())
        problems.require(bool(row["place"]), f"{name}: place", "some text", "")
        expected = "the ids of claims or a reason why there is none, and not both"
        problems.require(bool(ids) != bool(row["reason"]), name, expected, (ids, row["reason"]))
        problems.require(bool(row["quote"] or ids), f"{name}: quote", "the paper's own words", "")
        for one in ids:
            problems.require(one in known, f"{name}: rows", "the id of a claim of the paper", one)
        found.append(Sentence(paper, row["place"], row["quote"], ids, row["reason"]))
    named = {one for sentence in found for one in sentence.rows}
    for claim in claims:
        if claim.kind == "printed" and claim.id not in named:
            problems.add(f"{claim.id} is printed: expected a sentence that names it, got none")
    problems.raise_if_any()
    return found


def page(
    paper: str, sentences: Sequence[Sentence], claims: Sequence[Claim], verdicts: pd.DataFrame
) -> str:
    """Page of one paper: its sentences in order, with the verdict on each claim or the reason.

    `verdicts` are those of a run, as `judge` returns them.
    """
    quotes = {claim.id: claim.quote for claim in claims}
    words: Mapping[str, str] = dict(zip(verdicts["id"], verdicts["verdict"], strict=True))
    rows = []
    for sentence in (one for one in sentences if one.paper == paper):
        said = sentence.quote or next((quotes[one] for one in sentence.rows if quotes[one]), "")
        found = "; ".join(f"{words.get(one, 'not run')} (`{one}`)" for one in sentence.rows)
        cells = (sentence.place, said, found or f"no claim: {sentence.reason}")
        rows.append([cell.replace("|", "\\|") for cell in cells])
    own = [one for one in sentences if one.paper == paper]
    judged = sum(bool(one.rows) for one in own)
    lines = [
        f"# {paper}, sentence by sentence",
        "",
        f"{len(own)} sentences, captions and theorems in the order of the text: {judged} are",
        f"judged, {len(own) - judged} claim nothing that can be, for the reason given. The",
        "verdicts are those of the recorded run.",
        "",
        markdown_table(pd.DataFrame(rows, columns=["place", "the paper's words", "verdict"])),
    ]
    return "\n".join(lines) + "\n"
