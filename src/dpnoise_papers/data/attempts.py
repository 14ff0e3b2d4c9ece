"""Attempts at a data set: when a missing one is tried again.

Snakemake runs a job again when one of its params changes. The param `tried_with` lists what can
be known of a set's sources without network: the local copies, whether official sources may be
asked, and how often a retry was requested. For a set that was had it stays what it was, so that
nothing is made again; for a missing one it is looked up anew. Hence a copy that is put into the
cache or the mirror is noticed by itself. That a network has come back is not: planning asks no
host. `dpnoise-papers data retry` requests the next attempt then.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise_papers.data.copies import copies_in, mirror_folder
from dpnoise_papers.data.registry import read_cities, read_registry
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    import os

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
    strict: bool = False,
    registry: str | os.PathLike[str] | None = None,
    city: bool = False,
) -> list[str]:
    """What a data set was tried with, or, for a missing one, would be tried with now.

    `status` is the path of the JSON that `dpnoise_papers.data.prepared.prepare` writes; the places
    are those of `dpnoise_papers.data.sets.load`. With `strict` a missing set is an error; with
    `city` the registry is one of cities. The answer is the same for the life of the process.
    """
    last = _read_status(Path(status))
    if last.get("status") == "ok":
        return list(last["tried_with"])
    request = last["tried_with"][0] if last else FIRST
    _, tables = (read_cities(registry) if city else read_registry(registry)).find(name)
    folders = [folder for folder in (Path(cache), mirror_folder(mirror)) if folder is not None]
    digests = {
        f"{table} {_digest(path)}"
        for folder in folders
        for table, entry in tables.items()
        for path in copies_in(folder, table, entry.files)
    }
    words = [word for word, holds in (("offline", offline), ("strict", strict)) if holds]
    return [request, *words, *sorted(digests)]


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


def _digest(path: Path) -> str:
    """Digest (sha256) of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # the attempt itself will say why
        return "unreadable"
