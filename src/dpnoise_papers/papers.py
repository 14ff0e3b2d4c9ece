"""The papers that are reproduced: one subpackage each, with `items.py` and `settings.py`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpnoise_papers.item import Paper

MODULES = ("flipped_huber_2023", "flipped_huber_slides", "balle_wang_2018", "inid_2024")


def papers() -> tuple[Paper, ...]:
    """Declarations of all papers, in the order of MODULES."""
    return tuple(import_module(f"dpnoise_papers.{name}.items").PAPER for name in MODULES)
