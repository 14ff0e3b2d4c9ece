"""Where the code of an item stands: file and line of a function, without importing it."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dpnoise_papers.code_inputs import SOURCE

if TYPE_CHECKING:
    from pathlib import Path


class Place(NamedTuple):
    """A function by its full dotted name, and the file and line where it starts."""

    function: str
    path: str
    line: int


def place(function: str) -> Place:
    """Place of a function with a full dotted name; ValueError if its module lacks it."""
    module, _, name = function.rpartition(".")
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    lines = _lines(path)
    if name not in lines:
        raise ValueError(f"{path}: expected a function {name!r}, found none")
    return Place(function, path.relative_to(SOURCE.parent).as_posix(), lines[name])


@cache
def _lines(path: Path) -> dict[str, int]:
    """Line of each name that a module defines or imports at its top level."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node.lineno
        elif isinstance(node, ast.Assign):
            found |= {one.id: node.lineno for one in node.targets if isinstance(one, ast.Name)}
    return found
