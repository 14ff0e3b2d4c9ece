"""The ledger of a budget as JSON: exact, read back alike, and nothing wrong is read."""

import json
import math
from functools import cache

import pytest

from dpnoise import (
    L2,
    Budget,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    calibrate,
)
from dpnoise.joint.noise import RadialNoise
from dpnoise.privacy.odometer.budget import ACCOUNTS


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


@pytest.mark.parametrize("account", ACCOUNTS)
def test_it_goes_on_where_it_was(account):
    if account == "gaussian-filter":
        budget = Budget(9.0, 1e-5, account=account)
        budget.spend(Gaussian(4.0), 1.0, times=5, relation="replace-one")
    elif account == "renyi-filter":
        budget = Budget(9.0, 1e-5, account=account, relation="add-remove")
        budget.spend(Laplace(3.0), 0.1)
    else:
        budget = spent()
    text = budget.to_json()
    found = Budget.from_json(text.encode())
    assert found.to_json() == text
    assert found._ledger == budget._ledger
    assert repr(found) == repr(budget)
    assert [one.what for one in found.entries] == [one.what for one in budget.entries]
    assert found.relation == budget.relation


CHANGES = [
    (lambda data: data.update(version=2), "version: expected 1"),
    (lambda data: data.update(version=True), "version: expected 1"),
    (lambda data: data.update(kind="certificate"), "kind: expected 'dpnoise budget'"),
    (lambda data: data.update(more=1), "ledger: expected the keys"),
    (lambda data: data.update(epsilon=-1.0), "epsilon: expected"),
    (lambda data: data.update(account="best"), "account: expected"),
    (lambda data: data.update(relation="both"), "relation: expected"),
    (lambda data: data.update(entries={}), "entries: expected a list"),
    (lambda data: data["entries"].append(3), r"entries\[7\]: expected the keys"),
    (lambda data: data["entries"][0].update(times=0), "times: expected a whole number"),
    (lambda data: data["entries"][0].update(relation="replace-one"), "relation: expected one"),
    (lambda data: data["entries"][0].update(failure="-1/2"), "failure: expected a number p/q"),
    (lambda data: data["entries"][0].update(failure="2/4"), "failure: expected a number p/q"),
    (lambda data: data["entries"][0].update(failure=0), "failure: expected a number p/q"),
    (lambda data: data["entries"][0].update(stated=["0"]), "stated: expected"),
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
        Budget.from_json(json.dumps(data))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"kind": 1, "kind": 2}', '{"epsilon": NaN}', "[" * 10**5, b"\xff", 3]
)
def test_what_is_no_ledger_is_refused(text):
    with pytest.raises(ValueError, match=r"text: expected the JSON|ledger: expected the keys"):
        Budget.from_json(text)


def test_all_problems_are_named_at_once():
    data = json.loads(written())
    data["entries"][0].update(times=0, failure="x")
    data["entries"][1].update(what=1)
    data["delta"] = 2.0
    pattern = r"times: .*failure: .*entries\[1\]\.what: .*delta: expected"
    with pytest.raises(ValueError, match=pattern):
        Budget.from_json(json.dumps(data))


def test_a_guarantee_without_an_epsilon_is_kept():
    budget = Budget(math.ldexp(1.0, 3), 1e-5, relation="add-remove")
    budget.spend(Gaussian(2.0), 1.0)
    data = json.loads(budget.to_json())
    assert data["entries"][0]["stated"] is None
    assert data["entries"][0]["coordinates"] == [
        {"noise": {"family": "gaussian", "sigma": 2.0}, "sensitivity": 1.0, "number": 1}
    ]
