"""Documents: every path, module and target that they name exists."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config.yaml", "Makefile")),
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("data", "published", "benchmarks")),
]
FILE = re.compile(
    r"(?<![\w/.-])((?:src|tests|workflow|docs|published|profiles|benchmarks)/[\w./-]+\.\w+)\b"
)
NAME = re.compile(r"\b(dpnoise(?:_papers)?(?:\.\w+)+)\b")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_is_named_exists(document):
    named = FILE.findall(document.read_text(encoding="utf-8"))
    missing = [name for name in named if not list(ROOT.glob(name))]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_module_or_function_that_is_named_exists(document):
    for name in set(NAME.findall(document.read_text(encoding="utf-8"))):
        parts = name.split(".")
        for depth in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:depth]))
            except ModuleNotFoundError:
                continue
            for part in parts[depth:]:
                found = getattr(found, part)
            break
