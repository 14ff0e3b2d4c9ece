"""What a helper is asked for, and how what it returns is charged to a budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._results import EqualByValue
from dpnoise._validation import Problems
from dpnoise.privacy.odometer.budget import Budget
from dpnoise.privacy.odometer.ledger import Ledger, check_label, guaranteed
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.odometer.statement import words_of
from dpnoise.sensitivity.base import joined, require_relation
from dpnoise.sensitivity.relation import promise

if TYPE_CHECKING:
    from dpnoise.noise.exact import Entropy


@dataclass(frozen=True, eq=False)
class Entry(EqualByValue):
    """A release as `Budget` counts it.

    Attributes
    ----------
    noise, sensitivity : object
        The arguments of `Budget.spend`; None where only epsilon is known.
    epsilon : float
        The pure epsilon where no noise is stated.
    relation : {"add-remove", "replace-one"} or None
        Which data sets are neighbours; None if that was not stated.
    failure : float
        A probability with which something may be released that the noise does not hide.
    """

    noise: Any = None
    sensitivity: Any = None
    epsilon: float = 0.0
    relation: str | None = field(kw_only=True)
    failure: float = field(default=0.0, kw_only=True)

    @property
    def summary(self) -> str:
        """Noise and sensitivity in few words, as the entry of a budget has them."""
        if self.noise is None:
            return f"({self.epsilon!r}, 0.0)-DP"
        more = f", and a failure of {self.failure:.4g}" if self.failure else ""
        return f"{words_of(self.noise, self.sensitivity)}{more}"

    def spending(self) -> Ledger:
        """What it costs a `Budget`, with its relation."""
        problems = Problems("budget")
        if self.noise is None:
            found = guaranteed(self.epsilon, 0.0)
        else:
            found = read_release(problems, self.noise, self.sensitivity)
        problems.raise_if_any()
        failure = found.failure + Fraction(self.failure)
        return replace(found, relation=self.relation, failure=failure)

    def spend(self, budget: Budget, *, label: str = "") -> None:
        """Charge it to a budget; refused as by `Budget.spend`."""
        if self.failure:
            budget.spend(self, label=label)
        elif self.noise is None:
            budget.spend_dp(self.epsilon, relation=self.relation, label=label)
        else:
            budget.spend(self.noise, self.sensitivity, relation=self.relation, label=label)


class ReleaseRequest(NamedTuple):
    """The privacy that is asked for, the budget that pays, and the source of bits."""

    epsilon: float
    delta: float
    stated: str | None  # by the call
    budget: Budget | None
    entropy: Entropy
    label: str = ""

    @property
    def relation(self) -> str:
        """Which data sets are neighbours, of a checked request."""
        return self.stated or self.budget.relation  # type: ignore[union-attr, return-value]

    def check(self, problems: Problems) -> None:
        """Record of what is wrong with it."""
        problems.budget(self.epsilon, self.delta)
        known = self.budget is None or isinstance(self.budget, Budget)
        problems.require(known, "budget", "a Budget", self.budget)
        check_label(problems, self.label)
        of_budget = getattr(self.budget, "relation", None)
        one = of_budget if self.stated is None else self.stated
        if require_relation(problems, one, "of the Budget or as relation="):
            joined(problems, of_budget, self.stated, "the budget and relation=")

    @property
    def said(self) -> dict[str, Any]:
        """What the answer says of the request: its label and guarantee."""
        return {"label": self.label, "guarantee": (float(self.epsilon), float(self.delta))}

    def promise(self, change: str) -> str:
        """The guarantee in one sentence, for what one person changes in words."""
        return promise(self.relation, change, self.epsilon, self.delta)

    def charge(self, entry: Entry) -> None:
        """Charge a release, which comes before its draw."""
        if self.budget is not None:
            entry.spend(self.budget, label=self.label)
