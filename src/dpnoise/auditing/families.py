"""Audit of every noise family of the package at one false-alarm rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpnoise._validation import Problems
from dpnoise.auditing.noise import audit_noise
from dpnoise.auditing.sampler import SIZE, read_generator
from dpnoise.calibration.calibrate import calibrate
from dpnoise.joint.calibrate import JOINT_FAMILIES, calibrate_joint
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.noise.vectors import KNorm, Staircase2D, staircase_2d_gamma
from dpnoise.sensitivity.balls import L2

if TYPE_CHECKING:
    from dpnoise.auditing.audit import Audit
    from dpnoise.auditing.sampler import Seed


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
