"""Theory of inid-2024: true statements hold, false ones are caught."""

import numpy as np
import pytest

from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.checks import integrate
from dpnoise_papers.inid_2024.settings import Dispersion, Theory
from dpnoise_papers.inid_2024.tables.profiles import dispersion_orders, gini, profile
from dpnoise_papers.inid_2024.theory import gain, optimum, privacy, statements, tools
from dpnoise_papers.inid_2024.theory.statements import CHECKS, inid_theory
from dpnoise_papers.seeds import generator

MIXTURES = gain._mixtures
RUN = {check.id: check.run for check in CHECKS}
FALSE = {
    "section-ii-norms-printed",
    "theorem-9-proof",
    "corollary-6-dropped",
    "theorem-4-gradient",
    "theorem-4-convex",
    "algorithm-1-input",
    "section-iv-coupled",
    "section-iv-a-each",
    "section-iv-a-laplace-each",
    "section-v-gini",
    "section-v-2-gini",
    "algorithm-2-indices",
    "section-vi-b-samples",
    "section-v-4-staircase",
}


@pytest.fixture(scope="module")
def table():
    return inid_theory(Theory(seed=7, trials=100))


def violations(name, n):
    outcome = RUN[name](generator(3, name), n)
    return int(np.sum(~(outcome.margin >= -outcome.tolerance)))


def test_every_statement_has_a_row_and_only_the_false_ones_fail(table):
    assert table["id"].is_unique
    assert list(table["id"]) == [check.id for check in CHECKS]
    assert set(table.loc[table["violations"] > 0, "id"]) == FALSE
    words = table["status_of_proof"].str.extract("^(complete|cited|none given|false)", expand=False)
    assert words.notna().all()
    assert set(table.loc[words == "false", "id"]) == FALSE


def test_theorem_7_has_a_counterexample_by_hand():
    """One-hot: nu = 1/K, and the error falls by K, not by K^2."""
    profiles, count = np.eye(1, 50), np.array([50.0])
    nu = gain.evenness(profiles, count)
    assert np.allclose(nu, 1 / 50)
    assert np.allclose(gain.gaussian_ratio(profiles, count), nu)
    assert np.allclose(gain.laplace_ratio(profiles, count), nu)


def test_dispersion_fails_by_the_gini_coefficient_alone_and_at_one_pair_of_three_coordinates():
    by_gini, by_majorisation = (
        RUN[name](generator(3, name), 390) for name in ("section-v-2-gini", "section-v-2-majorised")
    )
    wrong = by_gini.margin <= 0.0
    assert by_gini.parameters["K"][wrong].tolist() == [3.0]
    assert by_gini.margin[wrong] == pytest.approx(-0.0324375, abs=1e-7)
    assert len(by_gini.margin) == 390
    assert 380 < len(by_majorisation.margin) < 390  # pairs that are not ordered are left out
    assert not np.isin(by_gini.margin[wrong], by_majorisation.margin).any()
    assert np.isin(by_majorisation.margin, by_gini.margin).all()


def test_dispersion_of_gaussian_noise_is_that_of_the_table_and_fails_by_neither_measure():
    by_gini, by_majorisation = (
        RUN[name](generator(3, name), 390) for name in ("section-v-1-gini", "section-v-1-majorised")
    )
    profiles = ["uniform", "linear", "quadratic", "exponential", "one-hot"]
    table = dispersion_orders(Dispersion(profiles=profiles, dimensions=list(range(2, 41))))
    gains = table.loc[table["noise"] == "gaussian", "gain_difference_db"]
    assert np.sort(by_gini.margin) == pytest.approx(np.sort(gains), abs=1e-9)
    assert by_gini.margin.min() > 0.09
    assert 350 < len(by_majorisation.margin) < 390  # pairs that are not ordered are left out
    assert np.isin(by_majorisation.margin, by_gini.margin).all()


def test_the_samples_of_table_3_are_gone_through_once(table):
    rows = table.set_index("id")
    printed, corrected = (rows.loc[f"section-vi-b-samples{end}"] for end in ("", "-corrected"))
    assert (printed.trials, printed.violations, printed.parameters) == (2, 1, "N=100")
    assert (corrected.trials, corrected.violations) == (1, 0)
    assert set(rows.index[rows["trials_are"] == "cases"]) == {
        "section-vi-b-samples", "section-vi-b-samples-corrected",
        "section-v-1-gini", "section-v-1-majorised", "section-v-2-gini", "section-v-2-majorised",
    }  # fmt: skip


def test_the_hessian_is_singular_only_where_a_sensitivity_is_0():
    printed, corrected = (
        RUN[name](generator(3, "hessian"), 100)
        for name in ("theorem-4-convex", "theorem-4-convex-corrected")
    )
    zero = (np.arange(100) % 5 == 0) & (printed.parameters["K"] > 1)
    assert (printed.margin[zero] == -1.0).all()
    assert (corrected.margin >= -corrected.tolerance).all()
    assert np.array_equal(printed.margin[~zero], corrected.margin[~zero])


def test_beyond_epsilon_1_the_order_of_the_gaussian_error_is_not_that_of_12():
    """As delta = 0.3 and epsilon = 30 show; at epsilon = 1 it is below the order."""
    ratios = [(e * gaussian_sigma(e, 0.3)) ** 2 / -np.log(0.3) for e in (1.0, 30.0)]
    assert ratios[0] < 1.0
    assert ratios[1] > tools.CONSTANT


def alike(function):
    """The same queries with coordinates that all move alike: no longer strictly better."""

    def queries(rng, n):
        apart, *rest = function(rng, n)
        return np.ones_like(apart), *rest[:2], np.full(n, 12.0)

    return queries


def times(factor, function):
    """The same function with a result that is wrong by a factor."""

    def wrong(*arguments, **settings):
        found = function(*arguments, **settings)
        if isinstance(found, tuple):
            return tuple(factor * part for part in found)
        return factor * found

    return wrong


@pytest.mark.parametrize(
    ("place", "name", "wrong", "rows"),
    [
        (optimum, "_printed_optimum", times(1.01, optimum._printed_optimum),
         {"theorem-4", "theorem-4-p", "theorem-5", "section-vi-c-layers"}),
        (optimum, "_printed_optimum", times(0.99, optimum._printed_optimum),
         {"theorem-4", "theorem-4-p", "theorem-5", "section-vi-c-layers"}),
        (optimum, "printed_scales", times(1.01, tools.printed_scales),
         {"table-1", *(f"section-iv-b-{name}" for name in
          ("gaussian", "laplace", "spr-gaussian", "spr-laplace"))}),
        (optimum, "allocate", times(1.01, optimum.allocate), {"table-1"}),
        (optimum, "formula", times(1.01, optimum.formula), {"table-1"}),
        (optimum, "integrate", lambda f, edges, parts: 1.01 * integrate(f, edges, parts),
         {"moments-gaussian", "moments-laplace"}),
        (privacy, "integrate", lambda f, edges, parts: integrate(f, 0.1 * edges, parts),
         {"introduction-fisher"}),
        (privacy, "_theorems_4_and_5", times(0.99, privacy._theorems_4_and_5), {"remark-3-enough"}),
        (privacy, "_theorems_4_and_5", times(1.01, privacy._theorems_4_and_5), {"remark-3-needed"}),
        (privacy, "gaussian_delta", times(1.001, privacy.gaussian_delta),
         {"lemma-3", "remark-3-enough", "section-v-iid-same", "section-v-iid-linear"}),
        (privacy, "gaussian_delta", times(0.999, privacy.gaussian_delta),
         {"lemma-3", "remark-3-needed", "section-v-iid-same"}),
        (privacy, "_loss", times(1.001, privacy._loss), {"theorem-5-private"}),
        (privacy, "log_uniform", lambda rng, low, high, n: -tools.log_uniform(rng, low, high, n),
         {"footnote-5"}),
        (privacy, "Laplace", lambda b: Laplace(0.99 * b), {"corollary-6"}),
        (privacy, "_sample", lambda _, m: (np.array([0]), np.array([1.0]), np.array([m + 2.0])),
         {"section-vi-b-laplace"}),
        (privacy, "_sample", lambda _, m: (np.array([0]), np.array([1.0]), np.array([1.0 * m])),
         {"section-vi-b-laplace"}),  # private clipped, and not unclipped
        (gain, "_norms", times(1.001, gain._norms), {"remark-1"}),
        (gain, "_queries", alike(gain._queries), {"section-iv-spr-strict"}),
        (privacy, "valid_bracket", lambda e, d: (0.0 * e, 0.5 + 0.0 * d),
         {"algorithm-1-input-corrected"}),
        (statements, "Laplace", lambda b: Laplace(0.5 * b), {"corollary-6-active"}),
        (statements, "gini", lambda x: -gini(x), {"section-v-1-gini"}),
        (statements, "profile", lambda name, k, norm: profile(name, k, norm) / (1 + (name > "q")),
         {"section-v-1-majorised", "section-v-2-majorised"}),
        (optimum, "_FLAT", 1.0, {"theorem-4-convex-corrected"}),
        (gain, "evenness", lambda x, k: 1.2 * x.sum(axis=1) / (k * x.max(axis=1)),
         {"theorem-7-corrected", "theorem-7-uninformed", "footnote-7-corrected",
          "section-iv-a-laplace-free"}),
        (gain, "gaussian_sigma", lambda e, d: 100.0 / (e * d), {"section-iv-a-bound-gaussian"}),
        (gain, "mean_squared_errors", times(10.0, tools.mean_squared_errors),
         {"section-iv-a-bound-gaussian", "section-iv-a-bound-laplace"}),
        (gain, "mean_squared_errors", lambda noise, scheme, *rest: np.sqrt(
            tools.mean_squared_errors(noise, scheme, *rest)),
         {"section-iv-range", "theorem-7-uninformed"}),
        (gain, "mean_squared_errors", lambda noise, scheme, *rest: tools.mean_squared_errors(
            noise, "optimal" if scheme == "spr" else scheme, *rest), {"section-iv-spr-strict"}),
        (gain, "mean_squared_errors", times(1.001, tools.mean_squared_errors),
         {"section-iv-a-gaussian"}),
        (gain, "printed_scales", times(0.999, tools.printed_scales), {"section-iv-spr"}),
        (gain, "laplace_ratio", lambda x, _: 1e-9 + 0.0 * x.sum(axis=1), {"remark-4-corrected"}),
        (gain, "_norms", lambda x, p: np.abs(x).sum(axis=-1) / (1 + 1 / p), {"section-ii-norms"}),
        (gain, "mean_squared_errors", lambda *arguments: (arguments[2] ** 6).sum(axis=1),
         {"theorem-9", "theorem-10", "theorem-9-uniform"}),
        (gain, "_mixtures", lambda rng, n: swapped(MIXTURES(rng, n)),
         {"lemma-8", "theorem-9", "theorem-10"}),
    ],
)  # fmt: skip
def test_a_wrong_formula_is_caught(monkeypatch, place, name, wrong, rows):
    monkeypatch.setattr(place, name, wrong)
    for row in rows:
        assert violations(row, {optimum: 8, privacy: 20}.get(place, 40)) > 0, row


def swapped(found):
    b, a, count = found
    return a, b, count


@pytest.mark.parametrize("name", sorted(FALSE))
def test_false_statements_fail_with_any_seed(name):
    assert violations(name, 400) > 0


def test_mixtures_are_majorised_and_no_permutations():
    b, a, count = gain._mixtures(generator(1, "mixtures"), 300)
    assert np.allclose(a.sum(axis=1), b.sum(axis=1))
    sums = [np.cumsum(-np.sort(-x, axis=1), axis=1) for x in (a, b)]
    assert (sums[0] <= sums[1] * (1 + 1e-12)).all()
    assert (np.abs(np.sort(a, axis=1) - np.sort(b, axis=1)).max(axis=1) > 0).all()
    assert all((row[int(k) :] == 0).all() for row, k in zip(a, count, strict=True))


def test_a_strict_inequality_needs_more_than_rounding():
    slack = np.array([1e-14, 1e-3, -1e-3])
    assert list(tools.clearly(slack)) == [-1.0, 1e-3, -1.0]
