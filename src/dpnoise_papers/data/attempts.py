"""Attempts at a data set: when a missing one is tried again.

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
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dpnoise_papers.data.archives import read_file
from dpnoise_papers.data.copies import copies_in, places_of
from dpnoise_papers.data.images_registry import find_images
from dpnoise_papers.data.registry import read_cities, read_registry
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from dpnoise_papers.data.copies import Preference

FIRST = "request 0"


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

    `status` is the path of the JSON that `dpnoise_papers.data.prepared.prepare` writes; the places
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
