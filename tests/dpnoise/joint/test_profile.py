"""Bounds on delta of radial noise: closed forms, families of one coordinate, simulation, order."""

import math
from itertools import pairwise

import pytest

from dpnoise import L1, L2, AtMost, LInf, Subbotin, TruncatedLaplace, privacy_profile
from dpnoise.joint.calibrate import Search
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.privacy.gaussian import gaussian_log_delta
from joint_sets import SETS, corners, simulated_delta


def some_laws():
    """Each set, with a bound and without one and with each power by turns."""
    for k, ball in enumerate(SETS):
        yield ball, (1.0, 1.7, 3.0)[k % 3], k % 2 == 1


every = pytest.mark.parametrize("ball", SETS, ids=str)


@pytest.mark.parametrize("K", [1, 2, 3, 30, 1000])
@pytest.mark.parametrize(("sigma", "epsilon"), [(4.0, 1.0), (1.0, 2.0), (3.0, 0.0), (0.5, 40.0)])
def test_power_two_in_the_l2_norm_is_gaussian_in_any_dimension(K, sigma, epsilon):
    noise = RadialNoise(L2(1.0, of=K), sigma * math.sqrt(2.0), 2.0)
    delta = math.exp(gaussian_log_delta(1.0 / sigma, epsilon))
    lower, upper = radial_delta_bounds(noise, epsilon)
    assert lower <= delta <= upper
    assert upper <= 1.01 * lower or delta < 1e-80


@pytest.mark.parametrize("K", [1, 2, 20, 1000])
@pytest.mark.parametrize("loss", [1.0, 1.1, 3.0])
def test_k_norm_noise_has_the_laplace_profile_in_boxes_and_l1_balls(K, loss):
    """Through the cells as well, with a bound that nothing reaches."""
    epsilon = 0.7
    delta = -math.expm1(0.5 * (epsilon - loss))
    for ball in (LInf(1.0, of=K), L1(1.0, of=K)):
        noise = RadialNoise(ball, 1.0 / loss)
        lower, upper = radial_delta_bounds(noise, epsilon)
        assert math.isclose(lower, delta, rel_tol=1e-13)
        assert math.isclose(upper, delta, rel_tol=1e-13)
        far = RadialNoise(ball, 1.0 / loss, 1.0, 1e6)
        lower, upper = radial_delta_bounds(far, epsilon)
        assert lower <= delta <= upper <= 1.01 * lower
    some = AtMost(max(1, K // 2), of=K)
    lower, upper = radial_delta_bounds(RadialNoise(some, 1.0 / loss), epsilon)
    assert lower <= delta * (1 + 1e-13)
    assert math.isclose(upper, delta, rel_tol=1e-13)
    assert (lower > 0.0) == (loss > epsilon)
    # No norm needs more.
    assert radial_delta_bounds(RadialNoise(L2(1.0, of=K), 1.0 / loss), epsilon).upper <= delta * (
        1 + 1e-13
    )


@pytest.mark.parametrize("ball", [LInf(1.0), L2(1.0)], ids=str)
def test_one_coordinate_agrees_with_the_scalar_profile(ball):
    pairs = [
        (RadialNoise(ball, 2.0, p), Subbotin(p, 2.0 * p ** (-1.0 / p))) for p in (1.3, 2.0, 4.0)
    ]
    pairs += [
        (RadialNoise(ball, s, 1.0, b), TruncatedLaplace(s, b)) for s, b in ((1.5, 9.0), (1.0, 3.0))
    ]
    for noise, other in pairs:
        for epsilon in (0.0, 0.4, 0.9):
            lower, upper = radial_delta_bounds(noise, epsilon)
            delta = float(privacy_profile(other, 1.0, epsilon))
            assert lower <= delta * (1 + 1e-12)
            assert delta * (1 - 1e-12) <= upper <= 1.02 * lower + 1e-300


@pytest.mark.parametrize(("ball", "power", "truncated"), list(some_laws()), ids=str)
def test_simulation_agrees_at_the_extreme_points_and_finds_nothing_worse(ball, power, truncated):
    """The profile from the densities alone; 5 standard errors (fixed seeds)."""
    epsilon, K = 0.5, ball.active_dimension
    scale = 1.2 * (2.0 * K) ** (1.0 - 1.0 / power)
    bound = scale * (K / power + 2.0 * math.sqrt(K / power)) ** (1.0 / power)
    noise = RadialNoise(ball, scale, power, bound if truncated else math.inf)
    lower, upper = radial_delta_bounds(noise, epsilon)
    found = [simulated_delta(noise, epsilon, d, draws=20_000, seed=11) for d in corners(ball)]
    delta, error = max(found)
    assert lower - 5 * error <= delta <= upper + 5 * error + 1e-12
    for seed, other in enumerate(ball.sample(2, random_state=5)):
        other = other / ball.norm(other)  # noqa: PLW2901
        delta, error = simulated_delta(noise, epsilon, other, draws=20_000, seed=seed)
        assert delta <= upper + 5 * error + 1e-12


@pytest.mark.parametrize("ball", [LInf(1.0, of=4), L2(1.0, of=10), SETS[8]], ids=str)
def test_small_deltas_by_importance_sampling(ball):
    """Deltas near 1e-5 from wider noise, the density ratio as weight; 5 standard errors."""
    search = Search(ball, 1.0, 1e-5)
    power = search.scales(1.3)(search.scale(1.3))
    bounded = search.bounds(1.0)(search.bound(1.0))
    for noise in (power, bounded):
        lower, upper = radial_delta_bounds(noise, 1.0)
        assert math.isclose(upper, 1e-5, rel_tol=0.02)
        wide = RadialNoise(ball, 1.3 * noise.scale, noise.power)
        shift = ball.extreme_point
        delta, error = simulated_delta(noise, 1.0, shift, draws=200_000, seed=3, proposal=wide)
        assert error < 0.2 * upper
        assert lower - 5 * error <= delta <= upper + 5 * error


@every
def test_order_in_epsilon_scale_and_cells(ball):
    some = {"cells": 2**12}
    noise = RadialNoise(ball, 2.0, 1.5)
    bounds = [radial_delta_bounds(noise, e, **some) for e in (0.0, 0.1, 0.5, 2.0)]
    assert all(one.upper >= other.lower for one, other in pairwise(bounds))
    assert bounds[0].upper > bounds[-1].upper
    noises = [RadialNoise(ball, s, 1.5) for s in (1.0, 2.0, 4.0)]
    wide = [radial_delta_bounds(noise, 0.3, **some).upper for noise in noises]
    assert wide == sorted(wide, reverse=True)
    noise = RadialNoise(ball, 3.0, 1.5)
    rough, fine = (radial_delta_bounds(noise, 0.3, cells=n) for n in (2**10, 2**14))
    assert rough.lower <= fine.upper
    assert fine.lower <= rough.upper
    assert fine.upper - fine.lower <= rough.upper - rough.lower


@pytest.mark.parametrize("K", [1, 1000])
def test_extremes_are_bounds_between_0_and_1(K):
    for ball in (LInf(1.0, of=K), L2(1.0, of=K)):
        for noise in (
            RadialNoise(ball, 1e-100, 2.0),
            RadialNoise(ball, 1e100, 1.5),
            RadialNoise(ball, 1.0, 16.0),
            RadialNoise(ball, 1.0, 1.0, 1.5 * K),
        ):
            for epsilon in (0.0, 1e-12, 1e4):
                lower, upper = radial_delta_bounds(noise, epsilon)
                assert 0.0 <= lower <= upper <= 1.0
    assert radial_delta_bounds(RadialNoise(LInf(1.0, of=K), 1e-100, 2.0), 1.0).lower > 0.999


def test_bad_input_names_every_problem():
    with pytest.raises(ValueError, match="expected") as error:
        radial_delta_bounds(L2(1.0), math.nan, cells=3)
    assert all(word in str(error.value) for word in ("noise", "epsilon", "nan", "cells", "3"))
