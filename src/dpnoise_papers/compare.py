"""Comparison of two folders of results, such as an author's and a reviewer's."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.result_files import read_texts

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

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
    found = Comparison([], {}, [])
    for name in sorted(before | after):
        if any(fnmatch(name, pattern) for pattern in (PROVENANCE, *ignore)):
            found.ignored.append(name)
        elif how := _differences(Path(old, name), Path(new, name)):
            found.differing[name] = how
        else:
            found.same.append(name)
    return found


def _files(folder: Path) -> set[str]:
    """Paths of all files below a folder, but hidden ones."""
    if not folder.is_dir():
        raise ValueError(f"compare: no folder {folder}")
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not any(part[0] == "." for part in path.parts)}


def _differences(old: Path, new: Path) -> list[str]:
    """Words on how two files differ, none if they do not."""
    if not (old.is_file() and new.is_file()):
        return ["missing" if old.is_file() else "new"]
    if old.read_bytes() == new.read_bytes():
        return []
    if old.suffix != ".csv":
        return ["other bytes"]
    try:
        before, after = map(read_texts, (old, new))
    except ValueError:  # pandas' ParserError and UnicodeDecodeError included
        return ["other bytes, not readable as a table"]
    one, two = (f"{len(table)} rows of {', '.join(map(str, table))}" for table in (before, after))
    if one != two:
        return [f"{one} before, {two} now"]
    tables = before, after
    x, y = (one.apply(pd.to_numeric, errors="coerce").to_numpy(float) for one in tables)
    was, now = (one.to_numpy() for one in tables)
    scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(float).tiny)
    by = np.nan_to_num(np.abs(x / scale - y / scale), nan=np.inf)  # of what is no number
    by[was == now] = -1.0
    words = []
    for column, name in enumerate(before):
        row, cells = int(by[:, column].argmax()), int(np.sum(by[:, column] >= 0))
        most = by[row, column]
        how = f"by at most {most:.2g} of the value" if most < np.inf else "not as numbers"
        told = f"row {row + 1}: {was[row, column][:40]!r} before, {now[row, column][:40]!r} now"
        if cells:
            differ = f"{cells} of {len(by)} cells differ"
            words.append(f"column {name!r}: {differ}, {how} ({told})")
    return words or ["the same cells, written with other bytes"]
