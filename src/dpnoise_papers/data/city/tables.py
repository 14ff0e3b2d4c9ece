"""Get the tables that city maps are made of: a road map, trips, hourly totals.

They differ from the tables of `dpnoise_papers.data.tables` in form alone: compressed text, dates,
cells and ends of lines that may be empty, and a hundred thousand rows. `dpnoise_papers.data.fetch` gets
and verifies them as it does the others, reading copies by `read_records`. The registry
data/cities.yaml has the parts of data/registry.yaml, so that `dpnoise_papers.data.retry` reads it too.
"""

from __future__ import annotations

import warnings
import zlib
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.data.archives import LIMIT
from dpnoise_papers.data.places import read_yaml
from dpnoise_papers.data.tables import RefusedError, Table

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dpnoise._types import Array


def cities_registry(registry: str | os.PathLike | None = None) -> Path:
    """Return the path of the registry of city maps: the one given, or the repository's.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    repository = Path(__file__).resolve().parents[4]
    local = Path("data", "cities.yaml")
    candidates = [repository / local, local] if registry is None else [Path(registry)]
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(f"no registry of city maps at {' or '.join(map(str, candidates))}")


def entries(city: str, registry: str | os.PathLike | None = None) -> dict[str, dict]:
    """Return the entries of a city's tables, by the names of the tables.

    Raises
    ------
    ValueError
        If there is no such city.
    """
    content = read_yaml(cities_registry(registry))
    if city not in content["sets"]:
        raise ValueError(f"city: expected one of {', '.join(content['sets'])}, got {city!r}")
    return {name: content["tables"][name] for name in content["sets"][city]["tables"]}


def read_records(content: bytes, entry: Mapping) -> Table:
    """Parse a copy of a table, gzipped or not, separated by commas or blanks.

    Parameters
    ----------
    content : bytes
        The file; a first line without any value is taken for a header.
    entry : mapping
        `columns` in order; optionally `labels`, words and their numbers by column; `times`,
        the columns that hold dates, read as seconds since 1970 of the same clock; `gaps`, the
        columns that may be empty or beyond the end of a line, read as NaN; and `day`, a date
        outside of which rows are left out.

    Returns
    -------
    Table
        Not verified yet.

    Raises
    ------
    RefusedError
        If this is no such table; names the first bad value of each bad column.
    """
    text = _text(content)
    first = text.lstrip()[:4000].partition("\n")[0]
    columns = tuple(entry["columns"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells beyond the last column
            cells = pd.read_csv(
                StringIO(text), sep="," if "," in first else r"\s+", header=None,
                names=list(columns), index_col=False, dtype=str, keep_default_na=False,
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise RefusedError(f"not a table of {len(columns)} columns: {error}") from None
    if len(cells) and all(_no_number(cell) for cell in cells.iloc[0]):
        cells = cells.iloc[1:]
    found, bad = [], []
    for name in columns:
        values, wrong = _values(name, cells[name].to_numpy(dtype=object, na_value=""), entry)
        found.append(values)
        if np.any(wrong):
            place = int(np.argmax(wrong))
            bad.append(f"{name!r}, row {place + 1}: got {str(cells[name].iloc[place])[:40]!r}")
    if bad:
        raise RefusedError("values that cannot be read in column " + "; ".join(bad))
    table = Table(columns, np.column_stack(found))
    if "day" in entry:
        start = _seconds([entry["day"]])[0]
        time = table[entry["times"][0]]
        that_day = (time >= start) & (time < start + 86400)
        table = Table(columns, np.column_stack(found)[that_day])
    return table


def _text(content: bytes) -> str:
    if content.startswith(b"\x1f\x8b"):
        try:
            unpacker = zlib.decompressobj(wbits=31)
            content = unpacker.decompress(content, LIMIT)
        except zlib.error as error:
            raise RefusedError(f"not a readable gzip file: {error}") from None
        if not unpacker.eof:
            raise RefusedError(f"a gzip file that is truncated or holds more than {LIMIT} bytes")
    elif len(content) > LIMIT:
        raise RefusedError(f"expected at most {LIMIT} bytes, got {len(content)}")
    if not content.strip():
        raise RefusedError("the file is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError("expected text, got a binary file") from None
    if "\0" in text:
        raise RefusedError("expected text, got a binary file")
    if text.lstrip().startswith("<"):
        raise RefusedError("expected a table, got an HTML or XML page")
    return text


def _values(name: str, cells: NDArray[np.object_], entry: Mapping) -> tuple[Array, NDArray]:
    """Return the numbers of one column, and which cells hold none though they should."""
    empty = cells == ""
    if name in entry.get("labels", {}):
        codes = {str(word): float(code) for word, code in entry["labels"][name].items()}
        values = np.array([codes.get(cell, np.nan) for cell in cells])
    elif name in entry.get("times", []):
        values = _seconds(cells)
    else:
        try:
            values = np.where(empty, "nan", cells).astype(float)
        except ValueError:
            values = np.array([np.nan if _no_number(cell) else float(cell) for cell in cells])
    values = np.where(np.isfinite(values), values, np.nan)  # one NaN, for the fingerprint
    wrong = np.isnan(values)
    if name in entry.get("gaps", []):
        wrong &= ~empty
    return values, wrong


def _seconds(cells: NDArray[np.object_] | list[str]) -> Array:
    """Return seconds since 1970 of dates 'YYYY-MM-DD hh:mm:ss', NaN for what is none."""
    dates = pd.to_datetime(pd.Series(cells, dtype=str), format="ISO8601", errors="coerce")
    days = dates.to_numpy(dtype="datetime64[s]")
    return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))


def _no_number(cell: object) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return True
    return False
