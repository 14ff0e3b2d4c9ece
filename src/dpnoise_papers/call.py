"""What the workflow scripts share: find a declared function, read what it takes, log."""

from __future__ import annotations

import gc
import json
import traceback
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise_papers import progress, result_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

PROCESSOR_TIME = " s of processor time"
UNFINISHED = "The step began, and did not end: killed, out of memory, or still running.\n"


@contextmanager
def logged(path: str) -> Iterator[list[str]]:
    """Log of a step: the lines that it says of itself, and the error of a step that fails.

    A step that is killed leaves the first line, which says that it has not ended.
    """
    lines: list[str] = []
    result_files.write_text(UNFINISHED, path)
    progress.name_job("/".join(Path(path).with_suffix("").parts[-2:]))
    try:
        yield lines
    except BaseException:
        lines.append(traceback.format_exc().rstrip())
        raise
    finally:
        result_files.write_text("".join(f"{line}\n" for line in lines), path)


def resolve(name: str) -> Callable[..., Any]:
    """Function with a full dotted name.

    Loading modules leaves no garbage: looking for it would take a tenth of the time.
    """
    path, _, function = name.rpartition(".")
    collects = gc.isenabled()
    gc.disable()
    try:
        module = import_module(path)
    finally:
        if collects:
            gc.enable()
    found: Callable[..., Any] = getattr(module, function)
    return found


def read_tables(
    paths: Sequence[str], groups: Sequence[Sequence[str]]
) -> list[pd.DataFrame | dict[str, pd.DataFrame]]:
    """Result tables, for each name that an item reads a table or a dictionary from part to table.

    `paths` holds one path for each name, or one for each of its parts; `groups` for each name its
    parts, empty for a single table.
    """
    tables = iter([result_files.read_table(path) for path in paths])
    return [{part: next(tables) for part in group} if group else next(tables) for group in groups]


def read_statuses(paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Status of each data set by its name; ValueError names a file that is none, and what to do."""
    return {Path(path).stem: _read_status(Path(path)) for path in paths}


def _read_status(path: Path) -> dict[str, Any]:
    """Status of a data set that `dpnoise_papers.data.sets.prepare` wrote."""
    try:
        status = json.loads(path.read_text(encoding="utf-8"))
        known = isinstance(status, dict) and status["status"] in ("ok", "missing")
        why = f"expected the status of a data set, got {str(status)[:40]!r}"
    except (ValueError, LookupError) as error:
        known, why = False, f"expected the status of a data set: {error}"
    if not known:
        again = f"delete it and {path.with_suffix('.npz')} and run again"
        raise ValueError(f"prepared data {path}: {why[:200]}; {again}")
    found: dict[str, Any] = status
    return found
