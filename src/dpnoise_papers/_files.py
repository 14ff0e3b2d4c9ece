"""Write a file whole or not at all: beside its place, then renamed into it.

A killed job leaves either the old file or the new one.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write `content` to `path` atomically; folders are made if need be."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)  # mkstemp's are private
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
