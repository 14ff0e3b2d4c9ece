"""What a budget promises, and which releases it accepts after others: rules without a state.

A release is accepted if it is for the relation of the budget and its account can count it. Whether
everything together is within the budget is for the account to say.

**What a `Budget` has spent at one moment, and how many more releases are known to fit.**
Whoever makes many equal releases, or a schedule of ever less of them, need not have each checked
alone: if the account shows that k more releases of one kind fit, then fewer do, and so do releases
that this kind dominates (`dominates`). The allowance doubles as long as the account agrees. What is
accepted in this way is what the account would accept, up to what its bounds are loose by: the
answers hold whatever was asked before.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise
from dpnoise.privacy.inversion.loss import canonical
from dpnoise.privacy.odometer.accounts import ExactAccount
from dpnoise.privacy.odometer.concentrated import ConcentratedAccount, rho_of_ledger
from dpnoise.privacy.odometer.ledger import (
    CONCENTRATED_ACCOUNT,
    EXACT,
    Entry,
    Ledger,
    has_gaussian,
    read_document,
    read_entry,
)
from dpnoise.privacy.sampled.relations import FIXED
from dpnoise.sensitivity.base import IN_SET, check_relation, joined, require_relation
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dpnoise.privacy.sampled.pairs import Kind


MAX_RHO = 1e8


class BudgetExceededError(ValueError):
    """A release that the budget does not allow; nothing was spent.

    Examples
    --------
    >>> from dpnoise import Budget, BudgetExceededError, Laplace
    >>> try:
    ...     Budget(1.0, relation="add-remove").spend(Laplace(1.0), sensitivity=1.5)
    ... except BudgetExceededError as error:
    ...     print(str(error).partition(", delta")[0])
    budget: Laplace(beta=1.0) at sensitivity 1.5: expected releases within epsilon = 1.0
    """


class Terms(NamedTuple):
    """A checked budget: what is promised, the relation if it was stated, and the account."""

    epsilon: float | None
    delta: float
    relation: str | None
    account: ExactAccount
    rho: float | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """What a ledger says of the budget itself."""
        promise = {"epsilon": self.epsilon, "delta": self.delta, "relation": self.relation}
        if self.rho is None:
            return {**promise, "account": EXACT}
        return {**promise, "account": CONCENTRATED_ACCOUNT, "rho": self.rho}

    @property
    def promise(self) -> str:
        """What is promised, in words."""
        if self.rho is not None:
            return f"rho = {self.rho!r}"
        return f"epsilon = {self.epsilon!r}, delta = {self.delta!r}"

    def accepted(
        self, problems: Problems, before: Ledger, entry: Entry, relation: str | None
    ) -> Entry:
        """An entry with its relation, as it is recorded after others; ValueError if it is not."""
        what, release = entry.what, entry.one
        stated = self.relation if relation is None else relation
        if require_relation(problems, stated, f"of the Budget, {IN_SET}"):
            joined(problems, self.relation or before.relation, stated, "all that a Budget counts")
            if stated != REPLACE_ONE and release.sampled:
                fixed = any(p.sampling == FIXED for p in release.sampled)
                expected = f"{REPLACE_ONE!r} for samples of a fixed size"
                problems.require(not fixed, "relation", expected, stated)
        problems.raise_if_any()
        if release.counted_as:
            what = f"{what} (counted as {release.counted_as})"
        return entry._replace(what=what, one=replace(release, relation=stated))

    def joined(self, ledger: Ledger, entries: Sequence[Entry], *, first: int = 0) -> Ledger:
        """A ledger with entries that were read, of which `first` is the number of the first one."""
        for k, entry in enumerate(entries, first):
            problems = Problems(f"budget: entries[{k}]")
            self.accepted(problems, ledger, entry, entry.one.relation)
            ledger = ledger.plus(entry.one, entry.times)
        return ledger

    def require(self, what: str, before: Ledger, after: Ledger) -> None:
        """A BudgetExceededError unless everything is within the budget."""
        if not self.account.keeps(after):
            raise BudgetExceededError(
                f"budget: {what}: expected releases within {self.promise} "
                "together with what was spent before, got "
                f"{self._excess(before, after)}; nothing was spent"
            )

    def _excess(self, before: Ledger, after: Ledger) -> str:
        """What refused releases come to with all before, in words; without delta it is known."""
        if self.rho is not None:
            spent = [float(rho_of_ledger(one).value) for one in (after, before)]
            return f"rho = {spent[0]!r} (spent before: {spent[1]!r}), which is infinite if unknown"
        if self.delta > 0.0:
            return "more"
        known = f"(spent before: epsilon = {self.account.epsilon_of(before, 0.0)!r})"
        found = self.account.epsilon_of(after, 0.0)
        if found < math.inf:
            return f"epsilon = {found!r}, as at delta = 0 the largest losses add up {known}"
        if has_gaussian(after):
            return (
                "an infinite epsilon, as at delta = 0 Gaussian noise has no other: its "
                f"loss is without bound {known}"
            )
        if after.failure > 0:
            return f"a delta above 0 {known}"
        return f"more, as the loss of this noise is without a known bound {known}"


def read_terms(
    problems: Problems,
    epsilon: float | None,
    delta: float,
    relation: str | None,
    rho: float | None = None,
) -> Terms | None:
    """A budget, or None if something is wrong with it; problems are recorded."""
    before = len(problems.found)
    if rho is None:
        problems.budget(epsilon, delta)
    else:
        problems.require(epsilon is None, "epsilon", "None beside rho", epsilon)
        problems.number("rho", rho, low=0.0, high=MAX_RHO)
        problems.budget(1.0, delta)
    check_relation(problems, relation)
    if len(problems.found) > before:
        return None
    if rho is not None:
        account = ConcentratedAccount(float(rho), float(delta))
        return Terms(None, float(delta), relation, account, float(rho))
    assert epsilon is not None  # noqa: S101  (or refused)
    pair = float(epsilon), float(delta)
    return Terms(*pair, relation, ExactAccount(*pair))


def read_ledger(
    text: object, *, edited: bool, path: Path | None = None
) -> tuple[Terms, list[Entry], Ledger]:
    """A budget, its entries and their sum from a text; ValueError that names every problem.

    `path` is the file that says it, if one does.
    """
    problems = Problems("budget" if path is None else f"budget: {str(path)!r}")
    problems.require(isinstance(edited, bool), "edited", "True or False", edited)
    data = read_document(problems, text, edited=edited is True)
    terms, entries = None, []
    if data:
        entries = [read_entry(problems, k, one) for k, one in enumerate(data["entries"])]
        values = data["epsilon"], data["delta"], data["relation"], data.get("rho")
        terms = read_terms(problems, *values)
    problems.raise_if_any()
    assert terms is not None  # noqa: S101  (or refused)
    found = terms.joined(Ledger(), entries)
    if entries:
        terms.require(f"{len(entries)} entries", Ledger(), found)
    return terms, entries, found


_SHRINK, _MOST = 4, 10**8
_MARGIN = 1.0 + 1e-12  # over the rounding of parameters in units of the sensitivity


class Allowance(NamedTuple):
    """`left` more releases like `one`, or less than it, fit; `number` are tried next."""

    one: Ledger
    left: int = 0
    number: int = 0

    def serves(self, entry: Entry) -> bool:
        """Whether an entry is within it."""
        return entry.times <= self.left and dominates(self.one, entry.one)


class Spent(NamedTuple):
    """All that was spent at one moment.

    `before` is an earlier ledger, after which there were `more` releases of `allowance.one`. The
    first `number` of `entries` are the entries. `text` is what the file said, None without a file.
    """

    before: Ledger
    entries: list[Entry]
    number: int
    text: bytes | None = None
    allowance: Allowance | None = None
    more: int = 0

    @property
    def ledger(self) -> Ledger:
        """The sum of everything."""
        if not self.more or self.allowance is None:
            return self.before
        return self.before.plus(self.allowance.one, self.more)

    @property
    def listed(self) -> list[Entry]:
        """The entries, as a list of their own."""
        return self.entries[: self.number]

    def charged(self, terms: Terms, entry: Entry, what: str) -> Spent:
        """The same with an entry that is listed next; BudgetExceededError if it is too much.

        `what` names the entry in that error.
        """
        allowance, times = self.allowance, entry.times
        listed = self.entries, self.number + 1, self.text
        if allowance is not None and allowance.serves(entry):
            rest = Allowance(allowance.one, allowance.left - times, allowance.number)
            if entry.one is allowance.one:
                return Spent(self.before, *listed, rest, self.more + times)
            return Spent(self.ledger.plus(entry.one, times), *listed, rest)
        before = self.ledger
        after = before.plus(entry.one, times)
        terms.require(what, before, after)
        number = 0
        if allowance is not None and dominates(allowance.one, entry.one):
            number = max(allowance.number, times)
        left = number if number and terms.account.keeps_more(after, entry.one, number) else 0
        number = min(2 * number, _MOST) if left else number // _SHRINK
        return Spent(after, *listed, Allowance(entry.one, left, number))


def dominates(first: Ledger, second: Ledger) -> bool:
    """Whether one release is seen to be less private than another, or as private.

    That is seen of equal ones, of samples of no smaller rate with no more noise, and of noise of
    one number that is no more dispersed. (From a sample of a larger rate that of a smaller one
    follows by a fresh draw without the record, now and then; more noise is noise added to less.)
    """
    if first is second or first == second:
        return True
    pair = first, second
    if any(one.failure or one.stated or one.counted_as for one in pair):
        return False
    if first.relation != second.relation or any(_number(one) != 1 for one in pair):
        return False
    if first.sampled and second.sampled:
        return _samples_dominate(*(next(iter(one.sampled)) for one in pair))
    shares = [next(iter(one.shares), (None, 0.0)) for one in pair]
    if not all(isinstance(noise, Noise) for noise, _ in shares):
        return False
    (family, values), (other, others) = (canonical(*one)[1].dispersion() for one in shares)
    wider = [b >= a * _MARGIN for a, b in zip(values, others, strict=False)]
    return family == other and bool(values) and all(wider)


def _samples_dominate(first: Kind, second: Kind) -> bool:
    """Whether a sample has no smaller rate and no more noise, of the same kind."""
    if first[2:] != second[2:]:
        return False
    return first.rate >= second.rate and first.sigma <= second.sigma


def _number(one: Ledger) -> int:
    """How many coordinates and samples one release has."""
    return sum(one.shares.values()) + sum(one.sampled.values())
