"""Verdicts for people: Markdown that reads in a terminal and on a code host.

Beside the page of all verdicts, each paper has its headline claims in two pages, as an editor would
order them. `published/<paper>.headlines.yaml` holds the claims, the rows that judge each, and texts
whose numbers are references as in the causes. Whether a claim stands follows from the verdicts of
its rows, so that no sentence contradicts them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from dpnoise_papers.claims.judge import (
    CANNOT,
    CORRECTED,
    DIFFERS,
    INFERENCE,
    LEGEND,
    NOT_REPRODUCED,
    REPRODUCED,
)
from dpnoise_papers.claims.published import FORMS, KINDS
from dpnoise_papers.claims.references import NOT_RUN as UNKNOWN
from dpnoise_papers.claims.references import REFERENCE, render
from dpnoise_papers.pages import markdown_table, one_line
from dpnoise_papers.strict_yaml import read_typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dpnoise_papers.claims.model import Cause, Claim
    from dpnoise_papers.claims.published import Published

_NAMED = 3  # changed settings that the first lines name
PLAIN = (REPRODUCED, DIFFERS)  # reasons that say no more than their word
SUFFIX = ".headlines.yaml"
_Text = Annotated[str, StringConstraints(min_length=1)]


def markdown(
    published: Published,
    verdicts: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    recorded: Sequence[str] = (),
    changed: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Verdicts as one Markdown page.

    The counts of what the papers print; then what they print, one table per item in the order of
    the claims, and below it what was found where a claim is not reproduced; the causes of what does
    not hold, each once, with its evidence; and apart from all this our own questions. `recorded`
    says where this run differs from the recorded one, as
    `dpnoise_papers.claims.findings.differences` returns it; `changed` are the settings that are not
    the papers', as `dpnoise_papers.config.settings_changed` returns them.
    """
    own = verdicts["kind"] == "printed"
    lines = [
        "# Verdicts",
        "",
        *_warning(changed),
        "What the papers print, against this run. The two tables count only what a paper itself",
        "prints, by paper and form; a finding is one, in however many assertions it shows.",
        "",
        _table(_own(verdicts[own], "paper", dict.fromkeys(verdicts["paper"]))),
        "",
        _table(_own(verdicts[own], "form", FORMS)),
        "",
        *(f"- **{word}**: {meaning}" for word, meaning in (LEGEND | FORMS).items()),
    ]
    if recorded:
        lines += ["", "## The recorded run", "", *(f"- {difference}" for difference in recorded)]
    lines += [
        *_items(verdicts[own], published.claims),
        *_causes(published.causes, verdicts, tables),
        "",
        "## Not printed by the papers",
        "",
        "Our own questions and readings, and what a third paper prints, counted apart.",
        "",
        _table(_other_kinds(verdicts)),
        "",
        *(f"- **{word}**: {meaning}" for word, meaning in KINDS.items()),
        *_items(verdicts[~own], published.claims, assumptions=False),
    ]
    if changed:
        lines += ["", "## Settings that are not the papers'", "", _table(_settings(changed))]
    return "\n".join(lines) + "\n"


def _items(
    verdicts: pd.DataFrame, claims: Sequence[Claim], *, assumptions: bool = True
) -> list[str]:
    """Lines on each item: what it assumes, its claims as a table, and what was found of them."""
    assumed: dict[tuple[str, str], dict[str, None]] = {}
    for claim in claims if assumptions else ():
        known = assumed.setdefault((claim.paper, claim.item), {})
        known.update(dict.fromkeys(claim.assumptions))
    details = {claim.id: f" ({'; '.join(claim.details)})" for claim in claims if claim.details}
    verdicts = verdicts.assign(
        statement=verdicts["statement"] + [details.get(name, "") for name in verdicts["id"]]
    )
    lines: list[str] = []
    for (paper, item), group in verdicts.groupby(["paper", "item"], sort=False):
        told = [f"- {line}" for line in assumed.get((str(paper), str(item)), {})]
        lines += ["", f"### {paper}, {item}", *([""] if told else []), *told]
        lines += ["", _table(_shown(group)), *_explanations(group)]
    return lines


def _warning(changed: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines that say at the top that a run has other settings than the papers."""
    names = ", ".join(f"`{one['setting']}`" for one in changed[:_NAMED])
    more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    return [
        f"**The settings of this run are not the papers'.** {len(changed)} differ: {names}{more};",
        "the last table on this page names each. A verdict below is one on this run, not on the",
        "paper's experiment.",
        "",
    ] if changed else []  # fmt: skip


def _settings(changed: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Settings that are not the papers', with both values; one that is not set is a dash."""
    rows = [[one["setting"], one["paper"], one["run"]] for one in changed]
    cells = [["-" if value is None else str(value) for value in row] for row in rows]
    return pd.DataFrame(cells, columns=["setting", "papers", "this run"])


def _counts(
    groups: Iterable[tuple[dict[str, str], pd.DataFrame]], words: Sequence[str]
) -> pd.DataFrame:
    """How often some verdicts occur in groups of verdicts, and how many these are, as texts.

    A row for each group begins with its own cells.
    """
    rows = []
    for cells, group in groups:
        counts = group["verdict"].value_counts()
        numbers = {word: str(counts.get(word, "-")) for word in words}
        rows.append(cells | numbers | {"assertions": str(len(group))})
    return pd.DataFrame(rows)


def _own(own: pd.DataFrame, column: str, names: Iterable[str]) -> pd.DataFrame:
    """Counts of what the papers print, by one column, and of all.

    Findings stand last: of several assertions that are not reproduced for one reason, one.
    """
    groups = [*((name, own[own[column] == name]) for name in names), ("all", own)]
    found = _counts((({column: name}, group) for name, group in groups), _words(own))
    return found.assign(findings=[str(findings(group)) for _, group in groups])


def _words(verdicts: pd.DataFrame) -> list[str]:
    """Words of verdicts that occur."""
    return [word for word in LEGEND if word in set(verdicts["verdict"])]


def findings(verdicts: pd.DataFrame) -> int:
    """Number of findings behind the claims that are not reproduced."""
    return int(verdicts["finding"].replace("", None).nunique())


def kinds_of_findings(verdicts: pd.DataFrame) -> dict[str, int]:
    """How many findings there are of each kind.

    'proved wrong' has a theorem that a counterexample refutes or a print whose correction holds,
    'inferred' holds as we infer that it was meant, and of the rest ours is 'not matched'.
    """
    found = {"proved wrong": 0, "inferred": 0, "not matched": 0}
    for name, rows in verdicts.groupby("finding"):
        reasons = set(rows["reason"])
        proofs = reasons & set(CORRECTED.values()) - {INFERENCE}
        refuted = (rows["form"] == "theorem") & (rows["reason"] == DIFFERS)
        kind = "proved wrong" if proofs or refuted.any() else "not matched"
        kind = "inferred" if kind == "not matched" and INFERENCE in reasons else kind
        found[kind] += bool(name)
    return found


def _other_kinds(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Counts of the other kinds, by paper."""
    groups = (
        ({"kind": kind, "paper": str(paper)}, group)
        for kind in KINDS
        for paper, group in verdicts[verdicts["kind"] == kind].groupby("paper", sort=False)
        if kind != "printed"
    )
    words = _words(verdicts)
    return _counts(groups, words).reindex(columns=["kind", "paper", *words, "assertions"])


def _causes(
    causes: Sequence[Cause], verdicts: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> list[str]:
    """Lines on why claims do not hold: each finding once."""
    lines = ["", "## Causes", "", "Why claims are not reproduced, each finding once."]
    open_ = verdicts[(verdicts["cause"] != "") | ~verdicts["verdict"].isin((REPRODUCED, CANNOT))]
    named = open_["cause"].str.split(";")
    for paper in dict.fromkeys(cause.paper for cause in causes):
        lines += ["", f"### {paper}", ""]
        for cause in (cause for cause in causes if cause.paper == paper):
            rows = open_[named.map(lambda names, cause=cause: cause.id in names)]
            text = f"- **{render(cause.finding, tables)}** ({cause.id}) "
            lines += [text + render(cause.evidence, tables)]
            lines += [
                f"  - {word}: {', '.join(group['id'])}."
                for word, group in rows.groupby("reason", sort=False)
            ] or ["  - explains nothing in this run"]
    orphans = list(open_["id"][open_["cause"] == ""])
    if orphans:
        lines += ["", f"Without a cause: {', '.join(orphans)}."]
    return lines


def _shown(group: pd.DataFrame) -> pd.DataFrame:
    """Columns of verdicts that the page shows."""
    columns = ["verdict", "reason", "printed", "ours", "uncertainty", "soft", "statement", "kind",
               "id"]  # fmt: skip
    pairs = zip(group["uncertainty"], group["printed"], strict=True)
    shown = group[columns].assign(
        reason=group["reason"].replace(PLAIN, ""),
        uncertainty=[_error(se, printed) for se, printed in pairs],
        soft=group["soft"].replace({"yes": "soft", "no": ""}),
    )
    return shown.rename(columns={"uncertainty": "standard error"})


def _error(se: float, printed: str) -> str:
    """Standard error as text, in percent where the number is printed so."""
    if math.isnan(se):
        return ""
    return f"{100 * se:.2g}%" if printed.endswith("%") else f"{se:.2g}"


def _explanations(group: pd.DataFrame) -> list[str]:
    """Lines on all that is not reproduced: what was found, and its cause."""
    found: dict[str, list[str]] = {}
    for row in group[group["verdict"] != REPRODUCED].to_dict("records"):
        cause = f" See {row['cause'].replace(';', ', ')}." if row["cause"] else ""
        found.setdefault(row["why"] + cause, []).append(row["id"])
    lines = [""] if found else []
    return lines + [f"- {', '.join(names)}: {why}" for why, names in found.items()]


def _table(table: pd.DataFrame) -> str:
    """Table of text as Markdown."""
    return markdown_table(table.map(lambda cell: cell.replace("|", "\\|")))


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


def standing(rows: pd.DataFrame) -> str:
    """What the verdicts on all rows of a claim say of it: columns verdict, reason and form.

    A claim stands if every row is reproduced, and does not if none is and most are not. It stands
    in part where some rows are reproduced beside others that are not, or beside fewer open ones,
    and is open else. Where numbers alone are not reproduced and all orderings are, it says so.
    """
    holds, fails = rows["verdict"] == REPRODUCED, rows["verdict"] == NOT_REPRODUCED
    if holds.all():
        return "stands"
    if (rows["verdict"] == CANNOT).all():
        return "not judged"
    if fails.any() and (holds | rows["reason"].isin(CORRECTED.values())).all():
        return "stands as corrected"
    orderings = rows["form"] == "ordering"
    if fails.any() and orderings.any() and (rows["form"][~holds] == "number").all():
        return "numbers do not stand but the ordering does"
    if holds.any():
        return "stands in part" if fails.any() or 2 * holds.sum() >= len(rows) else "open"
    return "does not stand" if 2 * fails.sum() > len(rows) else "open"


def page(name: str, told: Headlines, verdicts: pd.DataFrame, numbers: Mapping[str, str]) -> str:
    """Markdown of one paper; `verdicts` and `numbers` are those of the recorded run.

    ValueError names every row that has no verdict and every reference without a number.
    """
    known = verdicts.set_index("id")
    wanted = [ref[1] for one in told.headlines for ref in REFERENCE.finditer(one.text)]
    missing = [row for one in told.headlines for row in one.rows if row not in known.index]
    missing += [one for one in wanted if numbers.get(one, UNKNOWN) == UNKNOWN]
    if missing:
        raise ValueError(f"{name}{SUFFIX}: the recorded run has no {'; '.join(missing)}")
    named = {row for one in told.headlines for row in one.rows}
    papers = set(verdicts["paper"][verdicts["id"].isin(named)])
    own = verdicts[verdicts["paper"].isin(papers) & (verdicts["kind"] == "printed")]
    counts = own["verdict"].value_counts()
    said = ", ".join(f"{counts[word]} {word}" for word in LEGEND if word in counts)
    lines = [
        f"# {told.title}",
        "",
        one_line(told.about),
        "",
        f"It prints {len(own)} assertions that are judged: {said}.",
        f"Behind what is not reproduced stand {findings(own)} findings.",
        "",
        "The claims follow by weight, each with what stands of it. The page docs/report.html of",
        "the recorded run has every number beside its figure.",
        "",
    ]
    for number, one in enumerate(told.headlines, start=1):
        rows = known.loc[one.rows]
        count = f" ({int((rows['verdict'] == REPRODUCED).sum())} of {len(rows)} rows reproduced)"
        text = REFERENCE.sub(lambda match: numbers[match[1]], one.text)
        label = f"*{standing(rows)}*{count if len(rows) > 1 else ''}"
        lines += [f"{number}. **{one_line(one.claim)}** {label}. {one_line(text)}", ""]
    return "\n".join(lines).rstrip() + "\n"
