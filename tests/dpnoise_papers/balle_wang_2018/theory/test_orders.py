"""Orders of risks: true ones bear a small constant, false ones none, and bounds are bounds."""

import math

import numpy as np
import pytest

from dpnoise_papers.balle_wang_2018.settings import Theory
from dpnoise_papers.balle_wang_2018.theory import orders
from dpnoise_papers.balle_wang_2018.theory.denoising import threshold_risk, two_point_risk

FALSE = {"section-4-rate", "section-4-histogram-below-noise"}


@pytest.fixture(scope="module")
def table():
    return orders.orders(Theory(seed=7, trials=400)).set_index("id")


def test_only_the_false_orders_have_a_large_ratio(table):
    assert table.index.tolist() == [one.id for one in orders.ORDERS]
    assert set(table.index[table["ratio"] > 5]) == FALSE
    assert set(table.index[table["certain"] > 5]) == FALSE
    assert (table["certain"] <= table["ratio"]).all()


def test_the_table_says_what_was_drawn(table):
    assert table.loc["section-4-rate-at-2", "ranges"].split(", ")[1] == "p 2 to 2"
    assert table.loc["section-4-sparse", "drawn_by"].endswith("theory.orders._sparse")
    again = orders.orders(Theory(seed=7, trials=400)).set_index("id")
    assert again.equals(table)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("section-4-histogram", lambda k: 2 * k),  # n^(1/(2 k)) for n^(1/k)
        ("section-4-histogram", lambda k: k + 1),
    ],
)
def test_a_wrong_exponent_is_caught(monkeypatch, name, wrong):
    """The constant 10, doubled, does not hide another power of n."""
    whole = orders.sparse_counts_risk

    def other(rng, n, *ends):
        risk, d, _, drawn = whole(rng, n, *ends)
        return risk, d, np.minimum(drawn["s"], drawn["n"] ** (1 / wrong(drawn["k"]))), drawn

    monkeypatch.setattr(orders, "sparse_counts_risk", other)
    run = {one.id: one.run for one in orders.ORDERS}
    assert np.max(run[name](np.random.default_rng(3), 400).ratio) > 20


def test_bounds_of_balls_hold_a_known_risk():
    """At p = 2 and d = 1 the ball is an interval: 0.450 at B = 1 is between both bounds."""
    _, low, high, drawn = orders.ball_bounds(np.random.default_rng(1), 4000, np.full(4000, 2.0))
    assert np.all(low <= high)
    near = (drawn["d"] == 1) & (np.abs(drawn["radius"] - 1) < 0.02)
    assert near.any()
    assert np.allclose(low[near], 0.450, atol=0.01)
    assert np.all(high[near] <= 0.52)


def test_the_risk_of_a_spike_lies_between_known_values():
    """Never above its square or the risk of the best estimator; near t^2 among many."""
    risk = orders.spike_risk()
    assert np.all(risk <= orders._HEIGHTS**2)
    assert np.all(np.diff(risk, axis=1) >= 0)
    assert risk[-1, 7] > 0.99 * orders._HEIGHTS[7] ** 2  # t = 2 among 8192
    # Among two: by quadrature, t^2 (1 - E[1/(1 + exp(-t^2 - t sqrt 2 Z))]).
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    t = orders._HEIGHTS[3]
    mean = (1 / (1 + np.exp(-(t**2) - t * math.sqrt(2) * nodes))) @ weights / math.sqrt(2 * math.pi)
    assert risk[0, 3] == pytest.approx(t**2 * (1 - mean), rel=0.1)


def test_the_threshold_bears_the_bound_in_a_coordinate():
    """r(t, m) <= r(t, 0) + min(m^2, 1 + t^2), which the upper bound of (7) uses."""
    means, thresholds = np.meshgrid(np.linspace(0, 12, 200), np.linspace(0, 6, 40))
    bound = threshold_risk(np.zeros_like(means), thresholds)
    bound = bound + np.minimum(means**2, 1 + thresholds**2)
    assert np.all(threshold_risk(means, thresholds) <= bound * (1 + 1e-12))


def test_the_two_point_bound_is_below_both_trivial_risks():
    grid, least = two_point_risk()
    assert np.all(least <= np.minimum(grid**2, 1))


def test_the_rate_below_two_bears_half_of_its_constant():
    """With bounds on both sides, so that neither the upper nor the lower one can be far off."""
    found = {one.id: one.run for one in orders.ORDERS}["section-4-rate-below-2"](
        np.random.default_rng(5), 400
    )
    assert np.all(found.certain <= 1)
    assert np.max(found.ratio) < 4.5
    off = found.parameters["radius"] ** (found.parameters["p"] / 2)  # a rate with B^(p/2)
    assert np.max(off / found.ratio) > 20
