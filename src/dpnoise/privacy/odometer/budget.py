"""One privacy budget for several releases of the same data: the public `Budget`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.privacy.odometer.accounts import (
    ExactAccount,
    GaussianFilter,
    RenyiFilter,
    concentrated,
    read_distribution,
    renyi_divergences,
)
from dpnoise.privacy.odometer.ledger import (
    Entry,
    Ledger,
    has_gaussian,
    pure_release,
    read_document,
    read_entry,
    read_sampled,
    read_times,
    written,
)
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.sensitivity.base import IN_SET, Sensitivity, check_relation, joined, require_relation
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.privacy.zcdp import ZCDP

ACCOUNTS = ("exact", "gaussian-filter", "renyi-filter")


class BudgetExceededError(ValueError):
    """A release that the budget does not allow; nothing was spent.

    Examples
    --------
    >>> from dpnoise import Budget, BudgetExceededError, Laplace
    >>> try:
    ...     Budget(1.0, relation="add-remove").spend(Laplace(1.0), sensitivity=1.5)
    ... except BudgetExceededError as error:
    ...     print(str(error).partition(", delta")[0])
    budget: 1 times Laplace(beta=1.0) at sensitivity 1.5: expected releases within epsilon = 1.0
    """


class Budget:
    """A privacy budget (epsilon, delta) and what has been spent of it.

    Each release of the same data is recorded by `spend` before it is made; one that would exceed
    the budget is refused. All releases together are then (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        From 0 to 1e4.
    delta : float
        0, or from 1e-300 to below 1.
    account : {"exact", "gaussian-filter", "renyi-filter"}
        How releases are added up. "exact": by the profile of everything together, for privacy
        parameters (noise, sensitivity, number) that do not depend on results; which queries are
        asked, and when to stop, may. The filters hold where the parameters depend on earlier
        results too: "gaussian-filter" adds mu^2 and loses nothing for Gaussian noise,
        "renyi-filter" adds Renyi divergences of one order and suits Laplace noise among many
        releases. Without delta every account adds pure epsilons, which is such a filter.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours, for all entries: one person more or less, or one person
        replaced by another. Entries that state no relation are then for this one; without it each
        entry states its own, and all must be the same.

    Attributes
    ----------
    epsilon, delta : float
        The budget.
    account : str
        As given.
    relation : str or None
        As given, or that of the first entry; None before it.
    adaptive : bool
        Whether the guarantee covers privacy parameters that depend on earlier results.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Notes
    -----
    Proved (docs/budget.md): everything not refused is (epsilon, delta)-DP together, in the model of
    real-valued noise, rounding included. Samples go through dp_accounting, whose rounding is not
    bounded, beside noise whose transform is not known in closed form; else by our own bounds
    (docs/sampling.md). Assumed: every release is recorded, with a
    sensitivity that holds.

    Examples
    --------
    >>> from dpnoise import Budget, Gaussian, Laplace
    >>> budget = Budget(epsilon=3.0, delta=1e-6, relation="add-remove")
    >>> budget.spend(Gaussian(4.0), sensitivity=1.0, times=5)
    >>> budget.spend(Laplace(3.0), sensitivity=1.0)
    >>> round(budget.epsilon_of(), 5)
    2.80469
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        account: str = "exact",
        relation: str | None = None,
    ) -> None:
        problems = Problems("budget")
        problems.budget(epsilon, delta)
        known = isinstance(account, str) and account in ACCOUNTS
        problems.require(known, "account", " or ".join(map(repr, ACCOUNTS)), account)
        check_relation(problems, relation)
        problems.raise_if_any()
        self.epsilon, self.delta = float(epsilon), float(delta)
        self.account, self._for_all = account, relation
        self._ledger = Ledger()
        self._entries: list[Entry] = []
        self._is_copy = False
        self._account: ExactAccount | GaussianFilter | RenyiFilter
        if self.delta == 0.0 or account == "exact":
            self._account = ExactAccount(self.epsilon, self.delta)
        else:
            kind = GaussianFilter if account == "gaussian-filter" else RenyiFilter
            self._account = kind(self.epsilon, self.delta)
        self.adaptive = self.delta == 0.0 or self._account.adaptive

    @property
    def relation(self) -> str | None:
        """Which data sets are neighbours: as given, or as the first entry says."""
        return self._for_all or self._ledger.relation

    def __repr__(self) -> str:
        """The arguments that it was made with."""
        return (
            f"Budget(epsilon={self.epsilon!r}, delta={self.delta!r}, account={self.account!r}, "
            f"relation={self._for_all!r})"
        )

    def __str__(self) -> str:
        """What was spent, on what, and what is left, as a table."""
        lines = [f"budget: epsilon = {self.epsilon:g}, delta = {self.delta:g} ({self.relation})"]
        for what, times, one in self._entries:
            alone = self._account.epsilon_of(Ledger().plus(one, times), self.delta)
            lines.append(f"  {times} x {what}: epsilon = {alone:.4g} alone")
        spent, left = self.epsilon_of(), self.remaining()
        lines.append(f"spent: epsilon = {spent:.4g} at delta = {self.delta:g}; left: {left:.4g}")
        return "\n".join(lines)

    @property
    def entries(self) -> list[Entry]:
        """What was spent, in order: entries with `what` in words, `times` and the cost of `one`."""
        return list(self._entries)

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy, which shows what was spent and refuses to be charged."""
        return {**self.__dict__, "_entries": list(self._entries), "_is_copy": True}

    def __sklearn_clone__(self) -> Budget:
        """The budget itself: clones of an estimator are charged to one and the same."""
        return self

    def to_json(self) -> str:
        """The budget and all that was spent, as JSON with exact numbers.

        Returns
        -------
        str
            To be read by `from_json`.

        Raises
        ------
        ValueError
            If an entry is a privacy loss distribution of another package, or a user's own noise.
        """
        content = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "account": self.account,
            "relation": self._for_all,
        }
        return written(content, self._entries)

    @classmethod
    def from_json(cls, text: str | bytes) -> Budget:
        """The budget that a text of `to_json` states, with all that was spent.

        Parameters
        ----------
        text : str or bytes
            What `to_json` returned.

        Returns
        -------
        Budget
            A budget that goes on where the other one was.

        Raises
        ------
        ValueError
            If the text is not of this form or version, a number is out of range, or the entries
            exceed the budget; every problem is named.

        Examples
        --------
        >>> from dpnoise import Budget, Laplace
        >>> budget = Budget(1.0, relation="add-remove")
        >>> budget.spend(Laplace(4.0), 1.0)
        >>> Budget.from_json(budget.to_json()).remaining()
        0.75
        """
        problems = Problems("budget")
        data = read_document(problems, text)
        problems.raise_if_any()
        entries = [read_entry(problems, k, one) for k, one in enumerate(data["entries"])]
        found = None
        try:
            names = ("epsilon", "delta", "account", "relation")
            epsilon, delta, account, relation = (data[name] for name in names)
            found = cls(epsilon, delta, account=account, relation=relation)
        except ValueError as error:
            problems.add(str(error).removeprefix("budget: "))
        problems.raise_if_any()
        assert found is not None  # noqa: S101  (or refused)
        for k, (what, times, one) in enumerate(entries):
            last = k == len(entries) - 1  # then there is most of it
            problems = Problems(f"budget: entries[{k}]")
            found._record(problems, one, times, what, one.relation, check=last)
        return found

    def spend(
        self,
        noise: Any,  # noqa: ANN401  (of any family, or a sequence, or a result)
        sensitivity: float | ArrayLike | Sensitivity | None = None,
        times: int = 1,
        *,
        sampling: float | None = None,
        relation: str | None = None,
    ) -> None:
        """Record of releases that are about to be made.

        Parameters
        ----------
        noise : object
            What `best`, `compare`, `calibrate`, `calibrate_joint` or
            `coordinate_noise` found, a fitted private estimator, what a helper of `release`
            returned, a `SampledGaussian` or a `SampledLaplace`: these state all the rest. Or the
            noise of a number, the independent noise of each coordinate of a vector, or their joint
            noise. K-norm noise in the l2 norm, or that of an ellipsoid, counts by its own loss, in
            any other norm as Laplace noise of one number, which is exact for boxes and l1 balls,
            and staircases in a norm by their pure epsilon. Where a release may cost less than what
            stands for it, its entry says so.
        sensitivity : float, array_like of float or Sensitivity, optional
            The largest change of the query, non-negative, or of each coordinate (an integer for
            noise on the integers), or a set: noise of one number is then independent for each
            coordinate, and a list has that of each. For joint noise a set, or a number by which its
            own is multiplied (for `KNorm` and `Staircase2D` the unit ball). For Gaussian noise it
            may be the l2 sensitivity of a vector whose coordinates all have this noise. None beside
            a result.
        times : int
            How many such releases, with fresh noise each, from 1 to 1e8.
        sampling : float, optional
            For Gaussian noise, of a sum over a Poisson sample: the chance of each record to be in
            it. The sensitivity is then the largest norm of one record's contribution, for either
            relation. Needs the extra `accounting` beside noise whose transform is not known in
            closed form.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours; needed unless the set or the budget states it, and then
            the same. Noise on samples counts by the pair of the relation; where none is stated it
            is "add-remove", for samples of fixed size "replace-one".

        Raises
        ------
        ValueError
            If an argument is out of range, no relation is stated or another one than that of the
            budget, or the account cannot count such a release.
        BudgetExceededError
            If the budget does not allow it. In either case nothing is recorded.
        ModuleNotFoundError
            If `sampling` is given without dp_accounting where that counts it.
        """
        problems = Problems("budget")
        count = read_times(problems, times)
        if sampling is None:
            release = read_release(problems, noise, sensitivity)
        else:
            release = read_sampled(problems, noise, sensitivity, sampling)
        own = sensitivity.relation if isinstance(sensitivity, Sensitivity) else release.relation
        if own is relation is self._for_all is None and hasattr(noise, "sampled_step"):
            own = ADD_REMOVE  # as its own bounds have it
        stated = joined(problems, own, relation, "the set and relation=")
        what = repr(noise) if sensitivity is None else f"{noise!r} at sensitivity {sensitivity!r}"
        self._record(problems, release, count, what, stated)

    def spend_dp(
        self,
        epsilon: float,
        delta: float = 0.0,
        times: int = 1,
        *,
        relation: str | None = None,
    ) -> None:
        """Record of mechanisms of which only (epsilon, delta)-DP is known.

        Parameters
        ----------
        epsilon, delta : float
            Of one of them: epsilon from 0 to 700, delta in [0, 1), and 0 for a filter.
        times : int
            How many, from 1 to 1e8.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours; needed unless the budget states it.

        Raises
        ------
        ValueError
            As for `spend`.
        BudgetExceededError
            As for `spend`.
        """
        problems = Problems("budget")
        count = read_times(problems, times)
        good = problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
        release = pure_release(problems, epsilon, delta) if good else Ledger()
        what = f"({epsilon!r}, {delta!r})-DP"
        self._record(problems, release, count, what, relation)

    def spend_distribution(
        self,
        distribution: Any,  # noqa: ANN401
        times: int = 1,
        *,
        relation: str | None = None,
    ) -> None:
        """Record of mechanisms whose privacy loss distribution is known, as dp_accounting has it.

        Parameters
        ----------
        distribution : dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            Of one of them, pessimistic, on multiples of 1e-4 (see `dpnoise.loss_distribution`).
        times : int
            How many, from 1 to 1e8.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours; needed unless the budget states it.

        Raises
        ------
        ValueError, BudgetExceededError, ModuleNotFoundError
            As for `spend`.
        """
        problems = Problems("budget")
        release = read_distribution(problems, distribution)
        count = read_times(problems, times)
        self._record(problems, release, count, "privacy loss distribution", relation)

    def _record(
        self,
        problems: Problems,
        release: Ledger,
        times: int,
        what: str,
        relation: str | None,
        *,
        check: bool = True,
    ) -> None:
        """Record of a checked release with its relation, unless it exceeds the budget."""
        if self._is_copy:
            problems.add(
                "budget: expected the original, whose entries are all there are, got a copy (by "
                "copy, pickle or another process); to_json and from_json move a budget"
            )
        what_times = f"{times} times {what}"
        stated = self._for_all if relation is None else relation
        if require_relation(problems, stated, f"of the Budget, {IN_SET}"):
            joined(problems, self.relation, stated, "all that a Budget counts")
        if not problems.found:
            reason = self._account.refuse(release)
            problems.require(not reason, "noise", reason, what_times)
        problems.raise_if_any()
        if release.counted_as:
            what = f"{what} (counted as {release.counted_as})"
        release = replace(release, relation=stated)
        after = self._ledger.plus(release, times)
        if check and not self._account.keeps(after):
            raise BudgetExceededError(
                f"budget: {what_times}: expected releases within epsilon = {self.epsilon!r}, "
                f"delta = {self.delta!r} together with what was spent before, got "
                f"{self._excess(after)}; nothing was spent"
            )
        self._ledger = after
        self._entries.append(Entry(what, times, release))

    def _excess(self, after: Ledger) -> str:
        """What refused releases come to with all before, in words; without delta it is known."""
        if self.delta > 0.0:
            return "more"
        spent = f"(spent before: epsilon = {self.epsilon_of(0.0)!r})"
        found = self._account.epsilon_of(after, 0.0)
        if found < math.inf:
            return f"epsilon = {found!r}, as at delta = 0 the largest losses add up {spent}"
        if has_gaussian(after):
            return (
                "an infinite epsilon, as at delta = 0 Gaussian noise has no other: its "
                f"loss is without bound {spent}"
            )
        if after.failure > 0:
            return f"a delta above 0 {spent}"
        return f"more, as the loss of this noise is without a known bound {spent}"

    def epsilon_of(self, delta: float | None = None) -> float:
        """An upper bound on the epsilon of everything spent.

        Parameters
        ----------
        delta : float, optional
            In [0, 1); the budget's by default.

        Returns
        -------
        float
            For the exact account within about 1e-7 of the smallest one; infinite if there is none.
            For a filter it is what its cost stands for: only the budget itself is guaranteed where
            parameters were chosen adaptively.

        Raises
        ------
        ValueError
            If delta is out of range.
        """
        if delta is None:
            delta = self.delta
        problems = Problems("budget")
        problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
        problems.raise_if_any()
        return self._account.epsilon_of(self._ledger, float(delta))

    def remaining(self) -> float:
        """Epsilon of a release without delta that still fits, rounded down.

        For the exact account it is the budget's epsilon less `epsilon_of()`. Releases of other
        kinds may fit where it is small: `spend` decides.
        """
        return max(0.0, self._account.pure_left(self._ledger))  # not -0.0

    def zcdp(self) -> ZCDP:
        """A concentrated bound (xi, eta) of everything spent, infinite where none is known."""
        return concentrated(self._ledger, self.delta)

    def rdp(self, orders: ArrayLike) -> Array:
        """Upper bounds on the Renyi divergences of everything spent.

        Parameters
        ----------
        orders : array_like of float
            Above 1, at most 1e6.

        Returns
        -------
        numpy.ndarray or float
            Of the shape of `orders`, infinite where none is known.

        Raises
        ------
        ValueError
            If an order is out of range.
        """
        problems = Problems("budget")
        checked = floats(problems, "orders", orders, low=1.0, high=1e6, open_low=True)
        problems.raise_if_any()
        found = renyi_divergences(self._ledger, np.atleast_1d(checked).ravel())
        return found.reshape(checked.shape)[()]
