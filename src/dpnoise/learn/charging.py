"""The `budget` of a private estimator: charged by `fit`, before any noise is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np

from dpnoise.privacy.odometer.budget import Budget

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.privacy.odometer.ledger import Ledger


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
