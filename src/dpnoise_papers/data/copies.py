"""Places where copies of raw tables are looked for, and the local copies in them.

The places are, in order, the cache of verified downloads, a mirror folder if one is named, the
copies that travel with the repository (the folder `shipped` beside the registry) and the official
addresses. Only file names are looked at here. A table is known by the paths that the registry
lists, by their base names, and by its own name with any extension, so that a file saved by hand is
found.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from dpnoise_papers.data.registry import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable

    Preference = Literal["nearest", "official"]

MIRROR_VARIABLE = "DPNOISE_DATA_MIRROR"
SHIPPED = "shipped"


class Place(NamedTuple):
    """A folder of copies, or why it is not looked at."""

    label: str
    folder: Path | None
    why_not: str = ""


class Places(NamedTuple):
    """Where copies of raw tables are looked for: folders, in order, then official addresses.

    `cache` is the folder that downloads are moved to, the first of `folders`; with `offline` the
    official addresses are not asked.
    """

    cache: Path
    folders: tuple[Place, ...]
    offline: bool = False


def places_of(
    registry: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] = "data/raw",
    mirror: str | os.PathLike[str] | None = None,
    offline: bool = False,
    source: Preference = "nearest",
) -> Places:
    """Places for the tables of a registry, by default those of the repository.

    `mirror` is as for `mirror_folder`. With the source 'official' neither the mirror nor the copies
    beside the registry are looked at, so that what is not in the cache comes from an official
    address. ValueError if `source` is unknown.
    """
    if source not in ("nearest", "official"):
        raise ValueError(f"source of data: expected 'nearest' or 'official', got {source!r}")
    beside = REPOSITORY / "data" if registry is None else Path(registry).parent
    further = [
        Place("mirror", mirror_folder(mirror), "none given"),
        Place(SHIPPED, beside / SHIPPED),
    ]
    if source == "official":
        further = [Place(label, None, "not asked (source: official)") for label, *_ in further]
    return Places(Path(cache), (Place("cache", Path(cache)), *further), offline)


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
            "name another, or leave it out to use the copies in data/shipped"
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
