"""CSV files of numbers: one column, or names beside them; or outputs, one a row.

Every bad row is named. Of private values no message shows a row: only its line. Their first row, if
it has no number, is a header if its last cell is a usual name of such a column; else it may be a
value that is no number, and the caller has to say which.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

if TYPE_CHECKING:
    from dpnoise._validation import Problems

_TITLE = re.compile(r"[^\W\d_][\w ()/|-]*")  # of a column, not a mistyped number
_HOLES = {"", "-", "na", "n/a", "nan", "none", "null", "missing"}
_COLUMNS = 2
_USUAL = {"amount", "average", "count", "mean", "number", "scale", "sum", "total", "value"}
_USUAL |= {"case", "customer", "patient", "person", "record", "user", "visit", "visitor"}
_USUAL |= {*(f"{name}s" for name in _USUAL), "frequency", "people", "sensitivity", "sensitivities"}
_SHOWN = 3  # of the bad rows


class FileKind(NamedTuple):
    """What the numbers of a file are, and what their column is called.

    `signed` numbers may be negative, and no message shows a row of `private` ones.
    """

    name: str
    column: str
    signed: bool = False
    private: bool = False

    @property
    def columns(self) -> str:
        """The columns that are expected."""
        return f"one column of {self.name}, or two with names before them"


SENSITIVITIES = FileKind("sensitivities", "sensitivity")
VALUES = FileKind("values", "value", signed=True, private=True)


class Rows(NamedTuple):
    """The names and numbers of a file, in its order, and what its two columns are called."""

    names: list[str]
    values: list[float]
    columns: tuple[str, str] = ("name", "value")


def read_rows(
    problems: Problems, path: str, kind: FileKind = SENSITIVITIES, *, header: bool | None = None
) -> Rows:
    """The rows of a file; what is wrong with them is recorded, with their lines.

    `header` says whether the first row names the columns; with None it must be clear.
    """
    lines = read_lines(problems, path)
    path = shown(path)
    if lines is None:
        return Rows([], [])
    titles = (
        lines.pop(0)[1] if lines and _has_header(problems, path, kind, lines[0][1], header) else []
    )
    if not lines:
        problems.add(f"{path}: expected {kind.columns}, got no rows")
    _check(problems, path, lines, len(titles), kind)
    if problems.found:
        return Rows([], [])
    names = [
        cells[0] if len(cells) == _COLUMNS else str(k) for k, (_, cells) in enumerate(lines, 1)
    ]
    first = titles[0] if len(titles) == _COLUMNS and titles[0] else "name"
    columns = first, titles[-1] if titles else kind.column
    return Rows(names, [float(cells[-1]) for _, cells in lines], columns)


def shown(path: str) -> str:
    """The name of a file in messages."""
    return "standard input" if path == "-" else path


def read_lines(problems: Problems, path: str) -> list[tuple[int, list[str]]] | None:
    """Cells of a CSV file, or of standard input for '-', by line number.

    Empty lines at the end are left out. None, with a problem recorded, if it is no CSV file.
    """
    try:
        with click.open_file(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except UnicodeDecodeError as error:  # its own text shows a byte
        problems.add(
            f"{shown(path)}: expected a CSV file in UTF-8, got other bytes at {error.start}"
        )
        return None
    except (OSError, csv.Error) as error:
        problems.add(f"{shown(path)}: expected a CSV file in UTF-8, got {error}")
        return None
    filled = [k for k, (_, cells) in enumerate(lines, 1) if any(cells)]
    return lines[: max(filled, default=0)]


def _has_header(
    problems: Problems, path: str, kind: FileKind, cells: list[str], header: bool | None
) -> bool:
    """Whether the first row names the columns; that it is not clear is recorded."""
    last = cells[-1] if cells else ""
    word = last.lower() not in _HOLES | {"inf", "infinity"}
    title = 1 <= len(cells) <= _COLUMNS and word and bool(_TITLE.fullmatch(last))
    clear = not title or not kind.private or last.lower() in _USUAL
    if header is not None or clear:
        if header and not title:
            problems.add(f"{path}: expected names of one or two columns in line 1, with --header")
        return title if header is None else header
    problems.add(
        f"{path}: expected a number, or a usual name of a column such as 'value', in line 1: "
        "--header says that it names the columns, --no-header that it is a row like the others"
    )
    return True


def _check(
    problems: Problems, path: str, lines: list[tuple[int, list[str]]], width: int, kind: FileKind
) -> None:
    """Record of every bad row; `width` columns have a header, 0 if there is none."""
    doubtful = width == 0 and lines and all(_has_decimal_comma(cells) for _, cells in lines)
    width = width or next((len(cells) for _, cells in lines if any(cells)), 1)
    if doubtful:
        problems.add(
            f"{path}: expected decimal points, or a header above two columns of whole numbers, "
            f"got {'them' if kind.private else repr(','.join(lines[0][1]))} in line {lines[0][0]}"
        )
    lines_of: dict[str, int] = {}
    bad: dict[str, list[str]] = {}
    for number, cells in lines:
        expected = _expected(cells, width, kind)
        if not expected and width == _COLUMNS:
            first = lines_of.setdefault(cells[0], number)
            what = "one" if kind.private else repr(cells[0])
            expected = f"each name once ({what} is in line {first})" * (first != number)
        if expected:
            bad.setdefault(expected, []).append(_shown_row(kind, number, cells))
    for expected, rows in bad.items():
        problems.add(f"{path}: expected {expected}, got {', '.join(rows)}")


def _shown_row(kind: FileKind, line: int, cells: list[str]) -> str:
    """A row in a message."""
    return f"line {line}" if kind.private else f"line {line}: {','.join(cells)!r}"


def _has_decimal_comma(cells: list[str]) -> bool:
    """Whether two cells may be one number with a decimal comma."""
    return len(cells) == _COLUMNS and all(cell.isdigit() for cell in cells)


def _expected(cells: list[str], width: int, kind: FileKind) -> str:
    """What was expected of a row that is bad by itself; empty if it is not."""
    if not any(cells) or cells[-1].lower() in _HOLES:
        return "a number in every row" if kind.signed else "a sensitivity in every row"
    if len(cells) != width or width > _COLUMNS:
        return kind.columns
    if width == _COLUMNS and re.search(r"[;\t]", cells[0]):
        return "commas between columns and decimal points"
    value = number(cells[-1])
    if value is None:
        return "numbers with a decimal point"
    if not math.isfinite(value) or (value < 0.0 and not kind.signed):
        return f"finite {kind.name}" + " of at least 0" * (not kind.signed)
    return "" if cells[0] else "a name in every row"


def number(text: str) -> float | None:
    """The number that a cell holds, if it is one."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


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
