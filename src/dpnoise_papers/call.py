"""What the workflow scripts share: find a declared function, read what it takes, log."""

from __future__ import annotations

import json
import traceback
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise_papers import result_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd


@contextmanager
def logged(path: str) -> Iterator[list[str]]:
    """Collect what a step says of itself, and write it, with the error of a step that fails.

    Parameters
    ----------
    path : str
        The log.

    Yields
    ------
    list of str
        Lines of the log.
    """
    lines: list[str] = []
    try:
        yield lines
    except BaseException:
        lines.append(traceback.format_exc().rstrip())
        raise
    finally:
        result_files.write_text("".join(f"{line}\n" for line in lines), path)


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
    tables = iter([result_files.read_table(path) for path in paths])
    return [{part: next(tables) for part in group} if group else next(tables) for group in groups]


def read_statuses(paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the status of each data set by its name."""
    texts = {Path(path).stem: Path(path).read_text(encoding="utf-8") for path in paths}
    return {name: json.loads(text) for name, text in texts.items()}
