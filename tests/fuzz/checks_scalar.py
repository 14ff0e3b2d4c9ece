"""The profile of one number against 90 digits, and the relations that every profile obeys."""

import math

import mpmath as mp
import numpy as np

from dpnoise.noise import DiscreteGaussian, Staircase, Subbotin
from dpnoise.privacy.profile import epsilon_at, log_privacy_profile, privacy_profile
from exact_noise import exact_noise
from fuzz.coordinates import coordinate
from fuzz.draws import FAMILIES
from fuzz.references import OutOfRangeError

_TOLERANCE = 2e-12
_NOTHING = -180.0  # a log delta this low may be rounding of 90 digits
_LEAST_SUM = 1e-30  # of a sum with 45 digits


def _exact(noise, shift, epsilon):
    """Return the exact log delta."""
    if isinstance(noise, DiscreteGaussian | Staircase):
        if isinstance(noise, Staircase):
            greatest = noise.epsilon * mp.ceil(mp.mpf(shift) / noise.sensitivity)
            if epsilon >= greatest:
                return -mp.inf
        else:
            shift = int(shift)
        delta = exact_noise(noise).delta(shift, epsilon)
        if delta < _LEAST_SUM:
            raise OutOfRangeError
        return mp.log(delta)
    if isinstance(noise, Subbotin):
        # Powers next to 1 reach a loss late, or never in practice.
        t = mp.mpf(noise.scale) * (noise.p * mp.mpf(10) ** 5) ** (1 / mp.mpf(noise.p))
        loss = ((t + shift) / noise.scale) ** mp.mpf(noise.p) - (t / noise.scale) ** mp.mpf(noise.p)
        if loss / noise.p < epsilon:
            raise OutOfRangeError
    return exact_noise(noise).log_delta(shift, epsilon)


def _bounded(noise, shift):
    """Return whether no finite loss is above some value."""
    return coordinate(noise, shift).greatest < math.inf


def _query(draws):
    """Return noise, sensitivity and epsilon of one number."""
    family = draws.pick([*FAMILIES, DiscreteGaussian])
    if family is DiscreteGaussian:
        noise = DiscreteGaussian(draws.near(draws.pick([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0])))
        shift = float(draws.rng.integers(1, 5))
        ties = [shift * (2 * k + shift) / (2 * noise.sigma**2) for k in range(-2, 6)]
        choice = [0.0, draws.between(1e-3, 20.0), abs(draws.near(draws.pick(ties), 0.3))]
        return noise, shift, draws.pick(choice)
    noise, shift = draws.pair(family)
    if draws.chance(0.25):
        # Where the loss of a tail quantile lies.
        t = float(noise.isf(10.0 ** -draws.rng.uniform(0.3, 250.0)))
        if t + shift < noise.bound:
            with np.errstate(over="ignore", invalid="ignore"):
                epsilon = float(noise.logpdf(t) - noise.logpdf(t + shift))
            if 0.0 <= epsilon < 1e4:
                return noise, shift, epsilon
    return noise, shift, draws.epsilon([(noise, shift, 1)])


def truth(draws, report):
    """The profile is exact, or that of an epsilon a few units in the last place away."""
    noise, shift, epsilon = _query(draws)
    if isinstance(noise, Staircase) and (noise.epsilon < 0.5 or shift > 6 * noise.sensitivity):
        report.skipped[report.check] += 1
        return
    report.about(noise)
    value = float(report.call(log_privacy_profile, noise, shift, epsilon))
    with mp.workdps(60):
        exact = _exact(noise, shift, epsilon)
        if value == -math.inf and exact < _NOTHING and _bounded(noise, shift):
            exact = -mp.inf  # pure differential privacy to 90 digits
        off = 0.0 if exact == value else abs(mp.mpf(value) - exact) / max(1, -exact / 700)
        slack = _TOLERANCE
        if off > slack and isinstance(noise, DiscreteGaussian | Staircase | Subbotin):
            # As documented: epsilon counts as if off by a few units (Subbotin: p of them).
            wide = 8.0 * 2.0**-52 * (getattr(noise, "p", 1.0) + 3.0)
            around = [_exact(noise, shift, epsilon * (1.0 + s * wide)) for s in (-1, 1)]
            slack = 5e-11 if isinstance(noise, Subbotin) else 1e-11
            slack = slack * max(1, -exact / 700)
            inside = around[1] - slack <= value <= around[0] + slack
            off, slack = (0.0 if inside else off), _TOLERANCE
        claim = f"log delta is {value!r}, exactly {mp.nstr(exact, 17)}"
        report.require(off <= slack, claim)


def inverse(draws, report):
    """epsilon_at is private by the exact account and not larger than needed."""
    noise, shift, epsilon = _query(draws)
    steep = isinstance(noise, Staircase) and (noise.epsilon < 0.5 or shift > 6 * noise.sensitivity)
    if steep:
        report.skipped[report.check] += 1
        return
    report.about(noise)
    mode = draws.rng.random()
    if mode < 0.4:
        delta = draws.delta()
    elif mode < 0.8:
        delta = float(privacy_profile(noise, shift, epsilon))
    else:
        delta = draws.near(float(privacy_profile(noise, shift, 1e6)), 0.5)
    if not 0.0 <= delta < 1.0:
        return
    found = float(report.call(epsilon_at, noise, shift, delta))
    text = report.last
    if math.isinf(found):
        with mp.workdps(60):
            log_delta = _exact(noise, shift, 1e6)
            ok = delta == 0.0 or log_delta >= mp.log(mp.mpf(delta)) - 1e-11
            report.require(ok, f"infinite, but delta(1e6) is {mp.nstr(mp.exp(log_delta), 17)}")
        return
    with mp.workdps(60):
        bar = mp.log(mp.mpf(delta)) if delta > 0 else _NOTHING
        log_delta = _exact(noise, shift, found)
        ok = log_delta <= bar
        report.require(ok, f"{found!r} has delta {mp.nstr(mp.exp(log_delta), 17)}", text)
        if found > 0.0 and delta > 1e-290:
            less = found * (1.0 - 1e-9) - 1e-300
            log_delta = _exact(noise, shift, max(less, 0.0))
            claim = f"{found!r} is too large: {less!r} has {mp.nstr(mp.exp(log_delta), 17)}"
            report.require(log_delta >= bar - 1e-9, claim, text)


CHECKS = {
    "scalar-truth": (truth, 3.0),
    "scalar-inverse": (inverse, 2.0),
}
