"""Answers of the commands: a table for people, an object for programs, a figure by Matplotlib.

Bounds that people read are rounded to the safe side, so that what is copied from a table holds.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, fields, is_dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Answer:
    """What one command found: a title, a table, notes below it, and all of it as data."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: list[str]
    data: dict[str, Any]


def upper(x: float, digits: int = 4) -> str:
    """A number in some digits, rounded up."""
    return _rounded(x, digits, ROUND_CEILING)


def lower(x: float, digits: int = 4) -> str:
    """A number in some digits, rounded down."""
    return _rounded(x, digits, ROUND_FLOOR)


def _rounded(x: float, digits: int, rounding: str) -> str:
    if not math.isfinite(x):
        return str(x)
    found = Context(prec=digits, rounding=rounding).create_decimal(Decimal(x))
    return f"{float(found):.{digits}g}"  # of no more digits: not rounded again


def plain(value: Any) -> Any:  # noqa: ANN401
    """A value as JSON has it; numbers that are not finite as text."""
    import numpy as np  # noqa: PLC0415

    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if is_dataclass(value):
        parts = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **parts}
    return value


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer: as JSON, as a table in a terminal, or as aligned text."""
    if as_json:
        click.echo(json.dumps(plain(answer.data), allow_nan=False))
    elif sys.stdout.isatty():
        _show_in_terminal(answer)
    else:
        click.echo("\n".join([answer.title, *aligned(answer), *answer.notes]))


def aligned(answer: Answer) -> list[str]:
    """The lines of a table in columns, the first and the last to the left."""
    lines = [answer.header, *answer.rows] if any(answer.header) else [*answer.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    last = len(widths) - 1
    return [
        "  ".join(
            cell.rjust(n) if 0 < k < last else cell.ljust(n)
            for k, (cell, n) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in lines
    ]


def _show_in_terminal(answer: Answer) -> None:
    """A table drawn by rich."""
    with imports_of("cli"):
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    table = Table(title=Text(answer.title), show_header=any(answer.header), title_justify="left")
    last = len(answer.header) - 1
    for k, name in enumerate(answer.header):
        table.add_column(name, justify="right" if 0 < k < last else "left", overflow="fold")
    for cells in answer.rows:
        table.add_row(*map(Text, cells))
    console = Console(highlight=False)
    console.print(table)
    for note in answer.notes:
        console.print(Text(note))


def save(path: str, draw: Callable[[Any], None]) -> None:
    """A figure with one pair of axes, drawn and written; ValueError for a kind of file unknown."""
    with imports_of("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    draw(figure.add_subplot())
    figure.savefig(path)
