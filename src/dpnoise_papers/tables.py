"""Tidy tables on disk: one number format, written whole or not at all.

The number format is fixed, which keeps results byte-identical between runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers._files import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

FLOAT_FORMAT = "%.10g"


def write_text(text: str, path: str | Path) -> None:
    """Write `text` to `path` as UTF-8, atomically."""
    write_bytes(text.encode("utf-8"), path)


def write(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table as CSV, atomically and in the fixed number format."""
    write_text(table.to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n"), path)


def read(path: str | Path) -> pd.DataFrame:
    """Read a table written by `write`; empty cells of text columns come back as NaN."""
    return pd.read_csv(path)
