"""Noise families against their definitions at 60 digits, and their exact symmetries."""

import math

import mpmath as mp

from dpnoise.noise import (
    FlippedHuber,
    flipped_huber_variance,
)
from exact_noise import exact_noise
from fuzz.draws import FAMILIES

_TOLERANCE = 1e-12
_DOUBLES = 1.7e308  # the largest


def _off(value, exact):
    """Return the relative error, absolute where the exact value is below 1."""
    if mp.isinf(exact) or exact < -_DOUBLES:
        return 0.0 if value == -math.inf else math.inf
    return float(abs(mp.mpf(float(value)) - exact) / max(abs(exact), 1))


def moments(draws, report):
    """Variance, mean absolute value and Fisher information."""
    noise, _ = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    with mp.workdps(60):
        exact = exact_noise(noise)
        for method, truth in (
            ("var", exact.variance()),
            ("mean_abs", exact.mean_abs()),
            ("fisher_information", exact.fisher()),
        ):
            value = report.call(getattr(noise, method))
            off = 0.0 if mp.isinf(truth) and value == math.inf else abs(value / truth - 1)
            claim = f"{noise!r}.{method}() is {value!r}, exactly {mp.nstr(truth, 17)}"
            report.require(off <= _TOLERANCE, claim)
    if isinstance(noise, FlippedHuber):
        value = report.call(flipped_huber_variance, noise.alpha, noise.gamma)
        off = abs(value / noise.var() - 1.0)
        report.require(off <= _TOLERANCE, f"{noise!r}.var() is {noise.var()!r}")


def densities(draws, report):
    """Density and tail at one point, anywhere down to a tail of 1e-300."""
    noise, shift = draws.pair(draws.pick(FAMILIES))
    report.about(noise)
    with mp.workdps(60):
        exact = exact_noise(noise)
        special = [shift, *exact.seams[:4]]
        if draws.chance(0.5):
            t = draws.near(draws.pick(special), 0.5)
        else:
            t = float(report.call(noise.isf, 10.0 ** -draws.rng.uniform(0.31, 300.0)))
        if t >= noise.bound:
            return
        for method, truth in (("logpdf", exact.log_density), ("logsf", exact.log_tail)):
            value, at = report.call(getattr(noise, method), t), truth(mp.mpf(t))
            # What one rounding of t does: at the seams of a staircase it is a whole step.
            blur = max(abs(at - truth(mp.mpf(t) * (1 + s * mp.mpf(2) ** -51))) for s in (-1, 1))
            claim = f"{noise!r}.{method}({t!r}) is {value!r}, exactly {mp.nstr(at, 17)}"
            report.require(_off(value, at) <= _TOLERANCE + blur / max(abs(at), 1), claim)


CHECKS = {
    "noise-moments": (moments, 0.5),
    "noise-densities": (densities, 0.7),
}
