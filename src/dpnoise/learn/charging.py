"""What fits cost a `Budget`: charging of one before its noise is drawn, and of a grid search."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NoReturn, Protocol

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, guaranteed
from dpnoise.sensitivity.relation import REPLACE_ONE

_MOST = 10**6


class _Charged(Protocol):
    """An estimator that knows what its fit costs."""

    budget: Budget | None

    def spending(self) -> Ledger:
        """What the fit costs."""


def check_budget_setting(problems: Problems, budget: object, epsilon: float) -> None:
    """Record of what is wrong with the setting `budget`."""
    good = budget is None or isinstance(budget, Budget)
    problems.require(good, "budget", "a dpnoise.Budget or None", budget)
    free = budget is not None and np.ndim(epsilon) == 0 and epsilon == math.inf
    problems.require(not free, "epsilon", "a finite number beside a budget", epsilon)


def charge(estimator: _Charged) -> None:
    """Charge a fit whose noise is known to the estimator's budget, if it has one."""
    if estimator.budget is not None:
        estimator.budget.spend(estimator)


def refuse_unfitted(estimator: object) -> NoReturn:
    """ValueError for an estimator without noise of its own."""
    message = (
        f"budget: noise: expected a fitted estimator with finite epsilon, got {estimator!r}, "
        "which is not fitted or has no noise"
    )
    raise ValueError(message)


@dataclass(frozen=True)
class GridSearchPrice:
    """What a grid search with cross-validation spends, for each record.

    Attributes
    ----------
    fits : int
        Fits whose training set holds a given record.
    scores : int
        Scores that a given record enters.
    epsilon, delta : float
        Of one fit.
    score_epsilon : float or None
        Of one score, if scores are released with noise; None if they are not.
    """

    fits: int
    scores: int
    epsilon: float
    delta: float
    score_epsilon: float | None

    @property
    def covers_the_choice(self) -> bool:
        """Whether the best candidate may be published: only if scores are noisy."""
        return self.score_epsilon is not None

    def charge(self, budget: Budget) -> None:
        """Spend everything, or nothing and raise `BudgetExceededError`.

        Parameters
        ----------
        budget : dpnoise.Budget
            With the relation "replace-one" or none yet.

        Raises
        ------
        ValueError
            If the budget has another relation.
        BudgetExceededError
            If the budget does not allow it; nothing is recorded.
        """
        budget.spend(self)

    def spending(self) -> Ledger:
        """What all fits, and all noisy scores, cost a `Budget`."""
        total = Ledger().plus(guaranteed(self.epsilon, self.delta), self.fits)
        if self.score_epsilon is not None:
            total = total.plus(guaranteed(self.score_epsilon, 0.0), self.scores)
        return replace(total, relation=REPLACE_ONE)


def grid_search_price(
    *,
    candidates: int,
    folds: int,
    epsilon: float,
    delta: float,
    refit: bool = True,
    score_epsilon: float | None = None,
) -> GridSearchPrice:
    """Price of a grid search over private estimators, such as by `GridSearchCV`.

    Parameters
    ----------
    candidates : int
        Settings that are tried, from 1 to 1e6.
    folds : int
        Of the cross-validation, from 2 to 1e6; each record is in one test set.
    epsilon, delta : float
        Of one fit, the largest among the candidates.
    refit : bool
        Whether the best candidate is fitted to all records in the end.
    score_epsilon : float, optional
        Of each score, if the choice is made from scores with noise. `GridSearchCV` adds none: its
        choice, and `cv_results_`, are then not private at any price.

    Returns
    -------
    GridSearchPrice
        Which says how many fits and scores a record enters, and can be charged to a Budget, whose
        account is that of the composition.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Proved, for neighbouring data sets that differ by the replacement of one record and folds that
    do not depend on the values: the record is in the training sets of all folds but one, so that
    candidates x (folds - 1) fits depend on it, and one more by `refit`; the others are the same
    for both data sets. The scores of one fold, one for each candidate, read it directly. Settings
    may be chosen by earlier noisy results, the budgets of fits and scores may not.

    Examples
    --------
    >>> from dpnoise import Budget
    >>> from dpnoise.learn import grid_search_price
    >>> price = grid_search_price(candidates=6, folds=5, epsilon=0.1, delta=1e-8)
    >>> price.fits, price.scores, price.covers_the_choice
    (25, 6, False)
    >>> budget = Budget(epsilon=3.0, delta=1e-6, relation="replace-one")
    >>> price.charge(budget)
    >>> round(budget.epsilon_of(), 2)  # 25 times 0.1, and less by the account
    2.09
    """
    problems = Problems("grid search")
    for name, value, fewest in (("candidates", candidates, 1), ("folds", folds, 2)):
        good = is_integer(value) and fewest <= value <= _MOST
        problems.require(good, name, f"a whole number from {fewest} to {_MOST}", value)
    problems.number("epsilon", epsilon, low=0.0, high=700.0)
    problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    problems.require(isinstance(refit, bool), "refit", "True or False", refit)
    if score_epsilon is not None:
        problems.number("score_epsilon", score_epsilon, low=0.0, high=700.0)
    problems.raise_if_any()
    fits = int(candidates) * (int(folds) - 1) + int(refit)
    score = None if score_epsilon is None else float(score_epsilon)
    return GridSearchPrice(fits, int(candidates), float(epsilon), float(delta), score)
