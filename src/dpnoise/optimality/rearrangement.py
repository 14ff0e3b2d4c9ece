"""Lower bound on sum w_i sigma_i^2 from the volume of the set (docs/floor.md, section 9).

Let noise with density f be (epsilon, delta)-DP for D, and let f* be the symmetric decreasing
rearrangement of f: radial, falling, with level sets as large as those of f. Its second moment is at
most that of f. By Riesz's inequality it is, on average over the shifts d in the l2 ball D* as large
as D, as private as f is on average over D. What a shift costs f* rises with its length. So f* is
(epsilon, delta / (1 - lambda^K))-DP for the ball of lambda times the radius of D*, and every floor
under noise for that ball holds for E |T|^2. At delta = 0 lambda = 1 will do.

Weights stretch the set: sqrt(w_i) T_i is noise for the differences sqrt(w_i) d_i.

For a cube the same is done in fewer dimensions: A T is noise for the image of the cube under a
k x K matrix A, whose volume is, for some A, at least the mean over random A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.optimality.certificates import exchangeable
from dpnoise.optimality.closed_forms import radial_certificate
from dpnoise.optimality.radial_test import FAST, Effort, radial_test
from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.sensitivity.balls import L2

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.optimality.certificates import FloorCertificate
    from dpnoise.optimality.radial_test import RadialTest
    from dpnoise.sensitivity.base import Sensitivity

_MARGIN = 1e-11  # relative, of the volume of a ball with the radius found
_UNIT = 1e-14  # relative, of logarithms of the gamma function
_SHARES = 1.0 - np.geomspace(1e-4, 0.95, 60)  # of the ball's volume that is kept, lambda^K
MOST_TESTED, LARGEST_EPSILON = 1000, 300.0  # coordinates and epsilon of radial tests
_LARGEST_SPENT = 0.05  # delta of a group
_STEP = 0.5  # wanted of group times epsilon
_LARGE_STEP = 1.5
_QUICK = Effort(100, 25_000, 6, 7)  # for smaller ones: there tests take longer
_IMAGES = 0.7, 0.8, 0.9  # of the coordinates, dimensions of images of a cube at delta = 0


@dataclass(frozen=True)
class Rearrangement:
    """Certificate from the l2 ball that is as large as the set.

    Parameters
    ----------
    size : int
        The bound is for so many of the heaviest coordinates; fewer than the set has only where
        they may be exchanged.
    kept : float
        lambda^K, the volume of the ball used as a share of the set's: 1 for delta = 0, else less.
    part : FloorCertificate
        For the l2 ball of radius 1 with equal weights.
    """

    size: int
    kept: float
    part: FloorCertificate

    @property
    def method(self) -> str:
        """Kind of the bound used."""
        return f"ball of equal volume, {self.part.method}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Bound for the ball; 0 where it does not apply."""
        found = heaviest(sensitivity, weights, self.size)
        if found is None or not 0.0 < self.kept <= 1.0:
            return 0.0
        spent = spent_on_average(self.kept, delta)
        if not spent < 1.0:
            return 0.0
        radius = ball_radius(*found) * self.kept ** (1.0 / self.size)
        inner = self.part.bound(L2(1.0, self.size), epsilon, spent, np.ones(self.size))
        return radius**2 * inner * (1.0 - _MARGIN)


@dataclass(frozen=True)
class ProjectedCube:
    """Certificate for a cube with equal weights: the volume of its image in fewer dimensions.

    Parameters
    ----------
    size : int
        The number k of dimensions of the image.
    kept : float
        As of `Rearrangement`.
    part : FloorCertificate
        For the l2 ball of radius 1 in k dimensions with equal weights.
    """

    size: int
    kept: float
    part: FloorCertificate

    @property
    def method(self) -> str:
        """Kind of the bound used."""
        return f"ball as large as a projection, {self.part.method}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """K / k times the bound for the ball; 0 where it does not apply."""
        side = sensitivity.ball_radius(math.inf)
        if not side or not np.all(weights == weights[0]):
            return 0.0
        K, k = sensitivity.dimension, self.size
        if not 1 <= k <= K or not 0.0 < self.kept <= 1.0:
            return 0.0
        spent = spent_on_average(self.kept, delta)
        if not spent < 1.0:
            return 0.0
        radius = side * float(projected_radius(K, np.array(k)))
        radius *= self.kept ** (1.0 / k) * (1.0 - _MARGIN)
        inner = self.part.bound(L2(1.0, k), epsilon, spent, np.ones(k))
        return float(weights[0]) * (K / k) * radius**2 * inner * (1.0 - _MARGIN)


def spent_on_average(kept: float, delta: float) -> float:
    """Delta for the ball of a share of the volume, rounded up; 0 for delta = 0."""
    return delta * (1.0 + _MARGIN) / max(1.0 - kept, 1e-300) if delta > 0.0 else 0.0


def projected_radius(K: int, size: Array) -> Array:
    """Radius of the k-ball as large as images of the unit cube on average; the larger of two means.

    Of projections to random subspaces, by Kubota's formula, and of sums of x_i u_i with random
    unit vectors u_i, divided by sqrt(K / k).
    """
    k = np.asarray(size, dtype=float)
    subspace = _log_ball(K - k) - _log_ball(np.array(float(K)))
    rise = special.gammaln(0.5 * (k + 1.0))
    determinant = rise - 0.5 * math.log(math.pi) + k * (special.gammaln(0.5 * k) - rise)
    chosen = special.gammaln(K + 1.0) - special.gammaln(k + 1.0) - special.gammaln(K - k + 1.0)
    directions = chosen + determinant - _log_ball(k) + 0.5 * k * np.log(k / K)
    rounding = _UNIT * (special.gammaln(K + 2.0) + 20.0 * k) / k  # of the largest term
    return 2.0 * np.exp(np.maximum(subspace, directions) / k - rounding)


def _log_ball(k: Array) -> Array:
    """The logarithm of the volume of the unit ball in k dimensions."""
    return 0.5 * k * math.log(math.pi) - special.gammaln(0.5 * k + 1.0)


def projected_cubes(K: int, epsilon: float, delta: float) -> list[ProjectedCube]:
    """Certificates for the unit cube of K coordinates that may prove something."""
    if K < 3:  # the image would be an interval
        return []
    if delta == 0.0:
        few = sorted({max(2, round(share * K)) for share in _IMAGES} - {K})
        return [ProjectedCube(k, 1.0, radial_certificate(k, epsilon)) for k in few]
    if epsilon > LARGEST_EPSILON:
        return []
    group, wide, spent = grouped(epsilon, delta)
    sizes = np.unique(np.geomspace(2, min(K - 1, MOST_TESTED), 40).round().astype(int))
    shares = [best_share(int(k), wide, spent) for k in sizes]
    likely = np.array([share[1] for share in shares]) * projected_radius(K, sizes) ** 2
    best = int(np.argmax(likely))
    k, kept = int(sizes[best]), shares[best][0]
    test = averaged_test(k, wide, spent, kept)
    return [ProjectedCube(k, kept, replace(test, group=group * test.group))] if test else []


def ball_radius(sensitivity: Sensitivity, weights: Array) -> float:
    """Radius, rounded down, of the ball as large as the set stretched by sqrt(w_i).

    Both in the active coordinates, whose weights are positive.
    """
    K = weights.size
    unit = 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
    stretch = 0.5 * math.fsum(np.log(weights))
    return math.exp((sensitivity.log_volume + stretch - unit) / K) * (1.0 - _MARGIN)


def heaviest(
    sensitivity: Sensitivity, weights: Array, size: int, power: int = 2
) -> tuple[Sensitivity, Array] | None:
    """The set and the weights of the heaviest coordinates, if there are so many; `exchangeable`."""
    if sensitivity.flat or not sensitivity.convex:
        return None
    active = sensitivity.box > 0.0
    if size == np.count_nonzero(active):
        found = sensitivity, weights[active]
    else:
        unit = exchangeable(sensitivity, weights, power)
        if unit is None or not 1 <= size < unit[1].size:
            return None
        found = unit[0].restricted(range(size)), np.sort(unit[1])[::-1][:size]
    return found if np.min(found[1]) > 0.0 else None


def rearrangements(
    sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array, *, known: float
) -> list[Rearrangement]:
    """Certificates that may prove more than is known; none for fewer than 2 coordinates."""
    size = best_size(sensitivity, weights, lambda k: 3.0 * np.log(k + 0.3))
    if size < 2:
        return []
    if delta == 0.0:
        return [Rearrangement(size, 1.0, radial_certificate(size, epsilon))]
    found = heaviest(sensitivity, weights, size)
    if found is None or size > MOST_TESTED or epsilon > LARGEST_EPSILON:
        return []
    group, wide, spent = grouped(epsilon, delta)
    kept, _, most = best_share(size, wide, spent)
    if size * (group * ball_radius(*found)) ** 2 * most < known:
        return []
    test = averaged_test(size, wide, spent, kept)
    return [Rearrangement(size, kept, replace(test, group=group * test.group))] if test else []


def averaged_test(
    K: int, epsilon: float, delta: float, kept: float, order: int = 2
) -> RadialTest | None:
    """The radial test for the ball with a share `kept` of the volume, delta > 0; None if none."""
    spent = spent_on_average(kept, delta)
    quick = FAST if epsilon > _LARGE_STEP else _QUICK
    return radial_test(K, epsilon, spent, quick, order) if spent < 1.0 else None


def grouped(epsilon: float, delta: float) -> tuple[int, float, float]:
    """Number of sensitivities that a shift is long, and its budget."""
    group = max(1, math.floor(_STEP / epsilon))
    # ends: halves an integer down to 1
    while group > 1 and group_budget(group, epsilon, delta)[1] > _LARGEST_SPENT:
        group //= 2
    return group, *group_budget(group, epsilon, delta)


def best_share(K: int, epsilon: float, delta: float) -> tuple[float, float, float]:
    """Share of the volume that promises most, a guess at the floor and what it cannot exceed.

    From the variances of Gaussian and K-norm noise for the ball.
    """
    spent = np.clip(delta / (1.0 - _SHARES), 1e-300, 1.0 - 1e-9)
    gaussian = np.asarray(gaussian_sigma(epsilon, spent)) ** 2
    k_norm, scale = (K + 1.0) / epsilon**2, _SHARES ** (2.0 / K)
    guess = scale / (1.0 / gaussian + 1.0 / k_norm)
    best = int(np.argmax(guess))
    most = float(np.max(scale * np.minimum(gaussian, k_norm)))
    return float(_SHARES[best]), float(guess[best]), most


def best_size(
    sensitivity: Sensitivity, weights: Array, rise: Callable[[Array], Array], power: int = 2
) -> int:
    """Number of the heaviest coordinates that promises most; 0 where there is none.

    The bound for k coordinates is near e^rise(k) times the geometric mean of their weights.
    """
    if sensitivity.flat or not sensitivity.convex:
        return 0
    unit = exchangeable(sensitivity, weights, power)
    if unit is None or not unit[0].ball_radius(math.inf):
        active = weights[sensitivity.box > 0.0]
        return active.size if np.min(active) > 0.0 else 0
    heavy = np.sort(unit[1][unit[1] > 0.0])[::-1]
    if heavy.size == 0:
        return 0
    k = np.arange(1.0, heavy.size + 1.0)
    return int(np.argmax(rise(k) + np.cumsum(np.log(heavy)) / k)) + 1
