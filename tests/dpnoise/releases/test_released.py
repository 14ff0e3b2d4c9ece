"""What `release` makes of a result: the container, the charge, intervals, and how it is used."""

import copy

import numpy as np
import pandas as pd
import pytest

from dpnoise import (
    Budget,
    BudgetExceededError,
    Counts,
    DiscreteLaplace,
    Laplace,
    best,
    calibrate,
    calibrate_joint,
    compare,
    coordinate_noise,
    release,
)
from exact_release import seeded
from for_all import for_all

TWELVE = Counts(3, of=12, relation="add-remove")
VALUES = [120, 85, 43, 9, 61, 77, 102, 33, 240, 18, 5, 150]
BOX = [1.0, 0.5]
FOUND = {
    "best": lambda: best(TWELVE, epsilon=1.0),
    "compare": lambda: compare(TWELVE, epsilon=1.0, exhaustive=False),
    "joint": lambda: calibrate_joint("k-norm", TWELVE, epsilon=1.0),
    "calibrate": lambda: calibrate("discrete-laplace", epsilon=1.0, dimension=12),
    "number": lambda: calibrate("laplace", epsilon=1.0, sensitivity=1.0, dimension=12),
}


@for_all("name", FOUND)
def test_a_result_is_released_as_it_is_and_charged_before_the_draw(name):
    found = FOUND[name]()
    budget = Budget(1.5, relation="add-remove")
    released = seeded(3)(VALUES, found, budget=budget, label="week 7")
    assert isinstance(released.value, np.ndarray)
    assert budget.epsilon_of() == pytest.approx(1.0, rel=1e-9)
    assert [(entry.label, entry.times) for entry in budget.entries] == [("week 7", 1)]
    assert released.label == "week 7"
    assert "one person more or less, in " in released.promise
    assert released.promise.endswith(": epsilon = 1, delta = 0")
    row = found[0] if name == "compare" else found
    plain = seeded(3)(VALUES, row.noise)
    assert isinstance(plain, np.ndarray)
    assert np.array_equal(plain, released.value)
    np.testing.assert_allclose(released.std**2, row.noise.var())

    class Never:
        def __getattr__(self, name):
            raise AssertionError("drawn")

    with pytest.raises(BudgetExceededError):
        type(release)(Never())(VALUES, found, budget=budget)
    assert len(budget.entries) == 1


@for_all(
    ("values", "asked", "message"),
    [
        (VALUES[:3], {}, r"shape of values: expected 12, as many numbers"),
        ([VALUES] * 2, {}, r"shape of values: expected 12"),  # two releases, one of them unpaid
        (np.reshape(VALUES, (3, 4)), {}, r"shape of values: expected 12"),
        (VALUES, {"budget": 1.0}, "budget: expected a Budget"),
        (VALUES, {"label": "two\nlines"}, "label: expected one line"),
        ([0.5] * 12, {"budget": Budget(2.0)}, "values: expected integers"),
        (VALUES, {"grid": 2.0, "budget": Budget(2.0)}, "grid: expected none"),
    ],
)
def test_mistakes_are_refused_before_anything_is_spent(values, asked, message):
    with pytest.raises(ValueError, match=message):
        release(values, best(TWELVE, epsilon=1.0), **asked)
    if isinstance(asked.get("budget"), Budget):
        assert asked["budget"].entries == []


def test_a_number_for_one_answer_is_not_released_for_twelve():
    """The charge is for one number."""
    with pytest.raises(ValueError, match="shape of values: expected 1, as many"):
        release(VALUES, calibrate("laplace", epsilon=1.0))
    one = release(3.0, calibrate("laplace", epsilon=1.0))
    assert "relation between neighbouring data sets not stated, in one number" in one.promise


@for_all(
    "found",
    [
        release.count(3, epsilon=1.0, relation="add-remove"),
        coordinate_noise("gaussian", epsilon=1.0, delta=1e-6, coordinates=3, passes=2),
        release.count(3, epsilon=1.0, relation="add-remove").entry,
    ],
)
def test_what_is_charged_and_no_noise_for_values_is_refused(found):
    with pytest.raises(ValueError, match="noise: expected what best, compare, calibrate_joint"):
        release([3], found)


def test_noise_alone_is_charged_to_no_budget():
    with pytest.raises(ValueError, match=r"budget: expected none beside noise alone.*; label: "):
        release(VALUES, Laplace(1.0), budget=Budget(1.0), label="a")


def test_containers_come_back():
    index = pd.Index([f"shop {k}" for k in range(12)], name="shop")
    series = pd.Series(VALUES, index=index, name="visits")
    released = release(series, best(TWELVE, epsilon=1.0))
    assert released.value.index.equals(index)
    assert released.value.name == "visits"
    assert released.index.equals(index)
    assert all(one.index.equals(index) for one in released.interval())
    assert "shop 0" in repr(released)
    for noise in (DiscreteLaplace(2.0), Laplace(2.0)):  # alone
        assert release(series, noise).index.equals(index)
    row = release(series.to_frame().T, best(TWELVE, epsilon=1.0))
    assert row.columns.equals(index)
    assert row.interval()[0].shape == (1, 12)


def test_it_goes_for_the_array_that_it_was():
    released = seeded(1)(VALUES, best(TWELVE, epsilon=1.0))
    value = released.value
    assert np.array_equal(np.asarray(released), value)
    assert np.array_equal(released + 1, value + 1)
    assert np.array_equal(2 * released - released, value)
    assert np.array_equal(released > 50, value > 50)
    assert np.std(released) == np.std(value)
    assert np.concatenate([released, [1]]).tolist() == [*value.tolist(), 1]
    assert (released.sum(), released.dtype, len(released)) == (value.sum(), value.dtype, 12)
    assert list(released) == released[:].tolist() == released.tolist()
    again = copy.copy(released)
    assert again == released
    assert not again != released  # noqa: SIM202  (both operators)
    assert released != seeded(2)(VALUES, best(TWELVE, epsilon=1.0))
    assert not hasattr(released, "no_such_attribute")
    one = release.count(5, epsilon=50.0, relation="add-remove")
    assert (int(one), float(one), one - 5) == (5, 5.0, 0)


@for_all("integer", [True, False])
@for_all("simultaneous", [True, False])
def test_intervals_hold_as_often_as_they_say(integer, simultaneous):
    """4,000 releases of zeros; the share of misses against a bound of 4 standard errors."""
    found = best(BOX if not integer else [1, 1], epsilon=1.0, integer=integer)
    level = 0.8
    drawn = seeded(5)(np.zeros((4000, 2), dtype=int), found.noise)
    low, high = release([0, 0], found).interval(level, simultaneous=simultaneous)
    half = (np.asarray(high) - np.asarray(low)) / 2
    inside = np.abs(drawn) <= half
    share = np.mean(inside.all(axis=1)) if simultaneous else np.min(np.mean(inside, axis=0))
    assert share >= level - 4.0 * np.sqrt(level * (1.0 - level) / 4000)
    assert share <= (0.95 if simultaneous else 0.9)


def test_a_level_out_of_range_is_refused():
    with pytest.raises(ValueError, match="level: expected a finite number in"):
        release.count(1, epsilon=1.0, relation="add-remove").interval(1.0)


def test_a_level_next_to_1_is_refused_where_nothing_is_left_for_a_number():
    """Ends would be infinite, which integers are not: they came out as -2^63."""
    found = best(Counts(1, of=4096, relation="add-remove"), epsilon=1.0)
    released = release([0] * 4096, found)
    for answer in (found, released):
        assert answer.interval(1.0 - 2.0**-51)[1][0] > 30
        with pytest.raises(ValueError, match=r"level: expected one of which more than"):
            answer.interval(1.0 - 2.0**-45, simultaneous=True)


@for_all("many", [1, 5000])
def test_what_is_shown_has_a_dozen_lines(many):
    names = [f"a label of a category with the number {k}" for k in range(many)]
    found = release.histogram(
        np.array(names[:1]), categories=names, epsilon=1.0, relation="add-remove", label="May"
    )
    lines = repr(found).splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) < 160
    assert "'May'" in lines[0]
    assert found._repr_html_().count("<tr>") <= 22
