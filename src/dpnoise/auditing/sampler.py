"""Audits of any sampler, by outputs on two neighbouring inputs, and of the noise of this package.

For noise, samples are held against the whole privacy profile of the noise, which common events can
refute: noise that is 10 % too small shows in a million draws, although what it adds to a delta of
1e-6 at one epsilon would not. A budget (epsilon, delta) is held against the exact account.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, draws, is_integer
from dpnoise.auditing.audit import (
    FEWEST,
    AuditQuestion,
    budget_claim,
    choosing_size,
    chosen,
    judged,
    noise_claim,
    smallest_delta,
)
from dpnoise.auditing.events import discriminating, likelihood, of_callable
from dpnoise.joint.base import JointNoise
from dpnoise.noise.base import is_scalar
from dpnoise.sensitivity.base import is_set

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.auditing.audit import Audit, Draw

    Sampler = Callable[[int, np.random.Generator], ArrayLike]
    Seed = int | np.random.Generator

SIZE, MOST = 1_000_000, 2**40


def audit_sampler(
    first: Sampler | ArrayLike,
    second: Sampler | ArrayLike,
    *,
    delta: float = 0.0,
    epsilon: float | None = None,
    confidence: float = 0.99,
    size: int | None = None,
    statistic: Callable[[Array], ArrayLike] | None = None,
    seed: Seed = 0,
) -> Audit:
    """Lower bound on the epsilon of a sampler, from outputs on two neighbouring inputs.

    Parameters
    ----------
    first, second : callable or array_like, shape (n,) or (n, d)
        The mechanism on either input: a function of (number of outputs, generator) that returns
        independent outputs, or such outputs, of which as many are used as both have. NaN is a value
        of its own, for what is not published.
    delta : float
        In [0, 1]: the bound is on epsilon beside this delta.
    epsilon : float, optional
        From 0 to 700: the claim of (epsilon, delta)-DP, to be contradicted or not.
    confidence : float
        In (0, 1), of all bounds of the result together. A true claim is contradicted with a
        probability of at most 1 - confidence.
    size : int, optional
        How many outputs functions give on each input, from 4 to 2^40; a million by default.
    statistic : callable, optional
        Public, fixed before the outputs are seen: from outputs of shape (n, d) to numbers of shape
        (n,). Where both densities are known, their log-likelihood ratio tells most. Then nothing
        else is judged. By default the outputs, a linear discriminant of them and their lattice: the
        lowest set bits by magnitude, and values that recur.
    seed : int or numpy.random.Generator
        Of the generator of functions.

    Returns
    -------
    Audit
        The bound, the verdict and the events with their frequencies.

    Raises
    ------
    ValueError
        Naming everything that is wrong with the arguments.

    Notes
    -----
    A part of the outputs (a quarter, half of fewer than 20,000, at most four million) chooses one
    to three events, and the others judge them, corrected for that number.

    References
    ----------
    Jagielski, Ullman & Oprea, "Auditing differentially private machine learning", NeurIPS 2020.
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

    Examples
    --------
    >>> from dpnoise import DiscreteLaplace, audit_sampler
    >>> def zero(size, generator):
    ...     return DiscreteLaplace(1.0).rvs(size, generator)
    >>> def one(size, generator):
    ...     return 1 + DiscreteLaplace(1.0).rvs(size, generator)
    >>> found = audit_sampler(zero, one, size=100_000)
    >>> 0.9 < found.epsilon <= 1.0
    True
    >>> audit_sampler(zero, one, epsilon=0.8, size=100_000).contradicted
    True

    Laplace noise added to doubles tells by the low-order bits what it was added to:

    >>> def rough(size, generator):
    ...     return 1.0 + generator.laplace(0.0, 1.0, size)
    >>> found = audit_sampler(lambda n, rng: rng.laplace(0.0, 1.0, n), rough, size=10_000)
    >>> found.epsilon > 5.0, found.events[0].event
    (True, '|output 0| < 2^-1 and no multiple of 2^-53')
    """
    problems = Problems("audit")
    problems.number("delta", delta, low=0.0, high=1.0)
    problems.number("confidence", confidence, low=0.0, high=1.0, open_low=True, open_high=True)
    if epsilon is not None:
        problems.number("epsilon", epsilon, low=0.0, high=700.0)
    if statistic is not None:
        problems.require(callable(statistic), "statistic", "a function of outputs", statistic)
    draw, total = _read_outputs(problems, first, second, size, seed)
    problems.raise_if_any()
    claim = None if epsilon is None else budget_claim(epsilon, delta)
    plan = AuditQuestion(delta, claim, confidence)
    choosing = choosing_size(total)
    runs = draw(choosing)
    statistics = discriminating(runs) if statistic is None else of_callable(statistic)
    events = chosen(runs, statistics, plan, lattice=statistic is None)
    return judged(draw, total - choosing, statistics, events, plan)


def read_generator(problems: Problems, seed: object) -> np.random.Generator:
    """The generator of an audit; a seed that is none is recorded."""
    known = isinstance(seed, np.random.Generator) or (is_integer(seed) and seed >= 0)
    expected = "a non-negative integer or a numpy.random.Generator"
    problems.require(known, "seed", expected, seed)
    return draws("audit", 0, seed if known else 0)[1]  # type: ignore[arg-type]  # checked


def read_size(problems: Problems, size: object) -> int:
    """How many outputs are drawn on each input; what is wrong with it is recorded."""
    if is_integer(size) and FEWEST <= size <= MOST:
        return int(size)
    problems.add(f"size: expected a whole number from {FEWEST} to 2^40, got {size!r}")
    return FEWEST


def as_rows(name: str, outputs: Any, size: int | None = None) -> Array:  # noqa: ANN401
    """Outputs as float64, shape (n, d), d >= 1; ValueError if they are not that, or not `size`."""
    found = np.asarray(outputs)
    rows = found[:, None] if found.ndim == 1 else found
    good = rows.ndim == 2 and rows.shape[1] > 0 and rows.dtype.kind in "biuf"
    if not good or (size is not None and len(rows) != size):
        number = "n" if size is None else size
        message = (
            f"audit: {name}: expected numbers of shape ({number},) or ({number}, d), got "
            f"{found.dtype} of shape {found.shape}"
        )
        raise ValueError(message)
    return rows.astype(np.float64)


def _read_outputs(
    problems: Problems,
    first: Any,  # noqa: ANN401
    second: Any,  # noqa: ANN401
    size: int | None,
    seed: Seed,
) -> tuple[Draw, int]:
    """Source of outputs on both inputs, and how many there are; problems are recorded."""
    rng = read_generator(problems, seed)
    if callable(first) and callable(second):

        def drawn(count: int) -> tuple[Array, Array]:
            one = as_rows("first", first(count, rng), count)
            other = as_rows("second", second(count, rng), count)
            if one.shape != other.shape:
                message = f"audit: second: expected outputs of shape {one.shape}, got {other.shape}"
                raise ValueError(message)
            return one, other

        return drawn, read_size(problems, SIZE if size is None else size)
    problems.require(size is None, "size", "none beside outputs", size)
    found = []
    for name, outputs in (("first", first), ("second", second)):
        try:
            found.append(as_rows(name, outputs))
        except ValueError as error:
            problems.add(f"{str(error).removeprefix('audit: ')}; or functions for both")
    if len(found) < 2:
        return lambda _: (np.zeros((0, 1)), np.zeros((0, 1))), 0
    one, other = found
    expected = f"at least {FEWEST} outputs of as many numbers each"
    alike = one.shape[1] == other.shape[1] and min(len(one), len(other)) >= FEWEST
    problems.require(alike, "first, second", expected, (one.shape, other.shape))
    place = 0

    def taken(count: int) -> tuple[Array, Array]:
        nonlocal place
        start, place = place, place + count
        return one[start:place], other[start:place]

    return taken, min(len(one), len(other))


FALSE_ALARM = 1e-3


def audit_noise(
    noise: Any,  # noqa: ANN401  (of any family, or a sequence)
    sensitivity: Any = None,  # noqa: ANN401
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    sampler: Sampler | None = None,
    false_alarm: float = FALSE_ALARM,
    size: int = SIZE,
    seed: Seed = 0,
) -> Audit:
    """Audit of the claim that a sampler is as private as the account of its noise says.

    The outputs are draws and draws shifted by the sensitivity, told apart by the log-likelihood
    ratio of the noise.

    Parameters
    ----------
    noise : object
        The noise that is claimed: of a number, a sequence of these, or of vectors; or what `best`,
        `compare` or `calibrate_joint` found.
    sensitivity : float, array_like of float or Sensitivity, optional
        As for `dpnoise.Budget.spend`; none beside a result.
    epsilon : float, optional
        From 0 to 700: the noise is also claimed to keep (epsilon, delta)-DP, which its exact
        account confirms or refutes.
    delta : float
        In [0, 1): of that claim, and beside the lower bound on epsilon.
    sampler : callable, optional
        What is audited: a function of (number of draws, generator) that returns independent draws,
        shape (n,) or (n, K); the noise's own `rvs` by default.
    false_alarm : float
        In (0, 1): how likely a true claim is contradicted, at most.
    size : int
        How many draws, from 4 to 2^40.
    seed : int or numpy.random.Generator
        Of the draws.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError
        Naming everything that is wrong with the arguments.

    Examples
    --------
    >>> from dpnoise import Gaussian, audit_noise
    >>> audit_noise(Gaussian(4.0), 1.0, delta=1e-6, size=300_000).contradicted
    False
    >>> def too_narrow(size, generator):
    ...     return generator.normal(0.0, 3.6, size)
    >>> audit_noise(Gaussian(4.0), 1.0, sampler=too_narrow, size=300_000).contradicted
    True
    """
    problems = Problems("audit")
    if sensitivity is None and hasattr(noise, "spending"):  # a result that states its set
        noise, sensitivity = noise.noise, noise.sensitivity
    noise = getattr(noise, "certified", noise)  # before it is rounded, for instance
    if epsilon is not None:
        problems.number("epsilon", epsilon, low=0.0, high=700.0)
    problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    problems.number("false_alarm", false_alarm, low=0.0, high=1.0, open_low=True, open_high=True)
    expected = "a function of (number of draws, generator)"
    problems.require(sampler is None or callable(sampler), "sampler", expected, sampler)
    total, rng = read_size(problems, size), read_generator(problems, seed)
    claim = noise_claim(problems, noise, sensitivity)
    problems.raise_if_any()
    if is_scalar(noise) and is_set(sensitivity):
        noise = [noise] * sensitivity.dimension
    shift = _shift(noise, sensitivity)

    def pair(count: int) -> tuple[Array, Array]:
        given = _rvs(noise, count, rng) if sampler is None else sampler(count, rng)
        draws = as_rows("sampler", given, count)
        if draws.shape[1] != shift.size:
            message = f"audit: sampler: expected {shift.size} numbers a draw, got {draws.shape[1]}"
            raise ValueError(message)
        return draws, draws + shift

    plan = AuditQuestion(delta, claim, 1.0 - false_alarm)
    choosing = choosing_size(total)
    statistics = likelihood(noise, shift)
    # It is this audit that shifts the draws, in doubles: their low-order bits say nothing.
    events = chosen(pair(choosing), statistics, plan, lattice=False)
    found = judged(pair, total - choosing, statistics, events, plan)
    return found if epsilon is None else _with_budget(found, noise, sensitivity, epsilon, delta)


def _with_budget(
    found: Audit, noise: object, sensitivity: object, epsilon: float, delta: float
) -> Audit:
    """The audit with the verdict of the account on a budget."""
    budget = f"({epsilon:g}, {delta:g})-DP"
    claim = f"{found.claim}, which is to keep {budget}"
    lower = smallest_delta(noise, sensitivity, epsilon)
    if lower <= delta:
        return replace(found, claim=claim)
    account = f"its account shows a delta of at least {lower:.6g} at epsilon {epsilon:g}"
    reason = f"{account}; {found.reason}" if found.reason else account
    return replace(found, claim=claim, contradicted=True, reason=reason)


def _rvs(noise: Any, count: int, rng: np.random.Generator) -> Array:  # noqa: ANN401
    """Draws of noise, by coordinate if it is a sequence."""
    if isinstance(noise, list | tuple):
        return np.column_stack([one.rvs(count, random_state=rng) for one in noise])
    draws: Array = noise.rvs(count, random_state=rng)
    return draws


def _shift(noise: Any, sensitivity: Any) -> Array:  # noqa: ANN401
    """The difference of two neighbouring answers, shape (K,), at a checked sensitivity.

    For independent noise the corner of the box; for joint noise an extreme point of its ball, from
    which symmetries lead to all others.
    """
    if is_set(sensitivity):
        return sensitivity.extreme_point
    if isinstance(noise, JointNoise):
        return float(sensitivity) * noise.ball.extreme_point
    if isinstance(noise, list | tuple):
        return np.broadcast_to(np.asarray(sensitivity, dtype=float), (len(noise),)).copy()
    return np.atleast_1d(np.asarray(sensitivity, dtype=float))
