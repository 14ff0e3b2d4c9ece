"""The documents that people read: README, guides and every page of docs/, with their examples."""

import importlib.util
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
GENERATED = ROOT / "docs" / "api"
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if GENERATED not in path.parents),
]
# Pages whose examples test_promises.py runs; test_examples.py runs those of the others.
PROMISING = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{one}.md" for one in ("index", "tutorial", "command-line", "release")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]
DOCUMENTS = [
    *PAGES,
    *(ROOT / name for name in ("CONTRIBUTING.md", "config.yaml", "Makefile")),
    *(ROOT / folder / "README.md" for folder in ("data", "published", "benchmarks")),
]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def name(path):
    """Path of a document as the tests call it."""
    return path.relative_to(ROOT).as_posix()


def blocks(path, language):
    """Texts of the fenced blocks of a document in one language."""
    return [
        text for kind, text in _FENCE.findall(path.read_text(encoding="utf-8")) if kind == language
    ]


def commands(path):
    """Commands of the consoles of a document, each with what it prints."""
    return [found for block in blocks(path, "console") for found in _COMMAND.findall(block)]


def loaded(path):
    """A program beside the pages, or of the benchmarks, as a module."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_loaded", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def coordinates(svg):
    """Every coordinate of every path of an SVG file, in points."""
    paths = re.findall(r'\bd="([^"]*)"', svg.read_text(encoding="utf-8"))
    return np.array([float(x) for path in paths for x in re.findall(r"-?\d+\.?\d*", path)])
