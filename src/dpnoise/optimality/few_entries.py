"""Floors for differences of few entries: what holds without convexity (docs/floor.md, section 7).

A person who is in at most m of K counts changes few of them at once. The differences are not
convex, and noise that hides them need not hide the convex set around them. Three bounds use
differences of this kind alone; projections (`dpnoise.optimality.certificates`) are a fourth.

*Sums of g differences.* By group privacy T hides all sums of g differences at g epsilon. Seen in k
of the coordinates these have a volume, for k <= m at g = 1 already. Neither the rearrangement of
section 9 nor the inequality of Brunn and Minkowski in section 11 needs a convex set, so that both
bounds hold with that volume. In units of the largest change a sum of g differences may be any
vector whose entries, rounded up, can be shared out among g differences: if n of m entries of one
sign move at once, {ceil(d_i) <= g, sum of ceil(d_i) <= g m}. Its volume is the number of vectors of
whole numbers from 1 to g with a sum of at most g m, an alternating sum of binomial coefficients.

*One step* for large epsilon, as in section 10, from a ball around 0 to points y of which y - x is a
difference for all x of the ball: of a cube of k coordinates (`dpnoise.optimality.closed_forms`) or
of the vectors of one sign.

*Whole numbers.* If T hides whole differences, T + U hides all differences whose entries, rounded
up, are such, U uniform on the cube of side 1 around 0: what is proved of these holds for T but for
the variance 1/12 of U. Where that is too much, the mass at one point and at all points a difference
away from it is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.optimality.closed_forms import (
    Shape,
    one_step,
    radial_certificate,
    smallest_moment,
    step_group,
    steps,
)
from dpnoise.optimality.rearrangement import (
    LARGEST_EPSILON,
    MOST_TESTED,
    averaged_test,
    best_share,
    spent_on_average,
)
from dpnoise.optimality.scalar_floor import (
    UNIFORM_COST,
    WholePoints,
    group_budget,
    one_whole_step,
    without_uniform,
)
from dpnoise.sensitivity.balls import L2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array
    from dpnoise.optimality.certificates import FloorCertificate
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise.sensitivity.differences import Differences

_MARGIN = 1e-11  # relative, of roots of volumes and sums of squares
# Of U in one coordinate; its largest entry is at most 1/2.
_LOST = {"variance": UNIFORM_COST[2], "mean-abs": UNIFORM_COST[1], "max": 0.5}


class _Effort(NamedTuple):
    """How many bounds are tried."""

    coordinates: int = 8  # sizes k
    groups: int = 10  # numbers g of differences
    largest: int = 200  # coordinates in a bound
    proved: int = 3  # of which the bound is computed, without delta
    most_points: int = 60  # coordinates whose whole differences are counted
    terms: int = 20_000  # of the volume of one-sided sums


_EFFORT = _Effort()
_GAMMAS = np.geomspace(1e-3, 1.0, 12)  # of staircases, for guesses


def _shared(j: int, g: int, m: int) -> int:
    """The number of vectors of j whole numbers from 1 to g with a sum of at most g m."""
    if j <= m:
        return g**j
    signs = ((-1) ** i * math.comb(j, i) * math.comb(g * (m - i), j) for i in range(m + 1))
    return sum(signs)


@lru_cache(maxsize=4096)
def sum_volume(kind: tuple[int, int, int], k: int, g: int) -> int:
    """The volume of the sums of g differences in k coordinates, for changes up to 1.

    Of (up, down, moved) as of `Differences`; 0 for other combinations than those of a set.
    """
    up, down, moved = kind
    if down == moved:  # any signs
        return 2**k * _shared(k, g, moved)
    if down == up:  # few entries of either sign
        return sum(
            math.comb(k, j) * _shared(j, g, up) * _shared(k - j, g, up) for j in range(k + 1)
        )
    if down > 0:
        return 0
    # a differences of one sign and g - a of the other, a being the least that is enough
    total = 2 * _shared(k, g, up)
    for j in range(1, k):
        before = 0
        for a in range(1, g):
            within = _shared(j, a, up)
            total += math.comb(k, j) * (within - before) * _shared(k - j, g - a, up)
            before = within
    return total


def log_volume(found: Differences, k: int, g: int) -> float:
    """Logarithm of the volume of the sums of g differences in k coordinates; -inf without one."""
    if found.full or not 1 <= k <= found.of or g < 1:
        return -math.inf
    number = sum_volume((found.up, found.down, found.moved), k, g)
    return k * math.log(found.size) + math.log(number) if number else -math.inf


def _log_ball(k: float | Array) -> Array:
    from scipy.special import gammaln  # noqa: PLC0415 - as of `dpnoise.optimality.rearrangement`

    return 0.5 * np.asarray(k) * math.log(math.pi) - gammaln(0.5 * np.asarray(k) + 1.0)


@dataclass(frozen=True)
class SummedDifferences:
    """Certificate from the ball as large as the sums of g differences, seen in k coordinates.

    Parameters
    ----------
    error : str
        "variance", "mean-abs", "max" or "norm".
    size, steps : int
        The number k of coordinates and g of differences.
    kept : float
        For delta > 0, the volume of the ball used as a share of that of the sums; else 1.
    part : FloorCertificate or None
        For the l2 ball of radius 1; None for errors other than the variance at delta = 0.
    """

    error: str
    size: int
    steps: int
    kept: float = 1.0
    part: FloorCertificate | None = None

    @property
    def method(self) -> str:
        """Kind of the bound."""
        what = f"sums of {self.steps}" if self.steps > 1 else "differences"
        kind = self.part.method if self.part else "staircase in the norm of the error"
        return f"{what} in {self.size} coordinates, {kind}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """The bound for the least of the weights; 0 where it does not apply."""
        found = sensitivity.differences
        if found is None or not 0.0 < self.kept <= 1.0:
            return 0.0
        k, w, K = self.size, float(np.min(weights)), found.of
        volume = log_volume(found, k, self.steps)
        wide, spent = group_budget(self.steps, epsilon, delta)
        spent = spent_on_average(self.kept, spent)
        if volume == -math.inf or not spent < 1.0 or (self.error == "norm" and k != K):
            return 0.0
        inner = self._of_ball(wide, spent)
        if self.error == "variance":
            square = math.exp(2.0 * (volume - float(_log_ball(k))) / k) * inner
            return _spared(found, "variance", w * K, w * K / k * square)
        unit = k * math.log(2.0)
        if self.error == "norm":
            unit = sensitivity.log_volume
        elif self.error == "mean-abs":
            unit -= math.lgamma(k + 1.0)
        value = math.exp((volume - unit) / k) * inner
        if self.error == "norm":
            lost = float(sensitivity.norm(np.full(K, 0.5))) if found.whole else 0.0
            return without_uniform(value, lost, _MARGIN)
        total, many = (w * K, w * K / k) if self.error == "mean-abs" else (w, w)
        return _spared(found, self.error, total, many * value)

    def _of_ball(self, epsilon: float, delta: float) -> float:
        """Lower bound on E |T|^2 or E |T| for the l2 ball of radius 1, times its share."""
        k = self.size
        if self.part is None:
            if self.error == "variance" or delta > 0.0:
                return 0.0
            group = step_group(k, epsilon)
            return group * smallest_moment(k, group * epsilon, 1)[0]
        power = 2 if self.error == "variance" else 1
        if power == 1 and getattr(self.part, "order", 2) != 1:
            return 0.0
        inner = self.part.bound(L2(1.0, k), epsilon, delta, np.ones(k))
        return self.kept ** (power / k) * inner


def _spared(found: Differences, error: str, total: float, value: float) -> float:
    """A bound for T + U as one for T, where differences are whole; `total` is of the weights."""
    return without_uniform(value, _LOST[error] * total if found.whole else 0.0, _MARGIN)


def one_sided(k: int) -> Shape:
    """The vectors in k coordinates of one sign and their negatives, with changes up to 1."""
    return Shape(k, math.log(2.0), k / 3.0, 1.0, one_sided=True)


@dataclass(frozen=True)
class OneSidedStep:
    """Certificate of one step outwards, for vectors of one sign.

    Parameters
    ----------
    size : int
        The number k of coordinates.
    share : float
        s in units of the largest change, below 1/2.
    """

    size: int
    share: float

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return f"one step in {self.size} coordinates"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Least weight times the bound on E |T|^2 of all; 0 where it does not apply."""
        found = sensitivity.differences
        if found is None or found.full:
            return 0.0
        if not 1 <= self.size <= found.up or not 0.0 < self.share < 0.5:
            return 0.0
        value = float(one_step(one_sided(self.size), epsilon, delta, np.array([self.share]))[0])
        total = float(np.min(weights)) * found.of
        return _spared(found, "variance", total, total / self.size * value * found.size**2)


@dataclass(frozen=True)
class WholeStep:
    """Certificate of one step outwards for whole differences.

    Parameters
    ----------
    error : str
        "variance", "mean-abs" or "max".
    size : int
        The number k of coordinates.
    """

    error: str
    size: int

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return f"one whole step in {self.size} coordinates"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Least weight times the bound of all coordinates; 0 where it does not apply."""
        found, k = sensitivity.differences, self.size
        if found is None or not 1 <= k <= min(found.of, _EFFORT.most_points):
            return 0.0
        if found.listed or not (found.whole or found.full) or (found.full and k != found.of):
            return 0.0
        unit = found.size if found.full else 1.0
        number, total = counted(found, k, self.error)
        if max(number, total) > 2**53:  # more than doubles count
            return 0.0
        power = 2 if self.error == "variance" else 1
        points = WholePoints(k, float(number), float(total))
        value = one_whole_step(points, epsilon, delta, power)
        w = float(np.min(weights))
        many = w if self.error == "max" else w * found.of / k
        return many * unit**power * value * (1.0 - _MARGIN)


@lru_cache(maxsize=4096)
def counted(found: Differences, k: int, error: str) -> tuple[int, int]:
    """The number of differences other than 0 in k coordinates, and the sum of what they measure.

    Of whole differences the squares, the l1 norms or the largest entries, in units of 1.
    """
    n = 1 if found.full else int(found.size)
    number = total = 0
    for up in range(min(found.up, k) + 1):
        for down in range(min(found.up, k - up) + 1):
            j = up + down
            pattern = found.holds_pattern(up, down)
            if j == 0 or not pattern:
                continue
            places = math.comb(k, up) * math.comb(k - up, down)
            number += places * n**j
            if error == "variance":
                total += places * j * n ** (j - 1) * (n * (n + 1) * (2 * n + 1) // 6)
            elif error == "mean-abs":
                total += places * j * n ** (j - 1) * (n * (n + 1) // 2)
            else:
                total += places * sum(t * (t**j - (t - 1) ** j) for t in range(1, n + 1))
    return number, total


def few_entries(
    found: Differences, error: str, epsilon: float, delta: float
) -> list[FloorCertificate]:
    """Certificates that may prove something; of unequal weights they use the least."""
    tried: list[FloorCertificate] = []
    if found.listed:
        return tried
    if found.whole or found.full:
        tried += _whole_steps(found, error, epsilon)
    if found.full:
        return tried
    if error == "variance" and found.down == 0:
        tried += _one_sided_steps(found, epsilon, delta)
    return tried + list(_sums(found, error, epsilon, delta))


def _sizes(most: int) -> list[int]:
    """Numbers of coordinates that are tried, from 1 to `most`."""
    top = min(most, _EFFORT.largest)
    return sorted({round(x) for x in np.geomspace(1.0, top, _EFFORT.coordinates).tolist()})


def _whole_steps(found: Differences, error: str, epsilon: float) -> Iterator[WholeStep]:
    """Steps in the number of coordinates that promises most."""
    if error == "norm" or (found.full and found.of > _EFFORT.most_points):
        return
    top = min(found.of, _EFFORT.most_points)
    growth = math.exp(min(epsilon, 700.0))
    for k in [found.of] if found.full else sorted({1, *_sizes(top), top}):
        number, _ = counted(found, k, error)
        yield WholeStep(error, k)
        if number > growth:  # more coordinates say no more
            return


def _one_sided_steps(found: Differences, epsilon: float, delta: float) -> list[OneSidedStep]:
    """The best step for some numbers of coordinates."""
    tried = []
    for k in _sizes(found.up):
        shape = one_sided(k)
        s = np.minimum(steps(shape, epsilon), 0.49)
        values = one_step(shape, epsilon, delta, s)
        best = int(np.argmax(values))
        if values[best] > 0.0:
            tried.append(OneSidedStep(k, float(s[best])))
    return tried


def _pairs(found: Differences, error: str, epsilon: float) -> list[tuple[int, int]]:
    """Pairs (k, g) of which the sums have a volume and the bound says something."""
    pairs = []
    for k in _sizes(found.of) if error != "norm" else [found.of]:
        most = max(1.0, min(3.0 * k + 10.0, LARGEST_EPSILON) / epsilon)
        if k <= found.moved and found.down == found.moved:  # a cube: sums say no more
            most = 1.0
        if found.down == 0:  # counted one by one
            most = min(most, max(1.0, _EFFORT.terms / (k * (found.up if k > found.up else 1))))
        groups = np.geomspace(1.0, most, _EFFORT.groups).round().astype(int)
        pairs += [(k, int(g)) for g in np.unique(groups)]
    return pairs


def _sums(
    found: Differences, error: str, epsilon: float, delta: float
) -> Iterator[SummedDifferences]:
    """The likeliest of the bounds by sums of differences."""
    if error == "norm" and found.of > _EFFORT.largest:
        return
    rows = []
    for k, g in _pairs(found, error, epsilon):
        volume = log_volume(found, k, g)
        wide, spent = group_budget(g, epsilon, delta)
        usable = delta == 0.0 or (2 <= k <= MOST_TESTED and wide <= LARGEST_EPSILON)
        if volume == -math.inf or not spent < 1.0 or not usable:
            continue
        radius = (volume - float(_log_ball(k))) / k
        kept, guess = 1.0, float(_guess(k, wide))
        if delta > 0.0:
            kept, guess, _ = best_share(k, wide, spent)
        rows.append((2.0 * radius + math.log(guess), k, g, kept))
    rows.sort(reverse=True)
    if delta == 0.0:
        for _, k, g, _ in rows[: _EFFORT.proved]:
            part = radial_certificate(k, g * epsilon) if error == "variance" else None
            yield SummedDifferences(error, k, g, 1.0, part)
        return
    order = 2 if error == "variance" else 1
    for _, k, g, kept in rows[:1]:
        test = averaged_test(k, *group_budget(g, epsilon, delta), kept, order)
        if test:
            yield SummedDifferences(error, k, g, kept, test)


def _guess(k: int, epsilon: float) -> Array:
    """About the least mean variance for the l2 ball of radius 1."""
    if epsilon < 0.5 * k:
        return np.asarray((k + 1.0) / epsilon**2)
    n = np.arange(math.ceil((k + 60.0) / epsilon) + 2.0)
    gamma = np.concatenate([_GAMMAS, np.exp(-epsilon / (k + 2.0)) * np.array([0.5, 1.0, 2.0])])
    x = gamma[:, None] + n
    mass = np.exp(-epsilon * n + k * np.log(x))
    ratio = np.sum(mass * x * x, axis=1) / np.sum(mass, axis=1)
    return np.asarray(np.min(ratio) / (k + 2.0))
