import math
from functools import cache

import mpmath
import numpy as np
import pytest

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.balle_wang_2018.settings import Theory
from dpnoise_papers.balle_wang_2018.theory import denoising, privacy, statements
from dpnoise_papers.balle_wang_2018.theory.denoising import threshold_risk
from dpnoise_papers.balle_wang_2018.theory.privacy import log_tail
from dpnoise_papers.seeds import generator

RUN = {check.id: check.run for check in statements.CHECKS}
MEAN_OF_ATOMS, SHRUNK_RISK = denoising._mean_of_atoms, denoising._shrunk_risk
RADIAL = denoising._radial
FALSE = {
    "theorem-4",
    "theorem-4-proof",
    "lemma-3-density",
    "lemma-6-proof",
    "section-5-2-sensitivity",
    "theorem-11",
    "theorem-11-factor",
    "theorem-11-likelihood",
    "section-4-uniform-literal",
    "section-4-region",
    "section-4-nearly-optimal",
    "section-4-histogram-naive",
    "section-6-optimal-adaptive",
    "section-6-optimal-ball",
    "section-3-search-doubles",
}
FALSE_ORDERS = {"section-4-rate", "section-4-histogram-below-noise", "section-4-one-norm"}


@pytest.fixture(scope="module")
def table():
    return statements.statements(Theory(seed=7, trials=100))


def violations(name, n=50):
    outcome = RUN[name](generator(3, name), n)
    return int(np.sum(~(outcome.margin >= -outcome.tolerance)))


def test_every_statement_has_a_row_and_only_the_false_ones_fail(table):
    assert table["id"].is_unique
    assert list(table["id"]) == [check.id for check in statements.CHECKS]
    assert set(table.loc[table["violations"] > 0, "id"]) == FALSE
    words = table["status_of_proof"].str.extract(
        "^(complete|cited|none given|false|misprint|slip)", expand=False
    )
    assert words.notna().all()
    assert set(table.loc[words.isin(["false", "misprint", "slip"]), "id"]) == FALSE


def test_theorem_4_has_a_counterexample():
    """At epsilon = 5, delta = 0.45 is within the printed bound, and less noise is private."""
    bound = 0.5 - math.exp(-15) / math.sqrt(20 * math.pi)
    assert bound > 0.45 > 0.5 - 1 / math.sqrt(20 * math.pi)
    assert privacy.gaussian_sigma(5.0, 0.45) < 0.96 / math.sqrt(10)


@pytest.mark.parametrize(
    ("place", "name", "wrong", "rows"),
    [
        (privacy, "classical_gaussian_sigma", lambda e, _d, **_: 1 / e, {"theorem-1"}),
        (privacy, "gaussian_log_delta", lambda mu, e: np.log(mu / 9) - e, {"theorem-8"}),
        (privacy, "gaussian_sigma", lambda e, d: 0.5 / np.sqrt(e + d), {"theorem-4-corrected"}),
        (denoising, "james_stein_bayes_risk", lambda d, w, _s, **_: d * w / (1 + w),
         {"theorem-11-corrected"}),
        (denoising, "_FACTOR", 0.01, {"theorem-12"}),
        (privacy, "gaussian_sigma", lambda e, d: 1.001 * gaussian_sigma(e, d),
         {"section-5-1", "section-5-1-epsilon"}),
        (privacy, "where_loss_is", lambda e, d, s: -0.1 * d - s * s * e / d,
         {"lemma-6", "section-2-2"}),
        (privacy, "log_loss_moment", lambda s, a, sigma: (s + s * s / 2) * (a * a).sum(axis=1)
         / (2 * sigma * sigma), {"lemma-3"}),
        (privacy, "_left_of_3", lambda p, q, e: (p * (p >= np.exp(e)[:, None] * q)).sum(axis=1),
         {"theorem-5"}),
        (denoising, "bayes_risk", lambda d, w, s: d * w * s / (w + s), {"section-4-bayes-risk"}),
        (denoising, "_known_prior_risk", lambda w: 0.999 * w / (1 + w), {"section-4-uniform"}),
        (denoising, "threshold_risk", lambda m, t: 1.05 * (1 + t * t + 0 * m),
         {"section-4-histogram-naive-logarithm"}),
        (denoising, "bayes_risk", lambda d, w, s: d * w * s / (w + s) - 0.1 * d,
         {"theorem-11-gain"}),
        (privacy, "log_profile", lambda mu, e: np.log(1e-3 * mu) - e, {"section-2-3"}),
        (privacy, "log_profile", lambda mu, e: np.log1p(mu) - e, {"theorem-1", "theorem-2"}),
        (privacy, "_left_side", lambda mu, e: float(log_tail(np.array([mu / 2 - e / mu]))[0]),
         {"theorem-8"}),
        (privacy, "_h", lambda e, x: mpmath.exp(-x - e), {"lemma-7", "lemma-7-proof"}),
        (denoising, "_mean_of_atoms", lambda atoms, joint: 0.02 + MEAN_OF_ATOMS(atoms, joint),
         {"theorem-10", "section-6-optimal-known"}),
        (denoising, "_mean_of_atoms", lambda atoms, joint: 0.95 * MEAN_OF_ATOMS(atoms, joint),
         {"theorem-10", "section-6-optimal-known"}),
        (denoising, "_radial", lambda d, function: 1.001 * RADIAL(d, function),
         {"theorem-11-unbiased", "theorem-11-corrected"}),
        (denoising, "_shrunk_risk", lambda d, far, a: SHRUNK_RISK(d, far, 2.1 * a),
         {"theorem-11-improves"}),
        (privacy, "_b", lambda e, x, sign: 0.5 + 0.4 * sign * np.tanh(e * x),
         {"theorem-9-proof"}),
        (privacy, "_b", lambda e, x, sign: 0.5 + 0.1 * sign * np.sin(e * x),
         {"section-3-increasing"}),
        (privacy, "classical_gaussian_sigma", lambda e, d, **_: gaussian_sigma(e, d) + 0 * e,
         {"section-5-1-limit"}),
        (denoising, "_shrunk_risk", lambda d, far, a: SHRUNK_RISK(d, far, 2.1 * a),
         {"section-6-optimal-minimax"}),
    ],
)  # fmt: skip
def test_a_wrong_formula_is_caught(monkeypatch, place, name, wrong, rows):
    assert all(violations(row) == 0 for row in rows)
    monkeypatch.setattr(place, name, wrong)
    assert all(violations(row) > 0 for row in rows)


def test_a_search_that_stops_too_early_is_caught(monkeypatch):
    """v* or u* a hundredth too small: not private where u* is searched, not the least where v* is.

    Nor is either found to its digits. The whole search violates none of the three, by the table.
    """
    whole = privacy._searched

    def early(epsilon, delta, digits):
        low, high, count = whole(epsilon, delta, digits)
        return low * 0.99, high * 0.99, count

    monkeypatch.setattr(privacy, "_searched", early)
    assert violations("theorem-9", 8) > 0
    assert violations("theorem-9-least", 30) > 0
    assert violations("section-3-search", 4) > 0


def test_doubles_miss_what_more_digits_find(monkeypatch):
    """Small deltas are missed; the roots themselves, rounded to doubles, would not be."""
    run = RUN["section-3-search-doubles"]
    missed = run(generator(3, "b"), 60)
    fails = missed.margin < -missed.tolerance
    assert np.all(fails[missed.parameters["delta"] < 1e-8])
    assert not np.all(fails)

    def exact(epsilon, delta, _plus):
        start = 1 / gaussian_sigma(epsilon, delta)
        with mpmath.workdps(80):
            roots = [privacy._root(*map(mpmath.mpf, each[:2]), each[2])
                     for each in zip(epsilon, delta, start, strict=True)]  # fmt: skip
        return np.array(roots, dtype=float)

    monkeypatch.setattr(privacy, "bisected", exact)
    found = run(generator(3, "b"), 60)
    assert np.all(found.margin >= -found.tolerance)


def test_a_larger_or_a_smaller_sensitivity_is_caught():
    """Points of a ball of another radius have neither of the two sensitivities."""
    rng = np.random.default_rng(0)
    for radius in (0.4, 0.6):
        outcome = privacy._mean_sensitivity(rng, 20, radius)
        assert np.all(outcome.margin < -0.1)


@pytest.mark.parametrize("claimed", [(1.0, 1.0), (1.03 * math.sqrt(2), 2.0), (math.sqrt(2), 1.94)])
def test_another_sensitivity_of_a_histogram_is_caught(claimed):
    """That of adding an item, and each of the two off by 3 %."""
    assert np.all(privacy._histogram_sensitivity(generator(3, "b"), 20).margin > -1e-12)
    wrong = privacy._histogram_sensitivity(generator(3, "b"), 20, claimed)
    assert np.all(wrong.margin < -0.02)


def test_a_bound_that_does_not_tend_to_one_half_is_caught():
    assert np.all(privacy._low_privacy_limit(generator(3, "b"), 50).margin >= 0)
    assert np.any(privacy._low_privacy_limit(generator(3, "b"), 50, (-1e-8,)).margin < 0)


def test_a_search_that_steps_instead_of_doubling_is_no_efficient_one(monkeypatch):
    """Ten evaluations for a binary digit, or twenty, are far from what unit steps would need."""
    run = {one.id: one.run for one in statements.ORDERS}["section-3-search"]
    whole = cache(privacy._searched)
    monkeypatch.setattr(privacy, "_searched", whole)
    assert np.max(run(generator(3, "b"), 10).ratio) < 2

    def by_steps(epsilon, delta, digits):
        low, high, count = whole(epsilon, delta, digits)
        return low, high, count + int(high)

    monkeypatch.setattr(privacy, "_searched", by_steps)
    assert np.max(run(generator(3, "b"), 10).ratio) > 20


def test_the_example_of_the_one_norm_is_a_bound_and_no_order():
    """The ratio grows with d beyond 20, twice the constant of an order."""
    run = {one.id: one.run for one in statements.ORDERS}
    ratio, _, drawn = run["section-4-one-norm"](generator(3, "b"), 2000)
    assert np.max(ratio) > 20
    assert np.argmax(ratio) == np.argmax(drawn["d"])
    assert np.max(run["section-4-one-norm-bound"](generator(3, "b"), 2000).ratio) < 1


def test_the_risk_of_the_threshold_is_its_mean_squared_error():
    """Against Monte Carlo, to five standard errors."""
    rng = np.random.default_rng(0)
    mean, threshold = np.array([0.0, 0.7, 3.0]), np.full(3, 1.5)
    y = mean + rng.standard_normal((200_000, 3))
    error = (np.sign(y) * np.maximum(np.abs(y) - threshold, 0) - mean) ** 2
    gap = error.mean(axis=0) - denoising.threshold_risk(mean, threshold)
    assert np.all(np.abs(gap) < 5 * error.std(axis=0) / math.sqrt(len(y)))


def test_the_two_point_bound_is_the_known_minimax_risk_at_one():
    """Casella & Strawderman (1981): about 0.450 for |mean| <= 1, with the two-point prior."""
    grid, least = denoising.two_point_risk()
    assert least[np.searchsorted(grid, 1.0)] == pytest.approx(0.450, abs=1e-3)
    assert np.all(least <= np.minimum(grid**2, 1))


def test_james_stein_has_a_known_risk_at_zero():
    """At f = 0 the risk is 2, whatever d >= 3 is: d - (d - 2)^2/(d - 2)."""
    drawn = RUN["section-4-uniform-literal"](np.random.default_rng(0), 2000)
    near = drawn.parameters["squared_length"] < 0.01
    risk = (1 + drawn.margin) * drawn.parameters["d"]
    assert np.allclose(risk[near], 2, atol=0.01)
    d, far = drawn.parameters["d"], drawn.parameters["squared_length"]
    assert np.allclose(denoising._shrunk_risk(d, far, d - 2), risk, rtol=1e-9)


def test_the_table_depends_on_the_seed_alone(table, monkeypatch):
    names = ("theorem-2", "theorem-4", "theorem-12")
    part = [check for check in statements.CHECKS if check.id in names]
    monkeypatch.setattr(statements, "CHECKS", part)
    again = statements.statements(Theory(seed=7, trials=100))
    assert again.equals(table[table["id"].isin(again["id"])].reset_index(drop=True))
    assert not statements.statements(Theory(seed=8, trials=100))["parameters"].equals(
        again["parameters"]
    )


@pytest.fixture(scope="module")
def ratios():
    return statements.orders(Theory(seed=7, trials=400)).set_index("id")


def test_only_the_false_orders_have_a_large_ratio(ratios):
    assert ratios.index.tolist() == [one.id for one in statements.ORDERS]
    assert set(ratios.index[ratios["ratio"] > 5]) == FALSE_ORDERS
    assert set(ratios.index[ratios["certain"] > 5]) == FALSE_ORDERS
    assert (ratios["certain"] <= ratios["ratio"]).all()


def test_the_table_says_what_was_drawn(ratios, monkeypatch):
    assert ratios.loc["section-4-rate-at-2", "ranges"].split(", ")[1] == "p 2 to 2"
    assert ratios.loc["section-4-sparse", "drawn_by"].endswith("theory.statements._sparse")
    names = ["section-4-rate-at-2", "section-4-sparse", "section-4-one-norm"]
    part = [one for one in statements.ORDERS if one.id in names]
    assert len(part) == len(names)
    monkeypatch.setattr(statements, "ORDERS", part)
    again = statements.orders(Theory(seed=7, trials=400)).set_index("id")
    assert again.equals(ratios.loc[again.index])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("section-4-histogram", lambda k: 2 * k),  # n^(1/(2 k)) for n^(1/k)
        ("section-4-histogram", lambda k: k + 1),
    ],
)
def test_a_wrong_exponent_is_caught(monkeypatch, name, wrong):
    """The constant 10, doubled, does not hide another power of n."""
    whole = statements.sparse_counts_risk

    def other(rng, n, *ends):
        risk, d, _, drawn = whole(rng, n, *ends)
        return risk, d, np.minimum(drawn["s"], drawn["n"] ** (1 / wrong(drawn["k"]))), drawn

    monkeypatch.setattr(statements, "sparse_counts_risk", other)
    run = {one.id: one.run for one in statements.ORDERS}
    assert np.max(run[name](np.random.default_rng(3), 400).ratio) > 20


def test_bounds_of_balls_hold_a_known_risk():
    """At p = 2 and d = 1 the ball is an interval: 0.450 at B = 1 is between both bounds."""
    _, low, high, drawn = statements.ball_bounds(np.random.default_rng(1), 4000, np.full(4000, 2.0))
    assert np.all(low <= high)
    near = (drawn["d"] == 1) & (np.abs(drawn["radius"] - 1) < 0.02)
    assert near.any()
    assert np.allclose(low[near], 0.450, atol=0.01)
    assert np.all(high[near] <= 0.52)


def test_the_risk_of_a_spike_lies_between_known_values():
    """Never above its square or the risk of the best estimator; near t^2 among many."""
    risk = statements.spike_risk()
    assert np.all(risk <= statements._HEIGHTS**2)
    assert np.all(np.diff(risk, axis=1) >= 0)
    assert risk[-1, 7] > 0.99 * statements._HEIGHTS[7] ** 2  # t = 2 among 8192
    # Among two: by quadrature, t^2 (1 - E[1/(1 + exp(-t^2 - t sqrt 2 Z))]).
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    t = statements._HEIGHTS[3]
    mean = (1 / (1 + np.exp(-(t**2) - t * math.sqrt(2) * nodes))) @ weights / math.sqrt(2 * math.pi)
    assert risk[0, 3] == pytest.approx(t**2 * (1 - mean), rel=0.1)


def test_the_threshold_bears_the_bound_in_a_coordinate():
    """r(t, m) <= r(t, 0) + min(m^2, 1 + t^2), which the upper bound of (7) uses."""
    means, thresholds = np.meshgrid(np.linspace(0, 12, 200), np.linspace(0, 6, 40))
    bound = threshold_risk(np.zeros_like(means), thresholds)
    bound = bound + np.minimum(means**2, 1 + thresholds**2)
    assert np.all(threshold_risk(means, thresholds) <= bound * (1 + 1e-12))


def test_the_rate_below_two_bears_half_of_its_constant():
    """With bounds on both sides, so that neither the upper nor the lower one can be far off."""
    found = {one.id: one.run for one in statements.ORDERS}["section-4-rate-below-2"](
        np.random.default_rng(5), 400
    )
    assert np.all(found.certain <= 1)
    assert np.max(found.ratio) < 5
    off = found.parameters["radius"] ** (found.parameters["p"] / 2)  # a rate with B^(p/2)
    assert np.max(off / found.ratio) > 20
