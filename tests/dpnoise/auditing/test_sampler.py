"""Bounds on the epsilon of samplers and mechanisms of known privacy: valid, tight, any output."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import audit_sampler, epsilon_at
from dpnoise.noise import DiscreteLaplace, Gaussian, Laplace
from repeated_runs import audited_runs

DELTA = 1e-3


def on_a_grid(x):
    """Multiples of 2^-20, so that the low-order bits of doubles tell nothing."""
    return np.round(np.asarray(x) * 2.0**20) / 2.0**20


def shifted(noise, shift=1):
    return (
        lambda size, rng: on_a_grid(noise.rvs(size, random_state=rng)),
        lambda size, rng: on_a_grid(shift + noise.rvs(size, random_state=rng)),
    )


def response(keep):
    """Randomized response of two inputs."""
    return (
        lambda size, rng: (rng.random(size) < keep).astype(int),
        lambda size, rng: (rng.random(size) >= keep).astype(int),
    )


def random_case(rng):
    """A sampler pair with its true epsilon at a random delta."""
    kind = rng.integers(4)
    delta = float(rng.choice([0.0, 1e-3, 0.05]))
    if kind == 0:
        noise = Laplace(float(rng.uniform(0.3, 3.0)))
        return shifted(noise), delta, float(epsilon_at(noise, 1.0, delta))
    if kind == 1:
        noise, delta = Gaussian(float(rng.uniform(0.5, 4.0))), max(delta, 1e-3)
        return shifted(noise), delta, float(epsilon_at(noise, 1.0, delta))
    if kind == 2:
        noise = DiscreteLaplace(float(rng.uniform(0.5, 3.0)))
        return shifted(noise), delta, float(epsilon_at(noise, 1, delta))
    keep = float(rng.uniform(0.5, 0.95))
    return response(keep), delta, math.log(max((keep - delta) / (1.0 - keep), 1.0))


def test_the_bound_is_below_the_truth_as_often_as_stated():
    """More misses of 100 audits than this have odds of one in a million."""
    rng, misses, repetitions, confidence = np.random.default_rng([2026, 1]), 0, 100, 0.5
    for _ in range(repetitions):
        (first, second), delta, true = random_case(rng)
        found = audit_sampler(first, second, delta=delta, confidence=confidence, size=400, seed=rng)
        misses += found.epsilon > true
    assert misses <= stats.binom.isf(1e-6, repetitions, 1.0 - confidence)


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_the_bound_comes_close_to_the_truth(scale):
    found = audit_sampler(*shifted(Laplace(scale)), size=200_000, confidence=0.999)
    assert 0.93 / scale - 0.02 < found.epsilon <= 1.0 / scale


def test_all_bounds_of_one_audit_hold_together_and_fall_with_delta_and_epsilon():
    found = audit_sampler(*shifted(Gaussian(1.0)), delta=0.01, epsilon=1.0, size=50_000)
    deltas, epsilons = [0.0, 1e-4, 0.01, 0.1, 0.5, 1.0], [0.0, 0.1, 1.0, 5.0, 700.0]
    bounds = [found.epsilon_at(delta) for delta in deltas]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == 0.0
    bounds = [found.delta_at(epsilon) for epsilon in epsilons]
    assert bounds == sorted(bounds, reverse=True)
    assert found.epsilon == found.epsilon_at(0.01)
    assert found.advantage == pytest.approx(found.delta_at(0.0))
    assert 1 <= len(found.events) <= 3


def test_discrete_outputs_are_judged_by_their_ties():
    found = audit_sampler(*response(0.8), size=100_000)
    assert 0.95 * math.log(4.0) < found.epsilon <= math.log(4.0)


def test_outputs_that_are_equal_or_alike_prove_nothing():
    rng = np.random.default_rng([2026, 3])
    sample = rng.normal(size=5000)
    for first, second in ((sample, sample), (np.zeros(100), np.zeros(100))):
        found = audit_sampler(first, second, epsilon=0.0)
        assert (found.epsilon, found.advantage, found.contradicted) == (0.0, 0.0, False)


def test_outputs_apart_prove_as_much_as_their_number_can():
    found = audit_sampler(np.zeros(20_000), np.ones(20_000), epsilon=3.0, delta=0.1)
    assert found.contradicted
    assert 6.0 < found.epsilon < math.log(20_000)
    assert {one.false_hits for one in found.events} == {0}
    assert "allows at most" in found.reason


def test_the_claim_of_no_difference_is_contradicted_by_a_small_one():
    assert audit_sampler(*shifted(Gaussian(10.0)), epsilon=0.0, size=60_000).contradicted


def test_more_than_delta_is_needed_to_contradict_a_claim_with_infinite_losses():
    """An output that only one input has, with a probability above or below delta."""

    def first(size, rng):
        return np.where(rng.random(size) < 0.02, 5.0, 0.0)

    def second(size, _):
        return np.zeros(size)

    for delta, refuted in ((0.018, True), (0.021, False)):
        found = audit_sampler(first, second, epsilon=1.0, delta=delta, size=400_000)
        assert found.contradicted == refuted


def test_vectors_are_told_apart_by_a_discriminant_or_by_the_statistic_of_the_caller():
    shift = np.array([0.3, -0.4, 0.0])

    def first(size, rng):
        return on_a_grid(rng.normal(size=(size, 3)))

    def second(size, rng):
        return on_a_grid(shift + rng.normal(size=(size, 3)))

    true = float(epsilon_at(Gaussian(1.0), 0.5, 0.01))
    settings = {"delta": 0.01, "size": 50_000}
    given = audit_sampler(first, second, statistic=lambda x: x @ shift, **settings)
    found = audit_sampler(first, second, **settings)
    for one in (given, found):
        assert 0.7 * true < one.epsilon <= true
    assert given.events[0].event.startswith("statistic")


def test_a_seed_gives_the_same_audit_and_another_one_another():
    one, again, other = (
        audit_sampler(*shifted(Laplace(1.0)), size=1000, seed=seed) for seed in (1, 1, 2)
    )
    assert one == again != other


BAD = [
    ({"delta": -1.0, "confidence": 1.0, "epsilon": -1.0}, ("delta", "confidence", "epsilon")),
    ({"size": 3, "seed": -1, "statistic": 1.0}, ("size", "seed", "statistic")),
    ({"first": [1.0, 2.0]}, ("second", "functions for both")),
    ({"first": ["a"] * 9, "second": [[1, 2]] * 9}, ("first", "<U1")),
    ({"first": [1.0] * 9, "second": [[1, 2]] * 9}, ("first, second", "(9, 2)")),
    ({"first": [1.0] * 3, "second": [1.0] * 9, "size": 3}, ("size", "first, second")),
    ({"first": lambda size, _: np.zeros(size + 1), "size": 8}, ("first: expected", "(4,)")),
    ({"first": lambda size, _: np.zeros((size, 2)), "size": 8}, ("second: expected", "(4, 2)")),
    ({"statistic": lambda x: x, "size": 8}, ("statistic: expected 4 numbers",)),
]


@pytest.mark.parametrize(("changes", "names"), BAD)
def test_what_is_wrong_is_named_at_once(changes, names):
    first, second = shifted(Laplace(1.0))
    with pytest.raises(ValueError, match="audit: ") as caught:
        audit_sampler(**{"first": first, "second": second, **changes})
    assert all(name in str(caught.value) for name in names), caught.value


def stream(*entropy):
    return np.random.default_rng([2026, *entropy])


SETTINGS = {"epsilon": 1.0, "delta": DELTA, "runs": 300}


LEAKS = {
    "one value that moves by rounding": lambda x, rng: [rng.normal(), 1.0 + x * 2.0**-52],
    "an error, as a missing value": lambda x, rng: [math.nan if x else rng.normal()],
    "a value between others": lambda x, rng: [rng.choice([-1.0, 1.0]) * (1 - 0.5 * x)],
    "a direction of two numbers": lambda x, rng: (
        (z := 100.0 * rng.normal()) + x,
        z - x + 0.1 * rng.normal(),
    ),
    "infinity": lambda x, rng: [math.inf if x else rng.normal()],
    "a scale": lambda x, rng: [rng.normal() * (1.0 + 30.0 * x)],
}


@pytest.mark.parametrize("leak", LEAKS)
def test_leaks_of_every_kind_are_found_from_either_side(leak):
    for pair in ((0, 1), (1, 0)):
        found = audited_runs(LEAKS[leak], *pair, seed=stream(3), **SETTINGS)
        assert found.contradicted
        assert found.epsilon > 1.0
        assert found.delta_at(1.0) > DELTA


@pytest.mark.parametrize("kind", ["constants", "noise", "missing"])
def test_what_does_not_depend_on_the_data_is_not_accused(kind):
    def mechanism(_, rng):
        if kind == "constants":
            return [1.0, math.nan, math.inf]
        return rng.normal(size=3) if kind == "noise" else [math.nan if rng.random() < 0.5 else 1.0]

    found = audited_runs(mechanism, 0, 1, seed=stream(4), **SETTINGS)
    assert not found.contradicted
    assert found.epsilon == found.advantage == 0.0
