"""What an environment lacks, in one sentence with the command that adds it."""

import os
from importlib import metadata
from pathlib import Path

import pytest

from dpnoise_papers.run.requirements import hand_on, refusal_of_environment

ROOT = Path(__file__).parents[3]
PROJECT = """
[project]
name = "toy"
dependencies = ["numpy>=1"]
[project.optional-dependencies]
papers = ["toy[more]", "pandas>=99", 'nothing-of-that-name; python_version < "3"']
more = ["toy[papers]", "no-such-package>=2"]
other = ["never-asked-for"]
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    return tmp_path / "pyproject.toml"


def test_this_environment_lacks_nothing():
    assert refusal_of_environment(ROOT / "pyproject.toml") == ""


def test_everything_missing_is_named_at_once_with_the_command(project):
    words = refusal_of_environment(project)
    found = metadata.version("pandas")
    assert f"lacks no-such-package>=2, pandas>=99 (found {found}): `python -m pip" in words
    assert str(project.parent) in words
    assert "nothing-of-that-name" not in words
    assert "never-asked-for" not in words


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "/a"), ("/a", "/a"), ("/a:/b", "/a:/b"), ("/b", "/a:/b"), ("/b:/a", "/a:/b:/a")],
)
def test_a_folder_is_put_first_once(monkeypatch, before, after):
    monkeypatch.setattr(os, "pathsep", ":")
    monkeypatch.setenv("PYTHONPATH", before)
    hand_on("/a")
    assert os.environ["PYTHONPATH"] == after
    hand_on("/a")
    assert os.environ["PYTHONPATH"] == after


def test_names_are_compared_as_package_indices_do(project):
    project.write_text(PROJECT.replace("no-such-package>=2", "Scikit_Learn").replace(">=99", ""))
    assert refusal_of_environment(project) == ""
