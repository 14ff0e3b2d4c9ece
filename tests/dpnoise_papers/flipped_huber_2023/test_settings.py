"""Settings of flipped-huber-2023: what a table function would refuse, its model refuses."""

from itertools import product
from typing import get_args

import pytest
from pydantic import ValidationError

from dpnoise import calibrate
from dpnoise.noise import FAMILIES
from dpnoise_papers.config import ConfigError, load
from dpnoise_papers.flipped_huber_2023 import settings
from dpnoise_papers.flipped_huber_2023.settings import (
    Family,
    Gain,
    Limit,
    Method,
    MinimumVariances,
    Remark,
    VarianceRatio,
    VectorVariances,
)
from dpnoise_papers.flipped_huber_2023.variances import vector_variances
from for_all import for_all

GRID = {"low": 0.1, "high": 10.0, "count": 3, "spacing": "log"}
BOX = ((0.02, 150.0), (0.02, 50.0))
SCALAR = {
    "delta": 1e-6, "sensitivity": 1.0, "epsilons": GRID, "also": (0.3,), "box": BOX,
    "mechanisms": (("gaussian", "exact"),),
}  # fmt: skip
VECTOR = {
    "dimensions": (2,), "deltas": (1e-6,), "epsilons": (1.0,), "box": BOX,
    "mechanisms": (("gaussian", "exact"),),
}  # fmt: skip
RATIO = {"against": "laplace", "sensitivity": 1.0, "epsilons": GRID, "deltas": GRID | {"high": 0.5}}
LIMIT = {
    "epsilons": (1.0,), "deltas": (0.0,), "costs": ("variance",), "mechanisms": ("laplace",),
    "gap": 0.01,
}  # fmt: skip
FIGURE_1 = {"parameters": ((1.0, 1.0),), "half_width": 4.0, "points": 5}
FIGURE_6 = {
    "variance": 16.0, "scale": 7.0, "sensitivity": 1.0,
    "epsilons": {"low": 0.0, "high": 1.0, "count": 3, "spacing": "linear"},
}  # fmt: skip
ALGORITHM_2 = {
    "cases": ((1.0, 1.0, 2, 1.0),), "grid_points": 3, "grid_factor": 1.0, "nodes": 3,
}  # fmt: skip


def test_families_are_those_of_the_library():
    assert set(get_args(Family)) == set(FAMILIES)


def test_pairs_of_family_and_method_are_those_that_the_table_can_make():
    for family, method in product(get_args(Family), get_args(Method)):
        plain = VECTOR | {"dimensions": (1,), "mechanisms": ((family, method),)}
        asked = {"epsilon": 1.0, "delta": 0.0 if method == "pure" else 1e-6}
        way = {"pure": "exact", "box": "grid", "sufficient-box": "sufficient"}.get(method, method)
        try:
            calibrate(
                family, method=way, **asked, **({"resolution": (2, 2)} if way == "grid" else {})
            )
            possible = True
        except (ValueError, RuntimeError) as error:
            possible = "expected" not in str(error)
        if possible:
            VectorVariances(**plain)
        else:
            with pytest.raises(ValidationError, match=f"expected for {method} one of"):
                VectorVariances(**plain)


def test_every_accepted_method_makes_a_row():
    methods = set(get_args(Method)) - {"pure", "grid"}  # a grid takes minutes
    mechanisms = (("laplace", "pure"), *(("flipped-huber", method) for method in sorted(methods)))
    table = vector_variances(VectorVariances(**VECTOR | {"mechanisms": mechanisms}))
    assert set(zip(table["mechanism"], table["method"], strict=True)) >= set(mechanisms)


@for_all(
    ("model", "good", "bad", "words"),
    [
        (MinimumVariances, SCALAR, {"mechanisms": (("gaussian", "grid"),)}, "expected for grid"),
        (MinimumVariances, SCALAR, {"mechanisms": (("laplace", "pure"),)}, "keep delta"),
        (MinimumVariances, SCALAR, {"mechanisms": (("gauss", "exact"),)}, "gaussian"),
        (MinimumVariances, SCALAR, {"mechanisms": (("huber", "exact"),) * 2}, "twice"),
        (MinimumVariances, SCALAR, {"box": ((1.0, 1.0), (1.0, 2.0))}, "low < high"),
        (MinimumVariances, SCALAR, {"delta": 0.0}, "greater than or equal to"),
        (MinimumVariances, SCALAR, {"also": (0.3, 0.3)}, "'0.3' twice"),
        (MinimumVariances, SCALAR, {"delta": 1e-9, "also": (1e-8,)}, "at least 1e-07 times"),
        (MinimumVariances, SCALAR, {"epsilons": GRID | {"spacing": "even"}}, "linear"),
        (VarianceRatio, RATIO, {"against": "flipped-huber"}, "'laplace'"),
        (VarianceRatio, RATIO, {"deltas": GRID}, "expected a grid between"),
        (VarianceRatio, RATIO | {"against": "staircase"}, {"epsilons": GRID | {"high": 701.0}},
         "staircase"),
        (VectorVariances, VECTOR, {"dimensions": (0,)}, "greater than or equal to 1"),
        (VectorVariances, VECTOR, {"dimensions": (100_001,)}, "less than or equal to 100000"),
        (VectorVariances, VECTOR, {"mechanisms": (("subbotin", "exact"),)}, "no subbotin noise"),
        (Gain, {"dimensions": (1,), "budgets": ((1.0, 1e-6),)}, {"budgets": ((1.0, 1.0),)}, "n 1"),
        (Gain, {"dimensions": (1,), "budgets": ((1.0, 1e-6),)}, {"budgets": ((1.0,),)}, "required"),
        (Remark, {"epsilons": (1.0,), "delta": 1e-6}, {"epsilons": (-1.0,)}, "greater than 0"),
        (Limit, LIMIT, {"epsilons": (8.5,)}, "less than or equal to 8"),
        (Limit, LIMIT, {"costs": ("loss",)}, "mean-abs"),
        (settings.Densities, FIGURE_1, {"points": 4}, "odd"),
        (settings.Densities, FIGURE_1, {"parameters": ((1.0, 0.0),)}, "greater than 0"),
        (settings.FisherInformation, {"ratios": GRID}, {"ratios": GRID | {"low": 0.0}}, "low > 0"),
        (settings.PublishedCases, {"seed": 1, "trials": 1}, {"trials": 0}, "equal to 1"),
        (settings.ProfilesAtOneVariance, FIGURE_6, {"scale": 4.0}, "a scale above 4"),
        (settings.Algorithm2, ALGORITHM_2, {"cases": ((1.0, 1.0, 2),)}, "required"),
        (settings.Algorithm2, ALGORITHM_2, {"nodes": 10**9}, "less than or equal to 10000"),
        (settings.Theory, {"seed": 1, "trials": 20}, {"trials": 19}, "equal to 20"),
        (settings.Counterexamples, {"digits": 5}, {"digits": 61}, "equal to 60"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_what_was_expected(model, good, bad, words):
    model(**good)
    with pytest.raises(ValidationError, match=words):
        model(**good | bad)


@for_all(
    ("changes", "words"),
    [({"dimensions": [3, 4]}, "one dimension"), ({"deltas": [0.1]}, "the same")],
)
def test_the_two_panels_of_figure_4_can_be_compared(changes, words):
    with pytest.raises(ConfigError, match=f"figure_4a, figure_4b: expected {words}"):
        load("config.yaml", overrides={"flipped_huber_2023": {"figure_4a": changes}})
