"""Items of flipped-huber-slides."""

from __future__ import annotations

from dpnoise_papers.item import Paper

PAPER = Paper(id="flipped-huber-slides", items=())
