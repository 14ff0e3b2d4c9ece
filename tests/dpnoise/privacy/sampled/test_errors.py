"""Shares of each kind of error in the gap between the bounds of delta."""

import math

import pytest

from dpnoise import SampledGaussian, SampledLaplace, sampled_errors
from dpnoise.privacy.sampled.pairs import REPLACED, Kind
from dpnoise.privacy.sampled.relations import PairComposition


@pytest.mark.parametrize(
    ("step", "epsilon", "steps", "largest"),
    [
        (SampledGaussian(1.5, 0.04), 8.0, 1, "rounding"),
        (SampledGaussian(3.0, 0.1, "without replacement"), 2.0, 30, "pair"),
        (SampledLaplace(3.0, 0.1), 0.5, 30, "tail"),
        (SampledGaussian(2.0, 0.01), 0.1, 20, None),
    ],
)
def test_shares_of_the_gap_add_up_to_it(step, epsilon, steps, largest):
    found = sampled_errors(step, epsilon, steps=steps)
    # Bounds by other ways than the inversion are of the same number.
    low, high = step.delta(epsilon, steps=steps)
    assert max(low, found.lower) <= min(high, found.upper)
    shares = found._asdict()
    gap = shares.pop("upper") - shares.pop("lower")
    assert min(shares.values()) >= 0.0
    assert math.fsum(shares.values()) == pytest.approx(gap, rel=1e-9)
    if largest is not None:
        assert max(shares, key=shares.get) == largest


def test_a_longer_rule_has_a_shorter_tail():
    """The share of the tail is that of the plan: planted, it is seen."""
    composition = PairComposition({Kind(2.0, 0.1): 2}, "replace-one")
    composition.log_delta(0.3, REPLACED)
    usual = composition.shares.tail
    for inversion in composition._found.values():
        inversion._most, inversion._kept = 10, None
    composition.log_delta(0.3, REPLACED)
    assert composition.shares.tail > 10.0 * usual
