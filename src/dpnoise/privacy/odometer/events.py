"""Events of dp_accounting (TF-privacy, JAX Privacy) as releases, read as data by their names.

dp_accounting is not needed. Its noise multipliers are for the largest norm of one record's
contribution, so that an event says the same for both relations, as a sample of everything does.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpnoise._validation import is_integer
from dpnoise.privacy.odometer.ledger import (
    RESPONSE,
    Ledger,
    Sampled,
    pure_share,
    read_sample,
    read_times,
)
from dpnoise.privacy.sampled.pairs import FIXED, GAUSSIAN, LAPLACE, POISSON
from dpnoise.sensitivity.relation import REPLACE_ONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._validation import Problems

_SUFFIX = "DpEvent"
_NOISE = {"GaussianDpEvent": GAUSSIAN, "LaplaceDpEvent": LAPLACE}
_DEEPEST = 20  # events within events


def is_event(value: object) -> bool:
    """Whether something is an event of dp_accounting, by its name."""
    return type(value).__name__.endswith(_SUFFIX) and not isinstance(value, type)


def read_event(problems: Problems, event: Any, depth: int = 0) -> Ledger:  # noqa: ANN401
    """One release that an event stands for; an event that is not proved here is refused by name."""
    name = type(event).__name__
    known = READERS.get(name) if depth <= _DEEPEST else None
    expected = f"one of {', '.join(READERS)}, at most {_DEEPEST} deep"
    if not problems.require(known is not None, "event", expected, f"{name}: {event!r}"[:200]):
        return Ledger()
    assert known is not None  # noqa: S101  (or refused)
    try:
        return known(problems, event, depth)
    except AttributeError as error:
        problems.add(f"event: expected the attributes of dp_accounting's {name}, got none: {error}")
        return Ledger()


def _sample(problems: Problems, event: Any, rate: float, sampling: str) -> Ledger:  # noqa: ANN401
    """Noise on a sample."""
    name = type(event).__name__
    expected = f"{' or '.join(_NOISE)} within a sample"
    if not problems.require(name in _NOISE, "event", expected, name):
        return Ledger()
    kind = _NOISE[name], sampling
    part = read_sample(problems, f"event {name}", event.noise_multiplier, rate, kind)
    return Ledger(sampled={part: 1}) if isinstance(part, Sampled) else Ledger()


def _poisson(problems: Problems, event: Any, _: int) -> Ledger:  # noqa: ANN401
    return _sample(problems, event.event, event.sampling_probability, POISSON)


def _fixed(problems: Problems, event: Any, _: int) -> Ledger:  # noqa: ANN401
    n, m = event.source_dataset_size, event.sample_size
    whole = is_integer(n) and is_integer(m) and 1 <= m <= n <= 2**53
    if not problems.require(whole, "event", "1 <= sample_size <= source_dataset_size", (m, n)):
        return Ledger()
    rate = 1.0 if m == n else min(math.nextafter(m / n, 1.0), 1.0)
    return _sample(problems, event.event, rate, FIXED)


def _response(problems: Problems, event: Any, _: int) -> Ledger:  # noqa: ANN401
    """Any of some values, or the true one with probability 1 - p; a record is replaced."""
    p, k = event.noise_parameter, event.num_buckets
    good = problems.number("event noise_parameter", p, low=1e-9, high=1.0)
    good &= problems.require(is_integer(k) and 1 <= k <= 2**53, "event num_buckets", "from 1", k)
    if not good or p == 1 or k == 1:
        return Ledger()
    epsilon = math.log1p(k * (1.0 - p) / p) * (1.0 + 1e-12)
    return Ledger(
        {pure_share(epsilon): 1}, relation=REPLACE_ONE, counted_as=RESPONSE if k > 2 else ""
    )


def _repeated(problems: Problems, event: Any, depth: int) -> Ledger:  # noqa: ANN401
    one, count = read_event(problems, event.event, depth + 1), read_times(problems, event.count)
    return Ledger().plus(one, count)


def _composed(problems: Problems, event: Any, depth: int) -> Ledger:  # noqa: ANN401
    found, relation = Ledger(), None
    for part in event.events:
        one = read_event(problems, part, depth + 1)
        found, relation = found.plus(one, 1), relation or one.relation
    return replace(found, relation=relation)


READERS: dict[str, Callable[[Problems, Any, int], Ledger]] = {
    "NoOpDpEvent": lambda *_: Ledger(),
    "GaussianDpEvent": lambda problems, event, _: _sample(problems, event, 1.0, POISSON),
    "LaplaceDpEvent": lambda problems, event, _: _sample(problems, event, 1.0, POISSON),
    "RandomizedResponseDpEvent": _response,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _fixed,
    "SelfComposedDpEvent": _repeated,
    "ComposedDpEvent": _composed,
}
