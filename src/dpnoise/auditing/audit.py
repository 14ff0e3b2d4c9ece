"""Audit of two streams of outputs: events chosen on a first part, judged on the rest.

Of the judged outputs, Clopper-Pearson bounds p >= low and q <= high of each event's probabilities
on the two inputs hold all together with the confidence asked for (Bonferroni's correction, two
bounds for each event), whatever the dependence between the two streams. Then

    epsilon >= log((low - delta) / high),    delta >= low - e^epsilon high,    p - q >= low - high,

and a claim is contradicted where it allows no p as large as low beside a q as small as high.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.auditing.confidence import clopper_pearson, proved_delta, proved_epsilon
from dpnoise.auditing.event import choose, statistic_candidates
from dpnoise.auditing.lattice import lattice_candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array
    from dpnoise.auditing.claim import Claim
    from dpnoise.auditing.event import AnyEvent, Counts, Score
    from dpnoise.auditing.statistics import Statistics

    Pair = tuple[Array, Array]
    Draw = Callable[[int], Pair]

FEWEST = 4  # outputs on each input
_SMALL, _LARGE = 10_000, 4_000_000  # outputs that choose, at most half
_CHUNK = 2**20


@dataclass(frozen=True)
class Judged:
    """One event, how often it happened and what follows for its probabilities.

    Attributes
    ----------
    event : str
        The event in words.
    level : float
        The threshold of the statistic; of an event on the lattice of outputs the number of which
        they are multiples, the step, or the number of values.
    likelier_on : str
        "first" or "second": the input on which the event has the probability p.
    hits, false_hits : int
        How often the event happened on that input, and on the other one.
    outputs : int
        How many outputs on each input judged it.
    low, high : float
        p >= low and q <= high, for all events together with the confidence of the audit.
    """

    event: str
    level: float
    likelier_on: str
    hits: int
    false_hits: int
    outputs: int
    low: float
    high: float


@dataclass(frozen=True)
class Audit:
    """Lower bounds on the privacy loss of a mechanism, with the confidence asked for.

    Attributes
    ----------
    epsilon : float
        The mechanism is not (epsilon', delta)-differentially private for any epsilon' below this,
        at the delta asked for; 0 if the outputs prove no bound.
    advantage : float
        Lower bound on p - q.
    contradicted : bool
        Whether the claim is refuted. That it is not refuted proves nothing.
    claim : str
        The claim in words; empty if there was none.
    reason : str
        What refutes the claim; empty if nothing does.
    confidence : float
        With which everything here holds together.
    delta_asked : float
        The delta beside `epsilon`.
    events : tuple of Judged
        The events that were judged.
    """

    epsilon: float
    advantage: float
    contradicted: bool
    claim: str
    reason: str
    confidence: float
    delta_asked: float
    events: tuple[Judged, ...]

    def epsilon_at(self, delta: float) -> float:
        """The lower bound on epsilon beside another delta, for all delta together."""
        return max(proved_epsilon(one.low, one.high, delta) for one in self.events)

    def delta_at(self, epsilon: float) -> float:
        """The lower bound on delta beside an epsilon, for all epsilon together."""
        return max(proved_delta(one.low, one.high, epsilon) for one in self.events)


class Plan(NamedTuple):
    """What is asked of an audit: the delta, the claim if there is one, the confidence."""

    delta: float
    claim: Claim | None
    confidence: float

    @property
    def miss(self) -> float:
        """The probability with which a bound may be wrong."""
        return 1.0 - self.confidence


def choosing_size(size: int) -> int:
    """How many of the outputs choose the events, the others judge."""
    return min(size // 2, max(size // 4, _SMALL), _LARGE)


def chosen(
    runs: Pair, statistics: Statistics, plan: Plan, *, lattice: bool = True
) -> list[AnyEvent]:
    """The events that prove most, by outputs that do not judge.

    `lattice` admits events on the lattice of the outputs.
    """
    size = len(runs[0])

    def bounds(hits: Counts, false_hits: Counts) -> Pair:
        low, _ = clopper_pearson(hits, size, plan.miss)
        _, high = clopper_pearson(false_hits, size, plan.miss)
        return low, high

    def for_epsilon(hits: Counts, false_hits: Counts) -> Array:
        low, high = bounds(hits, false_hits)
        return (low - plan.delta) / high

    scores: list[Score] = [for_epsilon]
    claim = plan.claim
    if claim is not None:

        def excess(hits: Counts, false_hits: Counts) -> Array:
            low, high = bounds(hits, false_hits)
            return low - claim.most(high)

        def significance(hits: Counts, false_hits: Counts) -> Array:
            p, q, one = hits / size, false_hits / size, 1.0 / size
            most = claim.most(q)
            slope = (claim.most(np.minimum(q + one, 1.0)) - most) / one
            variance = p * (1.0 - p) + one + slope**2 * (q * (1.0 - q) + one)
            return (p - most) / np.sqrt(variance / size)

        scores += [excess, significance]
    values = statistics.values(runs[0]), statistics.values(runs[1])
    outputs = lattice_candidates(runs) if lattice else ()
    return choose(chain(statistic_candidates(values), outputs), scores)


def judged(
    draw: Draw, size: int, statistics: Statistics, events: Sequence[AnyEvent], plan: Plan
) -> Audit:
    """The audit by `size` further outputs on each input, for events that do not depend on them."""
    counts = np.zeros((len(events), 2), dtype=np.int64)
    for start in range(0, size, _CHUNK):
        outputs = draw(min(_CHUNK, size - start))
        values = statistics.values(outputs[0]), statistics.values(outputs[1])
        counts += np.array([event.counts(outputs, values) for event in events])
    each = plan.miss / (2.0 * len(events))
    low, _ = clopper_pearson(counts[:, 0], size, each)
    _, high = clopper_pearson(counts[:, 1], size, each)
    found = tuple(
        Judged(
            event.words(statistics.names),
            event.threshold,
            "second" if event.swapped else "first",
            int(hits),
            int(false_hits),
            size,
            float(low_p),
            float(high_q),
        )
        for event, (hits, false_hits), low_p, high_q in zip(events, counts, low, high, strict=True)
    )
    return Audit(
        max(proved_epsilon(one.low, one.high, plan.delta) for one in found),
        max(0.0, *(one.low - one.high for one in found)),
        *_verdict(found, plan.claim),
        plan.confidence,
        plan.delta,
        found,
    )


def _verdict(events: tuple[Judged, ...], claim: Claim | None) -> tuple[bool, str, str]:
    """Whether a claim is contradicted, the claim and the reason in words."""
    if claim is None:
        return False, "", ""
    allowed = [float(claim.most(one.high)) for one in events]
    excess = [one.low - most for one, most in zip(events, allowed, strict=True)]
    worst = int(np.argmax(excess))
    if excess[worst] <= 0.0:
        return False, claim.words, ""
    one = events[worst]
    reason = (
        f"{one.event} has a probability of at least {one.low:.6g} on the {one.likelier_on} input "
        f"and of at most {one.high:.6g} on the other one, beside which {claim.words} allows at "
        f"most {allowed[worst]:.6g}"
    )
    return True, claim.words, reason
