"""`compare` and `best`: order, certificates, floor, bad input, and what is left out."""

import math
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Budget,
    Counts,
    DiscreteStaircase,
    LInf,
    Product,
    as_sensitivity,
    calibrate,
    certify,
)
from dpnoise.mechanisms.compare import best, compare
from dpnoise.mechanisms.methods import METHOD_FAMILIES, METHODS
from for_all import thinned

SETS = {
    "number": 1.0,
    "box of 10": LInf(1.0, of=10),
    "harmonic box": 1.0 / np.arange(1.0, 21.0),
    "l1": L1(1.0, of=6),
    "l2": L2(1.0, of=20),
    "counts": AtMost(3, of=12),
    "product": Product(L2(1.0, of=5), AtMost(1, of=7, each=2.0), Box((0.1, 0.0))),
}


SOME = "number", "counts", "product"


@pytest.mark.parametrize(
    ("name", "delta"),
    [*((name, delta) for name in SETS for delta in (0.0, 1e-6)), ("product", 0.05)],
)
def test_rows_are_certified_above_the_floor_and_best_first(name, delta):
    table = compare(SETS[name], epsilon=1.0, delta=delta, exhaustive=False)
    errors = [row.error for row in table]
    assert all(b >= a * (1.0 - 1e-4) for a, b in pairwise(errors))
    assert min(errors) >= errors[0] / (1.0 + 1e-4)
    for row in table:
        assert row.delta <= delta
        assert row.floor <= row.variance * (1.0 + 1e-9)
        assert row.ratio == row.variance / row.floor
        assert row.noise.rvs((2, 3), 1).shape == (2, 3, row.request.dimension)
        assert row.reference
    found = best(SETS[name], epsilon=1.0, delta=delta)
    assert found.name == table[0].name
    assert found.left_out == table.left_out


def everything(K, **asked):
    """Return the table of one number or of ten (of docs/best.md), all families or one."""
    delta = 1e-3 if K == 1 else 1e-6
    return compare(np.ones(K), epsilon=1.0, delta=delta, relation="replace-one", **asked)


def test_the_best_of_an_exhaustive_search_is_the_first_of_the_table():
    found = best(1.0, epsilon=1.0, delta=1e-3, exhaustive=True)
    assert not found.left_out
    assert found.name == everything(1)[0].name


@pytest.mark.parametrize("name", ["harmonic box", "l2", "product"])
def test_an_error_is_the_mean_of_its_coordinates(name):
    K = as_sensitivity(SETS[name]).dimension
    weights = np.linspace(1.0, 3.0, K)
    for row in compare(SETS[name], epsilon=1.0, delta=1e-6, weights=weights, exhaustive=False):
        for error in ("variance", "mean_abs", "half_width", "std"):
            assert isinstance(getattr(row, error), float)
        means = {
            row.variance: row.variances,
            row.std**2: row.stds**2,
            row.mean_abs: row.mean_abs_values,
            row.half_width: row.half_widths,
        }
        for mean, values in means.items():
            assert values.shape == (K,)
            assert mean == pytest.approx(np.average(values, weights=weights), rel=1e-12)
        np.testing.assert_array_equal(row.variances, row.noise.var())
        assert np.all(row.mean_abs_values <= row.stds * (1.0 + 1e-12))  # Jensen


@pytest.mark.parametrize("name", thinned(SOME))
def test_what_is_asked_twice_is_equal(name, asked_once):
    table = compare(SETS[name], epsilon=1.0, delta=1e-6, exhaustive=False)
    with patch.dict(asked_once.__self__, clear=True):  # what is known
        assert table == compare(SETS[name], epsilon=1.0, delta=1e-6, exhaustive=False)
    found = best(SETS[name], epsilon=1.0, delta=1e-6)
    assert found == table[0]
    assert len({found, *table}) == len(table)
    assert all(one != other for one, other in pairwise(table))
    others = [
        best(SETS[name], epsilon=1.0, delta=2e-6),
        best(SETS[name], epsilon=1.0, delta=1e-6, relation="add-remove"),
        best(SETS[name], epsilon=1.0, delta=1e-6, error="mean-abs"),
    ]
    assert all(found != other for other in others)
    assert found != 1.0


def test_a_data_frame_has_the_rows():
    table = compare([1.0, 0.5], epsilon=1.0, delta=1e-6, exhaustive=False)
    frame = table.to_frame()
    assert frame.index.tolist() == [row.name for row in table]
    for name in frame.columns:
        assert frame[name].tolist() == [getattr(row, name) for row in table]
    assert table[1].to_frame().equals(frame.iloc[1:2])


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
    assert row.variance == pytest.approx(np.average(variances, weights=weights))
    assert 0.0 < row.floor <= row.variance
    scaled = best([1.0, 10.0], epsilon=1.0, weights=[1e90, 1e86])
    assert scaled.variance == pytest.approx(row.variance, rel=1e-9)


def test_a_coordinate_that_cannot_change_is_released_as_it_is():
    row = best([0.0, 1.0, 0.0], epsilon=1.0, delta=1e-6)
    assert row.variances[[0, 2]].tolist() == [0.0, 0.0]
    assert np.all(row.noise.rvs(50, 2)[:, [0, 2]] == 0.0)
    alone = best(1.0, epsilon=1.0, delta=1e-6)
    assert row.variance == pytest.approx(alone.variance / 3.0, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-90, 1e-3, 1e90])
def test_sensitivities_of_any_size_scale(unit):
    plain = best([1.0, 0.5, 0.01], epsilon=1.0, delta=1e-6)
    scaled = best([unit, 0.5 * unit, 0.01 * unit], epsilon=1.0, delta=1e-6)
    assert scaled.name == plain.name
    assert scaled.std == pytest.approx(plain.std * unit, rel=1e-6)


def test_text_and_rows():
    table = compare([1.0, 0.5], epsilon=1.0, delta=1e-6, exhaustive=False)
    text = str(table)
    assert all(row.name in text and row.reference in text for row in table)
    assert f"{table.floor:.4g}" in text
    assert "exhaustive=True" in text
    assert len(table) == len(list(table)) == len(table.rows)
    assert repr(table) == text
    assert table[0].name in repr(table[0])
    assert table._repr_html_().count("<tr>") == len(table) + 1
    assert "<b>" not in replace(table[0], name="<b>")._repr_html_()
    with pytest.raises(KeyError, match=r"expected one of .*Laplace"):
        table["nothing"]
    largest = compare(LInf(1.0, of=2), epsilon=1.0, error="max", exhaustive=False)
    assert "largest" in repr(largest).splitlines()[1]
    assert "the first row is optimal" in repr(largest)
    assert list(largest.to_frame()["mean_largest"]) == [row.mean_largest for row in largest]


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


@pytest.mark.parametrize("name", SOME)
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


# Products, counts, ellipsoids or workloads; tests/dpnoise/test_front.py, releases/test_linear.py.
ELSEWHERE = {"blocks", "correlated-gaussian", "cells"}


@pytest.mark.parametrize("family", [name for name in METHOD_FAMILIES if name not in ELSEWHERE])
def test_one_family_is_what_the_table_has_of_it(family):
    names = {method.name for method in METHODS if method.family == family}
    K = 1 if family == "subbotin" else 10  # of one coordinate only
    table = everything(K, family=family)
    assert list(table) == [row for row in everything(K) if row.name in names]
    request = table.request
    asked = {"epsilon": 1.0, "delta": request.delta, "family": family}
    assert best(request.sensitivity, **asked) == table[0]


def test_a_family_that_does_not_apply_or_exist_says_so():
    with pytest.raises(RuntimeError, match="gaussian does not apply to this set and budget"):
        best(1.0, epsilon=1.0, family="gaussian")
    with pytest.raises(
        ValueError, match=r"family: expected None or one of .*laplace.*got 'cauchy'"
    ):
        best(1.0, epsilon=1.0, family="cauchy")
    with pytest.raises(ValueError, match=r"epsilon: .*family: .*got \['laplace'\]"):
        compare(1.0, epsilon=-1.0, family=["laplace"])


# --- true differences -----------------------------------------------------------------------------

GROUPS = {1: (1.8413, 1.9181), 2: (0.3620, 0.4227), 3: (0.1103, 0.1527), 5: (0.01366, 0.0297)}


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize("epsilon", GROUPS)
def test_people_in_one_of_twenty_groups_have_the_noise_of_one_number(epsilon, exhaustive):
    for whole, least in zip((True, False), GROUPS[epsilon], strict=True):
        ball = Counts(1, of=20, whole=whole, relation="add-remove")
        found = best(ball, epsilon=epsilon, exhaustive=exhaustive)
        assert found.variance == pytest.approx(least, rel=3e-4, abs=6e-5)
        assert found.whole is whole
        assert found.delta == 0.0
        assert found.optimal
        assert best(ball, epsilon=epsilon, error="mean-abs").optimal
    many = best(Counts(1, of=500, relation="add-remove"), epsilon=epsilon)
    assert many.variance == pytest.approx(GROUPS[epsilon][0], rel=3e-4, abs=6e-5)


def test_changes_by_up_to_five_have_steps_as_wide():
    found = best(Counts(1, of=20, each=5, relation="add-remove"), epsilon=3.0)
    assert (found.name, round(found.variance, 2)) == ("discrete staircase", 3.77)
    spent = Budget(10.0, relation="add-remove")
    spent.spend(found)
    assert spent.epsilon_of(0.0) == pytest.approx(3.0)
    least = best(Counts(1, of=9, each=5, relation="add-remove"), epsilon=3.0, error="mean-abs")
    assert least.mean_abs < 1.122 < DiscreteStaircase(3.0, 5, found.noise.noises[0].r).mean_abs()


def test_delta_is_composed_over_the_coordinates_that_move():
    ball = Counts(2, of=30, whole=False, relation="add-remove")
    budget = {"epsilon": 1.0, "delta": 1e-2}
    for family in ("flipped-huber", "truncated-laplace"):
        row = best(ball, **budget, family=family)
        assert row.noise.unit == calibrate(family, **budget, dimension=2).noise
    # One coordinate moves: as one number, whatever K; two people who replace each other: two.
    for relation, dimension in (("add-remove", 1), ("replace-one", 2)):
        one = Counts(1, of=30, whole=False, relation=relation)
        row = best(one, **budget, family="truncated-laplace")
        assert row.noise.unit == calibrate("truncated-laplace", **budget, dimension=dimension).noise


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("epsilon", "delta"), thinned([(8.0, 0.0), (1.0, 1e-3)]))
def test_noise_by_coordinate_is_certified_and_charged(epsilon, delta, relation):
    blocks = Counts(1, of=5, relation=relation), Counts(2, of=4, each=3, relation=relation)
    for ball in (*(blocks if delta == 0.0 else ()), Product(*blocks)):
        for row in compare(ball, epsilon=epsilon, delta=delta, exhaustive=False):
            assert certify(row).upper <= delta
            budget = Budget(2.0 * epsilon, 0.5, relation=relation)
            budget.spend(row)
            assert budget.epsilon_of(delta) <= epsilon * (1.0 + 1e-9)


def test_blocks_of_different_sizes_have_the_best_shares_of_epsilon():
    small, large = (
        Counts(m, of=4, each=c, whole=False, relation="add-remove") for m, c in ((1, 1.0), (2, 9.0))
    )
    for epsilon in (1.0, 12.0):
        found = compare(Product(small, large), epsilon=epsilon, exhaustive=False)
        ways = np.linspace(0.01, 0.99, 99) * epsilon
        pairs = [
            best(small, epsilon=e, family="staircase").variance
            + best(large, epsilon=epsilon - e, family="staircase").variance
            for e in ways
        ]
        assert 2.0 * found["staircase per coordinate"].variance <= min(pairs) * (1.0 + 1e-3)


def test_whole_shares_get_whole_numbers_where_that_costs_little():
    ball = Counts(3, of=12, relation="add-remove")
    found, real = best(ball, epsilon=1.0), best(ball, epsilon=1.0, integer=False)
    assert found.whole
    assert not real.whole
    assert real.variance < found.variance <= 1.01 * real.variance
    assert found.noise.rvs(random_state=1).dtype == np.int64
    assert not best(ball, epsilon=1.0, exhaustive=True).whole  # the least, whole or not
    assert not best(ball, epsilon=3.0).whole  # rounding costs 5 %
    assert best(ball, epsilon=3.0, integer=True).whole
    table = compare(ball, epsilon=9.0, exhaustive=False)
    assert table[0].whole
    assert {row.whole for row in table} == {True, False}
    assert {row.whole for row in compare(ball, epsilon=1.0, integer=True)} == {True}
    for other in (AtMost(3, of=12), Counts(3, of=12, whole=False, relation="add-remove")):
        assert not best(other, epsilon=9.0).whole
    large = Counts(1, of=3, each=2.0**40, relation="add-remove")  # no account on the integers
    assert not best(large, epsilon=1.0).whole
