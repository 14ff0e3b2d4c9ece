"""Private quantiles: the exponential mechanism on public points, drawn exactly.

McSherry & Talwar, "Mechanism design via differential privacy" (FOCS 2007). A point y misses the
rank q n by d(y) = max(#{x < y} - q n, q n - #{x <= y}, 0), which one record changes by at most 1;
probabilities are proportional to exp(-epsilon d / 2). Points of equal d form a group; groups are
drawn by comparison of a uniform number with sums of balls.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx

from dpnoise._validation import Problems
from dpnoise.releases.answers import Entry, Released, Request
from dpnoise.releases.refining import Uniform
from dpnoise.releases.tails import ball
from dpnoise.releases.totals import read_bounds, read_data

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise.releases.entropy import Entropy


_POINTS = 2**14
_GUARD, _REFINEMENTS = 64, 10


def quantile(
    values: ArrayLike,
    q: float,
    bounds: tuple[float, float],
    request: Request,
) -> Released:
    """The private quantile at q."""
    problems = Problems("release.quantile")
    request.check(problems)
    problems.number("q", q, low=0.0, high=1.0)
    low, high = read_bounds(problems, bounds)
    array = read_data(problems, values)
    problems.raise_if_any()
    points = np.unique(np.linspace(low, high, _POINTS + 1))
    data = np.sort(np.clip(array, low, high))
    before, upto = (np.searchsorted(data, points, side=side) for side in ("left", "right"))
    target, epsilon = Fraction(float(q)) * array.size, float(request.epsilon)
    pairs, group = np.unique(np.stack([before, upto]), axis=1, return_inverse=True)
    group = np.ravel(group)
    misses = [max(int(a) - target, target - int(b), Fraction(0)) for a, b in pairs.T.tolist()]
    falls = [miss * Fraction(epsilon) / 2 for miss in misses]
    entry = Entry(epsilon=epsilon, relation=request.relation)
    request.charge(entry)
    chosen = np.flatnonzero(group == _drawn(falls, np.bincount(group).tolist(), request.entropy))
    value = float(points[chosen[request.entropy.integers(0, chosen.size)]])
    return Released(value, None, None, entry, request.promise("in one record"))


def _drawn(falls: list[Fraction], sizes: list[int], entropy: Entropy) -> int:
    """The number of a group, with probabilities proportional to its size times exp(-fall)."""
    uniform = Uniform(int(entropy.words(1)[0]), entropy)
    smallest = min(falls)
    for _ in range(_REFINEMENTS):
        with ctx.workprec(uniform.bits + _GUARD):
            sums: list[Any] = [arb(0)]
            for fall, size in zip(falls, sizes, strict=True):
                sums.append(sums[-1] + size * (-ball(fall - smallest)).exp())
            place = sums[-1] * arb(
                (2 * uniform.word + 1, -uniform.bits - 1), (1, -uniform.bits - 1)
            )
            low, high = 0, len(sizes)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if place < sums[middle] else (middle, high)
            if (low == 0 or place > sums[low]) and (high == len(sizes) or place < sums[high]):
                return low
        uniform.refine()
    raise RuntimeError(f"release.quantile: a draw is not decided by {uniform.bits} bits")
