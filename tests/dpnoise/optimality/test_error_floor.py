"""Floors under the mean absolute error, the largest error and the norm of the set."""

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

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
    best,
)
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.optimality.closed_forms import smallest_moment
from dpnoise.optimality.error_floor import EqualVolume, OwnCoordinates
from dpnoise.optimality.floor import floor
from oracles.grids import least_error

ERRORS = ("mean-abs", "max", "norm")
SETS = [
    LInf(1.0, of=3),
    L1(2.0, of=4),
    L2(1.0, of=5),
    AtMost(2, of=5),
    Box([1.0, 0.5, 0.0, 0.1]),
    Ellipsoid([1.0, 2.0]),
    Product(LInf(0.5, of=2), L2(1.0, of=2)),
    Counts(2, of=4, whole=False, relation="add-remove"),
]
PAIRS = [("L1", "mean-abs"), ("LInf", "max")]


PAGE = (Path(__file__).parents[3] / "docs" / "floor.md").read_text(encoding="utf-8")


def size(error, ball, x):
    """The error of one vector, the sum in the place of the mean."""
    if error == "norm":
        return float(ball.norm(x))
    return float(np.sum(np.abs(x)) if error == "mean-abs" else np.max(np.abs(x)))


def least_on_a_grid(ball, error, epsilon, h, radius, *, outward):
    """Least error of all epsilon-DP noise on a grid of one or two dimensions, delta = 0.

    `outward` adds the grid points less than h from a difference, as noise with a density needs.
    Points beyond the radius are left out, which can only make the least error smaller.
    """
    K, n = ball.dimension, round(radius / h)
    reach = math.ceil(1.0 / h) + 1
    shifts = []
    for d in itertools.product(range(-reach, reach + 1), repeat=K):
        near = h * np.abs(d)
        near = np.maximum(near - h * (1.0 - 1e-9), 0.0) if outward else near
        if any(d) and float(ball.norm(near)) <= 1.0 + 1e-9:
            shifts.append(d)
    points = list(itertools.product(range(-n, n + 1), repeat=K))
    cost = [size(error, ball, h * np.array(x)) for x in points]

    def orbit(x):
        return tuple(sorted(map(abs, x)))

    return least_error(points, shifts, cost, (epsilon, 0.0), orbit=orbit, method="highs-ipm")


@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize(("name", "error"), PAIRS)
def test_the_optimum_is_between_two_linear_programs_of_all_noise_on_a_grid(K, name, error):
    """Rounding noise to the grid leaves E|T_i| as it is and adds at most h to the largest."""
    ball = {"L1": L1, "LInf": LInf}[name](1.0, of=K)
    epsilon, h = 3.0, 0.25
    weights = np.ones(K) if error == "mean-abs" else None
    value = floor(ball, epsilon=epsilon, error=error, weights=weights).value
    below = least_on_a_grid(ball, error, epsilon, h, 4.0, outward=False)
    above = least_on_a_grid(ball, error, epsilon, h, 4.0, outward=True)
    spread = 0.0 if error == "mean-abs" else h
    assert below - spread <= value <= above + 0.5 * h * K
    assert value > 0.7 * below
    # The cells' own spread only adds to the error of noise that has the grid's masses.
    assert value <= above * (1.0 + 1e-3) + 0.5 * h


@pytest.mark.parametrize("epsilon", [1e-2, 0.3, 1.0, 4.0, 30.0])
def test_one_coordinate_needs_the_staircase_of_geng_and_viswanath(epsilon):
    """E|T| = e^(epsilon / 2) / (e^epsilon - 1), their Theorem 4."""
    closed = 1.0 / (2.0 * math.sinh(0.5 * epsilon))
    for ball in (LInf(2.0), L1(2.0), L2(2.0)):
        for error in ERRORS:
            value = floor(ball, epsilon=epsilon, error=error).value
            unit = 1.0 if error == "norm" else 2.0
            assert value == pytest.approx(unit * closed, rel=2e-6)
            assert value <= unit * closed * (1.0 + 1e-12)


@pytest.mark.parametrize("K", [1, 2, 7, 100])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("order", [1, 2])
def test_the_smallest_moment_is_enclosed(K, epsilon, order):
    low, upper, gamma = smallest_moment(K, epsilon, order)
    assert low <= upper <= low * (1.0 + 4e-6)

    def moment(at):
        return NormStaircase(LInf(1.0, of=K), epsilon, at).layer_moment(order) * K / (K + order)

    assert moment(min(max(gamma, 1e-12), 1.0 - 1e-12)) == pytest.approx(upper, rel=1e-9)
    assert min(moment(x) for x in np.linspace(0.005, 0.995, 199)) >= low
    k_norm = RadialNoise(LInf(1.0, of=K), 1.0 / epsilon).layer_moment(order) * K / (K + order)
    assert low < k_norm


@pytest.mark.parametrize("ball", [ball for ball in SETS if ball.convex], ids=repr)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
def test_a_staircase_in_the_norm_attains_the_floor_of_the_norm(ball, epsilon):
    K = ball.active_dimension
    found = floor(ball, epsilon=epsilon, error="norm")
    gamma = smallest_moment(K, epsilon, 1)[2]
    noise = NormStaircase(ball, epsilon, gamma)
    assert noise.mean_norm() / found.value == pytest.approx(1.0, abs=4e-6)
    assert noise.mean_norm() >= found.value
    assert found.verify() == found.value
    assert found.method == "staircase in the norm"


@pytest.mark.parametrize(
    ("delta", "error"), [(0.0, "mean-abs"), (0.0, "max"), (1e-5, "mean-abs"), (0.05, "max")]
)
@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_floors_grow_with_the_set_and_the_weights_and_are_proved(ball, delta, error):
    K = ball.dimension
    weights = np.linspace(1.0, 0.2, K)
    found = floor(ball, epsilon=0.8, delta=delta, weights=weights, error=error)
    assert found.error == error
    assert found.verify() >= found.value > 0.0
    double = floor(ball.scaled(2.0), epsilon=0.8, delta=delta, weights=weights, error=error)
    assert double.value == pytest.approx(2.0 * found.value, rel=1e-9)
    heavy = floor(ball, epsilon=0.8, delta=delta, weights=3.0 * weights, error=error)
    assert heavy.value == pytest.approx(3.0 * found.value, rel=1e-9)
    ones = floor(ball, epsilon=0.8, delta=delta, weights=np.ones(K), error=error)
    assert ones.value >= found.value * (1.0 - 1e-9)
    pure = floor(ball, epsilon=0.8, weights=weights, error=error)
    assert pure.value >= found.value * (1.0 - 1e-9)


def test_a_certificate_proves_nothing_that_it_is_not_about():
    ball, ones = LInf(1.0, of=3), np.ones(3)
    whole = EqualVolume("max", 3)
    value = whole.bound(ball, 1.0, 0.0, ones)
    assert value > 2.9
    assert whole.bound(ball, 1.0, 1e-9, ones) == 0.0  # no test for delta > 0
    assert EqualVolume("norm", 2).bound(ball, 1.0, 0.0, ones) == 0.0
    assert EqualVolume("max", 4).bound(ball, 1.0, 0.0, ones) == 0.0
    assert EqualVolume("max", 2).bound(Ellipsoid([1.0, 1.0, 1.0]), 1.0, 0.0, ones) == 0.0
    exact = Counts(1, of=3, exactly=True, relation="replace-one")
    assert whole.bound(exact, 1.0, 0.0, ones) == 0.0
    found = floor(ball, epsilon=1.0, error="max")
    with pytest.raises(ValueError, match="error"):
        replace(found, error="mean-abs").verify()
    with pytest.raises(ValueError, match="value"):
        replace(found, value=1.1 * found.value).verify()
    assert isinstance(floor(exact, epsilon=1.0, error="max").certificate, OwnCoordinates)


def test_coordinates_without_weight_do_not_count():
    few = floor(LInf(1.0, of=2), epsilon=1.0, error="max").value
    weights = [1.0, 1.0, 0.0, 0.0]
    assert floor(LInf(1.0, of=4), epsilon=1.0, error="max", weights=weights).value == few


@pytest.mark.parametrize(
    ("name", "error", "ball"),
    [
        ("equal sensitivities", "mean-abs", lambda K: LInf(1.0, of=K)),
        ("l1 ball", "max", lambda K: L1(1.0, of=K)),
        ("l2 ball", "max", lambda K: L2(1.0, of=K)),
    ],
)
def test_the_ratios_are_as_printed(name, error, ball):
    row = re.search(rf"^\| {re.escape(name)}, {error} \| (.*) \|$", PAGE, re.MULTILINE)
    for K, printed in zip((2, 10, 100), map(float, row[1].split(" | ")), strict=True):
        assert best(ball(K), epsilon=1.0, error=error).ratio == pytest.approx(printed, abs=6e-3)


def test_bad_errors_are_refused_by_name():
    with pytest.raises(ValueError, match=r"error.*'largest'"):
        floor(1.0, epsilon=1.0, error="largest")
    with pytest.raises(ValueError, match="weights"):
        floor([1.0, 1.0], epsilon=1.0, error="norm", weights=[1.0, 2.0])
