"""Comparison of two folders of results, file by file and column by column.

A change of the code that should move no number is checked by it: `dpnoise-papers compare OLD NEW`.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

PROVENANCE = "provenance.json"  # it tells of date and machine


class Comparison(NamedTuple):
    """Files of two folders: with the same bytes, differing (how, in words), and ignored."""

    same: list[str]
    differing: dict[str, list[str]]
    ignored: list[str]


def compare(
    old: str | os.PathLike[str], new: str | os.PathLike[str], ignore: Iterable[str] = ()
) -> Comparison:
    """Comparison of the files of two folders, but hidden ones.

    Files that match a pattern of `ignore`, such as 'inid-2024/*.csv', are not compared, nor is
    'provenance.json', which tells of date and machine. ValueError if a folder does not exist or
    neither holds a file.
    """
    before, after = _files(Path(old)), _files(Path(new))
    if not before and not after:
        raise ValueError(f"compare: no files in {old} and {new}")
    patterns = [PROVENANCE, *ignore]
    found = Comparison([], {}, [])
    for name in sorted(before | after):
        if any(fnmatch(name, pattern) for pattern in patterns):
            found.ignored.append(name)
        elif name not in after:
            found.differing[name] = ["missing"]
        elif name not in before:
            found.differing[name] = ["new"]
        elif (Path(old) / name).read_bytes() == (Path(new) / name).read_bytes():
            found.same.append(name)
        else:
            found.differing[name] = _differences(Path(old) / name, Path(new) / name)
    return found


def _files(folder: Path) -> set[str]:
    """Paths of all files below a folder."""
    if not folder.is_dir():
        raise ValueError(f"compare: no folder {folder}")
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not any(part[0] == "." for part in path.parts)}


def _differences(old: Path, new: Path) -> list[str]:
    """Words on how two files with different bytes differ."""
    if old.suffix != ".csv":
        return ["other bytes"]
    try:
        before, after = (pd.read_csv(p, dtype=str, keep_default_na=False) for p in (old, new))
    except (ValueError, OSError):  # pandas' ParserError and UnicodeDecodeError included
        return ["other bytes, not readable as a table"]
    words = [f"column {name!r} is missing" for name in before if name not in after]
    words += [f"column {name!r} is new" for name in after if name not in before]
    if len(before) != len(after):
        return [*words, f"{len(before)} rows before, {len(after)} now"]
    if not words and list(before) != list(after):
        words.append("columns in another order")
    for name in before.columns.intersection(after.columns):
        words += _column(name, before[name], after[name])
    return words or ["the same cells, written with other bytes"]


def _column(name: str, before: pd.Series, after: pd.Series) -> Sequence[str]:
    """Words on how the cells of two columns of one length differ."""
    other = (before != after).to_numpy()
    if not other.any():
        return []
    x, y = (
        pd.to_numeric(cells[other], errors="coerce").to_numpy(dtype=float)
        for cells in (before, after)
    )
    words = f"column {name!r}: {other.sum()} of {len(other)} cells differ"
    numbers = np.isfinite(x) & np.isfinite(y)
    if numbers.any():
        x, y = x[numbers], y[numbers]
        scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(float).tiny)
        relative = np.abs(x / scale - y / scale)
        place = np.flatnonzero(other)[np.flatnonzero(numbers)[np.argmax(relative)]]
        told = f"{before.iloc[place]} before, {after.iloc[place]} now"
        words += f", by at most {np.max(relative):.2g} of the value (row {place + 1}: {told})"
    if not numbers.all():
        place = np.flatnonzero(other)[np.flatnonzero(~numbers)[0]]
        told = f"{before.iloc[place][:40]!r} before, {after.iloc[place][:40]!r} now"
        words += f"; {np.sum(~numbers)} of them not as numbers (row {place + 1}: {told})"
    return [words]
