"""Names in the code keep to the words of CONTRIBUTING."""

import ast
import re
from pathlib import Path

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


def avoided(path, text):
    """Names of a file, its own among them, that CONTRIBUTING avoids."""
    if not re.search("|".join(AVOIDED), path.stem + text, re.IGNORECASE):
        return []
    found = {path.stem, *names(ast.parse(text))} - COLUMNS
    return [name for name in sorted(found) if AVOIDED & set(name.lower().split("_"))]


def test_names_keep_to_the_glossary():
    found = {path: avoided(path, path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: said for path, said in found.items() if said} == {}


def test_names_that_the_glossary_avoids_are_found():
    source = "def f(law): x = least_shape = 1\nclass Room: honest_one = 2"
    assert avoided(Path("reading.py"), source) == ["Room", "honest_one", "law", "reading"]
