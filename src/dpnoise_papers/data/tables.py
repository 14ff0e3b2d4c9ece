"""Read a raw table from whatever copy there is, and verify what it says.

Copies of one table differ in line ends, separators, headers and file format (text, ARFF,
Excel workbook), so bytes cannot be compared. The fingerprint is taken over the parsed
content: any faithful copy passes, and a truncated, altered, reordered or exchanged one is
refused with the first property that differs. A header is skipped, never trusted.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import unicodedata
import warnings
import zipfile
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.data.archives import LIMIT, check_zip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SHORT = 12  # hexadecimal digits of a column's digest: they locate damage, they do not guard


class RefusedError(ValueError):
    """A file was found whose content is not that of the table."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of numbers in their canonical order; `values` has shape (n, columns)."""

    columns: tuple[str, ...]
    values: np.ndarray

    def __getitem__(self, column: str) -> np.ndarray:
        """Return one column, shape (n,)."""
        return self.values[:, self.columns.index(column)]


def fingerprint(columns: Sequence[str], values: np.ndarray) -> str:
    """Return the sha256 of column names, shape and values of a table.

    Parameters
    ----------
    columns : sequence of str
        Names in canonical order.
    values : array, shape (n, len(columns))
        Numbers; hashed row by row as little-endian float64, with -0.0 as 0.0.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    head = {"columns": list(columns), "shape": list(values.shape)}
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    # Adding 0.0 turns -0.0 into 0.0 and changes nothing else.
    digest.update(np.ascontiguousarray(values + 0.0, dtype="<f8").tobytes())
    return digest.hexdigest()


def column_digests(table: Table) -> dict[str, str]:
    """Return a short digest for each column, with which damage is located."""
    return {
        name: fingerprint([name], table.values[:, [i]])[:_SHORT]
        for i, name in enumerate(table.columns)
    }


def read_table(content: bytes, entry: Mapping) -> Table:
    """Parse the bytes of a copy of a table, of whatever format.

    Parameters
    ----------
    content : bytes
        The file.
    entry : mapping
        The table's entry in the registry: `columns` in order and `labels`, which maps the
        words of a column to numbers.

    Returns
    -------
    Table
        Not verified yet.

    Raises
    ------
    RefusedError
        If this is no table with these columns; the first offending place is named.
    """
    columns = tuple(entry["columns"])
    labels = [
        {_word(word): float(code) for word, code in entry.get("labels", {}).get(c, {}).items()}
        for c in columns
    ]
    rows = []
    for index, (place, cells) in enumerate(_records(content)):
        if index == 0 and all(_number(cell) is None for cell in cells):
            continue  # a header
        if len(cells) != len(columns):
            raise RefusedError(f"{place}: expected {len(columns)} values, got {len(cells)}")
        row = []
        for name, codes, cell in zip(columns, labels, cells, strict=True):
            value = codes.get(_word(cell)) if codes else _number(cell)
            if value is None:
                expected = " or ".join(codes) if codes else "a finite number"
                got = str(cell)[:40]
                raise RefusedError(f"{place}, column {name!r}: expected {expected}, got {got!r}")
            row.append(value)
        rows.append(row)
    return Table(columns, np.array(rows, dtype=float).reshape(len(rows), len(columns)))


def verify_table(table: Table, entry: Mapping) -> None:
    """Refuse a table whose content is not that of the registry.

    Raises
    ------
    RefusedError
        With what was expected, what was found, and the first property that differs.
    """
    rows, width = table.values.shape
    if rows != entry["rows"]:
        raise RefusedError(
            f"expected {entry['rows']} rows of {width} columns, got {rows} rows"
            f"{' (truncated?)' if rows < entry['rows'] else ''}"
        )
    found = fingerprint(table.columns, table.values)
    if found == entry["fingerprint"]:
        return
    short = column_digests(table)
    wrong = [name for name in table.columns if short[name] != entry["columns"][name]]
    raise RefusedError(
        f"expected fingerprint {entry['fingerprint'][:_SHORT]}, got {found[:_SHORT]}; "
        + _difference(table.columns, wrong)
    )


def _difference(columns: Sequence[str], wrong: Sequence[str]) -> str:
    if not wrong:  # cannot happen while the registry is consistent, which its test ensures
        return "yet no column differs: the registry contradicts itself"
    which = f"{len(wrong)} of {len(columns)} columns differ, first {wrong[0]!r}"
    if len(wrong) == len(columns):
        which += " (rows in another order, or another table?)"
    return which


def _records(content: bytes) -> Iterator[tuple[str, list]]:
    """Yield where each record stands and its cells."""
    if not content.strip():
        raise RefusedError("the file is empty")
    if content.startswith(b"PK\x03\x04"):
        return _workbook_records(content)
    if b"\0" in content or content.startswith((b"\x80", b"\x1f\x8b")):
        raise RefusedError("expected a table as text, ARFF or workbook, got a binary file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1254", errors="replace")  # one set has Turkish class names
    if text.lstrip().startswith("<"):
        raise RefusedError("expected a table, got an HTML or XML page")
    return _text_records(text)


def _text_records(text: str) -> Iterator[tuple[str, list[str]]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    words = [line.strip().lower() for _, line in lines]
    if "@data" in words:
        lines = [pair for pair in lines[words.index("@data") + 1 :] if not pair[1].startswith("%")]
    if not lines:
        raise RefusedError("the file holds no records")
    first = lines[0][1]
    separator = next((mark for mark in ";,\t" if mark in first), None)
    for number, line in lines:
        if separator is None:
            cells = line.split()
        else:
            try:
                cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
            except csv.Error as error:
                raise RefusedError(f"line {number}: {error}") from None
        yield f"line {number}", cells


def _workbook_records(content: bytes) -> Iterator[tuple[str, list]]:
    import openpyxl  # noqa: PLC0415 - 0.1 s that only one set needs

    try:
        check_zip(content, LIMIT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which are not read
            book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True)
            rows = list(book.worksheets[0].iter_rows(values_only=True))
    # A damaged workbook may fail anywhere within the parser.
    except (OSError, ValueError, KeyError, IndexError, TypeError, SyntaxError, EOFError,
            AttributeError, zipfile.BadZipFile) as error:  # fmt: skip
        raise RefusedError(f"not a readable workbook: {error}") from None
    for number, row in enumerate(rows, 1):
        if any(cell is not None for cell in row):
            yield f"row {number}", list(row)


def _number(cell: object) -> float | None:
    """Return the finite number that a cell holds, correctly rounded, or None."""
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _word(cell: object) -> str:
    """Return a class label in one spelling: '2.0', 2 and "'2'" are one label."""
    text = str(cell).strip().strip("'\"")
    value = _number(text)
    return unicodedata.normalize("NFC", text) if value is None else f"{value:g}"
