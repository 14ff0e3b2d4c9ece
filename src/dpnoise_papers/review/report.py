"""The page for reviewers, `report.html`: its data from a run's folders, and one HTML file of them.

Templates, style and script stand in `templates`; nothing comes from outside. Items are named as the
papers write them: 'Table II' for table-2.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpnoise_papers.claims.judge import CORRECTED, LEGEND, SIGNS, bands
from dpnoise_papers.claims.published import KINDS, read_published
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import VERDICTS, named_tables, render
from dpnoise_papers.claims.report import PLAIN
from dpnoise_papers.data.registry import attributions
from dpnoise_papers.pages import from_template, one_line
from dpnoise_papers.result_files import read_table
from dpnoise_papers.review.documents import (
    bar,
    choices_for,
    html,
    inline,
    pictures,
    read_choices,
    read_findings,
)
from dpnoise_papers.review.making import making
from dpnoise_papers.review.model import (
    CauseView,
    ClaimView,
    Counts,
    FindingView,
    ItemView,
    Page,
    PaperView,
    evidence,
    read_provenance,
    stamp,
)

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Mapping, Sequence

    import pandas as pd

    from dpnoise_papers.claims.interval import Band
    from dpnoise_papers.claims.model import Cause, Claim
    from dpnoise_papers.claims.published import Published
    from dpnoise_papers.item import Item, Paper
    from dpnoise_papers.review.documents import Choice, Finding, Picture
    from dpnoise_papers.review.making import Folders
    from dpnoise_papers.review.model import Evidence, Stamp
    from dpnoise_papers.steps import Run

FINDINGS = "findings.yaml"
LARGEST = 5_000_000  # bytes of the page
GROUPS = ("Figures and tables", "Theory and text", "Beside the paper")
_NUMBERED = re.compile(
    r"(table|figure|equation|theorem|lemma|remark|corollary|proposition|algorithm|section|appendix)"
    r"-((?:\d+[a-d]?|[ivx]+|[a-f])(?![a-z])(?:-(?:\d+|[a-f])(?![a-z]))*)(?:-(.+))?"
)
_KINDS = ("table", "figure", "algorithm", "section", "equation", "lemma", "theorem", "corollary",
          "proposition", "remark", "appendix")  # fmt: skip
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_WRITTEN = {name: name.upper() for name in ("dp", "pca", "cd", "spr", "1d", "20d", "kd")}
_WRITTEN |= {
    name: name.capitalize() for name in ("fisher", "laplace", "gaussian", "huber", "bayes")
}
_WRITTEN |= {"inid": "i.n.i.d."}


def report(
    run: Run,
    folders: Folders,
    *,
    published: str | Path,
    choices: str | Path,
    optional: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Page of a run as HTML, at most `LARGEST` bytes.

    `published` is the folder of claims and causes, `choices` the document of what the papers leave
    open; without that document none are shown. `optional` maps tables that are no part of the
    default run to why they do not count, or to "" if they do. ValueError names what is wrong with a
    file, and the largest figures of a page that is too large.
    """
    known = read_published(published)
    findings = read_findings(Path(published) / FINDINGS)
    headline = Path(published) / "headline.md"
    named = named_tables(known, *(finding.text for finding in findings))
    tables = read_tables([path for path in named if not optional.get(path)], folders.results)
    document = Path(choices)
    datasets = folders.results / "datasets.csv"
    page = build(
        run=run,
        published=known,
        verdicts=read_table(folders.results / "verdicts.csv"),
        tables=tables,
        headline=headline.read_text(encoding="utf-8") if headline.is_file() else "",
        findings=findings,
        choices=read_choices(document.read_text(encoding="utf-8")) if document.is_file() else [],
        stamp=stamp(
            read_provenance(folders.results / "provenance.json"),
            run.config.seed,
            read_table(datasets) if datasets.is_file() else None,
        ),
        folders=folders,
    )
    text = to_html(page)
    size = len(text.encode("utf-8"))
    if size > LARGEST:
        drawn = {item.key: len(item.picture.address) for item in page.items if item.picture}
        largest = ", ".join(sorted(drawn, key=drawn.__getitem__, reverse=True)[:3])
        what = f"expected at most {LARGEST} bytes, got {size}"
        raise ValueError(f"report: {what}; the largest figures are of {largest}")
    return text


def build(
    *,
    run: Run,
    published: Published,
    verdicts: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    headline: str,
    findings: Sequence[Finding],
    choices: Sequence[Choice],
    stamp: Stamp,
    folders: Folders,
) -> Page:
    """Page of a run. `verdicts` is its table of verdicts, `tables` its result tables by path.

    `headline` is the template of its first sentences.
    ValueError if the verdicts are not those of the claims in `published`.
    """
    claims = _claims(published.claims, verdicts, tables)
    by_item: dict[str, list[ClaimView]] = defaultdict(list)
    for claim in claims:
        by_item[claim.item].append(claim)
    declared, papers = run.items, run.papers
    makers = {f"{paper.id}/{name}.csv": f"{paper.id}/{item.id}"
              for paper, item in declared.values() for name in item.tables}  # fmt: skip
    drawn = {
        key: folders.figures / f"{key}.png" for key, (_, item) in declared.items() if item.figure
    }
    shown = pictures({key: path for key, path in drawn.items() if path.is_file()})
    items = {
        key: _item(
            key,
            by_item[key],
            declared=declared,
            makers=makers,
            shown=shown,
            choices=choices,
            run=run,
            folders=folders,
        )
        for key in dict.fromkeys([*declared, *by_item])
    }
    labels = {key: item.label for key, item in items.items()}
    notes = [f"'{name}' has no figure in this run" for name, (_, item) in declared.items()
             if item.figure and items[name].picture is None]  # fmt: skip
    own = [claim for claim in claims if claim.kind == "printed"]
    return Page(
        lead=one_line(render(headline, {VERDICTS: verdicts})),
        stamp=stamp,
        papers=tuple(_paper(paper.id, items, own) for paper in papers),
        totals=_counts(own),
        others=tuple(
            (kind, paper.id, _counts(group))
            for kind in KINDS
            for paper in papers
            if kind != "printed"
            and (group := [c for c in claims if (c.kind, c.paper) == (kind, paper.id)])
        ),
        findings=tuple(_finding(finding, tables, labels) for finding in findings),
        causes=tuple(_cause(cause, claims, tables, labels) for cause in published.causes),
        verdicts={
            word: told for word, told in LEGEND.items() if any(c.verdict == word for c in claims)
        },
        kinds=KINDS,
        notes=tuple(notes),
        credits=tuple(attributions()),
    )


def _claims(
    claims: Sequence[Claim], verdicts: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> list[ClaimView]:
    """Claims with their verdicts, in the order of `published`."""
    rows = {row["id"]: row for row in verdicts.astype(object).fillna("").to_dict("records")}
    strange = [claim.id for claim in claims if claim.id not in rows]
    if strange or len(rows) != len(claims):
        what = f"verdicts.csv: expected the verdicts of {len(claims)} claims, got {len(rows)}"
        raise ValueError(f"{what} (without {', '.join(strange[:3]) or 'none'}); run the pipeline")
    known = bands(claims, tables)
    return [_claim(claim, rows[claim.id], known.get(claim.id), tables) for claim in claims]


def _claim(
    claim: Claim,
    row: Mapping[Hashable, object],
    band: Band | None,
    tables: Mapping[str, pd.DataFrame],
) -> ClaimView:
    """One claim beside its row of the verdicts."""
    told = {str(name): str(value) for name, value in row.items()}
    percent = told["printed"].endswith("%")
    misprint = told["reason"] in CORRECTED.values()
    corrected = claim.corrected.text if claim.corrected else claim.corrected_statement
    return ClaimView(
        id=claim.id,
        paper=claim.paper,
        item=f"{claim.paper}/{claim.item}",
        item_label=item_label(claim.item),
        kind=claim.kind,
        where=claim.place,
        quote=claim.quote,
        statement=claim.statement,
        assumptions=claim.details,
        shared=claim.assumptions,
        printed=told["printed"],
        ours=told["ours"],
        error=_number(float(told["uncertainty"]), percent=percent) if told["uncertainty"] else "",
        allowed=_allowed(band, percent=percent, order=claim.printed is None) if band else "",
        soft=told["soft"] == "yes",
        corrected=corrected if misprint else "",
        verdict=told["verdict"],
        reason="" if told["reason"] in PLAIN else told["reason"],
        why=told["why"],
        causes=tuple(name for name in told["cause"].split(";") if name),
        bar=bar(band, _bar_words(claim, told, band)) if band else None,
        table=claim.result,
        evidence=evidence(claim, tables, band, misprint=misprint),
    )


def _bar_words(claim: Claim, told: Mapping[str, str], band: Band) -> str:
    """What the bar of a claim shows, in words."""
    printed = told["printed"] if claim.printed else f"an order ({told['printed']})"
    percent = printed.endswith("%")
    ours = _number(band.value, percent=percent)
    allowed = _allowed(band, percent=percent, order=claim.printed is None)
    return f"Printed {printed}; allowed {allowed}; ours {ours}."


def _allowed(band: Band, *, percent: bool, order: bool = False) -> str:
    """Words of the interval in which a value, of an order the difference, is reproduced."""
    low, high = band.allowed
    digits = next(n for n in (*range(5, 15), 15) if n == 15 or f"{low:.{n}g}" != f"{high:.{n}g}")
    if order:
        return f"difference {_allowed(band, percent=percent)}"
    if math.isinf(low):
        return f"up to {_number(high, percent=percent)}"
    if math.isinf(high):
        return f"from {_number(low, percent=percent)}"
    ends = (_number(end, percent=percent, digits=digits + 1) for end in (low, high))
    return " to ".join(ends)


def _number(value: float, *, percent: bool, digits: int = 5) -> str:
    return f"{100 * value:.{digits}g}%" if percent else f"{value:.{digits}g}"


def _counts(claims: Sequence[ClaimView]) -> Counts:
    """How often each verdict occurs."""
    return {word: sum(claim.verdict == word for claim in claims) for word in LEGEND}


def _item(
    key: str,
    claims: Sequence[ClaimView],
    *,
    declared: Mapping[str, tuple[Paper, Item]],
    makers: Mapping[str, str],
    shown: Mapping[str, Picture],
    choices: Sequence[Choice],
    run: Run,
    folders: Folders,
) -> ItemView:
    """One item, or a place of a paper whose claims are judged by the table of another item."""
    paper, _, name = key.partition("/")
    made_by = key if key in declared else _made_by(claims, makers)
    owner = declared.get(made_by)
    item = declared[key][1] if key in declared else None
    pages = []
    if item and item.page:
        file = folders.results / f"{key}.md"
        if file.is_file():
            pages.append(html(file.read_text(encoding="utf-8")))
    return ItemView(
        key=key,
        paper=paper,
        label=item_label(name),
        group=group_of(name, judged=bool(claims)),
        caption=item.caption if item else "",
        picture=shown.get(key),
        figure_of=key if key in shown else _figure_of(key, claims, declared, makers, shown),
        made_by="" if made_by == key else made_by,
        pages=tuple(pages),
        claims=tuple(sorted(claims, key=lambda claim: list(KINDS).index(claim.kind))),
        counts=_counts(claims),
        choices=tuple(choices_for(choices, paper, name)),
        making=making(run, *owner, folders) if owner else None,
    )


def _made_by(claims: Sequence[ClaimView], makers: Mapping[str, str]) -> str:
    """Item that makes the table of the first claim that has one."""
    return next((makers[claim.table] for claim in claims if claim.table in makers), "")


def _figure_of(
    key: str,
    claims: Sequence[ClaimView],
    declared: Mapping[str, tuple[Paper, Item]],
    makers: Mapping[str, str],
    shown: Container[str],
) -> str:
    """Item whose figure stands beside claims: it bears their name or is drawn from their table."""
    panels = [f"{key}{letter}" for letter in "abcd"]
    for name in [*panels, *(makers.get(claim.table, "") for claim in claims)]:
        if name in declared and declared[name][1].figure and name in shown:
            return name
    return ""


def _paper(paper: str, items: Mapping[str, ItemView], own: Sequence[ClaimView]) -> PaperView:
    """One paper with its items by group."""
    mine = [item for item in items.values() if item.paper == paper]
    mine.sort(key=lambda item: order_of(item.key.partition("/")[2]))
    groups = [(name, tuple(item for item in mine if item.group == name)) for name in GROUPS]
    return PaperView(
        id=paper,
        counts=_counts([claim for claim in own if claim.paper == paper]),
        groups=tuple((name, group) for name, group in groups if group),
    )


def _finding(
    finding: Finding, tables: Mapping[str, pd.DataFrame], labels: Mapping[str, str]
) -> FindingView:
    """One finding with its numbers filled in; ValueError if it names no known item."""
    unknown = [key for key in finding.shows if key not in labels]
    if unknown:
        raise ValueError(f"findings: {finding.title!r} shows {', '.join(unknown)}: no such item")
    return FindingView(
        title=finding.title,
        text=inline(render(finding.text, tables)),
        shows=tuple((key, labels[key]) for key in finding.shows),
        causes=tuple(finding.causes),
    )


def _cause(
    cause: Cause,
    claims: Sequence[ClaimView],
    tables: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
) -> CauseView:
    """One cause with the claims that it explains in this run."""
    mine = [claim for claim in claims if cause.id in claim.causes]
    keys = dict.fromkeys(claim.item for claim in mine)
    return CauseView(
        id=cause.id,
        paper=cause.paper,
        finding=inline(render(cause.finding, tables)),
        evidence=inline(render(cause.evidence, tables)),
        counts=_counts(mine),
        items=tuple((key, labels[key], tuple(c for c in mine if c.item == key)) for key in keys),
    )


def to_html(page: Page) -> str:
    """Page as HTML that opens from disk without network."""
    return from_template(
        "dpnoise_papers.review",
        "page",
        filters={"prose": inline, "slug": _slug, "seconds": _seconds, "bytes": _bytes},
        names={"signs": SIGNS, "evidence_rows": _rows},
        page=page,
        findings={cause.id: cause.finding for cause in page.causes},
    )


def _rows(evidence: Evidence) -> list[list[object]]:
    """Rows of some evidence, each with its line in front."""
    return [[line, *row] for line, row in zip(evidence.lines, evidence.rows, strict=True)]


def _seconds(value: float) -> str:
    """Seconds as people say them."""
    if value < 120:
        return f"{value:.0f} s" if value >= 1 else "under 1 s"
    return f"{value / 60:.0f} min"


def _bytes(value: int) -> str:
    """File size as people say it."""
    return f"{value / 1e6:.1f} MB" if value >= 1e6 else f"{max(1, round(value / 1e3))} kB"


def _slug(words: str) -> str:
    """Words as a class of the style sheet: those before a comma, joined by hyphens."""
    return words.partition(",")[0].replace(" ", "-")


def item_label(item: str) -> str:
    """Name of an item for people, from its id: 'figure-3a' is 'Figure 3a', 'table-2' 'Table II'."""
    match = _NUMBERED.fullmatch(item)
    if not match:
        return _words(item)
    kind, number, rest = match.groups(default="")
    if kind == "table":
        number = _ROMAN[int(number)] if number.isdigit() and int(number) < len(_ROMAN) else number
    elif kind == "equation":
        number = f"({number})"
    elif kind in ("section", "appendix"):
        joint = "." if any(part.isdigit() for part in number.split("-")) else "-"
        number = number.upper().replace("-", joint)
    name = f"{kind.capitalize()} {number}"
    return f"{name}, {_words(rest, sentence=False)}" if rest else name


def order_of(item: str) -> tuple[int, int, str]:
    """Key that sorts items as a paper prints them, by kind, then number; others stay last."""
    match = _NUMBERED.fullmatch(item)
    if not match:
        return len(_KINDS), 0, ""
    number = match[2].partition("-")[0]
    digits = re.match(r"\d+", number)
    roman = number.upper()
    value = int(digits[0]) if digits else _ROMAN.index(roman) if roman in _ROMAN else 0
    return _KINDS.index(match[1]), value, item


def group_of(item: str, *, judged: bool) -> str:
    """Under which heading an item is listed; `judged` says whether it has claims."""
    match = _NUMBERED.fullmatch(item)
    if match and match[1] in ("table", "figure") and not match[3]:
        return "Figures and tables"
    return "Theory and text" if judged else "Beside the paper"


def _words(item: str, *, sentence: bool = True) -> str:
    """Words of an id, with names and abbreviations as they are written."""
    text = " ".join(_WRITTEN.get(part, part) for part in item.split("-"))
    return text[:1].upper() + text[1:] if sentence else text
