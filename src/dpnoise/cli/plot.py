"""Figures of the commands, by Matplotlib if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of

if TYPE_CHECKING:
    from collections.abc import Callable


def save(path: str, draw: Callable[[Any], None]) -> None:
    """A figure with one pair of axes, drawn and written; ValueError for a kind of file unknown."""
    with imports_of("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    draw(figure.add_subplot())
    figure.savefig(path)
