"""Bounds on the variance of a family: below all private noise, and `calibrate` near them."""

from dpnoise.calibration.calibrate import calibrate, variance_bound
from dpnoise.calibration.cover import shapes_of
from dpnoise.noise import FlippedHuber, Huber, OffsetSymmetricGaussian, Subbotin
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.vector import vector_profile
from fuzz.draws import FAMILIES, SMALL

_RTOL = 1e-2
_WITH_GAUSSIAN = (FlippedHuber, OffsetSymmetricGaussian, Huber, Subbotin)


def check_variance_bound(draws, report):
    """No random member undercuts the bound, and no member that it meets undercuts `calibrate`."""
    kind = draws.pick(FAMILIES)
    dimension = 1 if kind is Subbotin else draws.pick([1, 1, 2, 3, 5, 10, 20, 100])
    epsilon = draws.near(draws.pick([0.01, 0.1, 0.3, *SMALL[:9]]))
    delta = min(draws.delta(), 0.2)
    budget = {"epsilon": epsilon, "delta": delta, "dimension": dimension}
    report.about(kind.__name__, copies=dimension)
    found = report.call(calibrate, kind, **budget)
    bound = report.call(variance_bound, kind, rtol=_RTOL, max_cells=1000, **budget)
    text = report.last
    beaten = bound.found.variance < found.variance * (1.0 - 1e-6)
    report.require(not beaten, f"{bound.found!r} is better than {found!r}", text)
    near = bound.optimal_within <= 1.01 * _RTOL
    report.require(near, f"only within {bound.optimal_within!r}", text)
    limits = [2.0 * (dimension / epsilon) ** 2]
    if kind in _WITH_GAUSSIAN:
        limits.append(float(gaussian_sigma(epsilon, delta)) ** 2 * dimension)
    if kind.__name__ != "Gaussian":
        claim = f"bound {bound.variance!r} above a limit of the family, {limits!r}"
        report.require(bound.variance <= min(limits), claim, text)
    shapes = shapes_of(kind)
    variance = bound.variance * (1.0 - 1e-9)
    noise = shapes.member(draws.rng.uniform(0.01, 0.99), variance)
    if 1e-5 < noise.mean_abs() < 1e8:
        upper = float(vector_profile(noise, 1.0, epsilon, copies=dimension, rtol=1e-3).upper)
        report.require(upper > delta, f"{noise!r} keeps the budget below the bound", text)


CHECKS = {"bound-variance": (check_variance_bound, 1.0)}
