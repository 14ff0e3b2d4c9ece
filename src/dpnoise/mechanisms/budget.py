"""The public `Budget`: one that also plans releases, with noise that fills what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise.privacy.odometer import budget as odometer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise.mechanisms.noise import Mechanism
    from dpnoise.sensitivity.base import Sensitivity


class Budget(odometer.Budget):  # noqa: D101  (that of the ledger, which has all but the plan)
    __doc__ = odometer.Budget.__doc__

    def plan(
        self,
        sensitivity: float | ArrayLike | Sensitivity,
        times: int = 1,
        *,
        error: str = "variance",
        weights: ArrayLike | None = None,
        relation: str | None = None,
        family: str | None = None,
        integer: bool | None = None,
    ) -> Mechanism:
        """Noise of least error for releases that fill what is left of the budget.

        Nothing is spent: `release(values, found, budget=budget)` charges one of the releases.

        Parameters
        ----------
        sensitivity : float, array_like of shape (K,), or Sensitivity
            What one person can change in one release, as for `best`.
        times : int
            How many releases, each with fresh noise, from 1 to 1e6.
        error : str
            As for `best`.
        weights : array_like of float, shape (K,), optional
            As for `best`.
        relation : {"add-remove", "replace-one"}, optional
            As for `best`; that of the budget by default.
        family : str, optional
            As for `best`.
        integer : bool, optional
            As for `best`.

        Returns
        -------
        Mechanism
            As of `best(..., times=times)`. Its epsilon is that of the planned releases by
            themselves, at the delta of the budget.

        Raises
        ------
        ValueError
            If an argument is out of range; the message names every problem.
        RuntimeError
            If nothing is left, or no noise keeps the budget.

        Examples
        --------
        >>> from dpnoise import Budget, Counts, Laplace
        >>> budget = Budget(1.0, 1e-6, relation="add-remove")
        >>> budget.spend(Laplace(4.0), 1.0, label="pilot")
        >>> found = budget.plan(Counts(3, of=12, relation="add-remove"), times=52)
        >>> round(found.std, 1), found.times
        (64.8, 52)
        >>> for week in range(52):
        ...     budget.spend(found, label=f"week {week + 1}")
        >>> round(budget.epsilon_of(), 4)
        1.0
        """
        if self.epsilon is None:
            message = f"budget: plan: expected a limit on epsilon, got {self!r}"
            raise ValueError(message)
        from dpnoise.mechanisms import compare  # noqa: PLC0415 - brings every mechanism

        stated = self.relation if relation is None else relation
        asked = (sensitivity, self.epsilon, self.delta, error, weights, stated, family, integer)
        request = compare.read_request(*asked, times, compare.METHOD_FAMILIES)
        return compare.noise_for_several(request, False, family, self)
