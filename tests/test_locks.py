"""The lock of the pipeline: all that it needs, in the developers' versions, and no host."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def pins(name):
    """Lines 'package==version ; marker' of a lock."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line.removesuffix(" \\") for line in lines if "==" in line and line[0].isalnum()}


def needed(project, extra=""):
    """Names of the packages that this one needs with an extra, and with extras named in it."""
    asked = project["optional-dependencies"][extra] if extra else project["dependencies"]
    names = set() if extra == "" else needed(project)
    for one in asked:
        own = re.fullmatch(r"dpnoise\[(.+)\]", one)
        for inner in own[1].split(",") if own else ():
            names |= needed(project, inner)
        if not own:
            names.add(re.match(r"[\w.-]+", one)[0].lower())
    return names


def test_the_pipeline_s_lock_has_all_that_the_pipeline_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"numpy", "snakemake", "filelock", "setuptools"} <= needed(project, "pipeline")
    locked = {pin.split("==")[0] for pin in pins("requirements-run.lock")}
    assert needed(project, "pipeline") <= locked


def test_it_has_the_versions_of_the_developers_lock():
    assert pins("requirements-run.lock") < pins("requirements.lock")


@pytest.mark.parametrize("kind", ["", "-run", "-deep"])
def test_no_lock_names_a_host(kind):
    assert "://" not in (ROOT / f"requirements{kind}.lock").read_text(encoding="utf-8")
