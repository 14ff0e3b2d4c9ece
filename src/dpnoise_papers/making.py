"""What every job of the pipeline has: the digest of its code, its log, what it reads.

Snakemake does not notice an edited module that a script merely imports, and takes a script for
edited whenever its file is newer. Every rule therefore has among its params the digest of its
script and of the modules behind the functions that it calls: a new date reruns nothing, an edit
reruns what uses the module. The graph is built from the import statements; no module is imported.

The log of a job ends with a line for each file that it made, with the digests of the file and of
what the job was told; `provenance.json` collects them.
"""

from __future__ import annotations

import ast
import hashlib
import os
import signal
import threading
import traceback
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnoise_papers.result_files import file_digest, read_table, settings_digest, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import grimp

PACKAGES = ("dpnoise", "dpnoise_papers")
SOURCE = Path(__file__).resolve().parents[1]
UNFINISHED = "The job began, and did not end: killed, out of memory, or still running.\n"


@cache
def _graph() -> grimp.ImportGraph:
    import grimp  # noqa: PLC0415 - jobs need no graph

    return grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)


def code_inputs(script: str, *functions: str) -> list[str]:
    """Sorted files of the modules behind a script and functions, with the statements beside them.

    Functions are full dotted names; paths are relative to the folder of the sources. ValueError if
    a module does not exist.
    """
    graph = _graph()
    modules = {*_imports(script), *(name.rpartition(".")[0] for name in functions)}
    if unknown := sorted(modules - graph.modules):
        raise ValueError(f"{script}: no module {', '.join(unknown)} in {' or '.join(PACKAGES)}")
    files = set(map(_path, modules.union(*map(graph.find_upstream_modules, modules))))
    beside = {one for path in files for one in (SOURCE / path).parent.glob("*.yaml")}
    tables = {one for one in beside if one.name != "items.yaml"}  # which declares other jobs too
    return sorted(files | {one.relative_to(SOURCE).as_posix() for one in tables})


@cache
def code_digest(script: str, *functions: str) -> str:
    """Digest (sha256) of a script and of the files behind it: see `code_inputs`."""
    files = [Path(script), *(SOURCE / path for path in code_inputs(script, *functions))]
    return hashlib.sha256("\n".join(map(_source_digest, files)).encode()).hexdigest()


_source_digest = cache(file_digest)  # a source is behind many jobs


@cache
def _imports(script: str) -> list[str]:
    """Modules of both packages that a script imports by name."""
    tree = ast.parse(Path(script).read_text(encoding="utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return [name for name in names if name.split(".")[0] in PACKAGES]


@cache
def _path(module: str) -> str:
    """File of a module, relative to the folder of the sources."""
    # A folder alone may be what an older commit left: its compiled modules.
    package = f"{module.replace('.', '/')}/__init__.py"
    return package if (SOURCE / package).is_file() else package.replace("/__init__.py", ".py")


@contextmanager
def job(snakemake: Any) -> Iterator[list[str]]:  # noqa: ANN401 - Snakemake has no type for it
    """Log of a job: what it says of itself, what it made, or the error by which it failed.

    `snakemake` is what Snakemake gives to a script. A job that is killed leaves the first line,
    which says that it has not ended.
    """
    lines: list[str] = []
    path = snakemake.log[0]
    write_text(UNFINISHED, path)
    calls = {file: call for call in snakemake.params.get("calls", []) for file in call["outputs"]}
    try:
        yield lines
        for file in snakemake.output:
            told = settings_digest(calls.get(file, {}))[:16]
            lines.append(f"made {file_digest(file)} {told} {file}")
    except BaseException:
        lines.append(traceback.format_exc().rstrip())
        raise
    finally:
        write_text("".join(f"{line}\n" for line in lines), path)


def resolve(name: str) -> Callable[..., Any]:
    """Function with a full dotted name."""
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def read_tables(tables: Sequence[str | dict[str, str]]) -> list[Any]:
    """Result tables by path; for a dictionary from part to path one from part to table.

    A part without a path, whose data are missing, gets no rows.
    """
    found: list[Any] = []
    for one in tables:
        if isinstance(one, str):
            found.append(read_table(one))
        else:
            read = {part: read_table(path) for part, path in one.items() if path}
            empty = next(iter(read.values())).iloc[:0]
            found.append({part: read.get(part, empty) for part in one})
    return found


def arguments(call: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What a function is given beside settings and data, by place and by keyword.

    These are the tables that it reads, behind them that of the printed numbers beside a figure's,
    and the keyword `claims` of a function that takes the paper's.
    """
    tables = read_tables(call["tables"])
    if "reads_claims" not in call:
        return tables, {}
    read, path = resolve(call["reads_claims"]), call["claims"][0]
    if not call.get("printed"):
        return tables, {"claims": read(path)}
    paths = [
        path for one in call["tables"] for path in ([one] if isinstance(one, str) else one.values())
    ]
    return [*tables, read(path, call["printed"], paths)], {}


def hand_on(root: str) -> None:
    """Give jobs the code of this checkout, and a run SLURM's commands that outlive an outage."""
    for name, folder in (("PYTHONPATH", "src"), ("PATH", "profiles/slurm/bin")):
        first, known = str(Path(root, folder)), os.environ.get(name, "").split(os.pathsep)
        rest = [one for one in known if one not in ("", first)]
        os.environ[name] = os.pathsep.join([first, *rest])


def end_on_sigterm() -> None:
    """Have what SIGTERM calls now called in a thread of its own; for the main thread only.

    Snakemake's handler takes a lock that the code which it interrupts may hold: a run that was
    told to end while it noted what a job had made hung for ever.
    """
    end = signal.getsignal(signal.SIGTERM)
    if callable(end):
        signal.signal(signal.SIGTERM, lambda *told: threading.Thread(target=end, args=told).start())
