"""Floors under additive noise: below every mechanism, exact where the optimum is known."""

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    Ellipsoid,
    LInf,
    Product,
    gaussian_sigma,
)
from dpnoise.noise import Staircase, staircase_gamma
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.optimality.certificates import Projection
from dpnoise.optimality.floor import floor
from for_all import thinned
from oracles.grids import least_error

SETS = [
    LInf(1.0, 1),
    LInf(1.5, 2),
    LInf(1.0, 10),
    Box([1.0, 0.3, 2.0]),
    Box([1.0, 0.0, 2.0]),
    L1(1.0, 3),
    L2(2.0, 5),
    AtMost(2, of=7, each=0.5),
    Product(L2(1.0, 2), LInf(0.4, 3)),
    Counts(3, of=3, whole=False, relation="add-remove"),
    Counts(2, of=6, each=0.5, whole=False, relation="add-remove"),
    Counts(2, of=5, whole=False, relation="replace-one"),
    Product(
        Counts(2, of=4, whole=False, relation="add-remove"), LInf(0.4, 2), relation="add-remove"
    ),
]
BUDGETS = [(0.1, 0.0), (1.0, 0.0), (3.0, 0.0), (0.3, 1e-6), (1.0, 1e-6), (1.0, 0.1)]


def staircase_variance(epsilon):
    return Staircase(epsilon, 1.0, float(staircase_gamma(epsilon))).var()


def k_norm_variances(sensitivity, epsilon):
    """Variance of each coordinate of K-norm noise: R Z, R a gamma variate, Z uniform in D."""
    K = sensitivity.active_dimension
    return (K + 1) * (K + 2) / epsilon**2 * sensitivity.mean_square


@pytest.mark.parametrize(
    ("n", "k"), thinned(itertools.product(range(len(BUDGETS)), range(len(SETS))))
)
def test_floor_is_below_known_mechanisms_and_follows_from_its_certificate(k, n):
    """Each set and each budget with equal weights and with others, by turns."""
    sensitivity, (epsilon, delta), equal = SETS[k], BUDGETS[n], (k + n) % 2 == 0
    K = sensitivity.dimension
    weights = None if equal else np.arange(1.0, K + 1)
    found = floor(sensitivity, epsilon=epsilon, delta=delta, weights=weights)
    used = np.full(K, 1 / K) if equal else weights
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


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-6), (1.0, 1e-6), (2.5, 1e-2), (5.0, 1e-3)])
def test_one_coordinate_agrees_with_the_bracket_of_the_least_cost(epsilon, delta):
    bracket = minimum_cost(epsilon, delta, gap=0.01)
    found = floor(1.0, epsilon=epsilon, delta=delta).value
    assert 0.97 * bracket.lower <= found <= bracket.upper


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("sensitivity", SETS, ids=repr)
def test_floor_scales_with_the_square_of_the_set_and_with_the_weights(sensitivity, delta):
    once = floor(sensitivity, epsilon=1.0, delta=delta)
    assert math.isclose(
        floor(sensitivity.scaled(3.0), epsilon=1.0, delta=delta).value,
        9 * once.value,
        rel_tol=1e-9,
    )
    for factor in (1e-60, 1e60):
        weighted = floor(sensitivity, epsilon=1.0, delta=delta, weights=factor * once.weights)
        assert math.isclose(weighted.value, factor * once.value, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon"),
    [(1.0, 0.01), (1.0, 8.0), (L2(1.0, of=3), 0.01), (AtMost(2, of=5), 8.0)],
)
def test_the_smallest_deltas_have_a_floor(sensitivity, epsilon):
    """No linear program is asked for numbers that its solver does not take."""
    pure = floor(sensitivity, epsilon=epsilon).value
    for delta in (1e-16, 5e-324):
        found = floor(sensitivity, epsilon=epsilon, delta=delta)
        assert 0.05 * pure <= found.value <= pure
        assert found.verify() >= found.value


@pytest.mark.parametrize(("epsilon", "powers"), [(0.5, [-8]), (3.0, [-12]), (6.0, [-11, -4])])
def test_ordinary_budgets_have_a_floor_also_where_a_solver_fails_at_one_of_them(epsilon, powers):
    """HiGHS did at (3, 1e-12) and at (6, 1e-11)."""
    pure = floor(1.0, epsilon=epsilon).value
    for power in powers:
        found = floor(1.0, epsilon=epsilon, delta=10.0**power)
        assert 0.9 * pure < found.value <= pure
        assert found.verify() >= found.value


def test_coordinates_that_never_change_cost_nothing():
    whole = floor(Box([1.0, 0.0, 2.0]), epsilon=1.0, weights=[1.0, 5.0, 1.0]).value
    part = floor(Box([1.0, 2.0]), epsilon=1.0, weights=[1.0, 1.0]).value
    assert math.isclose(whole, part, rel_tol=1e-12)
    assert floor(Box([1.0, 0.0]), epsilon=1.0, weights=[0.0, 1.0]).value == 0.0


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


def test_bad_input_is_refused_all_at_once():
    with pytest.raises(ValueError, match=r"epsilon.*delta.*weights"):
        floor([1.0, 1.0], epsilon=0.0, delta=1.0, weights=[1.0])
    with pytest.raises(ValueError, match=r"delta.*lambdas"):
        floor([0.0, 0.0], epsilon=1.0, delta=-1.0)
    with pytest.raises(ValueError, match="at least one above 0"):
        floor([1.0, 1.0], epsilon=1.0, weights=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"1e\+06 coordinates"):
        floor(LInf(1.0, 10**7), epsilon=1.0)


# Floors for two coordinates against a linear program of all additive noise on a grid.
#
# Noise with probabilities p on the multiples of h, plus a uniform point of a cell, has a density. A
# shift by d moves each place within its cell by one of the grid points less than h from d, so that
# noise which is (epsilon, delta)-DP for all of these is so for d. The program finds the least
# variance among all p of bounded support: a mechanism like any other, above every floor.
PLANE_SETS = [
    LInf(1.0, of=2),
    L1(1.0, of=2),
    Box([1.0, 0.5]),
    L2(1.0, of=2),
    Product(LInf(0.5), L2(1.0)),
    AtMost(1, of=2, each=0.5),
    Ellipsoid([0.5, 1.0]),
]


def orbit(point, *, swap):
    """The images of a grid point under changes of sign, and swaps where the set allows them."""
    x = tuple(map(abs, point))
    return tuple(sorted(x)) if swap else x


def shifts(ball, h):
    """Grid points less than h from a difference, one of each orbit, without 0."""
    reach = math.ceil(max(ball.box) / h) + 1
    swap = ball.box[0] == ball.box[1]
    found = set()
    for d in itertools.product(range(reach + 1), repeat=2):
        near = np.maximum(h * np.array(d) - h * (1.0 - 1e-9), 0.0)
        if any(d) and ball.norm(near) <= 1.0:
            found.add(orbit(d, swap=swap))
    return sorted(found), swap


def least_variance(ball, epsilon, delta, h, radius):
    """The least mean variance of noise on the grid within a radius, plus that of the cell."""
    differences, swap = shifts(ball, h)
    n = round(radius / h)
    points = list(itertools.product(range(-n, n + 1), repeat=2))
    squares = 0.5 * h * h * np.sum(np.square(points), axis=1)
    alike = partial(orbit, swap=swap)
    return least_error(points, differences, squares, (epsilon, delta), orbit=alike) + h * h / 12.0


@pytest.mark.parametrize(
    ("ball", "epsilon", "delta"),
    [(ball, *((3.0, 0.02), (1.0, 0.2))[k % 2]) for k, ball in enumerate(PLANE_SETS)],
    ids=repr,
)
def test_no_noise_on_a_grid_is_below_the_floor(ball, epsilon, delta):
    least = least_variance(ball, epsilon, delta, 0.5, 3.0)
    value = floor(ball, epsilon=epsilon, delta=delta).value
    assert 0.15 * least <= value <= least * (1.0 + 1e-7)
