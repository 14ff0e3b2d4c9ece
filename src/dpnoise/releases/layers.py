"""The layer T of joint noise X = T Z, Z uniform in the set, as a function of uniform numbers.

The laws are those of `dpnoise.joint`. Gamma variates: Marsaglia & Tsang, "A simple method for
generating gamma variables" (ACM Transactions on Mathematical Software 2000). A gamma variate of
shape K that must not exceed w is drawn anew until it does not, or, where that is rare, from the
tangent of its log density at w, which lies above it: v = w - E / lam with lam = (K - 1) / w - 1.
Layers err by at most 2^-34 (T + scale) in doubles.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb
from scipy import special

from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.noise.k_norm import KNorm
from dpnoise.noise.staircase_2d import Staircase2D
from dpnoise.releases.numbers import Balls, UndecidedError
from dpnoise.releases.points import Sampler, normal
from dpnoise.releases.tails import ball
from dpnoise.sensitivity.balls import L1, L2, LInf

if TYPE_CHECKING:
    from dpnoise.joint.noise import JointNoise
    from dpnoise.releases.numbers import Numbers

_OFTEN = 0.1  # share of gamma variates within the bound
_ROUNDING = 2.0**-46  # of a logarithm, over the size of its terms
_SUMMING = 2.0**-52  # of one addition among shares


def as_joint(noise: KNorm | Staircase2D | JointNoise) -> Any:  # noqa: ANN401
    """The same noise as a mixture of uniform distributions on multiples of a set."""
    if isinstance(noise, KNorm):
        kind = {1.0: L1, 2.0: L2}.get(noise.norm, LInf)
        return RadialNoise(kind(1.0, noise.dimension), noise.scale)
    if isinstance(noise, Staircase2D):
        return NormStaircase(L1(noise.sensitivity, 2), noise.epsilon, noise.gamma)
    return noise


def layer(noise: RadialNoise | NormStaircase | CorrelatedGaussian) -> Sampler:
    """The sampler of T, values of shape (rows,); of Gaussian noise, of its standard deviation."""
    if isinstance(noise, CorrelatedGaussian):
        sigma = noise.sigma
        return Sampler(1, lambda x: np.array([x.number(sigma)] * x.signed.shape[0]))
    if isinstance(noise, NormStaircase):
        return Sampler(1, _Stairs(noise).values)
    if noise.bound == np.inf:
        gamma = _gamma(Fraction(noise.ball.active_dimension) / Fraction(noise.power) + 1)

        def values(x: Numbers) -> Any:  # noqa: ANN401
            v = gamma.values(x)
            root = v if noise.power == 1.0 else v ** (1 / x.number(noise.power))
            return x.number(noise.scale) * root

        return Sampler(gamma.columns, values)
    if noise.power != 1.0:
        message = f"release: expected radial noise of power 1 beside a bound, got {noise!r}"
        raise ValueError(message)
    return _truncated(noise)


def _gamma(shape: Fraction) -> Sampler:
    """A gamma variate of a shape of at least 1, in three columns."""
    d = shape - Fraction(1, 3)
    error = 2.0**-30 * (1.0 + float(d))

    def values(x: Numbers) -> Any:  # noqa: ANN401
        centre = x.number(d)
        z = normal(x, 0, 1)[:, 0]
        root = 1 + z / (9 * centre) ** x.number(0.5)
        x.require(root, 2.0**-30)
        x.away_from(np.where(x.refused, 1.0, root), 2.0**-4)
        root = np.where(x.refused, 1.0, root)
        cube = root * root * root
        spare = z * z / 2 + centre - centre * cube + 3 * centre * np.log(root)
        x.require(spare + x.exponential(slice(2, 3))[:, 0], error)
        return centre * cube

    return Sampler(3, values)


def _truncated(noise: RadialNoise) -> Sampler:
    """K-norm noise with a bound: the layer is min(v + E, w), v the norm of a draw."""
    K = noise.ball.active_dimension
    w = Fraction(noise.bound) / Fraction(noise.scale)
    often = special.gammainc(K, float(w)) >= _OFTEN
    inner = _gamma(Fraction(K)) if often else Sampler(2, _tangent(K, w))

    def values(x: Numbers) -> Any:  # noqa: ANN401
        v, end = inner.values(x), x.number(w)
        x.require(end - v, 2.0**-33 * (1.0 + float(w)))
        more = x.exponential(slice(inner.columns, None))[:, 0]
        return x.number(noise.scale) * x.smaller(v + more, end)

    return Sampler(inner.columns + 1, values)


def _tangent(K: int, w: Fraction) -> Any:  # noqa: ANN401  (a function of numbers)
    """A gamma variate of shape K below w, where most exceed w; for K = 1 by inversion."""
    lam = Fraction(K - 1) / w - 1

    def inverse(x: Numbers) -> Any:  # noqa: ANN401
        end = x.number(w)
        return -np.log1p(np.abs(x.signed[:, 0]) * np.expm1(np.array([-end]))[0])

    def values(x: Numbers) -> Any:  # noqa: ANN401
        end = x.number(w)
        share = 1 - x.exponential(slice(0, 1))[:, 0] / (x.number(lam) * end)
        x.require(share, 2.0**-30)
        x.away_from(np.where(x.refused, 1.0, share), 2.0**-6)
        share = np.where(x.refused, 1.0, share)
        fall = (K - 1) * (np.log(share) - share + 1)
        x.require(fall + x.exponential(slice(1, 2))[:, 0], 2.0**-30 * K)
        return share * end

    return inverse if K == 1 else values


class _Stairs:
    """The radii k + gamma with weights e^(-k epsilon) (k + gamma)^K."""

    def __init__(self, noise: NormStaircase) -> None:
        self.noise = noise
        self.K = noise.ball.active_dimension
        radii, logs = noise._steps  # noqa: SLF001  (tested against the sums of balls below)
        self.radii, self.cumulated = radii, np.cumsum(np.exp(logs))
        largest = self.K * np.max(np.abs(np.log(radii))) + noise.epsilon * radii[-1]
        # Of sums of exponentials, added up one after another.
        self.error = _ROUNDING * (64.0 + float(largest)) + _SUMMING * radii.size

    def values(self, x: Numbers) -> Any:  # noqa: ANN401
        """T, by the first k whose cumulated share exceeds a uniform number."""
        if isinstance(x, Balls):
            k = self._exactly((x.signed[0, 0] + 1) / 2, x.bits)
            return np.array([k + ball(self.noise.gamma)], dtype=object)
        u = 0.5 * (x.signed[:, 0] + 1.0)
        place = np.searchsorted(self.cumulated, u)
        last = self.radii.size - 1
        near = [np.abs(self.cumulated[np.clip(place - i, 0, last)] - u) for i in (0, 1)]
        x.doubt |= (np.minimum(*near) < self.error) | (place >= last)
        return self.radii[np.minimum(place, last)]

    def _exactly(self, u: Any, bits: int) -> int:  # noqa: ANN401
        """The same in balls: sums until what is left is below 2^-bits of the total."""
        gamma, b = ball(self.noise.gamma), (-ball(self.noise.epsilon)).exp()
        sums, k, fall = [arb(0)], 0, arb(1)
        while True:
            sums.append(sums[-1] + fall * (k + gamma) ** self.K)
            k, fall = k + 1, fall * b
            ratio = b * (1 + 1 / (k + gamma)) ** self.K
            if ratio < 1:
                rest = fall * (k + gamma) ** self.K / (1 - ratio)  # of a geometric series
                if rest < sums[-1] * arb((1, -bits)):
                    break
        total = sums[-1].union(sums[-1] + rest)
        low, high = 0, len(sums) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if u * total < sums[middle]:
                high = middle
            elif u * total > sums[middle]:
                low = middle
            else:
                raise UndecidedError
        if not (u * total < sums[high] and (low == 0 or u * total > sums[low])):
            raise UndecidedError
        return low
