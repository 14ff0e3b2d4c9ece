"""Which files of this package a script or module depends on, found without importing them.

Snakemake does not see that a script imports an edited module, so every rule lists the modules
that it uses as inputs. The list is the transitive closure of the import statements, read
from the syntax tree: cheap enough for the top of a Snakefile.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def closure(script: str | Path, *modules: str) -> list[str]:
    """Return the package files that `script` imports, directly or not.

    Parameters
    ----------
    script : path
        A Python file, of this package or not. Imports inside functions count; those under
        `if TYPE_CHECKING` do not.
    *modules : str
        What the script is told to import: 'package.module' or 'package.module:function'.

    Returns
    -------
    list of str
        Sorted paths, relative to the working directory where they lie below it, without
        `script` itself.
    """
    script = Path(script).resolve()
    seen: set[Path] = set()
    queue = [script, *(path for name in modules for path in _files(name.split(":")[0]))]
    while queue:
        path = queue.pop()
        if path not in seen:
            seen.add(path)
            queue.extend(_imports(path))
    return sorted(_shown(path) for path in seen - {script})


def _shown(path: Path) -> str:
    """Relative to the working directory if possible, so that no machine's path is recorded."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """List the package files that one file imports."""
    found: set[Path] = set()
    for node in _runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module if node.level == 0 else _absolute(path, node)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            found.update(_files(name))
    return tuple(sorted(found))


def _runtime_nodes(node: ast.AST) -> list[ast.AST]:
    """All nodes below `node` that may run, those guarded by TYPE_CHECKING left out."""
    nodes = [node]
    for child in ast.iter_child_nodes(node):
        guarded = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        for part in child.orelse if guarded else [child]:
            nodes.extend(_runtime_nodes(part))
    return nodes


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    """Resolve a relative import against the package that holds `path`."""
    parts = (PACKAGE.name, *path.relative_to(PACKAGE).parts)[: -node.level]
    return ".".join((*parts, node.module) if node.module else parts)


def _files(name: str) -> list[Path]:
    """List what runs when `name` is imported: its packages' __init__ and the module itself.

    A name that a package resolves on first use counts as the module that holds it.
    """
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return []
    files = [PACKAGE / "__init__.py"]
    folder = PACKAGE
    for depth, part in enumerate(parts[1:], start=1):
        module = folder / f"{part}.py"
        folder = folder / part
        if module.is_file():
            files.append(module)
            break
        if not (folder / "__init__.py").is_file():
            home = _homes(files[-1]).get(part)
            files.extend(_files(".".join((*parts[:depth], home, part))) if home else [])
            break
        files.append(folder / "__init__.py")
    return files


@cache
def _homes(init: Path) -> dict[str, str]:
    """Return the `_HOME` of a package: the module of each name that it resolves on first use."""
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
            return ast.literal_eval(node.value)
    return {}
