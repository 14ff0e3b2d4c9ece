"""Answers of the commands: a table for people, an object for programs, a figure by Matplotlib.

Bounds that people read are rounded to the safe side, so that what is copied from a table holds.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import fields, is_dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_WIDE = 10**6  # of a text without lines drawn, where nothing is folded


def upper(x: float, digits: int = 4, *, rounding: str = ROUND_CEILING) -> str:
    """A number in some digits, rounded up."""
    if not math.isfinite(x):
        return str(x)
    found = Context(prec=digits, rounding=rounding).create_decimal(Decimal(x))
    return f"{float(found):.{digits}g}"  # of no more digits: not rounded again


def lower(x: float, digits: int = 4) -> str:
    """A number in some digits, rounded down."""
    return upper(x, digits, rounding=ROUND_FLOOR)


def plain(value: Any) -> Any:  # noqa: ANN401
    """A value as JSON has it; numbers that are not finite as text."""
    if hasattr(value, "tolist"):  # of NumPy
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


def show(
    title: str,
    rows: Iterable[Sequence[str]],
    notes: list[str],
    data: dict[str, Any],
    *,
    as_json: bool,
    header: Sequence[str] = ("", ""),
) -> None:
    """Print an answer: as JSON, as a table in a terminal, or as aligned text."""
    if as_json:
        click.echo(json.dumps(plain(data), allow_nan=False))
        return
    with imports_of("cli"):
        from rich import box  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    drawn = sys.stdout.isatty()
    table = Table(
        box=box.HEAVY_HEAD if drawn else None,
        padding=(0, 1) if drawn else (0, 2, 0, 0),
        pad_edge=drawn,
        show_header=any(header),
    )
    for k, name in enumerate(header):
        inner = 0 < k < len(header) - 1
        table.add_column(name, justify="right" if inner else "left", overflow="fold")
    for cells in rows:
        table.add_row(*map(Text, cells))
    console = Console(highlight=False, width=None if drawn else _WIDE)
    with console.capture() as text:
        console.print(Text(title), table, *map(Text, notes), sep="\n")
    click.echo("\n".join(map(str.rstrip, text.get().splitlines())))


def save(path: str, draw: Callable[[Any], None]) -> None:
    """A figure with one pair of axes, drawn and written; ValueError for a kind of file unknown."""
    with imports_of("plot"):
        from matplotlib.figure import Figure  # noqa: PLC0415
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    draw(figure.add_subplot())
    figure.savefig(path)


def certified(found: Any, path: str | None, relation: str | None = None) -> None:  # noqa: ANN401
    """Write the certificate of what was found, if there is a file for it."""
    if path:
        from dpnoise.certificates.certificate import certify  # noqa: PLC0415

        certify(found, relation=relation).write(path)
