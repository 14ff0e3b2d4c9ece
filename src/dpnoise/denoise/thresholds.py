"""Soft thresholding of a noisy vector, with the universal threshold or the one of minimum SURE.

Coordinates of y = f(x) + N(0, sigma^2 I_d) below a threshold are set to zero, the others are
moved towards it: post-processing, which costs no privacy because sigma is public. Stein's unbiased
risk estimate (SURE) also chooses the threshold (Donoho & Johnstone, JASA 90, 1995).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.denoise._checks import LARGEST, check_dimension, standard_deviation, vectors
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array


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
