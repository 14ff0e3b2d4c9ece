"""Noise of a density that is constant by steps, with a geometric tail: the staircase.

*Staircase* noise is the optimal epsilon-private noise for one number. Geng & Viswanath, "The
optimal noise-adding mechanism in differential privacy" (IEEE Transactions on Information Theory
2016). Steps of width Delta, each falling by exp(-epsilon) at the fraction gamma of its width:

    density(t) = a exp(-epsilon (k + [f >= gamma])),  |t| / Delta = k + f,  0 <= f < 1,
    a = (1 - b) / (2 Delta q),  b = exp(-epsilon),  q = gamma + b (1 - gamma).

k and f are independent: k is geometric, P(k) = (1 - b) b^k, and f is uniform on each side of
gamma, with P(f < gamma) = gamma / q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, floats
from dpnoise.noise.base import Noise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.exact import Ball

MIN_EPSILON, MAX_EPSILON = 1e-100, 700.0  # 1 / epsilon^2 and exp(-epsilon) have doubles
_STEPS = 60  # of Newton's method


def staircase_gamma(epsilon: ArrayLike, power: int = 2) -> Array:
    """The gamma of the staircase with the least E|T|^power.

    Parameters
    ----------
    epsilon : array_like of float
        Privacy parameter, from 1e-100 to 700.
    power : {1, 2}
        1 for the mean absolute error, 2 for the variance.

    Returns
    -------
    numpy.ndarray or float
        gamma in (0, 1/2). With b and q of this module it solves q^2 = b for power 1, so
        gamma = 1 / (1 + exp(epsilon / 2)), and q^3 = b (1 + b) / 2 for power 2. Geng and
        Viswanath print the second in a form that cancels for small epsilon.

    Raises
    ------
    ValueError
        If epsilon or power is out of range.
    """
    problems = Problems("gamma of the staircase")
    epsilon = floats(problems, "epsilon", epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
    known = isinstance(power, Real | int) and not isinstance(power, bool) and power in (1, 2)
    problems.require(known, "power", "1 or 2", power)
    problems.raise_if_any()
    if power == 1:
        return special.expit(-0.5 * epsilon)[()]
    b = np.exp(-epsilon)
    q = np.cbrt(0.5 * b * (1.0 + b))
    # (q - b) / (1 - b), with the factor 1 - b taken out of q^3 - b^3.
    return (0.5 * b * (1.0 + 2.0 * b) / (q * q + q * b + b * b))[()]


def staircase_2d_gamma(epsilon: ArrayLike) -> Array:
    """The gamma of the two-dimensional staircase with the least E||X||_1.

    Parameters
    ----------
    epsilon : array_like of float
        Privacy parameter, from 1e-100 to 700.

    Returns
    -------
    numpy.ndarray or float
        gamma in (0, 1). With q = gamma + b (1 - gamma) the mean is
        2 Delta (q^3 + 3 b q + b + b^2) / (3 (1 - b) (q^2 + b)), so that the best q is the larger
        root of q^4 - 2 b (1 + b) q + 3 b^2 in [b, 1].

    Raises
    ------
    ValueError
        If epsilon is out of range.
    """
    problems = Problems("gamma of the two-dimensional staircase")
    epsilon = floats(problems, "epsilon", epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
    problems.raise_if_any()
    b, c = np.exp(-epsilon), -np.expm1(-epsilon)
    # Written in gamma and divided by b c^2 it neither cancels nor underflows. It is convex, so
    # that Newton's method falls to the larger root from an upper bound.
    gamma = np.minimum(1.0, (np.cbrt(2.0 * b * (1.0 + b)) - b) / c)
    # ends: raises
    for _ in range(_STEPS):
        cube, square = c * c * gamma * gamma * (gamma / b), c * gamma * gamma
        linear = 6.0 * b * gamma
        value = gamma * (cube + 4.0 * square + linear - 2.0 * (1.0 + 2.0 * b)) + b
        step = value / (4.0 * cube + 12.0 * square + 2.0 * linear - 2.0 * (1.0 + 2.0 * b))
        gamma = gamma - step
        if np.all(np.abs(step) <= 1e-15 * gamma):
            return gamma[()]
    raise RuntimeError(f"gamma of the two-dimensional staircase: not found in {_STEPS} steps")


def steps(x: Array, width: float) -> tuple[Array, Array]:
    """Integers k and fractions 0 <= f < 1 with x / width = k + f, for x >= 0, even infinite."""
    most = min(1.0, width) * np.finfo(float).max  # beyond, k has no double
    step, rest = np.divmod(np.minimum(x, most), width)
    return np.where(x > most, math.inf, step), rest / width


@dataclass(frozen=True)
class Staircase(Noise):
    """Staircase noise, epsilon-private for the given sensitivity.

    The density is not log-concave: a shift by less than the sensitivity can be the worst one.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, from 1e-100 to 700: each step falls by exp(-epsilon).
    sensitivity : float
        The width Delta of the steps, positive.
    gamma : float
        Where each step falls, as a fraction of its width, in (0, 1); see `staircase_gamma`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    title, source = "staircase per coordinate", "Geng & Viswanath 2016"
    log_concave: ClassVar[bool] = False
    stepwise: ClassVar[bool] = True
    has_closed_loss = True  # up to its sensitivity

    epsilon: float
    sensitivity: float
    gamma: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("staircase noise")
        problems.number("epsilon", self.epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
        problems.number("sensitivity", self.sensitivity, low=0.0, open_low=True)
        problems.number("gamma", self.gamma, low=0.0, high=1.0, open_low=True, open_high=True)
        problems.raise_if_any()
        for name in ("epsilon", "sensitivity", "gamma"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def _fall(self) -> float:
        """The factor b = exp(-epsilon)."""
        return math.exp(-self.epsilon)

    @property
    def _drop(self) -> float:
        """1 - b."""
        return -math.expm1(-self.epsilon)

    @property
    def _width(self) -> float:
        """The effective width q of a step, as a fraction of Delta."""
        return self.gamma + self._fall * (1.0 - self.gamma)

    def _log_density(self, x: Array) -> Array:
        step, f = steps(x, self.sensitivity)
        peak = math.log(self._drop) - math.log(2.0 * self._width) - math.log(self.sensitivity)
        return peak - self.epsilon * (step + (f >= self.gamma))

    def _log_tail(self, x: Array) -> Array:
        b, drop, q = self._fall, self._drop, self._width
        step, f = steps(x, self.sensitivity)
        left = self.gamma - f + b * (1.0 - self.gamma + f)
        right = b * (q + drop * (1.0 - f))
        inside = np.where(f < self.gamma, left, right) / q
        return -self.epsilon * step + np.log(0.5 * inside)

    def _magnitude(self, level: Array) -> Array:
        q, drop = self._width, self._drop
        finite = np.minimum(level, 1e4)  # -log of the least double is 745
        step, rest = np.divmod(finite, self.epsilon)
        # The level at f = gamma is epsilon + log q, unless that cancels.
        inner = drop * self.gamma / q
        edge = self.epsilon + math.log(q) if inner > 0.5 else -math.log1p(-inner)
        left = q * np.expm1(-np.minimum(rest, edge)) / -drop
        right = self.gamma - np.expm1(edge - np.maximum(rest, edge)) / drop
        f = np.where(rest < edge, left, right)
        return np.where(level == math.inf, math.inf, self.sensitivity * (step + f))

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        steps = t / Fraction(self.sensitivity)
        k = math.floor(steps)
        f, gamma, epsilon = steps - k, Fraction(self.gamma), Fraction(self.epsilon)
        b, drop = (-ball(epsilon)).exp(), -(-ball(epsilon)).expm1()
        q = ball(gamma) + b * ball(1 - gamma)
        if f < gamma:
            inside = ball(gamma - f) + b * ball(1 - gamma + f)
        else:
            inside = b * (q + drop * ball(1 - f))
        return (-ball(epsilon * k)).exp() * inside / q

    def _scaled(self, factor: float) -> Self:
        return type(self)(self.epsilon, factor * self.sensitivity, self.gamma)

    @property
    def step_width(self) -> float:
        """The sensitivity."""
        return self.sensitivity

    def largest_loss(self, sensitivity: float | Fraction) -> Fraction:
        """The epsilon of a step for each width, or part of it, that the sensitivity has."""
        steps = math.ceil(Fraction(sensitivity) / Fraction(self.sensitivity))
        return Fraction(self.epsilon) * steps

    @property
    def _means(self) -> tuple[float, float]:
        """The means of k and f."""
        square = self.gamma**2
        mean_f = (square + self._fall * (1.0 - square)) / (2.0 * self._width)
        return self._fall / self._drop, mean_f

    def var(self) -> float:
        """The variance, Delta^2 E (k + f)^2."""
        b, cube = self._fall, self.gamma**3
        mean_k, mean_f = self._means
        square_k = mean_k * (1.0 + b) / self._drop
        square_f = (cube + b * (1.0 - cube)) / (3.0 * self._width)
        return self.sensitivity * self.sensitivity * (square_k + 2.0 * mean_k * mean_f + square_f)

    def mean_abs(self) -> float:
        """E|T| = Delta E (k + f)."""
        return self.sensitivity * sum(self._means)

    def fisher_information(self) -> float:
        """infinity: a density that jumps locates a shift at a faster rate."""
        return math.inf
