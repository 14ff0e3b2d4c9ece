"""Releases by group: what they add up, what one person changes, what is charged and refused."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpnoise import Budget, BudgetExceededError, Counts, best, from_frame, release
from dpnoise.releases.groups import _noisy_multiples
from dpnoise.releases.sums import grid_of
from dpnoise.sensitivity.contributions import Bounds, contributions, is_missing
from exact_release import entropy, seeded
from for_all import for_all

WHO = {"relation": "add-remove"}
SURE = {"epsilon": 500.0, **WHO}
ROWS = pd.DataFrame(
    {
        "who": ["Ada", "Bo", "Ada", None, "Ada", "Cy", "Bo"],
        "region": ["N", "N", "N", "N", "S", "W", "?"],
        "income": [30.0, 200.0, 15.0, 40.0, 7.0, math.nan, 9.0],
        "visits": [3, 20, 1, 4, 7, -5, 9],
    }
)
GROUPS = ["S", "N", "E", "W"]
BY = {"by": ROWS["region"], "groups": GROUPS}
OWN = {**BY, "person": ROWS["who"]}


def near(released, expected):
    np.testing.assert_allclose(np.asarray(released), expected, atol=1.0)


def test_sums_add_own_rows_clamp_and_keep_the_order_of_the_groups():
    each = seeded(1).sum(ROWS["income"], bounds=(0.0, 100.0), **BY, **SURE)
    near(each, [7, 30 + 100 + 15 + 40, 0, 0])
    assert each.value.index.tolist() == GROUPS == list(each.categories)
    assert (each.value.index.name, each.value.name) == ("region", "income")
    near(seeded(1).sum(ROWS["income"], bounds=(0.0, 100.0), at_most=2, **OWN, **SURE),
         [7, 45 + 100, 0, 0])  # fmt: skip
    near(seeded(1).sum(ROWS["income"], bounds=(0.0, 40.0), at_most=1, **OWN, **SURE),
         [0, 40 + 40, 0, 0])  # fmt: skip
    near(seeded(1).sum(ROWS["income"], bounds=(-2.0, 40.0), **BY, **SURE), [7, 125, 0, -2])


def test_integers_stay_integers_by_the_types_alone():
    whole = seeded(1).sum(ROWS["visits"], bounds=(0, 10), at_most=2, **OWN, **SURE)
    assert whole.value.dtype == np.int64
    assert whole.value.tolist() == [7, 4 + 10, 0, 0]
    assert "by a whole number up to 10" in whole.promise
    for values, bounds in ((ROWS["visits"], (0, 10.0)), (ROWS["visits"].tolist(), (0, 10))):
        found = release.sum(values, bounds=bounds, **BY, **SURE)
        assert np.asarray(found).dtype == float


def test_integers_beyond_noise_on_the_integers_get_real_noise():
    """Of amounts in cents the bounds are beyond 2^30, where integer noise ends."""
    cents = np.array([5, 3 * 10**9, 7, 10**18])
    for low, high, kind in ((0, 2**30, np.int64), (0, 2**30 + 1, float), (-(2**30), 1, float)):
        for relation in ("add-remove", "replace-one"):
            found = seeded(1).sum(cents, by=[0, 0, 1, 1], groups=[0, 1], bounds=(low, high),
                                  epsilon=20.0, relation=relation)  # fmt: skip
            assert found.value.dtype == kind
            np.testing.assert_allclose(found.value, [5 + high, 7 + high], atol=0.1 * 2**30)


def test_counts_are_of_persons():
    assert seeded(1).count(**BY, **SURE).value.tolist() == [1, 4, 0, 1]
    own = seeded(1).count(at_most=2, **OWN, **SURE)
    assert own.value.tolist() == [1, 2, 0, 1]
    some = seeded(1).count(ROWS["visits"] > 3, at_most=2, **OWN, **SURE)
    assert some.value.tolist() == [1, 1, 0, 0]


@for_all("relation", ["add-remove", "replace-one"])
def test_means_are_within_the_bounds_and_their_intervals_hold(relation):
    rng = np.random.default_rng(7)
    by = rng.choice(["N", "S"], 3000)
    values = rng.uniform(20.0, 60.0, 3000)
    truth = [values[by == one].mean() for one in ("N", "S")]
    inside, found = [], None
    for seed in range(12):
        found = seeded(seed).mean(
            values, by=by, groups=["N", "S", "E"], bounds=(0, 100), epsilon=1.0, relation=relation
        )
        low, high = found.interval(0.5, simultaneous=True)
        inside.append(np.all((low[:2] <= truth) & (truth <= high[:2])))
        assert np.all((found.value >= 0) & (found.value <= 100))
        assert np.all((low <= found.value) & (found.value <= high))
    assert np.mean(inside) >= 0.5  # it is conservative: two union bounds
    assert np.all(np.abs(np.asarray(found)[:2] - truth) < 8 * found.std[:2])


@for_all(("low", "high"), [(0.0, 1e5), (-3.0, 8.0), (-9.0, -1.0), (1.0, 1.0 + 2.0**-40)])
@for_all("relation", ["add-remove", "replace-one"])
@for_all("m", [1, 2, 4])
def test_what_a_person_changes_is_in_the_set_that_is_paid_for(low, high, relation, m):
    """Random people, added, removed or replaced: exact differences, by the true differences."""
    rng = np.random.default_rng(3)
    known = Bounds(low, high, whole=False)
    ball = known.set_of_sums(m, 5, relation)
    labels = list(range(5))

    def rows(person):
        return [
            (person, int(rng.integers(6)), rng.uniform(2 * low - 1, 2 * high + 1))
            for _ in range(rng.integers(1, 12))
        ]

    def sums(data):
        each = contributions(data, labels, m)
        return [
            Fraction(sum(known.multiples(one, known.unit))) * Fraction(known.unit) for one in each
        ]

    largest = 0.0
    for _ in range(60):
        rest = [row for person in "abcdef" for row in rows(person)]
        one = sums(rest + rows("me"))
        other = sums(rest + (rows("me") if relation == "replace-one" else []))
        change = np.array([float(a - b) for a, b in zip(one, other, strict=True)])
        assert ball.differences is None or ball.differences.holds(change * (1 - 1e-15))
        assert ball.norm(change) <= 1.0 + 1e-12
        largest = max(largest, float(np.max(np.abs(change))))
    assert largest > 0.2 * max(ball.box)  # the set is not idle


def test_all_groups_are_one_entry_charged_before_the_draw():
    budget = Budget(1.0, relation="add-remove")
    asked = {**BY, "epsilon": 0.5, "budget": budget}
    release.sum(ROWS["income"], bounds=(0, 1e5), label="income", **asked)
    release.mean(ROWS["income"], bounds=(0, 1e5), label="mean", **asked)
    assert [entry.label for entry in budget.entries] == ["income", "mean"]
    assert budget.epsilon_of() == pytest.approx(1.0)
    for call in (release.count, lambda **one: release.sum(ROWS["visits"], bounds=(0, 9), **one)):
        with pytest.raises(BudgetExceededError):
            call(**asked)
    assert len(budget.entries) == 2


def test_less_noise_than_a_loop_needs():
    """Parallel composition: the noise of one region alone."""
    found = release.sum(ROWS["income"], bounds=(0, 1e5), **BY, epsilon=1.0, **WHO)
    alone = release.sum(ROWS["income"], bounds=(0, 1e5), epsilon=1.0, **WHO)
    assert found.std == pytest.approx(alone.std, rel=1e-9)
    assert (
        found.noise.var()[0]
        == best(Counts(1, of=4, each=1e5, whole=False, **WHO), epsilon=1.0).variances[0]
    )


@for_all("size", [1e-3, 1.0, 2.0**40])
def test_grid_and_rest_give_the_number_next_to_the_sum(size):
    """Noise of nearly no size: the answer is the exact sum rounded to the grid."""
    found = best(Counts(1, of=3, each=size, whole=False, **WHO), epsilon=600.0)
    step, unit = grid_of(found.noise), size * 2.0**-20
    sums = [3, -(10**12), 2**70 + 1]
    drawn = _noisy_multiples(sums, [unit] * 3, found, step, entropy(2))
    for value, one in zip(drawn, sums, strict=True):
        assert abs(Fraction(value) - one * Fraction(unit)) <= abs(one) * Fraction(unit) * Fraction(
            1, 2**50
        ) + Fraction(size)


@for_all(
    ("asked", "message"),
    [
        ({"groups": None}, "groups: expected the public groups"),
        ({"groups": ["N", "N"]}, r"groups: .*each once \('N' more often\)"),
        ({"groups": [1, 2]}, "groups: expected labels that are text.*got numbers: 1, 2"),
        ({"bounds": (5, 1)}, "bounds: expected the lower one first"),
        ({"bounds": (0, math.inf)}, r"bounds\[1\]: expected a finite number"),
        ({"bounds": (0, math.nan)}, r"bounds\[1\]: expected a finite number"),
        ({"bounds": None}, "bounds: expected two numbers"),
        ({"at_most": 2}, "at_most: expected 1 without person="),
        ({"person": ROWS["who"], "at_most": 5}, "at_most: expected a whole number from 1 to 4"),
        ({"person": ROWS["who"], "at_most": 1.5}, "at_most: expected a whole number"),
        ({"person": ROWS["who"][:3]}, "person: expected as many as by"),
        ({"by": ROWS["region"][:3]}, "values, by: expected one group for each"),
        ({"label": 3}, "label: expected one line"),
        ({"by": None}, "(sum|mean): groups: expected none without by=$"),
        (
            {"by": None, "groups": None, "person": ROWS["who"]},
            "(sum|mean): person: expected none without by=$",
        ),
        ({"groups": [1], "bounds": (5, 1)}, "bounds: .*groups: "),
    ],
)
def test_mistakes_are_refused_before_anything_is_spent(asked, message):
    budget = Budget(9.0, relation="add-remove")
    given = {"bounds": (0, 100), **BY, "epsilon": 1.0, "budget": budget, **asked}
    for call in (release.sum, release.mean):
        if call is release.mean and asked.get("by", "") is None:
            continue
        with pytest.raises(ValueError, match=message) as refused:
            call(ROWS["income"], **given)
        assert "200.0" not in str(refused.value)  # no record
    assert budget.entries == []


def test_no_record_makes_a_release_of_groups_fail():
    odd = [10**400, math.nan, None, "7", 1j, [1], object(), math.inf, -math.inf]
    who = [*"abcdefg", math.nan, None]
    found = seeded(1).sum(
        odd, by=["N"] * 9, groups=["N"], person=who, bounds=(-2, 10), epsilon=500.0, **WHO
    )
    near(found, [10 - 2 * 6])
    with_list = seeded(1).count(by=[["x"], "N", {}, math.nan], groups=["N"], **SURE)
    assert with_list.value.tolist() == [1]


@for_all(
    ("person", "missing"),
    [(None, True), (math.nan, True), (pd.NA, True), (pd.NaT, True), ("", False), (0, False)],
)
def test_rows_without_a_person_are_no_persons(person, missing):
    assert is_missing(person) == missing
    found = seeded(1).count(by=["N"], groups=["N"], person=[person], **SURE)
    assert found.value.tolist() == [not missing]


def test_a_frame_makes_sums_whose_sensitivity_holds():
    sums, ball = from_frame(
        ROWS, person="who", by="region", at_most=2, categories=GROUPS, values="visits",
        bounds=(0, 10),
    )  # fmt: skip
    assert sums.to_dict() == {"S": 7, "N": 4 + 10, "E": 0, "W": 0}
    assert ball == Counts(2, of=4, each=10, **WHO)
    assert seeded(1)(sums, best(ball, epsilon=500.0)).value.to_dict() == sums.to_dict()
    sums, ball = from_frame(
        ROWS, person="who", by="region", at_most=1, categories=GROUPS, values="income",
        bounds=(-1.0, 100.0),
    )  # fmt: skip
    assert repr(ball) == "AtMost(m=1, of=4, each=100.0, relation='add-remove')"
    np.testing.assert_allclose(sums, [0, 45 + 100, 0, -1], atol=1e-4)
    with pytest.raises(ValueError, match=r"values, bounds: expected both"):
        from_frame(ROWS, person="who", by="region", at_most=1, categories=GROUPS, values="income")
    with pytest.raises(ValueError, match=r"values: expected a column of numbers, got 'text'"):
        from_frame(ROWS, person="who", by="region", at_most=1, categories=GROUPS, values="region",
                   bounds=(0, 1))  # fmt: skip
