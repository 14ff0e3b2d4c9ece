"""Audit of the noise of this package, one or every family, or of a sampler that claims to draw it.

Samples are held against the whole privacy profile of the noise, which common events can refute:
noise that is 10 % too small shows in a million draws, although what it adds to a delta of 1e-6 at
one epsilon would not. A budget (epsilon, delta) is held against the exact account.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, is_integer
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
from dpnoise.calibration.calibrate import calibrate
from dpnoise.joint.calibrate import JOINT_FAMILIES, calibrate_joint
from dpnoise.joint.noise import JointNoise
from dpnoise.joint.vectors import KNorm, Staircase2D
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.noise.base import Noise
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.stepwise import staircase_2d_gamma
from dpnoise.sensitivity.balls import L2
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
    audits: int = 1,
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
        In (0, 1): how likely one of the audits contradicts a true claim, at most.
    audits : int
        How many audits share that rate, from 1 to 1e6; each gets its part.
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
    some = is_integer(audits) and 1 <= audits <= 10**6
    problems.require(some, "audits", "a whole number from 1 to 1000000", audits)
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

    plan = AuditQuestion(delta, claim, 1.0 - false_alarm / audits)
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


def audit_families(
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    false_alarm: float = 0.01,
    size: int = SIZE,
    seed: Seed = 0,
) -> dict[str, Audit]:
    """Audit of the samplers of all noise families, each calibrated for one budget.

    Parameters
    ----------
    epsilon : float
        From 1e-9 to 100.
    delta : float
        From 1e-250 to below 1.
    false_alarm : float
        In (0, 1): how likely any of the audits contradicts its claim although all are true, at
        most. Each gets an equal part of it.
    size : int
        How many draws of each family.
    seed : int or numpy.random.Generator
        Of the draws.

    Returns
    -------
    dict of str to Audit
        By the name of the family: noise of one number at sensitivity 1, noise on the integers at
        sensitivity 1, joint noise of two coordinates in a unit ball.

    Raises
    ------
    ValueError
        Naming everything that is wrong with the arguments.

    Examples
    --------
    >>> from dpnoise import audit_families
    >>> found = audit_families(size=20_000)
    >>> len(found), any(one.contradicted for one in found.values())
    (17, False)
    """
    problems = Problems("audit of all families")
    problems.number("epsilon", epsilon, low=1e-9, high=100.0)
    problems.number("delta", delta, low=1e-250, high=1.0, open_high=True)
    rng = read_generator(problems, seed)
    problems.raise_if_any()
    noise = _calibrated(epsilon, delta)
    return {
        name: audit_noise(
            one,
            sensitivity,
            epsilon=epsilon,
            delta=delta,
            false_alarm=false_alarm,
            audits=len(noise),
            size=size,
            seed=rng,
        )
        for name, (one, sensitivity) in noise.items()
    }


def _calibrated(epsilon: float, delta: float) -> dict[str, tuple[Any, Any]]:
    """Noise of every family for one budget, with its sensitivity."""
    found: dict[str, tuple[Any, Any]] = {
        name: (calibrate(name, epsilon=epsilon, delta=delta).noise, 1.0)
        for name in (*FAMILIES, *INTEGER_FAMILIES)
    }
    ball = L2(1.0, of=2)
    for name in JOINT_FAMILIES:
        found[f"{name} (joint)"] = (
            calibrate_joint(name, ball, epsilon=epsilon, delta=delta).noise,
            ball,
        )
    found["k-norm"] = KNorm(1, 2, 1.0 / epsilon), 1.0
    gamma = float(staircase_2d_gamma(epsilon))
    found["staircase-2d"] = Staircase2D(epsilon, 1.0, gamma), 1.0
    return found
