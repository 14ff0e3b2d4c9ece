"""Steps on Poisson samples of any size, each answer against references of another kind.

`python -m fuzz --only sampled-range --sets 100000 --seed 1` asks as many questions: sigma from 1e-2
to 1e4, rates from 1e-9 to 1, up to 1e9 steps, delta from 1e-300 to 1, round numbers or of any size.
Most are of one step or of steps that sample everybody, whose closed forms decide by a proof; some
are of two steps, by quadrature; some of any number (three answers each), by two tests for the
record and by moments of whole orders, which bound delta from either side, and by monotony in each
parameter. An epsilon of no upper bound counts where one sentence says so.
"""

import math
import re

import numpy as np

from dpnoise import SampledGaussian
from fuzz import sampled_references as references
from fuzz.references import OutOfRangeError
from oracles import samples

_SIGMAS = [0.01, 0.1, 0.5, 0.8, 1.0, 1.5, 2.0, 5.0, 10.0, 100.0, 1e3, 1e4]
_RATES = [1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.02, 0.04, 0.1, 0.25, 0.5, 0.9, 1.0]
_STEPS = [2, 10, 100, 1000, 2250, 10_000, 10**6, 10**9]
_DELTAS = [0.5, 0.1, 1e-2, 1e-5, 1e-6, 1e-10, 1e-20, 1e-50, 1e-100, 1e-300]
_SLACK = 1e-9  # of logarithms, for the rounding of references
_LARGEST = 1e6  # epsilon
KINDS = {"one": 0.495, "everybody": 0.495, "two": 0.003, "many": 0.007}
_DELTA = 0.8  # of the questions with closed forms ask for delta, which takes less time


def parameters(draws):
    """Return sigma, rate, steps and delta, each round or of any size."""
    sigma = draws.pick(_SIGMAS) if draws.chance(0.4) else draws.between(1e-2, 1e4)
    rate = draws.pick(_RATES) if draws.chance(0.4) else draws.between(1e-9, 1.0)
    steps = draws.pick(_STEPS) if draws.chance(0.4) else int(draws.between(2, 1e9))
    delta = draws.pick(_DELTAS) if draws.chance(0.4) else math.exp(-draws.between(1e-3, 690.0))
    return sigma, rate, steps, delta


def _epsilon(draws, sigma, rate):
    """Return the loss of an output, less a part of it at times."""
    w = draws.between(0.01, 40.0) / sigma + draws.pick([-0.5, 0.5]) / sigma**2
    spared = math.log1p(-rate) if rate < 1.0 else -math.inf
    loss = float(np.logaddexp(spared, math.log(rate) + w))
    return min(abs(loss) * (1.0 if draws.chance(0.5) else draws.between(1e-3, 1.0)), _LARGEST)


def closed(draws, report, kind):
    """A delta or an epsilon of one step, or of steps of rate 1, by a proof."""
    sigma, rate, steps, delta = parameters(draws)
    one = kind == "one"
    steps, rate = (1, rate) if one else (steps, 1.0)
    step = SampledGaussian(sigma, rate)

    def holds(epsilon, low, high):
        if one:
            return samples.one_step_within(sigma, rate, epsilon, low, high)
        return samples.everybody_within(sigma, steps, epsilon, low, high)

    if draws.chance(_DELTA):
        epsilon = _epsilon(draws, sigma / math.sqrt(steps), rate)
        found = report.call(step.delta, epsilon, steps=steps)
        report.require(holds(epsilon, *found), f"{found} is not around the delta")
        return
    found = answer(report, step, delta, steps)
    low, high = found
    ordered = 0.0 <= low <= high
    report.require(ordered and (low == 0.0 or holds(low, delta, 1.0)), f"lower end of {found}")
    report.require(high == math.inf or holds(high, 0.0, delta), f"upper end of {found}")


def answer(report, step, delta, steps):
    """Return both ends of epsilon, the upper one infinite where a sentence says that none is."""
    try:
        return report.call(step.epsilon, delta, steps=steps)
    except ValueError as error:
        known = re.search(r"out of reach: .*epsilon is at least (\S+)$", str(error))
        report.require(known is not None, str(error))
        return float(known[1]) * (1.0 - 1e-5) if known else 0.0, math.inf


def two(draws, report):
    """A delta of two steps, by quadrature."""
    sigma, rate, _, _ = parameters(draws)
    epsilon = _epsilon(draws, sigma, rate)
    truth, error = references.log_two_steps((sigma, rate), (sigma, rate), epsilon)
    if not error < 1e-3:
        raise OutOfRangeError
    step = SampledGaussian(sigma, rate)
    low, high = report.call(step.delta, epsilon, steps=2)
    ok = low <= math.exp(truth) * (1.0 + error) and math.exp(truth) * (1.0 - error) <= high
    report.require(ok, f"{(low, high)} beside {math.exp(truth)!r}, off by {error:.2g}")


def many(draws, report):
    """An epsilon and deltas of any number of steps, by bounds on either side and monotony."""
    sigma, rate, steps, delta = parameters(draws)
    step = SampledGaussian(sigma, rate)
    low, high = answer(report, step, delta, steps)
    text, log_delta = report.last, math.log(delta)
    report.require(0.0 <= low <= high, f"{(low, high)}", text)
    if low > 0.0:
        most = references.log_upper(sigma, rate, steps, low)
        report.require(log_delta <= most + _SLACK, f"lower end {low!r}: {most!r}", text)
    if high <= _LARGEST:
        least = references.log_lower(sigma, rate, steps, high)
        report.require(least <= log_delta + _SLACK, f"upper end {high!r}: {least!r}", text)
    middle = low if high > _LARGEST else 0.5 * (low + high)
    epsilon = middle * draws.between(0.5, 1.0) if middle > 0.0 else _epsilon(draws, sigma, rate)
    epsilon = min(epsilon, _LARGEST)
    here = report.call(step.delta, epsilon, steps=steps)
    text = report.last
    ends = (references.log_lower, references.log_upper)
    least, most = (end(sigma, rate, steps, epsilon) for end in ends)
    report.require(here.lower <= math.exp(most + _SLACK), f"{here}: at most {most!r}", text)
    report.require(math.exp(least - _SLACK) <= here.upper, f"{here}: at least {least!r}", text)
    more = 1.0 + 10.0 ** -draws.between(0.1, 9.0)
    kind = draws.pick(["sigma", "rate", "steps", "epsilon"])
    sigma = max(sigma / more, 1e-3) if kind == "sigma" else sigma
    rate = min(rate * more, 1.0) if kind == "rate" else rate
    steps = min(math.ceil(steps * more), 10**9) if kind == "steps" else steps
    epsilon = epsilon / more if kind == "epsilon" else epsilon
    worse = report.call(SampledGaussian(sigma, rate).delta, epsilon, steps=steps)
    report.require(here.lower <= worse.upper, f"{here} is above {worse} of more {kind}", text)


def check_range(draws, report):
    """One question, or three of one kind, of any size."""
    kind = draws.rng.choice(list(KINDS), p=list(KINDS.values()))
    report.about(f"sampled, {kind}", sets=3 if kind == "many" else 1)
    if kind == "two":
        two(draws, report)
    elif kind == "many":
        many(draws, report)
    else:
        closed(draws, report, kind)


CHECKS = {"sampled-range": (check_range, 1.0)}
