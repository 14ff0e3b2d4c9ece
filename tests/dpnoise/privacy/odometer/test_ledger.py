"""The ledger of a budget as JSON: exact, read back alike, and nothing wrong is read."""

import json
import re
from datetime import date
from fractions import Fraction
from functools import cache, reduce
from operator import getitem

import numpy as np
import pytest

from dpnoise import (
    L2,
    Budget,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    SampledLaplace,
    Staircase,
    calibrate,
)
from dpnoise.joint.noise import RadialNoise
from dpnoise.privacy.odometer.accounts import _own_epsilon
from dpnoise.privacy.odometer.ledger import _bounded


@cache
def written():
    return spent().to_json()


@cache
def spent():
    budget = Budget(9.0, 1e-5, relation="add-remove")
    budget.spend(Gaussian(4.0), 1.0, times=5)
    budget.spend([Laplace(3.0), FlippedHuber(0.5, 3.0)], [0.1, 0.7])
    budget.spend_dp(0.1)
    budget.spend_dp(0.1, 1e-7, times=2)
    budget.spend(DiscreteLaplace(4.0), 3)
    budget.spend(RadialNoise(L2(1.0, of=3), 7.0), 1.0)
    budget.spend(calibrate("gaussian", epsilon=0.5, delta=1e-6))
    return budget


def test_it_goes_on_where_it_was():
    budget = spent()
    text = budget.to_json()
    found = Budget.from_json(text.encode())
    assert found.to_json() == text
    assert found._ledger == budget._ledger
    assert repr(found) == repr(budget)
    assert [one.what for one in found.entries] == [one.what for one in budget.entries]
    assert found.relation == budget.relation


CHANGES = [
    (lambda data: data.update(version=3), "version: expected 2"),
    (lambda data: data.update(version=1), "version: expected 2"),
    (lambda data: data.update(kind="certificate"), "kind: expected 'dpnoise budget'"),
    (lambda data: data.update(epsilon=-1.0), "epsilon: expected"),
    (lambda data: data.update(account="renyi-filter"), "account: expected 'exact'"),
    (lambda data: data.update(relation="both"), "relation: expected"),
    (lambda data: data.update(entries={}), "entries: expected a list"),
    (lambda data: data["entries"].append(3), r"entries\[7\]: expected the keys"),
    (lambda data: data["entries"][0].update(times=0), "times: expected a whole number"),
    (lambda data: data["entries"][0].update(relation="replace-one"), "relation: expected one"),
    (lambda data: data["entries"][0].update(relation=None), "relation: expected 'add-remove' or"),
    (lambda data: data["entries"][0].update(failure="1e999999999"), "failure: expected a number"),
    (lambda data: data["entries"][0].update(failure="2/4"), "failure: expected a number p/q"),
    (lambda data: data["entries"][0].update(stated=["inf", "3/2"]), r"stated\[1\]: expected"),
    (lambda data: data["entries"][0].update(what=None), "what: expected text"),
    (lambda data: data["entries"][0].update(sampled=[{"rate": 2}]), r"sampled\[0\]: expected"),
    (lambda data: data["entries"][0].update(coordinates=None), "coordinates: expected a list"),
    (
        lambda data: data["entries"][0]["coordinates"][0].update(sensitivity="1"),
        "sensitivity: expected a positive double",
    ),
    (
        lambda data: data["entries"][0]["coordinates"][0].update(number=0),
        "number: expected a whole number",
    ),
    (
        lambda data: data["entries"][0]["coordinates"][0]["noise"].update(sigma=-1.0),
        r"noise: .*sigma: expected",
    ),
    (
        lambda data: data["entries"][0]["coordinates"][0]["noise"].update(family="cauchy"),
        "family: expected one of gaussian",
    ),
    (
        lambda data: data["entries"][0]["coordinates"][0]["noise"].update(sigma=0.01),
        "expected releases within epsilon = 9.0",
    ),
    (
        lambda data: data["entries"][5]["coordinates"][0]["noise"]["epsilons"].reverse(),
        "epsilons: expected rising values",
    ),
    (
        lambda data: data["entries"][5]["coordinates"][0]["noise"].update(loss="inf"),
        "loss: expected a number p/q",
    ),
]


@pytest.mark.parametrize(("change", "problem"), CHANGES)
def test_whatever_is_wrong_is_named(change, problem):
    data = json.loads(written())
    change(data)
    with pytest.raises(ValueError, match=problem):
        Budget.from_json(json.dumps(data), edited=True)
    with pytest.raises(ValueError, match="digest: expected 'sha256:"):
        Budget.from_json(json.dumps(data))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"more": 1}',
        '{"kind": 1, "kind": 2}',
        '{"epsilon": NaN}',
        "[" * 10**5,
        b"\xff",
        3,
    ],
)
def test_what_is_no_ledger_is_refused(text):
    with pytest.raises(ValueError, match=r"ledger in JSON|ledger: expected the keys"):
        Budget.from_json(text)


def test_all_problems_are_named_at_once():
    data = json.loads(written())
    data["entries"][0].update(times=0, failure="x")
    data["entries"][1].update(what=1)
    data["delta"] = 2.0
    pattern = r"times: .*failure: .*entries\[1\]\.what: .*delta: expected"
    with pytest.raises(ValueError, match=pattern):
        Budget.from_json(json.dumps(data))


def less(data):
    data["entries"][0]["times"] = 1


def nothing(data):
    data["entries"][1]["coordinates"] = []


def gone(data):
    del data["entries"][2]


def other_words(data):
    data["entries"][0]["what"] = "a"


def more_allowed(data):
    data["epsilon"] = 10.0


@pytest.mark.parametrize("change", [less, nothing, gone, other_words, more_allowed])
def test_a_ledger_that_was_edited_is_read_only_if_told_to(change):
    data = json.loads(written())
    change(data)
    text = json.dumps(data)
    with pytest.raises(ValueError, match=r"digest: expected.*edited=True reads it all the same"):
        Budget.from_json(text)
    found = Budget.from_json(text, edited=True)
    assert Budget.from_json(found.to_json()).to_json() == found.to_json()
    with pytest.raises(ValueError, match="edited: expected True or False, got 'yes'"):
        Budget.from_json(text, edited="yes")


def test_spaces_and_the_order_of_keys_are_no_edits():
    data = json.loads(written())
    turned = json.dumps(dict(reversed(data.items())), separators=(",", ":"))
    assert Budget.from_json(turned).to_json() == written()


def test_a_ledger_of_the_first_version_has_no_digest():
    data = json.loads(written())
    data["version"] = 1
    del data["digest"]
    with pytest.raises(ValueError, match="ledger: expected the keys"):
        Budget.from_json(json.dumps(data))
    assert Budget.from_json(json.dumps(data), edited=True).to_json() == written()


@pytest.mark.parametrize("relation", ["add-remove", None, "", 3])
def test_samples_of_a_fixed_size_are_for_one_relation(relation):
    budget = Budget(3.0, 1e-5, relation="replace-one")
    budget.spend(SampledLaplace(5.0, 0.01, "without replacement"))
    for top in ("add-remove", "replace-one", None):
        data = json.loads(budget.to_json())
        data["entries"][0]["relation"], data["relation"] = relation, top
        with pytest.raises(ValueError, match="relation: expected"):
            Budget.from_json(json.dumps(data), edited=True)


def test_epsilon_is_the_same_after_a_round_trip():
    """Whatever was asked before: the accounts of samples remember what they were asked."""
    budget = Budget(30.0, 1e-6, relation="replace-one")
    budget.spend(SampledGaussian(5.0, 0.006), times=4)
    budget.spend(DiscreteLaplace(9.0), 1, times=7)
    asked = [budget.epsilon_of(delta) for delta in (1e-6, 1e-5)]
    _own_epsilon.cache_clear()
    again = Budget.from_json(budget.to_json())
    assert [again.epsilon_of(delta) for delta in (1e-5, 1e-6)] == asked[::-1]


HOSTILE = [
    None, True, [], {}, "", "x", "inf", "1e999999999", "1/0", "\ud800", -1, 0, 1, 10**400,
    -(10**400), 1e308, 5e-324, -0.0, 0.5, "1/3", 2**53, "0", [1.0], [[]], {"family": "gaussian"},
    "replace-one",
]  # fmt: skip


def places(data, path=()):
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items if isinstance(data, dict | list) else ():
        yield from places(value, (*path, key)) if isinstance(value, dict | list) else [(*path, key)]


@cache
def hostile_base():
    budget = Budget(90.0, 1e-3, relation="replace-one")
    budget.spend(Laplace(3.0), 1.0)
    budget.spend(SampledLaplace(50.0, 0.01, "without replacement"))
    budget.spend(Staircase(1.0, 1.0, 0.4), 1.0)
    budget.spend(RadialNoise(L2(1.0, of=3), 7.0), 1.0)
    budget.spend_dp(0.1, 1e-7, times=2)
    budget.spend(DiscreteLaplace(4.0), 3)
    data = json.loads(budget.to_json())
    listed = data["entries"][3]["coordinates"][0]["noise"]
    assert listed["family"] == "listed-loss"
    listed["epsilons"], listed["deltas"] = [0.0, 0.5, 1.0], [0.5, 0.25, 0.0]
    return json.dumps(data)


def epsilon_or_refusal(budget):
    """The epsilon of what was spent, or why the account has none for such a mixture."""
    try:
        return budget.epsilon_of()
    except ValueError as error:
        return re.fullmatch(r"budget: noise: expected.*", str(error))[0]


def test_hostile_texts_raise_value_errors_alone():
    """Each place of a ledger dropped, doubled, or filled with what does not belong there."""
    paths = list(places(json.loads(hostile_base())))[1:]
    rng = np.random.default_rng(40)
    refused = 0
    for _ in range(400):
        data = json.loads(hostile_base())
        for where in rng.integers(0, len(paths), size=rng.integers(1, 3)):
            *path, last = paths[where]
            try:
                part = reduce(getitem, path, data)
                kind = rng.integers(0, 8)
                if kind == 0:
                    del part[last]
                elif kind == 1 and isinstance(part, list):
                    part.append(part[last])
                else:
                    part[last] = HOSTILE[rng.integers(0, len(HOSTILE))]
            except (KeyError, IndexError, TypeError):  # an earlier change took it
                continue
        text = json.dumps(data)
        with pytest.raises(ValueError, match=r"^budget: .*expected"):
            Budget.from_json(text)
        try:
            found = Budget.from_json(text, edited=True)
        except ValueError as error:
            refused += 1
            told = str(error)
        else:
            told = "budget: expected"
            assert epsilon_or_refusal(Budget.from_json(found.to_json())) == epsilon_or_refusal(
                found
            )
        assert re.match(r"budget: (.*: )?.*expected", told, re.DOTALL), told
    assert refused > 200


def test_a_label_and_a_date_are_kept_and_may_be_missing():
    budget = Budget(2.0, relation="add-remove")
    budget.spend(Laplace(4.0), 1.0, label="week 7")
    text = budget.to_json()
    (entry,) = Budget.from_json(text).entries
    assert entry.label == "week 7"
    assert date.fromisoformat(entry.date) == date.today()  # noqa: DTZ011  (the user's day)
    older = re.sub(r'\n *"(label|date)": "[^"]*",', "", text)
    assert older != text
    (entry,) = Budget.from_json(older, edited=True).entries
    assert (entry.label, entry.date) == ("", "")
    with pytest.raises(ValueError, match=r"entries\[0\].label: expected text, got 7"):
        Budget.from_json(text.replace('"week 7"', "7"), edited=True)
    with pytest.raises(ValueError, match="label: expected one line"):
        budget.spend(Laplace(4.0), 1.0, label="a\nb")
    assert len(budget.entries) == 1


def test_sums_of_too_many_digits_are_rounded_up():
    for power in (-9000, -3, 40, 9000):
        value = Fraction(10) ** power * Fraction(7**2000, 3**5000 + 1)
        found = _bounded(value)
        assert value < found <= value * (1 + Fraction(2) ** -190)
