"""Checks of what balle-wang-2018 says on privacy, over random parameters.

Theorems 1, 2, 4, 5, 8 and 9, Lemmas 3, 6 and 7, and what Sections 2.2, 2.3, 5.1, 5.2 and B.1 say of
them. Where the exact profile of Gaussian noise is needed it is `dpnoise.privacy.gaussian`,
which Theorem 8's row compares with the integral that defines it.
"""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
from scipy import special

from dpnoise.calibration.gaussian import classical_gaussian_sigma, gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.checks import (
    REACH,
    Check,
    Outcome,
    at_most,
    column,
    equal,
    integrate,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array

_ROUNDING = 1e-10  # of a logarithm of delta, or of a ratio of standard deviations


def _geometric(rng: Generator, low: float, high: float, n: int) -> Array:
    """Return n numbers, uniform in the logarithm."""
    return np.exp(rng.uniform(math.log(low), math.log(high), n))


def _slack(sigma: Array, epsilon: Array, delta: Array) -> Array:
    """Return log delta less the logarithm of the delta that noise at sensitivity 1 has."""
    return np.log(delta) - gaussian_log_delta(1.0 / sigma, epsilon)


def _classical(rng: Generator, n: int) -> Outcome:
    """Return the slack of Theorem 1."""
    epsilon, delta = _geometric(rng, 1e-4, 1, n), _geometric(rng, 1e-12, 1, n)
    sigma = classical_gaussian_sigma(epsilon, delta)
    return Outcome(_slack(sigma, epsilon, delta), _ROUNDING, {"epsilon": epsilon, "delta": delta})


def _zero_epsilon(rng: Generator, n: int) -> Outcome:
    """Return the slack of Theorem 2."""
    delta = _geometric(rng, 1e-12, 1, n)
    return Outcome(_slack(0.5 / delta, np.zeros(n), delta), _ROUNDING, {"delta": delta})


def _loss_is_gaussian(rng: Generator, n: int) -> Outcome:
    """Return the error of Lemma 3: the loss at f + Z is eta + sqrt(2 eta) times a unit normal."""
    d = 5
    f, other, z = (rng.standard_normal((n, d)) for _ in range(3))
    sigma = _geometric(rng, 0.1, 10, n)
    y = f + sigma[:, None] * z
    loss = (((y - other) ** 2).sum(axis=1) - ((y - f) ** 2).sum(axis=1)) / (2 * sigma**2)
    apart = f - other
    distance = np.linalg.norm(apart, axis=1)
    eta = distance**2 / (2 * sigma**2)
    unit = (z * apart).sum(axis=1) / distance
    return Outcome(
        equal(loss, eta + np.sqrt(2 * eta) * unit, 1 + eta), 1e-11, {"eta": eta, "sigma": sigma}
    )


def _low_privacy(rng: Generator, n: int, exponent: float, low: float) -> Outcome:
    """Return the relative slack of sigma >= Delta / sqrt(2 epsilon) below a bound on delta."""
    epsilon = _geometric(rng, low, 30, n)
    bound = 0.5 - np.exp(-exponent * epsilon) / np.sqrt(4 * math.pi * epsilon)
    delta = bound * np.where(rng.random(n) < 0.5, rng.random(n), 1 - 1e-3 * rng.random(n))
    margin = gaussian_sigma(epsilon, delta) * np.sqrt(2 * epsilon) - 1
    return Outcome(margin, _ROUNDING, {"epsilon": epsilon, "delta": delta})


def _tail_at_zero(rng: Generator, n: int) -> Outcome:
    """Return the slack of P(L > 0) >= 1/2 (Section 2.2), with the loss of Lemma 3."""
    eta = _geometric(rng, 1e-8, 1e2, n)
    return Outcome(special.ndtr(np.sqrt(eta / 2)) - 0.5, 0.0, {"eta": eta})


def _mills_bound(rng: Generator, n: int, exponent: float) -> Outcome:
    """Return the slack in logarithms of the inequality in the proof of Theorem 4.

    e^epsilon Phi(-sqrt(2 epsilon)) < e^(-exponent epsilon)/sqrt(4 pi epsilon).
    """
    epsilon = _geometric(rng, 1e-3, 1e3, n)
    left = np.log(0.5 * special.erfcx(np.sqrt(epsilon)))
    right = -exponent * epsilon - 0.5 * np.log(4 * math.pi * epsilon)
    return Outcome(at_most(left, right), 0.0, {"epsilon": epsilon})


def _low_privacy_limit(rng: Generator, n: int) -> Outcome:
    """Return the slack of: the bound on delta, printed and corrected, rises to 1/2.

    The gap to 1/2 is positive, falls, and tends to 0: at 10^8 epsilon it is 10^-4 of the corrected
    one at epsilon, or less.
    """
    epsilon = _geometric(rng, 0.1, 200, n)

    def gap(e: Array, exponent: float) -> Array:
        return np.exp(-exponent * e) / np.sqrt(4 * math.pi * e)

    larger, margin = epsilon * rng.uniform(1, 2, n), []
    for exponent in (0.0, 3.0):
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
    constant, delta = _geometric(rng, 0.1, 100, n), _geometric(rng, 1e-12, 0.49, n)
    start = np.maximum(2 * constant**2, 1 / (4 * math.pi * (0.5 - delta) ** 2))
    epsilon = start * rng.uniform(1.01, 3, n)
    margin = -_slack(constant / epsilon, epsilon, delta)
    return Outcome(margin, 0.0, {"constant": constant, "delta": delta, "epsilon": epsilon})


def _density(rng: Generator, n: int, power: Callable[[Array], Array]) -> Outcome:
    """Return the error of: the density in the proof of Lemma 3 has the integral 1.

    It is exp(-|y - f|^2/(2 sigma^2)) over a power of 2 pi sigma^2, and the integral of the former
    is the d-th power of one by quadrature.
    """
    d, sigma = rng.integers(1, 6, n).astype(float), _geometric(rng, 0.1, 10, n)
    s = column(sigma)
    edges = np.stack([-REACH * sigma, np.zeros(n), REACH * sigma], axis=1)
    single = integrate(lambda t: np.exp(-0.5 * (t / s) ** 2), edges, parts=8)
    total = d * np.log(single) - power(d) * np.log(2 * math.pi * sigma**2)
    return Outcome(equal(total, 0.0), 1e-11, {"d": d, "sigma": sigma})


def _half(d: Array) -> Array:
    """Return the printed power of 2 pi sigma^2."""
    return np.full(d.shape, 0.5)


def _half_of_d(d: Array) -> Array:
    """Return the power that makes a density."""
    return d / 2


def _scaled_normal(rng: Generator, n: int, power: float) -> Outcome:
    """Return the error of: eta + (2 eta)^power N(0, 1) has the variance 2 eta (Lemma 6, proof)."""
    eta = _geometric(rng, 1e-3, 30, n)
    return Outcome(equal((2 * eta) ** (2 * power), 2 * eta, 2 * eta), 1e-12, {"eta": eta})


def _events(rng: Generator, n: int) -> Outcome:
    """Return the error of Theorem 5: the worst of all events of a mechanism with six outputs."""
    p, other = rng.dirichlet(np.full(6, 0.7), n), rng.dirichlet(np.full(6, 0.7), n)
    epsilon = rng.uniform(0, 3, n)
    factor = np.exp(epsilon)[:, None]
    chosen = np.array(list(itertools.product([0.0, 1.0], repeat=6)))
    worst = ((p - factor * other) @ chosen.T).max(axis=1)
    lossy = p >= factor * other
    value = (p * lossy).sum(axis=1) - np.exp(epsilon) * (other * lossy).sum(axis=1)
    return Outcome(equal(value, worst, 1 + np.exp(epsilon)), 1e-14, {"epsilon": epsilon})


def _loss_tails(rng: Generator, n: int) -> Outcome:
    """Return the error of (4) and (5) against integrals of the density over where the loss is.

    The noisy answers y at distance D on the line through both answers: the loss of y = f + t is
    (D^2 - 2 D t)/(2 sigma^2), and that of the other direction is its negative at y.
    """
    epsilon, distance = rng.uniform(0, 8, n), np.exp(rng.uniform(-2, 2, n))
    sigma = distance * _geometric(rng, 0.2, 10, n)
    last = (distance - 2 * sigma**2 * epsilon / distance) / 2  # where the loss is epsilon
    s, shift = column(sigma), column(distance)

    def density(t: Array) -> Array:
        return np.exp(-0.5 * (t / s) ** 2) / (math.sqrt(2 * math.pi) * s)

    edges = np.stack([np.minimum(last, 0) - REACH * sigma, np.minimum(last, 0), last], axis=1)
    tails = [
        integrate(density, edges, parts=12),
        integrate(lambda t: density(t - shift), edges, parts=12),  # under the other answer
    ]
    ratios = distance / (2 * sigma), epsilon * sigma / distance
    printed = special.ndtr(ratios[0] - ratios[1]), special.ndtr(-ratios[0] - ratios[1])
    margin = np.minimum(equal(tails[0], printed[0]), equal(tails[1], printed[1]))
    drawn = {"epsilon": epsilon, "distance": distance, "sigma": sigma}
    return Outcome(margin, 1e-12, drawn)


def _profile_grows(rng: Generator, n: int) -> Outcome:
    """Return the slack of Lemma 7 in log h: h grows with eta."""
    epsilon, eta = rng.uniform(0, 20, n), _geometric(rng, 1e-3, 30, n)
    larger = eta * rng.uniform(1, 3, n)
    low, high = (gaussian_log_delta(np.sqrt(2 * x), epsilon) for x in (eta, larger))
    return Outcome(at_most(low, high), _ROUNDING, {"epsilon": epsilon, "eta": eta})


def _profile_slope(rng: Generator, n: int) -> Outcome:
    """Return the error of h'(eta) in the proof of Lemma 7 against differences of h."""
    epsilon, eta = rng.uniform(0, 5, n), _geometric(rng, 0.1, 10, n)
    root = np.sqrt(2 * eta)
    first, second = (eta - epsilon) / root, (-eta - epsilon) / root
    terms = np.exp(-(first**2) / 2) + np.exp(epsilon - second**2 / 2)
    step = 1e-4 * eta
    high, low = (
        np.exp(gaussian_log_delta(np.sqrt(2 * x), epsilon)) for x in (eta + step, eta - step)
    )
    printed = terms / (4 * np.sqrt(math.pi * eta))
    return Outcome(equal((high - low) / (2 * step), printed, printed), 1e-5,
                   {"epsilon": epsilon, "eta": eta})  # fmt: skip


def _profile_integral(rng: Generator, n: int) -> Outcome:
    """Return the error of Theorem 8 against the integral of [p - e^epsilon p']_+."""
    epsilon, mu = rng.uniform(0, 8, n), _geometric(rng, 0.02, 8, n)
    cross = mu / 2 - epsilon / mu  # the loss of a unit normal is mu^2/2 - mu t
    factor, shift = column(np.exp(epsilon)), column(mu)

    def integrand(t: Array) -> Array:
        density = np.exp(-0.5 * t * t) - factor * np.exp(-0.5 * (t - shift) ** 2)
        return np.maximum(density, 0) / math.sqrt(2 * math.pi)

    edges = np.stack([np.full(n, -REACH), np.clip(cross, -REACH, REACH), mu + REACH], axis=1)
    value = integrate(integrand, edges, parts=12)
    printed = special.ndtr(cross) - np.exp(epsilon) * special.ndtr(-mu / 2 - epsilon / mu)
    ours = np.exp(gaussian_log_delta(mu, epsilon))
    margin = np.minimum(equal(printed, value, 1 + np.exp(epsilon)), equal(ours, value))
    return Outcome(margin, 1e-13, {"epsilon": epsilon, "mu": mu})


def _algorithm_exact(rng: Generator, n: int) -> Outcome:
    """Return the error of Algorithm 1's change of variables at the exact root."""
    epsilon, delta = _geometric(rng, 1e-3, 50, n), _geometric(rng, 1e-12, 0.9, n)
    sigma = gaussian_sigma(epsilon, delta)
    alpha = sigma * np.sqrt(2 * epsilon)
    half = (alpha - 1 / alpha) ** 2 / 4  # u / 2 or v / 2
    start = 0.5 - 0.5 * special.erfcx(np.sqrt(epsilon))  # B(0) without overflow
    sign = np.where(delta >= start, -1.0, 1.0)
    again = np.sqrt(1 + half) + sign * np.sqrt(half)
    margin = equal(again, alpha, alpha * (1 + half))
    return Outcome(margin, 1e-12, {"epsilon": epsilon, "delta": delta})


def _b(epsilon: Array, x: Array, sign: float) -> Array:
    """Return B+(x), or B-(x) for sign -1, of Algorithm 1."""
    far = np.exp(epsilon + special.log_ndtr(-np.sqrt(epsilon * (x + 2))))
    return np.asarray(special.ndtr(sign * np.sqrt(epsilon * x)) - far)


def _searched_functions(rng: Generator, n: int) -> Outcome:
    """Return the slack of: B+ rises to 1, B- falls to 0, and both begin at delta_0."""
    epsilon = _geometric(rng, 1e-3, 20, n)
    x, larger = (np.sort(_geometric(rng, 1e-3, 10, 2 * n).reshape(2, n), axis=0)) / epsilon
    zero, far = np.zeros(n), np.full(n, 1e4) / epsilon
    start = special.ndtr(0.0) - np.exp(epsilon + special.log_ndtr(-np.sqrt(2 * epsilon)))
    margin = [
        at_most(_b(epsilon, x, 1), _b(epsilon, larger, 1)),
        at_most(_b(epsilon, larger, -1), _b(epsilon, x, -1)),
        equal(_b(epsilon, far, 1), 1.0), equal(_b(epsilon, far, -1), 0.0),
        equal(_b(epsilon, zero, 1), start), equal(_b(epsilon, zero, -1), start),
    ]  # fmt: skip
    return Outcome(np.min(margin, axis=0), 1e-13, {"epsilon": epsilon, "x": x})


def _searched(epsilon: Any, delta: Any, digits: int) -> tuple[Any, Any, bool]:  # noqa: ANN401 - mpmath has no types
    """Ends of the last interval of the search for v* or u*, and whether the root is between."""
    start = mpmath.ncdf(0) - mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.sqrt(2 * epsilon))
    sign = 1 if delta >= start else -1

    def over(x: Any) -> Any:  # noqa: ANN401 - mpmath has no types
        far = mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.sqrt(epsilon * (x + 2)))
        return sign * (mpmath.ncdf(sign * mpmath.sqrt(epsilon * x)) - far - delta) > 0

    low, high = mpmath.mpf(0), mpmath.mpf(1)
    while not over(high):
        low, high = high, 2 * high
    while high - low > mpmath.mpf(10) ** -digits:
        middle = (low + high) / 2
        low, high = (low, middle) if over(middle) else (middle, high)
    return low, high, not over(low) and over(high)


def _search(rng: Generator, n: int) -> Outcome:
    """Return the slack, in digits, of: bisection finds v* and u* to 30 digits after the point.

    Phi is computed to 60 digits, as by the oracle of Section 3.
    """
    epsilon, delta = _geometric(rng, 0.1, 10, n), _geometric(rng, 1e-10, 0.5, n)
    margin, digits = np.empty(n), 30
    with mpmath.workdps(60):
        for i in range(n):
            low, high, between = _searched(mpmath.mpf(epsilon[i]), mpmath.mpf(delta[i]), digits)
            margin[i] = float(-mpmath.log10(high - low)) - digits if between else -1.0
    return Outcome(margin, 0.0, {"epsilon": epsilon, "delta": delta})


def _gain(epsilon: Array, delta: Array) -> Array:
    """Return the logarithm of the gain in variance of the analytic mechanism."""
    ratio = classical_gaussian_sigma(epsilon, delta) / gaussian_sigma(epsilon, delta)
    return 2 * np.log(ratio)


def _gain_grows(rng: Generator, n: int) -> Outcome:
    """Return the slack in log gain of: the gain grows with delta."""
    epsilon, delta = _geometric(rng, 1e-4, 1, n), _geometric(rng, 1e-12, 0.5, n)
    more = delta ** rng.uniform(0, 1, n)
    margin = at_most(_gain(epsilon, delta), _gain(epsilon, more))
    return Outcome(margin, _ROUNDING, {"epsilon": epsilon, "delta": delta, "more": more})


def _gain_falls(rng: Generator, n: int) -> Outcome:
    """Return the slack in log gain of: the gain falls with epsilon."""
    epsilon, delta = _geometric(rng, 1e-4, 1, n), _geometric(rng, 1e-12, 0.5, n)
    less = epsilon * rng.uniform(0, 1, n)
    margin = at_most(_gain(epsilon, delta), _gain(less, delta))
    return Outcome(margin, _ROUNDING, {"epsilon": epsilon, "delta": delta, "less": less})


def _mean_sensitivity(rng: Generator, n: int, radius: float) -> Outcome:
    """Return the relative slack of sqrt(d)/n and d/n between corners of a box."""
    d, samples = rng.integers(1, 50, n), 500
    margin = np.empty(n)
    for k in range(n):
        one, other = radius * rng.choice([-1.0, 1.0], (2, d[k]))
        apart = (one - other) / samples
        bounds = math.sqrt(d[k]) / samples, d[k] / samples
        lengths = np.linalg.norm(apart), np.abs(apart).sum()
        margin[k] = min(1 - a / b for a, b in zip(lengths, bounds, strict=True))
    return Outcome(margin, 1e-12, {"d": d.astype(float)})


def _histogram_sensitivity(rng: Generator, n: int) -> Outcome:
    """Return the relative slack of Delta_2 = sqrt(2)/n and Delta_1 = 2/n for histograms."""
    bins, samples = rng.integers(2, 40, n), 30
    margin = np.empty(n)
    for k in range(n):
        items = rng.integers(0, bins[k], samples)
        before = np.bincount(items, minlength=bins[k])
        items[rng.integers(samples)] = rng.integers(bins[k])
        apart = np.bincount(items, minlength=bins[k]) - before
        margin[k] = min(1 - np.linalg.norm(apart) / math.sqrt(2), 1 - np.abs(apart).sum() / 2)
    return Outcome(margin, 1e-12, {"bins": bins.astype(float)})


CHECKS = (
    Check("theorem-1", "Theorem 1",
          "sigma = Delta sqrt(2 log(1.25/delta))/epsilon is (epsilon, delta)-DP for epsilon, delta "
          "in (0, 1)", "cited", _classical),
    Check("theorem-2", "Theorem 2", "sigma = Delta/(2 delta) is (0, delta)-DP", "complete",
          _zero_epsilon),
    Check("lemma-3", "Lemma 3", "the privacy loss is N(eta, 2 eta) with eta = D^2/(2 sigma^2)",
          "complete", _loss_is_gaussian),
    Check("section-2-2", "Section 2.2",
          "P(L > 0) >= 1/2, so that the tail of the loss never proves (0, delta)-DP with "
          "delta < 1/2", "complete", _tail_at_zero),
    Check("theorem-4", "Theorem 4",
          "(epsilon, delta)-DP with 0 < delta < 1/2 - e^(-3 epsilon)/sqrt(4 pi epsilon) needs "
          "sigma >= Delta/sqrt(2 epsilon)",
          "false: e^epsilon Q(sqrt(2 epsilon)) = r(sqrt(2 epsilon))/sqrt(2 pi), with r the Mills "
          "ratio, has no factor e^(-3 epsilon)", partial(_low_privacy, exponent=3.0, low=0.2)),
    Check("theorem-4-corrected", "Theorem 4, corrected",
          "(epsilon, delta)-DP with 0 < delta < 1/2 - 1/sqrt(4 pi epsilon) needs "
          "sigma >= Delta/sqrt(2 epsilon)",
          "complete with the factor e^(-3 epsilon) left out",
          partial(_low_privacy, exponent=0.0, low=0.35)),
    Check("theorem-4-proof", "Theorem 4, proof",
          "e^epsilon Phi(-sqrt(2 epsilon)) < e^(-3 epsilon)/sqrt(4 pi epsilon)",
          "false: the density in Phi = r phi has the factor e^(-epsilon), which e^epsilon cancels",
          partial(_mills_bound, exponent=3.0)),
    Check("theorem-4-proof-corrected", "Theorem 4, proof, corrected",
          "e^epsilon Phi(-sqrt(2 epsilon)) < 1/sqrt(4 pi epsilon)", "complete",
          partial(_mills_bound, exponent=0.0)),
    Check("theorem-4-limit", "Theorem 4, below it",
          "the bound on delta rises to 1/2 as epsilon grows, as printed and as corrected",
          "complete", _low_privacy_limit),
    Check("section-2-3", "Section 2.3",
          "whatever the constant c, noise of standard deviation c Delta/epsilon is not private at "
          "some large epsilon", "complete", _inverse_rate),
    Check("lemma-3-density", "Lemma 3, proof",
          "exp(-|y - f|^2/(2 sigma^2))/sqrt(2 pi sigma^2) is a density in d coordinates",
          "misprint: the power of 2 pi sigma^2 is d/2", partial(_density, power=_half)),
    Check("lemma-3-density-corrected", "Lemma 3, proof, corrected",
          "exp(-|y - f|^2/(2 sigma^2))/(2 pi sigma^2)^(d/2) is a density in d coordinates",
          "complete", partial(_density, power=_half_of_d)),
    Check("theorem-5", "Theorem 5",
          "(epsilon, delta)-DP is P(L >= epsilon) - e^epsilon P(L' <= -epsilon) <= delta",
          "complete", _events),
    Check("lemma-6", "Lemma 6, (4) and (5)",
          "P(L >= epsilon) = Phi(D/(2 sigma) - epsilon sigma/D) and P(L' <= -epsilon) = "
          "Phi(-D/(2 sigma) - epsilon sigma/D)", "complete", _loss_tails),
    Check("lemma-6-proof", "Lemma 6, proof",
          "N(eta, 2 eta) = eta + N(0, 1)/sqrt(2 eta)", "misprint: the factor is sqrt(2 eta)",
          partial(_scaled_normal, power=-0.5)),
    Check("lemma-6-proof-corrected", "Lemma 6, proof, corrected",
          "N(eta, 2 eta) = eta + sqrt(2 eta) N(0, 1)", "complete",
          partial(_scaled_normal, power=0.5)),
    Check("lemma-7", "Lemma 7",
          "h(eta) = P(N(eta, 2 eta) >= epsilon) - e^epsilon P(N(eta, 2 eta) <= -epsilon) is "
          "increasing", "complete", _profile_grows),
    Check("lemma-7-proof", "Lemma 7, proof",
          "h'(eta) = (e^(-a^2/2) + e^epsilon e^(-b^2/2))/(4 sqrt(pi eta))", "complete",
          _profile_slope),
    Check("theorem-8", "Theorem 8, (6)",
          "the left side of (6) is the privacy profile of Gaussian noise", "complete",
          _profile_integral),
    Check("theorem-9", "Theorem 9",
          "Algorithm 1 in exact arithmetic gives the least sigma", "complete", _algorithm_exact),
    Check("theorem-9-proof", "Theorem 9, proof",
          "B+ rises from delta_0 to 1 and B- falls from delta_0 to 0", "complete",
          _searched_functions),
    Check("section-3-search", "Section 3, last paragraph",
          "with Phi known to 60 digits bisection finds v* and u* to 10^-30", "none given",
          _search, 0.02),
    Check("section-5-1", "Section 5.1",
          "the gain in variance grows with delta, at epsilon in (0, 1)", "none given",
          _gain_grows),
    Check("section-5-1-epsilon", "Section 5.1",
          "the gain in variance falls with epsilon on (0, 1)", "none given", _gain_falls),
    Check("section-5-2-sensitivity", "Section 5.2",
          "the mean of points in an l_inf ball of radius 1 has Delta_2 = sqrt(d)/n, Delta_1 = d/n",
          "misprint: that is radius 1/2, which the data have",
          partial(_mean_sensitivity, radius=1.0)),
    Check("section-5-2-sensitivity-corrected", "Section 5.2, corrected",
          "the mean of points in an l_inf ball of radius 1/2 has Delta_2 = sqrt(d)/n, "
          "Delta_1 = d/n", "complete, if the ball is public",
          partial(_mean_sensitivity, radius=0.5)),
    Check("section-b-1-sensitivity", "Section B.1",
          "a histogram has Delta_2 = sqrt(2)/n and Delta_1 = 2/n under replacement", "complete",
          _histogram_sensitivity),
)  # fmt: skip
