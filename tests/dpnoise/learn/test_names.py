"""Public names of `dpnoise.learn`: each resolves, type checkers see the same, cheaply imported."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from dpnoise import learn


def test_every_public_name_resolves_and_is_listed():
    assert sorted(learn.__all__) == sorted(learn._MODULES) == dir(learn)
    for name, module in learn._MODULES.items():
        assert getattr(learn, name) is getattr(import_module(module), name)


def test_type_checkers_see_the_names_that_exist_at_run_time():
    tree = ast.parse(Path(learn.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in guarded.body for alias in node.names}
    assert seen == learn._MODULES


def test_unknown_names_are_refused_and_the_package_alone_imports_nothing_heavy():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = learn.nothing
    code = "import sys, dpnoise.learn; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "sklearn", "numpy"} & set(done.stdout.split())
