"""What the workflow scripts share: find a declared function and read what it takes."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise_papers import result_files
from dpnoise_papers.data.city.counts import read_city
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import read_prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from dpnoise_papers.data.city.counts import City
    from dpnoise_papers.data.dataset import Dataset


def resolve(name: str) -> Callable[..., Any]:
    """Return the function with a full dotted name."""
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def read_tables(
    paths: Sequence[str], groups: Sequence[Sequence[str]]
) -> list[pd.DataFrame | dict[str, pd.DataFrame]]:
    """Return result tables, those of several parts as one dictionary.

    Parameters
    ----------
    paths : sequence of str
        One path for each name that the item reads, or one for each of its parts.
    groups : sequence of sequences of str
        For each name its parts; empty for a single table.

    Returns
    -------
    list
        For each name a table, or a dictionary from part to table.
    """
    tables = iter([result_files.read(path) for path in paths])
    return [{part: next(tables) for part in group} if group else next(tables) for group in groups]


def read_data(npz: str, status: str) -> Dataset | City | None:
    """Return a prepared data set or city, or None if it could not be had."""
    if Path(npz).parent.name == "city":
        return read_city(npz)
    try:
        return read_prepared(npz, status)
    except DatasetUnavailable:
        return None


def read_statuses(paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the status of each data set by its name."""
    texts = {Path(path).stem: Path(path).read_text(encoding="utf-8") for path in paths}
    return {name: json.loads(text) for name, text in texts.items()}


def log(path: str, line: str) -> None:
    """Write the one line that a step says of itself."""
    Path(path).write_text(f"{line}\n", encoding="utf-8")
