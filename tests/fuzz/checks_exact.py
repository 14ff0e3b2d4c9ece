"""Bounds on delta against 60 digits, where differences of logarithms nearly cancel.

Scales go from 1e-3 to 1e6, epsilons are at, next to and far from sums of losses. Gaussian noise has
its delta from Arb, also at negative epsilons; staircases no wider than a step have three losses
each, so that a few coordinates have finitely many, which are added up.
"""

import math
from fractions import Fraction

import mpmath as mp
from flint import arb

from dpnoise.noise import Staircase
from dpnoise.privacy.accounts import event_log_delta, gaussian_delta, shared_log_delta
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.vector import known_profile
from dpnoise_papers.verify.oracles.gaussian import gaussian_ball
from oracles.gaussian import number

_DIGITS = 60
_SLACK = 1e-30  # relative, of the truth
_LOWEST = -690.0  # log delta: below it doubles have few digits
_EVENTS = 1e-9  # of `event_log_delta`, which is a bound up to rounding
_SIZE = 2**12


def _scale(draws):
    if draws.chance(0.3):
        return draws.near(draws.pick([1e-3, 0.5, 1.0, 1e3, 1e6]), 0.3)
    return draws.between(1e-3, 1e6)


def check_gaussian(draws, report):
    """Bounds at an epsilon of either sign."""
    mu = 1.0 / _scale(draws)
    size = draws.pick([0.0, draws.between(1e-14, 1.0), mu * draws.between(1e-3, 30.0)])
    report.about("Gaussian")
    for epsilon in (size, -size):
        low, high = report.call(gaussian_delta, Fraction(mu) ** 2, epsilon)
        exact = number(lambda e=epsilon: gaussian_ball(arb(mu), arb(e)), f"{mu!r}, {epsilon!r}")
        with mp.workdps(_DIGITS):
            good = mp.mpf(low) <= exact * (1 + _SLACK) and exact * (1 - _SLACK) <= mp.mpf(high)
            good = good or mp.log(exact) < _LOWEST
            report.require(good, f"[{low!r}, {high!r}], truth {mp.nstr(exact, 20)}")


def _losses(noise, shift, copies):
    """Return the sums of the three losses of equal coordinates, and their probabilities."""
    e, b = Fraction(noise.epsilon), mp.exp(-mp.mpf(noise.epsilon))
    width, gamma, d = map(mp.mpf, (noise.sensitivity, noise.gamma, shift))
    up = (1 - b) * min(d, 2 * gamma * width) + b * d
    up /= 2 * width * (gamma + b * (1 - gamma))
    down = up * b
    found = {}
    for i in range(copies + 1):
        for j in range(copies - i + 1):
            ways = math.comb(copies, i) * math.comb(copies - i, j)
            chance = ways * up**i * down**j * (1 - up - down) ** (copies - i - j)
            found[(i - j) * e] = found.get((i - j) * e, 0) + chance
    return found


def _log_delta(shares, epsilon):
    """Return the exact log delta of a few staircases."""
    total = {Fraction(0): mp.mpf(1)}
    for share in shares:
        one, before, total = _losses(*share), total, {}
        for (a, p), (b, q) in ((x, y) for x in before.items() for y in one.items()):
            total[a + b] = total.get(a + b, 0) + p * q
    gaps = ((Fraction(epsilon) - loss, chance) for loss, chance in total.items())
    above = ((mp.mpf(gap.numerator) / gap.denominator, p) for gap, p in gaps if gap < 0)
    delta = mp.fsum(-mp.expm1(gap) * chance for gap, chance in above)
    return mp.log(delta) if delta else -mp.inf


def check_stairs(draws, report):
    """Every account of a few staircases, next to their largest loss and elsewhere."""
    shares, total = [], Fraction(0)
    for _ in range(int(draws.rng.integers(1, 3))):
        width = _scale(draws)
        noise = Staircase(draws.between(1e-6, 30.0), width, draws.rng.uniform(0.01, 0.99))
        shift = width * draws.pick([1.0, draws.rng.uniform(0.0, 1.0), draws.between(1e-6, 1.0)])
        shares.append((noise, shift, draws.pick([1, 2, 3, 7, 20])))
        total += shares[-1][2] * Fraction(noise.epsilon)
    near = draws.near(draws.pick([float(total), shares[0][0].epsilon]), 0.5)
    epsilon = draws.pick([0.0, near, near, float(total) * draws.between(1e-12, 1.0)])
    copies = sum(n for _, _, n in shares)
    report.about(Staircase(1.0, 1.0, 0.5), copies=copies)
    with mp.workdps(_DIGITS):
        truth = _log_delta(shares, epsilon)
        slack = _SLACK * (1 + abs(truth))
        if -mp.inf < truth < _LOWEST:
            return

        def enclose(low, high):
            good = mp.mpf(float(low)) <= truth + slack and truth - slack <= mp.mpf(float(high))
            text = f"log delta in [{float(low)!r}, {float(high)!r}], truth {mp.nstr(truth, 20)}"
            report.require(truth == low == high == -mp.inf or good, text)

        slack = mp.mpf(0) if truth == -mp.inf else slack
        found = report.call(known_profile, shares, epsilon)
        enclose(found.log_lower, found.log_upper)
        if copies > 1:
            found = report.call(lattice_bounds, shares, epsilon, size=_SIZE)
            enclose(found.log_lower, found.log_upper)
            enclose(-math.inf, report.call(shared_log_delta, shares, epsilon))
            enclose(report.call(event_log_delta, shares, epsilon) - _EVENTS, 0.0)


CHECKS = {"exact-gaussian": (check_gaussian, 0.5), "exact-stairs": (check_stairs, 0.5)}
