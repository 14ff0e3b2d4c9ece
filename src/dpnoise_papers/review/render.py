"""The page for reviewers as one HTML file: templates, style and script, nothing from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpnoise_papers.claims.judge import SIGNS
from dpnoise_papers.review.prose import inline

if TYPE_CHECKING:
    from dpnoise_papers.review.evidence import Evidence
    from dpnoise_papers.review.model import Page


def render(page: Page) -> str:
    """Page as HTML that opens from disk without network."""
    environment = Environment(
        loader=PackageLoader("dpnoise_papers.review"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {"prose": inline, "slug": _slug, "seconds": _seconds, "bytes": _bytes}
    environment.globals |= {"signs": SIGNS, "evidence_rows": _rows}
    loader = environment.loader
    assert loader  # noqa: S101 - just given
    style, script = (
        Markup(loader.get_source(environment, name)[0])  # noqa: S704 - our own files
        for name in ("page.css", "page.js")
    )
    findings = {cause.id: cause.finding for cause in page.causes}
    return environment.get_template("page.html.jinja").render(
        page=page, findings=findings, style=style, script=script
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
