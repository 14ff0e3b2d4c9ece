"""Noise as it is released, audited for what one person can really change."""

import numpy as np
import pytest

from dpnoise import Counts, audit_sampler, best, release

EXAMPLES = {
    "one of twenty": (Counts(1, of=20, relation="add-remove"), 2.0),
    "three of twelve": (Counts(3, of=12, relation="add-remove"), 1.0),
    "two of five replaced": (Counts(2, of=5, each=2, relation="replace-one"), 1.5),
}
SIZE = 20_000
CONFIDENCE = 1.0 - 1e-6  # draws are exact and have no seed


def difference(ball):
    """A true difference that moves as many entries as any, each as far as any."""
    true = ball.differences
    d = np.zeros(ball.dimension)
    d[: true.up] = true.size
    d[true.up : true.moved] = -true.size
    assert true.holds(d)
    return d


def audited(noise, d, epsilon):
    """Releases of 0 and of d against a claim, by how far outputs lie towards d."""
    at, size = d != 0.0, np.max(np.abs(d))
    outputs = [release(np.tile(row, (SIZE, 1)), noise) for row in (d, np.zeros_like(d))]

    def towards(x):
        return np.sum(np.clip(x[:, at] * np.sign(d[at]), 0.0, size), axis=1)

    return audit_sampler(*outputs, epsilon=epsilon, statistic=towards, confidence=CONFIDENCE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_releases_hide_the_worst_true_difference_and_hide_it_no_better_than_claimed(example):
    ball, epsilon = EXAMPLES[example]
    noise, d = best(ball, epsilon=epsilon).noise, difference(ball)
    assert not audited(noise, d, epsilon).contradicted
    # Planted: three times the noise is claimed, which chance does not hide.
    assert audited(noise, d, epsilon / 3.0).contradicted


def test_two_entries_are_no_true_difference_of_people_in_one_of_twenty():
    """Planted: a person who is in two regions, whom the promise does not cover."""
    ball, epsilon = EXAMPLES["one of twenty"]
    d = np.zeros(20)
    d[:2] = 1.0
    assert not ball.differences.holds(d)
    assert audited(best(ball, epsilon=epsilon).noise, d, epsilon).contradicted
