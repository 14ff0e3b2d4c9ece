"""Certificates that apply to a sensitivity set, each with the bound that it proves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.optimality.certificates import (
    Blocks,
    Certificate,
    Inclusion,
    Layers,
    Subsets,
    exchangeable,
    inner_radius,
    subset,
)
from dpnoise.optimality.cube_search import cube_transport
from dpnoise.optimality.graded_search import graded_test
from dpnoise.optimality.one_step import best_step
from dpnoise.optimality.product_test import product_test
from dpnoise.optimality.projection import (
    Projection,
    best_moments,
    count_projection,
    unconditional,
)
from dpnoise.optimality.radial_floor import radial_certificate
from dpnoise.optimality.radial_search import FAST, FINE, radial_test
from dpnoise.optimality.rearrangement import projected_cubes, rearrangements
from dpnoise.optimality.scalar_floor import scalar_certificate
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L2, LInf
from dpnoise.sensitivity.counts import Counts
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_MOST_LAYERS = 4  # sizes of subvectors that are tried for unequal weights
_MOST_TRANSPORTED = 50  # coordinates
_FEWER = 8  # coordinates than the product test could take for this delta
_MOST_GRADED, _LARGEST_GRADED = 3, 8.0  # coordinates and epsilon of graded tests
_LARGEST_EPSILON, _MOST_DIMENSIONS = 300.0, 100_000  # of radial tests
_SMALLEST_EPSILON = 3.0  # of one step outwards, which needs mass near 0


def candidates(
    sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array, *, fine: bool = False
) -> list[tuple[float, Certificate]]:
    """Pairs of a bound on sum w_i sigma_i^2 and its certificate, never empty."""
    problem = (sensitivity, epsilon, delta, weights)
    found: list[Certificate] = []
    scalar = scalar_certificate(epsilon, delta, fine=fine)
    symmetric = unconditional(sensitivity)
    if symmetric:
        found.append(Projection(best_moments(symmetric, weights), scalar))
    if isinstance(sensitivity, Counts) and np.all(weights == weights[0]):
        found.append(count_projection(sensitivity, scalar))
    if isinstance(sensitivity, Product):
        parts = zip(sensitivity.blocks, sensitivity.split(weights), strict=True)
        inner = [candidates(block, epsilon, delta, part, fine=fine) for block, part in parts]
        found.append(Blocks(tuple(max(row, key=lambda pair: pair[0])[1] for row in inner)))
    else:
        found += _exchangeable(*problem, fine=fine)
    pairs = [(certificate.bound(*problem), certificate) for certificate in found]
    if not isinstance(sensitivity, L2):
        known = max(value for value, _ in pairs)
        more = rearrangements(*problem, known=known, fine=fine)
        pairs += [(certificate.bound(*problem), certificate) for certificate in more]
    return pairs


def _exchangeable(
    sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array, *, fine: bool
) -> list[Certificate]:
    """Certificates by the symmetry of the set, for all or the heaviest of the coordinates."""
    unit = exchangeable(sensitivity, weights)
    if unit is None:
        return []
    # One program per size: in a hurry, only the size that counts most.
    sizes = _sizes(unit[1])[: None if fine or delta == 0.0 else 1]
    rows = [_symmetric(subset(unit[0], size), epsilon, delta, fine) for size in sizes]
    sizes = [size for size, row in zip(sizes, rows, strict=True) if row]
    rows = [row for row in rows if row]
    if not sizes:
        return []
    parts = tuple(
        max(row, key=lambda kind: kind.bound(subset(unit[0], size), epsilon, delta, np.ones(size)))
        for row, size in zip(rows, sizes, strict=True)
    )
    return [Layers(tuple(sizes), parts)]


def _sizes(weights: Array) -> list[int]:
    """Numbers of the heaviest coordinates, at the largest falls of the weights."""
    heavy = np.append(np.sort(weights)[::-1], 0.0)
    gain = -np.diff(heavy) * np.arange(1, heavy.size)
    order = np.argsort(gain, kind="stable")[::-1][:_MOST_LAYERS]
    return [int(place) + 1 for place in order if gain[place] > 0.0]


def _symmetric(
    sensitivity: Sensitivity, epsilon: float, delta: float, fine: bool
) -> list[Certificate]:
    """Certificates for a set with equal weights."""
    K = sensitivity.dimension
    if isinstance(sensitivity, LInf):
        return _cube(K, epsilon, delta, fine)
    if isinstance(sensitivity, L2):
        return _ball(K, epsilon, delta, fine) + _one_step(sensitivity, epsilon, delta)
    if isinstance(sensitivity, AtMost):
        ball = L2(inner_radius(sensitivity), K)
        cube = LInf(sensitivity.each, sensitivity.m)
        found: list[Certificate] = [
            Inclusion(ball, part) for part in _symmetric(ball, epsilon, delta, fine)
        ]
        return found + [Subsets(cube, part) for part in _symmetric(cube, epsilon, delta, fine)]
    return []


def _ball(K: int, epsilon: float, delta: float, fine: bool) -> list[Certificate]:
    """Certificates for an l2 ball with equal weights."""
    if delta == 0.0:
        return [radial_certificate(K, epsilon)]
    if 2 <= K <= _MOST_DIMENSIONS and epsilon <= _LARGEST_EPSILON:
        return _radial(K, epsilon, delta, fine)
    return []


def _radial(K: int, epsilon: float, delta: float, fine: bool) -> list[Certificate]:
    """Certificates for an l2 ball with equal weights, delta > 0."""
    tests: list[Certificate | None] = [radial_test(K, epsilon, delta, FAST)]
    if fine:
        tests.append(radial_test(K, epsilon, delta, FINE))
    if fine and K <= _MOST_GRADED and epsilon <= _LARGEST_GRADED:
        tests.append(graded_test(K, epsilon, delta))
    return [test for test in tests if test]


def _one_step(sensitivity: L2 | LInf, epsilon: float, delta: float) -> list[Certificate]:
    """Certificate for large epsilon, if it proves anything."""
    step = best_step(sensitivity, epsilon, delta) if epsilon > _SMALLEST_EPSILON else None
    return [step] if step else []


def _cube(K: int, epsilon: float, delta: float, fine: bool) -> list[Certificate]:
    """Certificates for a cube with equal weights."""
    if K == 1:
        return []
    product = product_test(K, epsilon, delta)
    found: list[Certificate] = [product] if product else []
    if delta > 0.0:
        found += _smaller_cubes(K, epsilon, delta)
    found += projected_cubes(K, epsilon, delta, fine=fine)
    found += _one_step(LInf(1.0, K), epsilon, delta)
    if fine and delta == 0.0 and K <= _MOST_TRANSPORTED:
        transport = cube_transport(K, epsilon)
        found += [transport] if transport else []
    return found


def _smaller_cubes(K: int, epsilon: float, delta: float) -> list[Certificate]:
    """Product tests of fewer than K coordinates of a cube: a test of k of them pays 2^k delta."""
    most = min(K, max(2, int(-math.log2(delta))))
    sizes = range(max(2, most - _FEWER), min(most, K - 1) + 1)
    tests = [(size, product_test(size, epsilon, delta)) for size in sizes]
    return [Subsets(LInf(1.0, size), test) for size, test in tests if test]
