"""Docstrings of what users call: every section there, one example each, by numpydoc's checker."""

from importlib import import_module

from numpydoc.validate import validate

import dpnoise
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES

KINDS = {**FAMILIES, **INTEGER_FAMILIES}
FUNCTIONS = [name for name in dpnoise._PUBLIC if name not in {f.__name__ for f in KINDS.values()}]
USED = [
    *(f"dpnoise.{name}" for name in FUNCTIONS),
    "dpnoise.privacy.gaussian.classical_gaussian_sigma",
    "dpnoise.calibration.published.theorem_8_delta",
    "dpnoise.denoise.shrinkage.james_stein",
    "dpnoise.denoise.shrinkage.soft_threshold",
    "dpnoise.denoise.trend_filtering.trend_filter",
    "dpnoise.learn.pca.dp_pca",
    "dpnoise.learn.pipelines.leaking_steps",
    "dpnoise.optimality.bounds.minimum_cost",
    "dpnoise.optimality.floor.floor",
]
WANTED = {"GL06", "GL07", "GL08", "PR01", "PR02", "PR03", "PR04", "RT01", "YD01", "EX01"}


def missing(name):
    """What numpydoc misses in the docstring of a function."""
    import_module(name.rpartition(".")[0])
    return [error for error in validate(name)["errors"] if error[0] in WANTED]


def test_a_public_function_says_what_it_takes_and_returns_with_an_example():
    found = {name: missing(name) for name in USED}
    assert {name: errors for name, errors in found.items() if errors} == {}
    assert {code for code, _ in missing("json.dumps")} >= {"PR01", "EX01"}


def test_a_noise_family_names_its_parameters():
    titles = "Parameters", "Attributes"
    assert [k for k in KINDS if not any(title in KINDS[k].__doc__ for title in titles)] == []
