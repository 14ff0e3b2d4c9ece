"""Helpers of `release`: sensitivities, exact sums, intervals, entries and mistakes."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from dpnoise import (
    Budget,
    BudgetExceededError,
    DiscreteLaplace,
    Laplace,
    best,
    privacy_profile,
    release,
    vector_profile,
)
from dpnoise.releases.aggregates import _exact_sum
from exact_release import seeded
from for_all import for_all

WHO = {"relation": "replace-one"}
ALONE = {"epsilon": 1.0}
ONE = {**ALONE, **WHO}


@for_all("delta", [0.0, 1e-6])
@for_all("contribution", [1, 4])
def test_a_count_keeps_its_budget_and_its_interval(delta, contribution):
    found = release.count(100, delta=delta, contribution=contribution, **ONE)
    assert privacy_profile(found.noise, contribution, 1.0) <= delta + 1e-10
    half = found.value - found.interval95[0]
    assert found.noise.cdf(half) - found.noise.cdf(-half - 1) >= 0.95
    assert release.count([True, False], **ONE).noise == release.count(1, **ONE).noise


@for_all(("relation", "moved"), [("replace-one", 2), ("add-remove", 1)])
@for_all("delta", [0.0, 1e-6])
def test_a_histogram_pays_for_the_cells_that_one_record_moves(relation, moved, delta):
    values = [0.5, 1.5, 1.7, 9.0, np.nan]
    found = release.histogram(values, edges=[0, 1, 2, 3], relation=relation, delta=delta, **ALONE)
    assert found.value.shape == (3,)
    assert vector_profile(found.noise, 1, 1.0, copies=moved).upper <= delta + 1e-10
    if moved == 1:
        asked = {"relation": relation, "delta": delta, **ALONE}
        assert release.histogram(["a", "c"], categories="ab", **asked).noise == found.noise


def test_counts_of_cells_are_those_of_the_records():
    found = seeded(1).histogram(np.repeat([0.5, 2.0], 1000), edges=[0, 1, 2], epsilon=50.0, **WHO)
    np.testing.assert_allclose(found.value, [1000, 1000], atol=3)


@for_all("relation", ["replace-one", "add-remove"])
@for_all("delta", [0.0, 1e-6])
def test_a_sum_keeps_its_budget(relation, delta):
    found = release.sum([1.0, 2.5, 99.0], bounds=(-1, 3), relation=relation, delta=delta, **ALONE)
    size = 4.0 if relation == "replace-one" else 3.0
    assert found.entry.sensitivity == size
    assert privacy_profile(found.noise, size, 1.0) <= delta + 1e-10


def test_a_sum_does_not_depend_on_the_order():
    """0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in doubles; neighbours differ by the bound."""
    values = np.random.default_rng(3).uniform(-1e8, 1e8, 5000)
    steps = np.rint(values * 2.0**20)
    assert _exact_sum(steps) == sum(map(int, steps))
    runs = [seeded(7).sum(v, bounds=(-1e8, 1e8), **ONE).value for v in (values, np.sort(values))]
    assert runs[0] == runs[1]


def test_a_mean_is_the_exact_one_and_its_sensitivity_is_rounded_up():
    found = seeded(2).mean(np.full(3, 0.1), bounds=(0.0, 1.0), **ONE)
    assert Fraction(found.entry.sensitivity) >= Fraction(1, 3)
    draws = [seeded(k).mean([0.25] * 1000, bounds=(0, 1), **ONE) for k in range(40)]
    assert np.mean([d.value for d in draws]) == pytest.approx(0.25, abs=1e-3)
    inside = [d.interval95[0] <= 0.25 <= d.interval95[1] for d in draws]
    assert sum(inside) >= 33


def test_a_narrow_sum_far_from_zero_is_not_cut_off():
    """Beyond 2^62 steps of the grid, and where doubles are wider apart than these."""
    found = seeded(3).sum([1e15] * 1000, bounds=(1e15, 1e15 + 0.125), **ONE)
    low, high = map(Fraction, found.interval95)
    assert low < 10**18 < high
    assert high - low >= 4 * Fraction(np.spacing(found.value))


def test_one_record_does_not_change_how_others_are_read():
    """As one array, 1 and "x" would be the texts "1" and "x": all counts would fall to 0."""
    budget = {"categories": [1, 2], "epsilon": 50.0, **WHO}
    for other in ("x", None, [1], (1, [2]), 1.5, np.nan):
        found = seeded(1).histogram([1] * 1000 + [2**53 + 1, other], **budget)
        np.testing.assert_allclose(found.value, [1000, 0], atol=3)
    found = seeded(1).histogram(
        [2**53 + 1] * 9 + [1.5], categories=[2**53 + 1], epsilon=50.0, **WHO
    )
    assert found.value[0] == pytest.approx(9, abs=3)


def test_a_quantile_has_the_probabilities_of_the_exponential_mechanism():
    """One record at 0.5, q = 0: points above it miss the rank by 1, those up to it by 0."""
    draws = [
        seeded(k).quantile([0.5], 0.0, bounds=(0, 1), epsilon=2.0, **WHO).value for k in range(200)
    ]
    low = 1.0 / (1.0 + np.exp(-1.0))
    hits = sum(value <= 0.5 for value in draws)
    assert stats.binomtest(hits, 200, low).pvalue > 1e-4
    values = np.linspace(0.0, 10.0, 1001)
    median = seeded(5).quantile(values, 0.5, bounds=(0, 10), **ONE)
    assert median.value == pytest.approx(5.0, abs=0.5)
    assert median.entry.epsilon == 1.0


def test_releases_are_charged_before_they_are_drawn():
    budget = Budget(epsilon=4.0)
    release.count(3, budget=budget, **ONE)
    release.histogram([1, 2], categories=[1, 2], budget=budget, **ONE)
    release.quantile([1.0], 0.5, bounds=(0, 2), budget=budget, **ONE)
    release.mean([1.0], bounds=(0, 2), budget=budget, **ONE)
    assert budget.epsilon_of() == pytest.approx(4.0, abs=1e-6)
    with pytest.raises(BudgetExceededError):
        release.count(3, budget=budget, **ONE)


@for_all(
    ("call", "message"),
    [
        (lambda: release.count(-1, **ONE), "records"),
        (lambda: release.count([1, 0], **ONE), "an array of bools"),
        (lambda: release.count(1, epsilon=-1, contribution=0, **WHO), r"epsilon.*contribution"),
        (lambda: release.count(1, relation="other", **ALONE), "relation"),
        (lambda: release.count(1, budget=Budget(1.0, relation="add-remove"), **ONE), "replace_one"),
        (lambda: release.count(2**62 + 1, **ONE), "from 0 to 2"),
        (lambda: release.count(np.ones((2, 2), dtype=bool), **ONE), "one axis"),
        (lambda: release.histogram([[1, 1]], edges=[0, 2], **ONE), "one axis"),
        (lambda: release.histogram(np.ones((2, 2)), categories=[1], **ONE), "one axis"),
        (lambda: release.histogram(["a"], edges=[0, 2], **ONE), "values: expected numbers"),
        (lambda: release.histogram([1], **ONE), "one of them"),
        (lambda: release.histogram([1], edges=[1, 1], **ONE), "rising"),
        (lambda: release.histogram([1], categories=["a", "a"], **ONE), "each once"),
        (lambda: release.sum([np.nan], bounds=(1, 0), **ONE), r"bounds.*missing"),
        (lambda: release.sum(["a"], bounds=(0, 1), **ONE), "values"),
        (lambda: release.sum([1.0], bounds=3, **ONE), "two numbers"),
        (
            lambda: release.mean([1.0], bounds=(0, 1), relation="add-remove", **ALONE),
            "sum and count",
        ),
        (lambda: release.mean([], bounds=(0, 1), **ONE), "at least one"),
        (lambda: release.quantile([1.0], 2, bounds=(0, 1), **ONE), "q: expected"),
    ],
)
def test_mistakes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


RECORDS = {
    "count": lambda **asked: release.count(3, contribution=2, **asked),
    "histogram": lambda **asked: release.histogram([1, 2], categories=[1, 2, 3], **asked),
    "sum": lambda **asked: release.sum([1.0], bounds=(-1, 3), **asked),
    "quantile": lambda **asked: release.quantile([1.0], 0.5, bounds=(0, 2), **asked),
}
SAID = {
    ("count", "add-remove"): "in one count, by at most 2",
    ("count", "replace-one"): "in one count, by at most 2",
    ("histogram", "add-remove"): "in at most 1 of 3 counts, each by at most 1",
    ("histogram", "replace-one"): "in at most 2 of 3 counts, each by at most 1",
    ("sum", "add-remove"): "in one number, by at most 3",
    ("sum", "replace-one"): "in one number, by at most 4",
    ("quantile", "add-remove"): "in one record",
    ("quantile", "replace-one"): "in one record",
}


@for_all(("name", "relation"), SAID)
def test_a_release_says_what_it_promises_and_is_charged_for_it(name, relation):
    found = RECORDS[name](relation=relation, **ALONE)
    who = (
        "one person more or less" if relation == "add-remove" else "one person replaced by another"
    )
    assert found.promise == f"{who}, {SAID[name, relation]}: epsilon = 1, delta = 0"
    budget = Budget(2.0)
    found.entry.spend(budget)
    assert (budget.relation, budget.epsilon_of()) == (relation, pytest.approx(1.0))
    again = RECORDS[name](budget=budget, **ALONE)  # which states it
    assert again.promise == found.promise


@for_all("name", RECORDS)
def test_no_relation_is_assumed(name):
    for asked in ({}, {"budget": Budget(1.0)}):
        with pytest.raises(
            ValueError, match=r"relation: expected .*of the Budget or as relation=, got None"
        ):
            RECORDS[name](**asked, **ALONE)


HIDDEN = 987654  # below the mask
MASKED = np.ma.array([1, HIDDEN, 2], mask=[False, True, False])


@for_all("values", [MASKED, list(MASKED), [MASKED], MASKED.astype(object)])
@for_all(
    "helper",
    [
        lambda values: release(values, Laplace(1e-9)),
        lambda values: release(values, DiscreteLaplace(0.01)),
        lambda values: release.count(values, **ONE),
        lambda values: release.histogram(values, edges=[0, 3, 10**6], **ONE),
        lambda values: release.histogram(values, categories=[1, 2, HIDDEN], **ONE),
        lambda values: release.sum(values, bounds=(0, 10**6), **ONE),
        lambda values: release.mean(values, bounds=(0, 10**6), **ONE),
        lambda values: release.quantile(values, 0.5, bounds=(0, 10**6), **ONE),
    ],
)
def test_no_value_below_a_mask_is_released_or_shown(helper, values):
    with pytest.raises(ValueError, match="a masked array") as refused:
        helper(values)
    assert str(HIDDEN) not in str(refused.value)


def test_a_series_keeps_index_and_name():
    given = pd.Series([5, 7, 9], index=["x", "y", "z"], name="visits")
    for noise in (DiscreteLaplace(2.0), Laplace(2.0), best([1, 1, 1], epsilon=1.0).noise):
        found = release(given, noise)
        assert isinstance(found, pd.Series)
        assert found.name == "visits"
        assert found.index.equals(given.index)
    frame = pd.DataFrame([[1.0, 2.0]], index=["day"], columns=["a", "b"])
    assert release(frame, Laplace(1.0)).columns.tolist() == ["a", "b"]
    tiny = seeded(1)(given, DiscreteLaplace(0.05))  # P(noise = 0) = 1 - 4e-9
    assert tiny.equals(given)


def test_a_histogram_says_which_cell_is_which():
    given = pd.Series(["a", "c", "c"], name="colour", index=[3, 1, 2])
    sure = {"epsilon": 60.0, **WHO}
    by_label = seeded(1).histogram(given, categories=iter(["c", "b", "a"]), **sure)
    assert by_label.categories == ("c", "b", "a")
    assert by_label.edges is None
    assert by_label.value.to_dict() == {"c": 2, "b": 0, "a": 1}
    assert by_label.value.name == by_label.value.index.name == "colour"
    assert by_label.interval95[0].index.equals(by_label.value.index)
    plain = seeded(1).histogram(given.tolist(), categories=["c", "b", "a"], **sure)
    assert plain.value.tolist() == [2, 0, 1]
    assert isinstance(plain.value, np.ndarray)
    ages = pd.Series([1.0, 9.0, 10.0, 2.0])
    by_edge = seeded(1).histogram(ages, edges=[0, 5, 10], **sure)
    assert by_edge.edges.tolist() == [0.0, 5.0, 10.0]
    assert by_edge.value.to_dict() == {pd.Interval(0, 5, "left"): 2, pd.Interval(5, 10, "left"): 2}
    pairs = [("a", 1), ("b", 2)]
    by_pair = seeded(1).histogram(pd.Series([pairs[0]]), categories=pairs, **sure)
    assert by_pair.value.index.tolist() == by_pair.to_frame().index.tolist() == pairs


def test_answers_compare_by_value():
    found = [seeded(4).histogram([1.0, 2.0], edges=[0, 1, 3], **ONE) for _ in range(2)]
    assert found[0] == found[1]
    assert len(set(found)) == 1
    assert found[0] != seeded(4).histogram([1.0, 2.0], edges=[0, 2, 3], **ONE)
    series = [seeded(4).histogram(pd.Series([1.0]), edges=[0, 1, 3], **ONE) for _ in range(2)]
    assert series[0] == series[1]
    assert series[0] != found[0]
    assert seeded(4).count(3, **ONE) != seeded(4).count(3, epsilon=2.0, **WHO)
    assert seeded(4).quantile([1.0], 0.5, bounds=(0, 1), **ONE) != found[0]


def test_answers_as_frame_html_and_picture():
    found = seeded(4).histogram([1.0, 2.0], edges=[0, 1.5, 3], **ONE)
    frame = found.to_frame()
    assert frame.index.tolist() == ["[0, 1.5)", "[1.5, 3]"]
    assert frame["value"].tolist() == found.value.tolist()
    assert frame["high"].tolist() == found.interval95[1].tolist()
    for answer in (found, release.count(3, **ONE), release.sum([1.0], bounds=(0, 1), **ONE)):
        assert answer.promise in answer._repr_html_()
        assert len(answer.to_frame()) == np.size(answer.value)
        axes = Figure().subplots()
        assert answer.plot(axes) is axes
        assert len(axes.get_xticklabels()) == np.size(answer.value)
    middle = release.quantile([1.0], 0.5, bounds=(0, 1), **ONE)
    assert middle.to_frame().columns.tolist() == ["value"]
    assert len(middle.plot(Figure().subplots()).containers) == 1
    labels = release.histogram(["a"], categories=["a", "<b>"], **ONE)
    assert "&lt;b&gt;" in labels._repr_html_()
