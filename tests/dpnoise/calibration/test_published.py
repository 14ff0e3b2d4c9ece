"""Published calibration: the best points of a grid, and Theorem 8 beside the exact profile."""

import itertools
import math

import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    OffsetSymmetricGaussian,
    calibrate,
    gaussian_sigma,
    privacy_profile,
    vector_profile,
)
from dpnoise.calibration.published import first_private_index, theorem_8_delta
from dpnoise.noise.grafted import flipped_huber_variance
from dpnoise_papers.verify.oracles.densities import flipped_huber
from dpnoise_papers.verify.oracles.densities import theorem_8_delta as printed

KINDS = {"flipped-huber": FlippedHuber, "offset-symmetric-gaussian": OffsetSymmetricGaussian}
BOX = (0.05, 12.0), (0.05, 9.0)


def everything(kind, private, resolution):
    """Return the least variance of the private points, looking at each."""
    lines = (np.linspace(*ends, n) for ends, n in zip(BOX, resolution, strict=True))
    grid = (kind(float(a), float(b)) for a, b in itertools.product(*lines))
    return min(noise.var() for noise in grid if private(noise))


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.9, 1e-4), (3.0, 1e-6), (0.5, 0.2)])
def test_one_coordinate_is_the_best_of_all_points(family, epsilon, delta):
    budget = {"epsilon": epsilon, "delta": delta}
    found = calibrate(family, **budget, method="grid", box=BOX, resolution=(16, 12))
    least = everything(
        KINDS[family], lambda noise: privacy_profile(noise, 1.0, epsilon) <= delta, (16, 12)
    )
    assert found.variance == least
    assert found.delta <= delta
    assert found.variance >= calibrate(family, **budget).infimum
    assert found.method == "grid"


def test_first_private_place_by_halving():
    rng = np.random.default_rng(1)
    for length in (1, 2, 7, 64):
        places = rng.integers(0, length + 1, 50)
        found = first_private_index(lambda at, places=places: at >= places, 50, length)
        np.testing.assert_array_equal(found, places)


def test_box_without_private_noise_is_refused():
    box = (0.1, 1.0), (0.1, 1.0)
    with pytest.raises(ValueError, match="no noise in the box"):
        calibrate(
            "flipped-huber", epsilon=0.1, delta=1e-6, method="grid", box=box, resolution=(5, 5)
        )


def draw(rng):
    dimension = int(rng.integers(1, 30))
    epsilon, gamma = 10 ** rng.uniform(-1, 1), math.sqrt(dimension) * 10 ** rng.uniform(-1, 1)
    return gamma * 10 ** rng.uniform(-2, 1), gamma, epsilon, dimension


def test_bound_is_the_printed_formula():
    rng, applied = np.random.default_rng(8), 0
    for _ in range(300):
        alpha, gamma, epsilon, dimension = draw(rng)
        exact = printed(epsilon, 1.0, dimension)(flipped_huber(alpha, gamma))
        found = theorem_8_delta(alpha, gamma, 1.0, epsilon, dimension)
        if exact == 1.0:  # the condition on alpha fails
            assert found == 1.0
        elif exact > 1e-300:
            applied += 1
            assert found == pytest.approx(exact, rel=1e-10)
    assert applied > 80


def test_bound_is_never_below_the_exact_profile():
    """At the corner of the box, where the gap in the proof of Lemma 7 does not matter."""
    rng, applied = np.random.default_rng(9), 0
    while applied < 25:
        alpha, gamma, epsilon, dimension = draw(rng)
        bound = theorem_8_delta(alpha, gamma, 1.0, epsilon, dimension)
        if 1e-12 < bound < 1.0:
            applied += 1
            noise = FlippedHuber(alpha, gamma)
            assert vector_profile(noise, 1.0, epsilon, copies=dimension).lower <= bound


def test_alpha_zero_is_the_exact_gaussian_condition():
    for epsilon, delta, dimension in [(0.3, 1e-8, 1), (2.0, 1e-6, 20), (0.01, 1e-12, 5)]:
        sigma = float(gaussian_sigma(epsilon, delta, math.sqrt(dimension)))
        assert theorem_8_delta(0.0, sigma, 1.0, epsilon, dimension) == pytest.approx(delta, 1e-9)


@pytest.mark.parametrize("dimension", [1, 3, 20])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-2])
def test_optimum_is_the_better_of_gaussian_and_pure_laplace(dimension, epsilon, delta):
    """Not a theorem: what the search finds for every small delta that was tried."""
    found = calibrate(
        "flipped-huber", epsilon=epsilon, delta=delta, dimension=dimension, method="sufficient"
    )
    gaussian = float(gaussian_sigma(epsilon, delta, math.sqrt(dimension))) ** 2
    laplace = 2.0 * (dimension / epsilon) ** 2
    assert found.infimum == pytest.approx(min(gaussian, laplace), rel=1e-9)
    assert found.attained == (gaussian < laplace)
    assert found.infimum <= found.variance * (1.0 + 1e-12) <= found.infimum * (1.0 + 1e-5)
    assert found.delta <= delta
    assert found.method == "sufficient"


def test_no_pair_on_a_grid_is_vouched_for_with_less_variance():
    alpha, gamma = np.meshgrid(np.geomspace(1e-2, 1e4, 150), np.geomspace(0.1, 1e3, 150))
    for epsilon, delta, dimension in [(0.5, 1e-6, 1), (3.0, 0.5, 1), (8.0, 0.5, 1), (2.0, 1e-4, 6)]:
        found = calibrate(
            "flipped-huber", epsilon=epsilon, delta=delta, dimension=dimension, method="sufficient"
        )
        kept = theorem_8_delta(alpha, gamma, 1.0, epsilon, dimension) <= delta
        assert np.min(flipped_huber_variance(alpha[kept], gamma[kept])) >= found.infimum * (
            1.0 - 1e-9
        )


def test_bad_input_is_named_at_once():
    with pytest.raises(ValueError, match=r"alpha.*gamma.*sensitivity.*epsilon.*dimension"):
        theorem_8_delta(-1.0, 0.0, 0.0, math.nan, 0)
