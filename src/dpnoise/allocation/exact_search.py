"""Scales under the exact vector profile, for noise without a closed form.

Beyond the paper: flipped Huber noise, a mix of families by coordinate, and Laplace noise with
delta > 0, where Corollary 6 of Muthukrishnan & Kalyani (2024) is only sufficient. Minimise
sum w_i E|s_i T_i|^p subject to delta(epsilon; s) <= delta. `dpnoise.allocation.descent` finds a
direction, at a local minimum of a slightly smoothed problem; the common factor is then solved for
under the upper bound of `vector_profile`. What is returned has passed it or has a largest loss
of at most epsilon - log(1 - delta), where that takes less noise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.allocation.closed_forms import closed_form_scales, relative_scales
from dpnoise.allocation.descent import Descent, Found
from dpnoise.allocation.groups import tail_slope
from dpnoise.calibration.certify import event_log_delta, shared_log_delta
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.gaussian import log_delta_and_slope
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.allocation.groups import GroupedRequest

_SLACK = 3e-6  # of log delta below the budget
_KINK_SLACK = 5e-3  # where a little less noise costs much more delta
_LONGEST = 1.0  # step of log s
_EVALUATIONS, _CLOSE, _MINIMUM_SLOPE = 60, 1e-13, 0.01
_ENOUGH = 24  # evaluations after which any certified scales do, if some took long
_STRAINED, _MAX_STRAINED = 3e-7, 3  # gaps above the first; so many are as good as enough
_DECISIVE = 0.7  # cheap bounds this far from the aim need no other
_FLOOR = -1e6  # of log delta - target, for a delta of 0


def _log_upper(search: GroupedRequest, scales: Array, aim: float) -> tuple[float, bool]:
    """Certified upper bound on log delta, or a lower one that is far above the aim.

    The flag tells that the account missed its accuracy, which takes it longest.
    """
    groups = search.groups
    noises = [noise.scaled(float(s)) for noise, s in zip(groups.noises, scales, strict=True)]
    sizes, epsilon = groups.sensitivities.tolist(), search.epsilon
    shares = list(zip(noises, sizes, groups.counts.tolist(), strict=True))
    if (low := event_log_delta(shares, epsilon)) > aim + _DECISIVE:
        return low, False
    if (composed := shared_log_delta(shares, epsilon)) < aim - _DECISIVE:
        return composed, False
    if len(noises) == 1:
        copies = int(groups.counts[0])
        profile = vector_profile(noises[0], sizes[0], epsilon, copies=copies)
    else:
        every = np.repeat(np.arange(len(noises)), groups.counts)
        profile = vector_profile([noises[g] for g in every], [sizes[g] for g in every], epsilon)
    upper = float(profile.log_upper)
    return min(upper, composed), not upper - float(profile.log_lower) <= _STRAINED


def _gaussian_slope(search: GroupedRequest) -> float:
    """Slope of log delta in the logarithm of the scale of Gaussian noise."""
    mu = 1.0 / np.atleast_1d(gaussian_sigma(search.epsilon, search.delta))
    return -float(log_delta_and_slope(mu, np.full(1, search.epsilon))[1][0])


def _start(search: GroupedRequest) -> Array:
    """Scales of minimum error as if all noise were Gaussian of the same variance."""
    groups = search.groups
    spread = np.array([noise.std() for noise in groups.noises])
    # In units of the standard deviations u = s spread; a group counts as one coordinate.
    sizes = groups.sensitivities * np.sqrt(groups.counts)
    costs = groups.costs * groups.counts / spread**search.p
    unit = float(gaussian_sigma(search.epsilon, search.delta))
    return closed_form_scales(sizes, "optimal", 2.0, search.p, costs, unit) / spread


def exact_scales(search: GroupedRequest, scheme: str) -> Array:
    """Certified scales of the groups, shape (G,), for a positive delta.

    For "optimal" with more than one group the noise must be made of quadratic pieces. RuntimeError
    if no scales could be verified.
    """
    groups, p = search.groups, search.p
    slopes = np.array([tail_slope(noise) for noise in groups.noises])
    bounded = bool(np.all(np.isfinite(slopes)))
    # The argument of Corollary 6: delta is at most 1 - exp(epsilon - largest loss).
    most = (search.epsilon - math.log1p(-search.delta)) * (1.0 - _CLOSE)
    descent = Descent(search, most, slopes)
    start = _start(search)
    # With very little delta only the largest loss counts: Theorem 5's direction.
    pure = relative_scales(
        groups.sensitivities * np.minimum(slopes, 1.0), scheme, 1.0, p, groups.costs
    )
    if scheme != "optimal":
        pure = relative_scales(groups.sensitivities, scheme, 1.0, p, None)
        start = pure * math.exp(np.mean(np.log(start / pure)))
    safe = pure * (math.fsum(descent.spent / pure) / most)
    start = descent.within_maximum_loss(start)
    tries: list[Found | None] = []
    if len(slopes) > 1 and all(noise.pieces() is not None for noise in groups.noises):
        if scheme == "optimal":
            tries.append(descent.minimum(start))
            tries.append(descent.on_budget(safe) if bounded else descent.minimum_below_kink(start))
        else:
            tries.append(descent.on_budget(start))
    found = [one for one in tries if one] or [Found(start, _gaussian_slope(search))]
    best = min(found, key=lambda one: groups.error(one.scales, p))
    scales = _certified(search, best)
    return safe if bounded and groups.error(safe, p) < groups.error(scales, p) else scales


def _certified(search: GroupedRequest, found: Found) -> Array:
    """Minimum multiple of the scales found that the upper bound on delta lets pass."""
    scales, slope = found.scales, found.slope
    slack = _KINK_SLACK if found.kink else _SLACK
    aim = math.log(search.delta) - 0.5 * slack
    low, high, x = -math.inf, math.inf, 0.0  # too little, enough
    last, strained = None, 0
    for count in range(_EVALUATIONS):
        value, slow = _log_upper(search, scales * math.exp(x), aim)
        value, strained = max(value - aim, _FLOOR), strained + slow
        if value > 0.5 * slack:
            low = x
        else:
            high = x
            if value >= -0.5 * slack or high - low < _CLOSE:
                break
        slowly = strained >= (1 if count >= _ENOUGH else _MAX_STRAINED)
        if slowly and high < math.inf:
            break
        if last is not None and x != last[0] and value != last[1]:
            slope = min((value - last[1]) / (x - last[0]), -_MINIMUM_SLOPE)
        last = x, value
        step = min(max(-value / slope, -_LONGEST), _LONGEST)
        x += step
        stuck = count % 4 == 3 and math.isfinite(high - low)  # the secant may creep at a kink
        if stuck or not low < x < high:  # then both ends are finite
            x = 0.5 * (low + high)
    if high < math.inf:
        return scales * math.exp(high)
    message = f"allocation: not verified at epsilon={search.epsilon!r}, delta={search.delta!r}"
    raise RuntimeError(message)
