"""Shrinkage of a noisy vector: James-Stein, and soft thresholding.

Since the Gaussian mechanism's sigma is public, its output y = f(x) + N(0, sigma^2 I_d) can be
shrunk towards zero at no cost in privacy, by an amount computed from y alone (post-processing).
Stein's unbiased risk estimate (SURE) says what the shrinkage gains.

James-Stein multiplies y by one factor. Soft thresholding sets coordinates below a threshold to zero
and moves the others towards it; the threshold is the universal one, or chosen by SURE (Donoho &
Johnstone, JASA 90, 1995).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.denoise._checks import LARGEST, check_dimension, standard_deviation, vectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_MINIMUM_RATIO = 1e-150  # of |y| to sigma, so that the square of its inverse has a double


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


def james_stein_sure(y: ArrayLike, sigma: float) -> Array:
    """SURE of the plain James-Stein estimate, d sigma^2 - (d - 2)^2 sigma^4 / |y|^2.

    Parameters
    ----------
    y, sigma
        As for `james_stein`; |y| is above 1e-150 sigma.

    Returns
    -------
    numpy.ndarray or float, shape (...)

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Stein, "Estimation of the mean of a multivariate normal distribution", Annals of Statistics
    9, 1981.

    Examples
    --------
    >>> float(james_stein_sure([3.0, 4.0, 0.0], 1.0))
    2.96
    """
    problems = Problems("James-Stein")
    data, scale = vectors(problems, y, 3), standard_deviation(problems, sigma)
    problems.raise_if_any()
    length = _norm(data)
    shortest = float(np.min(length, initial=np.inf))
    longer = shortest > _MINIMUM_RATIO * scale
    problems.require(longer, "y", "vectors longer than 1e-150 sigma", shortest)
    problems.raise_if_any()
    d, ratio = data.shape[-1], scale / length
    return (scale * scale * (d - ((d - 2) * ratio) ** 2))[()]


def james_stein_bayes_risk(d: int, prior_variance: float, sigma: float) -> float:
    """Bayes risk E |estimate - f|^2 of plain James-Stein for f ~ N(0, w^2 I_d).

    The mean of SURE: |y|^2 is (w^2 + sigma^2) chi^2_d, and E 1 / chi^2_d = 1 / (d - 2), hence

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
        Non-negative; one per vector, as `sure_threshold` returns them.

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


def soft_threshold_sure(y: ArrayLike, sigma: float, threshold: ArrayLike) -> Array:
    """SURE of soft thresholding, d sigma^2 - 2 sigma^2 #{|y_i| <= t} + sum min(|y_i|, t)^2.

    Parameters
    ----------
    y : array_like of float
        As for `soft_threshold`.
    sigma : float
        Standard deviation of the noise per coordinate, positive.
    threshold : array_like of float
        As for `soft_threshold`.

    Returns
    -------
    numpy.ndarray or float, shape (...)

    Raises
    ------
    ValueError
        If an argument is out of range or the shapes do not match.

    References
    ----------
    Donoho & Johnstone, JASA 90, 1995.

    Examples
    --------
    >>> float(soft_threshold_sure([3.0, -0.5, -2.0], 1.0, 1.0))
    3.25
    """
    problems = Problems("SURE of soft threshold")
    data, scale = vectors(problems, y), standard_deviation(problems, sigma)
    level = _levels(problems, data, threshold)
    problems.raise_if_any()
    size = np.abs(data)
    kept = data.shape[-1] - 2 * np.count_nonzero(size <= level, axis=-1)
    return (scale * scale * kept + np.sum(np.minimum(size, level) ** 2, axis=-1))[()]


def sure_threshold(y: ArrayLike, sigma: float) -> Array:
    """Soft threshold of minimum SURE, exactly.

    Between two neighbouring |y_i| SURE increases with the threshold, so that its minimum lies
    at one of them, or at 0.

    Parameters
    ----------
    y, sigma
        As for `soft_threshold_sure`.

    Returns
    -------
    numpy.ndarray or float, shape (...)
        Of several minima the largest.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Donoho & Johnstone, JASA 90, 1995.

    Examples
    --------
    >>> float(sure_threshold([0.1, -0.2, 0.3, 9.0], 1.0))
    0.3
    """
    problems = Problems("SURE threshold")
    data, scale = vectors(problems, y), standard_deviation(problems, sigma)
    problems.raise_if_any()
    d = data.shape[-1]
    size = np.sort(np.abs(data), axis=-1)
    levels = np.concatenate([np.zeros_like(size[..., :1]), size], axis=-1)
    squares = levels * levels
    count = np.arange(d + 1)  # among equal |y_i| the last one counts them all, with minimum risk
    risk = np.cumsum(squares, axis=-1) + (d - count) * squares - 2.0 * scale * scale * count
    last = d - np.argmin(risk[..., ::-1], axis=-1)
    return np.take_along_axis(levels, last[..., None], axis=-1)[..., 0][()]


def _levels(problems: Problems, y: Array, threshold: ArrayLike) -> Array:
    """Thresholds that broadcast over the vectors `y`."""
    level = floats(problems, "threshold", threshold, low=0.0, high=LARGEST)
    if level.ndim and level.shape != y.shape[:-1]:
        expected = f"a number or shape {y.shape[:-1]}"
        problems.require(False, "threshold", expected, level.shape)
    return level[..., None] if level.ndim else level
