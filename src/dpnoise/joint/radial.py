"""K-norm noise, truncated K-norm noise and generalised gamma noise in the norm of any set.

The density is proportional to exp(-(r / scale)^p) at norm r up to a bound, and 0 beyond:

- p = 1, no bound: K-norm noise (Hardt & Talwar, STOC 2010), in the l2 norm the l2 mechanism;
- p = 1 with a bound: truncated K-norm noise, in one dimension truncated Laplace noise;
- p > 1: generalised gamma noise, Gaussian for p = 2 in the l2 norm.

With k = K / p, v = (r / scale)^p has the gamma distribution of shape k (K the number of active
coordinates), cut off at w = (bound / scale)^p. The layer T has v-density proportional to
v^k exp(-v) up to w and an atom at the bound, since the density falls there by a jump; so
E T^n = E R^n (K + n) / K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.joint.base import JointNoise, check_ball
from dpnoise.joint.uncovered import Uncovered
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.vectors import Spherical
from dpnoise.sensitivity.base import root_above

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

LARGEST_POWER = 16.0
_MIN_SHARE = 1e-200  # mass of the untruncated density within the bound


@dataclass(frozen=True)
class RadialNoise(JointNoise):
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
    >>> from dpnoise.joint.radial import RadialNoise
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
        object.__setattr__(self, "ball", self.ball.geometry)
        for name in ("scale", "power", "bound"):
            object.__setattr__(self, name, float(getattr(self, name)))
        share = special.gammainc(self.shape, self.edge)
        expected = f"at least {_MIN_SHARE:g} of the untruncated mass within it"
        problems.require(bool(share >= _MIN_SHARE), "bound", expected, self.bound)
        problems.raise_if_any()

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
        if spherical and K > 1:
            return Spherical(K, Fraction(self.scale) / size)
        return Laplace(self.scale), as_double_above(size)

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

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        problems = Problems(f"scaling {self!r}")
        problems.number("factor", factor, low=0.0, open_low=True)
        problems.raise_if_any()
        return type(self)(self.ball, factor * self.scale, self.power, factor * self.bound)
