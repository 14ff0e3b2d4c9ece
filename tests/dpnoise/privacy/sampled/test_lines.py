"""Delta and epsilon by lines, and which line serves."""

import math

import pytest

from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.sampled.composition import Composition, Step
from dpnoise.privacy.sampled.lines import ADDED, REMOVED, UNKNOWN, sharper, with_rest


def test_what_two_accounts_say():
    one, other = LogBounds(-3.0, -2.0, -1.0), LogBounds(-2.5, -2.4, -2.3)
    assert sharper(one, other) == other
    assert sharper(one, UNKNOWN) == one


def test_what_is_cut_is_added_to_the_upper_bound():
    found = with_rest(LogBounds(-2.0, -2.0, -2.0), math.log(0.01))
    assert found.upper == pytest.approx(math.log(math.exp(-2.0) + 0.01))
    assert found.lower == pytest.approx(math.log(math.exp(-2.0) - 0.01))
    assert with_rest(one := LogBounds(-2.0, -2.0, -2.0), -math.inf) == one


@pytest.mark.parametrize("direction", [REMOVED, ADDED])
def test_chernoff_is_above_delta(direction):
    composition = Composition({Step(1.5, 0.04): 2250})
    found = composition.log_delta(6.5, direction)
    bound = composition._lines.chernoff(6.5, direction, found.upper)
    assert found.upper <= bound <= found.upper + 4.0


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        (1.2452, 0.001027, 613, 1.83e-7),  # two kinds of outputs at one tilt
        (0.5, 1e-3, 100, 1e-5),  # hardly any record is sampled
        (5.0, 1e-3, 100, 1e-8),
        (0.79, 1e-3, 10_000, 1e-6),
    ],
)
def test_rare_samples_have_close_bounds(sigma, rate, steps, delta):
    composition = Composition({Step(sigma, rate): steps})
    low, high = composition.worst_epsilon(math.log(delta), (REMOVED, ADDED))
    assert 0.0 < low <= high <= low * (1 + 1e-6)
    for side in (REMOVED, ADDED):
        assert composition.log_delta(high, side).lower <= math.log(delta)
    assert max(composition.log_delta(low, side).upper for side in (REMOVED, ADDED)) >= math.log(
        delta
    ) * (1 + 1e-12)
