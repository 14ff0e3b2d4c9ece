"""Steps on Poisson samples, against closed forms, convolutions and relations between questions."""

import math

import numpy as np
from flint import arb
from scipy import special

from dpnoise import SampledGaussian
from dpnoise.privacy.sampled.composition import Composition
from dpnoise.privacy.sampled.mechanism import deltas_of
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    ATTAINED,
    FIXED,
    GAUSSIAN,
    LAPLACE,
    POISSON,
    REMOVED,
    REPLACED,
    Kind,
    largest_loss,
    log_factor,
    one_step,
    pair_of,
)
from oracles import samples

_SIGMAS = [0.5, 0.6, 0.7, 0.8, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0]
_RATES = [1e-3, 2e-3, 4e-3, 0.005, 0.01, 0.02, 0.04, 0.05, 0.1]
_STEPS = [100, 150, 500, 1000, 2250, 5000, 10_000, 50_000, 100_000]
_DELTAS = [1e-5, 1e-6, 1e-7, 1e-8]
_EXTREME_RATES = [1.0, 0.5, 1.0 - 2.0**-53, 1.0 - 1e-9, 1e-9, 1e-300, 5e-324]
_CELLS = 1 << 15
_FFT = 1e-13  # more than the rounding of the reference's sums
EVERYDAY_GAP = 1e-6


def everyday(draws):
    """Return a mechanism, a number of steps and delta that training has."""
    if draws.chance(0.5):
        step = SampledGaussian(draws.pick(_SIGMAS), draws.pick(_RATES))
        return step, draws.pick(_STEPS), draws.pick(_DELTAS)
    step = SampledGaussian(draws.between(0.5, 5.0), draws.between(1e-3, 0.1))
    return step, int(draws.between(100, 1e5)), draws.between(1e-8, 1e-5)


def closed_question(draws):
    """Return a step of any size, a direction, and an epsilon that is often the loss of an output.

    Sigma is from 1e-3 to 1e6, the rate from 1e-300 to 1, epsilon from 0 to 1e5.
    """
    sigma = (
        draws.between(1e-3, 1e6) if draws.chance(0.8) else draws.pick([1e-3, 0.5, 1.0, 1e3, 1e6])
    )
    rate = draws.between(*draws.pick([(1e-300, 1.0), (1e-6, 1.0)]))
    rate = rate if draws.chance(0.8) else draws.pick(_EXTREME_RATES)
    direction = draws.pick([REMOVED, ADDED, REPLACED])
    noise = draws.pick([GAUSSIAN, LAPLACE])
    fixed = direction == REPLACED and draws.chance(0.3)
    kind = Kind(sigma, rate, noise, FIXED if fixed else POISSON)
    direction = draws.pick([REPLACED, ATTAINED]) if fixed else direction
    pair = pair_of(kind, direction)
    mode = draws.rng.random()
    if mode < 0.05:
        return kind, direction, 0.0
    if mode < 0.25:
        return kind, direction, draws.between(1e-300 if mode < 0.15 else 1e-6, 1e5)
    top = largest_loss(pair)
    if mode < 0.35 and top < 1e5:  # next to the largest loss
        return (
            kind,
            direction,
            top * (1.0 + draws.pick([-1.0, 0.0, 1.0]) / draws.between(1e3, 1e16)),
        )
    m, turn = pair.shift, draws.pick([-1.0, 1.0])
    if noise == GAUSSIAN:
        w = m * draws.rng.uniform(-3.0, 30.0) - 0.5 * turn * m * m
    else:
        w = m * draws.rng.uniform(-1.0, 1.0)
    loss = log_factor(rate, w)
    if pair.form == REPLACED:
        loss -= log_factor(rate, -w - m * m if noise == GAUSSIAN else -m)
    return kind, direction, min(abs(loss) * (1.0 if draws.chance(0.8) else draws.rng.random()), 1e5)


def closed_within(kind, direction, epsilon, low, high):
    """Return whether delta of one step is between two numbers: a proof, to any digits needed."""
    pair = pair_of(kind, direction)
    form, moved = REMOVED if pair.form == FIXED else pair.form, round(pair.shift * kind.sigma)

    def ball():
        return samples.delta_ball(kind.noise, form, moved / arb(kind.sigma), kind.rate, epsilon)

    return samples.ball_within(ball, low, high, f"{kind}, {direction}, {epsilon!r}")


def check_closed(draws, report):
    """Both ends for one step of any kind and size are on either side of its delta."""
    kind, direction, epsilon = closed_question(draws)
    report.about("sampled")
    found = deltas_of(*report.call(one_step, pair_of(kind, direction), epsilon)[::2])
    held = closed_within(kind, direction, epsilon, *found)
    report.require(held, f"{kind} {direction}: {found} is not around the delta")


def convolved(sigma, rate, steps, epsilon, direction):
    """Return bounds on delta by losses rounded down and up on a lattice, of small absolute error.

    The masses of the cells come from normal distribution functions at the edges.
    """
    turn = 1.0 if direction == REMOVED else -1.0
    ends = np.array([-9.0, 9.0 + (1.0 / sigma if direction == REMOVED else 0.0)])
    losses = np.sort(turn * np.log1p(rate * np.expm1((ends - 0.5 / sigma) / sigma)))
    width = (losses[1] - losses[0]) * 1.0000001 / _CELLS
    edges = losses[0] + width * np.arange(_CELLS + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.log(np.maximum((np.expm1(turn * edges) + rate) / rate, 0.0))
    at = np.where(np.isneginf(inner), -np.inf, sigma * inner + 0.5 / sigma)
    plain, moved = special.ndtr(at), special.ndtr(at - 1.0 / sigma)
    below = (1.0 - rate) * plain + rate * moved if direction == REMOVED else plain
    below = below if direction == REMOVED else 1.0 - below
    masses = np.maximum(np.diff(below), 0.0)
    out_below, out_above = max(below[0], 0.0), max(1.0 - below[-1], 0.0)
    size = 1 << (steps * _CELLS).bit_length()
    total = np.fft.irfft(np.fft.rfft(masses, size) ** steps, size)
    start = steps * losses[0] + width * np.arange(size)
    bounds = []
    for shift in (0.0, steps * width):
        pay = -np.expm1(np.minimum(epsilon - (start + shift), 0.0))
        bounds.append(float(np.sum(pay[: steps * _CELLS] * total[: steps * _CELLS])))
    rest = steps * (out_below + out_above) + _FFT * steps + 1e-9 * width
    return bounds[0] - rest, bounds[1] + rest


def check_few_steps(draws, report):
    """Two to twelve steps, against a convolution."""
    sigma = draws.pick(_SIGMAS) if draws.chance(0.4) else draws.between(0.3, 20.0)
    rate = draws.pick([*_RATES, 0.2, 0.5, 0.9]) if draws.chance(0.4) else draws.between(1e-4, 0.99)
    steps = int(draws.between(2, 13))
    epsilon = draws.between(1e-2, 1.0) * min(rate * math.sqrt(steps) / sigma * 4.0, 8.0)
    direction = draws.pick([REMOVED, ADDED])
    report.about("sampled", copies=steps)
    step = SampledGaussian(sigma, rate)
    found = report.call(step.delta, epsilon, steps=steps, direction=direction)
    low, high = convolved(sigma, rate, steps, epsilon, direction)
    report.require(found.lower <= high and low <= found.upper, f"convolution: {low!r}, {high!r}")


def check_reflected(draws, report):
    """The removed record's delta at -epsilon is 1 - e^-epsilon (1 - the added one's at epsilon)."""
    step, steps, _ = everyday(draws)
    spread = step.rate * math.sqrt(steps * math.expm1(min(step.sigma**-2, 3.0)))
    epsilon = spread * draws.between(0.01, 2.0)
    report.about("sampled", copies=steps)
    one = Composition({Kind(step.sigma, step.rate): steps})
    added = report.call(one.log_delta, epsilon, ADDED)
    removed = one.log_delta(-epsilon, REMOVED)
    low = 1.0 - math.exp(epsilon) * -math.expm1(removed.lower)
    high = 1.0 - math.exp(epsilon) * -math.expm1(removed.upper)
    slack = 1e-13 * math.exp(epsilon)
    claim = f"removed: {low!r}, {high!r}, added: {added}"
    report.require(
        math.exp(added.lower) <= high + slack and low - slack <= math.exp(added.upper), claim
    )


def check_everyday(draws, report):
    """The ends are within 1e-6 of each other, and delta at them is on either side."""
    step, steps, delta = everyday(draws)
    report.about("sampled", copies=steps)
    found = report.call(step.epsilon, delta, steps=steps)
    text = report.last
    report.require(0.0 <= found.lower <= found.upper < math.inf, f"{found}", text)
    gap = found.upper - found.lower
    report.require(gap <= EVERYDAY_GAP * found.upper, f"gap of {found}", text)
    if found.lower > 0.0:
        low, high = (step.delta(at, steps=steps) for at in found)
        ok = low.upper >= delta * (1.0 - 1e-12) and high.lower <= delta * (1.0 + 1e-12)
        report.require(ok, f"delta at {found}: {low}, {high}", text)


CHECKS = {
    "sampled-closed": (check_closed, 1.0),
    "sampled-few": (check_few_steps, 1.0),
    "sampled-reflected": (check_reflected, 1.0),
    "sampled-everyday": (check_everyday, 1.0),
}
