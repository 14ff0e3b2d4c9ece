"""A run as a whole: from what each file was made, and what came out beside the recorded run.

`results/provenance.json` says from which code, settings and data, on which machine, each file was
made. Date and machine stand there and nowhere else, so that all other results stay byte-identical
between runs. The digest of a file is the one that the log of its job has: a file that was edited
since differs from it.

The recorded run is the one that `docs/snapshot` keeps. A run of one's own may differ from it
without a defect: data may be missing, and another processor or other versions may move a number
across a threshold. Each verdict that differs is named with what is known of the reason. Two folders
of results, such as an author's and a reviewer's, are compared file by file.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from packaging.requirements import Requirement

from dpnoise._version import __version__
from dpnoise_papers.claims.findings import different_verdicts
from dpnoise_papers.claims.judge import LEGEND, NOT_RUN, REPRODUCED
from dpnoise_papers.claims.published import FORMS
from dpnoise_papers.claims.report import kinds_of_findings
from dpnoise_papers.result_files import file_digest, read_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.steps import Run

PACKAGE = "dpnoise"
PROVENANCE = "provenance.json"
PREPARED = "data/prepared"
_MADE = re.compile(r"(?m)^made ([0-9a-f]{64}) ([0-9a-f]{16}) (.+)$")
_SOURCES = ("Snakefile", "config.yaml", "data", "published", "src", "workflow")
RUN = "run.json"  # in docs/snapshot: machine and packages of the recorded run
_NAMED = 5  # verdicts that the last line names
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
    record, lines = _json(Path(results, PROVENANCE)), list[str]()
    if "files" not in record:
        return [f"{Path(results, PROVENANCE)} cannot be read"]
    for path, one in record["files"].items():
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


class Outcome(NamedTuple):
    """Lines to print, of which the last sums up, and the exit code."""

    lines: list[str]
    code: int


def outcome(run: Run, snapshot: str | os.PathLike[str] = "docs/snapshot") -> Outcome:
    """Outcome of a run that has ended, beside the recorded one.

    The code is 1 if data are missing or a file is not what provenance.json says, else 0. ValueError
    if the run has no verdicts.
    """
    results, snapshot = Path(run.results), Path(snapshot)
    if not (results / "verdicts.csv").is_file():
        raise ValueError(f"outcome: no verdicts in {results}: `make reproduce` makes them")
    verdicts = read_texts(results / "verdicts.csv")
    own = verdicts[verdicts["kind"] == "printed"]
    counts = own["verdict"].value_counts()
    told = [f"{counts[word]} {word}" for word in LEGEND if word in counts]
    if REPRODUCED in counts:
        forms = own["form"][own["verdict"] == REPRODUCED].value_counts()
        told[0] += f" ({', '.join(f'{forms[form]} {form}s' for form in FORMS if form in forms)})"
    kinds = kinds_of_findings(own)
    some = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
    found = f"findings: {sum(kinds.values())}" + (f" ({some})" if some else "")
    parts = [f"{len(own)} assertions printed: {', '.join(told)}; {found}"]
    empty = own["id"][(own["reason"] == NOT_RUN) & (own["optional"] == "no")]
    lines = [f"no value to judge: {', '.join(empty)}"] if len(empty) else []
    lacking, other = run.no_data(), differing(results, run.told())
    if run.changed:
        parts.append(
            "settings are not the papers', so that nothing is compared with the recorded run"
        )
    elif not (snapshot / "verdicts.csv").is_file():
        parts.append("there is no recorded run to compare with")
    else:
        different = different_verdicts(read_texts(snapshot / "verdicts.csv"), verdicts)
        lines += [f"{name}: {now}, recorded {said}" for name, (said, now) in different.items()]
        differ = "verdict differs" if len(different) == 1 else "verdicts differ"
        words = f"{len(different)} {differ} from the recorded run"
        if different:
            named = [*list(different)[:_NAMED], *(["..."] if len(different) > _NAMED else [])]
            why = _reason(_json(results / PROVENANCE), _json(snapshot / RUN), lacking)
            words += f" ({', '.join(named)}), likely reason: {why}"
        parts.append(words)
    if other:
        parts.append(f"{len(other)} file(s) DIFFER from {PROVENANCE}: {'; '.join(other)}. Delete "
                     "them and run again")  # fmt: skip
    return Outcome([*lines, *lacking, "; ".join(parts)], int(bool(other or lacking)))


def _reason(run: Mapping[str, Any], recorded: Mapping[str, Any], lacking: Sequence[str]) -> str:
    """What is known to be different from the recorded run, in words."""
    found = [f"no data ({len(lacking)} set(s))"] if lacking else []
    if run.get("modified"):
        found.append("sources that are not those of the commit")
    cpu, known = (one.get("machine", {}).get("cpu", "unknown") for one in (run, recorded))
    if cpu != known:
        found.append(f"other processor ({cpu}, recorded {known})")
    packages, before = (one.get("packages", {}) for one in (run, recorded))
    pairs = {name: (packages.get(name, "none"), before.get(name, "none"))
             for name in sorted({*packages, *before})}  # fmt: skip
    if other := [f"{one} {a}, recorded {b}" for one, (a, b) in pairs.items() if a != b]:
        found.append(f"other versions ({'; '.join(other)})")
    return "; ".join(found) or "none is known, so that this is worth a report"


def _json(path: Path) -> dict[str, Any]:
    """Content of a JSON file, or nothing where there is none that can be read."""
    content = None
    with suppress(OSError, ValueError):
        content = json.loads(path.read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else {}


class Comparison(NamedTuple):
    """Files of two folders: with the same bytes, differing (how, in words), and ignored."""

    same: list[str]
    differing: dict[str, list[str]]
    ignored: list[str]


def compare(
    old: str | os.PathLike[str], new: str | os.PathLike[str], ignore: Iterable[str] = ()
) -> Comparison:
    """Comparison of the files of two folders, but hidden ones.

    Files that match a pattern of `ignore`, such as 'inid-2024/*.csv', are not compared, nor is
    'provenance.json', which tells of date and machine. ValueError if a folder does not exist or
    neither holds a file.
    """
    before, after = _files(Path(old)), _files(Path(new))
    if not before and not after:
        raise ValueError(f"compare: no files in {old} and {new}")
    found = Comparison([], {}, [])
    for name in sorted(before | after):
        if any(fnmatch(name, pattern) for pattern in (PROVENANCE, *ignore)):
            found.ignored.append(name)
        elif how := _differences(Path(old, name), Path(new, name)):
            found.differing[name] = how
        else:
            found.same.append(name)
    return found


def _files(folder: Path) -> set[str]:
    """Paths of all files below a folder, but hidden ones."""
    if not folder.is_dir():
        raise ValueError(f"compare: no folder {folder}")
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if not any(part[0] == "." for part in path.parts)}


def _differences(old: Path, new: Path) -> list[str]:
    """Words on how two files differ, none if they do not."""
    if not (old.is_file() and new.is_file()):
        return ["missing" if old.is_file() else "new"]
    if old.read_bytes() == new.read_bytes():
        return []
    if old.suffix != ".csv":
        return ["other bytes"]
    try:
        before, after = map(read_texts, (old, new))
    except ValueError:  # pandas' ParserError and UnicodeDecodeError included
        return ["other bytes, not readable as a table"]
    one, two = (f"{len(table)} rows of {', '.join(map(str, table))}" for table in (before, after))
    if one != two:
        return [f"{one} before, {two} now"]
    tables = before, after
    x, y = (one.apply(pd.to_numeric, errors="coerce").to_numpy(float) for one in tables)
    was, now = (one.to_numpy() for one in tables)
    scale = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.finfo(float).tiny)
    by = np.nan_to_num(np.abs(x / scale - y / scale), nan=np.inf)  # of what is no number
    by[was == now] = -1.0
    words = []
    for column, name in enumerate(before):
        row, cells = int(by[:, column].argmax()), int(np.sum(by[:, column] >= 0))
        most = by[row, column]
        how = f"by at most {most:.2g} of the value" if most < np.inf else "not as numbers"
        told = f"row {row + 1}: {was[row, column][:40]!r} before, {now[row, column][:40]!r} now"
        if cells:
            differ = f"{cells} of {len(by)} cells differ"
            words.append(f"column {name!r}: {differ}, {how} ({told})")
    return words or ["the same cells, written with other bytes"]
