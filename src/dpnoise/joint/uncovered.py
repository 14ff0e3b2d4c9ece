"""The share of a ball that a shifted, larger ball leaves uncovered.

For Z uniform in D, g(a, e) is the largest P(||Z + a d|| > 1 + e) over the extreme points d of D,
the share of D outside (1 + e) D - a d. It is 0 if e >= a, rises with a and falls with e. With
c = a - e:

- every D contains a copy of itself, scaled by 1 - c / 2, in the intersection, for every d, so that
  g <= 1 - (1 - c / 2)^K; for boxes and l1 balls the copy is the intersection: equality;
- for any polytope, g >= 1 - (1 - rho c)^K with rho the share of D under the facets that d lies in;
- l2 balls and ellipsoids: the intersection is two caps,
  g = I((2 + a + e) c / (4 a)) - (1 + e)^K I((2 + e - a) c / (4 a (1 + e))), with I(x) the
  incomplete beta function with both parameters (K + 1) / 2, regularised; where both terms are
  nearly equal, I(x) - I(y) is bounded by x - y and the extremes of the density between them;
- products: the covered shares multiply.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.privacy.spherical import relative_error

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_WILD = 1e120  # shifts, in units of the ball, whose powers have no double
_ROUNDING = 1e-14  # relative errors of the arguments
_UNDERFLOW = 1e-300


@dataclass(frozen=True)
class Uncovered:
    """The function g of one set, as bounds."""

    ball: Sensitivity

    @cached_property
    def caps(self) -> Counter[int]:
        """Dimensions of the blocks that are ellipsoids, with their numbers."""
        return Counter(
            block.active_dimension
            for _, block in self.ball.factors()
            if block.is_round and block.active_dimension > 1
        )

    @cached_property
    def polytopes(self) -> Counter[float]:
        """The numbers of coordinates of all other blocks, by their share under the facets of d."""
        found: Counter[float] = Counter()
        for _, block in self.ball.factors():
            K = block.active_dimension
            if not block.is_round or K == 1:
                found[block.facet_share] += K
        return found

    def upper(self, a: Array, e: Array) -> Array:
        """An upper bound on g, for `a` and `e` that may be off by some units in the last place."""
        return self._bound(a, e, 1.0)

    def lower(self, a: Array, e: Array) -> Array:
        """A lower bound on g, likewise."""
        return self._bound(a, e, -1.0)

    def about(self, a: Array, e: Array) -> Array:
        """The function whose upper bound `upper` is, without care for rounding."""
        return self._bound(a, e, 0.0)

    def _bound(self, a: Array, e: Array, side: float) -> Array:
        """A bound on the side given by its sign, or with 0 the value in between."""
        wild = np.broadcast_to(~(np.asarray(a) < _WILD), np.broadcast(a, e).shape)
        a, e = np.minimum(a, _WILD) * (1.0 + side * _ROUNDING), e * (1.0 - side * _ROUNDING)
        a, e = np.broadcast_arrays(a, e)
        c = np.maximum(a - e, 0.0)
        log_cover = np.zeros(c.shape)
        for share, K in self.polytopes.items():
            rate = share if side < 0.0 else 0.5
            log_cover = log_cover + K * np.log1p(-np.minimum(rate * c, 1.0 - 2.0**-53))
        for K, n in self.caps.items():
            log_cover = log_cover + n * np.log1p(-_cap(a, e, c, K, side))
        g = -np.expm1(log_cover) * (1.0 + side * 1e-12) + side * _UNDERFLOW
        g = np.where(c > 0.0, np.clip(g, 0.0, 1.0), 0.0)
        return np.where(wild, 0.5 + 0.5 * side, g)  # between 0 and 1 where nothing is computed


def _cap(a: Array, e: Array, c: Array, K: int, side: float) -> Array:
    """A bound on g for the l2 ball in K dimensions, below 1."""
    b = 0.5 * (K + 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = np.clip(c * (2.0 + a + e) / (4.0 * a), 0.0, 1.0)
        y = np.clip(c * (2.0 + e - a) / (4.0 * a * (1.0 + e)), 0.0, 1.0)
        outer, under = special.betainc(b, b, x), special.betainc(b, b, y)
        growth = np.exp(K * np.log1p(e))
        inner = np.where(under > 0.0, under * growth, 0.0)
        wide = outer - inner + side * relative_error(K) * (outer + inner)
        if side == 0.0:
            return np.clip(np.nan_to_num(wide), 0.0, 1.0 - 2.0**-53)
        # Close to each other: I(x) - I(y) is between (x - y) times the extremes of the density.
        step = c * (a + e) * (2.0 + e) / (4.0 * a * (1.0 + e))
        ends = np.stack([_log_beta_density(b, x), _log_beta_density(b, y)])
        peak = np.where((x > 0.5) & (y < 0.5), _log_beta_density(b, np.array(0.5)), -np.inf)
        level = np.maximum(np.max(ends, axis=0), peak) if side > 0.0 else np.min(ends, axis=0)
        gain = step * np.exp(level) * (1.0 + side * relative_error(K))
        lost = under * np.expm1(K * np.log1p(e)) * (1.0 - side * relative_error(K))
        close = gain - np.where(under > 0.0, lost, 0.0)
    close = np.where((x < 1.0) & (y > 0.0) & np.isfinite(close), close, wide)
    best = np.fmin(wide, close) if side > 0.0 else np.fmax(wide, close)
    unknown = outer if side > 0.0 else 0.0 * outer  # where powers have no double
    return np.clip(np.where(np.isnan(best), unknown, best), 0.0, 1.0 - 2.0**-53)


def _log_beta_density(b: float, x: Array) -> Array:
    """The logarithm of the density of the beta distribution with both parameters `b`."""
    return (b - 1.0) * (np.log(x) + np.log1p(-x)) - special.betaln(b, b)
