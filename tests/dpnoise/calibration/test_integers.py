"""Integer noise from a budget: certified, no smaller scale private, close to continuous noise."""

import math

import numpy as np
import pytest

from dpnoise import L1, L2, best, calibrate, epsilon_at, privacy_profile, vector_profile
from dpnoise.calibration import integers
from dpnoise.noise import INTEGER_FAMILIES, DiscreteGaussian, DiscreteLaplace, DiscreteStaircase
from dpnoise.privacy.integer_sets import parts_of_set
from for_all import thinned

BUDGETS = [
    (1.0, 1e-6, 1, 1),
    (0.1, 1e-3, 2, 1),
    (8.0, 1e-9, 1, 1),
    (0.0, 0.01, 3, 1),
    (1.0, 1e-6, 1, 4),
    (3.0, 0.01, 2, 3),
]


@pytest.mark.parametrize("family", INTEGER_FAMILIES)
@pytest.mark.parametrize(("epsilon", "delta", "sensitivity", "dimension"), thinned(BUDGETS))
def test_what_is_handed_out_keeps_the_budget(family, epsilon, delta, sensitivity, dimension):
    if family == "discrete-staircase" and epsilon == 0.0:
        return
    budget = {"epsilon": epsilon, "delta": delta, "dimension": dimension}
    found = calibrate(family, sensitivity=sensitivity, **budget)
    bound = vector_profile(found.noise, sensitivity, epsilon, copies=dimension)
    pure = found.certified_by[0] == "greatest loss"
    assert found.delta <= delta
    assert bound.upper <= (1e-9 if pure else delta)
    assert isinstance(found.noise, INTEGER_FAMILIES[family])
    assert found.variance == found.noise.var()
    assert len(found.certified_by) == 1 + (dimension == 1 or pure or family == "discrete-staircase")
    if isinstance(found.noise, DiscreteGaussian):
        less = DiscreteGaussian(found.noise.sigma * (1 - 1e-5))
        assert vector_profile(less, sensitivity, epsilon, copies=dimension).lower > delta
    elif isinstance(found.noise, DiscreteLaplace) and not pure:
        less = DiscreteLaplace(found.noise.beta * (1 - 1e-5))
        assert vector_profile(less, sensitivity, epsilon, copies=dimension).lower > delta


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    thinned([(1.0, 1e-6), (4.0, 1e-30), (5.0, 1e-4), (12.0, 1e-8), (30.0, 1e-3)]),
)
def test_no_scanned_scale_is_smaller(epsilon, delta, size):
    """Delta of the discrete Gaussian does not fall with sigma; it has dips."""
    found = calibrate("discrete-gaussian", epsilon=epsilon, delta=delta, sensitivity=size)
    # For small losses, which are close together, delta falls; a few scales show as much.
    count = 130 if epsilon >= 5.0 else 40
    for less in np.linspace(0.1, 1 - 1e-5, count) * found.noise.sigma:
        if less > 0.01:
            assert privacy_profile(DiscreteGaussian(less), size, epsilon) > delta


def test_without_delta_the_loss_is_spent_exactly():
    assert calibrate("discrete-laplace", epsilon=0.5, sensitivity=3).noise == DiscreteLaplace(6.0)
    found = calibrate(DiscreteLaplace, epsilon=0.3, dimension=3)
    assert 3 * epsilon_at(found.noise, 1, 0.0) <= math.nextafter(0.3, 1.0)
    assert found.certified_by == ("greatest loss", "density ratio")
    stairs = calibrate(DiscreteStaircase, epsilon=2.0, sensitivity=7, dimension=2).noise
    assert (stairs.epsilon, stairs.sensitivity) == (1.0, 7)
    plain = calibrate("discrete-laplace", epsilon=2.0, sensitivity=7, dimension=2)
    assert stairs.var() < plain.variance
    one = calibrate("discrete-staircase", epsilon=0.7)
    assert one.variance == pytest.approx(calibrate("discrete-laplace", epsilon=0.7).variance)


def test_bad_requests_are_refused_by_name():
    with pytest.raises(ValueError, match=r"family: expected one of .*discrete-laplace.*'geom"):
        calibrate("geometric", epsilon=1.0)
    for family in INTEGER_FAMILIES:
        with pytest.raises(ValueError, match=r"sensitivity: expected integers below.*got 1.5"):
            calibrate(family, epsilon=1.0, delta=1e-6, sensitivity=1.5)
        with pytest.raises(ValueError, match="method: expected 'exact' for discrete"):
            calibrate(family, epsilon=1.0, delta=1e-6, method="grid")
    with pytest.raises(ValueError, match="delta: expected more than 0 for discrete-gaussian"):
        calibrate("discrete-gaussian", epsilon=1.0)


def test_noise_that_is_not_verified_is_not_handed_out(monkeypatch):
    monkeypatch.setattr(integers, "smallest_scale", lambda *_: 1.0)
    with pytest.raises(RuntimeError, match="could not be verified"):
        calibrate("discrete-gaussian", epsilon=1.0, delta=1e-6)
    monkeypatch.setattr(integers, "smallest_scale", lambda *_: math.inf)
    with pytest.raises(RuntimeError, match="no DiscreteGaussian noise up to a scale of 1e"):
        calibrate("discrete-gaussian", epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("family", INTEGER_FAMILIES)
def test_the_second_account_finds_a_planted_fault(family, monkeypatch):
    """Noise of half the scale is certified by a broken first account, and not handed out."""
    monkeypatch.setattr(integers, "_dips", lambda *_: [])

    def halved(noise, budget):
        scale = {"sigma": 0.5, "beta": 0.5, "epsilon": 2.0}
        name = next(name for name in scale if hasattr(noise, name))
        object.__setattr__(noise, name, getattr(noise, name) * scale[name])
        account = "greatest loss" if budget.delta == 0 else "scalar profile"
        return integers.Calibration(noise, budget.delta, 1.0, "exact", True, 1.0, (account,))

    monkeypatch.setattr(integers, "_found", halved)
    monkeypatch.setattr(integers, "smallest_scale", lambda *_: 4.23)
    delta = 1e-6 if family == "discrete-gaussian" else 0.0
    with pytest.raises(RuntimeError, match="accounts disagree"):
        calibrate(family, epsilon=1.0, delta=delta, sensitivity=1)


def test_for_a_set_best_is_named():
    with pytest.raises(ValueError, match=r"number \(best and .*got L1.*; epsilon: .*-1") as error:
        calibrate("discrete-laplace", epsilon=-1.0, sensitivity=L1(1.0, of=2))
    assert "method" not in str(error.value)


# For sets: what `best` makes of these searches.


def test_the_worst_integer_point_joins_the_search():
    """Of the l2 ball of radius 2 it is (1, 1, 1, 1), not the one of the search's start."""
    ball = L2(2.0, of=5, relation="add-remove")
    found = best(ball, epsilon=1.0, delta=1e-3, family="laplace", integer=True)
    beta = found.noise.noises[0].beta
    assert found.name == "discrete Laplace, delta used"
    assert max(found.delta, vector_profile(DiscreteLaplace(beta), 1, 1.0, copies=4).upper) <= 1e-3
    assert vector_profile(DiscreteLaplace(beta * (1 - 1e-5)), 1, 1.0, copies=4).lower > 1e-3


def test_staircases_on_sets_are_never_above_laplace_noise():
    for part in (part for ball in (L2(3.0, of=3), L1(4.0, of=2)) for part in parts_of_set(ball)):
        found = integers.staircase_for_steps(part, 1.0)
        assert found.var() <= DiscreteLaplace(float(part.steps())).var() * (1.0 + 1e-9)
        upper, names = integers.certified_on_parts([found], [part], 1.0, 0.0)
        assert (upper, names) == (0.0, ("greatest loss",))


def test_noise_for_a_set_is_verified_by_two_accounts(monkeypatch):
    parts = parts_of_set(L2(2.0, of=5))
    upper, names = integers.certified_on_parts([DiscreteGaussian(5.2)], parts, 1.0, 1e-3)
    assert 1e-4 < upper <= 1e-3
    assert names == ("integer points", "half-lines")
    with pytest.raises(RuntimeError, match="could not be verified"):
        integers.certified_on_parts([DiscreteGaussian(5.1)], parts, 1.0, 1e-3)
    monkeypatch.setattr(integers, "event_log_delta", lambda *_: math.log(2e-3))
    with pytest.raises(RuntimeError, match="accounts disagree"):
        integers.certified_on_parts([DiscreteGaussian(5.2)], parts, 1.0, 1e-3)
