"""The compiled inner loop: its sigmoid, one advance, the proximal operators."""

import numpy as np
import pytest
from scipy.special import expit

from dpnoise.learn import kernel


def test_sigmoid_is_accurate_everywhere():
    dense = np.linspace(-25, 25, 40_001)
    far = np.array([-3e38, -1e30, -100.0, 0.0, 100.0, 1e30, 3e38])
    margins = np.concatenate([dense, far]).astype(np.float32)
    got = np.array([kernel._sigmoid_neg(m) for m in margins], dtype=float)
    assert np.max(np.abs(got - expit(-margins.astype(float)))) < 4e-7
    assert np.all((got >= 0) & (got <= 1 + 2e-7))


@pytest.mark.parametrize("size", [1, 2, 7, 8, 31, 1000])
@pytest.mark.parametrize("bound", [1e-3, 0.4, 1e6])
def test_one_advance_moves_the_fit_and_sums_clipped_gradients(size, bound):
    rng = np.random.default_rng(size)
    fit, previous, column = rng.normal(size=(3, size)).astype(np.float32)
    delta = np.float32(0.37)
    moved = fit.astype(float) + float(delta) * previous
    for advance, gradients, extra in (
        (kernel._advance_squared, moved * column, ()),
        (kernel._advance_logistic, -expit(-moved) * column, (np.empty_like(fit),)),
    ):
        work = fit.copy()
        total = advance(work, previous, delta, column, np.float32(bound), *extra)
        assert np.allclose(work, moved, rtol=0, atol=1e-6)
        expected = np.clip(gradients, -bound, bound).sum()
        assert total == pytest.approx(expected, rel=0, abs=2e-6 * size)


@pytest.mark.parametrize("value", [-2.5, -0.3, 0.0, 0.1, 4.0])
@pytest.mark.parametrize("strength", [0.0, 0.4, 3.0])
def test_proximal_operators_minimise_their_objective(value, strength):
    step = 0.7
    grid = np.linspace(-5, 5, 200_001)
    near = 0.5 * (grid - value) ** 2
    for penalty, psi in (
        (kernel.NO_PENALTY, 0.0),
        (kernel.L1, np.abs(grid)),
        (kernel.L2, 0.5 * grid**2),
    ):
        best = grid[np.argmin(near + step * strength * psi)]
        assert kernel._prox(value, step, penalty, strength) == pytest.approx(best, abs=6e-5)
