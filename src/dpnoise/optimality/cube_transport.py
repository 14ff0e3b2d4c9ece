"""Lower bound on the variance of epsilon-DP noise for a cube, from mass moved outwards.

Let the noise have a density f and let s map R^K into itself so that no coordinate moves by more
than 1. For w >= 0 then E w(T) <= e^epsilon E w'(T), w' the density of the measure w dx moved by s.
So if |x|^2 + w(x) - e^epsilon w'(x) >= K V for all x, the mean variance is at least V
(docs/floor.md, section 8). Points move along chains of cubes: the largest coordinate from R to
R + 1, every other one as rho(y) = 1 - exp(-kappa (lam - y^2)_+) says, whose integral over
0 < y < R + 1 is at most 1. With z the mean of the squares of the other coordinates,

    w = (m - sigma z - beta (R - middle))_+   on cubes of R in [n + a, n + b]:

by convexity the worst points have equal other coordinates, and the condition is one in z, of sums
of convex functions and their negatives, that is checked on cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import dawsn

from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.sensitivity.balls import LInf

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_CELLS = 48  # in z
_HALVINGS = 45
_ROUNDING = 1e-10  # relative, of one step


class Weight(NamedTuple):
    """Parameters of w on the cubes of one link of a chain."""

    m: float
    sigma: float
    beta: float


@dataclass(frozen=True)
class CubeTransport:
    """Certificate for a cube with equal weights at delta = 0.

    Parameters
    ----------
    group : int
        The moves are this many sides of the cube long (group privacy); lengths are in units of it.
    value : float
        The mean variance V that is claimed.
    chains : tuple of tuple of (float, float)
        For each of equally long intervals [a, b] that cover [0, 1]: kappa and sigma of each link.
    """

    group: int
    value: float
    chains: tuple[tuple[tuple[float, float], ...], ...]

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "transport"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times V, if all chains prove it; else 0."""
        equal = bool(np.all(weights == weights[0]))
        if delta > 0.0 or not equal or not isinstance(sensitivity, LInf) or not self.chains:
            return 0.0
        epsilon, _ = group_budget(self.group, epsilon, delta)
        ends = np.linspace(0.0, 1.0, len(self.chains) + 1)
        proved = all(
            self._ends(sensitivity.dimension, epsilon, links, float(a), float(b))
            for links, a, b in zip(self.chains, ends[:-1], ends[1:], strict=True)
        )
        total = float(np.sum(weights)) * (self.group * sensitivity.radius) ** 2
        return self.value * total * (1.0 - 1e-9) if proved else 0.0

    def _ends(
        self, K: int, epsilon: float, links: tuple[tuple[float, float], ...], a: float, b: float
    ) -> bool:
        """Whether w may be 0 after the last link."""
        weight = first_weight(K, self.value, a, b)
        for n, (kappa, sigma) in enumerate(links, start=1):
            if not (kappa > 0.0 and sigma >= 0.0):
                return False
            k = np.array([kappa])
            s, ends = np.array([sigma]), (n + a, n + b)
            top = highest(K, self.value, epsilon, weight, kappa=k, sigma=s, ends=ends)[0, 0]
            if n == len(links):
                return sigma == 0.0 and bool(np.all(top <= 0.0))
            weight = next_weight(top, sigma, b - a)
        return False


def first_weight(K: int, value: float, a: float, b: float) -> Weight:
    """Weight w >= K V - |x|^2 on the first cubes, R in [a, b]; -R^2 lies below its tangent."""
    middle = 0.5 * (a + b)
    return Weight(K * value - middle**2, K - 1.0, 2.0 * middle)


def next_weight(top: Array, sigma: float, width: float) -> Weight:
    """Weight w that is at least `top` - sigma z at both ends of an interval of R."""
    return Weight(float(np.mean(top)), sigma, float(top[0] - top[1]) / width)


def largest_lam(kappa: Array, size: float) -> Array:
    """Largest lam for which the integral of rho over 0 < y < `size` is at most 1, rounded down."""
    low, high = np.zeros_like(kappa), size * size + 4.0 + (4.0 + 2.0 / size) / kappa
    root = np.sqrt(kappa)
    for _ in range(_HALVINGS):
        lam = 0.5 * (low + high)
        reach = np.minimum(np.sqrt(lam), size)
        stays = np.exp(-kappa * (lam - reach**2)) * dawsn(root * reach) / root
        fits = reach - stays <= 1.0 - 1e-9
        low, high = np.where(fits, lam, low), np.where(fits, high, lam)
    return low


def highest(
    K: int,
    value: float,
    epsilon: float,
    before: Weight,
    *,
    kappa: Array,
    sigma: Array,
    ends: tuple[float, float],
) -> Array:
    """Upper bounds of K V - |x|^2 + e^epsilon w' + sigma z at both ends of an interval of R.

    Shape (kappas, sigmas, 2). With a(z) = (K - 1) kappa (lam - z)_+ and y' the point that moves
    to y = sqrt(z), e^-a and y'^2 e^-a are convex on either side of lam: on a cell the first lies
    below its chord and the second above its tangent.
    """
    low, top = ends
    middle = 0.5 * (low + top)
    lam, k = largest_lam(kappa, top)[:, None], kappa[:, None]
    split = np.minimum(lam, top * top)
    z = np.concatenate(
        [
            split * np.linspace(0.0, 1.0, _CELLS + 1),
            split + (top * top - split) * np.linspace(0.0, 1.0, _CELLS // 4 + 1)[1:],
        ],
        axis=1,
    )
    centre = 0.5 * (z[:, 1:] + z[:, :-1])
    kept = np.exp(-(K - 1) * k * np.maximum(lam - z, 0.0))
    one = np.exp(-k * np.maximum(lam - centre, 0.0))
    y = np.sqrt(centre)
    within = np.minimum(y, np.sqrt(lam))
    origin = one * dawsn(np.sqrt(k) * within) / np.sqrt(k) + (y - within)
    scale = one ** (K - 1)
    moved = origin**2 * scale
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(y > 0.0, origin / y * one, 0.0) * scale
    slope += moved * np.where(centre < lam, (K - 1) * k, 0.0)
    half = 0.5 * np.diff(z, axis=1)
    tangent = moved - slope * half, moved + slope * half
    growth = math.exp(epsilon) * (1.0 + _ROUNDING)
    found = []
    for R in ends:
        m = before.m - before.beta * (R - middle)
        rest = K * value - (2.0 * middle * R - middle**2)
        sides = []
        for chord, line, at in zip(
            (kept[:, :-1], kept[:, 1:]), tangent, (z[:, :-1], z[:, 1:]), strict=True
        ):
            gain = growth * np.maximum(m * chord - before.sigma * line, 0.0) - (K - 1) * at
            sides.append(np.max(gain[:, None, :] + sigma[None, :, None] * at[:, None, :], axis=2))
        found.append(rest + np.maximum(*sides))
    return np.stack(found, axis=-1) + _ROUNDING * K * value
