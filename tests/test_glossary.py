"""Names in the code keep to the words of CONTRIBUTING."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "src").rglob("*.py"))
COLUMNS = {"least_shape"}  # of results, whose names stay
AVOIDED = {"honest", "reading", "readings", "law", "laws", "least", "greatest", "mended", "room"}


def names(tree):
    """Every name that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_keep_to_the_glossary(path):
    found = {path.stem, *names(ast.parse(path.read_text(encoding="utf-8")))}
    assert not [name for name in sorted(found - COLUMNS) if AVOIDED & set(name.lower().split("_"))]
