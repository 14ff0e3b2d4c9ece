"""Which noise suits which error: the inequalities, and what each variant really spends."""

import numpy as np
import pytest

from descent_toys import MORE, SETTINGS, dataset
from dpnoise.allocation.allocate import allocate
from dpnoise_papers.inid_2024.figures.improved_descent import VARIANTS
from dpnoise_papers.inid_2024.tables.descent_search import make_task
from dpnoise_papers.inid_2024.tables.descent_variants import (
    VARIANTS_COLUMNS,
    WEIGHTS_COLUMNS,
    losses,
    spent,
    variants,
    weights_and_variants,
)

OWN = {"iid": -1.0, "optimal": 0.0, "spr": 1.0}  # the weights M^a for which a scheme is the best


@pytest.fixture(scope="module")
def task():
    return make_task(dataset(), SETTINGS, "raw")


@pytest.fixture(scope="module")
def tables():
    return weights_and_variants(SETTINGS, MORE, dataset())


@pytest.mark.parametrize(("scheme", "exponent"), OWN.items())
def test_each_scheme_loses_nothing_at_its_own_weights_alone(task, scheme, exponent):
    table = losses(task, MORE)
    curve = table[(table["part"] == "error") & (table["scheme"] == scheme)].set_index("exponent")
    assert curve["ratio"].idxmin() == exponent
    assert curve["ratio"].min() == pytest.approx(1.0, rel=1e-12)
    others = curve["ratio"].drop(exponent)
    assert (others > 1.0 + 1e-3).all()


@pytest.mark.parametrize("exponent", [-2.0, 0.5, 2.0])
@pytest.mark.parametrize("scheme", OWN)
def test_losses_are_those_of_the_noise_that_is_handed_out(task, scheme, exponent):
    M = task.problem.smoothness
    lambdas = task.problem.sensitivities(1.0) / M

    def loss(**how):
        sigmas = allocate(lambdas, epsilon=1.0, delta=task.delta, **how)
        return np.sum(M**exponent * sigmas**2)

    table = losses(task, MORE)
    row = table[
        (table["part"] == "error") & (table["scheme"] == scheme) & (table["exponent"] == exponent)
    ]
    ratio = loss(scheme=scheme) / loss(scheme="optimal", weights=M**exponent)
    assert row["ratio"].item() == pytest.approx(ratio, rel=1e-10)


def test_spr_beats_the_papers_optimum_exactly_for_clipping_between_constant_and_curvature(task):
    table = losses(task, MORE)
    clips = table[table["part"] == "clips"]
    curve = clips[clips["scheme"] == "optimal"].set_index("exponent")["ratio"]
    inside = (curve.index > 0) & (curve.index < 1)
    ends = curve.index.isin([0.0, 1.0])
    assert (curve[inside] > 1).all()
    assert np.allclose(curve[ends], 1.0, rtol=1e-12)
    assert (curve[~inside & ~ends] < 1).all()
    best = clips[clips["scheme"] == "weighted"].set_index("exponent")["ratio"]
    assert (best <= curve + 1e-12).all()
    assert best[0.5] == pytest.approx(1.0, rel=1e-12)
    assert (best.drop(0.5) < 1).all()


def test_three_variants_and_the_looser_account_keep_the_budget(task):
    kept = variants(task, 1.0, 5)
    assert set(kept) == set(VARIANTS)
    for name in ("spr", "optimal", "optimal-on-gradient"):
        assert spent(kept[name], 0.3, 5, task.delta) == pytest.approx(1.0, rel=1e-8)
    assert spent(kept["spr-concentrated"], 0.3, 5, task.delta) < 1.0
    for name in ("spr-half", "optimal-half", "spr-each-alone", "optimal-one-pass"):
        assert spent(kept[name], 0.3, 5, task.delta) > 1.5


@pytest.mark.parametrize("tau", [0.2, 3.0])
def test_misplaced_noise_is_what_its_name_says(task, tau):
    problem = task.problem
    tau_i = tau / problem.smoothness
    budget = {"epsilon": 1.0, "delta": task.delta, "compositions": 5}
    alone = allocate(problem.sensitivities(1.0), **budget)  # of the gradient
    stepped = allocate(tau_i * problem.sensitivities(1.0), **budget)
    after = {
        "optimal": stepped,
        "optimal-on-gradient": tau_i * alone,
        "optimal-step-twice": tau_i * stepped,
        "optimal-step-never": alone,
    }
    found = variants(task, 1.0, 5)
    for name, sigma in after.items():
        ratios = found[name].ratios * tau ** found[name].power
        assert np.allclose(ratios, sigma / (tau_i * problem.sensitivities(1.0)), rtol=1e-12)


def test_the_tables_have_every_row_and_agree(tables, task):
    weights, table = tables
    assert list(weights.columns) == WEIGHTS_COLUMNS
    assert list(table.columns) == VARIANTS_COLUMNS
    assert table["reading"].tolist() == list(variants(task, 1.0, 3))
    measured = weights[weights["part"] == "measured"].set_index("exponent")
    assert tuple(measured.index) == MORE.measured
    rows = table.set_index("reading")
    assert measured.loc[1.0, "error"] == rows.loc["spr", "error"]
    assert measured.loc[0.0, "error"] == rows.loc["optimal", "error"]
    assert rows.loc["spr", ["gain", "gain_se"]].tolist() == [0, 0]
    assert np.allclose(rows["gain"], rows.loc["spr", "error"] - rows["error"], rtol=1e-9)
    assert rows.loc[["spr", "optimal", "optimal-on-gradient"], "private"].tolist() == [1, 1, 1]
    assert rows.loc[["spr-half", "optimal-one-pass"], "private"].tolist() == [0, 0]
    assert (rows["luckiest"] <= rows["flattered"]).all()


def test_the_loss_of_measured_noise_is_the_ratio_of_theory(tables, task):
    weights, _ = tables
    M = task.problem.smoothness
    measured = weights[weights["part"] == "measured"].set_index("exponent")["ratio"]
    for exponent in MORE.measured:
        power = M ** ((1.0 - exponent) / 2.0)
        assert measured[exponent] == pytest.approx(np.sum(power) * np.sum(1 / power) / 9, rel=1e-9)


def test_the_tables_do_not_depend_on_the_threads(tables):
    again = weights_and_variants(SETTINGS, MORE, dataset(), threads=3)
    for first, second in zip(tables, again, strict=True):
        assert first.equals(second)


def test_without_data_both_tables_have_their_columns():
    weights, table = weights_and_variants(SETTINGS, MORE, None)
    assert (list(weights.columns), list(table.columns)) == (WEIGHTS_COLUMNS, VARIANTS_COLUMNS)
