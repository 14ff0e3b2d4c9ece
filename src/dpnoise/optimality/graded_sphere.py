"""Moments of a piecewise linear function over a shifted sphere, for graded radial tests.

With U uniform on the unit sphere of K >= 2 dimensions and d of length 1, the squared norm of
R U + d is (R - 1)^2 + 2 R X, where X = 1 + U_1 = 2 B and B has the beta distribution with both
parameters (K - 1) / 2. So a function that is linear in the squared norm is linear in X, and its
mean over {X <= x} follows from P(X <= x) and E X 1{X <= x}, both incomplete beta functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainc

from dpnoise.optimality.radial_test import rounding, sphere_cdf

if TYPE_CHECKING:
    from dpnoise._types import Array


class Incoming(NamedTuple):
    """Weights of nodal values in E sum_k f_k(rho) 1{rho < R - o_k}, rho = |R U + d|.

    Attributes
    ----------
    weights : array of float, shape (n, offsets, J)
        For each R, each offset o_k and J nodes in a row.
    first : array of int, shape (n,)
        The first of these nodes.
    error : array of float, shape (n, offsets)
        Bound on the rounding error per largest nodal value.
    """

    weights: Array
    first: Array
    error: Array


def _moments(K: int, x: Array) -> tuple[Array, Array]:
    """P(X <= x) and E X 1{X <= x}."""
    half = 0.5 * (K - 1)
    share = np.clip(0.5 * x, 0.0, 1.0)
    return np.asarray(betainc(half, half, share)), np.asarray(betainc(half + 1.0, half, share))


def incoming(K: int, R: Array, per_unit: int, offsets: Array) -> Incoming:
    """Weights for functions linear in rho^2 between the nodes j / per_unit, for each R > 0."""
    R = R[:, None]
    first = np.maximum(np.floor((R - 1.0) * per_unit), 0.0).astype(int)
    rho = (first + np.arange(per_unit + 3)) / per_unit
    shortest = np.abs(R - 1.0)
    node = (rho - shortest) * (rho + shortest) / (2.0 * R)
    # rho < R - o: less than the least norm by a difference that is written without cancellation.
    inside = np.where(R >= 1.0, 1.0 - offsets, 2.0 * R - 1.0 - offsets + 1e-15)
    end = np.maximum(inside, 0.0) * np.maximum(R - offsets + shortest, 0.0) / (2.0 * R)
    share, first_moment = _moments(K, node)
    most, most_moment = _moments(K, end)
    mass = np.diff(np.minimum(share[:, None, :], most[:, :, None]), axis=2)
    moment = np.diff(np.minimum(first_moment[:, None, :], most_moment[:, :, None]), axis=2)
    width = np.diff(node, axis=1)
    weights = np.zeros((R.shape[0], offsets.size, rho.shape[1]))
    weights[:, :, :-1] += (node[:, None, 1:] * mass - moment) / width[:, None, :]
    weights[:, :, 1:] += (moment - node[:, None, :-1] * mass) / width[:, None, :]
    spread = (np.max(np.abs(node), axis=1) + 1.0) / np.min(width, axis=1)
    error = 4.0 * rho.shape[1] * rounding(K) * spread[:, None] * most
    return Incoming(weights, first[:, 0], error)


def staying(K: int, R: Array, offsets: Array) -> Array:
    """P(|R U - d| > R + o) for each R > 0 and each offset o in [0, 1); it falls with R."""
    R = R[:, None]
    return sphere_cdf(K, (1.0 - offsets) * (2.0 * R + 1.0 + offsets) / (2.0 * R))
