"""Noise for vectors: independent coordinates, independent blocks, integers, and real noise rounded.

All have the methods of `dpnoise.joint.noise.JointNoise`; moments have shape (K,). A coordinate that
cannot change gets no noise.

**Rounding.** For a value v that is an integer, v + Z rounded is v plus Z rounded: a function of v +
Z, hence as private as Z is (post-processing). With S(x) = P(|Z_i| > x) the rounded noise has

    E round(Z_i)^2 = sum over k >= 0 of (2 k + 1) S(k + 1/2),   E|round(Z_i)| = sum S(k + 1/2).

All noise of the package has marginals that fall with |z|, mixtures of uniform distributions on [-a,
a] (Khinchine), whose second moment rises by rounding by between -1/12 and 0.175; so does that of
the mixture. On average over a it is 1/12 (Sheppard).

**Privacy of blocks** (`bounds_in`). All Gaussian blocks are one quadratic form of the difference,
whose largest value over the set gives their delta_G exactly; the pure losses of the others add up
to at most epsilon_1. All of them have delta >= delta_G(epsilon), by leaving the others out, and
delta <= p delta_G(epsilon - epsilon_1) + (1 - p) delta_G(epsilon + epsilon_1), p = 1 / (1 +
exp(-epsilon_1)), by randomized response (docs/certificates.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dpnoise._results import EqualByValue
from dpnoise._validation import draws, points
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import JointNoise, NormStaircase, RadialNoise
from dpnoise.mechanisms.request import coordinate_kinds
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.accounts import (
    ERROR,
    GAUSSIAN,
    RESPONSE,
    Bounds,
    Independent,
    gaussian_delta,
    loss_in,
)
from dpnoise.privacy.integer_sets import PURE
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.odometer.releases import independent_ledger, integer_ledger
from dpnoise.privacy.profile import response_delta
from dpnoise.sensitivity.mean_largest import mean_of_largest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.sensitivity.base import Sensitivity

    Seed = int | np.random.Generator | None
    Size = int | tuple[int, ...] | None


class VectorNoise(Protocol):
    """Distribution of vectors of K coordinates."""

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array | WordArray:
        """Independent random vectors, shape (*size, K)."""

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set; None if that is not known."""


class RealVectorNoise(VectorNoise, Protocol):
    """Distribution of vectors of K real numbers."""

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K)."""

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density in the coordinates with noise."""


@dataclass(frozen=True, eq=False)
class IndependentNoise(EqualByValue):
    """Independent noise of one shape, by coordinate as wide as `scales`.

    Parameters
    ----------
    unit : Noise
        The noise of a coordinate of scale 1.
    scales : numpy.ndarray, shape (K,)
        The scales; 0 for no noise.
    """

    unit: Noise
    scales: Array

    def __repr__(self) -> str:
        """The noise and the range of its scales."""
        low, high = float(np.min(self.scales)), float(np.max(self.scales))
        scales = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        return f"IndependentNoise({self.unit!r}, scales={scales}, dimension={self.dimension})"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.scales.size

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set; None if that is not known."""
        return independent_ledger(self.unit, self.scales, ball)

    def in_set(self, ball: Sensitivity) -> Independent:
        """The account of the coordinates for a set."""
        return Independent(self.unit, ball, self.scales)

    def loss_in(self, ball: Sensitivity) -> Fraction | float:
        """An upper bound on the privacy loss for a set, infinite where none is known."""
        return self.in_set(ball).loss

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        return self.in_set(ball).bounds(epsilon)

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        return self.scales * self.unit.rvs((*lead, self.dimension), rng)

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        x = points(self, "x", x)
        some = self.scales > 0.0
        outside = np.any(x[..., ~some] != 0.0, axis=-1)
        each = self.unit.logpdf(x[..., some] / self.scales[some]) - np.log(self.scales[some])
        return np.where(outside, -np.inf, np.sum(each, axis=-1))[()]

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            return self.scales * (self.scales * self.unit.var())

    def mean_abs(self) -> Array:
        """E|X_i|, shape (K,)."""
        return self.scales * self.unit.mean_abs()

    def mean_largest(self, weights: Array) -> float:
        """E max w_i |X_i|."""
        scales = weights * self.scales
        if np.count_nonzero(scales) == 1:
            return float(np.max(scales)) * self.unit.mean_abs()
        return mean_of_largest(lambda t: 2.0 * self.unit.sf(t), scales)

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, shape (K,)."""
        return self.scales * float(self.unit.isf(0.5 * (1.0 - level)))


RESPONSE_AND_GAUSSIAN = "randomized response and Gaussian profile"
_SCALES: dict[type, str] = {Gaussian: "sigma", Laplace: "beta"}  # of blocks that one form describes


class _Sums(NamedTuple):
    """What blocks add up to: the squared mu of all Gaussian ones, the loss of all others."""

    square: Fraction
    loss: Fraction | float
    attained: bool  # whether one difference has this mu


def _is_factor(ball: Sensitivity, at: IntArray) -> bool:
    """Whether coordinates are those of a factor of a product, which moves by itself."""
    spans = [(first, first + factor.dimension) for first, factor in ball.factors()]
    return (int(at[0]), int(at[-1]) + 1) in spans and bool(np.all(np.diff(at) == 1))


def beside_response(below: Array, above: Array, spent: Array) -> Array:
    """Upper bound on delta beside randomized response of loss `spent`, rounding included.

    `below` and `above` are upper bounds on delta of the other noise at epsilon less and plus it.
    """
    p = 1.0 / (1.0 + np.exp(-spent))
    return (p * below + (1.0 - p) * above) * (1.0 + ERROR)


@dataclass(frozen=True, eq=False)
class BlockNoise(EqualByValue):
    """Independent noise for blocks of coordinates, each with a joint distribution of its own.

    Parameters
    ----------
    blocks : tuple of (numpy.ndarray, VectorNoise)
        Which coordinates a block has, and its noise.
    dimension : int
        The number K of all coordinates; those in no block get no noise.
    """

    blocks: tuple[tuple[IntArray, RealVectorNoise], ...]
    dimension: int

    def __repr__(self) -> str:
        """The sizes of the blocks."""
        sizes = [indices.size for indices, _ in self.blocks]
        return f"BlockNoise(sizes={sizes}, dimension={self.dimension})"

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set: all blocks together; None if not known."""
        covered = np.zeros(self.dimension, dtype=bool)
        for indices, _ in self.blocks:
            covered[indices] = True
        if ball.dimension != self.dimension or bool(np.any(ball.active & ~covered)):
            message = f"budget: noise: expected some for each coordinate of {ball!r}, got {self!r}"
            raise ValueError(message)
        total, more = Ledger(), set()
        for indices, noise in self.blocks:
            part = noise.spending_in(ball.geometry.restricted(indices.tolist()))
            if part is None:
                return None
            total = total.plus(part, 1)
            more |= {part.counted_as} - {""}
        return replace(total, counted_as=" and ".join(sorted(more)))

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        x = np.zeros((*lead, self.dimension))
        for indices, noise in self.blocks:
            x[..., indices] = noise.rvs(lead, rng)
        return x

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        x = points(self, "x", x)
        rest = np.setdiff1d(np.arange(self.dimension), np.concatenate([i for i, _ in self.blocks]))
        total = np.where(np.any(x[..., rest] != 0.0, axis=-1), -np.inf, 0.0)
        for indices, noise in self.blocks:
            total = total + noise.logpdf(x[..., indices])
        return total[()]

    def _sums_in(self, ball: Sensitivity) -> _Sums:
        """The sums over blocks; ValueError if a coordinate that can change is in none."""
        active = ball.active
        bare = active.copy()
        for at, _ in self.blocks:
            bare[at] = False
        if bare.any():
            expected = "expected some for each coordinate that can change"
            message = f"noise: {expected}, got none for coordinate {int(np.argmax(bare))}"
            raise ValueError(message)
        loss: Fraction | float = Fraction(0)
        correlated, attained = Fraction(0), True
        weights = {name: [Fraction(0)] * ball.dimension for name in _SCALES.values()}
        for at, part in self.blocks:
            if not active[at].any():
                continue
            inner = ball.restricted(at.tolist())
            if isinstance(part, CorrelatedGaussian):
                correlated += part.squared_mu_in(inner)
                attained &= _is_factor(ball, at) and part.ball.is_exact_for(inner)
                continue
            name = _SCALES.get(type(getattr(part, "unit", None)))
            if name is not None and isinstance(part, IndependentNoise):
                each = part.in_set(inner).each_weight(name)
                for k, weight in zip(at.tolist(), each, strict=True):
                    weights[name][k] = weight
            else:
                more = loss_in(part, inner)
                loss = math.inf if math.inf in (loss, more) else Fraction(loss) + Fraction(more)
        square = ball.largest_power_sum(weights["sigma"], 2) + correlated
        loss += ball.largest_power_sum(weights["beta"], 1)
        return _Sums(square, loss, attained and ball.attains)

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        square, loss, attained = self._sums_in(ball)
        if square == 0:
            return Bounds(0.0, response_delta(loss, epsilon), PURE if loss <= epsilon else RESPONSE)
        lower, upper = gaussian_delta(square, epsilon)
        lower = lower if attained else 0.0
        if loss == 0:
            return Bounds(lower, upper, GAUSSIAN)
        if loss == math.inf:
            return Bounds(lower, 1.0, RESPONSE_AND_GAUSSIAN)
        spent = as_double_above(loss)
        below = -as_double_above(-(Fraction(epsilon) - Fraction(spent)))
        above = -as_double_above(-(Fraction(epsilon) + Fraction(spent)))
        first, second = (np.asarray(gaussian_delta(square, x)[1]) for x in (below, above))
        upper = min(float(beside_response(first, second, np.asarray(spent))), 1.0)
        return Bounds(min(lower, upper), upper, RESPONSE_AND_GAUSSIAN)

    def per_coordinate(self, moment: Callable[[RealVectorNoise], Array]) -> Array:
        """A moment of each coordinate, shape (K,), from those of the blocks."""
        values = np.zeros(self.dimension)
        for indices, noise in self.blocks:
            values[indices] = moment(noise)
        return values

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.per_coordinate(lambda noise: noise.var())


_SHEPPARD = 1.0 / 12.0
# Standard deviations of joint noise from which on Sheppard's correction is used; densities with
# steps are farther from it.
_WIDE, _WIDE_STEPS = 2.0, 30.0
_MOST_TERMS = 20_000  # of the sum for independent noise; beyond, Sheppard's correction
_TINIEST = 1e-18  # probability at which the sum ends
_FEW = 1000  # draws of a sample that do not round to 0
_NARROW_DRAWS, _NARROW_SEED = 2**21, 20261  # entries of a sample of narrow joint noise


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
    x = noise.rvs(max(_NARROW_DRAWS // noise.dimension, 2**10), _NARROW_SEED)
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
