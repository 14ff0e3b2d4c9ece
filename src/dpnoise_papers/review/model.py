"""What the page for reviewers shows, as plain typed data: stamp, totals, findings, items, claims.

`dpnoise_papers.review.report` fills it from a run; the templates only write it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

    from dpnoise_papers.data.registry import Credit
    from dpnoise_papers.review.documents import Choice
    from dpnoise_papers.review.evidence import Evidence
    from dpnoise_papers.review.making import Cost, Place
    from dpnoise_papers.review.pictures import Picture
    from dpnoise_papers.review.stamp import Stamp

Counts = dict[str, int]  # how often each verdict occurs, in the order of the legend


@dataclass(frozen=True, kw_only=True)
class ClaimView:
    """One claim: what is printed where, ours, the verdict and what it rests on.

    `item` is its item as 'paper/item', `error` our standard error, `allowed` where a value would be
    reproduced, `soft` that this is wide for what is printed, `corrected` what should have been
    printed, where a correction holds.
    """

    id: str
    paper: str
    item: str
    item_label: str
    kind: str
    where: str
    quote: str
    statement: str
    printed: str
    ours: str
    error: str
    allowed: str
    soft: bool
    corrected: str
    verdict: str
    why: str
    causes: tuple[str, ...]
    bar: Markup | None
    table: str
    evidence: Evidence | None


@dataclass(frozen=True, kw_only=True)
class Making:
    """How an item is made: functions with their places, settings, command, cost, files.

    `files` are (words, address relative to the page, bytes).
    """

    functions: tuple[tuple[str, Place], ...]
    settings: str
    command: str
    cost: Cost | None
    files: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """One item: its figure and table, its claims, choices, and how it is made.

    `made_by` is the item ('paper/item') that makes the table its claims are judged by, where this
    is no item of the pipeline; `figure_of` the one whose figure stands beside the claims.
    """

    key: str
    paper: str
    label: str
    group: str
    caption: str
    picture: Picture | None
    figure_of: str
    made_by: str
    pages: tuple[Markup, ...]
    claims: tuple[ClaimView, ...]
    counts: Counts
    choices: tuple[Choice, ...]
    making: Making | None


@dataclass(frozen=True, kw_only=True)
class CauseView:
    """One cause with its evidence, and the claims that it explains by verdict and item."""

    id: str
    paper: str
    finding: Markup
    evidence: Markup
    counts: Counts
    items: tuple[tuple[str, str, tuple[ClaimView, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class FindingView:
    """One of the findings that users must know."""

    title: str
    text: Markup
    shows: tuple[tuple[str, str], ...]
    causes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PaperView:
    """One paper: counts of what it prints, and its items by group."""

    id: str
    counts: Counts
    groups: tuple[tuple[str, tuple[ItemView, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Page:
    """The whole page; `others` are kind, paper and counts of what the papers do not print.

    `credits` are the attributions of the data.
    """

    stamp: Stamp
    papers: tuple[PaperView, ...]
    totals: Counts
    others: tuple[tuple[str, str, Counts], ...]
    findings: tuple[FindingView, ...]
    causes: tuple[CauseView, ...]
    verdicts: dict[str, str]
    kinds: dict[str, str]
    notes: tuple[str, ...]
    credits: tuple[Credit, ...]

    @property
    def items(self) -> list[ItemView]:
        """Items of all papers, in the order of the page."""
        return [item for paper in self.papers for _, group in paper.groups for item in group]
