"""Local copies of raw tables: where they are looked for, and when a missing set is tried again.

The places are, in order, the cache of verified downloads, a mirror folder if one is named, the
copies that travel with the repository (the folder `shipped` beside the registry) and the official
addresses. Only file names are looked at here. A table is known by the paths that the registry
lists, by their base names, and by its own name with any extension, so that a file saved by hand is
found.

Snakemake runs a job again when one of its params changes. The param `tried_with` lists what can be
known of a set's sources without network: the local copies, whether official sources may be asked or
are wanted, and how often a retry was requested. For a set that was had it stays what it was, so
that nothing is made again, unless the source that is wanted changes; for a missing one it is looked
up anew. Hence a copy that is put into the cache or the mirror is noticed by itself. That a network
has come back is not: planning asks no host. `dpnoise-papers data retry` requests the next attempt
then.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpnoise_papers.data.archives import read_file
from dpnoise_papers.data.registry import REPOSITORY, find_images, read_cities, read_registry
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Preference = Literal["nearest", "official"]

MIRROR_VARIABLE = "DPNOISE_DATA_MIRROR"
SHIPPED = "shipped"
FIRST = "request 0"


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


# Snakemake asks again after it has deleted the outputs of the job, and must hear the same.
@remembered
def tried_with(
    name: str,
    status: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str],
    mirror: str | os.PathLike[str] | None = None,
    offline: bool = False,
    source: Preference = "nearest",
    strict: bool = False,
    registry: str | os.PathLike[str] | None = None,
    kind: Literal["task", "city", "images"] = "task",
) -> list[str]:
    """What a data set was tried with, or, for a missing one, would be tried with now.

    `status` is the path of the JSON that `dpnoise_papers.data.sets.prepare` writes; the places
    are those of `dpnoise_papers.data.copies.places_of`. With `strict` a missing set is an error;
    `kind` is that of the sets of the registry. The answer is the same for the life of the process.
    """
    last = _read_status(Path(status))
    official = source == "official"
    if last.get("status") == "ok" and official == (source in last["tried_with"]):
        return list(last["tried_with"])
    request = last["tried_with"][0] if last else FIRST
    files = _listed(kind, name, registry)
    places = places_of(registry, cache=cache, mirror=mirror, offline=offline, source=source)
    digests = {
        f"{table} {digest}"
        for place in places.folders
        if place.folder is not None
        for table, listed in files.items()
        for digest in _digests(place.folder, table, listed)
    }
    said = (("offline", offline), ("official", official), ("strict", strict))
    words = [word for word, holds in said if holds]
    return [request, *words, *sorted(digests)]


def _listed(kind: str, name: str, registry: str | os.PathLike[str] | None) -> dict[str, list[str]]:
    """Files that a registry lists for a set, by table or by copy."""
    if kind == "images":
        return {copy: entry.files for copy, entry in find_images(name, registry).copies.items()}
    _, tables = (read_cities(registry) if kind == "city" else read_registry(registry)).find(name)
    return {table: entry.files for table, entry in tables.items()}


def request_retry(status: str | os.PathLike[str]) -> bool:
    """Have the next run try a missing set again; return whether it was missing.

    Otherwise nothing is written.
    """
    last = _read_status(Path(status))
    if last.get("status") != "missing":
        return False
    first, *rest = last["tried_with"]
    last["tried_with"] = [f"request {int(first.split()[1]) + 1}", *rest]
    write_text(json.dumps(last, indent=2, ensure_ascii=False) + "\n", status)
    return True


def _read_status(path: Path) -> dict[str, Any]:
    """Status, or nothing if there is none that `prepare` wrote."""
    try:
        last = json.loads(path.read_text(encoding="utf-8"))
        int(last["tried_with"][0].split()[1])
        return last if last["status"] in ("ok", "missing") else {}
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return {}


def _digests(folder: Path, table: str, files: Iterable[str]) -> Iterator[str]:
    """Digests (sha256) of the files of a folder that may hold a table."""
    try:
        for path in copies_in(folder, table, files):
            try:
                yield hashlib.sha256(read_file(path)).hexdigest()
            except (OSError, ValueError):  # the attempt itself will say why
                yield "unreadable"
    except OSError:
        yield "folder unreadable"
