"""Room for further releases: never more than fits, whoever asks, and in whatever order."""

import itertools
from dataclasses import replace

import pytest

from dpnoise import (
    Budget,
    BudgetExceededError,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    SampledLaplace,
    Staircase,
    best,
    sampled_delta,
)
from dpnoise._validation import Problems
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.odometer.terms import dominates

R = "add-remove"


def accepted(budget, releases):
    """How many of the releases a budget takes, one by one, until it refuses one."""
    for k, (noise, size) in enumerate(releases):
        try:
            budget.spend(noise, size)
        except BudgetExceededError:
            return k
    raise AssertionError


def fits(epsilon, delta, noise, size, times):
    try:
        Budget(epsilon, delta, relation=R).spend(noise, size, times)
    except BudgetExceededError:
        return False
    return True


@pytest.mark.parametrize(
    ("noise", "size", "epsilon", "delta"),
    [
        (Gaussian(30.0), 1.0, 1.0, 1e-6),
        (Laplace(40.0), 1.0, 1.0, 1e-5),
        (Laplace(40.0), 1.0, 1.0, 0.0),
        (FlippedHuber(20.0, 25.0), 1.0, 1.0, 1e-5),
        (DiscreteLaplace(30.0), 1, 1.0, 1e-5),
        (SampledGaussian(1.0, 0.01), None, 1.0, 1e-5),
        pytest.param(SampledLaplace(2.0, 0.05), None, 1.0, 1e-5, marks=pytest.mark.slow),
    ],
)
def test_as_many_equal_releases_fit_as_at_once(noise, size, epsilon, delta):
    found = accepted(Budget(epsilon, delta, relation=R), itertools.repeat((noise, size), 20_000))
    assert found > 10
    assert fits(epsilon, delta, noise, size, found)
    assert not fits(epsilon, delta, noise, size, found + 1)


def test_a_schedule_is_accepted_as_far_as_it_fits():
    """Delta of what was accepted is at most that of the budget, and more would exceed it."""
    epsilon, delta = 3.0, 1e-5
    steps = [SampledGaussian(1.0 + 0.01 * k, 0.1 / (1.0 + 0.001 * k)) for k in range(400)]
    number = accepted(Budget(epsilon, delta, relation=R), [(step, None) for step in steps])
    assert number > 10
    assert sampled_delta(steps[:number], epsilon).lower <= delta
    assert sampled_delta(steps[: number + 1], epsilon).upper > delta


@pytest.mark.parametrize(
    "releases",
    [
        [(Gaussian(3.0 + k), 1.0) for k in range(6)],
        [(Laplace(9.0 + k / 7.0), 1.0) for k in range(5)],
        [(SampledGaussian(1.0 + k / 9.0, 0.05), None) for k in range(4)] + [(Gaussian(5.0), 1.0)],
    ],
)
def test_answers_depend_on_no_question_and_on_no_order(releases):
    asked, silent, turned = (Budget(50.0, 1e-6, relation=R) for _ in range(3))
    for release in releases:
        asked.spend(*release)
        asked.epsilon_of()
        asked.epsilon_of(1e-3)
        asked.rdp([2.0, 8.0])
        silent.spend(*release)
    for release in reversed(releases):
        turned.spend(*release)
    assert asked.epsilon_of() == silent.epsilon_of()
    assert turned.epsilon_of() == pytest.approx(silent.epsilon_of(), rel=1e-9)
    assert asked.to_json() == silent.to_json()
    assert Budget.from_json(asked.to_json()).epsilon_of() == silent.epsilon_of()


def test_a_release_that_was_just_made_is_recorded_as_a_new_one():
    """The same object again takes a shorter way; an equal one does not, and means the same."""
    short, long = Budget(9.0, 1e-6, relation=R), Budget(9.0, 1e-6, relation=R)
    noise, found = Laplace(50.0), best(1.0, epsilon=0.01, relation=R)
    for times in (1, 1, 1, 2, 2):
        short.spend(noise, 1.0, times)
        long.spend(Laplace(50.0), 1.0, times)
    short.spend(noise, 1)
    long.spend(Laplace(50.0), 1)
    for budget in (short, long):
        budget.spend(found)
        budget.spend(found)
    assert short.to_json() == long.to_json()
    assert short._ledger == long._ledger
    for wrong in ({"times": True}, {"relation": "replace-one"}, {"sampling": 0.5}):
        with pytest.raises(ValueError, match="budget: "):
            short.spend(noise, 1, **wrong)
    assert short.to_json() == long.to_json()


def one_of(noise, size):
    problems = Problems("test")
    found = read_release(problems, noise, size)
    problems.raise_if_any()
    return found


LESS_AND_MORE = [
    ((Laplace(2.0), 1.0), (Laplace(3.0), 1.0)),
    ((Laplace(2.0), 1.0), (Laplace(2.0), 0.5)),
    ((Gaussian(2.0), 1.0), (Gaussian(9.0), 4.0)),
    ((FlippedHuber(1.0, 2.0), 1.0), (FlippedHuber(2.0, 4.2), 1.0)),
    ((SampledGaussian(1.0, 0.1), None), (SampledGaussian(1.0, 0.05), None)),
    ((SampledGaussian(1.0, 0.1), None), (SampledGaussian(1.2, 0.1), None)),
    pytest.param(
        (SampledLaplace(1.0, 0.1), None),
        (SampledLaplace(1.2, 0.05), None),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("less", "more"), LESS_AND_MORE)
def test_what_dominates_has_no_smaller_epsilon(less, more):
    first, second = one_of(*less), one_of(*more)
    assert dominates(first, second)
    assert dominates(first, first)
    assert not dominates(second, first)
    for relation in (R, "replace-one"):
        budgets = [Budget(1e3, 1e-6, relation=relation) for _ in range(2)]
        for budget, release in zip(budgets, (less, more), strict=True):
            budget.spend(*release, times=7)
        assert budgets[0].epsilon_of() > budgets[1].epsilon_of()


def test_what_cannot_be_compared_is_not():
    some = [
        one_of(Laplace(2.0), 1.0),
        one_of(Gaussian(2.0), 1.0),
        one_of(Staircase(0.5, 1.0, 0.5), 1.0),
        one_of(DiscreteLaplace(2.0), 1),
        one_of(SampledGaussian(1.0, 0.1), None),
        one_of(SampledLaplace(1.0, 0.1), None),
        one_of([Laplace(9.0)] * 2, [1.0, 1.0]),
        one_of(SampledGaussian(2.0, 0.2), None),
        one_of(SampledGaussian(1.0, 0.05, "without replacement"), None),
    ]
    for first, second in itertools.permutations(some, 2):
        assert not dominates(first, second)
    here, there = (
        replace(one_of(Laplace(b), 1.0), relation=relation)
        for b, relation in ((2.0, R), (3.0, "replace-one"))
    )
    assert not dominates(here, there)
    certain = Ledger().plus(one_of(Laplace(2.0), 1.0), 1)
    assert not dominates(certain, one_of(Laplace(3.0), 1.0))  # its guarantee is stated
