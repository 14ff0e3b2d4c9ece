"""What a helper returns, and how it is charged to a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise.calibration.budget import check_budget
from dpnoise.privacy.odometer.budget import Budget

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.releases.entropy import Entropy

RELATIONS = ("replace-one", "add-remove")


@dataclass(frozen=True)
class Entry:
    """A release as `Budget` counts it.

    Attributes
    ----------
    noise, sensitivity : object
        The arguments of `Budget.spend`; None where only epsilon is known.
    epsilon : float
        The pure epsilon where no noise is stated.
    """

    noise: Any = None
    sensitivity: Any = None
    epsilon: float = 0.0

    def spend(self, budget: Budget) -> None:
        """Charge it to a budget; refused as by `Budget.spend`."""
        if self.noise is None:
            budget.spend_dp(self.epsilon)
        else:
            budget.spend(self.noise, self.sensitivity)


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
    """

    value: Any
    noise: Any
    interval95: tuple[Any, Any] | None
    entry: Entry


class Request(NamedTuple):
    """The privacy that is asked for, the budget that pays, and the source of bits."""

    epsilon: float
    delta: float
    relation: str
    budget: Budget | None
    entropy: Entropy

    def check(self, problems: Problems) -> None:
        """Record of what is wrong with it."""
        check_budget(problems, self.epsilon, self.delta, 1.0, 1)
        known = isinstance(self.relation, str) and self.relation in RELATIONS
        problems.require(known, "relation", " or ".join(map(repr, RELATIONS)), self.relation)
        if self.budget is not None:
            same = isinstance(self.budget, Budget) and self.budget.relation == self.relation
            problems.require(same, "budget", f"a Budget for {self.relation!r}", self.budget)

    def charge(self, entry: Entry) -> None:
        """Charge a release, which comes before its draw."""
        if self.budget is not None:
            entry.spend(self.budget)
