"""Noise whose density falls with the norm of a sensitivity set: radial noise and staircases.

**Radial noise**: K-norm noise, truncated K-norm noise and generalised gamma noise. The density is
proportional to exp(-(r / scale)^p) at norm r up to a bound, and 0 beyond:

- p = 1, no bound: K-norm noise (Hardt & Talwar, STOC 2010), in the l2 norm the l2 mechanism;
- p = 1 with a bound: truncated K-norm noise, in one dimension truncated Laplace noise;
- p > 1: generalised gamma noise, Gaussian for p = 2 in the l2 norm; nothing searches for it.

With k = K / p, v = (r / scale)^p has the gamma distribution of shape k (K the number of active
coordinates), cut off at w = (bound / scale)^p. The layer T has v-density proportional to v^k
exp(-v) up to w and an atom at the bound, since the density falls there by a jump; so E T^n = E R^n
(K + n) / K.

**Staircase noise**: Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy"
(IEEE Transactions on Information Theory 2016), with a norm in the place of the absolute value. The
density falls by the factor b = exp(-epsilon) at the norms gamma, 1 + gamma, 2 + gamma, ...
Neighbours are at most 1 apart in the norm, hence at most one fall: the noise is epsilon-private. It
is a mixture of uniform distributions on (k + gamma) D with weights proportional to b^k (k +
gamma)^K, so that E T^n = M(K + n) / M(K) with M(n) = sum over k of b^k (k + gamma)^n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, check_factor
from dpnoise.joint.base import ROUNDED_UP, JointNoise, check_ball, mixed_quantile
from dpnoise.joint.profile import Uncovered, radial_delta_bounds
from dpnoise.noise.exact import as_double, as_double_above, root_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.accounts import (
    DOMINATED,
    NOTHING,
    RESPONSE,
    Bounds,
    dominated_delta,
    smallest,
)
from dpnoise.privacy.profile import response_delta
from dpnoise.privacy.spherical import STEEPEST, Spherical
from dpnoise.sensitivity.base import Sensitivity, is_set

if TYPE_CHECKING:
    from dpnoise._types import Array

    Seed = int | np.random.Generator | None
    Size = int | tuple[int, ...] | None


LARGEST_POWER = 16.0
RADIAL = "layers of the norm"
CELLS = 2**16  # of a certificate
_MIN_SHARE = 1e-200  # mass of the untruncated density within the bound


class Radial(JointNoise):
    """The law of radial noise, for `RadialNoise` and families with parameters of their own."""

    scale: float
    power: float
    bound: float

    @property
    def shape(self) -> float:
        """The shape k of the gamma distribution of (r / scale)^power."""
        return self.ball.active_dimension / self.power

    @property
    def edge(self) -> float:
        """The largest (r / scale)^power."""
        with np.errstate(over="ignore"):
            return float(np.float64(self.bound / self.scale) ** self.power)

    def dominating(self, size: Fraction) -> tuple[Laplace | Gaussian, float] | Spherical | None:
        """Laplace noise for K-norm noise (docs/joint-noise.md, section 4), itself in an l2 norm.

        Generalised gamma noise of power 2 in an l2 norm is Gaussian, sigma = scale / sqrt 2.
        """
        K, spherical = self.ball.active_dimension, self.ball.is_round
        if self.bound < math.inf or self.power not in {1.0, 2.0}:
            return None
        if self.power == 2.0:
            mu = root_above(2 * (size / Fraction(self.scale)) ** 2)
            return (Gaussian(1.0), as_double_above(mu)) if spherical else None
        if spherical and K > 1 and size <= STEEPEST * Fraction(self.scale):
            return Spherical(K, Fraction(self.scale) / size)
        return Laplace(self.scale), as_double_above(size)

    @property
    def is_k_norm(self) -> bool:
        """Whether it is K-norm noise, whose loss is at most proportional to the change."""
        return self.power == 1.0 and self.bound == math.inf

    def loss_at(self, size: Fraction) -> Fraction | float:
        """The largest privacy loss for the set `size` times its ball, infinite if not known."""
        return size / Fraction(self.scale) if self.is_k_norm else math.inf

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        loss, lower = self.loss_in(ball), 0.0
        if loss <= epsilon:
            return NOTHING
        found = [(response_delta(loss, epsilon), RESPONSE)]
        if self.is_k_norm:
            found.append((dominated_delta(loss, epsilon), DOMINATED))
        try:
            lower, upper = self._radial_bounds(ball, epsilon)
            found.append((upper, RADIAL))
        except ValueError:  # beyond the range of the account
            pass
        return smallest(lower, found)

    def _radial_bounds(self, ball: Sensitivity, epsilon: float) -> tuple[float, float]:
        """Bounds by the layers: for c times its own set, those of lengths divided by c."""
        size, noise = self.ball.largest_norm_of(ball), self
        if size == math.inf:
            return 0.0, 1.0
        if size > 1 and self.bound < math.inf:  # both lengths by a power of 2, which is exact
            size = Fraction(2) ** (math.ceil(size) - 1).bit_length()
        if size > 1 or self.bound == math.inf:
            scale, bound = Fraction(self.scale) / size, self.bound / as_double(size)
            noise = RadialNoise(self.ball, -as_double_above(-scale), self.power, bound)
        lower, upper = radial_delta_bounds(noise, epsilon, cells=CELLS)
        return (lower if ball.body == self.ball else 0.0), upper

    @property
    def less_than_dominating(self) -> bool:
        """Whether the Laplace noise that dominates K-norm noise may be less private than it.

        Equal for boxes and l1 balls, and products of these (docs/joint-noise.md, section 4).
        """
        uncovered = Uncovered(self.ball)
        known = self.ball.is_round or set(uncovered.polytopes) == {0.5}
        return not known or (bool(uncovered.caps) and bool(uncovered.polytopes))

    def _log_radial(self, r: Array) -> Array:
        """The log density at norm `r`."""
        K = self.ball.active_dimension
        whole = math.lgamma(self.shape + 1.0) + math.log(special.gammainc(self.shape, self.edge))
        unit = self.ball.log_volume + K * math.log(self.scale) + whole
        return np.where(r <= self.bound, -((r / self.scale) ** self.power), -math.inf) - unit

    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T: a gamma variate, or the bound if one more would leave it."""
        if self.bound == math.inf:
            return self.scale * rng.standard_gamma(self.shape + 1.0, size) ** (1.0 / self.power)
        share = special.gammainc(self.shape, self.edge)
        v = special.gammaincinv(self.shape, share * (1.0 - rng.uniform(size=size)))
        # The norm of X, and the layer above it: at norm r the density is a mixture of all layers
        # t > r, with v(T) = v(r) + an exponential variate, or the bound.
        layer = self.scale * (v + rng.standard_exponential(size)) ** (1.0 / self.power)
        return np.minimum(layer, self.bound)

    def layer_moment(self, order: int) -> float:
        """E T^order."""
        K, k, w = self.ball.active_dimension, self.shape, self.edge
        more = k + order / self.power
        share = float(special.gammainc(more, w) / special.gammainc(k, w))
        mean = math.exp(math.lgamma(more) - math.lgamma(k)) * share
        return self.scale**order * (mean * (K + order) / K)


@dataclass(frozen=True)
class RadialNoise(Radial):
    """Noise with density proportional to exp(-(r / scale)^power) for norms r up to a bound.

    Parameters
    ----------
    ball : Sensitivity
        The unit ball of the norm, a sensitivity set; its relation is not kept.
    scale : float
        The scale of the norm, from 1e-100 to 1e100.
    power : float, default 1
        From 1 to 16.
    bound : float, default inf
        The largest norm, positive; at least 1e-200 of the untruncated mass lies within it.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import LInf
    >>> from dpnoise.joint.noise import RadialNoise
    >>> noise = RadialNoise(LInf(1.0, of=10), scale=1.0)
    >>> [round(v, 6) for v in noise.var()[:2].tolist()]
    [44.0, 44.0]
    """

    ball: Sensitivity
    scale: float
    power: float = 1.0
    bound: float = math.inf

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("radial noise")
        check_ball(problems, self.ball)
        problems.number("scale", self.scale, low=1e-100, high=1e100)
        problems.number("power", self.power, low=1.0, high=LARGEST_POWER)
        problems.number("bound", self.bound, low=0.0, open_low=True, finite=False)
        problems.raise_if_any()
        object.__setattr__(self, "ball", self.ball.body)
        for name in ("scale", "power", "bound"):
            object.__setattr__(self, name, float(getattr(self, name)))
        share = special.gammainc(self.shape, self.edge)
        expected = f"at least {_MIN_SHARE:g} of the untruncated mass within it"
        problems.require(bool(share >= _MIN_SHARE), "bound", expected, self.bound)
        problems.raise_if_any()

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        check_factor(self, factor)
        return type(self)(self.ball, factor * self.scale, self.power, factor * self.bound)


def pure_scale(epsilon: float) -> float:
    """The least double that is at least 1 / epsilon."""
    scale = 1.0 / epsilon
    # ends: a few doubles up
    while Fraction(scale) * Fraction(epsilon) < 1:
        scale = math.nextafter(scale, math.inf)
    return scale


def k_norm_noise(ball: Sensitivity, epsilon: float) -> RadialNoise:
    """K-norm noise that is epsilon-DP for a set."""
    return RadialNoise(ball, pure_scale(epsilon))


LARGEST_EPSILON = 700.0
_MOST_STEPS = 2**21
_FLAT = 0.05  # epsilon below which the tail is log-concave up to a factor exp(epsilon)


def steps_needed(dimension: int, epsilon: float) -> float:
    """Number of falls beyond which less than 1e-17 of any moment up to the second lies."""
    n = dimension + 2.0
    return (n + 10.0 * math.sqrt(n) + 60.0) / epsilon + 2.0


def check_steps(problems: Problems, dimension: int, epsilon: float) -> None:
    """A problem is recorded unless the density has a manageable number of steps."""
    lowest = steps_needed(dimension, 1.0) / _MOST_STEPS
    problems.number("epsilon", epsilon, low=lowest, high=LARGEST_EPSILON)


def log_weights(dimension: int, epsilon: float, gamma: float) -> tuple[Array, Array]:
    """The radii k + gamma and the logarithms of b^k (k + gamma)^K."""
    radii = gamma + np.arange(math.ceil(steps_needed(dimension, epsilon)), dtype=float)
    return radii, dimension * np.log(radii) - epsilon * (radii - gamma)


def staircase_layer_moment(dimension: int, epsilon: float, gamma: float, order: int = 2) -> float:
    """E T^order of the staircase whose falls are 1 apart."""
    radii, logs = log_weights(dimension, epsilon, gamma)
    weights = np.exp(logs - np.max(logs))
    return float(np.sum(weights * radii**order) / np.sum(weights))


@dataclass(frozen=True)
class NormStaircase(JointNoise):
    """Staircase noise in the norm of a sensitivity set, epsilon-private for that set.

    Parameters
    ----------
    ball : Sensitivity
        The set of differences, whose norm shapes the noise; its relation is not kept.
    epsilon : float
        The privacy parameter, at most 700 and not so small that there are over 2e6 steps.
    gamma : float
        Where the density falls first, as a fraction of the width of a step, in (0, 1).

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import LInf
    >>> from dpnoise.joint.noise import NormStaircase
    >>> noise = NormStaircase(LInf(1.0, of=2), epsilon=3.0, gamma=0.4)
    >>> round(float(noise.logpdf([0.0, 0.3]) - noise.logpdf([1.0, -0.7])), 12)
    3.0
    """

    ball: Sensitivity
    epsilon: float
    gamma: float

    def loss_at(self, size: Fraction) -> Fraction:
        """The largest privacy loss: that of a step for each one crossed."""
        return Fraction(self.epsilon) * math.ceil(size)

    def dominating(self, size: Fraction) -> Fraction:
        """The pure epsilon."""
        return self.loss_at(size)

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("staircase noise in a norm")
        check_ball(problems, self.ball)
        known = is_set(self.ball)
        check_steps(problems, self.ball.active_dimension if known else 1, self.epsilon)
        problems.number("gamma", self.gamma, low=0.0, high=1.0, open_low=True, open_high=True)
        problems.raise_if_any()
        object.__setattr__(self, "ball", self.ball.body)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "gamma", float(self.gamma))

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """The radii k + gamma and the logarithms of their weights, which add up to 1."""
        radii, logs = log_weights(self.ball.active_dimension, self.epsilon, self.gamma)
        return radii, logs - special.logsumexp(logs)

    def _log_radial(self, r: Array) -> Array:
        """The log density at norm `r`."""
        radii, logs = self._steps
        falls = np.floor(r - self.gamma) + 1.0
        # All mass of layer 0 is weight over volume; the density at 0 is that over 1 - b.
        K = self.ball.active_dimension
        top = logs[0] - K * math.log(radii[0]) - math.log(-math.expm1(-self.epsilon))
        return top - self.ball.log_volume - self.epsilon * falls

    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T by inversion of its distribution function."""
        radii, logs = self._steps
        total = np.cumsum(np.exp(logs))
        place = np.searchsorted(total, total[-1] * rng.uniform(size=size), side="right")
        return radii[np.minimum(place, radii.size - 1)]

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, from a sample of the set, to about 0.5 %; (K,).

        The probabilities of the layers are exact: the density is not log-concave, and the largest
        layers are rare.
        """
        if self.epsilon < _FLAT:
            return super().half_width(level)
        radii, logs = self._steps
        some = self.ball.active
        largest = ROUNDED_UP * float(np.max(self.ball.box[some] / self.std()[some]))
        layers = radii, np.exp(logs), largest
        return self._widths(
            self._rows, lambda z, _: mixed_quantile(z, level, *layers), self.ball.sample
        )

    def layer_moment(self, order: int) -> float:
        """E T^order."""
        return staircase_layer_moment(self.ball.active_dimension, self.epsilon, self.gamma, order)

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        return type(self)(self.ball.scaled(factor), self.epsilon, self.gamma)
