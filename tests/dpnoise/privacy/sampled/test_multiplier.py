"""The least noise multiplier: kept by the upper bound, and least, whatever the estimates say."""

import math

import pytest

from dpnoise import SampledGaussian, noise_multiplier
from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.sampled import multiplier
from dpnoise.privacy.sampled.composition import Composition

TRAINING = (8.0, 1e-5, 0.04, 2250)
BUDGETS = [  # epsilon, delta, rate, steps
    TRAINING,
    (4.0, 1e-5, 0.001, 5000),  # large losses are rare
    (1.35, 2.385e-7, 0.001081, 2943),
    (0.5, 1e-6, 0.002, 2250),
    (2.0, 1e-8, 0.004, 100),
    (100.0, 1e-5, 0.04, 2250),
    (0.01, 1e-3, 0.2, 10),
    (1.0, 1e-5, 0.01, 1),  # a closed form
    (1.0, 1e-5, 1.0, 100),
]


def is_least(found, budget, rtol=1e-6):
    """Whether a multiplier keeps the budget and one smaller by 2 rtol is seen not to."""
    epsilon, delta, rate, steps = budget
    kept = SampledGaussian(found, rate).delta(epsilon, steps=steps)
    less = SampledGaussian(found * (1.0 - 2.0 * rtol), rate).delta(epsilon, steps=steps)
    return kept.lower <= delta and less.lower > delta


@pytest.mark.parametrize("budget", BUDGETS)
def test_multipliers_keep_the_budget_and_are_least(budget):
    assert is_least(noise_multiplier(*budget), budget)


@pytest.mark.parametrize("rtol", [1e-8, 1e-3, 0.1])
def test_the_tolerance_is_kept(rtol):
    assert is_least(noise_multiplier(*TRAINING, rtol=rtol), TRAINING, rtol)


@pytest.mark.parametrize("off", [-40.0, -1.0, 3.0, 300.0])
def test_nothing_rests_on_the_approximation(monkeypatch, off):
    exact = Composition.saddle

    def wrong(self, epsilon):
        found = exact(self, epsilon)
        return None if found is None else (found[0] + off, found[1])

    monkeypatch.setattr(Composition, "saddle", wrong)
    assert is_least(noise_multiplier(*TRAINING), TRAINING)


@pytest.mark.parametrize("near", [True, False])
def test_ends_that_stay_apart_are_met_by_few_bounds(monkeypatch, near):
    """By secants of the estimates, or by a bracket, from an upper end that says how much is missed.

    Where a record is hardly ever sampled each bound takes most of a second.
    """
    exact, asked = multiplier._MultiplierSearch.bounds, []

    def wide(self, at, gap=0.0):
        asked.append(at)
        found = exact(self, at, gap)
        return LogBounds(found.lower - 1e-3, found.estimate, found.upper + 1e-3)

    monkeypatch.setattr(multiplier._MultiplierSearch, "bounds", wide)
    if not near:
        monkeypatch.setattr(Composition, "saddle", lambda *_: None)
    found = noise_multiplier(*TRAINING)
    assert len(asked) <= (9 if near else 15)
    assert is_least(found, TRAINING, rtol=1e-3)
    kept = SampledGaussian(found, TRAINING[2]).delta(TRAINING[0], steps=TRAINING[3])
    assert kept.upper <= TRAINING[1] * math.exp(-1e-3) * (1.0 + 1e-9)


@pytest.mark.parametrize("found", [None, (math.nan, 1.0)])
def test_without_an_approximation_a_bracket_is_searched(monkeypatch, found):
    monkeypatch.setattr(Composition, "saddle", lambda *_: found)
    monkeypatch.setattr(multiplier, "_by_secants", lambda *_: None)
    assert is_least(noise_multiplier(*TRAINING), TRAINING)


def test_what_is_returned_was_seen_to_keep_the_budget(monkeypatch):
    """With bounds on delta that never come down nothing is; with wide ones, more noise is."""
    exact, seen = multiplier.bounds_of, []

    def wide(gap):
        def bounds(*arguments, **options):
            found = exact(*arguments, **options)
            seen.append(found._replace(upper=min(found.upper + gap, 0.0)))
            return seen[-1]

        return bounds

    monkeypatch.setattr(multiplier, "bounds_of", wide(0.1))
    found = noise_multiplier(*TRAINING)
    assert seen[-1].upper <= math.log(TRAINING[1])
    monkeypatch.undo()
    assert found > noise_multiplier(*TRAINING) * 1.002
    never = LogBounds(-50.0, -20.0, -1.0)
    monkeypatch.setattr(multiplier, "bounds_of", lambda *_, **__: never)
    with pytest.raises(ValueError, match=r"expected a budget that a multiplier up to 1e.06"):
        noise_multiplier(*TRAINING)
