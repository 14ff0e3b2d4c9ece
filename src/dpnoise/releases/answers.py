"""What a helper returns, and how it is charged to a budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import Problems
from dpnoise.calibration.budget import check_budget
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, guaranteed
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.sensitivity.relation import joined, promise, require_relation

if TYPE_CHECKING:
    from dpnoise.releases.entropy import Entropy


@dataclass(frozen=True)
class Entry:
    """A release as `Budget` counts it.

    Attributes
    ----------
    noise, sensitivity : object
        The arguments of `Budget.spend`; None where only epsilon is known.
    epsilon : float
        The pure epsilon where no noise is stated.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours.
    """

    noise: Any = None
    sensitivity: Any = None
    epsilon: float = 0.0
    relation: str = field(kw_only=True)

    def spending(self) -> Ledger:
        """What it costs a `Budget`, with its relation."""
        problems = Problems("budget")
        if self.noise is None:
            found = guaranteed(self.epsilon, 0.0)
        else:
            found = read_release(problems, self.noise, self.sensitivity)
        problems.raise_if_any()
        return replace(found, relation=self.relation)

    def spend(self, budget: Budget) -> None:
        """Charge it to a budget; refused as by `Budget.spend`."""
        if self.noise is None:
            budget.spend_dp(self.epsilon, relation=self.relation)
        else:
            budget.spend(self.noise, self.sensitivity, relation=self.relation)


@dataclass(frozen=True, eq=False)
class Released:
    """A private answer.

    Attributes
    ----------
    value : int, float or numpy.ndarray
        What may be published.
    noise : Noise, IntegerNoise or None
        What was added to each number; None for a quantile.
    interval95 : tuple or None
        Two numbers, or arrays, between which each exact answer lies with a probability of at least
        95 % over the noise and the rounding; None for a quantile.
    entry : Entry
        What it costs; already charged if a budget was passed.
    promise : str
        What is guaranteed, in one sentence.
    """

    value: Any
    noise: Any
    interval95: tuple[Any, Any] | None
    entry: Entry
    promise: str

    def spending(self) -> Ledger:
        """What it costs a `Budget`, if it was not charged to one already."""
        return self.entry.spending()


class Request(NamedTuple):
    """The privacy that is asked for, the budget that pays, and the source of bits."""

    epsilon: float
    delta: float
    stated: str | None  # by the call
    budget: Budget | None
    entropy: Entropy

    @property
    def relation(self) -> str:
        """Which data sets are neighbours, of a checked request."""
        return self.stated or self.budget.relation  # type: ignore[union-attr, return-value]

    def check(self, problems: Problems) -> None:
        """Record of what is wrong with it."""
        check_budget(problems, self.epsilon, self.delta, 1.0, 1)
        known = self.budget is None or isinstance(self.budget, Budget)
        problems.require(known, "budget", "a Budget", self.budget)
        of_budget = getattr(self.budget, "relation", None)
        one = of_budget if self.stated is None else self.stated
        if require_relation(problems, one, "of the Budget or as relation="):
            joined(problems, of_budget, self.stated, "the budget and relation=")

    def promise(self, change: str) -> str:
        """The guarantee in one sentence, for what one person changes in words."""
        return promise(self.relation, change, self.epsilon, self.delta)

    def charge(self, entry: Entry) -> None:
        """Charge a release, which comes before its draw."""
        if self.budget is not None:
            entry.spend(self.budget)
