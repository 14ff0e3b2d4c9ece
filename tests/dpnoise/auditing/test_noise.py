"""Every family stands the audit, and faults planted in its sampler are found."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, Gaussian, Laplace, audit_noise, calibrate
from dpnoise.joint.noise import RadialNoise
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES, KNorm


@cache
def calibrated(name):
    """Noise of a family for one budget; not when the file is read, which every worker does."""
    return calibrate(name, epsilon=1.0, delta=1e-5).noise


def scaled(noise, factor):
    """A sampler whose draws are too small by a factor."""
    return lambda size, rng: factor * noise.rvs(size, random_state=rng)


def test_false_alarms_are_as_rare_as_stated():
    """36 audits of true claims at a rate of one in two; more have odds of one in a million."""
    rng = np.random.default_rng([2026, 4])
    found = [
        audit_noise(calibrated(name), 1, false_alarm=0.5, size=2000, seed=rng).contradicted
        for name in ("gaussian", "truncated-laplace", "discrete-laplace")
        for _ in range(12)
    ]
    assert sum(found) <= stats.binom.isf(1e-6, len(found), 0.5)


@pytest.mark.parametrize("name", [*FAMILIES, *INTEGER_FAMILIES])
def test_noise_of_every_family_is_not_accused(name):
    assert not audit_noise(calibrated(name), 1.0, size=20_000).contradicted


@pytest.mark.parametrize("name", FAMILIES)
def test_noise_that_is_10_percent_too_small_is_found(name):
    noise, size = calibrated(name), 200_000 if name == "gaussian" else 50_000
    assert audit_noise(noise, 1.0, sampler=scaled(noise, 0.9), size=size).contradicted


def test_integer_noise_that_is_10_percent_too_small_is_found():
    for name in ("discrete-gaussian", "discrete-laplace"):
        noise = calibrated(name)
        (parameter,) = vars(noise).values()
        small = type(noise)(0.9 * parameter)
        found = audit_noise(noise, 1, sampler=lambda n, rng, s=small: s.rvs(n, rng), size=200_000)
        assert found.contradicted


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, "at the bound") for name in ("gaussian", "staircase", "subbotin")),
        *((name, "at the bound") for name in ("flipped-huber", "discrete-gaussian")),
        *((name, "drawn again") for name in ("laplace", "discrete-laplace")),
    ],
)
def test_a_clipped_tail_is_found(name, how):
    """One draw in 2000 is clipped; beyond the bound one input has outputs and the other has not."""
    noise = calibrated(name)
    bound = float(noise.isf(0.00025))

    def sampler(size, rng):
        draws = noise.rvs(size, random_state=rng)
        if how == "at the bound":
            return np.clip(draws, -bound, bound)
        return np.where(np.abs(draws) > bound, 0, draws)

    assert audit_noise(noise, 1, sampler=sampler, size=400_000).contradicted


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_tail_that_is_clipped_on_one_side_is_found(side):
    noise = Gaussian(2.0)

    def sampler(size, rng):
        return side * np.minimum(noise.rvs(size, random_state=rng), 7.0)

    assert audit_noise(noise, 1.0, sampler=sampler, size=200_000).contradicted


def test_joint_noise_and_independent_coordinates(monkeypatch):
    monkeypatch.setattr("dpnoise.auditing.audit._POINTS", 16)
    monkeypatch.setattr("dpnoise.auditing.audit._COARSE", 8)
    ball = L2(1.0, of=3)
    joint = RadialNoise(ball, 1.5, 1.3)
    cases = [
        (joint, ball),
        (KNorm(np.inf, 2, 1.0), 1.0),
        (KNorm(2, 3, 1.0), 1.0),
        ([Gaussian(2.0), Laplace(3.0)], [1.0, 1.0]),
    ]
    for noise, sensitivity in cases:
        healthy = audit_noise(noise, sensitivity, size=20_000)
        assert not healthy.contradicted
        assert healthy.epsilon > 0.3

        def narrow(size, rng, noise=noise):
            if isinstance(noise, list):
                return np.column_stack([0.7 * one.rvs(size, rng) for one in noise])
            return 0.7 * noise.rvs(size, rng)

        assert audit_noise(noise, sensitivity, sampler=narrow, size=20_000).contradicted


def test_a_budget_that_the_account_refutes_needs_no_sample():
    found = audit_noise(Gaussian(3.8), 1.0, epsilon=1.0, delta=1e-6, size=8)
    assert found.contradicted
    assert "(1, 1e-06)-DP" in found.claim
    assert not audit_noise(Gaussian(4.3), 1.0, epsilon=1.0, delta=1e-6, size=8).contradicted
    both = audit_noise(
        Gaussian(3.8), 1.0, epsilon=1.0, delta=1e-6, sampler=scaled(Gaussian(1.0), 1.0), size=9000
    )
    assert both.reason.count(";") == 1


def test_no_sensitivity_and_extremes():
    assert not audit_noise(Gaussian(1.0), 0.0, size=1000).contradicted
    tiny = audit_noise(Laplace(1e-90), 1e-90, size=10_000)
    assert not tiny.contradicted
    assert 0.7 < tiny.epsilon <= 1.0

    def broken(size, rng):
        return np.full(size, [np.nan, np.inf][int(rng.integers(2))])

    assert not audit_noise(Gaussian(1.0), 1.0, sampler=broken, size=100).contradicted
    assert audit_noise(Gaussian(1.0), 1.0, sampler=lambda n, _: np.zeros(n), size=99).contradicted


def test_what_is_wrong_is_named_at_once():
    with pytest.raises(ValueError, match="audit: ") as caught:
        audit_noise(
            Gaussian(1.0), -1.0, epsilon=-1.0, delta=1.0, sampler=1, false_alarm=0.0, size=1,
            seed="x",
        )  # fmt: skip
    for name in (
        "epsilon", "delta", "sampler", "false_alarm", "size", "seed", "sensitivity",
    ):  # fmt: skip
        assert f"{name}: expected" in str(caught.value)
    with pytest.raises(ValueError, match="sampler: expected 1 numbers a draw"):
        audit_noise(Gaussian(1.0), 1.0, sampler=lambda n, _: np.zeros((n, 2)), size=8)
    with pytest.raises(ValueError, match="sampler: expected numbers of shape"):
        audit_noise(Gaussian(1.0), 1.0, sampler=lambda n, _: np.zeros(n - 1), size=8)
    with pytest.raises(ValueError, match="integer"):
        audit_noise(calibrated("discrete-laplace"), 0.5)
