"""Shrinkage of a noisy vector: James-Stein, and soft thresholding.

Since the Gaussian mechanism's sigma is public, its output y = f(x) + N(0, sigma^2 I_d) can be
shrunk towards zero at no cost in privacy, by an amount computed from y alone (post-processing).

James-Stein multiplies y by one factor. Soft thresholding sets coordinates below a threshold to zero
and moves the others towards it (Donoho & Johnstone, JASA 90, 1995).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, floats, is_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

LARGEST = 1e100  # of a datum or sigma, so that its square has a double
_MINIMUM_RATIO = 1e-150  # of |y| to sigma, so that the square of its inverse has a double


def vectors(problems: Problems, y: ArrayLike, minimum_dimension: int = 1) -> Array:
    """Vectors along the last axis, of at least `minimum_dimension` numbers each."""
    array = floats(problems, "y", y, low=-LARGEST, high=LARGEST)
    d = array.shape[-1] if array.ndim else 0
    if d < minimum_dimension:
        problems.add(f"y: expected dimension d >= {minimum_dimension}, got shape {array.shape}")
    return array


def standard_deviation(problems: Problems, sigma: float) -> float:
    """Positive standard deviation of the noise; NaN where it is refused."""
    good = problems.number("sigma", sigma, low=0.0, high=LARGEST, open_low=True)
    return float(sigma) if good else math.nan


def check_dimension(problems: Problems, d: int, minimum: int) -> None:
    """Record a problem unless `d` is an integer of at least `minimum`."""
    good = is_integer(d) and d >= minimum
    problems.require(good, "d", f"an integer of at least {minimum}", d)


def james_stein(y: ArrayLike, sigma: float, *, positive_part: bool = False) -> Array:
    """James-Stein estimate (1 - (d - 2) sigma^2 / |y|^2) y.

    Parameters
    ----------
    y : array_like of float, shape (..., d)
        One vector per leading index, d >= 3.
    sigma : float
        Standard deviation of the noise per coordinate, positive.
    positive_part : bool
        Whether to shrink no further than to zero. The plain estimator overshoots where
        |y|^2 < (d - 2) sigma^2; the positive part is never worse in mean square.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Raises
    ------
    ValueError
        If an argument is out of range, or |y| is below 1e-150 sigma and `positive_part` is
        False: the factor is then infinite or overflows.

    References
    ----------
    James & Stein, "Estimation with quadratic loss", 4th Berkeley Symposium, 1961. Applied to
    private releases by Balle & Wang, ICML 2018, section 4.

    Examples
    --------
    >>> james_stein([3.0, 4.0, 0.0], 1.0)
    array([2.88, 3.84, 0.  ])
    """
    problems = Problems("James-Stein")
    data, scale = vectors(problems, y, 3), standard_deviation(problems, sigma)
    problems.raise_if_any()
    length = _norm(data)
    safe = length > _MINIMUM_RATIO * scale
    if not positive_part:
        shortest = float(np.min(length, initial=np.inf))
        problems.require(bool(np.all(safe)), "y", "vectors longer than 1e-150 sigma", shortest)
        problems.raise_if_any()
    ratio = np.divide(scale, length, out=np.full_like(length, np.inf), where=safe)
    factor = 1.0 - (data.shape[-1] - 2) * ratio * ratio
    return (np.maximum(factor, 0.0) if positive_part else factor)[..., None] * data


def james_stein_bayes_risk(d: int, prior_variance: float, sigma: float) -> float:
    """Bayes risk E |estimate - f|^2 of plain James-Stein for f ~ N(0, w^2 I_d).

    The mean of Stein's estimate d sigma^2 - (d - 2)^2 sigma^4 / |y|^2: since |y|^2 is
    (w^2 + sigma^2) chi^2_d, and E 1 / chi^2_d = 1 / (d - 2), it is

        d sigma^2 (1 - (d - 2) / d * sigma^2 / (w^2 + sigma^2)).

    Parameters
    ----------
    d : int
        Dimension, at least 3.
    prior_variance : float
        w^2, non-negative.
    sigma : float
        Standard deviation of the noise per coordinate, positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Balle & Wang, ICML 2018, Theorem 11, corrected: ((d - 2) / d)^2 is printed for (d - 2) / d.

    Examples
    --------
    >>> james_stein_bayes_risk(4, 1.0, 1.0), bayes_risk(4, 1.0, 1.0)
    (3.0, 2.0)
    """
    _check_risk(d, prior_variance, sigma)
    variance = float(sigma) ** 2
    return d * variance * (1.0 - (d - 2) / d * (variance / (prior_variance + variance)))


def bayes_risk(d: int, prior_variance: float, sigma: float) -> float:
    """Minimum Bayes risk for f ~ N(0, w^2 I_d), that of w^2 / (w^2 + sigma^2) y.

    James-Stein's exceeds it by 2 sigma^4 / (w^2 + sigma^2), that is by the factor
    1 + 2 sigma^2 / (d w^2).

    Parameters
    ----------
    d, prior_variance, sigma
        As for `james_stein_bayes_risk`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> bayes_risk(10, 0.0, 1.0)
    0.0
    """
    _check_risk(d, prior_variance, sigma)
    variance = float(sigma) ** 2
    return d * variance * (prior_variance / (prior_variance + variance))


def _norm(y: Array) -> Array:
    """Euclidean norm over the last axis, without overflow or underflow."""
    largest = np.max(np.abs(y), axis=-1)
    unit = np.where(largest > 0.0, largest, 1.0)
    return largest * np.sqrt(np.sum((y / unit[..., None]) ** 2, axis=-1))


def _check_risk(d: int, prior_variance: float, sigma: float) -> None:
    """Refuse arguments of a Bayes risk that are out of range."""
    problems = Problems("Bayes risk")
    check_dimension(problems, d, 3)
    problems.number("prior_variance", prior_variance, low=0.0, high=LARGEST**2)
    standard_deviation(problems, sigma)
    problems.raise_if_any()


def soft_threshold(y: ArrayLike, threshold: ArrayLike) -> Array:
    """Soft-thresholded data sign(y) max(|y| - threshold, 0).

    Parameters
    ----------
    y : array_like of float, shape (..., d)
        One vector per leading index.
    threshold : array_like of float, shape (...) or a number
        Non-negative; one per vector.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Raises
    ------
    ValueError
        If an argument is out of range or the shapes do not match.

    Examples
    --------
    >>> soft_threshold([3.0, -0.5, -2.0], 1.0)
    array([ 2.,  0., -1.])
    """
    problems = Problems("soft threshold")
    data = vectors(problems, y)
    level = _levels(problems, data, threshold)
    problems.raise_if_any()
    # y less its clipped self: exactly zero wherever |y| is at most the threshold
    return data - np.clip(data, -level, level)


def universal_threshold(sigma: float, d: int) -> float:
    """Universal threshold sigma sqrt(2 log d).

    The largest of d noises exceeds it with a probability that tends to 0 as d grows.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise per coordinate, positive.
    d : int
        Dimension, at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Donoho & Johnstone, Biometrika 81, 1994; Balle & Wang, ICML 2018, Theorem 12.

    Examples
    --------
    >>> round(universal_threshold(1.0, 1000), 4)
    3.7169
    """
    problems = Problems("universal threshold")
    standard_deviation(problems, sigma)
    check_dimension(problems, d, 1)
    problems.raise_if_any()
    return float(sigma) * math.sqrt(2.0 * math.log(d))


def _levels(problems: Problems, y: Array, threshold: ArrayLike) -> Array:
    """Thresholds that broadcast over the vectors `y`."""
    level = floats(problems, "threshold", threshold, low=0.0, high=LARGEST)
    if level.ndim and level.shape != y.shape[:-1]:
        expected = f"a number or shape {y.shape[:-1]}"
        problems.require(False, "threshold", expected, level.shape)
    return level[..., None] if level.ndim else level
