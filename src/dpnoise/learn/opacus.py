"""The account of a `Budget` as an accountant of Opacus: `PrivacyEngine(accountant="dpnoise")`."""

from __future__ import annotations

from dpnoise._extras import imports_of
from dpnoise.noise.gaussian import Gaussian
from dpnoise.privacy.odometer.budget import Budget

with imports_of("opacus"):
    from opacus.accountants import IAccountant, register_accountant

_MOST_EPSILON = 1e4


class BudgetAccountant(IAccountant):
    """An accountant of Opacus whose epsilon is that of a `Budget`.

    Importing this module registers it as "dpnoise".

    Attributes
    ----------
    history : list of (float, float, int)
        Noise multiplier, sampling rate and number of the steps so far, equal ones together.

    Notes
    -----
    Proved and assumed: as for `Budget`. Steps on Poisson samples go through dp_accounting; without
    sampling (a rate of 1) the account is exact. Neighbouring data sets differ by one record that
    is added or removed, as everywhere in Opacus, unless `get_epsilon` is told otherwise.

    Examples
    --------
    >>> from dpnoise.learn.opacus import BudgetAccountant
    >>> accountant = BudgetAccountant()
    >>> for _ in range(200):
    ...     accountant.step(noise_multiplier=2.0, sample_rate=0.05)
    >>> round(accountant.get_epsilon(1e-5), 2)
    1.56
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record of one step of the optimiser."""
        last = self.history[-1] if self.history else None
        if last is not None and last[:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (*last[:2], last[2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def get_epsilon(self, delta: float, relation: str = "add-remove") -> float:
        """An upper bound on the epsilon of all steps.

        Parameters
        ----------
        delta : float
            From 1e-300 to below 1.
        relation : {"add-remove", "replace-one"}
            How neighbouring data sets differ.

        Returns
        -------
        float
            At least the epsilon of the steps so far.

        Raises
        ------
        ValueError
            If an argument or a step is out of range, or epsilon is above 1e4.
        """
        budget = Budget(_MOST_EPSILON, delta, relation=relation)
        for multiplier, rate, steps in self.history:
            if rate < 1.0:
                budget.spend(Gaussian(multiplier), 1.0, times=steps, sampling=rate)
            else:
                size = 1.0 if relation == "add-remove" else 2.0
                budget.spend(Gaussian(multiplier), size, times=steps)
        return budget.epsilon_of()

    def __len__(self) -> int:
        """The number of steps."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name by which Opacus knows it."""
        return "dpnoise"


register_accountant(BudgetAccountant.mechanism(), BudgetAccountant, force=True)
