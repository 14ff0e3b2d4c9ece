"""The largest useful penalty against a linear program in general form."""

import numpy as np
import pytest
from scipy import optimize

from dpnoise.denoise.largest_penalty import largest_penalty
from dpnoise.denoise.trend_filtering import difference_operator, trend_path
from dpnoise_papers.data.city.synthetic_streets import street_graph

CITY = street_graph(12, 8, np.random.default_rng(0)).graph
NOISE = np.random.default_rng(5).normal(size=CITY.nodes)
orders = pytest.mark.parametrize("order", [0, 1, 2])


@orders
def test_the_largest_penalty_is_that_of_a_linear_program(order):
    D, m = difference_operator(CITY, order).toarray(), difference_operator(CITY, order).shape[0]
    box = np.block([[np.eye(m), -np.ones((m, 1))], [-np.eye(m), -np.ones((m, 1))]])
    program = optimize.linprog(
        np.eye(m + 1)[m],
        A_ub=box,
        b_ub=np.zeros(2 * m),
        A_eq=np.hstack([D.T, np.zeros((CITY.nodes, 1))]),
        b_eq=NOISE - np.mean(NOISE),
        bounds=(None, None),
    )
    largest = largest_penalty(CITY, NOISE, order=order)
    assert largest == pytest.approx(program.fun, rel=1e-6)
    below, at = trend_path(CITY, NOISE, [largest * (1 - 1e-4), largest * (1 + 1e-4)], order=order)
    assert at.settled
    assert below.settled
    assert at.degrees_of_freedom == 1 < below.degrees_of_freedom
    assert at.fitted == pytest.approx(np.full(CITY.nodes, np.mean(NOISE)))
