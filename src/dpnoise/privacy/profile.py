"""The exact privacy profile of noise added to one number, its inverse, and a bound for any noise.

Adding noise T with density g to a query whose value moves by at most `sensitivity` between
neighbouring data sets, whichever they are, is (epsilon, delta)-DP if and only if delta is at least

    sup over |d| <= sensitivity of H(d),    H(d) = integral of [g(t) - e^epsilon g(t + d)]_+ dt.

**The largest shift is the worst** for every density that is symmetric and falls with |t|,
log-concave or not (staircase noise), and for probabilities on the integers (discrete Gaussian).
By symmetry take 0 < d < d'. With epsilon >= 0 the integrand of H(d) is positive only on some
A in {t > -d / 2}: at t <= -d / 2 the shifted point is not farther from 0, |t + d| <= |t|, so that
g(t + d) >= g(t). On A, 0 < t + d < t + d', so that g(t + d') <= g(t + d), and

    H(d) = int_A g(t) - e^epsilon g(t + d) <= int_A g(t) - e^epsilon g(t + d') <= H(d').

Where the privacy loss log g(t) / g(t + d) grows with t (log-concave noise), the positive part is
a half-line t > t1, which is equation (14) of Muthukrishnan & Kalyani ("Grafting Laplace and
Gaussian distributions", IEEE TIFS 2023). `shifted` of `privacy.shift` knows the formulas.

**By a largest privacy loss alone.** Whatever has no loss above L is dominated by randomized
response, whose loss is L or -L (Kairouz, Oh & Viswanath, "The composition theorem for differential
privacy", ICML 2015):

    delta(epsilon) <= (1 - exp(epsilon - L)) / (1 + exp(-L)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.noise.exact import as_double, as_double_above
from dpnoise.privacy.shift import check_shift, shifted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.shift import Shift


MAX_EPSILON = 1e100
_BAND = 4e-12  # an epsilon whose log delta is below the target by no more is the least
_ROUNDS = 400
# Of profiles of noise on the integers: measured errors are below 4e-14 down to delta = e^-300.
_MARGIN, _MARGIN_OF_LOG, _DEEPEST = 2.0**-43, 2.0**-50, 745.0
_RESPONSE_ERROR = 1e-11  # relative, of two logarithms and their difference


def _log_delta(pair: Shift, epsilon: Array) -> Array:
    """Log delta at epsilon >= 0, at most 0 before rounding."""
    return np.minimum(pair.log_delta_and_slope(epsilon.ravel())[0], 0.0).reshape(epsilon.shape)


def _by_sensitivity(
    noise: Noise | IntegerNoise,
    sensitivity: Array,
    values: Array,
    formula: Callable[[Shift, Array], Array],
) -> Array:
    """Values of a formula, sensitivity by sensitivity."""
    sensitivity, values = np.broadcast_arrays(sensitivity, values)
    result = np.empty(values.shape)
    for shift in np.unique(sensitivity):
        here = sensitivity == shift
        result[here] = formula(shifted(noise, float(shift)), values[here])
    return result[()]


def log_privacy_profile(
    noise: Noise | IntegerNoise, sensitivity: ArrayLike, epsilon: ArrayLike
) -> Array:
    """Log delta(epsilon), which does not underflow where delta does; -inf where delta is 0.

    Arguments and errors are those of `privacy_profile`.
    """
    problems = Problems("privacy profile")
    sensitivity = floats(problems, "sensitivity", sensitivity, low=0.0)
    epsilon = floats(problems, "epsilon", epsilon, low=0.0, high=MAX_EPSILON)
    check_shift(problems, noise, sensitivity)
    problems.raise_if_any()
    found = _by_sensitivity(noise, sensitivity, epsilon, _log_delta)
    return _raised(found) if noise.whole else found


def _raised(log_delta: Array) -> Array:
    """Log delta with a margin above the rounding of its evaluation; -inf stays."""
    size = np.minimum(-log_delta, _DEEPEST)
    return np.minimum(log_delta + (_MARGIN + _MARGIN_OF_LOG * size), 0.0)[()]


def privacy_profile(
    noise: Noise | IntegerNoise, sensitivity: ArrayLike, epsilon: ArrayLike
) -> Array:
    """The least delta for which adding `noise` to a number is (epsilon, delta)-DP.

    Parameters
    ----------
    noise : Noise or IntegerNoise
        The noise. Noise on the integers is for integer-valued queries, whose sensitivity is an
        integer below 2^53: others are refused.
    sensitivity : array_like of float
        The largest change of the query between neighbouring data sets, by either relation,
        non-negative, in the units of the noise; 0 or 1e-100 to 1e50 times E|T|.
    epsilon : array_like of float
        From 0 to 1e100; broadcasts with `sensitivity`. Many epsilons for one sensitivity are
        evaluated together.

    Returns
    -------
    numpy.ndarray or float
        delta, exact for the doubles given: relative error below 1e-12 for noise made of
        quadratic pieces, staircase noise (discrete or not) and discrete Laplace noise, down to the
        smallest double (below it, see `log_privacy_profile`). 0 is returned only where delta is 0
        or underflows. For noise on the integers it is rounded up, by less than 1e-12, also where
        epsilon is a value of the loss (discrete Gaussian noise of sigma from 16 on: within 4e-12).
        For Subbotin noise (p other than 1 and 2) the error is 4e-11, and on top of it epsilon
        counts as if it were off by p units in its last place. For any other family it is an upper
        bound (`dpnoise.privacy.shift`).

    Raises
    ------
    ValueError
        If an argument is out of range or a sensitivity for noise on the integers is not an integer.

    Notes
    -----
    Proved: that the largest shift is the worst one, and the formulas, which are evaluated with
    the exact values of the doubles given where epsilon meets a loss of many t (the constant
    stretches of Laplace, truncated Laplace, Huber and flipped Huber noise, the steps of the
    staircase). Tested and not proved: the rounding of their evaluation, against 50 to 300 digits,
    for the whole domain above, round and coinciding parameters included.

    Examples
    --------
    >>> from dpnoise import privacy_profile
    >>> from dpnoise.noise.exponential_power import Laplace
    >>> float(privacy_profile(Laplace(2.0), sensitivity=1.0, epsilon=0.5))
    0.0
    """
    return np.exp(log_privacy_profile(noise, sensitivity, epsilon))[()]


def epsilon_at(noise: Noise | IntegerNoise, sensitivity: ArrayLike, delta: ArrayLike) -> Array:
    """The least epsilon >= 0 for which adding `noise` is (epsilon, delta)-DP.

    Parameters
    ----------
    noise, sensitivity : Noise or IntegerNoise, array_like of float
        As for `privacy_profile`.
    delta : array_like of float
        In [0, 1); broadcasts with `sensitivity`. delta = 0 asks for pure DP.

    Returns
    -------
    numpy.ndarray or float
        epsilon, rounded up: the computed profile at it is below delta by more than its
        possible error, or it is the largest finite loss, rounded up, and delta is proved to be
        no less than the mass that leaves the support (by 60 digits beyond its size). Infinity
        where no epsilon up to 1e100 does, as for Gaussian tails at delta = 0 or truncated noise
        when delta is below that mass.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from dpnoise import epsilon_at
    >>> from dpnoise.noise import Laplace
    >>> float(epsilon_at(Laplace(2.0), sensitivity=1.0, delta=0.0))
    0.5
    """
    problems = Problems("epsilon at delta")
    sensitivity = floats(problems, "sensitivity", sensitivity, low=0.0)
    delta = floats(problems, "delta", delta, low=0.0, high=1.0, open_high=True)
    check_shift(problems, noise, sensitivity)
    problems.raise_if_any()
    return _by_sensitivity(noise, sensitivity, delta, _smallest_epsilon)


def _smallest_epsilon(pair: Shift, delta: Array) -> Array:
    with np.errstate(divide="ignore"):
        bar = np.log(delta)
    target = bar - pair.log_error
    top = pair.largest_loss
    epsilon = np.full_like(delta, math.inf)
    if math.isfinite(top):
        # The least double that will do; a comparison with it is exact.
        epsilon[delta >= as_double_above(pair.smallest_delta)] = top
    solvable = delta > 0.0 if top == math.inf else np.isfinite(epsilon) & (delta > 0.0)
    found = _solve(pair, target[solvable]) * (1.0 + pair.epsilon_error)
    epsilon[solvable] = np.minimum(found, epsilon[solvable])
    return np.where(epsilon <= MAX_EPSILON, epsilon, math.inf)


def _solve(pair: Shift, target: Array) -> Array:
    """Epsilon with log delta just below target, by Newton's method in log delta.

    Each step keeps within an interval whose right end is on the private side: seen to be so,
    or the largest loss.
    """
    found = np.full_like(target, pair.largest_loss)
    low, x, open_ = np.zeros_like(target), np.zeros_like(target), np.arange(target.size)
    # ends: the private end of an interval
    for _ in range(_ROUNDS):
        bar, high = target[open_], found[open_]
        log_delta, log_slope = pair.log_delta_and_slope(x)
        private = log_delta <= bar
        high, low = np.where(private, x, high), np.where(private, low, x)
        found[open_] = high
        finite = np.minimum(high, np.finfo(float).max)
        # A step that is infinite or nowhere, from a flat or empty profile, halves instead.
        with np.errstate(over="ignore", invalid="ignore"):
            new = x + (log_delta - bar + 0.5 * _BAND) * np.exp(log_delta - log_slope)
        reach = np.minimum(high, 8.0 * low + 1.0)
        middle = np.where(high < math.inf, low + 0.5 * (finite - low), reach)
        x = np.where((new > low) & (new < reach), new, middle)
        close = (high - low <= 2.0**-50 * finite) | (private & (log_delta >= bar - _BAND))
        more = ~close & (high > 0.0) & (low <= MAX_EPSILON)
        if not more.any():
            break
        open_, low, x = open_[more], low[more], x[more]
    return found


def response_log_delta(loss: Fraction | float, epsilon: float) -> float:
    """Upper bound on log delta of whatever has no privacy loss above `loss`; -inf if it is 0."""
    if loss <= epsilon:
        return -math.inf
    if loss == math.inf:
        return 0.0
    gap = as_double_above(Fraction(loss) - Fraction(epsilon))
    value = math.log(-math.expm1(-gap)) - math.log1p(math.exp(-as_double(loss)))
    return min(value + _RESPONSE_ERROR * (1.0 + abs(value)), 0.0)


def response_delta(loss: Fraction | float, epsilon: float) -> float:
    """The same bound on delta, at least the smallest double unless it is 0."""
    log_delta = response_log_delta(loss, epsilon)
    return max(math.exp(log_delta), 5e-324) if log_delta > -math.inf else 0.0
