"""Bounds on delta of steps on Poisson samples that share nothing with the library's account.

Two steps by quadrature; any number from below by two tests for the record, from above by moments of
whole orders and by the chance to be sampled at all. delta is that of the worse direction. What has
a closed form is in `oracles.samples`.
"""

import math

import numpy as np
from scipy import special, stats

_ORDERS = np.arange(2.0, 65.0)
_REACH, _STEP, _SHARE, _MOST_POINTS = 40.0, 4e-3, 0.05, 1 << 20  # of the rule
_QUANTILES = np.linspace(-3.0, 8.0, 34)
_ROUNDING = 1e-9  # of logarithms


def _log_gaussian(mu, epsilon):
    """Log delta of Gaussian noise at epsilon of any sign."""
    size = np.abs(epsilon)
    with np.errstate(divide="ignore", over="ignore"):
        first = special.log_ndtr(0.5 * mu - size / mu)
        second = size + special.log_ndtr(-0.5 * mu - size / mu)
        above = first + np.log(-np.expm1(np.minimum(second - first, 0.0)))
        below = np.logaddexp(np.log(-np.expm1(-size)), above - size)
    return np.where(epsilon >= 0.0, above, below)


def _log_one(sigma, rate, epsilon, *, removed):
    """Log delta of one step at epsilon of any sign, in one direction."""
    if not removed:  # 1 - e^epsilon + e^epsilon delta of the other direction at -epsilon
        other = _log_one(sigma, rate, -epsilon, removed=True)
        small = np.minimum(epsilon, 0.0)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            reflected = np.logaddexp(np.log(-np.expm1(small)), epsilon + other)
            share = rate - np.expm1(np.minimum(epsilon, 700.0)) * (1.0 - rate)
            inner = np.log(rate) + epsilon - np.log(share)
            own = np.log(share) + _log_gaussian(1.0 / sigma, np.maximum(inner, 0.0))
        return np.where(epsilon < 0.0, reflected, np.where(share > 0.0, own, -np.inf))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        small = np.log1p(np.expm1(np.minimum(epsilon, 600.0)) / rate)
        inner = np.where(epsilon < 600.0, small, epsilon - np.log(rate))  # e^700 / rate is too much
        inside = np.log(rate) + _log_gaussian(1.0 / sigma, inner)
        never = np.log(-np.expm1(np.minimum(epsilon, 0.0)))
    return np.where(np.isfinite(inner), inside, never)


def log_two_steps(first, second, epsilon):
    """Log delta of two steps (sigma, rate), the worse direction, and a bound on its error.

    The profile of the second at epsilon less the loss of the first, by a trapezoidal rule over the
    outputs of the first; the error is the change when every second node is left out, tenfold, or
    twice the largest when three of four are. Where the second shows nothing below some output the
    profile has a kink, by which the rule is off by as much as the kink is from a node: the four
    rules of every fourth node have it in four places, and one of them is off by more than all.
    """
    sigma, rate = first
    step = min(_STEP, _SHARE * min(sigma, second[0]))
    found, errors = [], []
    for removed in (True, False):
        right = _REACH + (1.0 / sigma if removed else 0.0)
        count = 2 * int((right + _REACH) / step / 2.0) + 2
        if count > _MOST_POINTS:
            return -math.inf, math.inf
        y = -_REACH + step * np.arange(count + 1.0)
        w = (y - 0.5 / sigma) / sigma
        small = rate * np.expm1(np.minimum(w, 700.0))
        far = np.logaddexp(math.log1p(-rate) if rate < 1.0 else -np.inf, math.log(rate) + w)
        near = np.abs(small) < 0.5
        loss = np.where(near, np.log1p(np.where(near, small, 0.0)), far)
        log_mass = -0.5 * y * y - 0.5 * math.log(2.0 * math.pi) + (loss if removed else 0.0)
        rest = epsilon - loss if removed else epsilon + loss
        terms = log_mass + _log_one(*second, rest, removed=removed)
        fine = special.logsumexp(terms) + math.log(step)
        found.append(fine)
        if fine == -math.inf:
            errors.append(0.0)
            continue
        coarse = special.logsumexp(terms[::2]) + math.log(2.0 * step)
        rare = [special.logsumexp(terms[k::4]) + math.log(4.0 * step) for k in range(4)]
        change = max(abs(math.expm1(one - fine)) for one in rare)
        errors.append(max(10.0 * abs(math.expm1(coarse - fine)), 2.0 * change) + 1e-9)
    worse = int(np.argmax(found))
    return float(found[worse]), float(max(errors))


def log_lower(sigma, rate, steps, epsilon):
    """Log of a delta that is attained at least: by the largest output, or by the sum of all."""
    best = float(np.max(_log_one(sigma, rate, np.array([epsilon]), removed=True)))
    edge = sigma * (math.log1p(math.expm1(min(epsilon, 700.0)) / rate)) + 0.5 / sigma
    tau = edge + np.linspace(-3.0, 6.0, 64)
    plain, moved = special.log_ndtr(-tau), special.log_ndtr(1.0 / sigma - tau)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        spared = np.log1p(-rate) if rate < 1.0 else -np.inf
        each = np.logaddexp(spared + plain, math.log(rate) + moved)
        some = [np.log(-np.expm1(steps * np.log1p(-np.exp(one)))) for one in (each, plain)]
        # The sum exceeds a level, and the record was in at least m of the samples.
        spread = math.sqrt(steps * rate * (1.0 - rate))
        m = np.unique(np.floor(np.clip(steps * rate + _QUANTILES * spread, 1.0, steps)))
        often = stats.binom.logsf(m - 1.0, steps, rate)[:, None]
        level = math.sqrt(steps) * np.linspace(-6.0, 38.0, 221)
        seen = often + special.log_ndtr((m[:, None] / sigma - level) / math.sqrt(steps))
        level = special.log_ndtr(-level / math.sqrt(steps))
        for p, noise in (some, (seen, level)):
            gain = p - _ROUNDING * (1.0 + np.abs(p))
            loss = epsilon + noise + _ROUNDING * (1.0 + np.abs(noise))
            gap = np.where(
                gain > loss, gain + np.log(-np.expm1(np.minimum(loss - gain, 0.0))), -np.inf
            )
            best = max(best, float(np.nanmax(gap)))
    return best


def log_upper(sigma, rate, steps, epsilon):
    """Log of a delta that is enough: moments of whole orders, the record added being no worse.

    Mironov, Talwar & Zhang (2019): moments are binomial sums, and largest for the record removed.
    """
    a = _ORDERS[:, None]
    k = np.arange(2.0, _ORDERS[-1] + 1.0)
    choose = special.gammaln(a + 1.0) - special.gammaln(k + 1.0)
    choose = choose - special.gammaln(np.maximum(a - k, 0.0) + 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        weight = choose + special.xlog1py(a - k, -rate) + k * math.log(rate)
        square = 0.5 * k * (k - 1.0) / sigma**2
        rise = np.where(square < 30.0, np.log(np.expm1(np.minimum(square, 30.0))), square)
        more = special.logsumexp(np.where(k <= a, weight + rise, -np.inf), axis=1)
    moment = steps * np.logaddexp(0.0, more) * (1.0 + _ROUNDING)
    small = more < -30.0
    moment = np.where(small, steps * np.exp(np.minimum(more, 0.0)) * (1.0 + _ROUNDING), moment)
    c = _ORDERS - 1.0
    payoff = c * np.log(c) - (c + 1.0) * np.log1p(c)
    spared = steps * math.log1p(-rate) if rate < 1.0 else -math.inf
    never = math.log(-math.expm1(spared)) + _ROUNDING
    return min(float(np.min(moment - c * epsilon + payoff)) + _ROUNDING, never, 0.0)
