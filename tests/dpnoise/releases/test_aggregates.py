"""Helpers of `release`: sensitivities, exact sums, intervals, entries and mistakes."""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpnoise import (
    Budget,
    BudgetExceededError,
    DiscreteLaplace,
    Laplace,
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
        (lambda: release.count(1.0, **ONE), "records"),
        (lambda: release.count(np.array([1, 0]), **ONE), "type of records: .*bools"),
        (lambda: release.count(1, epsilon=-1, contribution=0, **WHO), r"epsilon.*contribution"),
        (lambda: release.count(1, relation="other", **ALONE), "relation"),
        (lambda: release.count(1, budget=Budget(1.0, relation="add-remove"), **ONE), "replace_one"),
        (lambda: release.count(np.ones((2, 2), dtype=bool), **ONE), "one axis"),
        (lambda: release.histogram(np.ones((1, 2)), edges=[0, 2], **ONE), "one axis"),
        (lambda: release.histogram(np.ones((2, 2)), categories=[1], **ONE), "one axis"),
        (lambda: release.histogram(np.array(["a"]), edges=[0, 2], **ONE), "type of values"),
        (lambda: release.histogram([1], edges="ab", **ONE), "edges: expected finite numbers"),
        (lambda: release.histogram([1], categories=5, **ONE), "categories: expected at least one"),
        (lambda: release.histogram(5, categories=[5], **ONE), "values: .*one axis, got int"),
        (lambda: release.histogram([1], **ONE), "one of them"),
        (lambda: release.histogram([1], edges=[1, 1], **ONE), "rising"),
        (lambda: release.histogram([1], categories=["a", "a"], **ONE), "each once"),
        (lambda: release.sum(np.ones(2) * 1j, bounds=(1, 0), **ONE), r"bounds.*type of values"),
        (lambda: release.sum("a", bounds=(0, 1), **ONE), "values: .*one axis, got str"),
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
    ("sum", "add-remove"): "in one sum, by at most 3",
    ("sum", "replace-one"): "in one sum, by at most 4",
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


SURE = {"epsilon": 600.0, **WHO}
HELPERS = {
    "count": lambda values, draw=release: draw.count(values, **SURE),
    "edges": lambda values, draw=release: draw.histogram(values, edges=[0, 3, 10**6], **SURE),
    "labels": lambda values, draw=release: draw.histogram(values, categories=[1, HIDDEN], **SURE),
    "sum": lambda values, draw=release: draw.sum(values, bounds=(-2, 10**6), **SURE),
    "mean": lambda values, draw=release: draw.mean(values, bounds=(-2, 10**6), **SURE),
    "quantile": lambda values, draw=release: draw.quantile(values, 0.5, bounds=(-2, 10**6), **SURE),
}


@for_all("values", [MASKED, MASKED.astype(object), list(MASKED), [MASKED]])
@for_all(
    "helper",
    [
        lambda values: release(values, Laplace(1e-9)),
        lambda values: release(values, DiscreteLaplace(0.01)),
        *HELPERS.values(),
    ],
)
def test_no_value_below_a_mask_is_released_or_shown(helper, values):
    """An array is refused for its type; a masked entry of a list is a record that is no number."""
    if isinstance(values, list) and helper in HELPERS.values():
        assert np.max(helper(values).value) < 10.0
        return
    with pytest.raises(ValueError, match="a masked array") as refused:
        helper(values)
    assert str(HIDDEN) not in str(refused.value)


class Odd(float):
    """A number that cannot be converted, or cannot be a label."""

    def __float__(self):
        raise RuntimeError("secret")

    def __hash__(self):
        raise RuntimeError("secret")


HUGE = [10**400, Fraction(10**400), Decimal("1e400"), np.longdouble("1e4000"), math.inf, 2**63]
HUGE += [np.uint64(2**64 - 1), Decimal("Infinity")]
NO_NUMBER = [math.nan, None, pd.NA, pd.NaT, Decimal("NaN"), Decimal("sNaN"), 1j, 2 + 0j, "7", b"7"]
NO_NUMBER += [
    np.datetime64("NaT"),
    np.timedelta64(1, "s"),
    np.timedelta64(7),
    np.float32("nan"),
    [1],
    {},
    object(),
]
NO_NUMBER += [np.ma.masked, np.ma.array(HIDDEN, mask=True), np.array(1.0), np.ones(2), Odd(1.0)]


def objects(values):
    """An array of objects, which NumPy does not look into."""
    return np.fromiter(values, dtype=object, count=len(values))


@for_all("name", HELPERS)
def test_no_record_makes_a_helper_fail_or_warn_or_changes_others(name):
    """The same bits, and a record in the place of another: the answer tells which number it was."""
    stands = {**dict.fromkeys(map(id, HUGE), 10**6), **dict.fromkeys(map(id, NO_NUMBER), -2)}
    rest = [1, 5.0, True, np.float32(2.5), Fraction(1, 3), -(10**400)]
    containers = (list, tuple, objects, lambda values: pd.Series(objects(values), dtype=object))
    for record in HUGE + NO_NUMBER:
        number = stands[id(record)]
        plain = [1.0, 5.0, 1.0, 2.5, 1 / 3, -2.0, number]
        if name == "labels" and record is not NO_NUMBER[7]:  # 2 + 0j is in no cell as well
            plain[-1] = -2.0
        if name == "edges" and number > 0:
            plain[-1] = 2e6
        expected = HELPERS[name](plain, seeded(6)).value
        for make in containers:
            with (
                np.errstate(over="raise", invalid="raise"),
                warnings.catch_warnings(action="error"),
            ):
                found = HELPERS[name](make([*rest, record]), seeded(6)).value
            assert np.array_equal(found, expected), (record, make, found, expected)


@for_all("make", [np.float32, np.float64, np.longdouble, "Float64", "float32[nan]"])
def test_columns_are_read_as_lists_are(make):
    numbers = [1.0, math.nan, 7.0, math.inf, -math.inf, 0.5]
    numbers += [np.longdouble("1e4000")] if make is np.longdouble else []
    if make in ("Float64", "float32[nan]"):
        column = pd.Series(numbers, dtype=make if make == "Float64" else "float32")
    else:
        column = np.array(numbers, dtype=make)
    for name, helper in HELPERS.items():
        if name not in ("count", "labels"):
            with np.errstate(over="raise", invalid="raise"):
                found = [helper(v, seeded(6)).value for v in (column, numbers)]
            assert np.array_equal(*found), name


@for_all("relation", ["replace-one", "add-remove"])
@for_all("bounds", [(10.0, 20.0), (-20.0, -10.0), (-3.0, 8.0), (0.0, 1.0)])
def test_what_is_no_number_keeps_the_sensitivity(relation, bounds):
    """Dropped from a sum with public bounds of 10 and 20, a record would move it by 20, not 10."""
    rng, asked = (
        np.random.default_rng(4),
        {"bounds": bounds, "epsilon": 600.0, "relation": relation},
    )
    pool = [*HUGE, *NO_NUMBER, *rng.uniform(-30, 30, 20)]
    for k in range(40):
        chosen = [pool[i] for i in rng.integers(len(pool), size=5)]
        other = pool[rng.integers(len(pool))]
        near = [*chosen[:-1], other] if relation == "replace-one" else chosen[:-1]
        one, two = (seeded(k).sum(values, **asked) for values in (chosen, near))
        assert abs(one.value - two.value) <= one.entry.sensitivity * (1 + 1e-3)
        if relation == "replace-one":
            one, two = (seeded(k).mean(values, **asked) for values in (chosen, near))
            assert abs(one.value - two.value) <= one.entry.sensitivity * (1 + 1e-3)


def test_a_number_of_records_is_clamped():
    assert seeded(1).count(-(10**400), **SURE).value == 0
    assert seeded(1).count(10**400, **SURE).value == 2**62


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


def test_answers_as_frame_and_html():
    found = seeded(4).histogram([1.0, 2.0], edges=[0, 1.5, 3], **ONE)
    frame = found.to_frame()
    assert frame.index.tolist() == ["[0, 1.5)", "[1.5, 3]"]
    assert frame["value"].tolist() == found.value.tolist()
    assert frame["high"].tolist() == found.interval95[1].tolist()
    for answer in (found, release.count(3, **ONE), release.sum([1.0], bounds=(0, 1), **ONE)):
        assert answer.promise in answer._repr_html_()
        assert len(answer.to_frame()) == np.size(answer.value)
    middle = release.quantile([1.0], 0.5, bounds=(0, 1), **ONE)
    assert middle.to_frame().columns.tolist() == ["value"]
    labels = release.histogram(["a"], categories=["a", "<b>"], **ONE)
    assert "&lt;b&gt;" in labels._repr_html_()
