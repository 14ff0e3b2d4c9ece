"""Audit of the noise of this package, or of a sampler that claims to draw it.

Samples are held against the whole privacy profile of the noise, which common events can refute:
noise that is 10 % too small shows in a million draws, although what it adds to a delta of 1e-6 at
one epsilon would not. A budget (epsilon, delta) is held against the exact account.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.auditing.audit import (
    AuditQuestion,
    choosing_size,
    chosen,
    judged,
    noise_claim,
    smallest_delta,
)
from dpnoise.auditing.events import likelihood
from dpnoise.auditing.sampler import SIZE, as_rows, read_generator, read_size
from dpnoise.joint.base import JointNoise
from dpnoise.noise.base import Noise
from dpnoise.noise.integers import IntegerNoise
from dpnoise.sensitivity.base import Sensitivity

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.auditing.audit import Audit
    from dpnoise.auditing.sampler import Sampler, Seed


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
    if isinstance(noise, Noise | IntegerNoise) and isinstance(sensitivity, Sensitivity):
        noise = [noise] * sensitivity.dimension
    shift = _shift(noise, sensitivity)

    def pair(count: int) -> tuple[Array, Array]:
        given = _rvs(noise, count, rng) if sampler is None else sampler(count, rng)
        try:
            draws = as_rows(given, count)
        except ValueError as error:
            raise ValueError(f"audit: sampler: {error}") from error
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
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.extreme_point
    if isinstance(noise, JointNoise):
        return float(sensitivity) * noise.ball.extreme_point
    if isinstance(noise, list | tuple):
        return np.broadcast_to(np.asarray(sensitivity, dtype=float), (len(noise),)).copy()
    return np.atleast_1d(np.asarray(sensitivity, dtype=float))
