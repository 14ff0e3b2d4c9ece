"""Tidy tables on disk: one number format, written whole or not at all.

A table is written beside its place and renamed into it, so that a killed job leaves either
the old file or the new one. The number format is fixed, which keeps results byte-identical
between runs.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd

FLOAT_FORMAT = "%.10g"


def write_text(text: str, path: str | Path) -> None:
    """Write `text` to `path` as UTF-8, atomically."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table as CSV, atomically and in the fixed number format."""
    write_text(table.to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n"), path)


def read(path: str | Path) -> pd.DataFrame:
    """Read a table written by `write`; empty cells of text columns come back as NaN."""
    return pd.read_csv(path)
