"""Examples in the docstrings of the library and on the pages of `docs` run."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    f"dpnoise.{folder}.{path.stem}"
    for folder in ("noise", "privacy", "privacy.odometer", "learn", "denoise")
    for path in sorted((ROOT / "src" / "dpnoise" / folder.replace(".", "/")).glob("*.py"))
    if ">>>" in path.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("page", ["estimators", "denoising", "budget", "integers"])
def test_examples_on_pages_run(page):
    found = doctest.testfile(str(ROOT / "docs" / f"{page}.md"), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
