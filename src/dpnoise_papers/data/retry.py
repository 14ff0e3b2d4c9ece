"""Whether a data set that an earlier run could not get should be tried again.

Snakemake runs a job again when one of its params changes. The param `attempt` therefore
stays what it was unless a set was missing and there is now a reason to hope: then it goes
up by one. A second run without network or mirror has nothing to do. Standard library and
PyYAML only: this runs whenever the Snakefile is parsed.

Snakemake asks again after it has deleted the outputs of the job, in the same process or in
one on a cluster node, and must hear the same number. Hence a decision is kept for the life
of the process, and the status is read from a hidden twin that is no output.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.data.places import (
    answering,
    find_registry,
    host_of,
    in_folder,
    mirror_folder,
    read_yaml,
)

if TYPE_CHECKING:
    import os

_TIMEOUT = 0.5  # seconds for all official hosts together
_decided: dict[tuple, int] = {}


def attempt(
    name: str,
    status_path: str | os.PathLike,
    mirror: str | os.PathLike | None = None,
    *,
    cache: str | os.PathLike = "data/raw",
    registry: str | os.PathLike | None = None,
    offline: bool = False,
) -> int:
    """Return the number of the attempt at a data set that the next run should make.

    Parameters
    ----------
    name : str
        Name of the data set in the registry.
    status_path : path
        Status that `dpnoise_papers.data.prepare` wrote, if it ran before.
    mirror : path, optional
        Mirror folder; by default the one that DPNOISE_DATA_MIRROR names.
    cache : path
        Folder of raw downloads.
    registry : path, optional
        The registry, by default the repository's.
    offline : bool
        Do not ask the official hosts.

    Returns
    -------
    int
        0 without a status; the stored number when the set is there or nothing suggests
        that it can be had now; one more when it is missing and a file that was not seen
        before lies in the cache or the mirror, or an official host accepts a connection.
        The same for the life of the process.
    """
    key = (name, *map(str, (status_path, mirror, cache, registry, offline)))
    if key not in _decided:
        last = _last(Path(status_path))
        hope = last.get("status") == "missing" and (
            not local_digests(name, cache, mirror, registry) <= set(last["seen"])
            or (not offline and _official_host_answers(name, registry))
        )
        _decided[key] = last.get("attempt", 0) + hope
    return _decided[key]


def local_digests(
    name: str,
    cache: str | os.PathLike,
    mirror: str | os.PathLike | None,
    registry: str | os.PathLike | None,
) -> set[str]:
    """Return table and sha256 of every local file that a set may be made of."""
    folders = [folder for folder in (Path(cache), mirror_folder(mirror)) if folder is not None]
    return {
        f"{table} {_digest(path)}"
        for folder in folders
        for table, entry in _tables(name, registry).items()
        for path in in_folder(table, entry["files"], folder)
    }


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # `prepare` will say why
        return "unreadable"


def twin(status: Path) -> Path:
    """Return where the last status is kept while Snakemake deletes and rewrites it."""
    return status.with_name(f".{status.name}")


def _last(status: Path) -> dict:
    """Return the last status, or an empty one."""
    try:
        last = json.loads(twin(status).read_text(encoding="utf-8"))
        return last if {"status", "attempt", "seen"} <= last.keys() else {}
    except (OSError, ValueError, AttributeError):
        return {}


def _tables(name: str, registry: str | os.PathLike | None) -> dict[str, dict]:
    content = read_yaml(find_registry(registry))
    wanted = content["sets"].get(name, {}).get("tables", [])
    return {table: content["tables"][table] for table in wanted}


def _official_host_answers(name: str, registry: str | os.PathLike | None) -> bool:
    # Every host of the registry is asked at once, so that nine missing sets cost one wait.
    everyone = read_yaml(find_registry(registry))["tables"].values()
    awake = answering((s["url"] for entry in everyone for s in entry["sources"]), timeout=_TIMEOUT)
    own = _tables(name, registry).values()
    return any(host_of(source["url"]) in awake for entry in own for source in entry["sources"])
