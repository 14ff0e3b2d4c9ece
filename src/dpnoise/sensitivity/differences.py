"""True differences between the answers on neighbouring data sets, where they are not convex.

A person who is in one of 20 regions changes one count, and none by a bit: the differences are the
points of 20 segments, and the convex set around them holds more. Privacy may be proved for either.
A lower bound on the error holds for what is promised only if it is proved for the true differences.

Where these are fewer than the points of the convex set, three numbers describe them, the same for
all coordinates: how many entries rise, how many fall, and how far. All entries that are not 0 may
have any place.

**Unit cubes cut at a sum** are C_j = {0 <= u_i <= 1, u_1 + ... + u_j <= m}.

With the iterated integrals of the distribution function of a sum of j uniform variates

    g_p(j, x) = sum over k of (-1)^k C(j, k) (x - k)_+^(j + p) / (j + p)!,

g_0(j, m) is the volume V_j of C_j. They obey

    (j + p) g_p(j, x) = x g_p(j - 1, x) + (j - x) g_p(j - 1, x - 1),
    g_p(j, x) - g_p(j, x - 1) = g_(p - 1)(j + 1, x),

the first by C(j, k) = C(j - 1, k) + C(j - 1, k - 1) and k C(j, k) = j C(j - 1, k - 1), the second
by the first of these. So R_j(x) = (j + 2)! g_2(j, x) is an integer for whole x, and gives all
others.
By parts, with m in the place of x where none is given,

    B_j = int u_1 = g_1(j) - g_1(j - 1, m - 1),
    A_j = int u_1^2 = 2 (g_2(j) - g_2(j - 1, m - 1)) - g_1(j - 1, m - 1).

Uniform points are tilted towards sums of m and thinned: u_i with density proportional to
exp(-t u) are kept with probability exp(-t (m - sum u_i)) if their sum is at most m.

**Volumes and moments of the sets of `Counts`**, conv(C, -C) and C - C, are ratios of integers. The
vectors of j given positive and K - j negative entries form conv(C_j, -C_(K - j)), of volume V_j
V_(K - j) j! (K - j)! / K!, or C_j x -C_(K - j). Hence

    |conv(C, -C)| = sum of V_j V_(K - j),    |C - C| = sum of C(K, j) V_j V_(K - j),

and for a uniform point, all integrals being ratios of integers,

    E Z_1^2 = 2 / (K (K + 1) (K + 2) |conv(C, -C)|)  sum of j (j + 1) (j + 2) A_j V_(K - j)
            = 2 / |C - C|  sum of C(K - 1, j - 1) A_j V_(K - j).

The share of a set under the facets that one of its extreme points lies in (docs/joint-noise.md): of
conv(C, -C) those of e_1, on which x_1 is the largest entry; of C - C those of x_i = 1 and x_i = -1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array, BoolArray


@dataclass(frozen=True)
class Differences:
    """The vectors d of K entries of which d or -d has few that rise and few that fall.

    Parameters
    ----------
    of : int
        The number K of entries.
    up, down : int
        The most entries above 0 and the most below 0, of d or of -d; `up` is at least `down`.
    moved : int
        The most entries that are not 0.
    size : float
        The largest |d_i|, the same for all coordinates.
    whole : bool
        Whether entries are whole numbers. If not, with d also t d is a difference, 0 <= t <= 1.
    full : bool
        Whether as many entries rise as fall, and each that is not 0 is `size` or -`size`.

    Examples
    --------
    >>> from dpnoise import Counts
    >>> found = Counts(3, of=12, relation="add-remove").differences
    >>> found
    Differences(of=12, up=3, down=0, moved=3, size=1.0, whole=True, full=False)
    >>> found.holds([[1.0] * 3 + [0.0] * 9, [0.25] * 12]).tolist()    # both are in the convex set
    [True, False]
    """

    of: int
    up: int
    down: int
    moved: int
    size: float
    whole: bool = False
    full: bool = False

    listed: ClassVar[bool] = False  # whether the places of entries are those of a list

    def holds_pattern(self, up: int, down: int) -> bool:
        """Whether d with so many entries `size` and so many -`size` are differences."""
        few = self.down >= min(up, down) and self.up >= max(up, down) and up + down <= self.moved
        return few and (up == down or not self.full)

    def holds(self, d: Array) -> BoolArray:
        """Whether vectors are differences.

        Parameters
        ----------
        d : array_like, shape (..., K)
            Vectors.

        Returns
        -------
        numpy.ndarray of bool, shape (...)
        """
        d = np.asarray(d, dtype=float)
        up, down = np.sum(d > 0.0, axis=-1), np.sum(d < 0.0, axis=-1)
        few = (np.maximum(up, down) <= self.up) & (np.minimum(up, down) <= self.down)
        good = few & (up + down <= self.moved) & (np.max(np.abs(d), axis=-1) <= self.size)
        if self.whole:
            good &= np.all(d == np.rint(d), axis=-1)
        if self.full:
            good &= (up == down) & np.all((d == 0.0) | (np.abs(d) == self.size), axis=-1)
        return good


@dataclass(frozen=True, eq=False)
class ListedDifferences(Differences):
    """A list of vectors and their negatives; the numbers bound what these have.

    Entries may not have any place, so that only `moved`, `size` and `whole` are used.

    Parameters
    ----------
    columns : sparse array, shape (of, N)
        One of each pair.
    """

    columns: Any = None

    listed = True

    def holds_pattern(self, up: int, down: int) -> bool:  # noqa: ARG002
        """False: no numbers of entries are enough."""
        return False

    def holds(self, d: Array) -> BoolArray:
        """Whether vectors, shape (..., K), are 0 or in the list, up to the sign; shape (...)."""
        d = np.asarray(d, dtype=float)
        known = {row.tobytes() for row in self.columns.T.toarray() + 0.0}
        rows = d.reshape(-1, self.of) + 0.0
        found = [not x.any() or x.tobytes() in known or (0.0 - x).tobytes() in known for x in rows]
        return np.array(found, dtype=bool).reshape(d.shape[:-1])


_ENTRIES = 2**20  # drawn at a time
_MOST_VERTICES = 2**12  # that are listed


class CutCubes(NamedTuple):
    """Integrals over the C_j, j = 0, ..., K, as integers.

    Attributes
    ----------
    volumes : list of int
        j! V_j.
    lower : list of int
        j! V_j for m - 1 in the place of m.
    first, square : list of int
        (j + 1)! B_j and (j + 2)! A_j; 0 for j = 0.
    """

    volumes: list[int]
    lower: list[int]
    first: list[int]
    square: list[int]


def cut_cubes(m: int, most: int) -> CutCubes:
    """Integrals over the cut cubes of up to K = `most` dimensions, in about m K steps."""
    row = [0, 0, 0, *(x * x for x in range(m + 1))]  # R_0(x) for x = -3, ..., m
    ends = [row[-4:]]
    for j in range(1, most + 1):
        steps = zip(range(m + 1), row[3:], row[2:-1], strict=True)
        row = [0, 0, 0, *(x * here + (j - x) * left for x, here, left in steps)]
        ends.append(row[-4:])
    # (j + 1)! g_1(j, x) for x = m - 2, m - 1 and m
    slopes = [[max(m - 2, 0), m - 1, m]]
    slopes += [[r[1] - r[0], r[2] - r[1], r[3] - r[2]] for r in ends[:-1]]
    volumes, lower, first, square = [1], [1], [0], [0]
    for j in range(1, most + 1):
        before, after = slopes[j - 1], slopes[j]
        volumes.append(before[2] - before[1])
        lower.append(before[1] - before[0])
        first.append(after[2] - (j + 1) * before[1])
        inner = ends[j][3] - (j + 2) * ends[j - 1][2]
        square.append(2 * inner - (j + 2) * (j + 1) * before[1])
    return CutCubes(volumes, lower, first, square)


def tilt_of(m: int, dimension: int) -> float:
    """The tilt t, which decides only how many points are thinned out.

    By Kroger's approximation to the inverse Langevin function (Journal of Non-Newtonian Fluid
    Mechanics 223, 2015).
    """
    y = max(0.0, 1.0 - 2.0 * m / dimension) if dimension else 0.0
    return 2.0 * y * (3.0 - y * y * (6.0 + y * y - 2.0 * y**4) / 5.0) / (1.0 - y * y)


def uniform_points(
    m: int, dimension: int, number: int, rng: np.random.Generator, rows: int | None = None
) -> Array:
    """Uniform points of the cut cube, shape (number, dimension); `rows` are tried at a time."""
    if m >= dimension:
        return rng.uniform(size=(number, dimension))
    tilt = tilt_of(m, dimension)
    found = np.empty((number, dimension))
    filled, share = 0, 1.0
    # ends: a rejection sampler: ends with probability 1, each point after about sqrt(K) trials
    while filled < number:
        tries = rows or min(int((number - filled) / share) + 8, max(1, _ENTRIES // dimension))
        u = rng.uniform(size=(tries, dimension))
        if tilt > 0.0:
            u = -np.log1p(u * math.expm1(-tilt)) / tilt
        spare = m - np.sum(u, axis=-1)
        keep = (spare >= 0.0) & (rng.standard_exponential(tries) >= tilt * spare)
        new = u[keep]
        share = max((len(new) + 1.0) / (tries + 1.0), 1e-3)
        new = new[: number - filled]
        found[filled : filled + len(new)] = new
        filled += len(new)
    return found


def corners(sides: Array) -> Array | None:
    """Corners of a box, one of each pair, shape (n, K); None if there are many."""
    K = sides.size
    if _MOST_VERTICES.bit_length() < K:
        return None
    signs = np.array(list(product((1.0, -1.0), repeat=K - 1))).reshape(2 ** (K - 1), K - 1)
    return sides * np.hstack([np.ones((signs.shape[0], 1)), signs])


def listed_vertices(K: int, patterns: list[tuple[int, int]], each: float) -> Array | None:
    """Vectors with the numbers of entries `each` and -`each` of a pattern; None if there are many.

    All places are taken; of two patterns that differ by the sign both may be given.
    """
    found: list[Array] = []
    for up, down in patterns:
        few = K <= _MOST_VERTICES and min(up + down, K - up - down) <= _MOST_VERTICES.bit_length()
        if not few:
            return None
        number = math.comb(K, up) * math.comb(K - up, down)
        if len(found) + number > _MOST_VERTICES:
            return None
        for first in combinations(range(K), up):
            for second in combinations(sorted(set(range(K)) - set(first)), down):
                vector = np.zeros(K)
                vector[list(first)], vector[list(second)] = each, -each
                found.append(vector)
    return np.array(found)


class VolumeMoments(NamedTuple):
    """Integers by which a set is measured, for c = 1.

    Attributes
    ----------
    cumulated : sequence of int
        For j = 0, ..., K a multiple of the volume of the vectors with at most j positive entries.
    first, square : int
        (K + 1) total E|Z_1| / 2 and (K + 1) (K + 2) total E Z_1^2 / 2.
    facets : int
        The share of the set under facets that one extreme point lies in, times the total.
    """

    cumulated: Sequence[int]
    first: int
    square: int
    facets: int

    @property
    def total(self) -> int:
        """The multiple of the volume."""
        return self.cumulated[-1]


def volume_moments(m: int, K: int, *, added: bool) -> VolumeMoments:
    """Integers of m of K counts, whose people are added (or removed) or replaced."""
    if added and m == K:
        steps = range(12, 12 * (K + 1) + 1, 12)
        return VolumeMoments(steps, 2 * (K + 1) * (K + 2), (K + 1) * (K + 2) * (K + 3), 12)
    cut, power = cut_cubes(m, K), 1 if added else 2
    cumulated, total, first, square, facets = [], 0, 0, 0, 0
    whole, part = 1, 0  # C(K, j) and C(K - 1, j - 1)
    for j, (own, other) in enumerate(zip(cut.volumes, cut.volumes[::-1], strict=True)):
        total += whole**power * own * other
        cumulated.append(total)
        if j:
            # C(K + 1, j + 1) and C(K + 2, j + 2)
            more = 1 if added else part * K * (K + 1) // (j * (j + 1))
            first += part * more * cut.first[j] * other
            more = 1 if added else more * (K + 2) // (j + 2)
            square += part * more * cut.square[j] * other
            facets += part**power * cut.lower[j - 1] * other
        whole, part = whole * (K - j) // (j + 1), whole * (K - j) // K
    return VolumeMoments(cumulated, first, square, facets if added else min(2 * m, K) * facets)
