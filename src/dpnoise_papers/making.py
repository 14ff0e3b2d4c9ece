"""One job of the pipeline: its code and the guard over it, its log, what it reads, its record.

Snakemake does not notice an edited module that a script merely imports, and takes a script for
edited whenever its file is newer. Every rule therefore has among its params the digest of what its
script and the modules behind its functions say: comments, docstrings, layout and the age of the
files do not count. The graph is built from the import statements; no module is imported.

A module that is edited while a run goes on would give a table of code that nobody has any more, all
the more so if it is put back afterwards. A job therefore compares its sources at its beginning and
at its end with what they were when the run was planned, and fails if its code or an input changes.

When it ends it writes its record, into the hidden folder `.made` of the results: what it was told
and read, and the digests of the files that it wrote. Whether a result is still what was made, and
made as it would be made now, is read off the record (`dpnoise_papers.run.doubts`);
`provenance.json` collects all records of a run.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
import sys
import traceback
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise_papers import progress, result_files
from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import grimp
    import pandas as pd


PACKAGES = ("dpnoise", "dpnoise_papers")
SOURCE = Path(__file__).resolve().parents[1]
_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
CACHE = ".snakemake/code-digests.json"
PLANNED = ".snakemake/code-planned.json"
_new: dict[str, str] = {}
_planned: dict[str, list[str]] = {}
_SHOWN = 5


@cache
def _graph() -> grimp.ImportGraph:
    import grimp  # noqa: PLC0415 - jobs compare their sources without a graph

    return grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)


def code_inputs(script: str, *functions: str) -> list[str]:
    """Sorted files of the modules behind a script and the functions, by full dotted name, that it
    calls.

    Paths are relative where they lie below the working directory. ValueError if a module does not
    exist.
    """
    graph = _graph()
    modules = {*_imports(script), *(name.rpartition(".")[0] for name in functions)}
    unknown = sorted(modules - graph.modules)
    if unknown:
        raise ValueError(f"{script}: no module {', '.join(unknown)} in {' or '.join(PACKAGES)}")
    found = modules.union(*(graph.find_upstream_modules(name) for name in modules))
    return sorted(_path(name) for name in found)


def code_digest(script: str, *functions: str) -> str:
    """Digest (sha256) of a script and of the modules behind it and the functions that it calls.

    Errors are those of `code_inputs`.
    """
    files = [script, *code_inputs(script, *functions)]
    said = [_digests(path)[1] for path in files]
    found = hashlib.sha256("\n".join(said).encode()).hexdigest()
    _planned[found] = files
    return found


def raw_digest(content: bytes) -> str:
    """Digest (sha256) of a source file's bytes."""
    return hashlib.sha256(content).hexdigest()


def said_digest(content: bytes) -> str:
    """Digest (sha256) of what a source says; of its bytes if it is no Python."""
    try:
        return hashlib.sha256(_without_words(content).encode()).hexdigest()
    except (SyntaxError, ValueError):
        return raw_digest(content)


@cache
def _digests(path: str) -> tuple[str, str]:
    """Digests of a source file's bytes and of what it says, which is remembered between runs."""
    content = Path(path).read_bytes()
    raw = raw_digest(content)
    known = _known()
    if raw not in known:
        found = hashlib.sha256(_without_words(content).encode()).hexdigest()
        known[raw] = _new[raw] = found
    return raw, known[raw]


def _without_words(content: bytes) -> str:
    """Syntax tree of a source as text, without comments, docstrings and places."""
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)


@cache
def _known() -> dict[str, str]:
    """Digests that earlier runs found, by digest of the bytes, for this version of Python."""
    try:
        found = json.loads(Path(CACHE).read_text(encoding="utf-8"))
        known: dict[str, str] = dict(found[_VERSION])
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return known


def remember_digests() -> None:
    """Keep for the next run what `code_digest` found, as far as the folder can be written."""
    try:
        if _new and Path(CACHE).parent.is_dir():
            write_text(json.dumps({_VERSION: _known()}, sort_keys=True), CACHE)
    except OSError:  # the next run takes a second more
        return


def plan_sources() -> None:
    """Keep for the jobs of a run which sources each was planned with, as `code_digest` found."""
    paths = sorted({path for files in _planned.values() for path in files})
    places = {path: place for place, path in enumerate(paths)}
    content = {
        "sources": [[path, *_digests(path)] for path in paths],
        "of": {code: [places[path] for path in files] for code, files in _planned.items()},
    }
    write_text(json.dumps(content), PLANNED)


def planned_sources(code: str) -> dict[str, tuple[str, str]] | None:
    """Sources behind a digest of code, by path the digests of their bytes and of what they say.

    None if the run was not planned with it.
    """
    try:
        content = json.loads(Path(PLANNED).read_text(encoding="utf-8"))
        files = [content["sources"][place] for place in content["of"][code]]
    except (OSError, ValueError, LookupError):
        return None
    return {path: (raw, said) for path, raw, said in files}


@cache
def _imports(script: str) -> tuple[str, ...]:
    """Modules of both packages that a script imports by name."""
    tree = ast.parse(Path(script).read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return tuple(name for name in names if name and name.split(".")[0] in PACKAGES)


@cache
def _path(module: str) -> str:
    """File of a module, relative to the working directory if possible."""
    path = SOURCE.joinpath(*module.split("."))
    # A folder alone may be what an older commit left: its compiled modules.
    package = path / "__init__.py"
    path = package if package.is_file() else path.with_suffix(".py")
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


class ChangedError(Exception):
    """Code or an input of a job that changed while the run went on; the message names the files."""


class Sources:
    """Sources of a job, as they were when the run was planned.

    `code` is the digest of the job's code. ChangedError if the sources are others by now.
    """

    def __init__(self, code: str) -> None:
        planned = planned_sources(code)
        if planned is None:
            raise ChangedError("it is not known which sources this job was planned with: run again")
        self._planned = planned
        self._touched: dict[str, int] = {}
        self.check()
        self._touched = {path: _touched(path) for path in planned}

    def check(self) -> None:
        """Compare the sources with the plan, and with what they were at the job's beginning.

        ChangedError if one says something else, or was written since with the same content.
        """
        other, put_back = [], []
        for path, (raw, said) in self._planned.items():
            try:
                content = Path(path).read_bytes()
            except OSError:
                other.append(path)
                continue
            if raw_digest(content) != raw:
                if said_digest(content) != said:
                    other.append(path)
            elif path in self._touched and _touched(path) != self._touched[path]:
                put_back.append(path)
        if other:
            raise changed("code", other, "not what it was when the run was planned")
        if put_back:
            raise changed("code", put_back, "edited and put back while this job ran")


def changed(what: str, files: Sequence[str], how: str) -> ChangedError:
    """Error on code or inputs that changed while the run went on."""
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ChangedError(
        f"{what} of this job changed while the run went on: {', '.join(files[:_SHOWN])}{more}"
        f" ({how}). Nothing that this job made is kept: run again"
    )


def _touched(path: str) -> int:
    """When a file or its content was last changed, in nanoseconds; no program can set it back."""
    return Path(path).stat().st_ctime_ns


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
    (`dpnoise_papers.making`); `inputs` and `outputs` are digests of files by path.
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
