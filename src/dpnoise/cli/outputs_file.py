"""A CSV file of the outputs of a sampler: one output a row, its numbers in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise.cli.table_file import number, read_lines, shown

if TYPE_CHECKING:
    from dpnoise._validation import Problems

_SHOWN = 3  # of the bad rows


def read_outputs(problems: Problems, path: str) -> list[list[float]]:
    """The outputs of a file below its header, if it has one; what is wrong is recorded.

    NaN stands for an output that is not published.
    """
    lines = read_lines(problems, path)
    path = shown(path)
    if lines is None:
        return []
    if lines and all(cell and number(cell) is None for cell in lines[0][1]):
        lines.pop(0)
    if not lines:
        problems.add(f"{path}: expected outputs, one a row, got no rows")
        return []
    width = len(lines[0][1])
    rows, bad = [], []
    for place, cells in lines:
        found = [value for value in map(number, cells) if value is not None]
        if len(found) == len(cells) == width:
            rows.append(found)
        else:
            bad.append(f"line {place}: {','.join(cells)!r}")
    if bad:
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        problems.add(
            f"{path}: expected {width} number(s) with decimal points in every row, "
            f"got {', '.join(bad[:_SHOWN])}{more}"
        )
    return rows
