"""Calibrated joint noise: budgets kept, exact scales, known variances, limits, dense scans."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import (
    L2,
    Box,
    LInf,
    calibrate,
    calibrate_joint,
)
from dpnoise.joint.calibrate import (
    JOINT_FAMILIES,
    Search,
    best_gamma,
)
from dpnoise.joint.noise import RadialNoise, pure_scale, staircase_layer_moment
from dpnoise.joint.profile import radial_delta_bounds
from joint_sets import SETS, simulated_delta
from refusals import names_every_problem

families = pytest.mark.parametrize("family", JOINT_FAMILIES)


# Each set for k-norm or staircase noise, and for one of the families that take a search.
@pytest.mark.parametrize(
    ("family", "ball"),
    [
        (family, ball)
        for turn, family in enumerate(JOINT_FAMILIES)
        for ball in SETS[(0, 1, 0, 1)[turn] :: (2, 2, 4, 8)[turn]]
    ],
    ids=str,
)
def test_the_budget_is_kept_and_nearly_spent(family, ball):
    epsilon, delta = 0.8, 1e-3
    found = calibrate_joint(family, ball, epsilon=epsilon, delta=delta)
    assert 0.0 <= found.delta_lower <= found.delta <= delta
    assert found.variances.shape == (ball.dimension,)
    assert math.isclose(found.variance, np.mean(found.variances), rel_tol=1e-15)
    assert np.all((found.variances > 0.0) == ball.active)
    assert found.noise.rvs(3, random_state=0).shape == (3, ball.dimension)
    assert found.reference
    if isinstance(found.noise, RadialNoise):
        assert radial_delta_bounds(found.noise, epsilon, cells=2**13).lower <= delta
        shift = ball.extreme_point
        mean, error = simulated_delta(found.noise, epsilon, shift, draws=40_000, seed=1)
        assert mean <= delta + 5 * error
        less = found.noise.scaled(0.99)  # and a little less noise spends more
        exact = found.delta_lower > 0.9 * found.delta
        assert not exact or radial_delta_bounds(less, epsilon).upper > delta


@pytest.mark.parametrize(("K", "epsilon", "printed"), [(10, 1.0, 44.0), (5, 0.3, 155.6)])
def test_k_norm_noise_of_the_box_has_the_known_variance(K, epsilon, printed):
    found = calibrate_joint("k-norm", 1.0, epsilon=epsilon, dimension=K)
    assert found.delta == 0.0
    assert math.isclose(found.variance, (K + 1) * (K + 2) / (3 * epsilon**2), rel_tol=1e-12)
    assert round(found.variance, 1) == printed


@families
def test_one_coordinate_is_as_good_as_the_scalar_family(family):
    scalar = {
        "k-norm": "laplace",
        "norm-staircase": "staircase",
        "truncated-k-norm": "truncated-laplace",
    }
    for epsilon, delta in ((1.0, 1e-3), (0.3, 0.05)):
        found = calibrate_joint(family, 2.0, epsilon=epsilon, delta=delta)
        if family == "norm-staircase":
            delta = 0.0  # noqa: PLW2901  # which is all that a staircase in a norm can use
        other = calibrate(scalar[family], epsilon=epsilon, delta=delta, sensitivity=2.0)
        # A scale of at most 4 / epsilon.
        assert math.isclose(found.variance, other.variance, rel_tol=2e-3)
        assert found.variance > 0.999 * other.variance


@pytest.mark.parametrize(
    ("family", "ball", "epsilon", "delta"),
    [
        ("k-norm", L2(1.0, of=20), 0.0, 1e-6),
        ("truncated-k-norm", L2(1.0, of=5), 0.0, 0.95),
        ("truncated-k-norm", LInf(1.0, of=2), 1e-9, 1e-12),
        ("k-norm", LInf(1.0, of=2), 1e-9, 0.3),
        ("truncated-k-norm", L2(1.0, of=5), 5.0, 1e-200),
        ("k-norm", LInf(1.0, of=2), 900.0, 1e-12),
    ],
)
def test_far_budgets(family, ball, epsilon, delta):
    found = calibrate_joint(family, ball, epsilon=epsilon, delta=delta)
    assert found.delta <= delta
    limit = RadialNoise(ball, 1.0 / epsilon).var()[0] if epsilon > 0 else math.inf
    assert found.variance <= limit * (1 + 1e-12)


test_bad_input_names_every_problem = names_every_problem(
    [
        (
            lambda: calibrate_joint("gauss", [], epsilon=-1, delta=2),
            ["family", "'gauss'", "shape of lambdas", "epsilon", "-1", "delta", "2"],
        ),
        (
            lambda: calibrate_joint("k-norm", Box([1.0]), epsilon=0.0, dimension=2),
            ["dimension", "got 2", "epsilon: expected more than 0"],
        ),
        (
            lambda: calibrate_joint("truncated-k-norm", 0.0, epsilon=1.0),
            ["sensitivity", "got 0.0", "delta: expected more than 0 for truncated-k-norm"],
        ),
        (
            lambda: calibrate_joint("norm-staircase", 1.0, epsilon=1e-8, dimension=20_000),
            ["10000 coordinates", "20000", "epsilon", "1e-08"],
        ),
        (
            lambda: calibrate_joint(None, "x", epsilon="1", delta=math.nan),
            ["family", "None", "'x'", "'1'", "nan"],
        ),
    ],
    match="calibration of joint noise",
)


def test_pure_scales_are_private_and_no_smaller_double_is():
    for epsilon in np.random.default_rng(3).uniform(0.001, 50.0, 200):
        scale = pure_scale(float(epsilon))
        assert Fraction(scale) * Fraction(float(epsilon)) >= 1
        assert Fraction(math.nextafter(scale, 0.0)) * Fraction(float(epsilon)) < 1


@pytest.mark.parametrize("K", [1, 3, 40])
@pytest.mark.parametrize("epsilon", [0.1, 3.0, 60.0])
def test_gamma_against_a_dense_scan(K, epsilon):
    low = -max(3.0, epsilon)
    scan = [staircase_layer_moment(K, epsilon, math.exp(x)) for x in np.linspace(low, -1e-6, 2000)]
    assert staircase_layer_moment(K, epsilon, best_gamma(K, epsilon)) <= min(scan) * (1 + 1e-6)


@pytest.mark.parametrize("delta", [1e-250, 1e-30])
@pytest.mark.parametrize("family", ["k-norm", "truncated-k-norm"])
def test_a_delta_too_small_to_move_the_scale_is_kept(family, delta):
    pure = calibrate_joint("k-norm", LInf(1.0, of=3), epsilon=7.0)
    found = calibrate_joint(family, LInf(1.0, of=3), epsilon=7.0, delta=delta)
    assert found.delta <= delta
    assert 0.5 * pure.variance < found.variance <= pure.variance


def test_a_delta_out_of_reach_raises():
    search = Search(L2(1.0, of=3), 0.0, 1e-6)
    with pytest.raises(RuntimeError):  # no bound makes up for a scale that is too small
        search.bound(1e-3)


def test_delta_is_used_next_to_pure_noise():
    """In two coordinates the (epsilon, 0)-DP scale is 0.07 % away, closer than the probe's step."""
    search = Search(L2(1.0, of=2), 1.0, 1e-5)
    noise, lower, upper = search.certified(search.scales(1.0), search.scale(1.0))
    assert lower <= upper <= 1e-5
    assert 0.999 < noise.scale < 0.9994
