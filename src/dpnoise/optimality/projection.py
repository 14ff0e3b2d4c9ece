"""Lower bound on sum w_i sigma_i^2 from one-dimensional projections (docs/floor.md, section 2).

For any direction a, a'T is additive noise for a query of sensitivity h(a) = max a'd over the
differences d, so that Var(a'T) >= h(a)^2 V1. If the set is symmetric under sign flips of
coordinates, T may be taken with a diagonal covariance. Then for every mixture of differences with
second moments m_i = E d_i^2

    sum w_i sigma_i^2 >= V1 (sum sqrt(w_i m_i))^2.

Another set has the bound of a symmetric set within it. That of the l1 ball, scaled, is at most
V1 sum w_i h(e_i)^2, of single coordinates, and true for every set.

The certificate is m and that of V1. `moments_size` is the gauge of the set of all m: the bound is
scaled by it, so that any non-negative m gives a true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.optimality.scalar_floor import MARGIN, ScalarCertificate
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, LInf
from dpnoise.sensitivity.box import Box
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity


@dataclass(frozen=True, eq=False)
class Projection:
    """Certificate of the bound from projections.

    Parameters
    ----------
    moments : array of float, shape (K,)
        Second moments m_i of a mixture of differences, up to a common factor.
    scalar : ScalarCertificate
        Of a lower bound on V1.
    """

    moments: Array
    scalar: ScalarCertificate

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "projection"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """V1 (sum sqrt(w_i m_i))^2 over the gauge of m, less rounding."""
        moments, inner = np.abs(self.moments), unconditional(sensitivity)
        size = moments_size(inner, moments) if inner else math.inf
        if not 0.0 < size < math.inf:
            return 0.0
        total = float(np.sum(np.sqrt(weights) * np.sqrt(moments / size)))
        return self.scalar.bound(epsilon, delta) * total * total * (1.0 - MARGIN)


def unconditional(sensitivity: Sensitivity) -> Sensitivity | None:
    """A set symmetric under sign flips whose bound holds, too; None if none is known."""
    core = sensitivity.unconditional_core
    if core is not None or isinstance(sensitivity, Product):
        return core
    # Single coordinates: of a set in a plane, which is no product, all change by as much.
    return L1(float(np.min(sensitivity.box)), sensitivity.dimension)


def best_moments(sensitivity: Sensitivity, weights: Array) -> Array:
    """Second moments of a mixture of differences that maximise sum sqrt(w_i m_i), shape (K,).

    The set is symmetric under sign flips.
    """
    if not np.any(weights > 0.0):
        return sensitivity.extreme_point**2
    if isinstance(sensitivity, Product):
        parts = zip(sensitivity.blocks, sensitivity.split(weights), strict=True)
        return np.concatenate([best_moments(block, part) for block, part in parts])
    if isinstance(sensitivity, L1 | L2):
        return sensitivity.radius**2 * (weights / np.sum(weights))
    if isinstance(sensitivity, AtMost):
        return sensitivity.each**2 * _shares(sensitivity.m, weights)
    return sensitivity.extreme_point**2


def _shares(total: int, weights: Array) -> Array:
    """Shares min(1, t w_i) that add up to `total`."""
    order = np.argsort(weights)[::-1]
    heavy = weights[order]
    rest = np.cumsum(heavy[::-1])[::-1]
    # The k heaviest have share 1; then t = (total - k) / (the others' weight).
    k = np.arange(heavy.size)
    fits = (total - k) * heavy <= rest
    first = int(np.argmax(fits)) if np.any(fits) else heavy.size
    shares = np.ones(heavy.size)
    if first < heavy.size and rest[first] > 0.0:
        shares[first:] = (total - first) * heavy[first:] / rest[first]
    found = np.empty(heavy.size)
    found[order] = np.clip(shares, 0.0, 1.0)
    return found


def moments_size(sensitivity: Sensitivity, moments: Array) -> float:
    """Least factor t such that m / t are second moments of a mixture of differences."""
    if isinstance(sensitivity, Product):
        parts = zip(sensitivity.blocks, sensitivity.split(moments), strict=True)
        return max(moments_size(block, part) for block, part in parts)
    if isinstance(sensitivity, L1 | L2):  # mixtures of differences along the axes
        return float(np.sum(moments)) / sensitivity.radius**2
    if isinstance(sensitivity, AtMost):  # mixtures of vertices with m entries of size `each`
        most, total = float(np.max(moments)), float(np.sum(moments))
        return max(most, total / sensitivity.m) / sensitivity.each**2
    if isinstance(sensitivity, Box | LInf):
        unit = sensitivity.box**2
        ratio = np.divide(moments, unit, out=np.zeros(unit.shape), where=unit > 0.0)
        return math.inf if np.any(moments[unit == 0.0] > 0.0) else float(np.max(ratio))
    return float(sensitivity.norm(np.sqrt(moments))) ** 2
