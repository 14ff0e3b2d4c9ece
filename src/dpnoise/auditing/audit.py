"""Audit of two streams of outputs: events chosen on a first part, judged on the rest.

Of the judged outputs, Clopper-Pearson bounds p >= low and q <= high of each event's probabilities
on the two inputs hold all together with the confidence asked for (Bonferroni's correction, two
bounds for each event), whatever the dependence between the two streams. Then

    epsilon >= log((low - delta) / high),    delta >= low - e^epsilon high,    p - q >= low - high,

and a claim is contradicted where it allows no p as large as low beside a q as small as high. With p
and q the probabilities of one event on two neighbouring inputs, (epsilon, delta)-DP allows

    p <= delta + e^epsilon q    and, for the opposite event,    1 - q <= delta + e^epsilon (1 - p).

A privacy profile claims this for many epsilons at once, so that it can be refuted by common events
where a single small delta is out of reach of any sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.auditing.events import INPUTS, choose, lattice_candidates, statistic_candidates
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.odometer.releases import read_release
from dpnoise.privacy.vector import profile_of_shares
from dpnoise.sensitivity.base import is_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.auditing.events import AnyEvent, Counts, Statistics
    from dpnoise.privacy.odometer.ledger import Ledger

    Pair = tuple[Array, Array]
    Draw = Callable[[int], Pair]
    _Deltas = Callable[[Array], Array]

FEWEST = 4  # outputs on each input
_SMALL, _LARGE = 10_000, 4_000_000  # outputs that choose, at most half
_CHUNK = 2**20
_POINTS = 64  # of a profile
_NEGLIGIBLE = 1e-9  # delta that samples do not tell from 0
_COARSE = 24  # points that find where delta is negligible
_LARGEST = 700.0  # epsilon


@dataclass(frozen=True)
class Judged:
    """One event, how often it happened and what follows for its probabilities.

    Attributes
    ----------
    event : str
        The event in words.
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


class AuditQuestion(NamedTuple):
    """What is asked of an audit: the delta, the claim if there is one, the confidence."""

    delta: float
    claim: ProfileClaim | None
    confidence: float

    @property
    def miss(self) -> float:
        """The probability with which a bound may be wrong."""
        return 1.0 - self.confidence


def choosing_size(size: int) -> int:
    """How many of the outputs choose the events, the others judge."""
    return min(size // 2, max(size // 4, _SMALL), _LARGE)


def chosen(
    runs: Pair, statistics: Statistics, plan: AuditQuestion, *, lattice: bool = True
) -> list[AnyEvent]:
    """The events that prove most, by outputs that do not judge.

    `lattice` admits events on the lattice of the outputs.
    """
    size, claim = len(runs[0]), plan.claim

    def scores(hits: Counts, false_hits: Counts) -> Iterator[Array]:
        # for epsilon; by the excess over the claim, as it is proved and in standard deviations
        low, high = clopper_pearson(hits, false_hits, size, plan.miss)
        yield (low - plan.delta) / high
        if claim is not None:
            yield low - claim.most(high)
            p, q, one = hits / size, false_hits / size, 1.0 / size
            most = claim.most(q)
            slope = (claim.most(np.minimum(q + one, 1.0)) - most) / one
            variance = p * (1.0 - p) + one + slope**2 * (q * (1.0 - q) + one)
            yield (p - most) / np.sqrt(variance / size)

    values = statistics.values(runs[0]), statistics.values(runs[1])
    outputs = lattice_candidates(runs) if lattice else ()
    return choose(chain(statistic_candidates(values), outputs), scores)


def judged(
    draw: Draw, size: int, statistics: Statistics, events: Sequence[AnyEvent], plan: AuditQuestion
) -> Audit:
    """The audit by `size` further outputs on each input, for events that do not depend on them."""
    counts = np.zeros((len(events), 2), dtype=np.int64)
    for start in range(0, size, _CHUNK):
        outputs = draw(min(_CHUNK, size - start))
        values = statistics.values(outputs[0]), statistics.values(outputs[1])
        counts += np.array([event.counts(outputs, values) for event in events])
    each = plan.miss / (2.0 * len(events))
    low, high = clopper_pearson(counts[:, 0], counts[:, 1], size, each)
    ends: Any = zip(low.tolist(), high.tolist(), strict=True)
    found = tuple(
        Judged(one.words(statistics.names), INPUTS[one.swapped], *hits, size, *pair)  # type: ignore[call-arg]
        for one, hits, pair in zip(events, counts.tolist(), ends, strict=True)
    )
    return Audit(
        max(proved_epsilon(one.low, one.high, plan.delta) for one in found),
        max(0.0, *(one.low - one.high for one in found)),
        *_verdict(found, plan.claim),
        plan.confidence,
        plan.delta,
        found,
    )


def _verdict(events: tuple[Judged, ...], claim: ProfileClaim | None) -> tuple[bool, str, str]:
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


@dataclass(frozen=True, eq=False)
class ProfileClaim:
    """The claim of (epsilon_i, delta_i)-DP for all i.

    Attributes
    ----------
    words : str
        The claim in words.
    epsilon, delta : float64 array, shape (n,)
    """

    words: str
    epsilon: Array
    delta: Array

    def most(self, q: ArrayLike) -> Array:
        """The largest p that the claim allows beside `q`, of the same shape."""
        other = np.asarray(q, dtype=float)[..., None]
        growth = np.exp(np.minimum(self.epsilon, _LARGEST))
        direct = self.delta + growth * other
        opposite = 1.0 - np.maximum(1.0 - other - self.delta, 0.0) / growth
        return np.clip(np.minimum(direct, opposite).min(axis=-1), 0.0, 1.0)


def budget_claim(epsilon: float, delta: float) -> ProfileClaim:
    """The claim of (epsilon, delta)-DP."""
    words = f"({epsilon:g}, {delta:g})-DP"
    return ProfileClaim(words, np.array([epsilon], dtype=float), np.array([delta], dtype=float))


def noise_claim(problems: Problems, noise: Any, sensitivity: Any) -> ProfileClaim:  # noqa: ANN401
    """The claim of the account of noise, for all epsilon; what is wrong with either is recorded.

    Noise and sensitivity are those of `dpnoise.Budget.spend`, or any `RadialNoise`.
    """
    before = len(problems.found)
    if isinstance(noise, RadialNoise) and noise.dominating(Fraction(1)) is None:
        deltas, loss = _radial(problems, noise, sensitivity), math.inf
    else:
        deltas, loss = _counted(read_release(problems, noise, sensitivity))
    if len(problems.found) > before:
        return budget_claim(0.0, 0.0)
    coarse = np.geomspace(1e-6, _LARGEST, _COARSE)
    found = deltas(coarse)
    last = coarse[int(np.argmax(found <= max(_NEGLIGIBLE, found[-1] * (1.0 + 1e-9))))]
    epsilon = np.linspace(0.0, last, _POINTS)
    if loss <= _LARGEST:
        epsilon = np.append(epsilon, loss)
    return ProfileClaim(f"{noise!r} at sensitivity {sensitivity!r}", epsilon, deltas(epsilon))


def _radial(problems: Problems, noise: RadialNoise, sensitivity: object) -> _Deltas:
    """Upper bounds on delta of radial noise that no noise of one number dominates."""
    size: Any = sensitivity
    if is_set(sensitivity) and sensitivity.dimension == noise.dimension:
        size = as_double_above(noise.ball.largest_norm_of(sensitivity))
    if not problems.number("sensitivity", size, low=0.0, open_low=True):
        size = 1.0
    unit = noise.scaled(1.0 / float(size))
    return lambda epsilon: np.array([radial_delta_bounds(unit, float(e)).upper for e in epsilon])


def _counted(ledger: Ledger) -> tuple[_Deltas, float]:
    """Upper bounds on delta of one release as a Budget counts it, and on its largest loss."""
    loss, failure = as_double_above(ledger.pure), float(ledger.failure)

    def deltas(epsilon: Array) -> Array:
        found = np.asarray(profile_of_shares(ledger.countable, epsilon).upper)
        return np.where(epsilon >= loss, 0.0, found) + failure

    return deltas, loss


def smallest_delta(noise: Any, sensitivity: Any, epsilon: float) -> float:  # noqa: ANN401
    """A lower bound on the delta of checked noise; 0 where only an upper one is known."""
    own = getattr(noise, "ball", None)
    if is_set(sensitivity) and sensitivity.body != own:
        return 0.0  # the account may take more than the set
    if isinstance(noise, RadialNoise):
        size = 1.0 if is_set(sensitivity) else float(sensitivity)
        return float(radial_delta_bounds(noise.scaled(1.0 / size), epsilon).lower) if size else 0.0
    if hasattr(noise, "dominating"):
        return 0.0
    shares = read_release(Problems("audit"), noise, sensitivity).countable
    return float(profile_of_shares(shares, np.asarray(epsilon)).lower)


def clopper_pearson(hits: ArrayLike, false_hits: ArrayLike, runs: int, miss: float) -> Pair:
    """Clopper-Pearson bounds p >= low and q <= high of the probabilities of an event, one-sided.

    The event happened `hits` times, a number or an array, in `runs` runs on the input of p, and
    `false_hits` times on that of q. Each bound is wrong with a probability of at most `miss`.
    """
    p_count, q_count = np.asarray(hits, dtype=float), np.asarray(false_hits, dtype=float)
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.maximum(p_count, 1), runs - p_count + 1, miss)
        high = special.betainccinv(q_count + 1, np.maximum(runs - q_count, 1), miss)
    return np.where(p_count == 0, 0.0, low), np.where(q_count == runs, 1.0, high)


def proved_epsilon(low: float, high: float, delta: float) -> float:
    """The epsilon below which p <= e^epsilon q + delta fails, for p >= low and q <= high."""
    return math.log(low - delta) - math.log(high) if low - delta > high else 0.0


def proved_delta(low: float, high: float, epsilon: float) -> float:
    """The delta below which p <= e^epsilon q + delta fails, for p >= low and q <= high."""
    log_product = epsilon + math.log(high)
    return max(low - math.exp(log_product), 0.0) if log_product < 0.0 else 0.0
