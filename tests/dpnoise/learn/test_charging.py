"""The price of a grid search: which fits a record enters, and their composition."""

import numpy as np
import pytest

from dpnoise import Budget, BudgetExceededError
from dpnoise.learn import grid_search_price

PLAN = {"candidates": 4, "folds": 5, "epsilon": 0.1, "delta": 1e-8}


@pytest.mark.parametrize("folds", [2, 5, 20])
@pytest.mark.parametrize("refit", [True, False])
def test_fits_and_scores_are_those_that_a_record_enters(folds, refit):
    price = grid_search_price(**{**PLAN, "folds": folds}, refit=refit)
    trained, tested = np.zeros(20, dtype=int), np.zeros(20, dtype=int)
    for test in np.array_split(np.arange(20), folds):
        trained[np.setdiff1d(np.arange(20), test)] += 4
        tested[test] += 4
    assert set(trained + refit) == {price.fits}
    assert set(tested) == {price.scores}


def test_pure_budgets_add_up():
    budget = Budget(3.0, relation="replace-one")
    grid_search_price(**{**PLAN, "delta": 0.0}).charge(budget)
    assert budget.epsilon_of() == pytest.approx(1.7)


def test_the_account_of_the_composition_is_below_the_sum():
    budget = Budget(3.0, 1e-6, relation="replace-one")
    grid_search_price(**PLAN).charge(budget)
    other = Budget(3.0, 1e-6, relation="replace-one")
    other.spend_dp(0.1, 1e-8, times=17)
    assert budget.epsilon_of() == other.epsilon_of() < 1.7


def test_noisy_scores_are_paid_for_and_then_the_choice_is_covered():
    assert not grid_search_price(**PLAN).covers_the_choice
    price = grid_search_price(**{**PLAN, "delta": 0.0}, score_epsilon=0.2)
    assert price.covers_the_choice
    budget = Budget(3.0, relation="replace-one")
    price.charge(budget)
    assert budget.epsilon_of() == pytest.approx(1.7 + 0.8)


def test_a_price_beyond_the_budget_spends_nothing():
    budget = Budget(2.0, relation="replace-one")
    with pytest.raises(BudgetExceededError):
        grid_search_price(**{**PLAN, "delta": 0.0}, score_epsilon=0.2).charge(budget)
    assert budget.epsilon_of() == 0.0
    with pytest.raises(ValueError, match="replace-one"):
        grid_search_price(**PLAN).charge(Budget(9.0, relation="add-remove"))
    fresh = Budget(9.0, 1e-6)
    grid_search_price(**PLAN).charge(fresh)
    assert fresh.relation == "replace-one"


def test_what_is_wrong_is_named_at_once():
    with pytest.raises(ValueError, match="grid search: ") as caught:
        grid_search_price(
            candidates=0, folds=1, epsilon=-1.0, delta=1.0, refit=1, score_epsilon=-1.0
        )
    for name in ("candidates", "folds", "epsilon", "delta", "refit", "score_epsilon"):
        assert f"{name}: expected" in str(caught.value)
