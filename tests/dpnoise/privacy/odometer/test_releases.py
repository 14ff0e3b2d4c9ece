"""Events of dp_accounting: what they mean here and there, and which are refused."""

import math
from types import SimpleNamespace

import pytest

from dpnoise import Budget, BudgetExceededError, Gaussian, Laplace, SampledGaussian, SampledLaplace

events = pytest.importorskip("dp_accounting").dp_event
R = "add-remove"
GAUSSIAN, LAPLACE = events.GaussianDpEvent(2.0), events.LaplaceDpEvent(5.0)


@pytest.mark.parametrize(
    ("event", "releases"),
    [
        (GAUSSIAN, [(Gaussian(2.0), 1.0)]),
        (LAPLACE, [(Laplace(5.0), 1.0)]),
        (events.PoissonSampledDpEvent(0.02, GAUSSIAN), [(SampledGaussian(2.0, 0.02), None)]),
        (events.PoissonSampledDpEvent(0.02, LAPLACE), [(SampledLaplace(5.0, 0.02), None)]),
        (events.NoOpDpEvent(), []),
        (
            events.SelfComposedDpEvent(events.ComposedDpEvent([GAUSSIAN, LAPLACE]), 3),
            [(Gaussian(2.0), 1.0), (Laplace(5.0), 1.0)] * 3,
        ),
    ],
)
def test_an_event_is_the_release_of_that_name(event, releases):
    read, said = Budget(1e3, 1e-6, relation=R), Budget(1e3, 1e-6, relation=R)
    read.spend(event)
    for release in releases:
        said.spend(*release)
    assert read.epsilon_of() == pytest.approx(said.epsilon_of(), rel=1e-7)


def test_a_replaced_record_moves_a_sum_twice():
    budget, said = Budget(1e3, 1e-6, relation="replace-one"), Budget(1e3, 1e-6)
    budget.spend(events.ComposedDpEvent([GAUSSIAN, LAPLACE]))
    said.spend(Gaussian(2.0), 2.0, relation="replace-one")
    said.spend(Laplace(5.0), 2.0, relation="replace-one")
    assert budget.epsilon_of() == pytest.approx(said.epsilon_of(), rel=1e-7)


def test_samples_of_a_fixed_size_and_randomized_response_are_for_replacement():
    fixed = events.SampledWithoutReplacementDpEvent(1000, 50, GAUSSIAN)
    response = events.RandomizedResponseDpEvent(0.5, 4)
    for event in (fixed, response, events.ComposedDpEvent([response, GAUSSIAN])):
        with pytest.raises(ValueError, match=r"relation: expected"):
            Budget(1e3, 1e-6, relation=R).spend(event)
        budget = Budget(1e3, 1e-6, relation="replace-one")
        budget.spend(event)
        assert 0.0 < budget.epsilon_of() < 10.0
    budget = Budget(1e3, relation="replace-one")
    budget.spend(response)
    assert budget.epsilon_of() == pytest.approx(math.log((0.5 + 0.125) / 0.125), rel=1e-11)


@pytest.mark.parametrize(
    "event",
    [
        events.NonPrivateDpEvent(),
        events.UnsupportedDpEvent(),
        events.ZCDpEvent(0.5),
        events.DiscreteLaplaceDpEvent(0.5, 1),
        events.SelfComposedDpEvent(events.SingleEpochTreeAggregationDpEvent(1.0, 2), 2),
        events.PoissonSampledDpEvent(0.1, events.SelfComposedDpEvent(GAUSSIAN, 2)),
        events.SampledWithReplacementDpEvent(10, 2, GAUSSIAN),
        events.GaussianDpEvent(0.0),
        events.SelfComposedDpEvent(GAUSSIAN, 0),
        events.SampledWithoutReplacementDpEvent(10, 20, GAUSSIAN),
        type("GaussianDpEvent", (SimpleNamespace,), {})(),
    ],
    ids=lambda one: repr(one)[:60],
)
def test_what_is_not_proved_is_refused_by_name_and_nothing_is_spent(event):
    budget = Budget(1e3, 1e-6, relation="replace-one")
    with pytest.raises(ValueError, match=r"event|times"):
        budget.spend(event)
    with pytest.raises(ValueError, match="sensitivity: expected None beside an event"):
        budget.spend(event, 1.0)
    assert budget.entries == []


def test_an_event_beyond_the_budget_is_refused():
    with pytest.raises(BudgetExceededError):
        Budget(1.0, 1e-6, relation=R).spend(events.SelfComposedDpEvent(GAUSSIAN, 100))
