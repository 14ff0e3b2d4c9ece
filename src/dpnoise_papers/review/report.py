"""The page for reviewers, `report.html`: its data from a run's folders, and one HTML file of them.

Templates, style and script stand in `templates`; nothing comes from outside. Items are named as the
papers write them: 'Table II' for table-2. A view is what a template shows of a claim, an item, a
cause or the whole page: texts and numbers by the names that the templates use.
How an item is made and what it costs comes from its declaration and the files of the run: functions
are found by file and line without importing them; seconds and memory are those of the benchmark
file of its job, where its tables have a job of their own.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from dpnoise_papers.claims.judge import CORRECTED, LEGEND, SIGNS, bands
from dpnoise_papers.claims.published import KINDS, read_published
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import VERDICTS, named_tables, render
from dpnoise_papers.claims.report import PLAIN
from dpnoise_papers.config import sections
from dpnoise_papers.data.registry import attributions
from dpnoise_papers.making import SOURCE
from dpnoise_papers.pages import from_template, one_line
from dpnoise_papers.result_files import read_table
from dpnoise_papers.review.documents import (
    bar,
    html,
    inline,
    pictures,
    read_findings,
)
from dpnoise_papers.review.model import evidence, read_provenance, stamp
from dpnoise_papers.steps import outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from dpnoise_papers.claims.interval import Band
    from dpnoise_papers.claims.model import Cause, Claim
    from dpnoise_papers.review.documents import Finding
    from dpnoise_papers.steps import Run

    View = dict[str, Any]

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
    options: Sequence[str] = (),
    *,
    published: str | Path = "published",
) -> str:
    """Page of a run as HTML, at most `LARGEST` bytes, that opens from disk without network.

    `options` are those of Snakemake that make this run; `published` is the folder of claims and
    causes. ValueError names what is wrong with a file, verdicts that are not those of the claims,
    and the largest figures of a page that is too large.
    """
    known, results, optional = read_published(published), Path(run.results), run.optional()
    findings = read_findings(Path(published, "findings.yaml"))
    headline = Path(published, "headline.md")
    named = named_tables(known, *(finding.text for finding in findings))
    tables = read_tables([path for path in named if not optional.get(path)], results)
    verdicts, datasets = read_table(results / "verdicts.csv"), results / "datasets.csv"
    claims = _claims(known.claims, verdicts, tables)
    drawn = {key: Path(run.figures, f"{key}.png") for key, (_, item) in run.items.items()
             if item.figure}  # fmt: skip
    shown = pictures({key: path for key, path in drawn.items() if path.is_file()})
    keys = dict.fromkeys([*run.items, *(claim["item"] for claim in claims)])
    items = {
        key: _item(key, [claim for claim in claims if claim["item"] == key], run, shown)
        for key in keys
    }
    for key, item in items.items():
        owner = item["made_by"] or key
        item["making"] = making(run, owner, options) if owner in run.items else None
    labels = {key: item["label"] for key, item in items.items()}
    own = [claim for claim in claims if claim["kind"] == "printed"]
    names = [paper.id for paper in run.papers]
    papers = [_paper(name, items, own) for name in names]
    template = headline.read_text(encoding="utf-8") if headline.is_file() else ""
    causes = [_cause(cause, claims, tables, labels) for cause in known.causes]
    text = from_template(
        "dpnoise_papers.review",
        "page",
        filters={"prose": inline, "slug": _slug, "seconds": _seconds, "bytes": _bytes},
        names={"signs": SIGNS},
        findings={cause["id"]: cause["finding"] for cause in causes},
        page={
            "lead": one_line(render(template, {VERDICTS: verdicts})),
            "stamp": stamp(
                read_provenance(results / "provenance.json"),
                run.config.seed,
                read_table(datasets) if datasets.is_file() else None,
            ),
            "papers": papers,
            "all": [item for paper in papers for _, group in paper["groups"] for item in group],
            "totals": _counts(own),
            "others": [
                (kind, name, _counts(group))
                for kind in KINDS
                for name in names
                if kind != "printed"
                and (group := [c for c in claims if (c["kind"], c["paper"]) == (kind, name)])
            ],
            "findings": [_finding(finding, tables, labels) for finding in findings],
            "causes": causes,
            "verdicts": {word: told for word, told in LEGEND.items()
                         if any(claim["verdict"] == word for claim in claims)},
            "kinds": KINDS,
            "notes": [f"'{key}' has no figure in this run" for key in drawn if key not in shown],
            "credits": attributions(),
        },
    )  # fmt: skip
    size = len(text.encode("utf-8"))
    if size > LARGEST:
        largest = sorted(shown, key=lambda key: len(shown[key].address), reverse=True)[:3]
        what = f"expected at most {LARGEST} bytes, got {size}"
        raise ValueError(f"report: {what}; the largest figures are of {', '.join(largest)}")
    return text


def _claims(
    claims: Sequence[Claim], verdicts: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> list[View]:
    """Claims with their verdicts, in the order of `published`."""
    rows = {row["id"]: {str(name): str(cell) for name, cell in row.items()}
            for row in verdicts.astype(object).fillna("").to_dict("records")}  # fmt: skip
    strange = [claim.id for claim in claims if claim.id not in rows]
    if strange or len(rows) != len(claims):
        what = f"verdicts.csv: expected the verdicts of {len(claims)} claims, got {len(rows)}"
        raise ValueError(f"{what} (without {', '.join(strange[:3]) or 'none'}); run the pipeline")
    known = bands(claims, tables)
    return [_claim(claim, rows[claim.id], known.get(claim.id), tables) for claim in claims]


def _claim(claim: Claim, told: View, band: Band | None, tables: Mapping[str, pd.DataFrame]) -> View:
    """View of a claim: its row of the verdicts, and what stands beside it.

    `assumptions` are its own and `shared` those of its paragraph, `error` is our standard error,
    `allowed` where a value would be reproduced, `corrected` what should have been printed, where a
    correction holds.
    """
    percent, misprint = told["printed"].endswith("%"), told["reason"] in CORRECTED.values()
    allowed = _allowed(band, percent=percent, order=claim.printed is None) if band else ""
    printed = told["printed"] if claim.printed else f"an order ({told['printed']})"
    ours = _number(band.value, percent=percent and claim.printed is not None) if band else ""
    corrected = claim.corrected.text if claim.corrected else claim.corrected_statement
    error = told["uncertainty"]
    return told | {
        "item": f"{claim.paper}/{claim.item}",
        "item_label": item_label(claim.item),
        "quote": claim.quote,
        "statement": claim.statement,
        "assumptions": claim.details,
        "shared": claim.assumptions,
        "error": _number(float(error), percent=percent) if error else "",
        "allowed": allowed,
        "corrected": corrected if misprint else "",
        "reason": "" if told["reason"] in PLAIN else told["reason"],
        "causes": [name for name in told["cause"].split(";") if name],
        "bar": bar(band, f"Printed {printed}; allowed {allowed}; ours {ours}.") if band else None,
        "table": claim.result,
        "evidence": evidence(claim, tables, band, misprint=misprint),
    }


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


def _counts(claims: Sequence[View]) -> dict[str, int]:
    """How often each verdict occurs, in the order of the legend."""
    return {word: sum(claim["verdict"] == word for claim in claims) for word in LEGEND}


def _item(key: str, claims: Sequence[View], run: Run, shown: Mapping[str, Any]) -> View:
    """View of an item, or of a place of a paper whose claims are judged by another item's table.

    `made_by` is the item that makes that table, `figure_of` the one whose figure stands beside the
    claims: it bears their name or is drawn from their table.
    """
    paper, _, name = key.partition("/")
    item = run.items[key][1] if key in run.items else None
    makers = [made[0] for claim in claims if (made := run.maker(claim["table"]))]
    beside = (one for one in [*(f"{key}{letter}" for letter in "abcd"), *makers] if one in shown)
    page = Path(run.results, f"{key}.md")
    return {
        "key": key,
        "paper": paper,
        "label": item_label(name),
        "group": group_of(name, judged=bool(claims)),
        "caption": item.caption if item else "",
        "picture": shown.get(key),
        "figure_of": key if key in shown else next(beside, ""),
        "made_by": "" if item or not makers else makers[0],
        "pages": [html(page.read_text(encoding="utf-8"))]
        if item and item.page and page.is_file() else [],
        "claims": sorted(claims, key=lambda claim: list(KINDS).index(claim["kind"])),
        "counts": _counts(claims),
        "assumptions": list(dict.fromkeys(one for claim in claims for one in claim["shared"])),
    }  # fmt: skip


def _paper(paper: str, items: Mapping[str, View], own: Iterable[View]) -> View:
    """View of a paper with its items by group."""
    mine = [item for item in items.values() if item["paper"] == paper]
    mine.sort(key=lambda item: order_of(item["key"].partition("/")[2]))
    groups = [(name, [item for item in mine if item["group"] == name]) for name in GROUPS]
    counts = _counts([claim for claim in own if claim["paper"] == paper])
    return {"id": paper, "counts": counts, "groups": [one for one in groups if one[1]]}


def _finding(
    finding: Finding, tables: Mapping[str, pd.DataFrame], labels: Mapping[str, str]
) -> View:
    """View of a finding with its numbers filled in; ValueError if it names no known item."""
    if unknown := [key for key in finding.shows if key not in labels]:
        raise ValueError(f"findings: {finding.title!r} shows {', '.join(unknown)}: no such item")
    shows = [(key, labels[key]) for key in finding.shows]
    text = inline(render(finding.text, tables))
    return {"title": finding.title, "text": text, "shows": shows, "causes": finding.causes}


def _cause(
    cause: Cause,
    claims: Iterable[View],
    tables: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
) -> View:
    """View of a cause with the claims that it explains in this run, by item."""
    mine = [claim for claim in claims if cause.id in claim["causes"]]
    return {
        "id": cause.id,
        "paper": cause.paper,
        "finding": inline(render(cause.finding, tables)),
        "evidence": inline(render(cause.evidence, tables)),
        "explains": [(key, labels[key], [claim for claim in mine if claim["item"] == key])
                     for key in dict.fromkeys(claim["item"] for claim in mine)],
    }  # fmt: skip


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


_MADE = ("table", "figure", "page")


class Place(NamedTuple):
    """A function by its full dotted name, and the file and line where it starts."""

    function: str
    path: str
    line: int


class Making(NamedTuple):
    """How an item is made: functions with their places, settings, command, cost, files.

    `cost` are seconds and MB, None if they were not measured; `files` are (words, address relative
    to the page, bytes).
    """

    functions: list[tuple[str, Place]]
    settings: str
    command: str
    cost: tuple[float, float] | None
    files: list[tuple[str, str, int]]


def command_options(files: Iterable[str | Path], overrides: Mapping[str, Any]) -> list[str]:
    """Snakemake's options for config files, relative to the working directory, and settings."""
    names = [os.path.relpath(path) for path in files]
    options = ["--configfile", *names] if names else []
    settings = [f"{name}={json.dumps(value)}" for name, value in sorted(overrides.items())]
    return [*options, *(["--config", *settings] if settings else [])]


def making(run: Run, key: str, options: Sequence[str]) -> Making:
    """How the item 'paper/item' is made, with the files that are there."""
    paper, item = run.items[key]
    made = outputs(run.calls(key))
    command = shlex.join(["snakemake", "--cores", "2", *options, "--force", *made[:1]])
    settings = sections(run.config, paper.module, item.table.settings) if item.table else {}
    files = [Path(path) for path in made if Path(path).is_file()]
    page = Path(run.page_for_reviewers).parent
    return Making(
        functions=[
            (kind, place(getattr(item, kind).function)) for kind in _MADE if getattr(item, kind)
        ],
        settings=yaml.safe_dump({paper.module: settings}, sort_keys=False, default_flow_style=None,
                                width=100) if settings else "",
        command=f"make {item.target}" if item.extra else command,
        cost=cost(Path(run.logs, "benchmarks", f"{key}-table.tsv")),
        files=[(file.name, Path(os.path.relpath(file, page)).as_posix(), file.stat().st_size)
               for file in files],
    )  # fmt: skip


def place(function: str) -> Place:
    """Place of a function with a full dotted name; ValueError if its module lacks it."""
    module, _, name = function.rpartition(".")
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^(?:def {name}\(|class {name}\b|{name} =)", text, re.MULTILINE)
    if not found:
        raise ValueError(f"{path}: expected a function {name!r}, found none")
    line = text.count("\n", 0, found.start()) + 1
    return Place(function, path.relative_to(SOURCE.parent).as_posix(), line)


def cost(path: Path) -> tuple[float, float] | None:
    """Seconds and memory (MB) of a job by its benchmark file, 0 where Snakemake has no number."""
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    seconds, memory = (
        max((float(row[name]) for row in rows if re.fullmatch(r"[\d.]+", row[name])), default=0.0)
        for name in ("s", "max_rss")
    )
    return seconds, memory
