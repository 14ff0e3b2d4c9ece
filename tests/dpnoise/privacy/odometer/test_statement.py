"""Statements: what they say, how long they are, and that they are right at the extremes."""

import math
import re

import numpy as np
import pytest

from dpnoise import Budget, Counts, Gaussian, Laplace, best, release
from dpnoise.privacy.odometer.ledger import today
from dpnoise.privacy.odometer.statement import _up
from for_all import for_all

VISITS = Counts(3, of=12, relation="add-remove")
VALUES = [120, 85, 43, 9, 61, 77, 102, 33, 240, 18, 5, 150]


def year():
    budget = Budget(1.0, 1e-6, relation="add-remove")
    found = budget.plan(VISITS, times=52)
    for week in range(1, 53):
        budget.spend(found, label=f"week {week}")
    return budget


def sentences(text):
    plain = re.sub(r"\n- ", ". ", text.replace("\n  ", " "))
    return [
        one for part in plain.split("\n\n") for one in re.split(r"[.:;] ", " ".join(part.split()))
    ]


def test_a_year_is_half_a_page():
    budget = year()
    text = budget.statement()
    assert text.startswith(f"Privacy statement of {today()}\n")
    assert len(text.splitlines()) <= 30
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("52 releases") == 2
    assert "(week 1 to week 52, " in text
    assert text.count("at most 3 of 12 counts") == 1
    for part in ("Who is protected.", "What was released.", "Total so far.", "does not cover."):
        assert part in text
    assert max(len(one.split()) for one in sentences(text)) <= 25
    shown = text._repr_html_()
    assert shown == budget._repr_html_()
    assert "<li>52 releases: 12 numbers" in shown
    lines = str(budget).splitlines()
    assert len(lines) == 3
    assert "52 x 12 numbers; noise: correlated Gaussian" in lines[1]


def test_many_kinds_of_releases_have_a_dozen_lines():
    budget = Budget(9.0, relation="add-remove")
    for k in range(40):
        budget.spend(Laplace(100.0 + k), 1.0, label=f"<b>{k}</b>")
    lines = str(budget).splitlines()
    assert len(lines) <= 12
    assert "and 32 more releases in 32 lines that are not shown" in str(budget)
    assert "<b>0</b>" not in budget.statement()._repr_html_()
    assert "&lt;b&gt;0&lt;/b&gt;" in budget.statement()._repr_html_()


@for_all(
    ("budget", "spend", "expected"),
    [
        (Budget(1.0), None, "nobody is promised anything yet"),
        (Budget(1.0, relation="add-remove"), None, "Nothing so far."),
        (Budget(100.0, relation="replace-one"), 100.0, "factor of at most e to the power of"),
        (Budget(100.0, relation="replace-one"), 0.5, "at most 1.64873, e to the power of"),
        (Budget(1.0, 1e-6, relation="add-remove"), 0.5, "probability of at most delta = 1e-06"),
    ],
)
def test_extremes(budget, spend, expected):
    if spend:
        budget.spend_dp(spend)
    assert expected in " ".join(budget.statement().split())


@for_all(
    ("limit", "noise", "chosen"),
    [
        ({"rho": 0.5}, Laplace(10.0), True),
        ({"epsilon": 1.0}, Gaussian(10.0), True),
        ({"epsilon": 1.0}, Laplace(10.0), False),
    ],
)
def test_what_was_chosen_by_earlier_results_has_the_limit_alone(limit, noise, chosen):
    budget = Budget(**limit, delta=1e-6, relation="add-remove")
    budget.spend(noise, 1.0)
    words = " ".join(budget.statement().split())
    assert ("it alone holds where noise was chosen by earlier results" in words) == chosen


@for_all("value", [0.0, 1.0, 0.123456789, 1e-7 / 3, 700.0000001, 2 / 3])
def test_numbers_that_promise_are_rounded_up(value):
    assert value * (1.0 - 1e-11) <= float(_up(value)) <= value * (1.0 + 2e-5)


RELEASES = {
    "vector": lambda: release(VALUES, best(VISITS, epsilon=1.0), label="May"),
    "quantile": lambda: release.quantile(
        [1.0], 0.5, bounds=(0, 1), epsilon=1.0, relation="add-remove", label="May"
    ),
    "nothing": lambda: release.histogram(
        ["a"], epsilon=1.0, delta=1e-9, relation="add-remove", label="May"
    ),
}


@for_all("name", RELEASES)
def test_a_release_states_accuracy_and_promise(name):
    found = RELEASES[name]()
    text = found.statement()
    assert text.startswith(f"Privacy statement of {found.date}\n")
    plain = " ".join(text.split())
    assert "'May'" in plain
    assert f"In one sentence: {found.promise}." in plain
    assert "e to the power of epsilon = 1." in plain
    assert len(text.splitlines()) <= 30
    assert ("standard deviation of" in plain) == (name not in ("quantile", "nothing"))
    if name == "vector":
        low, high = found.interval()
        far = float(np.max(high - low)) / 2
        assert f"a number is off by at most {far:.4g}, and all numbers together by" in plain


def test_a_statement_without_a_known_epsilon_says_so():
    budget = Budget(2.0, 1e-6, relation="add-remove")
    budget.spend(Gaussian(4.0), 1.0)
    assert budget.epsilon_of(0.0) == math.inf
    assert "All releases together cost epsilon = 1." in " ".join(budget.statement().split())
    with pytest.raises(AttributeError):
        budget.statement().no_such_thing  # noqa: B018
