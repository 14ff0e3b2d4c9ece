"""Provenance of a run: from which code, settings and data, on which machine, each file was made.

`results/provenance.json` holds it, in one file for the whole run. Date and machine stand there and
nowhere else, so that all other results stay byte-identical between runs. The digest of a file is
the one that the log of its job has: a file that was edited since differs from it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement

from dpnoise._version import __version__
from dpnoise_papers.result_files import file_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PACKAGE = "dpnoise"
PROVENANCE = "provenance.json"
PREPARED = "data/prepared"
_MADE = re.compile(r"(?m)^made ([0-9a-f]{64}) ([0-9a-f]{16}) (.+)$")
_SOURCES = ("Snakefile", "config.yaml", "data", "published", "src", "workflow")
_EXTRAS = ("learn", "denoise", "papers", "pipeline")


def as_json(
    files: Iterable[str], told: Mapping[str, Sequence[str]], run: Mapping[str, Any], *, logs: str
) -> str:
    """Text of provenance.json: the run, its inputs, and of each file its digest, item and settings.

    `told` has the item of each file, `run` what else is known, `logs` what each job made.
    """
    # The newest last: a job of an older version may have made a file that another makes now.
    written = sorted(Path(logs).rglob("*.log"), key=lambda log: log.stat().st_mtime_ns)
    found = (_MADE.findall(log.read_text(encoding="utf-8")) for log in written)
    made = {path: (digest, settings) for lines in found for digest, settings, path in lines}
    read = (*Path("published").glob("*.*"), *Path(PREPARED).rglob("*.npz"))
    commit, modified = revision()
    record: dict[str, Any] = {"revision": commit, "modified": modified, **stamp(), **run}
    record["data"] = {path.stem: {key: one[key] for key in ("status", "fingerprint")}
                      for path in sorted(Path(PREPARED).rglob("*.json"))
                      if (one := json.loads(path.read_text(encoding="utf-8")))}  # fmt: skip
    record["inputs"] = {path.as_posix(): file_digest(path) for path in sorted(read)}
    record["files"] = {}
    for path in sorted(files):
        digest, settings = made.get(path) or (file_digest(path), "")
        item = told[path][0] if path in told else Path(path).stem
        record["files"][path] = {"sha256": digest, "item": item, "settings": settings}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def differing(results: str | os.PathLike[str], told: Mapping[str, Sequence[str]]) -> list[str]:
    """What is not as provenance.json of a folder of results says, one line for each file.

    That is a file that is gone or has other bytes than its job wrote, and, by `told`, one that was
    made with other settings than those in force.
    """
    try:
        files = json.loads((Path(results) / PROVENANCE).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, LookupError):
        return [f"{Path(results) / PROVENANCE} cannot be read"]
    lines = []
    for path, one in files.items():
        if not Path(path).is_file():
            lines.append(f"{path} is missing")
        elif file_digest(path) != one["sha256"]:
            lines.append(f"{path} is not what its job wrote")
        elif one["settings"] and path in told and told[path][1] != one["settings"]:
            lines.append(f"{path} was made with other settings")
    return lines


@cache
def revision(root: str = ".") -> tuple[str, bool]:
    """Commit of a checkout and whether its sources differ from it.

    Without one, the version of the package and False.
    """
    command = ["git", "--no-optional-locks", "--git-dir=.git", "--work-tree=.", "status",
               "--porcelain=v2", "--branch", "--", *_SOURCES]  # fmt: skip
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(  # noqa: S603 - fixed words, and git only reads
            command, cwd=root, check=True, capture_output=True, text=True, timeout=30
        ).stdout
        if commit := re.search(r"(?m)^# branch.oid ([0-9a-f]{40})", told):
            return commit[1], bool(re.search(r"(?m)^[^#]", told))
    return __version__, False


def stamp() -> dict[str, Any]:
    """Date, machine and versions of packages of this process."""
    machine = {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": date, "machine": machine, "packages": _packages()}


def processor() -> str:
    """Model of the processor, or what is known of it."""
    with suppress(OSError):
        if found := re.search(r"(?m)^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text()):
            return found[1]
    return platform.processor() or platform.machine()


def _packages() -> dict[str, str]:
    """Versions of the packages that the pipeline declares and that are here, by name."""
    found = {}
    for line in requires(PACKAGE) or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": name}) for name in _EXTRAS):
            with suppress(PackageNotFoundError):
                found[one.name] = version(one.name)
    return dict(sorted(found.items()))
