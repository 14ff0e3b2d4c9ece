"""Uniform points of a sensitivity set as functions of uniform numbers.

Coordinates are in units of the largest change of each and err by at most 2^-34 in doubles; the
laws are those of `Sensitivity.sample`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, LInf
from dpnoise.sensitivity.box import Box
from dpnoise.sensitivity.ellipsoid import Ellipsoid
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpnoise.releases.numbers import Numbers
    from dpnoise.sensitivity.base import Sensitivity


class Sampler(NamedTuple):
    """Some values as a function of uniform numbers, by rejection if it requires anything."""

    columns: int
    values: Callable[[Numbers], Any]


def samplers(ball: Sensitivity) -> Iterator[Sampler]:
    """Samplers of the points of the set, one for each factor, in units of `ball.box`."""
    if isinstance(ball, Product):
        for block in ball.blocks:
            yield from samplers(block)
    elif isinstance(ball, LInf | Box) or (isinstance(ball, AtMost) and ball.m == ball.of):
        yield Sampler(ball.dimension, lambda x: x.signed)
    elif isinstance(ball, L1) or (isinstance(ball, AtMost) and ball.m == 1):
        yield Sampler(ball.dimension + 1, _cross_polytope)
    elif isinstance(ball, AtMost):
        yield _cut_cube(ball.m, ball.of)
    elif isinstance(ball, L2):
        yield _sphere(np.arange(ball.dimension), ball.dimension)
    elif isinstance(ball, Ellipsoid):
        yield _sphere(np.flatnonzero(ball.active), ball.dimension)
    else:
        message = f"release: expected a norm with an exact sampler, got that of {ball!r}"
        raise ValueError(message)


def _cross_polytope(x: Numbers) -> Any:  # noqa: ANN401
    """K of K + 1 exponential variates over their sum, with random signs."""
    parts = x.exponential(slice(None))
    total = np.sum(parts, axis=1)
    x.away_from(total, 2.0**-6)
    return x.sign(x.signed[:, :-1]) * parts[:, :-1] / total[:, None]


def normal(x: Numbers, first: int, pairs: int) -> Any:  # noqa: ANN401
    """Normal variates by Box and Muller, from 2 `pairs` columns."""
    level, angle = slice(first, first + pairs), slice(first + pairs, first + 2 * pairs)
    reach, turn = np.sqrt(2 * x.exponential(level)), x.signed[:, angle] * x.pi
    return np.concatenate([reach * np.cos(turn), reach * np.sin(turn)], axis=1)


def _sphere(active: Any, dimension: int) -> Sampler:  # noqa: ANN401
    """The direction of normal variates, times U^(1 / K)."""
    K = active.size
    pairs = -(-K // 2)

    def values(x: Numbers) -> Any:  # noqa: ANN401
        way = normal(x, 0, pairs)[:, :K]
        size = np.sqrt(np.sum(way * way, axis=1))
        x.away_from(size, 2.0**-5)
        reach = np.exp(-x.exponential(slice(2 * pairs, None))[:, 0] * x.number(Fraction(1, K)))
        found = np.zeros((way.shape[0], dimension), dtype=way.dtype)
        found[:, active] = way * (reach / size)[:, None]
        return found

    return Sampler(2 * pairs + 1, values)


def _cut_cube(m: int, K: int) -> Sampler:
    """Points of the cube whose sizes have a sum of at most m, tilted and thinned.

    As `AtMost.sample`: the tilt, a double taken as exact, decides only how many are refused.
    """
    y = max(0.0, 1.0 - 2.0 * m / K)
    tilt = 2.0 * y * (3.0 - y * y * (6.0 + y * y - 2.0 * y**4) / 5.0) / (1.0 - y * y)
    error = 2.0**-32 * K * (1.0 + tilt)

    def values(x: Numbers) -> Any:  # noqa: ANN401
        signed = x.signed[:, :K]
        size = np.abs(signed)
        if tilt > 0.0:
            x.away_from(1.0 - size, 2.0**-16)
            fall = x.number(tilt)
            drop = np.expm1(np.array([-fall]))[0]
            size = -np.log1p(size * drop) / fall
        spare = m - np.sum(size, axis=1)
        x.require(spare, error)
        if tilt > 0.0:
            x.require(x.exponential(slice(K, None))[:, 0] - x.number(tilt) * spare, error)
        return x.sign(signed) * size

    return Sampler(K + 1, values)
