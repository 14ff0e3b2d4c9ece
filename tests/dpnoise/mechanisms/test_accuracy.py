"""Accuracy before a release, and noise of the least epsilon for one, against exact tails."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, Counts, LInf, best, compare, release
from dpnoise.joint.base import upper_quantile
from for_all import for_all

CLOSE = 3e-6  # relative, of epsilon; the search promises 1e-6 twice


def laplace(epsilon):
    """P(|X| > 2) of Laplace noise for a sensitivity of 1."""
    return math.exp(-2.0 * epsilon)


def discrete_laplace(epsilon):
    """P(|X| > 2) of discrete Laplace noise: the sum of (1 - q) / (1 + q) q^|k| from 3 on, twice."""
    q = math.exp(-epsilon)
    return 2.0 * q**3 / (1.0 + q)


TAILS = {
    "laplace": (laplace, {"integer": False, "family": "laplace"}),
    "discrete-laplace": (discrete_laplace, {"integer": True, "family": "laplace"}),
}


@for_all("which", list(TAILS))
@for_all("K", [1, 7])
@for_all("level", [0.5, 0.95, 1 - 1e-6])
@for_all("simultaneous", [False, True])
def test_epsilon_is_the_least_by_the_exact_tail(which, K, level, simultaneous):
    """It keeps the distance, and 3e-6 less of it does not."""
    tail, more = TAILS[which]
    asked = {"within": 2.0, "level": level, "simultaneous": simultaneous, **more}
    found = best(Counts(1, of=K, relation="add-remove"), **asked)
    miss = (1.0 - level) / (K if simultaneous else 1)
    assert tail(found.epsilon) <= miss < tail(found.epsilon * (1.0 - CLOSE))


def test_gaussian_noise_has_the_sigma_of_the_distance():
    found = best(1.0, within=3.0, level=0.9, delta=1e-5, family="gaussian")
    width = stats.norm.isf(0.05) * found.std
    assert width <= 3.0 <= width * (1.0 + 1e-5)


def test_staircase_noise_holds_by_the_integral_of_its_density():
    found = best(1.0, within=0.7, level=0.97, family="staircase")
    steps = np.linspace(0.0, 0.7, 700_001)
    middle = 0.5 * (steps[1:] + steps[:-1])
    held = 2.0 * np.sum(found.noise.unit.pdf(middle / found.noise.scales[0])) * 1e-6
    assert held / found.noise.scales[0] == pytest.approx(0.97, abs=1e-4)
    assert 2.0 * found.noise.unit.sf(0.7 / found.noise.scales[0]) <= 0.03


def test_no_mechanism_of_the_table_does_better_for_less():
    """Also those that `best` by variance would not answer."""
    ball = LInf(1.0, of=2, relation="replace-one")
    found = best(ball, within=2.0, level=0.95)
    table = compare(ball, epsilon=found.epsilon * (1.0 - 1e-5), exhaustive=False)
    for row in table:
        assert np.max(row.noise.upper_half_width(0.95)) > 2.0


def test_upper_bounds_for_joint_noise_hold_by_an_exact_marginal():
    """K-norm noise in a cube: R of a Gamma distribution of shape K + 1 times a uniform number."""
    K = 6
    found = best(LInf(1.0, of=K, relation="replace-one"), within=2.0, family="k-norm")
    scale = 1.0 / found.epsilon
    r = stats.gamma(K + 1, scale=scale)
    shorter = stats.gamma(K, scale=scale)  # E 1(R > x) x / R = x P(shorter > x) / (K scale)
    miss = r.sf(2.0) - 2.0 * shorter.sf(2.0) / (K * scale)
    assert 0.035 < miss <= 0.05


def test_a_bound_from_too_few_rows_is_infinite():
    draws = np.random.default_rng(1).uniform(size=(1000, 50))
    assert upper_quantile(draws, 0.95, 1000) >= np.quantile(draws, 0.95)
    assert upper_quantile(draws, 0.9999, 1000) == math.inf


def test_a_large_delta_needs_no_epsilon():
    found = best(1.0, within=1e4, delta=1e-3)
    assert found.epsilon == 0.0
    assert found.delta <= 1e-3


def test_extreme_distances_keep_the_side():
    for within in (1e-3, 1e15, 1e90):
        found = best(1.0, within=within, family="laplace")
        assert found.interval(0.95)[1][0] <= within
        assert found.epsilon == pytest.approx(-math.log(0.05) / within, rel=CLOSE)
    tiny = best(1.0, within=1.0, level=1e-17, family="laplace")  # counts as 0.001
    assert -math.expm1(-tiny.epsilon) >= 1e-17
    with pytest.raises(RuntimeError, match="for any epsilon up to 10000"):
        best(1.0, within=1e-9)


def test_several_releases_are_within_it_each():
    found = best(1.0, within=20.0, delta=1e-6, family="gaussian", times=3)
    assert stats.norm.isf(0.025) * found.std == pytest.approx(20.0, rel=1e-5)
    assert found.times == 3


@for_all("integer", [False, True])
@for_all("level", [0.0, 0.5, 0.95])
@for_all("simultaneous", [False, True])
def test_the_interval_of_a_release_is_the_one_before_it(integer, level, simultaneous):
    for family in ("laplace", "k-norm"):
        ball = Counts(1, of=3, relation="add-remove")
        found = best(ball, epsilon=1.0, integer=integer, family=family)
        low, high = found.interval(level, simultaneous=simultaneous)
        released = release([0, 0, 0], found)
        after = released.interval(level, simultaneous=simultaneous)
        assert low.tolist() == (-high).tolist()
        half = (np.asarray(after[1]) - np.asarray(after[0])) / 2.0
        assert np.all(half >= high)
        assert np.all(half - high <= released.step + 1e-9)


@for_all("level", [0.95, 0.999, 1.0 - 1e-5, 1.0 - 1e-7, 1.0 - 1e-12])
def test_estimated_ends_hold_beyond_what_a_sample_shows(level):
    """K-norm noise of one number is Laplace noise: no log-concave tail is heavier."""
    found = best(1.0, epsilon=1.0, family="k-norm")
    assert found.interval(level)[1][0] == pytest.approx(-math.log1p(-level), rel=0.03)


def test_all_of_very_many_numbers_are_between_estimated_ends():
    """The largest draw of a sample was held for a quantile: 64 % were all within, not 95 %."""
    found = best(L2(1.0, of=50_000), epsilon=1.0, family="k-norm")
    high = found.interval(0.95, simultaneous=True)[1]
    inside = [(np.abs(found.noise.rvs(random_state=k)) <= high).all() for k in range(60)]
    assert np.mean(inside) >= 0.9


BAD = [
    ({"within": 0.0}, ["within: expected"]),
    ({"within": -1.0}, ["within: expected"]),
    ({"within": math.nan}, ["within: expected"]),
    ({"within": math.inf}, ["within: expected"]),
    ({"within": "2"}, ["within: expected"]),
    ({"within": 2.0, "level": 0.0}, ["level: expected"]),
    ({"within": 2.0, "level": 1.0}, ["level: expected"]),
    ({"within": 2.0, "level": math.nan}, ["level: expected"]),
    ({"within": 2.0, "simultaneous": 1}, ["simultaneous: expected True or False"]),
    ({"epsilon": 1.0, "within": 2.0}, ["epsilon, within: expected one of them"]),
    ({}, ["epsilon, within: expected one of them"]),
    ({"epsilon": 1.0, "level": 0.9}, ["within: expected a distance"]),
    (
        {"within": 0.0, "level": 2.0, "error": "x", "delta": 2.0},
        ["within", "level", "error", "del"],
    ),
]


@for_all("bad", BAD)
def test_bad_input_is_named_at_once(bad):
    given, messages = bad
    with pytest.raises(ValueError, match=messages[0]) as caught:
        best(1.0, **given)
    assert all(message in str(caught.value) for message in messages)
