"""What a `Budget` has spent at one moment, and how many more releases are known to fit.

Whoever makes many equal releases, or a schedule of ever less of them, need not have each checked
alone: if the account shows that k more releases of one kind fit, then fewer do, and so do releases
that this kind dominates (`dominates`). The allowance doubles as long as the account agrees. What is
accepted in this way is what the account would accept, up to what its bounds are loose by: the
answers hold whatever was asked before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpnoise.noise.base import Noise
from dpnoise.privacy.inversion.loss import canonical

if TYPE_CHECKING:
    from dpnoise.privacy.odometer.ledger import Entry, Ledger, Sampled
    from dpnoise.privacy.odometer.terms import Terms

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


def _samples_dominate(first: Sampled, second: Sampled) -> bool:
    """Whether a sample has no smaller rate and no more noise, of the same kind."""
    if first[2:] != second[2:]:
        return False
    return first.rate >= second.rate and first.multiplier <= second.multiplier


def _number(one: Ledger) -> int:
    """How many coordinates and samples one release has."""
    return sum(one.shares.values()) + sum(one.sampled.values())
