"""Noise and mechanisms for answers that are integers: on the integers, or real noise rounded.

Discrete Laplace, Gaussian and staircase noise has to hide the integers among the differences only
(`dpnoise.privacy.integer_sets`). Coordinates of a set that share one bound have the same noise.
Scales of different ones are allocated like those of continuous noise, by the largest l1 norm or sum
of squares of these integers; with delta all of them are multiplied by one factor, the smallest at
which the account of the discrete noise is seen to keep the budget.

Every mechanism for real answers gives one for integers: its noise, rounded.

**Rounding.** For a value v that is an integer, v + Z rounded is v plus Z rounded: a function of v +
Z, hence as private as Z is (post-processing). With S(x) = P(|Z_i| > x) the rounded noise has

    E round(Z_i)^2 = sum over k >= 0 of (2 k + 1) S(k + 1/2),   E|round(Z_i)| = sum S(k + 1/2).

All noise of the package has marginals that fall with |z|, mixtures of uniform distributions on [-a,
a] (Khinchine), whose second moment rises by rounding by between -1/12 and 0.175; so does that of
the mixture. On average over a it is 1/12 (Sheppard).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dpnoise._validation import draws, points
from dpnoise.allocation.scales import closed_form_scales
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.integers import certified_on_parts, scale_for_points, staircase_for_steps
from dpnoise.joint.base import JointNoise, VectorNoise
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.mechanisms.methods import DELTA_USED, LITTLE, MOST_KINDS, UP, shared_epsilon
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.mechanisms.request import Found, Method
from dpnoise.mechanisms.summed import cells_summed
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import (
    MAX_BETA,
    MAX_SIGMA,
    MIN_BETA,
    MIN_SIGMA,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    best_r,
)
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.accounts import equal_share
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.integer_sets import listed_points
from dpnoise.privacy.odometer.releases import integer_ledger, ledger_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.joint.base import RealVectorNoise, Seed, Size
    from dpnoise.mechanisms.request import Request
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.integer_sets import IntegerPart
    from dpnoise.privacy.odometer.ledger import Ledger
    from dpnoise.sensitivity.base import Sensitivity

_SHEPPARD = 1.0 / 12.0
# Standard deviations of joint noise from which on Sheppard's correction is used; densities with
# steps are farther from it.
_WIDE, _WIDE_STEPS = 2.0, 30.0
_MOST_TERMS = 20_000  # of the sum for independent noise; beyond, Sheppard's correction
_TINIEST = 1e-18  # probability at which the sum ends
_FEW = 1000  # draws of a sample that do not round to 0
_NARROW_DRAWS, _NARROW_SEED = 2**21, 20261  # entries of a sample of narrow joint noise


@dataclass(frozen=True)
class IntegerVector(VectorNoise):
    """Independent noise on the integers, of one distribution for each coordinate.

    Parameters
    ----------
    noises : tuple of IntegerNoise, length K
        The noise of each coordinate.
    """

    noises: tuple[IntegerNoise, ...]

    whole = True

    def __repr__(self) -> str:
        """The noise, once if all coordinates have the same."""
        alike = len(set(self.noises)) == 1
        shown = f"{self.noises[0]!r}" if alike else f"{len(set(self.noises))} different"
        return f"IntegerVector({shown}, dimension={self.dimension})"

    @cached_property
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

    def parts(self) -> Iterator[tuple[IntArray, Any, Array]]:
        """The coordinates of each distribution."""
        return ((at, noise, np.ones(at.size)) for noise, at in self._groups.items())

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
class RoundedNoise(VectorNoise):
    """Noise for a vector of integers, rounded to integers.

    Parameters
    ----------
    real : RealVectorNoise
        The noise before rounding, which the guarantee is about.
    """

    real: RealVectorNoise

    whole = True

    def __repr__(self) -> str:
        """The noise before rounding."""
        return f"RoundedNoise({self.real!r})"

    @cached_property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.real.dimension

    @property
    def certified(self) -> RealVectorNoise:
        """What `certify` and `Budget.spend` count: the noise before rounding."""
        return self.real

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What the noise before rounding costs, for a set; None if that is not known."""
        return ledger_in(self.real, ball)

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

    def mean_abs(self) -> Array:
        """E|X_i| before rounding, which lowers it a little, shape (K,).

        A sum of a convex tail at midpoints is below its integral.
        """
        return self.real.mean_abs()

    def half_width(self, level: float = 0.95) -> Array:
        """The least integers h_i known to have P(|X_i| <= h_i) >= level, shape (K,)."""
        return self._around(self.real.half_width(level))

    def upper_half_width(self, level: float) -> Array:
        """The same from upper bounds for the real noise."""
        return self._around(self.real.upper_half_width(level))

    def _around(self, width: Array) -> Array:
        """The half-widths of rounded noise: |Z| <= k + 1/2 rounds to at most k."""
        return np.maximum(np.ceil(width - 0.5), 0.0)

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
    keys = np.stack([noise.kinds.astype(float), plain])
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


_FEW_POINTS = 16  # maximal ones, times parts, for which a search takes tenths of a second
_NARROWEST, _WIDEST = 0.05, 20.0  # factors over the scales of continuous noise


def _vector(request: Request, noises: Sequence[IntegerNoise]) -> Found:
    """The noise of each part on its coordinates, certified."""
    parts = request.integer_parts
    delta, _ = certified_on_parts(noises, parts, request.epsilon, request.delta)
    each: list[IntegerNoise | None] = [None] * request.dimension
    for part, noise in zip(parts, noises, strict=True):
        for k in part.at.tolist():
            each[k] = noise
    return Found(IntegerVector(tuple(noise for noise in each if noise is not None)), delta)


def _weights(request: Request) -> Array:
    """The sum of the weights of each part."""
    return np.array([float(np.sum(request.weights[part.at])) for part in request.integer_parts])


def _pure_betas(request: Request) -> Array:
    """Scales of discrete Laplace noise of each part with delta = 0; infinite without epsilon."""
    sizes = np.array([float(part.steps()) for part in request.integer_parts])
    if request.epsilon == 0.0:
        return np.full(sizes.shape, math.inf)
    shares = _pure_shares(request, lambda part, share: DiscreteLaplace(_beta(part, share)))
    pairs = zip(request.integer_parts, shares, strict=True)
    return np.array([_beta(part, share) for part, share in pairs])


def _beta(part: IntegerPart, share: float) -> float:
    """The scale of discrete Laplace noise with a share of epsilon for a part, rounded up."""
    exact = part.steps() / Fraction(share)
    return max(as_double_above(exact), MIN_BETA)


def _pure_shares(
    request: Request, noise: Callable[[IntegerPart, float], IntegerNoise]
) -> list[float]:
    """Shares of epsilon of the parts, of nearly the least error of noise by part and share."""
    power = 1 if request.error == "mean-abs" else 2
    kinds: dict[tuple[int, ...], list[int]] = {}
    weights = _weights(request)
    for k, (part, weight) in enumerate(zip(request.integer_parts, weights.tolist(), strict=True)):
        kinds.setdefault((*part[1:], part.at.size, round(weight, 9)), []).append(k)

    def cost_of(k: int) -> Callable[[float], float]:
        part, weight = request.integer_parts[k], float(weights[k])

        def cost(share: float) -> float:
            one = noise(part, share)
            return weight * (one.var() if power == 2 else one.mean_abs())

        return cost

    first = [some[0] for some in kinds.values()]
    if len(first) <= MOST_KINDS:
        counts = np.array([float(len(some)) for some in kinds.values()])
        each = shared_epsilon(request.epsilon, counts, [cost_of(k) for k in first])
        found = dict(zip(kinds, each, strict=True))
        pairs = sorted((k, found[kind]) for kind in kinds for k in kinds[kind])
        return [share for _, share in pairs]
    sizes = np.array([float(part.steps()) for part in request.integer_parts])
    unit = UP / request.epsilon
    scales = closed_form_scales(sizes * UP, "optimal", 1.0, request.power, weights, unit)
    return (sizes / scales).tolist()


def discrete_laplace(request: Request) -> Found | None:
    """Discrete Laplace noise with delta = 0."""
    if request.epsilon == 0.0:
        return None
    return _vector(request, [DiscreteLaplace(beta) for beta in _pure_betas(request).tolist()])


def discrete_laplace_with_delta(request: Request) -> Found | None:
    """Discrete Laplace noise that uses delta."""
    if request.delta == 0.0 or listed_points(request.integer_parts) is None:
        return None
    budget = max(request.epsilon, request.delta)
    betas = _pure_betas(replace(request, epsilon=budget))
    found = _scaled(request, DiscreteLaplace, betas, (MIN_BETA, MAX_BETA))
    return _vector(request, found)


def discrete_gaussian(request: Request) -> Found | None:
    """Discrete Gaussian noise, which uses delta."""
    if request.delta == 0.0:
        return None
    sizes = np.sqrt([float(part.squares) for part in request.integer_parts])
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    scales = closed_form_scales(sizes, "optimal", 2.0, request.power, _weights(request), unit)
    return _vector(request, _scaled(request, DiscreteGaussian, scales, (MIN_SIGMA, MAX_SIGMA)))


def _scaled(
    request: Request,
    kind: Callable[[float], IntegerNoise],
    scales: Array,
    limits: tuple[float, float],
) -> list[IntegerNoise]:
    """Noise of the parts, its scales multiplied by the smallest factor that keeps the budget."""

    def at(factor: float) -> list[IntegerNoise]:
        return [kind(min(max(factor * x, limits[0]), limits[1])) for x in scales.tolist()]

    goal = request.epsilon, request.delta
    factor = scale_for_points(at, request.integer_parts, goal, (_NARROWEST, _WIDEST), 1.0)
    if factor == math.inf:
        name = type(at(1.0)[0]).__name__
        message = f"no scales of {name} noise were seen to keep the budget"
        raise RuntimeError(message)
    return at(factor)


def discrete_staircase(request: Request) -> Found | None:
    """Discrete staircase noise with delta = 0; None where all steps would be of width 1.

    Then it is discrete Laplace noise.
    """
    parts = request.integer_parts
    if request.epsilon == 0.0 or all(part.largest == 1 for part in parts):
        return None
    power = 1 if request.error == "mean-abs" else 2
    make = partial(_staircase, power=power)
    noises = list(map(make, parts, _pure_shares(request, make)))
    wide = any(one.sensitivity > 1 for one in noises)
    return _vector(request, noises) if wide else None


def _staircase(part: IntegerPart, share: float, *, power: int) -> DiscreteStaircase:
    """Discrete staircase noise with a share of epsilon for a part.

    Where any coordinates can change by the most together, steps are best as wide as that.
    """
    if part.power == 2 or (part.power == 1 and part.at_once < part.at.size):
        return staircase_for_steps(part, share)
    each = equal_share(share, part.steps(part.largest))
    return DiscreteStaircase(each, part.largest, best_r(each, part.largest, power))


def laplace_hardly_gains(request: Request) -> bool:
    """Whether delta takes less than 1e-4 off the variance of discrete Laplace noise, or long.

    All n coordinates that move have the largest loss L together with a probability of 2^-n at
    least, so that delta >= 2^-n (1 - exp(epsilon - L)).
    """
    share = min(math.ldexp(request.delta, min(request.moved, 1000)), 0.5)
    return -2.0 * math.log1p(-share) < LITTLE * request.epsilon or many_points(request)


def many_points(request: Request) -> bool:
    """Whether the set has so many maximal integer points that a search takes a second or more."""
    parts = request.integer_parts
    points = listed_points(parts)
    many = points is not None and len(points) * len(parts) > _FEW_POINTS
    return request.delta > 0.0 and many


def staircase_with_delta(request: Request) -> Found | None:
    """Discrete staircase noise that uses delta, where all coordinates change by as much.

    With steps of width 1 it is discrete Laplace noise, which has a search of its own.
    """
    sizes = {part.largest for part in request.integer_parts}
    if request.delta == 0.0 or len(sizes) > 1 or sizes == {1}:
        return None
    found = calibrate(
        "discrete-staircase",
        epsilon=request.epsilon,
        delta=request.delta,
        sensitivity=sizes.pop(),
        dimension=request.moved,
    )
    return _vector(request, [cast("IntegerNoise", found.noise)] * len(request.integer_parts))


def moves_several(request: Request) -> bool:
    """Whether several coordinates move at once, so that delta is spent by a search."""
    return request.delta > 0.0 and request.moved > 1


_CANONNE = "Canonne, Kamath & Steinke 2020"
_GENG, _GHOSH = Staircase.source, "Ghosh, Roughgarden & Sundararajan 2009"

# For answers that are integers.
INTEGER_METHODS = (
    Method("discrete Laplace", "laplace", _GHOSH, discrete_laplace),
    Method("discrete staircase", "staircase", _GENG, discrete_staircase),
    Method(
        "discrete Gaussian", "gaussian", _CANONNE, discrete_gaussian, many_points, (Gaussian.title,)
    ),
    Method(
        "discrete Laplace, delta used",
        "laplace",
        _GHOSH,
        discrete_laplace_with_delta,
        laplace_hardly_gains,
        (DELTA_USED.format(Laplace.title),),
    ),
    Method(
        "discrete staircase, delta used", "staircase", _GENG, staircase_with_delta, moves_several
    ),
)

# For linear questions with whole numbers.
SUMMED_METHODS = (
    Method(
        "discrete cells, summed",
        "cells",
        _CANONNE,
        partial(cells_summed, kinds=(discrete_gaussian, discrete_laplace)),
    ),
)
