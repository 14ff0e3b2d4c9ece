"""Calibration by a sufficient condition in K dimensions.

Muthukrishnan & Kalyani, "Grafting Laplace and Gaussian distributions" (IEEE TIFS 2023),
Theorem 8. K coordinates get flipped Huber noise FH(alpha, gamma^2) and neighbouring answers
differ by at most the sensitivity in each, so that Delta_2 = sqrt(K) sensitivity and
Delta_1 = K sensitivity. With b = alpha / gamma, d = sensitivity / gamma, a = epsilon / (sqrt(K) d),

    r = b^2 - max(b - d, 0)^2,  h = sqrt(K) (d + r / d) / 2,  Q(theta) = sqrt(pi / 2) / omega,

the noise is (epsilon, delta)-DP if a >= h and Q(a - h) - e^epsilon Q(a + h + sqrt(K) theta) is at
most delta. (omega is the paper's normaliser, 2 Z exp(b^2 / 2) in `dpnoise.noise`.) The printed
difference cancels. With x1, x2 the two arguments, A their mean, H half their difference and
G(mu, epsilon) the profile of Gaussian noise, it is the sum

    G(2 H, 2 A H) + e^epsilon Q(x2) (exp(2 A H - epsilon) - 1)

of positive terms. It grows with d at fixed b. b = 0 gives the exact Gaussian condition. For
b -> infinity a >= h says that gamma^2 / alpha is at least K sensitivity / epsilon, the scale of
(epsilon, 0)-DP Laplace noise, which is the limit.

The proof of Lemma 7, on which the theorem rests, has a gap: it uses ||d||_2 = Delta_2. What is
handed out is therefore also verified by the exact profile.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.calibration.scalar_search import ShapeFamily, minimum_variance
from dpnoise.noise._arrays import floats
from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.noise.grafted import FlippedHuber, flipped_huber_variance
from dpnoise.privacy.gaussian import log_delta_and_slope

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget, Calibration

_MINIMUM_SHAPE = 1e-60  # indistinguishable from the Gaussian
_MAXIMUM_EXPONENT = 300.0
_REFUSED = 1.0  # log delta where the theorem does not apply


def _offset(b: Array) -> Array:
    """Theta / gamma, where a Gaussian shifted by it dominates the noise (Lemma 6)."""
    weight = -np.expm1(-b * b) + np.exp(-b * b) * b * mills_ratio(b)  # b Z
    tail = 0.5 * math.log(math.pi / 2.0) - np.log(2.0 * weight / b) - 0.5 * b * b
    return np.maximum(-special.ndtri_exp(tail), 0.0)


def _log_delta(b: Array, d: Array, epsilon: float, dimension: int) -> tuple[Array, Array]:
    """Logarithm of the bound, above 0 where there is none, and its derivative in log d."""
    b = np.maximum(b, _MINIMUM_SHAPE)
    root = math.sqrt(dimension)
    a = epsilon / (root * d)
    h = root * np.where(b > d, b, 0.5 * (d + b * (b / d)))
    shift = root * _offset(b)
    half = h + 0.5 * shift
    # 2 A H - epsilon without the terms 2 a (sqrt(K) d / 2) = epsilon.
    surplus = 2.0 * a * (h - 0.5 * root * d) + shift * (a + h + 0.5 * shift)
    gauss, _ = log_delta_and_slope(2.0 * half, epsilon + surplus)
    far = special.log_ndtr(-(a + half + 0.5 * shift)) + epsilon
    with np.errstate(divide="ignore"):  # surplus 0: only the Gaussian term
        rest = far + surplus + np.log(-np.expm1(-surplus))
    log_delta = np.logaddexp(gauss, rest)
    # The derivatives of Q(x1) and of -e^epsilon Q(x2) in log d.
    x1, x2 = a - h, a + h + shift
    applies = x1 >= 0.0
    base = np.where(applies, -0.5 * math.log(2.0 * math.pi) - log_delta, -np.inf)
    widening = root * np.where(b > d, 0.0, 0.5 * (d - b * (b / d)))
    # Far from the root the exponents are differences of huge numbers.
    near = np.exp(np.minimum(base - 0.5 * x1 * x1, _MAXIMUM_EXPONENT)) * (a + widening)
    away = np.exp(np.minimum(base - 0.5 * x2 * x2 + epsilon, _MAXIMUM_EXPONENT)) * (a - widening)
    return np.where(applies, log_delta, _REFUSED), near - away


def theorem_8_delta(
    alpha: ArrayLike, gamma: ArrayLike, sensitivity: float, epsilon: float, dimension: int
) -> Array:
    """Delta that Theorem 8 guarantees for flipped Huber noise.

    Parameters
    ----------
    alpha : array_like of float
        Non-negative.
    gamma : array_like of float
        Positive; both broadcast.
    sensitivity : float
        The largest difference between neighbouring answers in each coordinate, positive.
    epsilon : float
        Non-negative.
    dimension : int
        The number of coordinates.

    Returns
    -------
    numpy.ndarray or float
        The bound, 1 where the theorem's condition on alpha fails.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Muthukrishnan & Kalyani (IEEE TIFS 2023), Theorem 8.

    Examples
    --------
    >>> from dpnoise.calibration.sufficient import theorem_8_delta
    >>> float(theorem_8_delta(2.0, 3.0, sensitivity=1.0, epsilon=1.0, dimension=1)) < 0.1
    True
    """
    problems = Problems("Theorem 8")
    alpha = floats(problems, "alpha", alpha, low=0.0)
    gamma = floats(problems, "gamma", gamma, low=0.0, open_low=True)
    problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    problems.number("epsilon", epsilon, low=0.0)
    problems.number("dimension", dimension, low=1)
    problems.raise_if_any()
    alpha, gamma = np.broadcast_arrays(alpha, gamma)
    log_delta, _ = _log_delta(alpha / gamma, sensitivity / gamma, epsilon, dimension)
    return np.exp(np.minimum(log_delta, 0.0))[()]


def sufficient_optimum(budget: Budget) -> Calibration:
    """Flipped Huber noise of minimum variance under Theorem 8, epsilon and delta positive."""
    dimension = budget.dimension
    family = ShapeFamily(
        make=lambda b, scale: FlippedHuber(b * scale, scale),
        log_delta=lambda b, d, epsilon: _log_delta(b, d, epsilon, dimension),
        variance=lambda b: flipped_huber_variance(b, 1.0),
        grid=np.append(0.0, np.geomspace(1e-4, 1e9, 261)),
        limit=2.0 * (dimension / budget.epsilon) ** 2,
        near=1e-6,
    )
    return minimum_variance(family, budget, method="sufficient")
