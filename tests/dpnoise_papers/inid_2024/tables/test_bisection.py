"""Algorithm 1 as printed: brackets, roots, halvings, and where it runs."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.settings import Bisection
from dpnoise_papers.inid_2024.tables.bisection import (
    algorithm_1,
    bisection,
    printed_bracket,
    valid_bracket,
)
from dpnoise_papers.settings import Grid
from oracles.gaussian import gaussian_delta as delta_of

EPSILON = np.concatenate([[0.0], np.geomspace(1e-9, 1e9, 25)])
DELTA = np.concatenate([np.geomspace(1e-300, 0.5, 20), [0.7, 0.99, 1 - 1e-9]])
GRID = np.meshgrid(EPSILON, DELTA)


def test_the_valid_bracket_holds_the_root_for_every_budget():
    epsilon, delta = GRID
    low, high = valid_bracket(epsilon, delta)
    root = 1.0 / gaussian_sigma(epsilon, delta)
    assert (low > 0).all()
    assert (low <= root * (1 + 1e-11)).all()
    assert (high >= root * (1 - 1e-11)).all()


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (3.0, 0.9), (1e-3, 1e-9), (40.0, 0.3)])
def test_the_valid_bracket_to_sixty_digits(epsilon, delta):
    low, high = valid_bracket(epsilon, delta)
    with mpmath.workdps(60):
        assert delta_of(low * (1 - 1e-14), epsilon) < delta < delta_of(high * (1 + 1e-14), epsilon)


def test_the_valid_bracket_closes_at_epsilon_zero():
    low, high = valid_bracket(0.0, DELTA)
    assert np.allclose(low, high, rtol=1e-14, atol=0.0)


def test_the_printed_bracket_is_what_the_paper_prints():
    epsilon, delta = 0.7, 1e-4
    low, high = printed_bracket(epsilon, delta)
    raised = delta + math.exp(epsilon) * special.ndtr(-math.sqrt(2 * epsilon))
    for end, at in ((low, delta), (high, raised)):
        # Both ends solve Q(epsilon/mu - mu/2) = delta, or delta'.
        assert special.ndtr(end / 2 - epsilon / end) == pytest.approx(at, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "delta", "exists"),
    [(0.0, 0.49, True), (0.0, 0.51, False), (1.0, 0.79, False), (1.0, 0.78, True),
     (700.0, 1e-6, True), (720.0, 1e-6, False)],
)  # fmt: skip
def test_the_printed_bracket_exists_only_below_delta_prime_one(epsilon, delta, exists):
    assert np.isfinite(printed_bracket(epsilon, delta)[1]) == exists
    mu, iterations = algorithm_1(epsilon, delta, tolerance=1e-9)
    assert np.isfinite(mu) == exists
    assert (iterations > 0) == exists


def test_the_printed_algorithm_ends_within_its_tolerance_and_count():
    epsilon, delta = np.meshgrid(np.geomspace(0.05, 50, 9), [1e-9, 1e-6, 1e-2])
    root = 1.0 / gaussian_sigma(epsilon, delta)
    low, high = printed_bracket(epsilon, delta)
    for tolerance in (1e-3, 1e-7):
        mu, iterations = algorithm_1(epsilon, delta, tolerance=tolerance)
        assert (mu <= root * (1 + 1e-11)).all()
        assert (root - mu <= tolerance * (1 + 1e-6)).all()
        assert (iterations == np.maximum(np.ceil(np.log2((high - low) / tolerance)), 1)).all()


def test_an_absolute_tolerance_spoils_a_small_root():
    mu_0 = 1.0 / gaussian_sigma(1e-6, 1e-9)
    assert algorithm_1(1e-6, 1e-9, tolerance=1e-9)[0] / mu_0 - 1 < -1e-4


def test_shapes_broadcast():
    mu, iterations = algorithm_1([0.5, 1.0], [[1e-6], [1e-3], [0.1]], tolerance=1e-6)
    assert mu.shape == iterations.shape == (3, 2)
    assert np.ndim(algorithm_1(0.5, 1e-6, tolerance=1e-6)[0]) == 0


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
    assert (runs == (table["iterations"] > 0)).all()
    assert (runs == np.isfinite(table["relative_error"])).all()


def test_errors_and_ratios_agree_in_sign(table):
    ran = table[table["iterations"] > 0]
    wrong = ran[np.abs(ran["relative_error"]) > 1e-9]
    assert len(wrong) > 0
    assert (np.sign(wrong["relative_error"]) == np.sign(wrong["log10_ratio"])).all()
    assert np.allclose(table["mu_0"] * gaussian_sigma(table["epsilon"], table["delta"]), 1.0)
    none = table[table["iterations"] == 0]
    assert none[["relative_error", "log10_ratio"]].isna().to_numpy().all()
