"""CSV files of numbers: one column, or names beside them; or outputs, one a row.

Of more columns the caller chooses one, and another for the names. A dozen bad rows are named and
the others counted. Of private values no message shows a row: only its line. Their first row, if
it has no number, is a header if its last cell is a usual name of such a column; else it may be a
value that is no number, and the caller has to say which.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import NamedTuple

from dpnoise._imports import imports_of

with imports_of("cli"):
    import click

from dpnoise.cli.options import problems

_TITLE = re.compile(r"[^\W\d_][\w ()/|-]*")  # of a column, not a mistyped number
_HOLES = {"", "-", "na", "n/a", "nan", "none", "null", "missing"}
_COLUMNS = 2
_USUAL = {"amount", "average", "count", "mean", "number", "scale", "sum", "total", "value"}
_USUAL |= {"case", "customer", "patient", "person", "record", "user", "visit", "visitor"}
_USUAL |= {*(f"{name}s" for name in _USUAL), "frequency", "people", "sensitivity", "sensitivities"}
_SHOWN = 12  # bad rows in a message, and columns

Lines = list[tuple[int, list[str]]]  # cells, by line number


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

    def shown(self, line: int, cells: list[str]) -> str:
        """A row in a message."""
        return f"line {line}" if self.private else f"line {line}: {','.join(cells)!r}"

    def expected(self, cells: list[str], width: int) -> str:
        """What was expected of a row that is bad by itself; empty if it is not."""
        if not any(cells) or cells[-1].lower() in _HOLES:
            return "a number in every row" if self.signed else "a sensitivity in every row"
        if len(cells) != width or width > _COLUMNS:
            return self.columns
        if width == _COLUMNS and re.search(r"[;\t]", cells[0]):
            return "commas between columns and decimal points"
        value = number(cells[-1])
        if value is None:
            return "numbers with a decimal point"
        if not math.isfinite(value) or (value < 0.0 and not self.signed):
            return f"finite {self.name}" + " of at least 0" * (not self.signed)
        return "" if cells[0] else "a name in every row"


SENSITIVITIES = FileKind("sensitivities", "sensitivity")
VALUES = FileKind("values", "value", signed=True, private=True)


class Rows(NamedTuple):
    """The names and numbers of a file, in its order, and what its two columns are called."""

    names: list[str]
    values: list[float]
    columns: tuple[str, str] = ("name", "value")


def read_rows(
    file: str, kind: FileKind, header: bool | None, column: str | None, names: str | None
) -> Rows:
    """The rows of a file; what is wrong with them is recorded, with their lines.

    `header` says whether the first row names the columns; with None it must be clear. `column` and
    `names` are those of the numbers and of the names, by their titles or counted from 1.
    """
    before = len(problems().found)
    lines, path = read_lines(file), shown(file)
    if lines and (column or names or _width(lines) > _COLUMNS):
        lines, header = _chosen(path, kind, lines, header, {"--names": names, "--column": column})
    if lines is None:
        return Rows([], [])
    titles = lines.pop(0)[1] if lines and _has_header(path, kind, lines[0][1], header) else []
    if not lines:
        problems().add(f"{path}: expected {kind.columns}, got no rows")
    _check(path, lines, len(titles), kind, comma=column is not None)
    doubtful = kind.private and names is None and titles[:-1] and titles[0].lower() in _USUAL
    if doubtful and all(number(cell) is not None for _, cells in lines for cell in cells[:1]):
        problems().add(
            f"{path}: expected names in the first of two columns, got numbers under "
            f"{titles[0]!r}: --column 2 --names 1 says that they are public, as names come out as "
            "they are"
        )
    if len(problems().found) > before:
        return Rows([], [])
    rows = enumerate(lines, 1)
    listed = [cells[0] if len(cells) == _COLUMNS else str(k) for k, (_, cells) in rows]
    title = titles[0] if len(titles) == _COLUMNS and titles[0] else "name"
    columns = title, titles[-1] if titles else kind.column
    return Rows(listed, [float(cells[-1]) for _, cells in lines], columns)


def shown(path: str) -> str:
    """The name of a file in messages."""
    return "standard input" if path == "-" else path


def read_lines(path: str) -> Lines | None:
    """Cells of a CSV file, or of standard input for '-', by line number.

    Empty lines at the end are left out. None, with a problem recorded, if it is no CSV file.
    """
    try:
        with click.open_file(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except UnicodeDecodeError as error:  # its own text shows a byte
        got = f"other bytes at {error.start}"
    except (OSError, csv.Error) as error:
        got = str(error)
    else:
        filled = [k for k, (_, cells) in enumerate(lines, 1) if any(cells)]
        return lines[: max(filled, default=0)]
    problems().add(f"{shown(path)}: expected a CSV file in UTF-8, got {got}")
    return None


def _width(lines: Lines) -> int:
    """Number of columns, by the first row that is not empty."""
    return next((len(cells) for _, cells in lines if any(cells)), 1)


def _titles(kind: FileKind, lines: Lines, header: bool | None) -> list[str]:
    """Names of columns in the first row that may be shown; empty if it may be a row of values.

    Words are no names for sure where nobody says so, none is usual, or one stands below as well.
    """
    first = lines[0][1]
    words = all(_TITLE.fullmatch(cell) and cell.lower() not in _HOLES for cell in first)
    clear = not kind.private or any(cell.lower() in _USUAL for cell in first)
    below = any(set(first) & set(cells) for _, cells in lines[1:])
    return first if words and (header or (header is None and clear and not below)) else []


def _chosen(
    path: str, kind: FileKind, lines: Lines, header: bool | None, asked: dict[str, str | None]
) -> tuple[Lines | None, bool | None]:
    """Rows of the columns asked for, and whether line 1 has names; None if that is a problem.

    Of names, if any, and of numbers. A file of two columns keeps both.
    """
    width, first, before = _width(lines), lines[0][1], len(problems().found)
    known = ", ".join(map(repr, _titles(kind, lines, header)[:_SHOWN]))
    if asked["--column"] is None:
        problems().add(
            f"{path}: expected {kind.columns}, got {width} columns{known and f': {known}'}; "
            f"--column NAME (or its number) says where the {kind.name} are, --names where names are"
        )
        return None, header
    places = {}
    for option, text in asked.items():
        if text is None:
            continue
        if text.isdecimal() and 1 <= int(text) <= width:
            places[option] = int(text) - 1
        elif header is not False and first.count(text) == 1:
            places[option], header = first.index(text), True
        else:
            names = f"{known}, or " if known else "a name that line 1 has once, or "
            names *= header is not False
            expected = f"{names}a number from 1 to {width}"
            problems().add(f"{option} in {path}: expected {expected}, got {text!r}")
    rows = [kind.shown(n, cells) for n, cells in lines if len(cells) not in {0, width}]
    if rows:
        problems().add(f"{path}: expected {width} columns in every row, got {_listed(rows)}")
    kept = list(places.values())
    if len(kept) == 1 and width == _COLUMNS:
        kept.insert(0, 1 - kept[0])
    if len(set(kept)) < len(kept):
        problems().add(f"--names in {path}: expected another column than that of --column")
    if len(problems().found) > before:
        return None, header
    return [(n, [cells[k] for k in kept] if cells else []) for n, cells in lines], header


def _has_header(path: str, kind: FileKind, cells: list[str], header: bool | None) -> bool:
    """Whether the first row names the columns; that it is not clear is recorded."""
    last = cells[-1] if cells else ""
    word = last.lower() not in _HOLES | {"inf", "infinity"}
    title = 1 <= len(cells) <= _COLUMNS and word and bool(_TITLE.fullmatch(last))
    clear = not title or not kind.private or last.lower() in _USUAL
    if header is not None or clear:
        if header and not title:
            problems().add(f"{path}: expected names of one or two columns in line 1, with --header")
        return title if header is None else header
    problems().add(
        f"{path}: expected a number, or a usual name of a column such as 'value', in line 1: "
        "--header says that it names the columns, --no-header that it is a row like the others"
    )
    return True


def _check(path: str, lines: Lines, width: int, kind: FileKind, *, comma: bool) -> None:
    """Record of the bad rows; `width` columns have a header, 0 if there is none.

    `comma` says that a comma is known to stand between columns, and not in a number.
    """
    pairs = [len(cells) == _COLUMNS and all(map(str.isdigit, cells)) for _, cells in lines]
    doubtful = width == 0 and lines and all(pairs)  # two cells may be one number
    width = width or _width(lines)
    if doubtful and not comma:
        problems().add(
            f"{path}: expected decimal points, or two columns of whole numbers with a header or "
            f"with --column 2, got {'them' if kind.private else repr(','.join(lines[0][1]))} in "
            f"line {lines[0][0]}"
        )
    lines_of: dict[str, int] = {}
    bad: dict[str, list[str]] = {}
    for number, cells in lines:
        expected, again = kind.expected(cells, width), ""
        if not expected and width == _COLUMNS:
            first = lines_of.setdefault(cells[0], number)
            expected = "each name once" * (first != number)
            again = f" (as in line {first})" * (first != number)
        if expected:
            bad.setdefault(expected, []).append(kind.shown(number, cells) + again)
    for expected, rows in bad.items():
        problems().add(f"{path}: expected {expected}, got {_listed(rows, _SHOWN // len(bad))}")


def _listed(rows: list[str], most: int = _SHOWN) -> str:
    """The first of some rows, and how many more there are."""
    more = f" and {len(rows) - most} more" if len(rows) > most else ""
    return f"{', '.join(rows[:most])}{more}"


def number(text: str) -> float | None:
    """The number that a cell holds, if it is one."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def read_outputs(path: str) -> list[list[float]]:
    """The outputs of a file below its header, if it has one; what is wrong is recorded.

    NaN stands for an output that is not published.
    """
    lines = read_lines(path)
    path = shown(path)
    if lines is None:
        return []
    if lines and all(cell and number(cell) is None for cell in lines[0][1]):
        lines.pop(0)
    if not lines:
        problems().add(f"{path}: expected outputs, one a row, got no rows")
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
        expected = f"{width} number(s) with decimal points in every row"
        problems().add(f"{path}: expected {expected}, got {_listed(bad)}")
    return rows
