"""Penalty by SURE: the minimum over what was tried, and near the true optimum."""

import numpy as np
import pytest

from dpnoise.denoise.largest_penalty import largest_penalty
from dpnoise.denoise.trend_filtering import trend_path
from dpnoise.denoise.trend_penalty import choose_by_sure
from dpnoise_papers.data.city.synthetic_streets import street_graph

CITY, PLACES = street_graph(40, 12, np.random.default_rng(0))
TRUTH = np.where(PLACES[:, 1] > np.median(PLACES[:, 1]), 6.0, 0.0) + (PLACES[:, 0] > 1500) * 4.0
orders = pytest.mark.parametrize("order", [0, 1, 2])


@orders
def test_the_choice_is_near_the_best_penalty_in_hindsight(order):
    y = TRUTH + 2.0 * np.random.default_rng(1).normal(size=TRUTH.size)
    choice = choose_by_sure(CITY, y, 2.0, order=order)
    losses = [
        np.sum((fit.fitted - TRUTH) ** 2)
        for fit in trend_path(CITY, y, choice.penalties, order=order)
    ]
    loss = np.sum((choice.fit.fitted - TRUTH) ** 2)
    assert loss < 1.3 * min(losses)
    assert loss < 0.4 * np.sum((y - TRUTH) ** 2)
    assert choice.fit.sure(2.0) == np.min(choice.sure)
    assert np.all(np.diff(choice.penalties) > 0)
    assert choice.fit.penalty in choice.penalties
    assert choice.sure.shape == choice.degrees_of_freedom.shape == choice.penalties.shape


@orders
@pytest.mark.parametrize("sigma", [0.2, 2.0, 20.0])
def test_penalties_beyond_the_grid_lose(order, sigma):
    y = TRUTH + sigma * np.random.default_rng(2).normal(size=TRUTH.size)
    choice = choose_by_sure(CITY, y, sigma, order=order)
    smallest = trend_path(CITY, y, choice.penalties[:1], order=order)[0]
    assert np.max(np.abs(smallest.fitted - y)) <= 0.1 * sigma * (1 + 1e-9)
    last = choice.penalties[-1]
    flat = largest_penalty(CITY, y, order=order)
    beyond = trend_path(CITY, y, np.geomspace(last, max(flat, last) * 1.1, 8), order=order)
    assert beyond[-1].degrees_of_freedom == 1
    assert min(fit.sure(sigma) for fit in beyond) >= np.min(choice.sure)
    if choice.fit.penalty == last:
        assert choice.fit.degrees_of_freedom == 1


def test_data_without_signal_come_out_nearly_flat():
    y = np.random.default_rng(3).normal(size=CITY.nodes)
    fit = choose_by_sure(CITY, y, 1.0).fit
    assert fit.degrees_of_freedom < 0.05 * CITY.nodes
    assert np.mean(fit.fitted**2) < 0.05


def test_constant_data_and_given_penalties():
    assert choose_by_sure(CITY, np.full(CITY.nodes, 2.0), 1.0).fit.degrees_of_freedom == 1
    y = TRUTH + np.random.default_rng(4).normal(size=TRUTH.size)
    choice = choose_by_sure(CITY, y, 1.0, penalties=[5.0, 0.0, 1.0])
    assert choice.penalties.tolist() == [0.0, 1.0, 5.0]
    assert choice.sure[0] == pytest.approx(CITY.nodes)  # the data themselves: n sigma^2
    assert choice.fit.penalty == 1.0


def test_refusals():
    with pytest.raises(ValueError, match=r"sigma: .*got 0; penalties: expected at least one"):
        choose_by_sure(CITY, TRUTH, 0, penalties=[])
    with pytest.raises(ValueError, match=r"penalty: .*-1.0; penalty: .*nan"):
        choose_by_sure(CITY, TRUTH, 1.0, penalties=[-1.0, float("nan")])
    with pytest.raises(ValueError, match=r"y: .*order: .*got 3; sigma: .*-1"):
        choose_by_sure(CITY, TRUTH[1:], -1.0, order=3)
