"""Floors under additive noise: below every mechanism, exact where the optimum is known."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, Counts, LInf, Product, calibrate, gaussian_sigma
from dpnoise.noise import KNorm, Staircase, staircase_gamma
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.optimality.floor import floor
from dpnoise.optimality.projection import Projection

SETS = [
    LInf(1.0, 1),
    LInf(1.5, 4),
    LInf(1.0, 10),
    Box([1.0, 0.3, 2.0]),
    Box([1.0, 0.0, 2.0]),
    L1(1.0, 3),
    L2(2.0, 5),
    AtMost(2, of=7, each=0.5),
    Product(L2(1.0, 2), LInf(0.4, 3)),
    Counts(3, of=3, relation="add-remove"),
    Counts(2, of=6, each=0.5, relation="add-remove"),
    Counts(2, of=5, relation="replace-one"),
    Product(Counts(2, of=4, relation="add-remove").geometry, LInf(0.4, 2)),
]
BUDGETS = [(0.1, 0.0), (1.0, 0.0), (3.0, 0.0), (0.05, 1e-7), (1.0, 1e-6), (2.0, 0.1)]


def staircase_variance(epsilon):
    return Staircase(epsilon, 1.0, float(staircase_gamma(epsilon))).var()


def k_norm_variances(sensitivity, epsilon):
    """Variance of each coordinate of K-norm noise: R Z, R a gamma variate, Z uniform in D."""
    K = sensitivity.active_dimension
    return (K + 1) * (K + 2) / epsilon**2 * sensitivity.mean_square


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("sensitivity", SETS, ids=repr)
def test_floor_is_below_known_mechanisms_and_follows_from_its_certificate(
    sensitivity, epsilon, delta
):
    K = sensitivity.dimension
    weights = np.arange(1.0, K + 1)
    for w in (None, weights):
        found = floor(sensitivity, epsilon=epsilon, delta=delta, weights=w)
        used = np.full(K, 1 / K) if w is None else w
        assert found.value > 0
        assert found.verify() >= found.value
        assert found.value <= used @ k_norm_variances(sensitivity, epsilon) * (1 + 1e-12)
        laplace = 2 * (sensitivity.l1 / epsilon) ** 2
        assert found.value <= laplace * (used @ (sensitivity.box > 0)) * (1 + 1e-12)
        if delta > 0:
            sigma = gaussian_sigma(epsilon, delta, sensitivity.l2)
            assert found.value <= sigma**2 * (used @ (sensitivity.box > 0))


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("sensitivity", [2.0, [2.0], L1(2.0), L2(2.0), AtMost(1, of=1, each=2.0)])
def test_one_coordinate_at_delta_zero_is_the_staircase(sensitivity, epsilon):
    found = floor(sensitivity, epsilon=epsilon).value
    assert math.isclose(found, 4 * staircase_variance(epsilon), rel_tol=1e-9)
    assert found <= 4 * staircase_variance(epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-6), (1.0, 1e-6), (2.5, 1e-2), (6.0, 1e-3)])
def test_one_coordinate_agrees_with_the_bracket_of_the_least_cost(epsilon, delta):
    bracket = minimum_cost(epsilon, delta, gap=0.005)
    quick = floor(1.0, epsilon=epsilon, delta=delta).value
    fine = floor(1.0, epsilon=epsilon, delta=delta, method="program").value
    assert 0.97 * bracket.lower <= quick <= bracket.upper
    assert quick <= fine <= bracket.upper


def test_printed_brackets_for_the_box():
    # Issue: at K = 10, epsilon = 1 between 19.2 and 44.0; at K = 5, epsilon = 0.3, 110.7 and 155.6.
    for K, epsilon, low, high in [(10, 1.0, 19.2, 44.0), (5, 0.3, 110.7, 155.6)]:
        found = floor(1.0 * np.ones(K), epsilon=epsilon).value
        assert K * staircase_variance(epsilon) * (1 - 1e-9) <= found
        assert math.isclose(K * staircase_variance(epsilon), low, rel_tol=2e-3)
        top = KNorm(math.inf, K, 1 / epsilon).var()
        assert found < top
        assert math.isclose(top, high, rel_tol=1e-3)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("sensitivity", SETS, ids=repr)
def test_floor_scales_with_the_square_of_the_set_and_with_the_weights(sensitivity, delta):
    once = floor(sensitivity, epsilon=0.7, delta=delta)
    assert math.isclose(
        floor(sensitivity.scaled(3.0), epsilon=0.7, delta=delta).value,
        9 * once.value,
        rel_tol=1e-9,
    )
    for factor in (1e-60, 5.0, 1e60):
        weighted = floor(sensitivity, epsilon=0.7, delta=delta, weights=factor * once.weights)
        assert math.isclose(weighted.value, factor * once.value, rel_tol=1e-9)


@pytest.mark.parametrize("sensitivity", SETS, ids=repr)
def test_floor_falls_with_epsilon_and_with_delta(sensitivity):
    budgets = [(0.3, 1e-6), (0.5, 1e-6), (1.0, 1e-6), (1.0, 1e-2), (2.0, 1e-2)]
    values = [floor(sensitivity, epsilon=e, delta=d).value for e, d in budgets]
    assert all(later < earlier for earlier, later in pairwise(values))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("sensitivity", [1.0, L2(1.0, of=3), AtMost(2, of=5)])
def test_the_smallest_deltas_have_a_floor(sensitivity, epsilon):
    """No linear program is asked for numbers that its solver does not take."""
    pure = floor(sensitivity, epsilon=epsilon).value
    for delta in (1e-16, 5e-324):
        found = floor(sensitivity, epsilon=epsilon, delta=delta)
        assert 0.05 * pure <= found.value <= pure
        assert found.verify() >= found.value


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0, 6.0])
def test_ordinary_budgets_have_a_floor_also_where_a_solver_fails_at_one_of_them(epsilon):
    pure = floor(1.0, epsilon=epsilon).value
    for power in range(-14, -3):
        found = floor(1.0, epsilon=epsilon, delta=10.0**power)
        assert 0.9 * pure < found.value <= pure
        assert found.verify() >= found.value


def test_sets_within_one_another_have_floors_in_that_order():
    K = 6
    # At delta = 0 the bounds of l1, l2 and the cube are close to the optima, which are ordered.
    sizes = [L1(1.0, K), L2(1.0, K), AtMost(3, of=K), LInf(1.0, K)]
    values = [floor(sensitivity, epsilon=0.5).value for sensitivity in sizes]
    assert all(small <= large * (1 + 1e-12) for small, large in pairwise(values))


def test_more_coordinates_never_lower_the_floor_of_a_cube_by_much():
    # A cube holds those of fewer coordinates; not every number of them is tried.
    found = [floor(LInf(1.0, of=K), epsilon=0.3, delta=1e-6).value for K in (10, 14, 16, 20, 30)]
    assert all(after > 0.99 * before for before, after in pairwise(found))


def test_equal_sets_have_equal_floors():
    for epsilon, delta in BUDGETS:
        values = [
            floor(s, epsilon=epsilon, delta=delta).value
            for s in (LInf(0.5, 4), Box([0.5] * 4), [0.5] * 4, AtMost(4, of=4, each=0.5))
        ]
        assert np.allclose(values, values[0], rtol=1e-9)


def test_coordinates_that_never_change_cost_nothing():
    whole = floor(Box([1.0, 0.0, 2.0]), epsilon=1.0, weights=[1.0, 5.0, 1.0]).value
    part = floor(Box([1.0, 2.0]), epsilon=1.0, weights=[1.0, 1.0]).value
    assert math.isclose(whole, part, rel_tol=1e-12)
    assert floor(Box([1.0, 0.0]), epsilon=1.0, weights=[0.0, 1.0]).value == 0.0


def test_calibrated_noise_is_never_below():
    for family in ("gaussian", "laplace", "flipped-huber"):
        for K in (2, 7):
            noise = calibrate(family, epsilon=0.8, delta=1e-5, dimension=K)
            assert floor([1.0] * K, epsilon=0.8, delta=1e-5).value < noise.variance


def test_a_changed_value_or_certificate_is_refused():
    found = floor([1.0, 2.0], epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="value"):
        replace(found, value=1.01 * found.value).verify()
    certificate = found.certificate
    assert isinstance(certificate, Projection)
    worse = Projection(certificate.moments * [1.0, 0.1], certificate.scalar)
    with pytest.raises(ValueError, match="value"):
        replace(found, certificate=worse).verify()
    for changed in ({"epsilon": 1.5}, {"delta": 1e-3}, {"sensitivity": Box([1.0, 1.0])}):
        with pytest.raises(ValueError, match="value"):
            replace(found, **changed).verify()


def test_any_moments_prove_a_true_bound():
    rng = np.random.default_rng(11)
    for sensitivity in SETS:
        K = sensitivity.dimension
        best = floor(sensitivity, epsilon=1.0)
        scalar = floor(1.0, epsilon=1.0).certificate.scalar
        for _ in range(20):
            moments = rng.exponential(size=K) * (sensitivity.box > 0)
            bound = Projection(moments, scalar).bound(sensitivity, 1.0, 0.0, best.weights)
            assert bound <= best.value * (1 + 1e-12)


def test_bad_input_is_refused_all_at_once():
    with pytest.raises(ValueError, match=r"epsilon.*delta.*method.*weights") as refusal:
        floor([1.0, 1.0], epsilon=0.0, delta=1.0, weights=[1.0], method="slow")
    assert "'slow'" in str(refusal.value)
    with pytest.raises(ValueError, match=r"delta.*lambdas"):
        floor([0.0, 0.0], epsilon=1.0, delta=-1.0)
    with pytest.raises(ValueError, match="at least one above 0"):
        floor([1.0, 1.0], epsilon=1.0, weights=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"1e\+06 coordinates"):
        floor(LInf(1.0, 10**7), epsilon=1.0)
