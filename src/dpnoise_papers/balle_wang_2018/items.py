"""Items of balle-wang-2018."""

from __future__ import annotations

from dpnoise_papers.item import Paper

PAPER = Paper(id="balle-wang-2018", items=())
