"""Code that a job depends on, from the import graph of both packages, and the guard over it.

Snakemake does not notice an edited module that a script merely imports, and takes a script for
edited whenever its file is newer. Every rule therefore has among its params the digest of what its
script and the modules behind its functions say: comments, docstrings, layout and the age of the
files do not count. The graph is built from the import statements; no module is imported.

A module that is edited while a run goes on would give a table of code that nobody has any more, all
the more so if it is put back afterwards. A job therefore compares its sources at its beginning and
at its end with what they were when the run was planned.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.result_files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import grimp

PACKAGES = ("dpnoise", "dpnoise_papers")
SOURCE = Path(__file__).resolve().parents[2]
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
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
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
