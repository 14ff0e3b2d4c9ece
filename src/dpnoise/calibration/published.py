"""Published calibration of flipped Huber and OSGT noise: a grid search, a sufficient condition.

Muthukrishnan & Kalyani, "Grafting Laplace and Gaussian distributions" (IEEE TIFS 2023).

**Grid.** Sections V-A and V-B and Algorithm 2: of all (alpha, gamma), or (theta, rho) for OSGT
noise, on a grid, the private pair of minimum variance. The paper prints the box and not the step;
here the grid is equidistant.

At fixed alpha (theta) a larger gamma (rho) is more private and has more variance, so that the grid
is searched by lines. (The density at each quantile of the noise falls with gamma: the noise grows
in the dispersive order, and a shift of more dispersed noise is a post-processing of the same shift
of less dispersed noise. Section 10 of docs/vector-privacy.md has the proof.)

**Condition.** Theorem 8. K coordinates get flipped Huber noise FH(alpha, gamma^2) and neighbouring
answers differ by at most the sensitivity in each, so that Delta_2 = sqrt(K) sensitivity and Delta_1
= K sensitivity. With b = alpha / gamma, d = sensitivity / gamma, a = epsilon / (sqrt(K) d),

    r = b^2 - max(b - d, 0)^2,  h = sqrt(K) (d + r / d) / 2,  Q(theta) = sqrt(pi / 2) / omega,

the noise is (epsilon, delta)-DP if a >= h and Q(a - h) - e^epsilon Q(a + h + sqrt(K) theta) is at
most delta. (omega is the paper's normaliser, 2 Z exp(b^2 / 2) in `dpnoise.noise`.) The printed
difference cancels. With x1, x2 the two arguments, A their mean, H half their difference and G(mu,
epsilon) the profile of Gaussian noise, it is the sum

    G(2 H, 2 A H) + e^epsilon Q(x2) (exp(2 A H - epsilon) - 1)

of positive terms. It grows with d at fixed b. b = 0 gives the exact Gaussian condition. For b ->
infinity a >= h says that gamma^2 / alpha is at least K sensitivity / epsilon, the scale of
(epsilon, 0)-DP Laplace noise, which is the limit.

The proof of Lemma 7, on which the theorem rests, has a gap: it uses ||d||_2 = Delta_2. What is
handed out is therefore also verified by the exact profile.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from dpnoise._validation import Problems, floats, is_integer
from dpnoise.calibration.budget import Calibration, certified
from dpnoise.calibration.scalar import (
    ShapeFamily,
    flipped_huber_log_delta,
    minimum_variance,
    offset_gaussian_log_delta,
    offset_gaussian_variance,
)
from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.noise.grafted import FlippedHuber, OffsetSymmetricGaussian, flipped_huber_variance
from dpnoise.privacy.gaussian import log_delta_and_slope

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Target
    from dpnoise.noise.base import Noise

    Indices = NDArray[np.intp]
    Box = tuple[tuple[float, float], tuple[float, float]]


BOX = (0.02, 150.0), (0.02, 50.0)
RESOLUTION = 1500, 500
_MOST = 200_000, 1_000_000  # shapes and scales, which take seconds
_MINIMUM_LENGTH, _MAXIMUM_LENGTH = 1e-100, 1e100  # of alpha, gamma, theta and rho


class GridFamily(NamedTuple):
    """A family by shape (alpha, theta) and scale (gamma, rho)."""

    make: Callable[[float, float], Noise]
    log_delta: Callable[[Array, Array, float], tuple[Array, Array]]  # as in `ShapeFamily`
    variance: Callable[[Array, Array], Array]


FLIPPED_HUBER = GridFamily(FlippedHuber, flipped_huber_log_delta, flipped_huber_variance)
OFFSET_GAUSSIAN = GridFamily(
    OffsetSymmetricGaussian,
    offset_gaussian_log_delta,
    lambda theta, rho: rho**2 * offset_gaussian_variance(theta / rho),
)


def check_grid(problems: Problems, box: Box | None, resolution: tuple[int, int] | None) -> None:
    """Record what is wrong with the arguments of a grid, None for those of the paper."""
    try:
        (a, b), (c, d) = box if box is not None else BOX
        lengths: tuple[Any, ...] = (a, b, c, d)
        ends = all(isinstance(x, Real) and float(x) <= _MAXIMUM_LENGTH for x in lengths)
        good = ends and 0.0 <= a < b and _MINIMUM_LENGTH <= c < d
    except (TypeError, ValueError):
        good = False
    span = f"{_MINIMUM_LENGTH:g} to {_MAXIMUM_LENGTH:g}"
    expected = f"((low, high), (low, high)), numbers that rise, from 0 and from {span}"
    problems.require(good, "box", expected, box)
    try:
        counts = list(resolution if resolution is not None else RESOLUTION)
        good = len(counts) == 2 and all(
            is_integer(n) and 2 <= int(n) <= top for n, top in zip(counts, _MOST, strict=True)
        )
    except TypeError:
        good = False
    expected = f"two whole numbers of at least 2, at most {_MOST!r}"
    problems.require(good, "resolution", expected, resolution)


def first_private_index(
    private: Callable[[Indices], NDArray[np.bool_]], lines: int, length: int
) -> Indices:
    """Index of the first private scale on each line, `length` if there is none, shape (lines,).

    `private` tells it of one index for each line; once private, always private.
    """
    low, high = np.full(lines, -1), np.full(lines, length)
    # ends: halves intervals of integers
    while np.any(high - low > 1):
        middle = (low + high) // 2
        good = private(np.clip(middle, 0, length - 1))
        low = np.where(good | (high - low <= 1), low, middle)
        high = np.where(good & (high - low > 1), middle, high)
    return high


def grid_optimum(
    family: GridFamily, budget: Target, box: Box, resolution: tuple[int, int]
) -> Calibration:
    """Private noise of minimum variance on a grid of shape and scale, for delta > 0 and K = 1.

    ValueError if no point of the grid is certified.
    """
    shapes, scales = (np.linspace(*ends, n) for ends, n in zip(box, resolution, strict=True))
    unit, target = budget.sensitivity, math.log(budget.delta)

    def private(indices: Indices) -> NDArray[np.bool_]:
        scale = scales[indices]
        return family.log_delta(shapes / scale, unit / scale, budget.epsilon)[0] <= target

    first = first_private_index(private, len(shapes), len(scales))
    found = first < len(scales)
    points = np.stack([shapes[found], scales[first[found]]], axis=1)
    for shape, scale in points[np.argsort(family.variance(*points.T))].tolist():
        noise = family.make(shape, scale)
        delta, account = certified(noise, budget)
        if delta <= budget.delta:
            variance = noise.var()
            return Calibration(noise, delta, variance, "grid", True, variance, (account,))
    message = f"calibration on a grid: no noise in the box {box!r} is certified for {budget!r}"
    raise ValueError(message)


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
    >>> from dpnoise.calibration.published import theorem_8_delta
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


def sufficient_optimum(budget: Target) -> Calibration:
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
