"""Checks of Algorithm 1 of balle-wang-2018 and of the search that it makes, over random parameters.

Exact arithmetic is that of mpmath with enough digits; double precision is the search as
published (`tables.gaussian_calibration`), with the erf of SciPy as in Section 5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
from scipy import special

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.balle_wang_2018.gaussian_calibration import TOLERANCE, bisected
from dpnoise_papers.balle_wang_2018.theory.privacy import ROUNDING, log_profile, slack
from dpnoise_papers.checks import Outcome, at_most, equal, log_uniform

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


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
