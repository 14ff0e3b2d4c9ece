"""Volumes and moments of the sets of `Counts`, conv(C, -C) and C - C, as ratios of integers.

With V_j, A_j, B_j the volume and the integrals of u_1^2 and u_1 of the cut cubes C_j
(`dpnoise.sensitivity.cut_cube`), the vectors of j given positive and K - j negative entries form
conv(C_j, -C_(K - j)), of volume V_j V_(K - j) j! (K - j)! / K!, or C_j x -C_(K - j). Hence

    |conv(C, -C)| = sum of V_j V_(K - j),    |C - C| = sum of C(K, j) V_j V_(K - j),

and for a uniform point, all integrals being ratios of integers,

    E Z_1^2 = 2 / (K (K + 1) (K + 2) |conv(C, -C)|)  sum of j (j + 1) (j + 2) A_j V_(K - j)
            = 2 / |C - C|  sum of C(K - 1, j - 1) A_j V_(K - j).

The share of a set under the facets that one of its extreme points lies in (docs/joint-noise.md): of
conv(C, -C) those of e_1, on which x_1 is the largest entry; of C - C those of x_i = 1 and x_i = -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpnoise.sensitivity.cut_cube import cut_cubes

if TYPE_CHECKING:
    from collections.abc import Sequence


class Moments(NamedTuple):
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


def add_remove_moments(m: int, K: int) -> Moments:
    """The integers of conv(C, -C); for m = K all V_j are 1, and they have closed forms."""
    if m == K:
        steps = range(12, 12 * (K + 1) + 1, 12)
        return Moments(steps, 2 * (K + 1) * (K + 2), (K + 1) * (K + 2) * (K + 3), 12)
    cut = cut_cubes(m, K)
    cumulated, total, first, square, facets = [], 0, 0, 0, 0
    whole, part = 1, 0  # C(K, j) and C(K - 1, j - 1)
    for j, (own, other) in enumerate(zip(cut.volumes, cut.volumes[::-1], strict=True)):
        total += whole * own * other
        cumulated.append(total)
        if j:
            first += part * cut.first[j] * other
            square += part * cut.square[j] * other
            facets += part * cut.lower[j - 1] * other
        whole, part = whole * (K - j) // (j + 1), whole * (K - j) // K
    return Moments(cumulated, first, square, facets)


def replace_one_moments(m: int, K: int) -> Moments:
    """The integers of C - C."""
    cut = cut_cubes(m, K)
    cumulated, total, first, square, facets = [], 0, 0, 0, 0
    whole, part = 1, 0  # C(K, j) and C(K - 1, j - 1)
    for j, (own, other) in enumerate(zip(cut.volumes, cut.volumes[::-1], strict=True)):
        total += whole * whole * own * other
        cumulated.append(total)
        if j:
            # C(K + 1, j + 1) and C(K + 2, j + 2)
            more = part * K * (K + 1) // (j * (j + 1))
            first += part * more * cut.first[j] * other
            more = more * (K + 2) // (j + 2)
            square += part * more * cut.square[j] * other
            facets += part * part * cut.lower[j - 1] * other
        whole, part = whole * (K - j) // (j + 1), whole * (K - j) // K
    return Moments(cumulated, first, square, min(2 * m, K) * facets)
