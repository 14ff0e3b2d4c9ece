"""How each mechanism of `best` finds its noise: independent, joint, or on the integers.

**Independent coordinates.** Gaussian noise keeps the budget if and only if sum (d_i / sigma_i)^2 <=
mu^2 for every difference d, Laplace noise with delta = 0 if and only if sum |d_i| / beta_i <=
epsilon. Over a product of sets both sums are largest block by block. Within a block that is no box
all scales are equal, so that the block counts like one coordinate of sensitivity Delta_2 or Delta_1
and of the weight of all its coordinates; the best scales have a closed form
(`dpnoise.allocation.closed_forms`). With equal weights nothing is lost: permutations of coordinates
map each block to itself, and the inverse squared (or inverse) scales that keep the budget form a
convex set. In an ellipsoid the Gaussian's scales are proportional to the axes, which all of them
need.

The other families are calibrated for the box around the set, with scales proportional to its sides.

**Joint noise**, in the norm of the set, or in that of an ellipsoid around it.

**Correlated Gaussian noise**, in the least ellipsoid around each part of the set. Noise of
covariance sigma^2 M keeps a budget with mu = 1 / sigma if the ellipsoid of M holds the set. The
trace of M is the mean square error, so that the ellipsoid with the least sum of squared axes is the
best one (docs/joint-noise.md, section 10). Over a product of sets the best covariance has a block
for each factor, as -d is a difference with d; the factors share mu^2 as independent coordinates do.

**Answers that are integers**: independent integer noise, and rounded real noise.

Discrete Laplace, Gaussian and staircase noise has to hide the integer points of the set only
(`dpnoise.privacy.integer_sets`). Coordinates of a set that share one bound have the same noise.
Scales of different ones are allocated like those of continuous noise, by the largest l1 norm or sum
of squares of their integer points; with delta all of them are multiplied by one factor, the
smallest at which the account of the discrete noise is seen to keep the budget.

Every mechanism for real answers gives one for integers: its noise, rounded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from dpnoise._validation import Problems
from dpnoise.allocation.closed_forms import closed_form_scales
from dpnoise.calibration.integers import certified_on_parts, scale_for_points, staircase_for_steps
from dpnoise.joint.calibrate import calibrate_joint, pure_scale
from dpnoise.joint.calibrate import staircase as staircase_in_norm
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import RadialNoise, check_steps
from dpnoise.joint.profile import Uncovered
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise, IntegerVector, RoundedNoise
from dpnoise.mechanisms.request import Found, Method
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import (
    MAX_BETA,
    MAX_SIGMA,
    MIN_BETA,
    MIN_SIGMA,
    DiscreteGaussian,
    DiscreteLaplace,
)
from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.integer_sets import listed_points
from dpnoise.sensitivity.ellipsoid import enclosing_ellipsoid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array, IntArray
    from dpnoise.mechanisms.noise import RealVectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.sensitivity.base import Sensitivity

_UP = 1.0 + 2.0**-45  # covers the rounding of norms in up to 1e8 coordinates, summed in pairs


def _scales(request: Request, sizes: Array, weights: Array, q: float, unit: float) -> Array:
    """Scales s of minimum error with sum (size / s)^q <= unit^-q over the parts, shape (K,)."""
    weights = request.parts.sums(weights)
    sizes = sizes / request.unit * _UP
    found = closed_form_scales(sizes, "optimal", q, request.power, weights, unit)
    return request.parts.spread(found) * (request.unit * _UP)


def gaussian_scales(request: Request, weights: Array, unit: float) -> Array:
    """Scales s of minimum error with sum (l2 / s)^2 <= unit^-2 over the parts, shape (K,)."""
    return _scales(request, request.parts.l2, weights, 2.0, unit)


def gaussian(request: Request) -> Found | None:
    """Gaussian noise by the l2 norms of the parts."""
    if request.delta == 0.0:
        return None
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    shape = request.parts.shape
    weights = request.scale_weights * shape**request.power
    scales = gaussian_scales(request, weights, unit) * shape
    return Found(IndependentNoise(Gaussian(1.0), scales), request.delta)


def laplace(request: Request) -> Found | None:
    """Laplace noise with delta = 0 by the l1 norms of the parts."""
    if request.epsilon == 0.0:
        return None
    unit = _UP / request.epsilon
    scales = _scales(request, request.parts.l1, request.scale_weights, 1.0, unit)
    return Found(IndependentNoise(Laplace(1.0), scales), 0.0)


def staircase(request: Request) -> Found | None:
    """Staircase noise, an equal share of epsilon for each coordinate, with delta = 0."""
    if request.epsilon == 0.0:
        return None
    sides = request.sensitivity.box
    K = int(np.count_nonzero(sides))
    share = request.epsilon / K
    # ends: a few doubles down
    while Fraction(share) * K > Fraction(request.epsilon):
        share = math.nextafter(share, 0.0)
    noise = Staircase(share, 1.0, float(staircase_gamma(share)))
    return Found(IndependentNoise(noise, sides), 0.0)


def calibrated(family: str, request: Request) -> Found | None:
    """Noise of a family, calibrated for the box around the set; None without delta."""
    sides = request.sensitivity.box
    K = int(np.count_nonzero(sides))
    if request.delta == 0.0 or (family == "subbotin" and K > 1):
        return None
    from dpnoise.calibration.calibrate import calibrate  # noqa: PLC0415 - 0.2 s

    found = calibrate(family, epsilon=request.epsilon, delta=request.delta, dimension=K)
    assert isinstance(found.noise, Noise)  # noqa: S101  (no noise on the integers among them)
    return Found(IndependentNoise(found.noise, sides), found.delta)


def histogram(request: Request) -> Found | None:
    """Histogram noise optimised for the number of coordinates, for the box around the set."""
    sides = request.sensitivity.box
    if request.delta == 0.0:
        return None
    from dpnoise.calibration.histogram.calibrate import calibrate_histogram  # noqa: PLC0415 - 0.2 s

    K = int(np.count_nonzero(sides))
    found = calibrate_histogram(epsilon=request.epsilon, delta=request.delta, dimension=K)
    return Found(IndependentNoise(found.noise, sides), found.delta)


def is_searched(family: str, request: Request) -> bool:
    """Whether the calibration of a family takes tenths of a second."""
    several = request.sensitivity.active_dimension > 1
    return several != (family == "subbotin")


FAMILIES = {
    "laplace": ("Laplace, delta used", "Dwork, McSherry, Nissim & Smith 2006"),
    "flipped-huber": ("flipped Huber", "Muthukrishnan & Kalyani 2023"),
    "offset-symmetric-gaussian": ("offset symmetric Gaussian", "Sadeghi & Korki 2022"),
    "truncated-laplace": ("truncated Laplace", "Geng, Ding, Guo & Kumar 2020"),
    "subbotin": ("Subbotin", "Liu 2019"),
    "huber": ("Huber", "Muthukrishnan & Kalyani 2023"),
    "staircase": ("staircase per coordinate, delta used", "Geng & Viswanath 2016"),
}


_LITTLE = 0.999e-4  # relative gain in variance that is not worth a delta
_SMALL_SHARE, _MANY = 3e-6, 60  # delta over epsilon, and coordinates
_SHARE = 0.4  # of the Gaussian's variance: with less, K-norm noise is not beaten by an ellipsoid's


def k_norm_noise(ball: Sensitivity, epsilon: float) -> RadialNoise:
    """K-norm noise that is epsilon-DP for a set."""
    return RadialNoise(ball, pure_scale(epsilon))


def k_norm(request: Request) -> Found | None:
    """K-norm noise with delta = 0."""
    if request.epsilon == 0.0:
        return None
    return Found(k_norm_noise(request.sensitivity, request.epsilon), 0.0)


def hardly_gains(K: int, epsilon: float) -> bool:
    """Whether the staircase in a norm has less than 1e-4 of variance below K-norm noise.

    By a rule that fits what was seen for K from 1 to 1000 (tests/dpnoise/mechanisms/test_joint.py).
    """
    return K >= 5 and epsilon <= min((K + 1.0) / 6.0, 1.2 * math.sqrt(K))


def norm_staircase(request: Request) -> Found | None:
    """Staircase noise in the norm of the set, with delta = 0."""
    if request.epsilon == 0.0:
        return None
    problems = Problems("staircase noise in the norm")
    check_steps(problems, request.sensitivity.active_dimension, request.epsilon)
    problems.raise_if_any()
    return Found(staircase_in_norm(request.sensitivity, request.epsilon, request.order), 0.0)


def in_norm(family: str, request: Request) -> Found | None:
    """Noise of a family that spends delta, in the norm of the set."""
    if request.delta == 0.0:
        return None
    return _calibrated(family, request.sensitivity, request)


def staircase_hardly_gains(request: Request) -> bool:
    """Whether the search for a staircase is not worth its time."""
    return hardly_gains(request.sensitivity.active_dimension, request.epsilon)


def in_ellipsoid(family: str, request: Request) -> Found | None:
    """Noise of a family that spends delta, in the norm of an ellipsoid around the set."""
    if (
        request.delta == 0.0
        or request.sensitivity.is_round
        or request.sensitivity.active_dimension == 1
    ):
        return None
    ball = request.sensitivity.smallest_ellipsoid
    if ball is None or ball.flat:
        return _calibrated(family, enclosing_ellipsoid(request.sensitivity), request)
    return _calibrated(family, ball, request)


def _calibrated(family: str, ball: Sensitivity, request: Request) -> Found:
    """Joint noise calibrated for a set."""
    found = calibrate_joint(family, ball, epsilon=request.epsilon, delta=request.delta)
    return Found(found.noise, found.delta)


def two_parameters_hardly_gain(request: Request) -> bool:
    """Whether a search in two parameters gains less than 1 % of the variance, or takes seconds.

    By a rule that fits what was seen (tests/dpnoise/mechanisms/test_default.py).
    """
    many = request.sensitivity.active_dimension > _MANY
    return request.delta > 0.0 and (many or request.delta < _SMALL_SHARE * request.epsilon)


def truncation_hardly_gains(request: Request) -> bool:
    """Whether a bound on K-norm noise gains little: also where caps cost delta, as in an l2 norm.

    There generalised gamma noise is better.
    """
    solid = not request.sensitivity.flat
    round_set = solid and Uncovered(request.sensitivity).caps
    return two_parameters_hardly_gain(request) or (request.delta > 0.0 and bool(round_set))


def ellipsoid_hardly_gains(request: Request) -> bool:
    """Whether neither an ellipsoid nor a search in two parameters for it is worth its time."""
    return is_unlikely(request) or two_parameters_hardly_gain(request)


def delta_hardly_gains(request: Request) -> bool:
    """Whether delta takes less than 1e-4 off the variance of K-norm noise, by a bound.

    For polytopes delta >= 1 - exp(share (epsilon - 1 / scale)), docs/joint-noise.md.
    """
    if request.delta == 0.0 or request.sensitivity.flat:
        return False
    uncovered = Uncovered(request.sensitivity)
    if uncovered.caps:
        return False
    most = -math.log1p(-request.delta) / min(uncovered.polytopes, default=0.5)
    return 2.0 * most < _LITTLE * request.epsilon


def is_unlikely(request: Request) -> bool:
    """Whether noise without delta is so good that an ellipsoid's has hardly a chance."""
    normal = correlated_gaussian(request) or gaussian(request)
    if normal is None or request.epsilon == 0.0 or request.sensitivity.flat:
        return False
    K = request.sensitivity.active_dimension
    square = (K + 1.0) * (K + 2.0) * request.sensitivity.mean_square / request.epsilon**2
    return request.mean(square) < _SHARE * request.mean(np.asarray(normal.noise.var()))


def correlated_gaussian(request: Request) -> Found | None:
    """Gaussian noise in the least ellipsoids; None where these have the axes of the coordinates."""
    if request.delta == 0.0:
        return None
    parts = request.parts
    found = {first: ball.smallest_ellipsoid for first, ball in parts.blocks.items()}
    smallest = {first: ball for first, ball in found.items() if ball is not None}
    if not smallest:
        return None
    l2 = dict(zip(parts.first.tolist(), parts.l2.tolist(), strict=True))
    shape = parts.shape.copy()
    for first, ball in smallest.items():
        shape[first : first + ball.dimension] = np.sqrt(ball.diagonal) / l2[first]
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    scales = gaussian_scales(request, request.scale_weights * shape**request.power, unit)
    blocks: list[tuple[IntArray, RealVectorNoise]] = []
    rest = request.sensitivity.active.copy()
    for first, ball in smallest.items():
        at = np.arange(first, first + ball.dimension)
        blocks.append((at, CorrelatedGaussian(ball, float(scales[first]) / l2[first])))
        rest[at] = False
    if len(blocks) == 1 and blocks[0][0].size == request.dimension:
        return Found(blocks[0][1], request.delta)
    at = np.flatnonzero(rest)
    if at.size:
        blocks.append((at, IndependentNoise(Gaussian(1.0), scales[at] * parts.shape[at])))
    return Found(BlockNoise(tuple(blocks), request.dimension), request.delta)


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
    if sizes.size == 1:  # the quotient, rounded up
        exact = Fraction(sizes[0]) / Fraction(request.epsilon)
        beta = float(exact)
        beta = beta if Fraction(beta) >= exact else math.nextafter(beta, math.inf)
        return np.array([max(beta, MIN_BETA)])
    scales = closed_form_scales(
        sizes * _UP, "optimal", 1.0, request.power, _weights(request), _UP / request.epsilon
    )
    return np.maximum(scales, MIN_BETA)


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


def discrete_staircase(request: Request, *, narrow: bool = False) -> Found | None:
    """Discrete staircase noise with delta = 0; None where all steps are of width 1.

    With steps of width 1 it is discrete Laplace noise; with `narrow` it is None elsewhere. Each
    part has the share of epsilon that it would have then, and the width that is best for it.
    """
    parts = request.integer_parts
    if request.epsilon == 0.0 or (not narrow and all(part.largest == 1 for part in parts)):
        return None
    noises = []
    for part, beta in zip(parts, _pure_betas(request).tolist(), strict=True):
        exact = part.steps() / Fraction(beta)
        share = float(exact)
        share = math.nextafter(share, 0.0) if Fraction(share) > exact else share
        noises.append(staircase_for_steps([part], share))
    ones = all(one.sensitivity == 1 for one in noises)
    return _vector(request, noises) if ones == narrow else None


def has_many_points(request: Request) -> bool:
    """Whether the set has so many maximal integer points that a search takes a second or more."""
    parts = request.integer_parts
    points = listed_points(parts)
    many = points is not None and len(points) * len(parts) > _FEW_POINTS
    return request.delta > 0.0 and many


def rounded(method: Method) -> Method:
    """A mechanism for real answers as one for integers: its noise is rounded."""

    def find(request: Request) -> Found | None:
        found = method.find(request)
        return (
            None
            if found is None
            else Found(RoundedNoise(cast("RealVectorNoise", found.noise)), found.delta)
        )

    return Method(f"{method.name}, rounded", method.family, method.reference, find, method.slow)
