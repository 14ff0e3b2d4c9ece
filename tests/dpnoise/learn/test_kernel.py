"""The compiled inner loop: its sigmoid, one advance, the proximal operators."""

import numpy as np
import pytest
from scipy.special import expit

from dpnoise.learn import cd as kernel
from dpnoise.learn.problem import in_rows


def test_sigmoid_is_accurate_everywhere():
    dense = np.linspace(-25, 25, 40_001)
    far = np.array([-3e38, -1e30, -100.0, 0.0, 100.0, 1e30, 3e38])
    quarters = np.concatenate([dense, far]).astype(np.float32)
    got = np.array([kernel._twice_sigmoid_neg(u) for u in quarters], dtype=float)
    assert np.max(np.abs(got - 2.0 * expit(-4.0 * quarters.astype(float)))) < 8e-7
    assert np.all((got >= 0) & (got <= 2 + 4e-7))


@pytest.mark.parametrize("size", [1, 2, 7, 8, 31, 1000])
@pytest.mark.parametrize("bound", [1e-3, 0.4, 1e6])
def test_one_advance_moves_the_fit_and_sums_clipped_gradients(size, bound):
    rng = np.random.default_rng(size)
    fit, previous, column = rng.normal(size=(3, size)).astype(np.float32)
    delta = np.float32(0.37)
    moved = fit.astype(float) + float(delta) * previous
    for advance, gradients, sums in (
        (kernel._advance_squared, moved * column, 0),
        (kernel._advance_logistic, -expit(-4.0 * moved) * column, 1),
    ):
        work, before, features = in_rows(np.stack([fit, previous, column]))
        extra = (np.empty_like(work[0]),) * sums
        total = advance(work, before, delta, features, np.float32(bound), *extra)
        assert np.allclose(work.ravel()[:size], moved, rtol=0, atol=1e-6)
        assert not work.ravel()[size:].any()
        expected = np.clip(gradients, -bound, bound).sum()
        assert total == pytest.approx(expected, rel=0, abs=2e-6 * size)


def test_a_replaced_sample_moves_a_sum_of_gradients_by_its_sensitivity_at_most():
    """Sums of 4 gradients at or near the bound, where rounding in single precision is largest."""
    rng = np.random.default_rng(3)
    zeros, ones = (np.full((4, 8), value, dtype=np.float32) for value in (0.0, 1.0))
    excess = []
    for _ in range(20_000):
        bound = np.float32(rng.uniform(0.5, 2.0))
        pair = []
        others = bound * rng.choice([1.0, -1.0, 1.0 / 3.0, rng.uniform(-1.0, 1.0)], size=3)
        for one in (4.0, -4.0):
            fit = zeros.copy()
            fit[:, 0] = np.append(others, one)
            pair.append(kernel._advance_squared(fit, zeros, np.float32(0.0), ones, bound))
        excess.append(abs(pair[0] - pair[1]) / (2.0 * float(bound)))
    assert 1.0 < max(excess) <= kernel.ROUNDING
