"""A paper in two pages: its headline claims in order of weight, and what stands of each.

`published/<paper>.headlines.yaml` holds the claims as an editor would order them, the rows that
judge each, and a text whose numbers are references as in the causes. Whether a claim stands follows
from the verdicts of its rows, so that no sentence here contradicts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dpnoise_papers.claims.judge import (
    CORRECTED,
    FAILS,
    LEGEND,
    NOT_RUN,
    REPRODUCED,
)
from dpnoise_papers.claims.references import NOT_RUN as UNKNOWN
from dpnoise_papers.claims.references import REFERENCE
from dpnoise_papers.claims.report import findings
from dpnoise_papers.pages import one_line
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

SUFFIX = ".headlines.yaml"
MOST_WORDS = 950  # two printed pages
REPORT = "../report.html"
_Text = Annotated[str, StringConstraints(min_length=1)]


class Headline(BaseModel):
    """A headline claim, the ids of its rows, and what stands of it in words."""

    model_config = ConfigDict(extra="forbid", strict=True)

    claim: _Text
    rows: list[_Text] = Field(min_length=1)
    text: _Text


class Headlines(BaseModel):
    """The headline claims of one paper; `about` says in one sentence what the paper is."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: _Text
    about: _Text
    headlines: list[Headline] = Field(min_length=1)


def read_headlines(folder: Path) -> dict[str, Headlines]:
    """Headline claims by paper, in the order of the files; ValueError names every mistake."""
    return {
        path.name.removesuffix(SUFFIX): read_typed(path, Headlines)
        for path in sorted(folder.glob(f"*{SUFFIX}"))
    }


def texts(folder: Path) -> list[str]:
    """Texts of all headline claims, whose references a recorded run has to know."""
    return [one.text for told in read_headlines(folder).values() for one in told.headlines]


def standing(verdicts: Sequence[str]) -> str:
    """What the verdicts on the rows of a claim say of it, in a word.

    Examples
    --------
    >>> standing(["reproduced", "reproduced"])
    'stands'
    >>> standing(["reproduced", "misprint"])
    'stands in part'
    >>> standing(["undecided", "not run"])
    'open'
    """
    known = [word for word in verdicts if word == REPRODUCED or word in FAILS]
    if not known:
        return "open" if set(verdicts) != {NOT_RUN} else "not judged"
    if all(word == REPRODUCED for word in known):
        if len(known) == len(verdicts):
            return "stands"
        mostly = 2 * len(known) >= len(verdicts)
        return "stands as far as it could be judged" if mostly else "open for the most part"
    if all(word in FAILS for word in known):
        corrected = all(word in CORRECTED.values() for word in known)
        return "stands as corrected" if corrected else "does not stand"
    return "stands in part"


def page(name: str, told: Headlines, verdicts: pd.DataFrame, numbers: Mapping[str, str]) -> str:
    """Markdown of one paper; `verdicts` and `numbers` are those of the recorded run.

    ValueError names every row that has no verdict and every reference without a number.
    """
    words: dict[str, str] = dict(zip(verdicts["id"], verdicts["verdict"], strict=True))
    wanted = [ref[1] for one in told.headlines for ref in REFERENCE.finditer(one.text)]
    missing = [row for one in told.headlines for row in one.rows if row not in words]
    missing += [one for one in wanted if numbers.get(one, UNKNOWN) == UNKNOWN]
    if missing:
        raise ValueError(f"{name}{SUFFIX}: the recorded run has no {'; '.join(missing)}")
    rows = {row for one in told.headlines for row in one.rows}
    papers = set(verdicts["paper"][verdicts["id"].isin(rows)])
    own = verdicts[verdicts["paper"].isin(papers) & (verdicts["kind"] == "printed")]
    counts = own["verdict"].value_counts()
    said = ", ".join(f"{counts[word]} {word}" for word in LEGEND if word in counts)
    lines = [
        f"# {told.title}",
        "",
        f"{one_line(told.about)} Of {len(own)} assertions that it prints: {said}; errors found:",
        f"{findings(own)}. Claims by weight, each with what stands of it; the links lead to the",
        "page with every number beside its figure, docs/report.html, and every sentence of the",
        "text is listed with its verdict on a page of the site.",
        "",
    ]
    for number, one in enumerate(told.headlines, start=1):
        judged = [words[row] for row in one.rows]
        link = f'<a href="{REPORT}#{one.rows[0]}">{standing(judged)}</a>'
        count = f" ({judged.count(REPRODUCED)} of {len(judged)} rows reproduced)"
        text = REFERENCE.sub(lambda match: numbers[match[1]], one.text)
        shown = count if len(judged) > 1 else ""
        lines += [f"{number}. **{one_line(one.claim)}** {link}{shown}. {one_line(text)}", ""]
    return "\n".join(lines).rstrip() + "\n"
