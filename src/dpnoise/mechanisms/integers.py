"""Mechanisms for answers that are integers: independent integer noise, and rounded real noise.

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

from dpnoise.allocation.closed_forms import closed_form_scales
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.calibration.integers import certified_on_parts, scale_for_points, staircase_for_steps
from dpnoise.mechanisms.noise import IntegerVector, RoundedNoise
from dpnoise.mechanisms.request import Found, Method
from dpnoise.noise.integers import (
    MAX_BETA,
    MAX_SIGMA,
    MIN_BETA,
    MIN_SIGMA,
    DiscreteGaussian,
    DiscreteLaplace,
)
from dpnoise.privacy.integer_sets import listed_points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise._types import Array
    from dpnoise.mechanisms.noise import RealVectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.noise.integers import IntegerNoise

_UP = 1.0 + 2.0**-45
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
