"""File formats of raw tables: delimited text, ARFF and Excel workbooks, compressed or not."""

from __future__ import annotations

import csv
import lzma
import re
import warnings
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from dpnoise_papers.data.archives import LIMIT, check_zip

if TYPE_CHECKING:
    from collections.abc import Iterator


_XZ_MEMORY = 2**28  # bytes; the strongest preset asks for a quarter of them
_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_ARFF = re.compile(r"(?:\A|(?<=[\r\n]))[ \t]*@data[ \t]*(?=[\r\n]|\Z)", re.IGNORECASE)


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
    if content.startswith(b"\x1f\x8b"):
        content = _unpacked(content, "a gzip")
    elif content.startswith(b"\xfd7zXZ\0"):
        content = _unpacked(content, "an xz")
    if b"\0" in content or content.startswith(b"\x80"):
        raise RefusedError("expected a table as text, ARFF or workbook, got a binary file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1254", errors="replace")  # one set has Turkish class names
    if text.lstrip().startswith("<"):
        raise RefusedError("expected a table, got an HTML or XML page")
    return _text_records(text)


def _unpacked(content: bytes, kind: str) -> bytes:
    """What a gzip or xz file holds, if that is not more than a table may hold."""
    gzip = kind == "a gzip"
    try:
        unpacker = (
            zlib.decompressobj(wbits=31)
            if gzip
            else lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        )
        content = unpacker.decompress(content, LIMIT)
    except (zlib.error, lzma.LZMAError) as error:
        raise RefusedError(f"not a readable {kind.split()[1]} file: {error}") from None
    if not unpacker.eof:
        raise RefusedError(f"{kind} file that is truncated or holds more than {LIMIT} bytes")
    return content


def _text_records(text: str) -> Iterator[tuple[str, list[object]]]:
    """Records of delimited text or ARFF."""
    head = _ARFF.search(text)
    separator, empty = None, True
    for number, line in _lines(text, head.end() if head else 0):
        if not line.strip() or (head and line.startswith("%")):
            continue
        if empty:
            separator = next((mark for mark in ";,\t" if mark in line), None)
            empty = False
        if separator is None:
            yield f"line {number}", [*line.split()]
            continue
        try:
            cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
        except csv.Error as error:
            raise RefusedError(f"line {number}: {error}") from None
        yield f"line {number}", [*cells]
    if empty:
        raise RefusedError("the file holds no records")


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Lines after a place with their numbers, one at a time: a file may be large and no table."""
    before = len(_END.findall(text, 0, start))
    for number, match in enumerate(_LINE.finditer(text, start), before + 1):
        yield number, match[1]


def _workbook_records(content: bytes) -> Iterator[tuple[str, list[object]]]:
    """Records of the first sheet of an Excel workbook."""
    import openpyxl  # noqa: PLC0415 - 0.1 s that only one set needs

    try:
        check_zip(content, LIMIT)
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
