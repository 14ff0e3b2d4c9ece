"""From a run's folders to `report.html`: what the rule of the page calls."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import read_tables
from dpnoise_papers.claims.references import named_tables
from dpnoise_papers.result_files import read_table
from dpnoise_papers.review.build import build
from dpnoise_papers.review.choices import read_choices
from dpnoise_papers.review.findings import read_findings
from dpnoise_papers.review.render import render
from dpnoise_papers.review.stamp import read_provenance, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.item import Paper
    from dpnoise_papers.review.making import Folders
    from dpnoise_papers.settings import Section

FINDINGS = "findings.yaml"
LARGEST = 5_000_000  # bytes of the page


def report(
    config: Section,
    papers: Sequence[Paper],
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
    named = named_tables(known, *(finding.text for finding in findings))
    tables = read_tables([path for path in named if not optional.get(path)], folders.results)
    document = Path(choices)
    datasets = folders.results / "datasets.csv"
    page = build(
        config=config,
        papers=papers,
        published=known,
        verdicts=read_table(folders.results / "verdicts.csv"),
        tables=tables,
        findings=findings,
        choices=read_choices(document.read_text(encoding="utf-8")) if document.is_file() else [],
        stamp=stamp(
            read_provenance(folders.results / "provenance.json"),
            config.seed,  # type: ignore[attr-defined]  # the model is made at run time
            read_table(datasets) if datasets.is_file() else None,
        ),
        folders=folders,
    )
    text = render(page)
    size = len(text.encode("utf-8"))
    if size > LARGEST:
        drawn = {item.key: len(item.picture.address) for item in page.items if item.picture}
        largest = ", ".join(sorted(drawn, key=drawn.__getitem__, reverse=True)[:3])
        what = f"expected at most {LARGEST} bytes, got {size}"
        raise ValueError(f"report: {what}; the largest figures are of {largest}")
    return text
