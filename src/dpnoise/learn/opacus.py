"""The account of a `Budget` as an accountant of Opacus, by the relation that it is for.

`PrivacyEngine(accountant="dpnoise-add-remove")`, or "dpnoise-replace-one".
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from dpnoise._imports import imports_of
from dpnoise._validation import Problems
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, read_sampled
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.sampled.mechanism import SampledGaussian, TwoSided, sampled_epsilon
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE

with imports_of("opacus"):
    from opacus.accountants import IAccountant, register_accountant

_MOST_EPSILON = 1e4


class BudgetAccountant(IAccountant):
    """An accountant of Opacus whose epsilon is that of a `Budget`.

    Importing this module registers `AddRemoveAccountant` as "dpnoise-add-remove" and
    `ReplaceOneAccountant` as "dpnoise-replace-one".

    Attributes
    ----------
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours: one record more or less, as in the accountants of Opacus, or
        one record replaced by another.
    history : list of (float, float, int)
        Noise multiplier, sampling rate and number of the steps so far, equal ones together.

    Notes
    -----
    Proved and assumed: as for `Budget`. For "replace-one" steps on Poisson samples go through
    dp_accounting; without sampling (a rate of 1) the account is exact.

    Examples
    --------
    >>> from dpnoise.learn.opacus import AddRemoveAccountant
    >>> accountant = AddRemoveAccountant()
    >>> for _ in range(200):
    ...     accountant.step(noise_multiplier=2.0, sample_rate=0.05)
    >>> round(accountant.get_epsilon(1e-5), 2)
    1.56
    """

    relation: ClassVar[str]

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record of one step of the optimiser."""
        last = self.history[-1] if self.history else None
        if last is not None and last[:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (*last[:2], last[2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def get_epsilon(self, delta: float) -> float:
        """An upper bound on the epsilon of all steps.

        Parameters
        ----------
        delta : float
            From 1e-300 to below 1.

        Returns
        -------
        float
            At least the epsilon of the steps so far.

        Raises
        ------
        ValueError
            If an argument or a step is out of range, or epsilon is above 1e4.
        """
        budget = Budget(_MOST_EPSILON, delta, relation=self.relation)
        budget.spend(self)
        return budget.epsilon_of()

    def spending(self) -> Ledger:
        """What all steps so far cost a `Budget`, by `budget.spend(accountant)`.

        A ValueError is raised if a step is out of range.
        """
        problems, total = Problems("budget"), Ledger()
        size = 1.0 if self.relation == ADD_REMOVE else 2.0
        for multiplier, rate, steps in self.history:
            noise = Gaussian(multiplier)
            if rate < 1.0:
                one = read_sampled(problems, noise, 1.0, rate)
            else:
                one = read_release(problems, noise, size)
            problems.raise_if_any()
            total = total.plus(one, steps)
        return replace(total, relation=self.relation)

    def get_epsilon_bounds(self, delta: float) -> TwoSided:
        """Lower and upper bounds on the epsilon of all steps.

        Parameters
        ----------
        delta : float
            From 1e-300 to 1.

        Returns
        -------
        TwoSided
            The least epsilon of the steps so far is between them.

        Raises
        ------
        ValueError
            If an argument or a step is out of range.
        """
        if not self.history:
            return TwoSided(0.0, 0.0)
        steps = [SampledGaussian(multiplier, rate) for multiplier, rate, _ in self.history]
        counts = [count for _, _, count in self.history]
        return sampled_epsilon(steps, delta, steps=counts, relation=self.relation)

    def __len__(self) -> int:
        """The number of steps."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name by which Opacus knows it."""
        return f"dpnoise-{cls.relation}"


class AddRemoveAccountant(BudgetAccountant):
    """`BudgetAccountant` for data sets of which one has one record more."""

    relation = ADD_REMOVE


class ReplaceOneAccountant(BudgetAccountant):
    """`BudgetAccountant` for data sets of which one record is replaced."""

    relation = REPLACE_ONE


for _kind in (AddRemoveAccountant, ReplaceOneAccountant):
    register_accountant(_kind.mechanism(), _kind, force=True)
