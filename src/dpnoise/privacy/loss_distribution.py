"""Privacy loss distributions for dp_accounting: the public `loss_distribution`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._imports import imports_of
from dpnoise._validation import Problems
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.vector import read_shares

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_NEGLIGIBLE = math.log(1e-30)  # delta at which the losses are cut; it becomes infinite loss
_CLOSE = 1e-13  # relative, of the delta that no epsilon is beyond, as of noise of bounded support
_INFINITE = 1e100
_ROUNDING = 1e-10  # relative, of delta: more than the profile may be too small by
_MOST_POINTS = 2_000_000
_STEPS = 200


def loss_distribution(
    noise: Noise | IntegerNoise, sensitivity: float, *, interval: float = 1e-4
) -> Any:  # noqa: ANN401  (a class of an optional package)
    """The privacy loss distribution of a noise in the form that dp_accounting composes.

    Parameters
    ----------
    noise : Noise or IntegerNoise
        The noise of a number.
    sensitivity : float
        The largest change of the number between neighbouring data sets, positive.
    interval : float
        Distance between the losses that the distribution is rounded to, from 1e-6 to 1.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        The least distribution on multiples of `interval` whose profile is nowhere below that of the
        noise. `Budget.spend_distribution` takes it back, alone or composed with others.

    Raises
    ------
    ValueError
        If an argument is out of range, or the losses have more than 2 million multiples of
        `interval`.
    ModuleNotFoundError
        Without dp_accounting (the extra `accounting`).

    Notes
    -----
    Proved: the profile of the distribution is at least that of the noise at every epsilon, since
    it connects points of a convex function of e^epsilon. Not proved: the rounding of dp_accounting.

    References
    ----------
    Doroshenko, Ghazi, Kamath, Kumar & Manurangsi, "Connect the dots: tighter discrete
    approximations of privacy loss distributions" (PoPETs 2022), Algorithm 1.

    Examples
    --------
    >>> from dpnoise import FlippedHuber, loss_distribution
    >>> one = loss_distribution(FlippedHuber(0.5, 3.0), sensitivity=1.0)
    >>> round(float(one.self_compose(5).get_epsilon_for_delta(1e-6)), 3)
    3.508
    """
    with imports_of("accounting"):
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # noqa: PLC0415
    problems = Problems("loss_distribution")
    read_shares(problems, noise, sensitivity, 1)
    problems.number("interval", interval, low=1e-6, high=1.0)
    problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
    most = _largest_multiple(noise, sensitivity, interval)
    epsilons = interval * np.arange(most + 1)
    above = np.exp(log_privacy_profile(noise, sensitivity, epsilons) + _ROUNDING)
    below = -np.expm1(-epsilons[:0:-1]) + np.exp(-epsilons[:0:-1]) * above[:0:-1]
    deltas = np.minimum.accumulate(np.clip(np.concatenate([below, above]), 0.0, 1.0))
    mass = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, -most, most, deltas)
    return privacy_loss_distribution.PrivacyLossDistribution(mass)


def _largest_multiple(noise: Noise | IntegerNoise, sensitivity: float, interval: float) -> int:
    """A number of intervals beyond which delta is negligible, or as small as it gets."""
    steps = np.unique(np.geomspace(1.0, _MOST_POINTS / 2, _STEPS).astype(int))
    log_deltas = log_privacy_profile(noise, sensitivity, [*(interval * steps), _INFINITE])
    beyond = log_deltas <= max(_NEGLIGIBLE, log_deltas[-1] + _CLOSE)
    most = steps[beyond[:-1]]
    if not most.size:
        raise ValueError(
            f"loss_distribution: interval: expected more for {noise!r} at sensitivity "
            f"{sensitivity!r}, whose losses reach beyond {_MOST_POINTS // 2} intervals, "
            f"got {interval!r}"
        )
    return int(most[0])
