"""Modules whose extra is missing say which one to install; all others import without it."""

import subprocess
import sys
from pathlib import Path

import pytest

import dpnoise

LIBRARY = Path(dpnoise.__file__).parent
THIRD = ("numba", "sklearn", "clarabel", "click", "rich", "opacus")
NEEDS = {
    "cli.best": "cli",
    "cli.checks": "cli",
    "cli.options": "cli",
    "cli.program": "cli",
    "cli.release": "cli",
    "cli.table_file": "cli",
    "learn.cd": "learn",
    "learn.estimators": "learn",
    "learn.optimum": "learn",
    "learn.pipelines": "learn",
    "denoise.trend_filtering": "denoise",
    "denoise.trend_solver": "denoise",
}
# Imports every module of the library with the optional packages blocked; prints the errors.
CODE = """
import importlib, sys
sys.modules.update(dict.fromkeys({blocked!r}))
for name in {names!r}:
    try:
        importlib.import_module("dpnoise." + name)
    except ImportError as error:
        print(name, error, sep="|")
"""


@pytest.fixture(scope="module")
def refused():
    paths = [path.relative_to(LIBRARY).with_suffix("") for path in LIBRARY.rglob("*.py")]
    names = [".".join(path.parts) for path in sorted(paths) if path.name != "__init__"]
    blocked = (*THIRD, "pandas", "matplotlib", "yaml", "pydantic", "dpnoise_papers")
    code = CODE.format(blocked=blocked, names=names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(line.split("|") for line in done.stdout.splitlines())


def test_only_these_modules_need_an_extra(refused):
    assert set(refused) == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_the_error_names_the_package_and_the_extra(refused, name):
    package, advice = refused[name].split(" is not installed: ")
    assert package in THIRD
    assert advice == f'pip install ".[{NEEDS[name]}]" in a checkout of dpnoise'
