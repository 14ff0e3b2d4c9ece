"""Examples in the docstrings of the library, in the README and on the pages of `docs` run."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if ">>>" in path.read_text(encoding="utf-8")
]
MODULES = [
    f"dpnoise.{folder}.{path.stem}"
    for folder in ("noise", "privacy", "privacy.odometer", "mechanisms", "learn", "denoise")
    for path in sorted((ROOT / "src" / "dpnoise" / folder.replace(".", "/")).glob("*.py"))
    if ">>>" in path.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_examples_on_pages_run(page):
    text = re.sub("(?m)^```.*$", "", (ROOT / page).read_text(encoding="utf-8"))
    features = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 3))
    classes = np.where(features[:, 0] > 0.0, "yes", "no")
    data = {"X": features, "y": classes, "counts": np.arange(12)}
    examples = doctest.DocTestParser().get_doctest(text, data, page, page, 0)
    assert doctest.DocTestRunner().run(examples).failed == 0
