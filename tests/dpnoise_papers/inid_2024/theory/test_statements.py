"""Theory of inid-2024: true statements hold, false ones are caught."""

import numpy as np
import pytest

from dpnoise_papers.checks import integrate
from dpnoise_papers.inid_2024.settings import Theory
from dpnoise_papers.inid_2024.theory import dispersion, gain, optimum, privacy
from dpnoise_papers.inid_2024.theory.statements import CHECKS, inid_theory
from dpnoise_papers.inid_2024.theory.tools import draw
from dpnoise_papers.seeds import generator

RUN = {check.id: check.run for check in CHECKS}
FALSE = {
    "section-ii-norms-printed",
    "theorem-9-proof",
    "corollary-6-dropped",
    "corollary-6-rearranged",
    "theorem-4-gradient",
    "algorithm-1-input",
    "section-iv-coupled",
    "theorem-7-gaussian",
    "theorem-7-laplace",
    "remark-4",
    "section-iv-a-laplace",
    "section-iv-a-each",
    "section-iv-a-laplace-each",
    "section-v-gini",
    "footnote-7",
    "section-v-4-staircase",
}


@pytest.fixture(scope="module")
def table():
    return inid_theory(Theory(seed=7, trials=200))


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


def scaled(by):
    def allocate(sensitivities, **settings):
        return by(_allocate(sensitivities, **settings))

    return allocate


_allocate = optimum.allocate


@pytest.mark.parametrize(
    ("place", "name", "wrong", "rows"),
    [
        (optimum, "allocate", scaled(lambda s: 1.01 * s),
         {"theorem-4", "theorem-4-p", "theorem-5", "table-1", "section-iv-b"}),
        (optimum, "allocate", scaled(lambda s: 0.99 * s), {"section-vi-c-layers"}),
        (optimum, "integrate", lambda f, edges, parts: 1.01 * integrate(f, edges, parts),
         {"moments"}),
        (privacy, "allocate", scaled(lambda s: 0.99 * s), {"remark-3-enough"}),
        (privacy, "allocate", scaled(lambda s: 1.01 * s), {"remark-3-needed"}),
        (privacy, "gaussian_log_delta", lambda mu, e: np.log(mu / 9) - e,
         {"lemma-3", "lemma-11-slope"}),
        (privacy, "valid_bracket", lambda e, d: (0.0 * e, 0.5 + 0.0 * d),
         {"algorithm-1-input-corrected"}),
        (gain, "evenness", lambda x, k: 1.2 * x.sum(axis=1) / (k * x.max(axis=1)),
         {"theorem-7-corrected", "theorem-7-uninformed", "footnote-7-corrected"}),
        (gain, "evenness", lambda x, _: 0.0 * x.sum(axis=1), {"section-iv-a-laplace-free"}),
        (gain, "draw", lambda rng, n: (draw(rng, n)[0], np.full(n, 1.0)),
         {"section-iv-a-bounds"}),
        (gain, "laplace_ratio", lambda x, _: 1e-9 + 0.0 * x.sum(axis=1),
         {"section-iv-range", "remark-4-corrected"}),
        (dispersion, "gini", lambda x: 1.0 - x.max() / x.sum(), {"section-v-gini-2"}),
    ],
)  # fmt: skip
def test_a_wrong_formula_is_caught(monkeypatch, place, name, wrong, rows):
    monkeypatch.setattr(place, name, wrong)
    for row in rows:
        assert violations(row, 4 if place is optimum else 40) > 0, row


@pytest.mark.parametrize("name", sorted(FALSE))
def test_false_statements_fail_with_any_seed(name):
    assert violations(name, 400) > 0


def test_transfers_make_profiles_that_are_majorised():
    b, a, _ = dispersion._transfers(generator(1, "transfers"), 300)
    assert np.allclose(a.sum(axis=1), b.sum(axis=1))
    sums = [np.cumsum(-np.sort(-x, axis=1), axis=1) for x in (a, b)]
    assert (sums[0] <= sums[1] * (1 + 1e-12)).all()
    assert (np.abs(np.sort(a, axis=1) - np.sort(b, axis=1)).max(axis=1) > 0).all()
