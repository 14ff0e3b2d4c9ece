"""Public names of the library and two subpackages: each resolves; importing is cheap."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import dpnoise
from document_pages import ROOT
from dpnoise import auditing, denoise, learn, noise, sensitivity

of_each_package = pytest.mark.parametrize(
    "package",
    [dpnoise, auditing, denoise, learn, sensitivity],
    ids=lambda package: package.__name__,
)


def loaded(code):
    """Top-level packages that a new interpreter has imported after some code."""
    code = f"import sys; {code}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@of_each_package
def test_every_public_name_resolves_and_is_listed(package):
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    names = {alias.name: node.module for node in imports for alias in node.names}
    # PEP 484: in a stub a name is public if it is imported as itself.
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    assert dir(package) == sorted(package.__all__)
    assert set(package.__all__) <= set(names)
    assert package is dpnoise or len(package.__all__) == len(names)
    for name, module in names.items():
        home = import_module(f"{package.__name__}.{module}")
        assert getattr(package, name) is getattr(home, name)


def test_all_names_of_noise_resolve_and_are_those_of_the_package():
    assert {kind.__name__ for kind in noise.FAMILIES.values()} < set(noise.__all__)
    assert all(getattr(noise, name) is not None for name in noise.__all__)
    for name in {*noise.__all__} & {*dpnoise._PUBLIC}:
        assert getattr(noise, name) is getattr(dpnoise, name)


def test_the_version_is_one_text_that_both_distributions_read():
    assert re.fullmatch(r"\d+\.\d+\.\d+", dpnoise.__version__)
    for folder in ("", "papers"):
        text = (ROOT / folder / "pyproject.toml").read_text(encoding="utf-8")
        content = tomllib.loads(text)
        assert content["project"]["dynamic"] == ["version"]
        found = content["tool"]["setuptools"]["dynamic"]["version"]
        assert found == {"attr": "dpnoise._version.__version__"}


@of_each_package
def test_unknown_names_are_refused_by_name(package):
    with pytest.raises(AttributeError, match=f"{package.__name__} attribute nothing"):
        _ = package.nothing


@of_each_package
def test_the_package_alone_imports_nothing_heavy(package):
    names = loaded(f"import {package.__name__}")
    assert package.__name__.split(".")[0] in names
    assert not {"numba", "sklearn", "numpy", "scipy"} & names


def test_the_library_imports_neither_papers_nor_anything_beyond_numpy_and_scipy():
    names = loaded("import dpnoise; [getattr(dpnoise, name) for name in dpnoise._PUBLIC]")
    beyond = {"pandas", "sklearn", "numba", "clarabel", "mpmath", "matplotlib", "yaml", "pydantic"}
    assert not names & {*beyond, "dpnoise_papers", "snakemake"}
