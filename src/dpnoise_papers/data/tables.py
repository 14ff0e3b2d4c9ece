"""Raw tables: read from whatever copy there is, and verified by their content.

Copies of one table differ in line ends, separators, headers, compression and file format (text,
ARFF, Excel workbook), so bytes cannot be compared. The fingerprint is taken over the parsed
content: any faithful copy passes, and a truncated, altered, reordered or exchanged one is
refused with the first property that differs. A header is skipped, never trusted.
"""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.data.formats import RefusedError, records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.data.registry import TableEntry

_SHORT = 12  # hexadecimal digits of a column's digest: they locate damage, they do not guard
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - dates of tables have no time zone either
_DAY = 86400.0


@dataclass(frozen=True, eq=False)
class Table:
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


def column_digests(table: Table) -> dict[str, str]:
    """Short digest of each column by name, with which damage is located."""
    return {
        name: fingerprint([name], table.values[:, [i]])[:_SHORT]
        for i, name in enumerate(table.columns)
    }


def read_table(content: bytes, entry: TableEntry, most: int | None = None) -> Table:
    """Table in the bytes of a copy, of whatever format, compressed or not; not verified yet.

    RefusedError names the first offending place if this is no table with the columns of `entry`.
    So does a table with more rows than `most`, before the rest is read.
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
        if most is not None and len(rows) > most:
            raise RefusedError(f"expected {most} rows of {len(columns)} columns, got more")
    return Table(columns, np.array(rows, dtype=float).reshape(len(rows), len(columns)))


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


def verify_table(table: Table, entry: TableEntry) -> None:
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
