"""Items of inid-2024."""

from __future__ import annotations

from dpnoise_papers.item import Paper

PAPER = Paper(id="inid-2024", items=())
