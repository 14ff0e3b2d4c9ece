"""Empirical audit of a private mechanism: a lower bound on epsilon or delta from many runs.

A mechanism is run on two neighbouring data sets. On the first half of the runs the events that best
distinguish them are chosen, for delta and for epsilon: thresholds, exact values and missing values
of every published number, of one linear discriminant of them all and of their distances from the
median. On the second half, independent of the choice, Clopper-Pearson bounds of an event's two
probabilities p and q give

    delta >= p - e^epsilon q,    epsilon >= log((p - delta) / q),    advantage >= p - q,

all of them with the confidence asked for. An audit that finds no violation proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise._validation import Problems, is_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array

_THRESHOLDS = 200  # for each statistic and direction


@dataclass(frozen=True)
class Audit:
    """Lower bounds on the privacy loss of a mechanism, with the confidence asked for.

    Attributes
    ----------
    epsilon : float
        The mechanism is not (epsilon', delta)-differentially private for any epsilon' below this,
        at the delta that was claimed; 0 if the runs prove no bound.
    delta : float
        The same for delta at the epsilon that was claimed.
    advantage : float
        Lower bound on p - q.
    event : str
        The event behind delta and advantage, in words.
    violated : bool
        Whether the claim is refuted: epsilon or delta exceeds the claimed one.
    """

    epsilon: float
    delta: float
    advantage: float
    event: str
    violated: bool


@dataclass(frozen=True)
class _Event:
    """Event that a statistic, times sign, is at least (or exactly) a level."""

    column: int
    sign: float
    level: float
    exact: bool
    swapped: bool  # whether p belongs to the second data set

    def counts(self, runs: tuple[Array, Array]) -> tuple[int, int]:
        """Frequencies of the event in either set of runs, that of p first."""
        found = []
        for outputs in runs:
            values = self.sign * outputs[:, self.column]
            hits = values == self.level if self.exact else values >= self.level
            found.append(int(np.count_nonzero(hits)))
        return (found[1], found[0]) if self.swapped else (found[0], found[1])


def clopper_pearson(hits: ArrayLike, runs: int, confidence: float) -> tuple[Array, Array]:
    """Clopper-Pearson bounds of the probability of an event, one-sided, each with this confidence.

    The event happened `hits` times, a number or an array, in `runs` runs.
    """
    count, miss = np.asarray(hits, dtype=float), 1.0 - confidence
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.maximum(count, 1), runs - count + 1, miss)
        high = special.betainccinv(count + 1, np.maximum(runs - count, 1), miss)
    return np.where(count == 0, 0.0, low), np.where(count == runs, 1.0, high)


def audit(
    mechanism: Callable[[object, np.random.Generator], ArrayLike],
    data: object,
    neighbour: object,
    *,
    epsilon: float,
    delta: float,
    random_state: np.random.Generator,
    runs: int = 2000,
    confidence: float = 0.9999,
) -> Audit:
    """Audit of the claim that a mechanism is (epsilon, delta)-differentially private.

    Parameters
    ----------
    mechanism : callable
        Takes a data set and a generator; returns everything that it publishes as numbers, shape
        (d,). NaN is a value of its own, for what is not published (after an error, say).
    data, neighbour : object
        Two neighbouring data sets.
    epsilon, delta : float
        The claim.
    random_state : numpy.random.Generator
        Where all draws come from.
    runs : int
        Of the mechanism on each data set, at least 4; one half chooses the event, the other
        judges it.
    confidence : float
        In (0, 1): of the three bounds of the result together.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError
        Naming everything that is wrong with the settings.

    References
    ----------
    Jagielski, Ullman & Oprea, "Auditing differentially private machine learning", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> def leaky(x, rng):  # noise of half the scale that epsilon = 1 needs
    ...     return [x + rng.laplace(scale=0.5)]
    >>> rng = np.random.default_rng(7)
    >>> audit(leaky, 0.0, 1.0, epsilon=1.0, delta=0.0, random_state=rng).violated
    True
    """
    problems = Problems("audit")
    problems.number("epsilon", epsilon, low=0.0)
    problems.number("delta", delta, low=0.0, high=1.0)
    problems.number("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    enough = is_integer(runs) and runs >= 4
    problems.require(enough, "runs", "a whole number of at least 4", runs)
    given = isinstance(random_state, np.random.Generator)
    problems.require(given, "random_state", "a numpy.random.Generator", random_state)
    problems.raise_if_any()
    outputs = [
        np.array([np.ravel(mechanism(one, random_state)) for _ in range(runs)], dtype=float)
        for one in (data, neighbour)
    ]
    half = runs // 2
    choosing = outputs[0][:half], outputs[1][:half]
    statistics = _statistics(choosing)
    chosen = statistics(choosing[0]), statistics(choosing[1])
    judging = statistics(outputs[0][half:]), statistics(outputs[1][half:])
    each = 1.0 - (1.0 - confidence) / 4.0  # two events, two bounds: all hold together
    growth = math.exp(min(epsilon, 700.0))

    def bounds(score: Callable[[Array, Array], Array]) -> tuple[_Event, float, float]:
        event = _best_event(chosen, score, confidence)
        hits, false_hits = event.counts(judging)
        low, _ = clopper_pearson(hits, runs - half, each)
        _, high = clopper_pearson(false_hits, runs - half, each)
        return event, float(low), float(high)

    _, p, q = bounds(lambda low, high: (low - delta) / high)
    proved = math.log((p - delta) / q) if p - delta > q else 0.0
    event, p, q = bounds(lambda low, high: low - growth * high)
    shown = max(p - growth * q, 0.0)
    words = _words(event, outputs[0].shape[1])
    return Audit(proved, shown, max(p - q, 0.0), words, shown > delta or proved > epsilon)


def _statistics(runs: tuple[Array, Array]) -> Callable[[Array], Array]:
    """Map from outputs of d numbers to 3 d + 2 statistics.

    Missing or not (d), values (d), a linear discriminant (1), distances of the last d + 1 from
    their medians (d + 1).
    """
    together = np.vstack(runs)
    usual = np.nanmedian(np.where(np.isnan(together).all(axis=0), 0.0, together), axis=0)

    def filled(outputs: Array) -> Array:
        return np.clip(np.where(np.isnan(outputs), usual, outputs), -1e300, 1e300)

    centre = filled(together).mean(axis=0)
    spread = np.abs(filled(together) - centre).max(axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    scaled = [(filled(part) - centre) / unit for part in runs]
    within = sum(np.cov(part, rowvar=False, ddof=0).reshape(len(unit), -1) for part in scaled)
    apart = scaled[0].mean(axis=0) - scaled[1].mean(axis=0)
    direction = np.linalg.lstsq(within + 1e-9 * np.eye(len(unit)), apart)[0]
    score = ((filled(together) - centre) / unit) @ direction
    middle = np.append(np.median(filled(together), axis=0), np.median(score))

    def statistics(outputs: Array) -> Array:
        values = filled(outputs)
        values = np.column_stack([values, ((values - centre) / unit) @ direction])
        return np.column_stack([np.isnan(outputs), values, np.abs(values - middle)])

    return statistics


def _best_event(
    runs: tuple[Array, Array], score: Callable[[Array, Array], Array], confidence: float
) -> _Event:
    """Event of maximum score of the bounds on p and q that these runs prove."""
    size = len(runs[0])
    best, maximum = _Event(0, 1.0, 0.0, exact=False, swapped=False), -np.inf
    for column in range(runs[0].shape[1]):
        values, counts = np.unique(
            np.concatenate([part[:, column] for part in runs]), return_counts=True
        )
        tied = values[counts > 1][np.argsort(-counts[counts > 1], kind="stable")[:_THRESHOLDS]]
        places = np.linspace(0, len(values) - 1, min(len(values), _THRESHOLDS)).round().astype(int)
        for sign, levels, exact in (
            (1.0, values[places], False),
            (-1.0, -values[places], False),
            (1.0, tied, True),
        ):
            hits = [_hits(sign * part[:, column], levels, exact=exact) for part in runs]
            for swapped in (False, True):
                first, second = hits[swapped], hits[not swapped]
                low, _ = clopper_pearson(first, size, confidence)
                _, high = clopper_pearson(second, size, confidence)
                gain = score(low, high)
                if gain.size and gain.max() > maximum:
                    place = int(gain.argmax())
                    maximum = float(gain[place])
                    best = _Event(column, sign, float(levels[place]), exact=exact, swapped=swapped)
    return best


def _hits(values: Array, levels: Array, *, exact: bool) -> NDArray[np.int64]:
    """Frequency of values that are at least, or exactly, each level."""
    ordered = np.sort(values)
    left = np.searchsorted(ordered, levels, side="left")
    return (np.searchsorted(ordered, levels, side="right") if exact else len(values)) - left


def _words(event: _Event, size: int) -> str:
    """Wording of an event."""
    if event.column < size:
        name = f"output {event.column} is missing"
        return name if event.sign * event.level > 0.0 else f"not: {name}"
    place = event.column - size
    name, far = f"output {place % (size + 1)}", place > size
    if place % (size + 1) == size:
        name = "linear discriminant"
    name = f"distance of {name} from its median" if far else name
    relation = "==" if event.exact else (">=" if event.sign > 0.0 else "<=")
    return f"{name} {relation} {event.sign * event.level!r}"
