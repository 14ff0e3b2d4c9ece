"""The map of Algorithm 1 of inid-2024: where it runs, and what it gives there."""

import numpy as np
import pytest
from scipy import special

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.settings import Bisection
from dpnoise_papers.inid_2024.tables.bisection import bisection
from dpnoise_papers.settings import Grid


@pytest.fixture(scope="module")
def table():
    grid = {"spacing": "log"}
    return bisection(
        Bisection(
            epsilons=Grid(low=1e-4, high=1e4, count=17, **grid),
            odds=Grid(low=1e-12, high=1e3, count=16, **grid),
            tolerance=1e-11,
        )
    )


def test_the_printed_algorithm_runs_exactly_where_delta_prime_is_below_one(table):
    epsilon, delta = table["epsilon"].to_numpy(), table["delta"].to_numpy()
    # e^epsilon Q(sqrt(2 epsilon)) without its overflow.
    raised = delta + 0.5 * special.erfcx(np.sqrt(epsilon))
    runs = (raised < 1) & (epsilon < 709)
    assert (runs == (table["outcome"] != "none")).all()
    assert (runs == (table["iterations"] > 0)).all()
    assert (runs == np.isfinite(table["printed_width"])).all()


def test_errors_and_ratios_agree_in_sign(table):
    ran = table[table["outcome"] != "none"]
    wrong = ran[np.abs(ran["relative_error"]) > 1e-9]
    assert len(wrong) > 0
    assert (np.sign(wrong["relative_error"]) == np.sign(wrong["log10_ratio"])).all()
    assert np.allclose(table["mu_0"] * gaussian_sigma(table["epsilon"], table["delta"]), 1.0)
    none = table[table["outcome"] == "none"]
    assert none[["relative_error", "log10_ratio"]].isna().to_numpy().all()


def test_the_repaired_algorithm_runs_everywhere(table):
    assert (table["repaired_iterations"] > 0).all()
    assert (np.abs(table["repaired_error"]) < 1.2e-11).all()
    assert (table["valid_width"] >= 0).all()
