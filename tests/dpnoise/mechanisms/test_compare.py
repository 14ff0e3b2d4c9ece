"""`compare` and `best`: order, certificates, floor, bad input, and what is left out."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, LInf, Product, as_sensitivity
from dpnoise.mechanisms.compare import best, compare
from dpnoise.mechanisms.registry import METHODS

SETS = {
    "number": 1.0,
    "box of 10": LInf(1.0, of=10),
    "harmonic box": 1.0 / np.arange(1.0, 21.0),
    "l1": L1(1.0, of=6),
    "l2": L2(1.0, of=20),
    "counts": AtMost(3, of=12),
    "product": Product(L2(1.0, of=5), AtMost(1, of=7, each=2.0), Box((0.1, 0.0))),
}


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05])
@pytest.mark.parametrize("name", SETS)
def test_rows_are_certified_above_the_floor_and_best_first(name, delta):
    table = compare(SETS[name], epsilon=1.0, delta=delta, exhaustive=False)
    errors = [row.error for row in table]
    assert all(b >= a * (1.0 - 1e-4) for a, b in pairwise(errors))
    assert min(errors) >= errors[0] / (1.0 + 1e-4)
    for row in table:
        assert row.delta <= delta
        assert row.floor <= row.mean_variance * (1.0 + 1e-9)
        assert row.ratio == row.mean_variance / row.floor
        assert row.noise.rvs((2, 3), 1).shape == (2, 3, row.request.dimension)
        assert row.has_sampler
        assert row.reference
    found = best(SETS[name], epsilon=1.0, delta=delta)
    assert found.name == table[0].name
    assert found.left_out == table.left_out


def test_the_box_of_ten_needs_a_quarter_of_the_gaussian_s_variance():
    found = best(np.ones(10), epsilon=1.0, delta=1e-6)
    assert found.variance == pytest.approx(44.0, rel=1e-4)
    assert found.delta == 0.0  # a tie goes to the smaller delta
    table = compare(np.ones(10), epsilon=1.0, delta=1e-6, exhaustive=False)
    assert table["Gaussian"].variance == pytest.approx(178.479, rel=1e-5)


def test_an_exhaustive_search_leaves_nothing_out_and_is_never_worse():
    for ball in (1.0, Box((1.0, 0.2))):
        quick = best(ball, epsilon=1.0, delta=1e-3)
        table = compare(ball, epsilon=1.0, delta=1e-3)
        assert not table.left_out
        assert table[0].error <= quick.error * (1.0 + 1e-4)
        names = {row.name for row in table}
        assert {"flipped Huber", "truncated K-norm", "Gaussian", "Laplace"} <= names


def test_the_best_of_an_exhaustive_search_is_the_first_of_the_table():
    found = best(1.0, epsilon=1.0, delta=1e-3, exhaustive=True)
    assert not found.left_out
    assert found.name == compare(1.0, epsilon=1.0, delta=1e-3)[0].name


def test_errors_decide_the_order():
    ball = 1.0 / np.arange(1.0, 6.0)
    by = {
        error: compare(ball, epsilon=1.0, error=error, exhaustive=False)
        for error in ("variance", "mean-abs", "half-width")
    }
    # Laplace scales are allocated for the error that is asked for.
    assert by["mean-abs"]["Laplace"].mean_abs < by["variance"]["Laplace"].mean_abs
    assert by["mean-abs"]["Laplace"].std > by["variance"]["Laplace"].std
    assert by["half-width"]["Laplace"].error == by["half-width"]["Laplace"].half_width


def test_weights_count_in_error_and_floor():
    weights = [1.0, 0.0001]
    row = best([1.0, 10.0], epsilon=1.0, weights=weights)
    variances = row.variances
    assert row.mean_variance == pytest.approx(np.average(variances, weights=weights))
    assert 0.0 < row.floor <= row.mean_variance
    scaled = best([1.0, 10.0], epsilon=1.0, weights=[1e90, 1e86])
    assert scaled.mean_variance == pytest.approx(row.mean_variance, rel=1e-9)


def test_a_coordinate_that_cannot_change_is_released_as_it_is():
    row = best([0.0, 1.0, 0.0], epsilon=1.0, delta=1e-6)
    assert row.variances[[0, 2]].tolist() == [0.0, 0.0]
    assert np.all(row.noise.rvs(50, 2)[:, [0, 2]] == 0.0)
    alone = best(1.0, epsilon=1.0, delta=1e-6)
    assert row.mean_variance == pytest.approx(alone.mean_variance / 3.0, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-90, 1e-3, 1e90])
def test_sensitivities_of_any_size_scale(unit):
    plain = best([1.0, 0.5, 0.01], epsilon=1.0, delta=1e-6)
    scaled = best([unit, 0.5 * unit, 0.01 * unit], epsilon=1.0, delta=1e-6)
    assert scaled.name == plain.name
    assert scaled.std == pytest.approx(plain.std * unit, rel=1e-6)


@pytest.mark.parametrize("K", [1, 40, 2000])
def test_many_coordinates(K):
    row = best(LInf(1.0, of=K), epsilon=1.0, delta=1e-6)
    assert row.delta <= 1e-6
    assert row.floor <= row.mean_variance


def test_text_rows_and_plot():
    table = compare([1.0, 0.5], epsilon=1.0, delta=1e-6, exhaustive=False)
    text = str(table)
    assert all(row.name in text and row.reference in text for row in table)
    assert f"{table.floor:.4g}" in text
    assert "exhaustive=True" in text
    assert len(table) == len(list(table)) == len(table.rows)
    assert "<pre>" in table._repr_html_()
    assert table[0].name in repr(table[0])
    with pytest.raises(KeyError, match=r"expected one of .*Laplace"):
        table["nothing"]
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    table.plot(axes)
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == [r.name for r in table]


def test_names_are_unique():
    assert len({method.name for method in METHODS}) == len(METHODS)


def test_bad_input_is_refused_with_every_problem():
    with pytest.raises(ValueError, match=r"epsilon.*delta.*error.*weights") as caught:
        best([1.0, math.nan], epsilon=-1.0, delta=2.0, error="bias", weights="none")
    assert "lambdas" in str(caught.value)
    with pytest.raises(ValueError, match="one above 0"):
        compare(1.0, epsilon=0.0)
    with pytest.raises(ValueError, match="shape of weights"):
        compare([1.0, 2.0], epsilon=1.0, weights=[1.0])
    with pytest.raises(ValueError, match="dimension: expected at most 1e"):
        best(LInf(1.0, of=10**7), epsilon=1.0)
    with pytest.raises(ValueError, match="ratio"):
        best([1e-60, 1e60], epsilon=1.0)


def test_epsilon_zero_needs_delta_and_is_answered():
    table = compare(1.0, epsilon=0.0, delta=0.01, exhaustive=False)
    assert all(row.delta <= 0.01 for row in table)


def test_a_budget_out_of_all_reach_says_why_for_each_mechanism():
    with pytest.raises(RuntimeError, match="no mechanism reaches"):
        best(1.0, epsilon=1e-200)


@pytest.mark.parametrize("name", SETS)
def test_a_relation_changes_what_is_said_and_no_number(name):
    given = as_sensitivity(SETS[name])
    plain = best(given, epsilon=1.0, delta=1e-6)
    assert plain.relation is None
    assert plain.promise.startswith("relation between neighbouring data sets not stated, ")
    for relation in ("add-remove", "replace-one"):
        found = best(given.stating(relation), epsilon=1.0, delta=1e-6)
        assert found.sensitivity == given.stating(relation)
        assert (found.relation, found.epsilon) == (relation, 1.0)
        assert found.promise in repr(found)
        assert (found.name, found.delta, found.floor) == (plain.name, plain.delta, plain.floor)
        assert np.array_equal(found.variances, plain.variances)
        same = best(SETS[name], epsilon=1.0, delta=1e-6, relation=relation)
        assert same.promise == found.promise == given.stating(relation).promise(1.0, found.delta)


def test_a_table_states_the_budget_that_all_rows_keep():
    table = compare([1.0, 0.5], epsilon=1.0, delta=1e-6, relation="add-remove", exhaustive=False)
    change = "in 2 numbers, each by at most its own sensitivity (1 and 0.5)"
    assert table.promise == f"one person more or less, {change}: epsilon = 1, delta = 1e-06"
    assert f"promise: {table.promise}" in str(table).splitlines()
    with pytest.raises(ValueError, match="'replace-one' and 'add-remove'"):
        best(L1(1.0, relation="replace-one"), epsilon=1.0, relation="add-remove")
