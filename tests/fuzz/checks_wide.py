"""Queries of many different coordinates, and what an allocation to them spends."""

import math

import numpy as np

from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import Gaussian, Laplace, Staircase, Subbotin
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.vector import vector_profile
from fuzz.draws import FAMILIES
from fuzz.references import reference_bounds

_SLACK = 1e-9


def different(draws, report):
    """Up to 1,000 different coordinates: bounds that hold, within the time for any call."""
    family = draws.pick([*FAMILIES, None])
    count = draws.pick([10, 10, 30, 100, 1000])
    one, shift = draws.pair(family or draws.pick(FAMILIES[:6]), several=True)
    # Each coordinate differs a little, or by much; a staircase keeps its width.
    spread = draws.pick([1e-6, 0.1, 1.0])
    sizes = (1.0 + spread * draws.rng.random(count)).tolist()
    noises = [one.scaled(size) for size in sizes]
    if family is None:
        noises[::2] = [Gaussian(3.0 * shift * size) for size in sizes[::2]]
    epsilon = draws.between(0.1, 30.0)
    report.about(*noises, copies=count)
    found = report.call(vector_profile, noises, [shift] * count, epsilon)
    text = f"{count} coordinates like {one!r}, sensitivity {shift!r}, epsilon {epsilon!r}"
    report.require(0.0 <= found.lower <= found.upper <= 1.0, f"bounds {found!r}", text)
    if count > 10 or isinstance(one, Subbotin | Staircase):
        return
    bounds = reference_bounds([(noise, shift, 1) for noise in noises], epsilon)
    report.last = text
    report.within(bounds, found.log_lower, found.log_upper, _SLACK, "independent bounds")


def corollary_6(draws, report):
    """The scales of Corollary 6 suffice; shares add up to the budget."""
    lambdas = [draws.size(0.1, 5.0) for _ in range(draws.pick([1, 2, 3, 6]))]
    epsilon, delta = draws.size(0.1, 10.0), draws.pick([0.0, draws.delta()])
    report.about(Laplace(1.0), copies=len(lambdas))
    more = epsilon - math.log1p(-delta)  # Corollary 6 is Theorem 5 with a larger epsilon
    scales = report.call(allocate, lambdas, noise="laplace", epsilon=more)
    text = report.last
    shares = [(Laplace(float(s)), d, 1) for s, d in zip(scales, lambdas, strict=True)]
    low, _ = reference_bounds(shares, epsilon * (1.0 + 1e-12))
    bar = math.log(delta) + 1e-9 if delta else -math.inf
    report.require(low <= bar, f"log delta is at least {low!r}", text)
    spent = float(np.sum(np.array(lambdas) / scales))
    exact = epsilon - math.log1p(-delta)
    report.require(abs(spent / exact - 1.0) <= 1e-12, f"adds up to {spent!r}, not {exact!r}")


def floor(draws, report):
    """No noise of any family is below the limit of all additive noise."""
    epsilon, delta = draws.pick([0.5, 1.0, 2.0, 4.0]), draws.pick([1e-1, 1e-2, 1e-4])
    limit = report.call(minimum_cost, epsilon, delta, gap=0.1)
    text = report.last
    report.about("any noise")
    families = ("gaussian", "laplace", "flipped-huber", "truncated-laplace", "staircase")
    for family in families:
        found = calibrate(family, epsilon=epsilon, delta=delta)
        ok = found.variance >= limit.lower * (1.0 - 1e-9)
        report.require(ok, f"{found!r} is below the floor {limit.lower!r}", text)
    report.require(limit.lower <= limit.upper, f"{limit.lower!r} > {limit.upper!r}", text)


def arrays(draws, report):
    """Vectorised calls give what single calls give."""
    noise, shift = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    epsilons = np.array([draws.epsilon([(noise, shift, 1)]) for _ in range(4)])
    shifts = shift * np.array([[0.5], [1.0]])
    table = report.call(log_privacy_profile, noise, shifts, epsilons)
    i, j = int(draws.rng.integers(2)), int(draws.rng.integers(4))
    one = log_privacy_profile(noise, float(shifts[i, 0]), float(epsilons[j]))
    report.require(table.shape == (2, 4), f"shape {table.shape}")
    near = one == table[i, j] or abs(one - table[i, j]) <= 1e-11 * max(1.0, -one / 700.0)
    report.require(near, f"{table[i, j]!r} in an array, {one!r} alone")


CHECKS = {
    "wide-different": (different, 1.5),
    "wide-corollary-6": (corollary_6, 0.3),
    "wide-floor": (floor, 0.3),
    "wide-arrays": (arrays, 0.2),
}
