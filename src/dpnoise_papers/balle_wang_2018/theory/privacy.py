"""Checks of what balle-wang-2018 says on privacy, over random parameters.

Theorems 1, 2, 4, 5, 8 and 9, Lemmas 3, 6 and 7, and what Sections 2.2, 2.3, 5.1, 5.2 and B.1 say of
them. The exact profile of Gaussian noise is the integral that defines it (`log_profile`), with
which Theorem 8's row compares (6), at 60 digits, and `dpnoise.privacy.gaussian`.

Theorem 9 is that of Algorithm 1. Exact arithmetic is that of mpmath with enough digits; double
precision is the search as published (`gaussian_calibration`), with the erf of SciPy as in
Section 5.1.

Probabilities of Gaussian noise are integrals of its density. They use neither the normal
distribution function nor `dpnoise.privacy.gaussian`, which the statements and their calibrations
do: so each side of a check is computed by itself. The integrals are relative ones, right in
probabilities of 1e-300 as in those of 1/2.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
from scipy import special

from dpnoise.privacy.gaussian import classical_gaussian_sigma, gaussian_log_delta, gaussian_sigma
from dpnoise_papers.balle_wang_2018.gaussian_calibration import TOLERANCE, bisected
from dpnoise_papers.checks import REACH, Outcome, at_most, column, equal, integrate, log_uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


_DECAYS = 40.0  # e-folds after which an exponential tail is cut off
_PARTS = 12
_STEPS = 80  # of a bisection
_HALF_LOG = 0.5 * math.log(2 * math.pi)


def log_tail(x: Array) -> Array:
    """Logarithm of the probability of a unit normal below x, by quadrature."""
    return _log_below(x, np.ones_like)


def log_profile(mu: Array, epsilon: Array) -> Array:
    """Logarithm of the integral of [p - e^epsilon p']_+ for unit normals mu apart.

    With t = c - s, c being where p = e^epsilon p', the integrand is p(t) (1 - e^(-mu s)), s > 0.
    """
    return _log_below(mu / 2 - epsilon / mu, lambda s: -np.expm1(-column(mu) * s))


def _log_below(x: Array, weight: Callable[[Array], Array]) -> Array:
    """Logarithm of the integral of phi(x - s) weight(s) over s > 0."""
    peak = np.maximum(x, 0.0)
    reach = np.where(x < 0, np.minimum(REACH, _DECAYS / np.maximum(-x, 1e-9)), REACH)
    start = np.maximum(peak - REACH, 0.0)
    edges = np.stack([start, peak, peak + reach], axis=1)
    at, top = column(x), column(peak)

    def integrand(s: Array) -> Array:
        return np.exp(at * s - 0.5 * s * s - 0.5 * top * top) * weight(s)

    inside = np.log(integrate(integrand, edges, parts=_PARTS))
    return np.asarray(inside - 0.5 * x * x + 0.5 * peak * peak - _HALF_LOG)


def where_loss_is(level: Array, distance: Array, sigma: Array) -> Array:
    """Noise t at which the privacy loss is `level`, by bisection of the logarithms of densities.

    The answers are 0 and `distance`, and the noisy answer is t: the loss falls with t.
    """
    away = np.abs(level) * sigma**2 / distance + distance
    low, high = -2 * away, 2 * away
    # ends: halves to the last digit
    for _ in range(_STEPS):
        t = 0.5 * (low + high)
        loss = 0.5 * ((t - distance) / sigma) ** 2 - 0.5 * (t / sigma) ** 2
        low, high = np.where(loss > level, t, low), np.where(loss > level, high, t)
    return 0.5 * (low + high)


def log_loss_moment(s: Array, apart: Array, sigma: Array) -> Array:
    """Logarithm of E exp(s L), L being the privacy loss of Gaussian noise at two answers.

    `apart`, shape (n, d), is their difference in each coordinate; the coordinates' densities p and
    p' give the integrals of p^(1 + s) p'^(-s), of which this is the sum of logarithms.
    """
    n, d = apart.shape
    shift = (apart / sigma[:, None]).reshape(-1)
    power = np.repeat(s, d)
    centre = -power * shift  # of p^(1 + s) p'^(-s), p at 0 and p' at the shift
    edges = np.stack([centre - REACH, centre, centre + REACH], axis=1)
    a, b = column(power), column(shift)
    # The integrals can be too large or small for a double: they are taken over that at the centre.
    top = 0.5 * (power * (centre - shift) ** 2 - (1 + power) * centre**2)

    def integrand(t: Array) -> Array:
        log_ratio = 0.5 * (a * (t - b) ** 2 - (1 + a) * t * t)
        return np.exp(log_ratio - column(top))

    total = np.log(integrate(integrand, edges, parts=_PARTS)) + top - _HALF_LOG
    return np.asarray(total.reshape(n, d).sum(axis=1))


ROUNDING = 1e-10  # of a logarithm of delta, or of a ratio of standard deviations
_CALIBRATED = 1e-9  # relative error of the delta of a calibration
_OUTPUTS = 6  # of the mechanisms of Theorem 5


def slack(sigma: Array, epsilon: Array, delta: Array) -> Array:
    """Return log delta less the logarithm of the delta that noise at sensitivity 1 has."""
    return np.log(delta) - log_profile(1.0 / sigma, epsilon)


def _smallest_sigma(epsilon: Array, delta: Array) -> Array:
    """Return the least private standard deviations; NaN where the integral has another delta."""
    sigma = gaussian_sigma(epsilon, delta)
    off = np.abs(slack(sigma, epsilon, delta))
    return np.where(off <= _CALIBRATED * (1 - np.log(delta)), sigma, np.nan)


def _classical(rng: Generator, n: int) -> Outcome:
    """Return the slack of Theorem 1."""
    epsilon, delta = log_uniform(rng, 1e-8, 1, n), log_uniform(rng, 1e-100, 1, n)
    delta = np.where(rng.random(n) < 0.5, delta, rng.random(n))
    sigma = classical_gaussian_sigma(epsilon, delta)
    return Outcome(slack(sigma, epsilon, delta), ROUNDING, {"epsilon": epsilon, "delta": delta})


def _zero_epsilon(rng: Generator, n: int) -> Outcome:
    """Return the slack of Theorem 2."""
    delta = log_uniform(rng, 1e-100, 1, n)
    return Outcome(slack(0.5 / delta, np.zeros(n), delta), ROUNDING, {"delta": delta})


def _loss_is_gaussian(rng: Generator, n: int) -> Outcome:
    """Return the error of Lemma 3 in log E exp(s L), which is s eta + s^2 eta for N(eta, 2 eta).

    The left side is a product of integrals of the densities in up to eight coordinates; the moments
    at all s of an interval determine a distribution.
    """
    d, s = rng.integers(1, 9, n), rng.uniform(-3, 3, n)
    apart = rng.standard_normal((n, 8)) * (np.arange(8) < d[:, None])
    sigma = log_uniform(rng, 0.1, 10, n)
    eta = (apart**2).sum(axis=1) / (2 * sigma**2)
    margin = equal(log_loss_moment(s, apart, sigma), s * eta + s * s * eta, 1 + eta)
    return Outcome(margin, 1e-11, {"d": d.astype(float), "eta": eta, "sigma": sigma, "s": s})


def _low_privacy(rng: Generator, n: int, exponent: float, low: float) -> Outcome:
    """Return the relative slack of sigma >= Delta / sqrt(2 epsilon) below a bound on delta."""
    epsilon = log_uniform(rng, low, 30, n)
    bound = 0.5 - np.exp(-exponent * epsilon) / np.sqrt(4 * math.pi * epsilon)
    delta = bound * np.where(rng.random(n) < 0.5, rng.random(n), 1 - 1e-3 * rng.random(n))
    margin = _smallest_sigma(epsilon, delta) * np.sqrt(2 * epsilon) - 1
    return Outcome(margin, ROUNDING, {"epsilon": epsilon, "delta": delta})


def _tail_at_zero(rng: Generator, n: int) -> Outcome:
    """Return the slack of P(L > 0) >= 1/2 (Section 2.2), where (0, delta)-DP holds below 1/2.

    The probability is the integral of the density up to where both densities are equal, and the
    noise is (0, delta)-DP with the delta of another integral, which is below 1/2: the condition
    is not necessary.
    """
    distance, ratio = log_uniform(rng, 1e-3, 1e3, n), log_uniform(rng, 1e-3, 1.3, n)
    sigma = distance / ratio
    positive = np.exp(log_tail(where_loss_is(np.zeros(n), distance, sigma) / sigma))
    margin = [positive - 0.5, 0.5 - np.exp(log_profile(ratio, np.zeros(n)))]
    return Outcome(np.min(margin, axis=0), 0.0, {"distance": distance, "sigma": sigma})


def _mills_bound(rng: Generator, n: int, exponent: float) -> Outcome:
    """Return the slack in logarithms of the inequality in the proof of Theorem 4.

    e^epsilon Phi(-sqrt(2 epsilon)) < e^(-exponent epsilon)/sqrt(4 pi epsilon).
    """
    epsilon = log_uniform(rng, 1e-3, 1e3, n)
    left = np.log(0.5 * special.erfcx(np.sqrt(epsilon)))
    right = -exponent * epsilon - 0.5 * np.log(4 * math.pi * epsilon)
    return Outcome(at_most(left, right), 0.0, {"epsilon": epsilon})


def _low_privacy_limit(
    rng: Generator, n: int, exponents: tuple[float, ...] = (0.0, 3.0)
) -> Outcome:
    """Return the slack of: the bound on delta, printed and corrected, rises to 1/2.

    The gap to 1/2 is positive, falls, and tends to 0: at 10^8 epsilon it is 10^-4 of the corrected
    one at epsilon, or less.
    """
    epsilon = log_uniform(rng, 0.1, 200, n)

    def gap(e: Array, exponent: float) -> Array:
        return np.exp(-exponent * e) / np.sqrt(4 * math.pi * e)

    larger, margin = epsilon * rng.uniform(1, 2, n), []
    for exponent in exponents:
        margin += [
            gap(epsilon, exponent),
            at_most(gap(larger, exponent), gap(epsilon, exponent)),
            at_most(gap(1e8 * epsilon, exponent), (1 + 1e-12) * 1e-4 * gap(epsilon, 0.0)),
        ]
    return Outcome(np.min(margin, axis=0), 0.0, {"epsilon": epsilon})


def _inverse_rate(rng: Generator, n: int) -> Outcome:
    """Return how far noise c / epsilon misses delta at some epsilon, for any constant c.

    From epsilon = 2 c^2 on it is below Theorem 4's Delta / sqrt(2 epsilon), which delta needs from
    epsilon = 1/(4 pi (1/2 - delta)^2) on.
    """
    constant, delta = log_uniform(rng, 0.01, 100, n), log_uniform(rng, 1e-12, 0.49, n)
    start = np.maximum(2 * constant**2, 1 / (4 * math.pi * (0.5 - delta) ** 2))
    epsilon = start * log_uniform(rng, 1.01, 100, n)
    margin = -slack(constant / epsilon, epsilon, delta)
    return Outcome(margin, 0.0, {"constant": constant, "delta": delta, "epsilon": epsilon})


def _density(rng: Generator, n: int, *, by_dimension: bool) -> Outcome:
    """Return the error of: the density in the proof of Lemma 3 has the integral 1.

    It is exp(-|y - f|^2/(2 sigma^2)) over the power 1/2 of 2 pi sigma^2, as printed, or d/2. The
    integral of the former is the d-th power of one by quadrature.
    """
    d, sigma = rng.integers(1, 6, n).astype(float), log_uniform(rng, 0.1, 10, n)
    s = column(sigma)
    edges = np.stack([-REACH * sigma, np.zeros(n), REACH * sigma], axis=1)
    single = integrate(lambda t: np.exp(-0.5 * (t / s) ** 2), edges, parts=8)
    power = d / 2 if by_dimension else 0.5
    total = d * np.log(single) - power * np.log(2 * math.pi * sigma**2)
    return Outcome(equal(total, 0.0), 1e-11, {"d": d, "sigma": sigma})


def _scaled_normal(rng: Generator, n: int, power: float) -> Outcome:
    """Return the error of: eta + (2 eta)^power N(0, 1) has the variance 2 eta (Lemma 6, proof)."""
    eta = log_uniform(rng, 1e-3, 30, n)
    return Outcome(equal((2 * eta) ** (2 * power), 2 * eta, 2 * eta), 1e-12, {"eta": eta})


def _events(rng: Generator, n: int) -> Outcome:
    """Return the error of Theorem 5: its left side is the worst excess of any event.

    Mechanisms with six outputs, some impossible at one of the two inputs, and in every fifth trial
    one whose loss is epsilon itself, log 2^k. All events are tried, with the inputs in both orders.
    """
    p, other = _distributions(rng, n), _distributions(rng, n)
    tied, doublings = rng.random(n) < 0.2, rng.integers(0, 5, n)
    epsilon = np.where(tied, np.log(2.0**doublings), rng.uniform(0, 6, n))
    at_epsilon = np.where(tied, p[:, 0] / 2.0**doublings, other[:, 0])
    rest = other[:, 1:] / (1 - other[:, :1])
    other = np.column_stack([at_epsilon, rest * (1 - at_epsilon[:, None])])
    chosen = np.array(list(itertools.product([0.0, 1.0], repeat=_OUTPUTS)))
    factor, margin = np.exp(epsilon), []
    for one, two in ((p, other), (other, p)):
        worst = ((one - factor[:, None] * two) @ chosen.T).max(axis=1)
        margin.append(equal(_left_of_3(one, two, epsilon), worst, 1 + factor))
    return Outcome(np.min(margin, axis=0), 1e-14, {"epsilon": epsilon})


def _left_of_3(p: Array, other: Array, epsilon: Array) -> Array:
    """Return P(L >= epsilon) - e^epsilon P(L' <= -epsilon), L and L' being the two losses."""
    with np.errstate(divide="ignore", invalid="ignore"):
        loss, back = np.log(p / other), np.log(other / p)
    level = epsilon[:, None]
    first = np.where(loss >= level, p, 0).sum(axis=1)
    second = np.where(back <= -level, other, 0).sum(axis=1)
    return np.asarray(first - np.exp(epsilon) * second)


def _distributions(rng: Generator, n: int) -> Array:
    """Return n distributions over a few outputs, of which some have probability 0."""
    weight = rng.gamma(0.7, size=(n, _OUTPUTS)) * (rng.random((n, _OUTPUTS)) < 0.8)
    weight[:, :2] += 1e-3  # neither all of them nor all but the first
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _loss_tails(rng: Generator, n: int) -> Outcome:
    """Return the error in logarithms of (4) and (5) against integrals of the two densities.

    Where the loss is epsilon on the line through both answers is found by bisection of the ratio of
    the densities; the loss of the other direction is its negative there.
    """
    epsilon = rng.uniform(0, 50, n) * (rng.random(n) < 0.9)
    distance = np.exp(rng.uniform(-2, 2, n))
    sigma = distance * log_uniform(rng, 0.05, 5, n)
    last = where_loss_is(epsilon, distance, sigma)
    tails = log_tail(last / sigma), log_tail((last - distance) / sigma)
    ratios = distance / (2 * sigma), epsilon * sigma / distance
    printed = ratios[0] - ratios[1], -ratios[0] - ratios[1]
    margin = [
        equal(tail, special.log_ndtr(x), 1 + x * x) for tail, x in zip(tails, printed, strict=True)
    ]
    drawn = {"epsilon": epsilon, "distance": distance, "sigma": sigma}
    return Outcome(np.min(margin, axis=0), 1e-12, drawn)


def _h(epsilon: Any, eta: Any) -> Any:  # noqa: ANN401 - mpmath has no types
    """h(eta) of Lemma 7, with as many digits as mpmath works with."""
    root = mpmath.sqrt(2 * eta)
    upper, lower = (eta - epsilon) / root, (-epsilon - eta) / root
    return mpmath.ncdf(upper) - mpmath.exp(epsilon) * mpmath.ncdf(lower)


def _profile_grows(rng: Generator, n: int) -> Outcome:
    """Return the slack of Lemma 7 in log h, to 60 digits: h grows with eta."""
    epsilon, eta = rng.uniform(0, 100, n) * (rng.random(n) < 0.9), log_uniform(rng, 1e-6, 60, n)
    larger, margin = eta * (1 + log_uniform(rng, 1e-6, 2, n)), np.empty(n)
    with mpmath.workdps(60):
        for i in range(n):
            low, high = (_h(mpmath.mpf(epsilon[i]), mpmath.mpf(x[i])) for x in (eta, larger))
            margin[i] = float(mpmath.log(high) - mpmath.log(low))
    return Outcome(margin, 0.0, {"epsilon": epsilon, "eta": eta, "larger": larger})


def _profile_slope(rng: Generator, n: int) -> Outcome:
    """Return the relative error of h'(eta) in the proof of Lemma 7 against differences of h."""
    epsilon, eta, margin = rng.uniform(0, 50, n), log_uniform(rng, 0.01, 60, n), np.empty(n)
    with mpmath.workdps(60):
        for i in range(n):
            e, x = mpmath.mpf(epsilon[i]), mpmath.mpf(eta[i])
            step = x * mpmath.mpf(10) ** -20
            slope = (_h(e, x + step) - _h(e, x - step)) / (2 * step)
            first, second = (x - e) / mpmath.sqrt(2 * x), -(x + e) / mpmath.sqrt(2 * x)
            terms = mpmath.exp(-(first**2) / 2) + mpmath.exp(e - second**2 / 2)
            printed = terms / (4 * mpmath.sqrt(mpmath.pi * x))
            margin[i] = -float(abs(slope / printed - 1))
    return Outcome(margin, 1e-12, {"epsilon": epsilon, "eta": eta})


def _left_side(mu: float, epsilon: float) -> float:
    """Logarithm of the left side of (6) at Delta/sigma = mu, to 60 digits."""
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        value = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        return float(mpmath.log(value))


def _profile_integral(rng: Generator, n: int) -> Outcome:
    """Return the error in logarithms of Theorem 8 against the integral of [p - e^epsilon p']_+.

    (6) has to be the delta of the farthest neighbours, and that of nearer ones no larger. `dpnoise`
    computes the same profile and is compared as well.
    """
    at, epsilon = rng.uniform(-30, 8, n), log_uniform(rng, 1e-6, 100, n)
    root = np.sqrt(at * at + 2 * epsilon)
    mu = np.where(at > 0, at + root, 2 * epsilon / (root - at))
    zero = rng.random(n) < 0.1
    mu, epsilon = np.where(zero, log_uniform(rng, 1e-9, 10, n), mu), np.where(zero, 0.0, epsilon)
    value = log_profile(mu, epsilon)
    printed = [_left_side(m, e) for m, e in zip(mu, epsilon, strict=True)]
    margin = [
        equal(np.array(printed), value, 1 - value),
        equal(gaussian_log_delta(mu, epsilon), value, 1 - value),
        at_most(log_profile(mu * log_uniform(rng, 1e-2, 1, n), epsilon), value),
    ]
    return Outcome(np.min(margin, axis=0), 1e-12, {"epsilon": epsilon, "mu": mu})


def _gain(epsilon: Array, delta: Array) -> Array:
    """Return the logarithm of the gain in variance of the analytic mechanism."""
    ratio = classical_gaussian_sigma(epsilon, delta) / _smallest_sigma(epsilon, delta)
    return 2 * np.log(ratio)


def _gain_grows(rng: Generator, n: int) -> Outcome:
    """Return the slack in log gain of: the gain grows with delta."""
    epsilon, delta = log_uniform(rng, 1e-8, 1, n), log_uniform(rng, 1e-100, 0.5, n)
    more = delta ** rng.uniform(0, 1, n)
    margin = at_most(_gain(epsilon, delta), _gain(epsilon, more))
    return Outcome(margin, ROUNDING, {"epsilon": epsilon, "delta": delta, "more": more})


def _gain_falls(rng: Generator, n: int) -> Outcome:
    """Return the slack in log gain of: the gain falls with epsilon."""
    epsilon, delta = log_uniform(rng, 1e-4, 1, n), log_uniform(rng, 1e-12, 0.5, n)
    less = epsilon * rng.uniform(0, 1, n)
    margin = at_most(_gain(epsilon, delta), _gain(less, delta))
    return Outcome(margin, ROUNDING, {"epsilon": epsilon, "delta": delta, "less": less})


def _gain_unbounded(rng: Generator, n: int) -> Outcome:
    """Return the slack in logarithms of: as epsilon -> 0 the classical deviation is any multiple.

    By Theorem 2 the analytic one stays below Delta/(2 delta), which says from which epsilon on.
    """
    delta, factor = log_uniform(rng, 1e-50, 0.5, n), log_uniform(rng, 1e3, 1e12, n)
    epsilon = 2 * delta * np.sqrt(2 * np.log(1.25 / delta)) / factor * rng.uniform(0.1, 1, n)
    margin = 0.5 * _gain(epsilon, delta) - np.log(factor)
    return Outcome(margin, ROUNDING, {"epsilon": epsilon, "delta": delta, "factor": factor})


def _mean_sensitivity(rng: Generator, n: int, radius: float) -> Outcome:
    """Return the relative slack of sqrt(d)/n and d/n between corners of a box.

    At opposite corners both have to be reached, since a sensitivity is the largest distance.
    """
    d, samples = rng.integers(1, 50, n), 500
    margin = np.empty(n)
    for k in range(n):
        bounds = math.sqrt(d[k]) / samples, d[k] / samples
        one, other = radius * rng.choice([-1.0, 1.0], (2, d[k]))
        lengths, reached = _lengths(one - other, samples), _lengths(2 * one, samples)
        slack = [1 - a / b for a, b in zip(lengths, bounds, strict=True)]
        margin[k] = min(slack + [-abs(a / b - 1) for a, b in zip(reached, bounds, strict=True)])
    return Outcome(margin, 1e-12, {"d": d.astype(float)})


def _lengths(apart: Array, samples: int) -> tuple[float, float]:
    """Return the l2 and the l1 length of what one of some samples changes in their mean."""
    change = apart / samples
    return float(np.linalg.norm(change)), float(np.abs(change).sum())


def _histogram_sensitivity(
    rng: Generator, n: int, claimed: tuple[float, float] = (math.sqrt(2), 2.0)
) -> Outcome:
    """Return the error of Delta_2 = sqrt(2)/n and Delta_1 = 2/n: the largest of all replacements.

    Each item of a random data set is replaced by each other value, and shares are compared.
    """
    bins, samples = rng.integers(2, 12, n), rng.integers(1, 12, n)
    margin = np.empty(n)
    for k in range(n):
        items = rng.integers(0, bins[k], samples[k])
        before = np.bincount(items, minlength=bins[k]) / samples[k]
        largest = np.zeros(2)
        for place, value in itertools.product(range(samples[k]), range(bins[k])):
            after = items.copy()
            after[place] = value
            apart = np.bincount(after, minlength=bins[k]) / samples[k] - before
            largest = np.maximum(largest, [np.linalg.norm(apart), np.abs(apart).sum()])
        margin[k] = -np.max(np.abs(largest * samples[k] / claimed - 1))
    return Outcome(margin, 1e-12, {"bins": bins.astype(float), "samples": samples.astype(float)})


def _algorithm(epsilon: Array, delta: Array) -> Array:
    """Return the standard deviations of Algorithm 1 at sensitivity 1, run with 50 digits."""
    sigma = np.empty(epsilon.size)
    with mpmath.workdps(50):
        for i in range(epsilon.size):
            e, given = mpmath.mpf(epsilon[i]), mpmath.mpf(delta[i])
            low, high, _ = _searched(e, given, 30)
            half = (low + high) / 4  # v*/2 or u*/2
            sign = -1 if given >= _delta_0(e) else 1
            alpha = mpmath.sqrt(1 + half) + sign * mpmath.sqrt(half)
            sigma[i] = float(alpha / mpmath.sqrt(2 * e))
    return sigma


def _asked(rng: Generator, n: int) -> tuple[Array, Array]:
    """Return what Algorithm 1 can be asked for; delta is delta_0, where it branches, in a tenth."""
    half = rng.random(n) < 0.5
    delta = np.where(half, log_uniform(rng, 1e-100, 0.1, n), rng.uniform(0, 0.999, n))
    epsilon = log_uniform(rng, 1e-4, 1e3, n)
    branch = 0.5 - 0.5 * special.erfcx(np.sqrt(epsilon))
    return epsilon, np.where(rng.random(n) < 0.1, branch, delta)


def _algorithm_private(rng: Generator, n: int) -> Outcome:
    """Return the slack in log delta of Theorem 9, by the integral of Algorithm 1's noise."""
    epsilon, delta = _asked(rng, n)
    margin = slack(_algorithm(epsilon, delta), epsilon, delta)
    return Outcome(margin / (1 - np.log(delta)), ROUNDING, {"epsilon": epsilon, "delta": delta})


def _algorithm_smallest(rng: Generator, n: int) -> Outcome:
    """Return how far noise below that of Algorithm 1, by a part of 1e-6 to 1/2, misses delta."""
    epsilon, delta = _asked(rng, n)
    part = log_uniform(rng, 1e-6, 0.5, n)
    margin = -slack(_algorithm(epsilon, delta) * (1 - part), epsilon, delta)
    return Outcome(margin, 0.0, {"epsilon": epsilon, "delta": delta, "part": part})


def _b(epsilon: Array, x: Array, sign: float) -> Array:
    """Return B+(x), or B-(x) for sign -1, of Algorithm 1."""
    far = np.exp(epsilon + special.log_ndtr(-np.sqrt(epsilon * (x + 2))))
    return np.asarray(special.ndtr(sign * np.sqrt(epsilon * x)) - far)


def _searched_functions(rng: Generator, n: int) -> Outcome:
    """Return the slack of: B+ and B- begin at delta_0 and tend to 1 and to 0.

    delta_0 is the delta of noise Delta/sqrt(2 epsilon), by its integral; and in between B+ and B-
    are those of alpha times as much noise.
    """
    epsilon = log_uniform(rng, 1e-3, 100, n)
    x = log_uniform(rng, 1e-3, 10, n) / epsilon
    zero, far, mu = np.zeros(n), np.full(n, 1e4) / epsilon, np.sqrt(2 * epsilon)
    start = np.exp(log_profile(mu, epsilon))
    alpha = np.sqrt(1 + x / 2) + np.sqrt(x / 2)  # 1/alpha is the other root
    margin = [
        equal(_b(epsilon, far, 1), 1.0), equal(_b(epsilon, far, -1), 0.0),
        equal(_b(epsilon, zero, 1), start), equal(_b(epsilon, zero, -1), start),
        equal(_b(epsilon, x, 1), np.exp(log_profile(mu * alpha, epsilon))),
        equal(_b(epsilon, x, -1), np.exp(log_profile(mu / alpha, epsilon))),
    ]  # fmt: skip
    return Outcome(np.min(margin, axis=0), 1e-13, {"epsilon": epsilon, "x": x})


def _searched_functions_are_monotone(rng: Generator, n: int) -> Outcome:
    """Return the slack of: B+ increases and B- decreases."""
    epsilon = log_uniform(rng, 1e-3, 100, n)
    x, larger = (np.sort(log_uniform(rng, 1e-3, 10, 2 * n).reshape(2, n), axis=0)) / epsilon
    margin = [
        at_most(_b(epsilon, x, 1), _b(epsilon, larger, 1)),
        at_most(_b(epsilon, larger, -1), _b(epsilon, x, -1)),
    ]
    return Outcome(np.min(margin, axis=0), 1e-13, {"epsilon": epsilon, "x": x, "larger": larger})


def _delta_0(epsilon: Any) -> Any:  # noqa: ANN401 - mpmath has no types
    """delta_0 of Algorithm 1, with as many digits as mpmath works with."""
    return mpmath.ncdf(0) - mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.sqrt(2 * epsilon))


def _searched(epsilon: Any, delta: Any, digits: int) -> tuple[Any, Any, int]:  # noqa: ANN401 - mpmath has no types
    """Ends of the last interval of the search for v* or u*, and how many B were computed."""
    sign, count = 1 if delta >= _delta_0(epsilon) else -1, 0

    def over(x: Any) -> Any:  # noqa: ANN401 - mpmath has no types
        nonlocal count
        count += 1
        far = mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.sqrt(epsilon * (x + 2)))
        return sign * (mpmath.ncdf(sign * mpmath.sqrt(epsilon * x)) - far - delta) > 0

    low, high = mpmath.mpf(0), mpmath.mpf(1)
    # ends: doubles until B passes delta, which it does at a finite point, then halves to 30
    # digits
    while not over(high):
        low, high = high, 2 * high
    # ends: doubles until B passes delta, which it does at a finite point, then halves to 30
    # digits
    while high - low > mpmath.mpf(10) ** -digits:
        middle = (low + high) / 2
        low, high = (low, middle) if over(middle) else (middle, high)
    return low, high, count


def _root(epsilon: Any, delta: Any, start: float) -> Any:  # noqa: ANN401 - mpmath has no types
    """v* or u* by way of (6), solved for Delta/sigma by the secant method from `start`."""

    def excess(mu: Any) -> Any:  # noqa: ANN401 - mpmath has no types
        far = mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
        return mpmath.log((mpmath.ncdf(mu / 2 - epsilon / mu) - far) / delta)

    near = mpmath.mpf(start)
    mu = mpmath.findroot(excess, (near, near * (1 + mpmath.mpf(10) ** -6)), tol=1e-130)
    alpha = mpmath.sqrt(2 * epsilon) / mu
    return (alpha - 1 / alpha) ** 2 / 2


def _search(rng: Generator, n: int) -> Outcome:
    """Return the slack, in digits, of: bisection finds v* and u* to 1 to 50 digits after the point.

    Phi is computed to 80 digits, as by the oracle of Section 3; the true root is that of (6).
    """
    epsilon, delta = _asked(rng, n)
    margin, digits = np.empty(n), rng.integers(1, 51, n)
    with mpmath.workdps(80):
        for i in range(n):
            e, given = mpmath.mpf(epsilon[i]), mpmath.mpf(delta[i])
            low, high, _ = _searched(e, given, int(digits[i]))
            root = _root(e, given, 1 / float(gaussian_sigma(epsilon[i], delta[i])))
            margin[i] = float(-mpmath.log10(max(root - low, high - root))) - digits[i]
    return Outcome(margin, 1e-6, {"epsilon": epsilon, "delta": delta, "digits": digits})


def _search_in_doubles(rng: Generator, n: int) -> Outcome:
    """Return the slack, in digits, of: in double precision v* and u* are found to 10^-12.

    That is what Section 5.1 says; of a root above 1 the accuracy is taken relative to it, since
    doubles have no more. A search that does not end, or overflows, has found nothing.
    """
    epsilon, delta = log_uniform(rng, 1e-3, 10, n), log_uniform(rng, 1e-10, 0.1, n)
    plus = delta >= 0.5 - 0.5 * special.erfcx(np.sqrt(epsilon))
    found, margin = bisected(epsilon, delta, plus), np.empty(n)
    with mpmath.workdps(80):
        for i in range(n):
            e, given = mpmath.mpf(epsilon[i]), mpmath.mpf(delta[i])
            root = _root(e, given, 1 / float(gaussian_sigma(epsilon[i], delta[i])))
            off = abs(mpmath.mpf(found[i]) - root) / max(1, root)
            margin[i] = -float(mpmath.log10(off + mpmath.mpf(10) ** -30))
    margin += np.log10(TOLERANCE)
    return Outcome(margin, 0.1, {"epsilon": epsilon, "delta": delta})


def search_length(rng: Generator, n: int) -> tuple[Array, dict[str, Array]]:
    """Evaluations of B+ or B- for each binary digit that the search of Section 3 finds.

    An interval (0, 1 + root) cut to 10^-digits has log2((1 + root) 10^digits) of them, which no
    search by comparisons can do with less evaluations.
    """
    epsilon, delta = _asked(rng, n)
    digits, ratio = rng.integers(1, 51, n), np.empty(n)
    with mpmath.workdps(80):
        for i in range(n):
            e, given = mpmath.mpf(epsilon[i]), mpmath.mpf(delta[i])
            _, high, count = _searched(e, given, int(digits[i]))
            ratio[i] = count / float(mpmath.log((1 + high) * mpmath.mpf(10) ** int(digits[i]), 2))
    return ratio, {"epsilon": epsilon, "delta": delta, "digits": digits.astype(float)}
