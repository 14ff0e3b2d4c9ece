"""Lower bound on sum w_i sigma_i^2 from the volume of the set (docs/floor.md, section 9).

Let noise with density f be (epsilon, delta)-DP for D, and let f* be the symmetric decreasing
rearrangement of f: radial, falling, with level sets as large as those of f. Its second moment is at
most that of f. By Riesz's inequality it is, on average over the shifts d in the l2 ball D* as large
as D, as private as f is on average over D. What a shift costs f* rises with its length. So f* is
(epsilon, delta / (1 - lambda^K))-DP for the ball of lambda times the radius of D*, and every floor
under noise for that ball holds for E |T|^2. At delta = 0 lambda = 1 will do.

Weights stretch the set: sqrt(w_i) T_i is noise for the differences sqrt(w_i) d_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.optimality.certificates import Certificate, exchangeable, subset
from dpnoise.optimality.radial_floor import radial_certificate
from dpnoise.optimality.radial_search import FAST, FINE, Effort, radial_test
from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.sensitivity.balls import L2, LInf

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_MARGIN = 1e-11  # relative, of the volume of a ball with the radius found
_SHARES = 1.0 - np.geomspace(1e-4, 0.95, 60)  # of the ball's volume that is kept, lambda^K
_MOST_TESTED, _LARGEST_EPSILON = 1000, 300.0  # coordinates and epsilon of radial tests
_MOST_LOST = 0.97  # of the volume that is given up, at most
_LARGEST_SPENT = 0.05  # delta of a group
_STEP = 0.5  # wanted of group times epsilon
_LARGE_STEP = 1.5
_QUICK = Effort(100, 25_000, 6, 7)  # for smaller ones: there tests take longer
_TRIED = 1.0, 3.0, 0.4  # factors of 1 - lambda^K, where there is time


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
    part : Certificate
        For the l2 ball of radius 1 with equal weights.
    """

    size: int
    kept: float
    part: Certificate

    @property
    def method(self) -> str:
        """Kind of the bound used."""
        return f"ball of equal volume, {self.part.method}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Bound for the ball; 0 where it does not apply."""
        found = _heaviest(sensitivity, weights, self.size)
        if found is None or not 0.0 < self.kept <= 1.0:
            return 0.0
        spent = 0.0
        if delta > 0.0:
            spent = delta * (1.0 + _MARGIN) / max(1.0 - self.kept, 1e-300)
            if not spent < 1.0:
                return 0.0
        radius = ball_radius(*found) * self.kept ** (1.0 / self.size)
        inner = self.part.bound(L2(1.0, self.size), epsilon, spent, np.ones(self.size))
        return radius**2 * inner * (1.0 - _MARGIN)


def ball_radius(sensitivity: Sensitivity, weights: Array) -> float:
    """Radius, rounded down, of the ball as large as the set stretched by sqrt(w_i).

    Both in the active coordinates, whose weights are positive.
    """
    K = weights.size
    unit = 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
    stretch = 0.5 * math.fsum(np.log(weights))
    return math.exp((sensitivity.log_volume + stretch - unit) / K) * (1.0 - _MARGIN)


def _heaviest(
    sensitivity: Sensitivity, weights: Array, size: int
) -> tuple[Sensitivity, Array] | None:
    """The set and the weights of the heaviest coordinates, if there are so many."""
    if sensitivity.flat:
        return None
    active = sensitivity.box > 0.0
    if size == np.count_nonzero(active):
        found = sensitivity, weights[active]
    else:
        unit = exchangeable(sensitivity, weights)
        if unit is None or not 1 <= size < unit[1].size:
            return None
        found = subset(unit[0], size), np.sort(unit[1])[::-1][:size]
    return found if np.min(found[1]) > 0.0 else None


def rearrangements(
    sensitivity: Sensitivity,
    epsilon: float,
    delta: float,
    weights: Array,
    *,
    known: float,
    fine: bool,
) -> list[Rearrangement]:
    """Certificates that may prove more than is known; none for fewer than 2 coordinates."""
    size = 0 if sensitivity.flat else _best_size(sensitivity, weights)
    if size < 2:
        return []
    if delta == 0.0:
        return [Rearrangement(size, 1.0, radial_certificate(size, epsilon))]
    found = _heaviest(sensitivity, weights, size)
    if found is None or size > _MOST_TESTED or epsilon > _LARGEST_EPSILON:
        return []
    group = max(1, math.floor(_STEP / epsilon))
    while group > 1 and group_budget(group, epsilon, delta)[1] > _LARGEST_SPENT:
        group //= 2
    wide, spent = group_budget(group, epsilon, delta)
    kept, most = _best_share(size, wide, spent)
    if size * (group * ball_radius(*found)) ** 2 * most < known:
        return []
    quick = FAST if wide > _LARGE_STEP else _QUICK
    certificates = []
    for factor in _TRIED if fine else _TRIED[:1]:
        less = min(factor * (1.0 - kept), _MOST_LOST)
        if spent < less:
            test = radial_test(size, wide, spent / less, FINE if fine else quick)
            if test:
                part = replace(test, group=group * test.group)
                certificates.append(Rearrangement(size, 1.0 - less, part))
    return certificates


def _best_share(K: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Share of the volume that promises most, and what no floor for that ball can exceed.

    From the variances of Gaussian and K-norm noise for the ball.
    """
    spent = np.clip(delta / (1.0 - _SHARES), 1e-300, 1.0 - 1e-9)
    gaussian = np.asarray(gaussian_sigma(epsilon, spent)) ** 2
    k_norm, scale = (K + 1.0) / epsilon**2, _SHARES ** (2.0 / K)
    best = int(np.argmax(scale / (1.0 / gaussian + 1.0 / k_norm)))
    return float(_SHARES[best]), float(np.max(scale * np.minimum(gaussian, k_norm)))


def _best_size(sensitivity: Sensitivity, weights: Array) -> int:
    """Number of the heaviest coordinates that promises most; 0 where there is none."""
    unit = exchangeable(sensitivity, weights)
    if unit is None or not isinstance(unit[0], LInf):
        active = weights[sensitivity.box > 0.0]
        return active.size if np.min(active) > 0.0 else 0
    heavy = np.sort(unit[1][unit[1] > 0.0])[::-1]
    if heavy.size == 0:
        return 0
    # The bound for k coordinates is near k^3 times the geometric mean of their weights.
    k = np.arange(1, heavy.size + 1)
    return int(np.argmax(3.0 * np.log(k + 0.3) + np.cumsum(np.log(heavy)) / k)) + 1
