"""The joint test: exact under the null hypothesis, K = 1, ties, extremes, planted departures."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import combine_pvalues

from dpnoise_papers.claims.joint import joint_test
from for_all import thinned


def two_sided(ours, printed):
    pool = np.append(ours, printed)
    return min(1.0, 2.0 * min((pool <= printed).mean(), (pool >= printed).mean()))


def test_one_number_has_the_two_sided_p_value_of_its_rank():
    ours = np.arange(1.0, 61.0)
    for printed in (-5.0, 0.5, 1.5, 10.5, 30.5, 45.5, 60.5, 1e300):
        assert joint_test([(ours, printed)]).p_value == pytest.approx(two_sided(ours, printed))
    assert joint_test([(ours, 0.0)]).p_value == pytest.approx(2 / 61)
    assert joint_test([(ours, 30.5)]).p_value == 1.0


@pytest.mark.parametrize("blocks", [1, 2, 8])
@pytest.mark.parametrize("size", [1, 6, 60])
def test_below_everything_each_time_has_the_probability_of_its_ranks(blocks, size):
    ours = np.random.default_rng(1).normal(size=size)
    found = joint_test([(ours, -9.0)] * blocks).p_value
    assert found == pytest.approx(min(1.0, 2.0 / (size + 1) ** blocks), rel=1e-9)


def test_many_replications_give_fishers_method():
    rng = np.random.default_rng(2)
    cells = [(rng.normal(size=4000), y) for y in (-0.4, -1.1, 0.3, 1.7, -0.8)]
    below, above = (
        combine_pvalues([(np.append(ours, y) * sign <= y * sign).mean() for ours, y in cells])
        for sign in (1, -1)
    )
    found = joint_test(cells)
    assert found.low == pytest.approx(below.pvalue, rel=0.01)
    assert found.high == pytest.approx(above.pvalue, rel=0.01)
    assert found.p_value == min(1.0, 2.0 * min(found.low, found.high))


def test_the_law_is_that_of_all_equally_likely_places():
    """Ties within and across blocks of unequal sizes, by enumeration."""
    pools = [np.array([1.0, 1.0, 2.0, 5.0]), np.array([0.0, 0.0, 0.0]), np.array([3.0, 4.0, 4.0])]

    def score(places):
        own = [(pool <= pool[i]).mean() for pool, i in zip(pools, places, strict=True)]
        return -2.0 * np.log(own).sum()

    every = {places: score(places) for places in product(*(range(len(p)) for p in pools))}
    for places, own in every.items():
        blocks = [(np.delete(pool, i), pool[i]) for pool, i in zip(pools, places, strict=True)]
        expected = np.mean([other >= own - 1e-6 for other in every.values()])
        assert joint_test(blocks).low == pytest.approx(expected)


def test_equal_numbers_everywhere_show_nothing():
    assert joint_test([([2.0] * 9, 2.0)] * 5).p_value == 1.0


def test_numbers_of_one_row_may_be_copies_of_each_other():
    """Copies add no evidence, where independent blocks do."""
    ours = np.arange(60.0)
    for printed in (-1.0, 3.5, 28.5):
        one = joint_test([(ours, printed)]).p_value
        copied = joint_test([(np.column_stack([ours] * 3), [printed] * 3)]).p_value
        assert copied == pytest.approx(one)
    assert joint_test([(ours, -1.0)] * 3).p_value < 1e-4


@pytest.mark.parametrize("draw", thinned(["normal", "ties", "dependent"]))
def test_a_true_hypothesis_is_rejected_as_rarely_as_it_says(draw):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(600):
        blocks = []
        for _ in range(4):
            pool = rng.normal(size=(13, 2))
            pool = np.round(pool) if draw == "ties" else pool
            pool = pool + 3.0 * pool[:, ::-1] if draw == "dependent" else pool
            blocks.append((pool[:-1], pool[-1]))
        found.append(joint_test(blocks).p_value)
    for level in (0.01, 0.05, 0.2, 0.5):
        # false-alarm rate below 1e-4 by the normal approximation
        assert np.mean(np.array(found) <= level) <= level + 4 * np.sqrt(level / 600)
    assert 0.45 < np.mean(found) < 0.75


def test_numbers_that_are_together_on_one_side_or_far_off_on_both_are_found():
    ours = np.arange(60.0)
    alone, together = (joint_test([(ours, 5.5)] * count).p_value for count in (1, 8))
    assert alone > 0.1
    assert together < 2e-3
    assert joint_test([(ours, -1.0), (ours, 99.0)] * 4).p_value < 0.02
    assert joint_test([(ours, 5.5), (ours, 54.5)] * 4).p_value > 0.1


def test_infinite_replications_are_largest():
    ours = [1.0, 2.0, np.inf, np.inf]
    assert joint_test([(ours, np.inf)]).p_value == 1.0
    assert joint_test([(ours, 0.5)]).low == pytest.approx(0.2)


@pytest.mark.parametrize(
    "blocks",
    [[], [([], 1.0)], [([1.0, np.nan], 1.0)], [([1.0], np.nan)], [([1.0], [1.0, 2.0])],
     [([[1.0, 2.0]], 1.0)], [([1.0], 1.0), ([], 1.0)]],
)  # fmt: skip
def test_what_cannot_be_tested_is_refused(blocks):
    with pytest.raises(ValueError, match="joint test: expected blocks"):
        joint_test(blocks)
