"""One job of the pipeline: its log, its functions and what they read, the guard, and its record.

A job fails if its code or an input changes while it runs. When it ends it writes its record, into
the hidden folder `.made` of the results: what it was told and read, and the digests of the files
that it wrote. Whether a result is still what was made, and made as it would be made now, is read
off the record (`dpnoise_papers.run.doubts`); `provenance.json` collects all records of a run.
"""

from __future__ import annotations

import gc
import hashlib
import json
import traceback
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise_papers import progress, result_files
from dpnoise_papers.making.sources import ChangedError, Sources, changed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

PROCESSOR_TIME = " s of processor time"
UNFINISHED = "The step began, and did not end: killed, out of memory, or still running.\n"
FOLDER = ".made"
MARK = "mark"  # instead of a digest: the input by which a job ran again
PROVENANCE = "provenance.json"


@contextmanager
def job(snakemake: Any) -> Iterator[list[str]]:  # noqa: ANN401 - Snakemake has no type for it
    """Log of a job, which fails if its code or an input changes while it runs.

    `snakemake` is what Snakemake gives to a script. The param `code` is the digest of the job's
    code; with the params `record` and `told` a record is written there when all is done.
    """
    params = snakemake.params
    with logged(snakemake.log[0]) as log:
        try:
            sources = Sources(params.code)
            marks = [path for path in snakemake.input if FOLDER in Path(path).parts]
            given = [path for path in snakemake.input if path not in marks]
            inputs = file_digests(given)
            yield log
            sources.check()
            now = file_digests(given)
            other = [path for path, digest in inputs.items() if now[path] != digest]
            if other:
                raise changed("an input", other, "it was written while this job ran")
        except ChangedError as error:
            raise SystemExit(f"{snakemake.log[0]}: {error}") from None
        path = params.get("record", "")
        if path:
            outputs = file_digests(snakemake.output)
            inputs |= dict.fromkeys(marks, MARK)
            write_record(Record(params.told, params.code, inputs, outputs), path)


@contextmanager
def logged(path: str) -> Iterator[list[str]]:
    """Log of a step: the lines that it says of itself, and the error of a step that fails.

    A step that is killed leaves the first line, which says that it has not ended.
    """
    lines: list[str] = []
    result_files.write_text(UNFINISHED, path)
    progress.name_job("/".join(Path(path).with_suffix("").parts[-2:]))
    try:
        yield lines
    except BaseException:
        lines.append(traceback.format_exc().rstrip())
        raise
    finally:
        result_files.write_text("".join(f"{line}\n" for line in lines), path)


def resolve(name: str) -> Callable[..., Any]:
    """Function with a full dotted name.

    Loading modules leaves no garbage: looking for it would take a tenth of the time.
    """
    path, _, function = name.rpartition(".")
    collects = gc.isenabled()
    gc.disable()
    try:
        module = import_module(path)
    finally:
        if collects:
            gc.enable()
    found: Callable[..., Any] = getattr(module, function)
    return found


def read_tables(
    paths: Sequence[str], groups: Sequence[Sequence[str]]
) -> list[pd.DataFrame | dict[str, pd.DataFrame]]:
    """Result tables, for each name that an item reads a table or a dictionary from part to table.

    `paths` holds one path for each name, or one for each of its parts; `groups` for each name its
    parts, empty for a single table.
    """
    tables = iter([result_files.read_table(path) for path in paths])
    return [{part: next(tables) for part in group} if group else next(tables) for group in groups]


def read_statuses(paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Status of each data set by its name; ValueError names a file that is none, and what to do."""
    return {Path(path).stem: _read_status(Path(path)) for path in paths}


def _read_status(path: Path) -> dict[str, Any]:
    """Status of a data set that `dpnoise_papers.data.sets.prepare` wrote."""
    try:
        status = json.loads(path.read_text(encoding="utf-8"))
        known = isinstance(status, dict) and status["status"] in ("ok", "missing")
        why = f"expected the status of a data set, got {str(status)[:40]!r}"
    except (ValueError, LookupError) as error:
        known, why = False, f"expected the status of a data set: {error}"
    if not known:
        again = f"delete it and {path.with_suffix('.npz')} and run again"
        raise ValueError(f"prepared data {path}: {why[:200]}; {again}")
    found: dict[str, Any] = status
    return found


class Record(NamedTuple):
    """Record of a job.

    `told` is the digest of its settings and other params, `code` that of its code
    (`dpnoise_papers.making.sources`); `inputs` and `outputs` are digests of files by path.
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
    result_files.write_text(json.dumps(record._asdict(), indent=1, sort_keys=True) + "\n", path)


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
