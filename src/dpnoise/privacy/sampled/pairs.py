"""Pairs of distributions that dominate one step on a sample, and its delta in closed form.

Poisson samples of rate q, with N_x the noise moved by x, |x| <= 1, in units of the noise:

    record removed   (1 - q) N_0 + q N_1  against  N_0
    record added     N_0  against  (1 - q) N_0 + q N_1
    one replaced     (1 - q) N_0 + q N_1  against  (1 - q) N_0 + q N_-1

Samples of m of n records, q = m / n, one replaced: for epsilon >= 0 no step has a larger delta than
the first pair with a contribution of 2, nor for epsilon < 0 than the second. The symmetric pair
with this curve, `REPLACED`, dominates each step; either of the two, in all steps, is attained.
docs/sampling.md has the proofs.

**One step.** With delta_N(m, a) the profile of the noise itself moved by m, at a of any sign, and
r = e^epsilon - 1,

    removed              q delta_N(m, a),  e^a = 1 + r / q
    added                s delta_N(m, a),  s = q - (1 - q) r,  e^a = 1 + r / s
    replaced, Laplace    q delta_N(m, a),  e^a = e^-m + r (1 - q + q e^-m) / q
    replaced, Gaussian   q delta_N(m, t - h) + q e^(epsilon - t - h) delta_N(m, t + h),  h = m^2 / 2

with x = e^t the positive root of x^2 - c x - e^epsilon, c = r (1 - q) / q e^h: z = x - 1 is
2 (c + r) / (2 - c + sqrt(c^2 + 4 e^epsilon)), and all sums but those for s and t - h are of
numbers of one sign. Each delta falls with a and rises with s and m. So both ends follow from the
ends of a, s and m, whose doubts are counted step by step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion.inversion import LogBounds

GAUSSIAN, LAPLACE = "gaussian", "laplace"
POISSON, FIXED = "poisson", "without replacement"
REMOVED, ADDED = "removed", "added"
# Directions where one record is replaced: what dominates, and what samples of a fixed size attain.
REPLACED, ATTAINED = "replaced", "replaced: removed"
NOTHING = LogBounds(-math.inf, -math.inf, -math.inf)
_UNIT = 2.0**-53
_HUGE = 700.0  # of an exponent
_MOST_SQUARE = 300.0  # half of the square of a shift up to which e to it is used
_LARGE = 1e150
_SMALLEST = 5e-324  # rounding of the smallest numbers


class Kind(NamedTuple):
    """A step: sigma or scale over the largest norm of a contribution, rate, noise, sampling."""

    sigma: float
    rate: float
    noise: str = GAUSSIAN
    sampling: str = POISSON


class Pair(NamedTuple):
    """What one step is in one direction: a form of pair at a shift in units of the noise."""

    form: str  # REMOVED, ADDED, REPLACED or FIXED
    noise: str
    shift: float
    rate: float


def pair_of(kind: Kind, direction: str) -> Pair:
    """The pair of a step in a direction."""
    shift, form = 1.0 / kind.sigma, direction
    if kind.sampling == FIXED or (direction == REPLACED and kind.rate == 1.0):
        shift *= 2.0
    if kind.sampling == FIXED:
        form = FIXED if direction == REPLACED else REMOVED
    elif direction == ATTAINED:
        form = REPLACED
    if kind.rate == 1.0:
        form = REMOVED  # one shift, whose curve is its own reflection
    return Pair(form, kind.noise, shift, kind.rate)


def log_delta_of(noise: str, shift: float, epsilon: float) -> tuple[float, float]:
    """Log delta of noise against itself moved, and its error for these very numbers.

    Epsilon is of any sign for Gaussian noise, at least -shift for Laplace noise.
    """
    if noise == LAPLACE:
        gap = 0.5 * (epsilon - shift)
        found = math.log(-math.expm1(gap)) if gap < 0.0 else -math.inf
        return found, _UNIT * (8.0 - 2.0 * max(found, -_LARGE))
    size, half = abs(epsilon), 0.5 * shift
    found = float(gaussian_log_delta(shift, size))
    a = min(size / shift, _LARGE)
    error = _UNIT * (128.0 + 8.0 * abs(a - half) * (a + half) - 8.0 * found)
    if epsilon < 0.0:  # 1 - e^epsilon + e^epsilon delta(-epsilon)
        found = float(np.logaddexp(math.log(-math.expm1(epsilon)), epsilon + found))
        error += _UNIT * (16.0 + 4.0 * abs(found))
    return found, error


def _end(pair: Pair, log_weight: float, inner: float, sign: float) -> float:
    """The lower or the upper end of log (weight delta_N(m, inner)); `sign` is -1.0 or 1.0."""
    found, error = log_delta_of(pair.noise, pair.shift * (1.0 + sign * 4.0 * _UNIT), inner)
    if found == -math.inf:
        return found
    return log_weight + found + sign * (error + 4.0 * _UNIT * (abs(log_weight) + abs(found)))


def one_step(pair: Pair, epsilon: float) -> LogBounds:
    """Bounds on log delta of one step at epsilon >= 0, in closed form, rounding included."""
    form, noise, _, q = pair
    if form == REPLACED and noise == GAUSSIAN:
        low, high = _replaced_ends(pair, epsilon)
    elif form == ADDED and q < 1.0:
        low, high = _added_ends(pair, epsilon)
    else:
        inner, doubt = (_replaced_inner if form == REPLACED else _removed_inner)(pair, epsilon)
        ends = ((-1.0, inner + doubt), (1.0, inner - doubt))
        low, high = (_end(pair, math.log(q), at, sign) for sign, at in ends)
    high = min(high, 0.0)
    low = min(low, high)
    return LogBounds(low, 0.5 * (low + high) if low > -math.inf else high, high)


def _log_rise(epsilon: float) -> float:
    """Log (e^epsilon - 1)."""
    if epsilon < _HUGE:
        return math.log(math.expm1(epsilon)) if epsilon > 0.0 else -math.inf
    return epsilon


def _removed_inner(pair: Pair, epsilon: float) -> tuple[float, float]:
    """Epsilon of the noise itself where a record is removed, and its doubt."""
    q = pair.rate
    if q == 1.0:
        return epsilon, 0.0
    ratio = math.expm1(min(epsilon, _HUGE)) / q
    if epsilon < _HUGE and ratio < math.inf:
        inner = math.log1p(ratio)
        return inner, 8.0 * _UNIT * inner + _SMALLEST
    inner = _log_rise(epsilon) - math.log(q)
    return inner, 8.0 * _UNIT * (abs(_log_rise(epsilon)) + abs(math.log(q)) + 1.0)


def _added_ends(pair: Pair, epsilon: float) -> tuple[float, float]:
    """Both ends where a record is added, of a rate below 1."""
    q = pair.rate
    rise = math.expm1(min(epsilon, _HUGE))
    doubt = 8.0 * _UNIT * (q + rise) + 4.0 * _SMALLEST
    found = []
    for sign in (-1.0, 1.0):
        share = min(q - rise * (1.0 - q) + sign * doubt, q)
        if share <= 0.0:
            found.append(-math.inf)
            continue
        inner = math.log1p(max(rise * (1.0 - sign * 8.0 * _UNIT) - sign * _SMALLEST, 0.0) / share)
        found.append(_end(pair, math.log(share), inner * (1.0 - sign * 8.0 * _UNIT), sign))
    return found[0], found[1]


def _replaced_inner(pair: Pair, epsilon: float) -> tuple[float, float]:
    """Epsilon of Laplace noise itself where a record is replaced, and its doubt."""
    _, _, m, q = pair
    lowest = math.exp(-m)
    kept = (1.0 - q) + q * lowest
    more = math.expm1(min(epsilon, _HUGE)) / q * kept
    if epsilon == 0.0:
        return -m, 4.0 * _UNIT * m
    if epsilon < _HUGE and more < _LARGE:
        total = lowest + more
        if total > 0.5 and more < 1.0:
            inner = math.log1p(math.expm1(-m) + more)
            return inner, 32.0 * _UNIT * (min(m, 1.0) + more) + _SMALLEST
        if total == 0.0:  # at most -_HUGE
            return -m, m
        return math.log(total), 16.0 * _UNIT * (1.0 + m + abs(math.log(total)))
    inner = _log_rise(epsilon) - math.log(q) + math.log(kept)
    sizes = abs(_log_rise(epsilon)) + abs(math.log(q)) + abs(math.log(kept)) + m + 8.0
    return float(np.logaddexp(-m, inner)), 8.0 * _UNIT * sizes


def _replaced_root(pair: Pair, epsilon: float) -> tuple[float, float]:
    """The logarithm t of the root x where a record is replaced, Gaussian noise, and its doubt."""
    _, _, m, q = pair
    half = 0.5 * m * m
    if epsilon == 0.0:
        return 0.0, 0.0
    if epsilon < _HUGE and half < _MOST_SQUARE:
        rise = math.expm1(epsilon)
        c = rise / q * (1.0 - q) * math.exp(half)
        if c < _LARGE:
            root = math.hypot(c, 2.0 * math.exp(0.5 * epsilon))
            z = 2.0 * (c + rise) / (2.0 - c + root) if c < 2.0 else 0.5 * (c - 2.0 + root)
            t = math.log1p(z)
            return t, _UNIT * (z / (1.0 + z) * (64.0 + 16.0 * half) + 4.0 * t) + _SMALLEST
    log_rise, log_odds = _log_rise(epsilon), math.log1p(-q) - math.log(q)
    log_c = log_rise + log_odds + half
    log_root = float(np.logaddexp(2.0 * log_c, math.log(4.0) + epsilon))
    t = float(np.logaddexp(log_c, 0.5 * log_root)) - math.log(2.0)
    sizes = abs(log_rise) + abs(math.log1p(-q)) + abs(math.log(q)) + half + epsilon + abs(t)
    return max(t, 0.0), 16.0 * _UNIT * (sizes + 4.0)


def _replaced_ends(pair: Pair, epsilon: float) -> tuple[float, float]:
    """Both ends where a record is replaced, Gaussian noise."""
    _, _, m, q = pair
    half, log_q = 0.5 * m * m, math.log(q)
    t, doubt = _replaced_root(pair, epsilon)
    doubt += 8.0 * _UNIT * (t + half)
    weight = epsilon - t - half
    off = doubt + 8.0 * _UNIT * (epsilon + t + half)
    found = []
    for sign in (-1.0, 1.0):
        first = _end(pair, log_q, t - half - sign * doubt, sign)
        second = _end(pair, log_q + weight, t + half - sign * doubt, sign) + sign * off
        found.append(float(np.logaddexp(first, second)) + sign * 16.0 * _UNIT)
    return found[0], found[1]


def largest_loss(pair: Pair) -> float:
    """The largest loss of one step, infinite for Gaussian noise but where a record is added."""
    form, noise, m, q = pair
    if form == ADDED:
        return -log_factor(q, -m) if noise == LAPLACE else -math.log1p(-q)
    if noise == GAUSSIAN:
        return math.inf
    top = log_factor(q, m)
    return top - log_factor(q, -m) if form == REPLACED else top


def log_factor(q: float, w: float) -> float:
    """Log (1 - q + q e^w)."""
    if q == 1.0:
        return w
    small = q * math.expm1(min(w, _HUGE))
    if small < 0.5:
        return math.log1p(small) if small > -0.5 else math.log((1.0 - q) + q * math.exp(w))
    return float(np.logaddexp(math.log1p(-q), math.log(q) + w))
