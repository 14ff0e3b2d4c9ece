"""A cover is complete, its reasons hold under another account, and its caps only weaken it."""

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Laplace,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    calibrate,
    vector_profile,
)
from dpnoise.calibration.budget import Budget
from dpnoise.calibration.cover import (
    ORDERED,
    OneShape,
    OrderedShapes,
    StaircaseShapes,
    _distance,
    certified_optimum,
    cover,
    shapes_of,
)
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.privacy.lattice.bounds import lattice_bounds


def test_the_share_that_may_be_too_much():
    """Of a family of each kind of shapes; the others' are in test_calibrate.py."""
    for family in ("laplace", "truncated-laplace", "staircase"):
        found = calibrate(family, epsilon=0.5, delta=1e-5, dimension=4, certificate="global")
        assert 0.0 < found.optimal_within < 1.001e-3, family
        assert calibrate(family, epsilon=0.5, delta=1e-5).optimal_within is None


def test_a_planted_optimum_is_replaced():
    budget = Budget(1.0, 1e-5, 2.0, 1)
    found = calibrate(FlippedHuber, epsilon=1.0, delta=1e-5, sensitivity=2.0)
    noise = FlippedHuber(0.0, 2.0 * calibrate(Gaussian, epsilon=1.0, delta=1e-5).noise.sigma)
    assert noise.var() > 1.1 * found.variance
    planted = replace(found, noise=noise, variance=noise.var(), infimum=noise.var())
    better = certified_optimum(FlippedHuber, budget, planted)
    assert found.variance * (1.0 - 1e-9) <= better.variance < 1.003 * found.variance
    assert better.optimal_within < 3e-3
    assert vector_profile(better.noise, 2.0, 1.0).upper <= 1e-5


def test_a_planted_staircase_is_replaced():
    budget = Budget(1.0, 1e-5, 1.0, 30)
    planted = calibrate(Staircase, epsilon=1.0, dimension=30)
    better = certified_optimum(Staircase, budget, planted)
    found = calibrate(Staircase, epsilon=1.0, delta=1e-5, dimension=30)
    assert better.variance < 1.003 * found.variance < 0.7 * planted.variance


def test_which_families_are_covered():
    assert all(shapes_of(kind) is not None for kind in FAMILIES.values())
    assert all(shapes_of(kind) is None for kind in INTEGER_FAMILIES.values())


def test_requests_that_cannot_be_met():
    with pytest.raises(ValueError, match=r"certificate: .*'exact' with a certificate"):
        calibrate("flipped-huber", epsilon=1.0, delta=1e-6, certificate="local", method="grid")
    with pytest.raises(ValueError, match=r"family: .*ordered"):
        calibrate("discrete-gaussian", epsilon=1.0, delta=1e-6, certificate="global")
    with pytest.raises(ValueError, match="delta: expected more than 0 for a global certificate"):
        calibrate("laplace", epsilon=1.0, certificate="global")


BUDGET = Budget(1.0, 1e-5, 1.0, 3)


@cache
def found(kind):
    """Return the variance of the best noise that the search finds."""
    epsilon, delta, _, dimension = BUDGET
    return calibrate(kind, epsilon=epsilon, delta=delta, dimension=dimension).variance


def test_the_intervals_cover_all_shapes_and_each_noise_violates_the_budget():
    variance = found(FlippedHuber)
    proved = cover(OrderedShapes(FlippedHuber), BUDGET, variance, 1e-2, 1000)
    assert proved.variance == variance * (1.0 - 1e-2)
    assert proved.better is None
    assert proved.cells[0].shapes[0] == 0.0
    assert proved.cells[-1].shapes[1] == math.inf
    for one, other in pairwise(proved.cells):
        assert one.shapes[1] == other.shapes[0]
    for cell in proved.cells:
        assert cell.log_delta > math.log(BUDGET.delta)
        assert cell.noise.var() > proved.variance
    for cell in proved.cells[::15]:
        again = lattice_bounds([(cell.noise, 1.0, BUDGET.dimension)], BUDGET.epsilon)
        assert again.log_lower > math.log(BUDGET.delta)


@pytest.mark.parametrize("kind", [FlippedHuber, TruncatedLaplace])
def test_a_planted_optimum_is_found_out(kind):
    """Noise with 2 % too much variance is beaten by members that are met on the way."""
    variance = found(kind)
    proved = cover(OrderedShapes(kind), BUDGET, 1.02 * variance, 1e-3, 5000)
    assert proved.better is not None
    assert variance * (1.0 - 1e-9) <= proved.better.var() < 1.002 * variance
    assert 0.997 * variance < proved.variance < variance


@pytest.mark.parametrize("most", [1, 5, 20])
def test_a_cap_lowers_the_bound(most):
    variance = found(FlippedHuber)
    proved = cover(OrderedShapes(FlippedHuber), BUDGET, variance, 1e-4, most)
    assert proved.variance < variance * (1.0 - 1e-4)
    assert not proved.cells or proved.cells[-1].shapes[1] == math.inf


def test_nothing_is_claimed_where_the_account_says_nothing(monkeypatch):
    def refuse(*args, **options):  # noqa: ARG001
        message = "beyond its range"
        raise ValueError(message)

    variance = found(FlippedHuber)
    monkeypatch.setattr("dpnoise.privacy.vector.profile_of_counted", refuse)
    proved = cover(OrderedShapes(FlippedHuber), BUDGET, variance, 1e-2, 100)
    assert proved.variance == 0.0
    assert proved.cells == ()


_PEAKS = {"uniform": 12.0**-0.5, "gaussian": (2.0 * math.pi) ** -0.5, "laplace": 0.5**0.5}


def at_quantiles(noise, levels):
    """Return the density where |T| exceeds with probability exp(-level)."""
    return noise.pdf(noise.isf(0.5 * np.exp(-levels)))


def places(rng):
    low, high = np.sort(rng.uniform(0.002, 0.998, 2))
    return float(low), float(high)


@pytest.mark.parametrize("kind", ORDERED)
def test_the_heavier_shape_disperses_more(kind):
    rng, shapes = np.random.default_rng(11), OrderedShapes(kind)
    levels = np.concatenate([np.geomspace(1e-6, 0.5, 40), np.linspace(0.6, 40.0, 120)])
    for _ in range(20):
        low, high = places(rng)
        light, heavy = shapes.member(low, 1.0), shapes.member(high, 1.0)
        light = light.scaled(float(light.pdf(0.0)))  # density 1 at 0
        heavy = heavy.scaled(float(heavy.pdf(0.0)))
        before, after = at_quantiles(light, levels), at_quantiles(heavy, levels)
        assert np.all(after <= before * (1.0 + 1e-9)), (low, high)
        assert heavy.var() >= light.var() * (1.0 - 1e-12)


@pytest.mark.parametrize("kind", ORDERED)
def test_the_peak_rises_between_those_of_the_limits(kind):
    shapes = OrderedShapes(kind)
    grid = np.linspace(0.0, 1.0, 101)
    peaks = np.array([shapes._peak(float(place)) for place in grid])
    assert np.all(np.diff(peaks) >= -1e-13)
    lightest = "uniform" if kind in (Subbotin, TruncatedLaplace) else "gaussian"
    assert peaks[0] == pytest.approx(_PEAKS[lightest], rel=1e-15)
    assert peaks[-1] == pytest.approx(_PEAKS["laplace"], rel=1e-15)
    assert peaks[1] == pytest.approx(peaks[0], rel=2e-2)


@pytest.mark.parametrize("kind", ORDERED)
def test_one_noise_is_more_private_than_all_members(kind):
    rng, shapes = np.random.default_rng(5), OrderedShapes(kind)
    for _ in range(3):
        low, high = places(rng)
        variance = float(rng.uniform(0.3, 30.0))
        noise = shapes.dominating(low, high, variance)
        epsilon = np.array([0.0, 0.1, 1.0, 3.0])
        lower = vector_profile(noise, 1.0, epsilon).log_lower
        for place in np.append(rng.uniform(low, high, 3), [low, high]):
            member = shapes.member(float(place), variance * float(rng.uniform(0.5, 1.0)))
            upper = vector_profile(member, 1.0, epsilon).log_upper
            assert np.all(lower <= upper), (low, high, place)


def test_limits_of_an_interval():
    for kind in ORDERED:
        shapes = OrderedShapes(kind)
        assert shapes.dominating(0.5, 1.0, 2.0).__class__ is Laplace
        ends = {shapes.shape(0.0), shapes.shape(1.0)}
        assert ends in ({0.0, math.inf}, {1.0, 1e3})
        assert shapes.dominating(0.25, 0.25, 2.0).var() == pytest.approx(2.0, rel=1e-8)


def test_a_scale_is_one_interval():
    for kind in (Gaussian, Laplace):
        shapes = OneShape(kind)
        assert shapes.intervals == 1
        noise = shapes.dominating(0.0, 1.0, 4.0)
        assert 4.0 < noise.var() <= 4.0 * (1.0 + 2e-9)
        assert shapes.member(0.5, 4.0).var() == pytest.approx(4.0, rel=1e-15)
        assert shapes.shape(0.5) == 0.0


def test_total_variation_is_the_mass_within_half_a_step():
    for epsilon in (1e-3, 0.4, 3.0, 40.0):
        for gamma in (1e-3, 0.2, 0.5, 0.8, 1.0 - 1e-12):
            noise = Staircase(epsilon, 1.0, gamma)
            tau = 1.0 - 2.0 * float(noise.sf(0.5))
            assert _distance(epsilon, gamma) == pytest.approx(tau, rel=1e-12)
            assert vector_profile(noise, 1.0, 0.0).estimate == pytest.approx(tau, rel=1e-9)
    assert _distance(2.0, 0.0) == pytest.approx(_distance(2.0, 1.0), rel=1e-15)


def test_distance_and_variance_are_monotone_in_epsilon():
    epsilons = np.geomspace(1e-3, 50.0, 60).tolist()
    for gamma in (1e-6, 0.1, 0.5, 0.7, 0.999):
        assert np.all(np.diff([_distance(e, gamma) for e in epsilons]) >= 0.0)
        assert np.all(np.diff([Staircase(e, 1.0, gamma).var() for e in epsilons]) <= 0.0)


@pytest.mark.parametrize("copies", [1, 4])
def test_one_staircase_is_more_private_than_all_members(copies):
    rng, shapes = np.random.default_rng(8), StaircaseShapes()
    epsilon = np.array([0.0, 0.05, 0.5, 2.0])
    for _ in range(30):
        low, high = np.sort(rng.uniform(0.0, 1.0, 2)).tolist()
        low = 0.0 if rng.random() < 0.2 else low
        variance = float(np.exp(rng.uniform(-3.0, 6.0)))
        noise = shapes.dominating(low, high, variance)
        lower = vector_profile(noise, 1.0, epsilon, copies=copies).log_lower
        for gamma in rng.uniform(low, high, 4).tolist():
            member = shapes.member(gamma, variance * float(rng.uniform(0.3, 1.0)))
            upper = vector_profile(member, 1.0, epsilon, copies=copies).log_upper
            assert np.all(lower <= upper), (low, high, gamma, variance)


def test_members_have_the_variance_that_is_asked_for():
    shapes = StaircaseShapes()
    for gamma in (0.01, 0.4, 0.9):
        for variance in (0.4, 3.0, 1e4):
            assert shapes.member(gamma, variance).var() == pytest.approx(variance, rel=1e-9)
    assert math.isclose(shapes.shape(0.3), 0.3)


def test_variances_beyond_all_staircases():
    shapes = StaircaseShapes()
    assert shapes.dominating(0.5, 0.6, 1e-9).epsilon == pytest.approx(700.0, rel=1e-6)
    assert shapes.dominating(0.5, 0.6, 1e250).epsilon < 1e-99


@pytest.mark.parametrize("gamma", [0.0625, 0.25])
def test_a_member_whose_variance_hardly_depends_on_epsilon_is_covered(gamma):
    shapes = StaircaseShapes()
    for epsilon in (25.0, 30.0, 33.0, 36.0, 40.0):
        variance = Staircase(epsilon, 1.0, gamma).var()
        assert shapes.dominating(gamma, 1.25 * gamma, variance).epsilon < epsilon
