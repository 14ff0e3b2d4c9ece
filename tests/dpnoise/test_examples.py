"""Examples in the docstrings of the library and on the pages of `docs` run.

Those of the README and the first pages run in test_promises.py, which audits what they leave.
"""

import doctest
import importlib
import re

import numpy as np
import pytest

from document_pages import PAGES, PROMISING, ROOT, blocks, name

WITH_PROMPT = [
    path for path in PAGES if path not in PROMISING and ">>>" in path.read_text(encoding="utf-8")
]
WITH_PYTHON = [path for path in PAGES if blocks(path, "python")]
FOLDERS = ("noise", "privacy", "privacy.odometer", "mechanisms", "learn", "denoise", "releases")
MODULES = [
    f"dpnoise.{folder}.{path.stem}"
    for folder in (
        "noise",
        "privacy",
        "privacy.odometer",
        "mechanisms",
        "learn",
        "denoise",
        "auditing",
        "certificates",
        "releases",
    )
    for path in sorted((ROOT / "src" / "dpnoise" / folder.replace(".", "/")).glob("*.py"))
    if ">>>" in path.read_text()
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def data():
    """What the pages call `X`, `y` and `counts`: your data."""
    features = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 3))
    classes = np.where(features[:, 0] > 0.0, "yes", "no")
    return {"X": features, "y": classes, "counts": np.arange(12)}


@pytest.mark.parametrize("page", WITH_PROMPT, ids=name)
def test_examples_on_pages_run(page):
    text = re.sub("(?m)^```.*$", "", page.read_text(encoding="utf-8"))
    examples = doctest.DocTestParser().get_doctest(text, data(), name(page), name(page), 0)
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_without_prompt_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = data()
    for block in blocks(page, "python"):
        if ">>>" not in block:
            exec(compile(block, name(page), "exec"), known)  # noqa: S102 - our own pages
