"""The auditor of mechanisms against those whose privacy is known."""

import math

import numpy as np
import pytest

from dpnoise import audit_mechanism
from dpnoise.privacy.gaussian import gaussian_log_delta

DELTA = 1e-3


def stream(*entropy):
    return np.random.default_rng([2026, *entropy])


def on_a_grid(x):
    """Multiples of 2^-20, so that the low-order bits of doubles tell nothing."""
    return np.round(x * 2.0**20) / 2.0**20


def laplace(scale):
    return lambda x, rng: [on_a_grid(x + rng.laplace(scale=scale))]


def test_laplace_noise_shows_nearly_its_epsilon_and_never_more():
    """Twenty audits at confidence 0.99 each: the claim is true, two false alarms have odds 2 %."""
    settings = {"epsilon": 1.0, "delta": 0.0, "confidence": 0.99, "runs": 4000}
    found = [audit_mechanism(laplace(1.0), 0, 1, seed=stream(k), **settings) for k in range(20)]
    assert sum(one.contradicted for one in found) <= 1
    assert sum(one.epsilon > 1.0 for one in found) <= 1
    assert np.median([one.epsilon for one in found]) > 0.75
    assert audit_mechanism(laplace(0.5), 0, 1, seed=stream(0), **settings).contradicted


def test_gaussian_noise_shows_most_of_its_delta():
    mu, epsilon = 1.5, 0.5
    true = math.exp(gaussian_log_delta(mu, epsilon))
    settings = {"epsilon": epsilon, "seed": stream(1), "runs": 20_000, "confidence": 0.999}
    found = audit_mechanism(
        lambda x, rng: on_a_grid(rng.normal(x, size=1)), 0.0, mu, delta=true, **settings
    )
    assert not found.contradicted
    assert 0.9 * true < found.delta_at(epsilon) <= true
    settings["seed"] = stream(2)
    assert audit_mechanism(
        lambda x, rng: rng.normal(x, size=1), 0.0, mu, delta=0.9 * true, **settings
    ).contradicted


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
        found = audit_mechanism(LEAKS[leak], *pair, seed=stream(3), **SETTINGS)
        assert found.contradicted
        assert found.epsilon > 1.0
        assert found.delta_at(1.0) > DELTA


@pytest.mark.parametrize("kind", ["constants", "noise", "missing"])
def test_what_does_not_depend_on_the_data_is_not_accused(kind):
    def mechanism(_, rng):
        if kind == "constants":
            return [1.0, math.nan, math.inf]
        return rng.normal(size=3) if kind == "noise" else [math.nan if rng.random() < 0.5 else 1.0]

    found = audit_mechanism(mechanism, 0, 1, seed=stream(4), **SETTINGS)
    assert not found.contradicted
    assert found.epsilon == found.advantage == 0.0


def test_bad_settings_are_named_at_once():
    with pytest.raises(ValueError, match="audit: ") as caught:
        audit_mechanism(
            laplace(1.0), 0, 1, epsilon=-1.0, delta=2.0, seed=-1, runs=3, confidence=1.0
        )  # fmt: skip
    for name in ("epsilon", "delta", "seed", "runs", "confidence"):
        assert f"{name}: expected" in str(caught.value)
