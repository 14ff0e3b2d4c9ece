"""Lower bounds on the variance of additive noise for a cube: transport, and a product of tests.

*Transport* of mass outwards, for epsilon-DP noise. Let the noise have a density f and let s map R^K
into itself so that no coordinate moves by more than 1. For w >= 0 then
E w(T) <= e^epsilon E w'(T), w' the density of the measure w dx moved by s.
So if |x|^2 + w(x) - e^epsilon w'(x) >= K V for all x, the mean variance is at least V
(docs/floor.md, section 8). Points move along chains of cubes: the largest coordinate from R to
R + 1, every other one as rho(y) = 1 - exp(-kappa (lam - y^2)_+) says, whose integral over
0 < y < R + 1 is at most 1. With z the mean of the squares of the other coordinates,

    w = (m - sigma z - beta (R - middle))_+   on cubes of R in [n + a, n + b]:

by convexity the worst points have equal other coordinates, and the condition is one in z, of sums
of convex functions and their negatives, that is checked on cells.

The chains are searched link by link. At each link kappa and sigma are those for which w exceeds
half of what is left to be paid, (K V - |x|^2)_+ / 2, by the least. The largest V for which all
chains end is found by bisection. What is proved is decided by the certificate.

*A product of tests*, for delta > 0, too. Let each coordinate of the noise move by +1 or -1,
outwards with a probability that grows with its size: by +1 with probability p(x), p rising from 0
to 1 and p(-x) = 1 - p(x). Summed over the 2^K vectors of signs, (epsilon, delta)-DP says
(docs/floor.md, section 7)

    e^-epsilon (1 - 2^K delta) <= E prod_i (1 - rho(T_i)),  rho(y) = p(y + 1) - p(y - 1):

noise that is too small would nearly always be moved. With p' = rho0 / 2 and
rho0(u) = 1 - exp(-kappa (lam - u^2)_+), whose integral over u > 0 may be 1,

    1 - rho(y) <= exp(-kappa' (lam' - y^2)_+),
    kappa' = kappa (1 + 2 kappa / 3),  lam' = (lam - 1) / (1 + 2 kappa / 3),

so that e^-epsilon (1 - 2^K delta) <= E exp(-kappa' (K lam' - |T|^2)_+), which is at most a linear
function of E |T|^2. As epsilon falls and K rises the bound tends to K^2 / (3 epsilon^2) per
coordinate, the variance of K-norm noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import dawsn

from dpnoise.optimality.scalar_floor import group_budget

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_CELLS = 48  # in z
_HALVINGS = 45
_ROUNDING = 1e-10  # relative, of one step

# Of the search for chains.
_STEP = 0.3  # of group times epsilon, wanted; more for K > 9: chains have some 4 K / step links
_LARGEST_STEP = 2.0
_MOST_LINKS = 120
_INTERVALS = 6
_BISECTIONS = 12
_SHARES = np.linspace(0.0, 0.6, 7)  # of sigma in K - 1
_FACTORS = np.geomspace(0.2, 12.0, 16)  # of kappa times w

# Of the product of tests.
_PRODUCT_HALVINGS = 60
_MOST_DIMENSIONS = 10_000
_LARGEST_POWER = 1024  # of 2, from which on it has no double
_WIDEST_STEP = 2.0  # of group times epsilon


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
        side = sensitivity.ball_radius(math.inf)
        if delta > 0.0 or not equal or not side or not self.chains:
            return 0.0
        epsilon, _ = group_budget(self.group, epsilon, delta)
        ends = np.linspace(0.0, 1.0, len(self.chains) + 1)
        proved = all(
            self._ends(sensitivity.dimension, epsilon, links, float(a), float(b))
            for links, a, b in zip(self.chains, ends[:-1], ends[1:], strict=True)
        )
        total = float(np.sum(weights)) * (self.group * side) ** 2
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
    # ends: nothing is claimed that the certificate does not prove
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


def cube_transport(dimension: int, epsilon: float) -> CubeTransport | None:
    """Certificate for the unit cube at delta = 0, or None where nothing is found."""
    group = max(1, math.floor(max(_STEP, dimension / 30.0) / epsilon))
    wide = group * epsilon
    if wide > _LARGEST_STEP:
        return None
    low, high = 0.0, (dimension + 1) * (dimension + 2) / 3.0 / wide**2  # K-norm noise
    best = None
    # ends: nothing is claimed that the certificate does not prove
    for _ in range(_BISECTIONS):
        value = 0.5 * (low + high)
        chains = _chains(dimension, value, wide)
        if chains is None:
            high = value
        else:
            low, best = value, CubeTransport(group, value, chains)
    return best


def _chains(
    K: int, value: float, epsilon: float
) -> tuple[tuple[tuple[float, float], ...], ...] | None:
    """Links of all chains, or None where one does not end."""
    ends = np.linspace(0.0, 1.0, _INTERVALS + 1).tolist()
    found = []
    for a, b in zip(ends[-2::-1], ends[:0:-1], strict=True):  # the hardest first
        links = _chain(K, value, epsilon, a, b)
        if links is None:
            return None
        found.append(tuple(links))
    return tuple(reversed(found))


def _chain(
    K: int, value: float, epsilon: float, a: float, b: float
) -> list[tuple[float, float]] | None:
    """Kappa and sigma of each link, or None if w does not fall to 0."""
    weight: Weight = first_weight(K, value, a, b)
    sigma = (K - 1.0) * _SHARES
    links: list[tuple[float, float]] = []
    # ends: nothing is claimed that the certificate does not prove
    for before in range(_MOST_LINKS):
        n = before + 1
        middle = n + 0.5 * (a + b)
        kappa = _FACTORS / max(weight.m - 0.3 * weight.sigma * middle**2, 1e-3 * K * value)
        top = highest(K, value, epsilon, weight, kappa=kappa, sigma=sigma, ends=(n + a, n + b))
        done = np.nonzero(np.all(top[:, 0] <= 0.0, axis=1))[0]
        if done.size:
            return [*links, (float(kappa[done[0]]), 0.0)]
        i, j = _cheapest(K, value, top, sigma, middle)
        links.append((float(kappa[i]), float(sigma[j])))
        weight = next_weight(top[i, j], float(sigma[j]), b - a)
        if weight.m > 50.0 * (K / epsilon) ** 3:
            return None
    return None


def _cheapest(K: int, value: float, top: Array, sigma: Array, R: float) -> tuple[int, int]:
    """Indices of the kappa and sigma that leave the least to be paid."""
    z = np.linspace(0.0, R * R, 9)
    w = np.maximum(np.mean(top, axis=2)[..., None] - sigma[:, None] * z, 0.0)
    left = np.maximum(K * value - R * R - (K - 1) * z, 0.0)
    i, j = np.unravel_index(np.argmin(np.max(w - 0.5 * left, axis=2)), top.shape[:2])
    return int(i), int(j)


@dataclass(frozen=True)
class ProductTest:
    """Certificate for a cube with equal weights.

    Parameters
    ----------
    group : int
        The shifts are this many sides of the cube long (group privacy).
    kappa : float
        Of rho0, positive.
    """

    group: int
    kappa: float

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "product test"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times the bound on the mean variance; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        side = sensitivity.ball_radius(math.inf)
        if not equal or not side or not self.kappa > 0.0:
            return 0.0
        budget = group_budget(self.group, epsilon, delta)
        value = float(_mean_variance(sensitivity.dimension, *budget, np.array([self.kappa]))[0])
        total = float(np.sum(weights)) * (self.group * side) ** 2
        return max(0.0, value) * total * (1.0 - 1e-10)


def _mean_variance(K: int, epsilon: float, delta: float, kappa: Array) -> Array:
    """Bounds on the mean variance for the unit cube, for each kappa."""
    patterns = 0.0  # of signs, times delta
    if delta > 0.0:  # where 2^K has no double, nothing is proved
        patterns = delta * 2.0**K if K < _LARGEST_POWER else math.inf
    kept = math.exp(-epsilon) * max(0.0, 1.0 - patterns)
    more = 1.0 + kappa * (2.0 / 3.0)
    lam = (_product_lam(kappa) - 1.0) / more
    outside = np.exp(-kappa * more * K * np.maximum(lam, 0.0))
    value = lam * (kept - outside) / np.maximum(1.0 - outside, 1e-300)
    return np.where((lam > 0.0) & (kept > outside), value, 0.0)


def _product_lam(kappa: Array) -> Array:
    """Value of lam for which the integral of rho0 over u > 0 is just below 1.

    The integral is sqrt(lam) - D(sqrt(kappa lam)) / sqrt(kappa), D Dawson's function, and rises.
    """
    low = np.ones_like(kappa)
    high = 4.0 + 4.0 / kappa
    # ends: the side where the integral is at most 1: a smaller bound
    for _ in range(_PRODUCT_HALVINGS):
        lam = 0.5 * (low + high)
        root = np.sqrt(kappa)
        fits = np.sqrt(lam) - dawsn(root * np.sqrt(lam)) / root <= 1.0 - 1e-9
        low, high = np.where(fits, lam, low), np.where(fits, high, lam)
    return low


def product_test(dimension: int, epsilon: float, delta: float) -> ProductTest | None:
    """Certificate for the unit cube, or None where it proves nothing."""
    if dimension > _MOST_DIMENSIONS:
        return None
    best, highest = None, 0.0
    most = max(1.0, _WIDEST_STEP / epsilon)
    for group in np.unique(np.geomspace(max(1.0, most / 100.0), most, 12).astype(int)).tolist():
        wide, spent = group_budget(group, epsilon, delta)
        # kappa lam^(3/2) is about 3 / 2, with lam of the order of (K / epsilon)^2.
        kappa = np.geomspace(0.01, 10.0, 100) * (wide / dimension) ** 3
        values = group**2 * _mean_variance(dimension, wide, spent, kappa)
        place = int(np.argmax(values))
        if values[place] > highest:
            best, highest = ProductTest(group, float(kappa[place])), float(values[place])
    return best
