"""Results on disk: tables in one number format, every file written whole or not at all.

The fixed number format keeps results byte-identical between runs. A file is written beside its
place and renamed into it, so that a killed job leaves either the old file or the new one.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

FLOAT_FORMAT = "%.10g"


def write_bytes(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write a file atomically, in a folder that is made if need be.

    What a killed process left of the same file is removed. OSError names the file, on a full disk
    as well.
    """
    try:
        _write(content, Path(path))
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write(content: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{path.name}.*.*"):
        if not _runs(left.suffixes[-2][1:]):
            left.unlink(missing_ok=True)
    temporary = (
        path.parent / f".{path.name}.{os.getpid()}.{threading.get_ident()}_{time.monotonic_ns()}"
    )
    try:
        with temporary.open("xb") as file:  # with the mode that the umask leaves, as any new file
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _runs(process: str) -> bool:
    """Whether a process of this machine, by its number, runs."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text file as UTF-8, as `write_bytes` does."""
    write_bytes(text.encode("utf-8"), path)


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table without its index as CSV in the fixed number format, as `write_bytes` does."""
    write_text(table.to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n"), path)


def read_table(path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:  # noqa: ANN401
    """Table that `write_table` wrote; empty cells of text columns come back as NaN.

    `options` are those of `pandas.read_csv`. ValueError names a file that is no table, and what to
    do.
    """
    import pandas as pd  # noqa: PLC0415 - 0.3 s that jobs without tables need not pay

    try:
        return pd.read_csv(path, **options)
    except ValueError as error:  # empty, ragged, not UTF-8
        message = f"{path}: expected a table: {str(error).strip()}; delete the file and run again"
        raise ValueError(message) from None


def read_texts(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Table whose cells are kept as they are written; ValueError as for `read_table`."""
    return read_table(path, dtype=str, keep_default_na=False)


def file_digest(path: str | os.PathLike[str]) -> str:
    """Digest (sha256) of the bytes of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def settings_digest(settings: object) -> str:
    """Digest (sha256) of plain settings, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
