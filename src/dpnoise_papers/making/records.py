"""Records of jobs: of what a job was told and read, and the digests of the files that it wrote.

A job writes its record when it ends, into the hidden folder `.made` of the results. Whether a
result is still what was made, and made as it would be made now, is read off the record
(`dpnoise_papers.run.doubts`); `provenance.json` collects all records of a run.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

FOLDER = ".made"
MARK = "mark"  # instead of a digest: the input by which a job ran again
PROVENANCE = "provenance.json"


class Record(NamedTuple):
    """Record of a job.

    `told` is the digest of its settings and other params, `code` that of its code
    (`dpnoise_papers.code_inputs`); `inputs` and `outputs` are digests of files by path.
    """

    told: str
    code: str
    inputs: dict[str, str]
    outputs: dict[str, str]


def record_path(results: str | os.PathLike[str], stem: str) -> str:
    """Path of the record of a job, whose log has the path `stem` below the folder of logs."""
    return str(Path(results) / FOLDER / f"{stem}.json")


def file_digest(path: str | os.PathLike[str]) -> str:
    """Digest (sha256) of the bytes of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_digests(paths: Iterable[str]) -> dict[str, str]:
    """Digests (sha256) of files by path."""
    return {str(path): file_digest(path) for path in paths}


def write_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record."""
    write_text(json.dumps(record._asdict(), indent=1, sort_keys=True) + "\n", path)


def read_record(path: str | os.PathLike[str]) -> Record | None:
    """Record that `write_record` wrote, or None where there is none that can be read."""
    try:
        return _as_record(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def kept_records(results: str | os.PathLike[str]) -> dict[str, Record]:
    """Records by stem that the provenance.json of a run has, none if it cannot be read."""
    try:
        content = json.loads((Path(results) / PROVENANCE).read_text(encoding="utf-8"))
        found = {stem: _as_record(one) for stem, one in content["jobs"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}
    inside = [stem for stem in found if stem and ".." not in stem and not stem.startswith("/")]
    return {stem: record for stem in inside if (record := found[stem])}


def find_record(results: str | os.PathLike[str], stem: str) -> Record | None:
    """Record of a job that the job left, else the one in provenance.json, or None."""
    return read_record(record_path(results, stem)) or kept_records(results).get(stem)


def _as_record(content: object) -> Record | None:
    """Record from the content of a JSON file, or None if it is not one."""
    if not isinstance(content, dict) or set(content) != set(Record._fields):
        return None
    words = [content["told"], content["code"]]
    for digests in (content["inputs"], content["outputs"]):
        if not isinstance(digests, dict):
            return None
        words += digests.values()
    return Record(**content) if all(isinstance(word, str) for word in words) else None
