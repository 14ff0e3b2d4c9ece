"""The dual gap: equal to its definition, and a bound on the distance to the optimum."""

import numpy as np
import pytest
from scipy import sparse

from dpnoise.denoise.dual_gap import objective, relative_gap

rng = np.random.default_rng(3)
D = sparse.csr_array(np.diff(np.eye(6), axis=0))


def test_the_sum_of_terms_is_primal_less_dual_value():
    for _ in range(20):
        y, b, penalty = rng.normal(size=6), rng.normal(size=6), rng.exponential()
        u = rng.uniform(-penalty, penalty, size=5)
        primal = 0.5 * np.sum((y - b) ** 2) + penalty * np.sum(np.abs(D @ b))
        dual = 0.5 * np.sum(y**2) - 0.5 * np.sum((y - D.T @ u) ** 2)
        assert objective(D, y, penalty, b) == pytest.approx(primal, rel=1e-13)
        assert relative_gap(D, y, penalty, b, u) == pytest.approx((primal - dual) / primal)


def test_an_infeasible_dual_certifies_nothing():
    y = rng.normal(size=6)
    assert relative_gap(D, y, 1.0, y, np.full(5, 1.1)) == np.inf
    assert relative_gap(D, y, 1.0, y, np.full(5, np.nan)) == np.inf
    assert relative_gap(D, y, 1.0, np.full(6, np.nan), np.zeros(5)) == np.inf


def test_nothing_left_to_gain_is_no_gap():
    assert relative_gap(D, np.zeros(6), 1.0, np.zeros(6), np.zeros(5)) == 0.0
