"""Local copies of raw tables: in the cache, and in the mirror folder.

Only file names are looked at. A table is known by the paths that the registry lists, by their base
names, and by its own name with any extension, so that a file saved by hand is found.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MIRROR_VARIABLE = "DPNOISE_DATA_MIRROR"


def mirror_folder(mirror: str | os.PathLike[str] | None) -> Path | None:
    """Mirror folder, if there is one: by default the one that DPNOISE_DATA_MIRROR names.

    The empty text is no mirror, whatever the environment says.
    """
    chosen = os.environ.get(MIRROR_VARIABLE, "") if mirror is None else os.fspath(mirror)
    return Path(chosen) if chosen else None


def check_mirror(mirror: str | os.PathLike[str] | None = None) -> None:
    """Refuse a mirror folder that does not exist, by default the one of DPNOISE_DATA_MIRROR.

    Asked where a run or a command begins: the nodes of a cluster need not see the folder.
    """
    folder = mirror_folder(mirror)
    if folder is not None and not folder.is_dir():
        whose = MIRROR_VARIABLE if mirror is None else "mirror"
        raise ValueError(
            f"{whose}: no folder {str(folder)!r}, expected one with copies of the raw tables; "
            "name another, or leave it out to use the official sources"
        )


def copies_in(folder: Path, table: str, files: Iterable[str]) -> list[Path]:
    """Files of a folder that may hold a table, best first.

    `files` are the paths that the registry lists for it. The folder need not exist.
    """
    listed = [Path(file) for file in files]
    relative = dict.fromkeys([*listed, *(Path(file.name) for file in listed)])
    paths = [folder / path for path in relative]
    paths += sorted(folder.glob(f"{table}.*"))
    return list(dict.fromkeys(path for path in paths if path.is_file()))
