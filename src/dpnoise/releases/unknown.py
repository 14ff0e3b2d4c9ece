"""A histogram by categories that are not known beforehand: only large noisy counts are named.

Each category of the data gets its number of persons plus independent noise X on the integers, and
is named if that is at least a threshold t. A person is in at most m categories. Those that are in
the data of others too are hidden by the noise. A category that nobody else has holds a count of 1
and is named with p = P(1 + X >= t), so that one of m of them is named with at most 1 - (1 - p)^m,
which t makes at most the delta kept for it, delta_2.

**Proof.** Let P and P' be the outputs without and with the person, f <= delta_2 the chance that a
category of the person's own is named, and Q the output with the person but without these
categories. Noise is independent, so that P' = (1 - f) Q + f R, where R names one. The noise hides
the change of at most m counts: H(P, Q) and H(Q, P) <= delta_1, where H(P, Q) is the largest P(A) -
e^epsilon Q(A). Hence H(P', P) <= f + (1 - f) delta_1. In the other direction P(A) - e^epsilon
(1 - f) Q(A) = (1 - f) (P(A) - e^epsilon Q(A)) + f P(A) <= (1 - f) delta_1 + f. Both are at most
delta_1 + delta_2. Where a person is replaced, categories of either person's own are named with at
most delta_2, all other counts change by at most 1 in at most 2 m categories, and with f and f' for
the two P(A) - e^epsilon P'(A) <= max(f, f') + delta_1 by the same steps. (Korolova, Kenthapadi,
Mishra & Ntoulas, "Releasing search queries and clicks privately", WWW 2009.)

A category is named as it is written in the data. So two records are in one category if type and
text are the same, and of lists only text, numbers, bools, bytes and dates count. An integer of more
digits than Python writes is in none.
"""

from __future__ import annotations

import datetime as dt
import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._results import labelled_cells
from dpnoise._validation import Problems, is_integer
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.releases.aggregates import integer_noise
from dpnoise.releases.answers import Entry
from dpnoise.releases.records import read_records
from dpnoise.releases.released import Released
from dpnoise.releases.sums import integer_draws
from dpnoise.sensitivity.contributions import is_missing
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.releases.answers import ReleaseRequest

_NAMED = (str, bytes, bool, int, float, dt.date, dt.datetime)
_MOST_OWN = 10_000  # categories of one person
_ROUNDING = 1e-9  # relative, of a tail
_STEPS = 1000


def chance_of_naming(noise: IntegerNoise, threshold: int, m: int) -> Fraction:
    """An upper bound on the chance that one of m categories of a person's own is named."""
    tail = Fraction(float(noise.sf(threshold - 2.0)) * (1.0 + _ROUNDING))
    return 1 - (1 - min(tail, Fraction(1))) ** m


def threshold_of(noise: IntegerNoise, delta: float, m: int) -> int:
    """The least threshold at which that chance is at most delta."""
    each = -math.expm1(math.log1p(-delta) / m)
    found = max(int(noise.isf(each)) + 2, 1)
    # ends: raises
    for _ in range(_STEPS):
        if chance_of_naming(noise, found, m) <= Fraction(delta):
            break
        found += 1
    else:
        raise RuntimeError(f"release.histogram: no threshold found for {noise!r}, delta={delta!r}")
    # ends: counts down to 1
    while found > 1 and chance_of_naming(noise, found - 1, m) <= Fraction(delta):
        found -= 1
    return found


def _noise_and_rest(epsilon: float, delta: float, moved: int) -> tuple[IntegerNoise, float]:
    """Noise of least variance for counts that change together, and the delta left for naming."""
    found: list[tuple[float, IntegerNoise, float]] = []
    # About the least variance of Gaussian noise: where it is larger, no calibration is tried.
    gaussian = moved * float(gaussian_sigma(epsilon, 0.5 * delta)) ** 2
    for spent in (0.0, 0.5 * delta):
        if any(one[0] <= gaussian for one in found):
            break
        try:
            noise = integer_noise(1, epsilon, spent, moved)
        except RuntimeError:  # without epsilon there is no noise without delta
            continue
        found.append((noise.var(), noise, delta - spent))
    if not found:
        message = f"release: no noise found for epsilon={epsilon!r}, delta={delta!r}"
        raise RuntimeError(message)
    _, noise, rest = min(found, key=lambda one: one[0])
    return noise, rest


def unknown_histogram(
    values: Any,  # noqa: ANN401
    person: Any,  # noqa: ANN401
    at_most: Any,  # noqa: ANN401
    request: ReleaseRequest,
) -> Released:
    """The noisy numbers of persons of the categories that are above the threshold."""
    problems = Problems("release.histogram")
    request.check(problems)
    records = read_records(problems, "values", values)
    people = None if person is None else read_records(problems, "person", person)
    if people is not None and len(people) != len(records):
        problems.add("person: expected as many as values, got another number")
    top = 1 if people is None else _MOST_OWN
    good = is_integer(at_most) and 1 <= at_most <= top
    expected = f"a whole number from 1 to {top}" + " without person=" * (people is None)
    problems.require(good, "at_most", expected, at_most)
    problems.raise_if_any()
    m = int(at_most)
    moved = 2 * m if request.relation == REPLACE_ONE else m
    noise, rest = _noise_and_rest(request.epsilon, request.delta, moved)
    threshold = threshold_of(noise, rest, m)
    entry = Entry([noise] * moved, [1] * moved, relation=request.relation, failure=rest)
    rows = zip(range(len(records)) if people is None else people, records, strict=True)
    counts, shown = _counted(rows, m)
    request.charge(entry)
    drawn = integer_draws(noise, len(counts), request.entropy)
    exact = np.array(list(counts.values()), dtype=np.int64)
    noisy = dict(zip(counts, (exact + drawn).tolist(), strict=True))
    named = _sorted({key: shown[key] for key, count in noisy.items() if count >= threshold})
    labels = [shown[key] for key in named]
    numbers = np.array([noisy[key] for key in named], dtype=np.int64)
    sentence = request.promise(
        f"in at most {moved} {'count' if moved == 1 else 'counts'}, each by at most 1, "
        f"named from {threshold} on"
    )
    value = labelled_cells(values, numbers, categories=labels)
    return Released(
        value, noise, entry, sentence, categories=tuple(labels), threshold=threshold, **request.said
    )


def _key(record: Any) -> tuple[str, str] | None:  # noqa: ANN401
    """What tells a category from all others: its type and text; None for what is no category."""
    if type(record) not in _NAMED and not isinstance(record, dt.datetime):
        return None
    with suppress(Exception):  # an integer of too many digits, or a time in a zone of the user
        return None if is_missing(record) else (type(record).__name__, repr(record))
    return None


def _counted(rows: Iterable[tuple[Any, Any]], m: int) -> tuple[dict[Any, int], dict[Any, Any]]:
    """How many persons have each category among their first m, and how each is written."""
    own: dict[Any, set[Any]] = {}
    counts: dict[Any, int] = {}
    shown: dict[Any, Any] = {}
    for person, record in rows:
        one = record.item() if isinstance(record, np.generic) else record
        key = _key(one)
        if key is None or is_missing(person):
            continue
        try:
            kept = own.setdefault(person, set())
        except Exception:  # noqa: BLE001, S112  (of what is no person)
            continue
        if key not in kept and len(kept) < m:
            kept.add(key)
            counts[key] = counts.get(key, 0) + 1
            shown.setdefault(key, one)
    return counts, shown


def _sorted(named: dict[Any, Any]) -> list[Any]:
    """The named categories in an order that depends on them alone."""
    try:
        return sorted(named, key=lambda key: (key[0], named[key]))
    except TypeError:  # of times with and without a zone
        return sorted(named)
