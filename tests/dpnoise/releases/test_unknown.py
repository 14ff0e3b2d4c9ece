"""Categories that are not known: the threshold by its definition, and the whole by exact sums."""

import datetime as dt
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from dpnoise import Budget, BudgetExceededError, DiscreteGaussian, DiscreteLaplace, release
from dpnoise.noise import DiscreteStaircase
from dpnoise.releases.aggregates import chance_of_naming, threshold_of
from exact_release import seeded
from for_all import for_all

WHO = {"relation": "add-remove"}
NOISES = [DiscreteLaplace(1.0), DiscreteLaplace(30.0), DiscreteGaussian(2.5), DiscreteGaussian(0.3)]
NOISES += [DiscreteStaircase(1.0, 3, 1), DiscreteLaplace(0.05)]


def chance(noise, threshold, m):
    """That 1 + X >= threshold for one of m, by a sum of masses from the smallest on."""
    k = np.arange(threshold - 1, threshold + 20_000)
    tail = math.fsum(noise.pmf(k)[::-1].tolist())
    return -math.expm1(m * math.log1p(-tail)) if tail < 1.0 else 1.0


@for_all("noise", NOISES)
@for_all("m", [1, 3, 50])
@for_all("delta", [1e-12, 1e-6, 0.01, 0.9])
def test_the_threshold_is_the_least_that_keeps_its_definition(noise, m, delta):
    found = threshold_of(noise, delta, m)
    assert chance(noise, found, m) <= delta
    assert float(chance_of_naming(noise, found, m)) == pytest.approx(
        chance(noise, found, m), rel=1e-8
    )
    if found > 1:
        assert chance(noise, found - 1, m) > delta * (1.0 - 1e-8)


def placed(noise, count, threshold, size):
    """Chances of the outputs 'not named', threshold, threshold + 1, ... of one category."""
    if count == 0:
        return np.eye(1, size)[0]
    k = np.arange(threshold, threshold + size - 1)
    named = noise.pmf(k - count)
    return np.concatenate([[max(0.0, float(noise.cdf(threshold - 1 - count)))], named])


@cache
def noise_and_threshold(epsilon, delta, relation):
    found = release.histogram(
        ["a"], person=["me"], at_most=2, epsilon=epsilon, delta=delta, relation=relation
    )
    return found.noise, found.threshold


@for_all(("epsilon", "delta"), [(1.0, 1e-3), (0.5, 0.02)])
@for_all("relation", ["add-remove", "replace-one"])
@for_all(("one", "other"), [((3, 1), (2, 0)), ((2, 0), (3, 1)), ((1, 1), (0, 0)), ((5, 0), (4, 1))])
def test_all_outputs_of_two_neighbours_keep_the_promise(epsilon, delta, relation, one, other):
    """The hockey-stick divergence of two categories by an exact sum, m = 2."""
    if relation == "add-remove" and one == (5, 0):
        return  # somebody is replaced
    noise, threshold = noise_and_threshold(epsilon, delta, relation)
    size = 200
    p, q = (
        np.outer(*(placed(noise, count, threshold, size) for count in counts))
        for counts in (one, other)
    )
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    excess = math.fsum(np.maximum(p - math.exp(epsilon) * q, 0.0).ravel())
    assert excess <= delta * (1.0 + 1e-9) + 1e-12


def test_only_large_counts_are_named_and_sorted():
    values = ["x"] * 500 + ["b"] * 400 + ["rare"] + ["a"] * 300
    found = seeded(1).histogram(values, epsilon=1.0, delta=1e-9, **WHO)
    assert found.categories == ("a", "b", "x")
    np.testing.assert_allclose(found.value, [300, 400, 500], atol=25)
    assert found.promise.endswith(f"named from {found.threshold} on: epsilon = 1, delta = 1e-09")
    series = seeded(1).histogram(pd.Series(values, name="code"), epsilon=1.0, delta=1e-9, **WHO)
    assert series.value.index.tolist() == ["a", "b", "x"]
    assert series.value.tolist() == found.value.tolist()


def test_a_person_counts_in_the_first_m_categories_once_in_each():
    values = ["a", "a", "b", "c"] * 300
    who = np.repeat(np.arange(300), 4)
    found = seeded(1).histogram(values, person=who, at_most=2, epsilon=50.0, delta=1e-9, **WHO)
    assert dict(zip(found.categories, found.value.tolist(), strict=True)) == {"a": 300, "b": 300}
    nobody = seeded(1).histogram(values, person=[None] * 1200, epsilon=50.0, delta=1e-9, **WHO)
    assert nobody.categories == ()
    assert "0 numbers" in repr(nobody)


@for_all(("relation", "m"), [("add-remove", 1), ("replace-one", 40)])
def test_it_is_charged_for_the_noise_and_for_naming(relation, m):
    budget = Budget(1.0, 1e-6, relation=relation)
    asked = {"person": ["me"], "at_most": m, "epsilon": 1.0, "budget": budget}
    found = release.histogram(["a"], delta=1e-6, label="codes", **asked)
    (entry,) = budget.entries
    assert entry.label == "codes"
    assert 0 < entry.one.failure <= 1e-6
    assert sum(entry.one.shares.values()) == m * (2 if relation == "replace-one" else 1)
    assert budget.epsilon_of() <= 1.0
    assert budget.epsilon_of(0.0) == math.inf
    assert Budget.from_json(budget.to_json()).epsilon_of() == budget.epsilon_of()
    found.entry.spend(other := Budget(2.0, 1e-5, relation=relation))
    assert other.entries[0].one == entry.one
    with pytest.raises(BudgetExceededError):
        release.histogram(["a"], delta=1e-9, **asked)


def test_a_record_that_cannot_be_written_is_in_no_category():
    """An error would say that somebody has it; each record is read by itself."""
    asked = {"epsilon": 1.0, "delta": 1e-3, **WHO}
    records = ["a"] * 100 + [10**5000, dt.datetime(2026, 1, 1, tzinfo=NoZone())] * 100
    assert release.histogram(records, **asked).categories == ("a",)


class NoZone(dt.tzinfo):
    def __repr__(self):
        raise RuntimeError


def test_what_is_equal_and_written_otherwise_is_another_category():
    """Else the record that comes first would decide how others are written."""
    values = [1, True, 1.0, 0.0, -0.0, "1", b"1"] * 200
    found = seeded(1).histogram(values, epsilon=50.0, delta=1e-9, **WHO)
    assert sorted(map(repr, found.categories)) == sorted(
        map(repr, [1, True, 1.0, 0.0, -0.0, "1", b"1"])
    )
    assert found.value.tolist() == [200] * 7
    odd = [math.nan, None, pd.NaT, [1], {}, object(), np.ones(2), 1j]
    assert seeded(1).histogram(odd * 200, epsilon=50.0, delta=1e-9, **WHO).categories == ()
    day = dt.date(2026, 11, 28)
    typed = pd.Series([pd.Timestamp(day)] * 200)
    assert seeded(1).histogram(typed, epsilon=50.0, delta=1e-9, **WHO).value.tolist() == [200]


@for_all(
    ("asked", "message"),
    [
        ({"delta": 0.0}, "edges, categories: expected one of them[^;]*$"),
        ({"delta": -1.0}, "delta: expected"),
        ({"at_most": 2}, "at_most: expected a whole number from 1 to 1 without person="),
        ({"at_most": 0, "person": ["a"]}, "at_most: expected a whole number from 1"),
        ({"person": [1, 2]}, "person: expected as many as values"),
        (
            {"categories": ["a"], "person": ["x"]},
            r"histogram: person: expected none beside edges or categories [^;]*persons\)$",
        ),
        ({"relation": None}, "relation: expected"),
    ],
)
def test_mistakes_are_refused(asked, message):
    given = {"epsilon": 1.0, "delta": 1e-6, **WHO, **asked}
    with pytest.raises(ValueError, match=message):
        release.histogram(["a"], **given)
