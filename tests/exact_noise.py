"""The tests' instances of each family, and the reference that stands for noise of the library.

Only parameters are read off the noise: what is asked of them is answered by `oracles`.
"""

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import NamedTuple

import mpmath as mp

from dpnoise.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    staircase_gamma,
)
from dpnoise_papers.verify.oracles import densities
from oracles import integers
from oracles.exact import Pieces, Power, Stairs

RATIOS = [0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.5, 0.97, 1.0, 2.0, 5.5, 12.0, 26.0, 39.0, 300.0, 2e4]
FLIPPED = [FlippedHuber(b * g, g) for b, g in zip(RATIOS, [1.0, 0.3, 7.0] * 5, strict=True)]
OFFSETS = [0.0, 1e-12, 1e-3, 0.6, 0.99, 1.0, 2.0, 7.0, 40.0, 1e4, 1e9]
SPREADS = [1.0, 0.3, 7.0, 1.0, 0.3, 7.0, 1.0, 0.3, 7.0, 1.0, 0.3]
OFFSET = [OffsetSymmetricGaussian(s * r, r) for s, r in zip(OFFSETS, SPREADS, strict=True)]
CORNERS = [1e-8, 1e-3, 0.1, 0.5, 0.84, 0.86, 1.0, 2.0, 6.0, 12.0, 39.0, 1e5]
HUBERS = [Huber(a, s) for a, s in zip(CORNERS, [1.0, 0.3, 7.0] * 4, strict=True)]
POWERS = [1.0, 1.001, 1.5, 2.0, 3.7, 20.0, 50.0, 110.0]
SUBBOTIN = [Subbotin(p, s) for p, s in zip(POWERS, [1.0, 40.0] * 4, strict=True)]
REACHES = [1e-12, 1e-3, 0.5, 0.7, 3.0, 40.0, 900.0]
TRUNCATED = [TruncatedLaplace(0.3, 0.3 * r) for r in REACHES]
STEPS = [(1e-6, 0.5), (0.02, 0.4999), (1.0, 0.3775), (1.0, 0.9), (3.0, 1e-9), (40.0, 0.01)]
STAIRS = [Staircase(e, d, c) for (e, c), d in zip(STEPS, [1.0, 3.0] * 3, strict=True)]
STAIRS += [Staircase(700.0, 2.0, staircase_gamma(700.0)), Staircase(700.0, 2.0, 0.5)]


class Row(NamedTuple):
    """The tests' instances of a family, and its reference as a function of the parameters."""

    instances: list
    exact: Callable


# One row for each family of `dpnoise.noise.FAMILIES`: all that the tests need of a new one.
TABLE = {
    Gaussian: Row(
        [Gaussian(1.0), Gaussian(0.02), Gaussian(3e5)], partial(Pieces, densities.gaussian)
    ),
    Laplace: Row([Laplace(1.0), Laplace(40.0)], partial(Pieces, densities.laplace)),
    FlippedHuber: Row(FLIPPED, partial(Pieces, densities.flipped_huber)),
    OffsetSymmetricGaussian: Row(OFFSET, partial(Pieces, densities.offset_symmetric_gaussian)),
    TruncatedLaplace: Row(TRUNCATED, partial(Pieces, densities.truncated_laplace)),
    Huber: Row(HUBERS, partial(Pieces, densities.huber)),
    Subbotin: Row(SUBBOTIN, Power),
    Staircase: Row(STAIRS, Stairs),
}
_INTEGERS = {
    DiscreteGaussian: integers.gaussian,
    DiscreteLaplace: integers.laplace,
    DiscreteStaircase: integers.staircase,
}


def exact_noise(noise):
    """Return the reference of a noise: density, tail, moments, Fisher information, profile."""
    kind = type(noise)
    exact = TABLE[kind].exact if kind in TABLE else _INTEGERS[kind]
    return exact(*(getattr(noise, field.name) for field in fields(noise)))


def off(value, exact):
    """Return the relative error of a double against an exact number."""
    if math.isinf(exact):
        return 0.0 if value == float(exact) else math.inf
    return float(abs(mp.mpf(float(value)) - exact) / abs(exact))
