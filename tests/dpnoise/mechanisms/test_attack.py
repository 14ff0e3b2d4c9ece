"""No noise that hides the true differences is below a floor: a share of `make fuzz`, and a grid."""

import numpy as np
import pytest

from dpnoise import L1, AtMost, Counts, LInf, Product
from dpnoise.noise import DiscreteLaplace
from dpnoise.optimality.floor import floor
from dpnoise.privacy.vector import vector_profile
from for_all import thinned
from fuzz.checks_attack import CHECKS, attack, is_private, spent, staircase_on
from fuzz.draws import Draws
from fuzz.runner import Report, run


def counts(m, K, relation, **options):
    return Counts(m, of=K, relation=relation, **options)


GRID = [
    (counts(1, 20, "add-remove"), (1.0, 0.0)),
    (counts(1, 20, "add-remove"), (5.0, 0.0)),
    (counts(1, 20, "add-remove", whole=False), (3.0, 0.0)),
    (counts(1, 20, "add-remove", each=5), (3.0, 0.0)),
    (counts(1, 20, "add-remove", each=2), (1.0, 1e-6)),
    (counts(1, 50, "replace-one"), (4.0, 0.0)),
    (counts(1, 8, "replace-one", exactly=True), (2.0, 1e-3)),
    (counts(3, 12, "add-remove"), (9.0, 0.0)),
    (counts(3, 12, "add-remove", whole=False), (17.0, 0.0)),
    (counts(2, 3, "add-remove"), (30.0, 0.0)),
    (counts(8, 8, "add-remove"), (0.05, 0.0)),
    (AtMost(2, of=5, each=0.5, relation="add-remove"), (12.0, 0.0)),
    (LInf(1.0, of=3).stating("replace-one"), (7.0, 0.0)),
    (Product(counts(1, 3, "add-remove"), L1(0.5, of=2).stating("add-remove")), (4.0, 0.0)),
]


@pytest.mark.parametrize(("ball", "budget"), thinned(GRID), ids=repr)
def test_no_noise_for_the_true_differences_is_below_the_floor_or_better(ball, budget):
    report = Report()
    attack(Draws(np.random.default_rng(1)), report, ball, budget, error="variance")
    assert report.violations == []


def test_random_sets_withstand():
    report = run({"attack": CHECKS["attack"]}, seed=3, cases=3)
    assert report.violations == []
    assert report.checks.total() == 3


def test_the_earlier_floor_of_the_convex_set_is_found(monkeypatch, asked_once):
    """Planted: the differences are taken for all points of the convex set, as they once were."""
    asked_once()  # forget what was found for these sets as they are
    ball = counts(1, 20, "add-remove", whole=False)
    true, honest = ball.differences, floor(ball, epsilon=5.0).value
    monkeypatch.setattr(Counts, "differences", None)
    earlier = floor(ball, epsilon=5.0).value
    assert earlier == pytest.approx(0.0702, rel=1e-3)
    assert earlier > 2.0 * honest
    monkeypatch.setattr("fuzz.checks_attack.true_of", lambda _: true)
    for relation_of, budget in ((1, (2.0, 0.0)), (1, (5.0, 0.0))):
        report = Report()
        few = counts(relation_of, 20, "add-remove", whole=False)
        attack(Draws(np.random.default_rng(2)), report, few, budget, error="variance")
        assert any("below the floor" in text for _, text in report.violations)
    asked_once()


def test_sums_over_the_entries_agree_with_the_account():
    x, masses = staircase_on(1, 0.9, 1)
    assert np.array_equal(x, np.rint(x))
    noise = DiscreteLaplace(1.0 / 0.9)
    for epsilon in (0.0, 0.5, 1.3, 2.5):
        one = vector_profile(noise, 1, epsilon)
        two = vector_profile(noise, 1, epsilon, copies=2)
        assert one.lower - 1e-12 <= spent(masses, epsilon, (1,)) <= one.upper + 1e-12
        assert two.lower - 1e-12 <= spent(masses, epsilon, (1, 1)) <= two.upper + 1e-12
    assert is_private(masses, 0.9, 1e-9, 1, 1)
    assert not is_private(masses, 0.8, 1e-9, 1, 1)
