"""Noise for vectors of integers: independent integers, and real noise rounded to integers.

Both have the methods of `dpnoise.mechanisms.vector_noise`; moments have shape (K,).

Rounding. For a value v that is an integer, v + Z rounded is v plus Z rounded: a function of v + Z,
hence as private as Z is (post-processing). With S(x) = P(|Z_i| > x) the rounded noise has

    E round(Z_i)^2 = sum over k >= 0 of (2 k + 1) S(k + 1/2),   E|round(Z_i)| = sum S(k + 1/2).

All noise of the package has marginals that fall with |z|, mixtures of uniform distributions on
[-a, a] (Khinchine), whose second moment rises by rounding by between -1/12 and 0.175; so does that
of the mixture. On average over a it is 1/12 (Sheppard).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.joint.noise import JointNoise, NormStaircase, RadialNoise
from dpnoise.mechanisms.parts import coordinate_kinds
from dpnoise.mechanisms.vector_noise import BlockNoise, IndependentNoise
from dpnoise.noise._arrays import draws, points
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.staircase import Staircase
from dpnoise.privacy.odometer.in_set import integer_ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.mechanisms.vector_noise import RealVectorNoise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.odometer.ledger import Ledger
    from dpnoise.sensitivity.base import Sensitivity

    Seed = int | np.random.Generator | None
    Size = int | tuple[int, ...] | None

_SHEPPARD = 1.0 / 12.0
# Standard deviations of joint noise from which on Sheppard's correction is used; densities with
# steps are farther from it.
_WIDE, _WIDE_STEPS = 2.0, 30.0
_MOST_TERMS = 20_000  # of the sum for independent noise; beyond, Sheppard's correction
_TINIEST = 1e-18  # probability at which the sum ends
_FEW = 1000  # draws of a sample that do not round to 0
_DRAWS, _SEED = 2**21, 20261  # entries of a sample of narrow joint noise


@dataclass(frozen=True)
class IntegerVector:
    """Independent noise on the integers, of one distribution for each coordinate.

    Parameters
    ----------
    noises : tuple of IntegerNoise, length K
        The noise of each coordinate.
    """

    noises: tuple[IntegerNoise, ...]

    def __repr__(self) -> str:
        """The noise, once if all coordinates have the same."""
        alike = len(set(self.noises)) == 1
        shown = f"{self.noises[0]!r}" if alike else f"{len(set(self.noises))} different"
        return f"IntegerVector({shown}, dimension={self.dimension})"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return len(self.noises)

    @property
    def certified(self) -> IntegerNoise | tuple[IntegerNoise, ...]:
        """What `certify` and `Budget.spend` count: one noise where all are the same."""
        return self.noises[0] if len(set(self.noises)) == 1 else self.noises

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set of integers; None if that is not known."""
        return integer_ledger(self.noises, ball)

    @cached_property
    def _groups(self) -> dict[IntegerNoise, IntArray]:
        """The coordinates of each distribution."""
        places: dict[IntegerNoise, list[int]] = {}
        for k, noise in enumerate(self.noises):
            places.setdefault(noise, []).append(k)
        return {noise: np.array(some) for noise, some in places.items()}

    def _each(self, value: Callable[[IntegerNoise], float]) -> Array:
        """A number of each coordinate, shape (K,)."""
        found = np.empty(self.dimension)
        for noise, at in self._groups.items():
            found[at] = value(noise)
        return found

    def rvs(self, size: Size = None, random_state: Seed = None) -> WordArray:
        """Independent vectors of integers, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        found = np.empty((*lead, self.dimension), dtype=np.int64)
        for noise, at in self._groups.items():
            found[..., at] = noise.rvs((*lead, at.size), rng)
        return found

    def logpmf(self, k: ArrayLike) -> Array:
        """The log probability of vectors `k`, shape (..., K), of shape (...)."""
        k = points(self, "k", k)
        each = [np.sum(noise.logpmf(k[..., at]), axis=-1) for noise, at in self._groups.items()]
        return np.sum(each, axis=0)[()]

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self._each(lambda noise: noise.var())

    def mean_abs(self) -> Array:
        """E|X_i|, shape (K,)."""
        return self._each(lambda noise: noise.mean_abs())

    def half_width(self, level: float = 0.95) -> Array:
        """The least integers h_i with P(|X_i| <= h_i) >= level, shape (K,)."""
        return self._each(lambda noise: float(noise.isf(0.5 * (1.0 - level))))


@dataclass(frozen=True, eq=False)
class RoundedNoise:
    """Noise for a vector of integers, rounded to integers.

    Parameters
    ----------
    real : RealVectorNoise
        The noise before rounding, which the guarantee is about.
    """

    real: RealVectorNoise

    def __repr__(self) -> str:
        """The noise before rounding."""
        return f"RoundedNoise({self.real!r})"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.real.dimension

    @property
    def certified(self) -> RealVectorNoise:
        """What `certify` and `Budget.spend` count: the noise before rounding."""
        return self.real

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What the noise before rounding costs, for a set; None if that is not known."""
        return self.real.spending_in(ball)

    def rvs(self, size: Size = None, random_state: Seed = None) -> WordArray:
        """Independent vectors of integers, shape (*size, K); arguments as for `Noise.rvs`."""
        return np.rint(self.real.rvs(size, random_state)).astype(np.int64)

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,).

        Exact for independent noise of standard deviations up to some hundred. Else that of the
        noise before rounding and 1/12, proved to be off by at most 1/6; of narrow joint noise
        (standard deviations below 2, or below 30 with steps) estimated from a sample with a fixed
        seed, to about 0.1 %, and from above where hardly a draw rounds to anything but 0.
        """
        return self._variance

    @cached_property
    def _variance(self) -> Array:
        return _rounded_variance(self.real)


def _rounded_variance(noise: RealVectorNoise) -> Array:
    """E round(X_i)^2, shape (K,)."""
    if isinstance(noise, BlockNoise):
        return noise.per_coordinate(_rounded_variance)
    plain = noise.var()
    if isinstance(noise, IndependentNoise):
        scales, which = np.unique(noise.scales, return_inverse=True)
        each = np.array([_second_moment(noise, scale) for scale in scales.tolist()])
        return each[which]
    sheppard = np.where(plain > 0.0, plain + _SHEPPARD, 0.0)
    if not isinstance(noise, JointNoise):
        return sheppard
    number = _of_one_number(noise)
    if number is not None:
        return _rounded_variance(number)
    wide = _WIDE if isinstance(noise, RadialNoise) else _WIDE_STEPS
    narrow = (plain > 0.0) & (plain < wide**2)
    return np.where(narrow, _estimated(noise, plain), sheppard) if narrow.any() else sheppard


def _of_one_number(noise: JointNoise) -> IndependentNoise | None:
    """K-norm or staircase noise of a single coordinate as Laplace or staircase noise."""
    if noise.dimension > 1:
        return None
    scale = noise.ball.box
    if isinstance(noise, NormStaircase):
        return IndependentNoise(Staircase(noise.epsilon, 1.0, noise.gamma), scale)
    if isinstance(noise, RadialNoise) and noise.power == 1.0 and noise.bound == math.inf:
        return IndependentNoise(Laplace(noise.scale), scale)
    return None


def _estimated(noise: JointNoise, plain: Array) -> Array:
    """E round(X_i)^2 from a sample, by regression on X_i^2, whose mean is known; shape (K,)."""
    x = noise.rvs(max(_DRAWS // noise.dimension, 2**10), _SEED)
    keys = np.stack([coordinate_kinds(noise.ball).astype(float), plain])
    groups, which = np.unique(keys, axis=1, return_inverse=True)
    found = np.zeros(plain.shape)
    for k in range(groups.shape[1]):  # coordinates that are distributed alike
        square = x[:, which == k].ravel() ** 2
        whole = np.rint(np.sqrt(square)) ** 2
        spread = float(np.mean((square - np.mean(square)) ** 2))
        joint = float(np.mean((square - np.mean(square)) * whole))
        slope = joint / spread if spread > 0.0 else 0.0
        rise = slope * (groups[1, k] - float(np.mean(square)))
        moved = int(np.count_nonzero(whole))
        if moved < _FEW:  # too few for a mean: an upper limit, three standard deviations and three
            rise = (3.0 + 3.0 * math.sqrt(moved)) / whole.size
        found[which == k] = float(np.mean(whole)) + rise
    return found


def _second_moment(noise: IndependentNoise, scale: float) -> float:
    """E round(X)^2 of a coordinate of a scale, by the tail; 0 where there is no noise."""
    unit = noise.unit
    plain = scale * (scale * unit.var())
    if scale == 0.0:
        return 0.0
    end = scale * float(unit.isf(_TINIEST))
    if not end < _MOST_TERMS:
        return plain + _SHEPPARD
    k = np.arange(math.ceil(end) + 1.0)
    return float(np.sum((2.0 * k + 1.0) * 2.0 * unit.sf((k + 0.5) / scale)))
