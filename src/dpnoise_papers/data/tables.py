"""Raw tables: read from whatever copy there is, and verified by their content.

Copies of one table differ in line ends, separators, headers, compression and file format (delimited
text, ARFF, Excel workbook), so bytes cannot be compared. The fingerprint is taken over the parsed
content: any faithful copy passes, and a truncated, altered, reordered or exchanged one is
refused with the first property that differs. A header is skipped, never trusted.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import lzma
import math
import re
import unicodedata
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.data.registry import TableEntry

_SHORT = 12  # hexadecimal digits of a column's digest: they locate damage, they do not guard
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - dates of tables have no time zone either
_DAY = 86400.0
_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, eq=False)
class DataTable:
    """Columns of numbers in their canonical order; `values` have shape (n, columns)."""

    columns: tuple[str, ...]
    values: Array

    def __getitem__(self, column: str) -> Array:
        """One column, shape (n,)."""
        return self.values[:, self.columns.index(column)]


def fingerprint(columns: Sequence[str], values: Array) -> str:
    """sha256 of column names, shape and values of a table, as 64 hexadecimal digits.

    Values, of shape (n, columns), are hashed row by row as little-endian float64, with -0.0 as 0.0.
    """
    head = {"columns": list(columns), "shape": list(values.shape)}
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    # Adding 0.0 turns -0.0 into 0.0 and changes nothing else.
    digest.update(np.ascontiguousarray(values + 0.0, dtype="<f8").tobytes())
    return digest.hexdigest()


def column_digests(table: DataTable) -> dict[str, str]:
    """Short digest of each column by name, with which damage is located."""
    return {
        name: fingerprint([name], table.values[:, [i]])[:_SHORT]
        for i, name in enumerate(table.columns)
    }


def read_table(content: bytes, entry: TableEntry) -> DataTable:
    """Table in the bytes of a copy, of whatever format, compressed or not; not verified yet.

    RefusedError names the first offending place if this is no table with the columns of `entry`.
    """
    columns = tuple(entry.columns)
    cells_read = [_cell_reader(name, entry) for name in columns]
    needed = [place for place, name in enumerate(columns, 1) if name not in entry.gaps]
    shortest = max(needed, default=0)  # an end of a line without a value may be left out
    time = columns.index(entry.times[0]) if entry.times else 0
    day = _seconds(entry.day) or 0.0
    rows = []
    for index, (place, cells) in enumerate(records(content)):
        if index == 0 and all(_number(cell) is None for cell in cells):
            continue  # a header
        if not shortest <= len(cells) <= len(columns):
            raise RefusedError(f"{place}: expected {len(columns)} values, got {len(cells)}")
        cells.extend([""] * (len(columns) - len(cells)))
        row = [read(cell) for read, cell in zip(cells_read, cells, strict=True)]
        if None in row:
            wrong = row.index(None)
            expected, got = _expected(columns[wrong], entry), str(cells[wrong])[:40]
            where = f"{place}, column {columns[wrong]!r}"
            raise RefusedError(f"{where}: expected {expected}, got {got!r}")
        if entry.day is not None and not 0 <= (row[time] or 0.0) - day < _DAY:
            continue
        rows.append(row)
    return DataTable(columns, np.array(rows, dtype=float).reshape(len(rows), len(columns)))


def _cell_reader(column: str, entry: TableEntry) -> Callable[[object], float | None]:
    """What turns a cell of a column into a number, or into None if it holds none."""
    read: Callable[[object], float | None] = _number
    if column in entry.labels:
        codes = {_word(word): float(code) for word, code in entry.labels[column].items()}
        read = lambda cell: codes.get(_word(cell))  # noqa: E731
    elif column in entry.times:
        read = _seconds
    if column not in entry.gaps:
        return read
    return lambda cell: math.nan if cell in {"", None} else read(cell)


def _expected(column: str, entry: TableEntry) -> str:
    """What the cells of a column hold, in words."""
    if column in entry.labels:
        return " or ".join(entry.labels[column])
    return "a date" if column in entry.times else "a finite number"


def verify_table(table: DataTable, entry: TableEntry) -> None:
    """Refuse a table whose content is not that of the registry.

    RefusedError says what was expected, what was found, and the first property that differs.
    """
    rows, width = table.values.shape
    if rows != entry.rows:
        raise RefusedError(
            f"expected {entry.rows} rows of {width} columns, got {rows} rows"
            f"{' (truncated?)' if rows < entry.rows else ''}"
        )
    found = fingerprint(table.columns, table.values)
    if found == entry.fingerprint:
        return
    short = column_digests(table)
    wrong = [name for name in table.columns if short[name] != entry.columns[name]]
    raise RefusedError(
        f"expected fingerprint {entry.fingerprint[:_SHORT]}, got {found[:_SHORT]}; "
        + _difference(table.columns, wrong)
    )


def _difference(columns: Sequence[str], wrong: Sequence[str]) -> str:
    """Words on which columns differ."""
    if not wrong:
        return "yet no column differs: the registry contradicts itself"
    which = f"{len(wrong)} of {len(columns)} columns differ, first {wrong[0]!r}"
    if len(wrong) == len(columns):
        which += " (rows in another order, or another table?)"
    return which


def _number(cell: object) -> float | None:
    """Finite number that a cell holds, correctly rounded, or None."""
    if not isinstance(cell, str | int | float):
        return None
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _seconds(cell: object) -> float | None:
    """Whole seconds from 1970 to a date in ISO 8601 of the same clock, or None."""
    try:
        return float((datetime.fromisoformat(str(cell)) - _EPOCH) // timedelta(seconds=1))
    except (TypeError, ValueError):  # TypeError: with a time zone
        return None


def _word(cell: object) -> str:
    """Class label in one spelling: '2.0', 2 and "'2'" are one label."""
    text = str(cell).strip().strip("'\"")
    value = _number(text)
    return unicodedata.normalize("NFC", text) if value is None else f"{value:g}"


class RefusedError(ValueError):
    """A file was found whose content is not that of the table."""


def records(content: bytes) -> Iterator[tuple[str, list[object]]]:
    """Records of a file, its header included: where each stands, such as 'line 3', and its cells.

    RefusedError if the file is no table.
    """
    if not content.strip():
        raise RefusedError("the file is empty")
    if content.startswith(b"PK\x03\x04"):
        return _workbook_records(content)
    try:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        elif content.startswith(b"\xfd7zXZ\0"):
            content = lzma.decompress(content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise RefusedError(f"not a readable compressed file: {error}") from None
    if b"\0" in content or content.startswith(b"\x80"):
        raise RefusedError("expected a table as text, ARFF or workbook, got a binary file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1254", errors="replace")  # one set has Turkish class names
    if text.lstrip().startswith("<"):
        raise RefusedError("expected a table, got an HTML or XML page")
    return _text_records(text)


def _text_records(text: str) -> Iterator[tuple[str, list[object]]]:
    """Records of delimited text or ARFF."""
    lines = list(enumerate(_END.split(text), 1))
    head = next((number for number, line in lines if line.strip().lower() == "@data"), 0)
    kept = [(number, line) for number, line in lines[head:]
            if line.strip() and not (head and line.startswith("%"))]  # fmt: skip
    if not kept:
        raise RefusedError("the file holds no records")
    separator = next((mark for mark in ";,\t" if mark in kept[0][1]), None)
    for number, line in kept:
        if separator is None:
            yield f"line {number}", [*line.split()]
            continue
        try:
            cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
        except csv.Error as error:
            raise RefusedError(f"line {number}: {error}") from None
        yield f"line {number}", [*cells]


def _workbook_records(content: bytes) -> Iterator[tuple[str, list[object]]]:
    """Records of the first sheet of an Excel workbook."""
    import openpyxl  # noqa: PLC0415 - 0.1 s that only one set needs

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which are not read
            book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True)
            for number, row in enumerate(book.worksheets[0].iter_rows(values_only=True), 1):
                if any(cell is not None for cell in row):
                    yield f"row {number}", list(row)
    # A damaged workbook may fail anywhere within the parser.
    except (OSError, ValueError, KeyError, IndexError, TypeError, SyntaxError, EOFError,
            AttributeError, zipfile.BadZipFile) as error:  # fmt: skip
        raise RefusedError(f"not a readable workbook: {error}") from None
