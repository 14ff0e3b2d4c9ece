"""The compiled inner loop: its sigmoid, one advance, the proximal operators."""

import numpy as np
from scipy.special import expit

from dpnoise.learn import kernel


def test_sigmoid_is_accurate_everywhere():
    dense = np.linspace(-25, 25, 40_001)
    far = np.array([-3e38, -1e30, -100.0, 0.0, 100.0, 1e30, 3e38])
    quarters = np.concatenate([dense, far]).astype(np.float32)
    got = np.array([kernel._twice_sigmoid_neg(u) for u in quarters], dtype=float)
    assert np.max(np.abs(got - 2.0 * expit(-4.0 * quarters.astype(float)))) < 8e-7
    assert np.all((got >= 0) & (got <= 2 + 4e-7))


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
