"""Source files that a job depends on, from the import graph of both packages.

Snakemake does not notice an edited module that a script merely imports. Every rule therefore has
the files of all modules behind its functions among its inputs. The graph is built from the
import statements; no module is imported.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import grimp

PACKAGES = ("dpnoise", "dpnoise_papers")
SOURCE = Path(__file__).resolve().parents[1]


@cache
def _graph() -> grimp.ImportGraph:
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
