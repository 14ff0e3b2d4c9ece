"""Shrinkage of a noisy vector: James-Stein and soft thresholding.

Balle & Wang (ICML 2018), section 4: since the Gaussian mechanism's sigma is public, its output
y = f(x) + N(0, sigma^2 I_d) can be shrunk towards zero at no cost in privacy, by an amount that
the output itself suggests. Stein's unbiased risk estimate (SURE) says how much was gained; where
a rule has a free threshold it also chooses it (Donoho & Johnstone, JASA 90, 1995).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_LARGEST = 1e100  # of a datum or sigma, so that its square has a double
_LEAST_RATIO = 1e-150  # of |y| to sigma, so that the square of its inverse has a double


def james_stein(y: ArrayLike, sigma: float, *, positive_part: bool = False) -> Array:
    """Return (1 - (d - 2) sigma^2 / |y|^2) y.

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
        If an argument is out of range, or a vector is zero next to sigma and
        `positive_part` is False: the estimate has no value there.
    """
    problems = Problems("James-Stein")
    y, scale = _vectors(problems, y, least_dimension=3), _sigma(problems, sigma)
    problems.raise_if_any()
    length = _norm(y)
    safe = length > _LEAST_RATIO * scale
    if not positive_part:
        shortest = float(np.min(length, initial=np.inf))
        problems.require(bool(np.all(safe)), "y", "vectors longer than 1e-150 sigma", shortest)
        problems.raise_if_any()
    ratio = np.divide(scale, length, out=np.full_like(length, np.inf), where=safe)
    factor = 1.0 - (y.shape[-1] - 2) * ratio * ratio
    return (np.maximum(factor, 0.0) if positive_part else factor)[..., None] * y


def james_stein_sure(y: ArrayLike, sigma: float) -> Array:
    """Return SURE of the plain James-Stein estimate, d sigma^2 - (d - 2)^2 sigma^4 / |y|^2.

    Parameters and errors are those of `james_stein`; the result has shape (...).
    """
    problems = Problems("James-Stein")
    y, scale = _vectors(problems, y, least_dimension=3), _sigma(problems, sigma)
    problems.raise_if_any()
    length = _norm(y)
    shortest = float(np.min(length, initial=np.inf))
    problems.require(
        shortest > _LEAST_RATIO * scale, "y", "vectors longer than 1e-150 sigma", shortest
    )
    problems.raise_if_any()
    d, ratio = y.shape[-1], scale / length
    return (scale * scale * (d - ((d - 2) * ratio) ** 2))[()]


def james_stein_bayes_risk(
    d: int, prior_variance: float, sigma: float, *, printed: bool = False
) -> float:
    """Return E |estimate - f|^2 of plain James-Stein for f ~ N(0, w^2 I_d).

    The mean of SURE: |y|^2 is (w^2 + sigma^2) chi^2_d, and E 1 / chi^2_d = 1 / (d - 2), hence

        d sigma^2 (1 - (d - 2) / d * sigma^2 / (w^2 + sigma^2)).

    Parameters
    ----------
    d : int
        Dimension, at least 3.
    prior_variance : float
        w^2, non-negative.
    sigma : float
        Positive.
    printed : bool
        Whether to return Theorem 11 of Balle & Wang as printed, with ((d - 2) / d)^2 in place
        of (d - 2) / d. It is larger than the truth.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    _check_risk(d, prior_variance, sigma)
    variance, factor = float(sigma) ** 2, (d - 2) / d
    gain = factor * factor if printed else factor
    return d * variance * (1.0 - gain * (variance / (prior_variance + variance)))


def bayes_risk(d: int, prior_variance: float, sigma: float) -> float:
    """Return the least Bayes risk for f ~ N(0, w^2 I_d), that of w^2 / (w^2 + sigma^2) y.

    James-Stein's exceeds it by 2 sigma^4 / (w^2 + sigma^2), that is by the factor
    1 + 2 sigma^2 / (d w^2). Parameters and errors are those of `james_stein_bayes_risk`.
    """
    _check_risk(d, prior_variance, sigma)
    variance = float(sigma) ** 2
    return d * variance * (prior_variance / (prior_variance + variance))


def soft_threshold(y: ArrayLike, threshold: ArrayLike) -> Array:
    """Return sign(y) max(|y| - threshold, 0).

    Parameters
    ----------
    y : array_like of float, shape (..., d)
    threshold : array_like of float, shape (...) or a number
        Non-negative; one per vector, as `sure_threshold` returns them.

    Raises
    ------
    ValueError
        If an argument is out of range or the shapes do not match.
    """
    problems = Problems("soft threshold")
    y, level = _vectors(problems, y), _levels(problems, y, threshold)
    problems.raise_if_any()
    # y less its clipped self, so that nothing is rounded where nothing is left
    return y - np.clip(y, -level, level)


def universal_threshold(sigma: float, d: int) -> float:
    """Return sigma sqrt(2 log d), which few of d noises exceed (Theorem 12).

    Raises
    ------
    ValueError
        If sigma is not positive or d is not a positive integer.
    """
    problems = Problems("universal threshold")
    _sigma(problems, sigma)
    _dimension(problems, d, 1)
    problems.raise_if_any()
    return float(sigma) * math.sqrt(2.0 * math.log(d))


def soft_threshold_sure(y: ArrayLike, sigma: float, threshold: ArrayLike) -> Array:
    """Return SURE of soft thresholding.

    d sigma^2 - 2 sigma^2 #{|y_i| <= t} + sum min(|y_i|, t)^2.

    Parameters
    ----------
    y : array_like of float, shape (..., d)
    sigma : float
        Positive.
    threshold : array_like of float, shape (...) or a number
        Non-negative.

    Returns
    -------
    numpy.ndarray or float, shape (...)

    Raises
    ------
    ValueError
        If an argument is out of range or the shapes do not match.
    """
    problems = Problems("SURE of soft threshold")
    y, scale = _vectors(problems, y), _sigma(problems, sigma)
    level = _levels(problems, y, threshold)
    problems.raise_if_any()
    size = np.abs(y)
    kept = y.shape[-1] - 2 * np.count_nonzero(size <= level, axis=-1)
    return (scale * scale * kept + np.sum(np.minimum(size, level) ** 2, axis=-1))[()]


def sure_threshold(y: ArrayLike, sigma: float) -> Array:
    """Return the soft threshold of least SURE, exactly.

    Between two neighbouring |y_i| SURE increases with the threshold, so that its minimum lies
    at one of them, or at 0.

    Parameters
    ----------
    y : array_like of float, shape (..., d)
    sigma : float
        Positive.

    Returns
    -------
    numpy.ndarray or float, shape (...)
        Of several minima the largest.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    problems = Problems("SURE threshold")
    y, scale = _vectors(problems, y), _sigma(problems, sigma)
    problems.raise_if_any()
    d = y.shape[-1]
    size = np.sort(np.abs(y), axis=-1)
    levels = np.concatenate([np.zeros_like(size[..., :1]), size], axis=-1)
    squares = levels * levels
    count = np.arange(d + 1)  # at a tie the last of it counts all, and is least
    risk = np.cumsum(squares, axis=-1) + (d - count) * squares - 2.0 * scale * scale * count
    last = d - np.argmin(risk[..., ::-1], axis=-1)
    return np.take_along_axis(levels, last[..., None], axis=-1)[..., 0][()]


def _norm(y: Array) -> Array:
    """Return |y| over the last axis without overflow or underflow."""
    largest = np.max(np.abs(y), axis=-1)
    unit = np.where(largest > 0.0, largest, 1.0)
    return largest * np.sqrt(np.sum((y / unit[..., None]) ** 2, axis=-1))


def _vectors(problems: Problems, y: ArrayLike, least_dimension: int = 1) -> Array:
    array = floats(problems, "y", y, low=-_LARGEST, high=_LARGEST)
    d = array.shape[-1] if array.ndim else 0
    if d < least_dimension:
        problems.add(f"y: expected dimension d >= {least_dimension}, got shape {array.shape}")
    return array


def _sigma(problems: Problems, sigma: float) -> float:
    good = problems.number("sigma", sigma, low=0.0, high=_LARGEST, open_low=True)
    return float(sigma) if good else math.nan


def _dimension(problems: Problems, d: int, least: int) -> None:
    good = isinstance(d, int | np.integer) and not isinstance(d, bool) and d >= least
    problems.require(good, "d", f"an integer of at least {least}", d)


def _levels(problems: Problems, y: Array, threshold: ArrayLike) -> Array:
    level = floats(problems, "threshold", threshold, low=0.0, high=_LARGEST)
    if level.ndim and level.shape != y.shape[:-1]:
        expected = f"a number or shape {y.shape[:-1]}"
        problems.require(False, "threshold", expected, level.shape)
    return level[..., None] if level.ndim else level


def _check_risk(d: int, prior_variance: float, sigma: float) -> None:
    problems = Problems("Bayes risk")
    _dimension(problems, d, 3)
    problems.number("prior_variance", prior_variance, low=0.0, high=_LARGEST**2)
    _sigma(problems, sigma)
    problems.raise_if_any()
