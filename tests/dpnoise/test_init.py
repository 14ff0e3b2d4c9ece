"""Public names of the library: each resolves, type checkers see the same, importing is cheap."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dpnoise


def test_every_public_name_resolves_and_is_listed():
    assert sorted(dpnoise.__all__) == sorted(dpnoise._MODULES) == dir(dpnoise)
    for name, module in dpnoise._MODULES.items():
        assert getattr(dpnoise, name) is getattr(import_module(module), name)


def test_type_checkers_see_the_names_that_exist_at_run_time():
    tree = ast.parse(Path(dpnoise.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in guarded.body for alias in node.names}
    assert seen == dpnoise._MODULES


def test_unknown_names_are_refused_by_name():
    with pytest.raises(AttributeError, match="'dpnoise' has no attribute 'nothing'"):
        _ = dpnoise.nothing


def test_the_library_imports_neither_papers_nor_anything_beyond_numpy_and_scipy():
    code = (
        "import sys, dpnoise; [getattr(dpnoise, name) for name in dpnoise.__all__];"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    command = [sys.executable, "-c", code]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    beyond = {"pandas", "sklearn", "numba", "clarabel", "mpmath", "matplotlib", "yaml", "pydantic"}
    assert not loaded & {*beyond, "dpnoise_papers", "snakemake"}
