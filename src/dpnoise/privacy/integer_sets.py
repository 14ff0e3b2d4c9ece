"""Bounds on delta of independent noise on the integers for the integer points of a set.

For noise that falls with |k| the shift by d dominates that by d' if |d'_i| <= |d_i| for all i
(docs/vector-privacy.md, section 1, with sums for integrals). So delta of a set is the largest of
its maximal integer points, and both of its bounds are attained. Where these points are too many to
list, two bounds hold for all of them:

- the largest loss: discrete Laplace noise loses 1 / beta for each unit of the change, staircase
  noise its epsilon for each step, so that the largest sum of steps counts, in exact arithmetic;
- concentrated privacy: the Renyi divergence of order a of discrete Gaussian noise under a shift by
  d is at most a d^2 / (2 sigma^2) (Canonne, Kamath & Steinke 2020, Proposition 5), so that with the
  largest rho = sum d_i^2 / (2 sigma_i^2) and any a > 1 (their Corollary 13)

      delta <= exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1).

**Integer points of sensitivity sets: differences between answers that are integers.**
Answers that are integers differ by integers, so that noise on the integers has to hide only the
integers among the differences. Of each set with whole-number sizes these are, up to signs, in its
coordinates or in blocks of them, of the form

    {d in Z^n : |d_i| <= c, |d_1|^p + ... + |d_n|^p <= m c^p},   p = 0, 1 or 2 and 0^0 = 0,

an `IntegerPart`: the l1 and l2 ball have m = 1, a cube m = n, 'at most m counts' p = 0, for which
the sum is the number of entries other than 0. Noise that falls with |k| is less private for larger
|d_i|, so that only maximal points count: those of which no entry can grow. Up to signs and the
order of the coordinates they are lists of sizes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.profile import response_log_delta
from dpnoise.privacy.vector import profile_of_counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpnoise._types import IntArray
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.sensitivity.base import Sensitivity

    Sizes = tuple[tuple[int, int], ...]  # size and number of the coordinates that have it
    Shares = list[tuple[IntegerNoise, int, int]]  # noise, change, coordinates

LARGEST_SIZE = 2**30
_MOST_STEPS = 20_000  # of the search for maximal points
_SHOWN = 3


class IntegerPart(NamedTuple):
    """Coordinates of a set that share one bound, in whole numbers.

    Attributes
    ----------
    at : numpy.ndarray of int, shape (n,)
        Which coordinates.
    largest : int
        c, the largest change of one of them.
    power : int
        p, 0, 1 or 2.
    at_once : int
        m, how many of them can change by c at once.
    """

    at: IntArray
    largest: int
    power: int
    at_once: int

    @property
    def total(self) -> int:
        """The largest sum of |d_i|^p."""
        return self.at_once * self.largest**self.power

    @property
    def squares(self) -> int:
        """The largest sum of squares, of m coordinates that change by c."""
        return self.at_once * self.largest**2

    def steps(self, width: int = 1) -> int:
        """The largest sum of ceil(|d_i| / width) over the integer points.

        The first step of a coordinate takes a change by 1, the next ones by `width` more. Steps
        cost more of the total from one to the next, so that the cheapest ones are the most: all
        first steps before all second ones.
        """
        n, p, top = self.at.size, self.power, -(-self.largest // width)
        if p == 0:
            return min(self.at_once, n) * top
        root = self.total // n if p == 1 else math.isqrt(self.total // n)
        each = min((root - 1) // width + 1, top)  # of every coordinate, 0 if root is 0
        if each == top:
            return n * top

        def reach(steps: int) -> int:
            return ((steps - 1) * width + 1) ** p if steps else 0

        rest = self.total - n * reach(each)
        return n * each + rest // (reach(each + 1) - reach(each))

    def maximal(self, most: int) -> list[Sizes] | None:
        """The sizes of all maximal points, None if there are more than `most` or they take long."""
        if self.power == 0:
            return [((self.largest, min(self.at_once, self.at.size)),)]
        found: list[Sizes] = []
        try:
            for sizes in self._search(self.largest, self.total, self.at.size, [_MOST_STEPS]):
                found.append(sizes)
                if len(found) > most:
                    return None
        except _TooLongError:
            return None
        return found

    def _search(self, limit: int, rest: int, n: int, steps: list[int]) -> Iterator[Sizes]:
        """Maximal ways to give `n` coordinates sizes up to a limit, of a total of `rest`."""
        p = self.power
        if rest == 0 or n == 0:
            yield ()
            return
        top = min(limit, rest if p == 1 else math.isqrt(rest))
        for size in range(top, 0, -1):
            steps[0] -= 1
            if steps[0] < 0:
                raise _TooLongError
            cost = size**p
            # With this size everywhere, what is left could still make one of them larger.
            if size < self.largest and rest - n * cost >= (size + 1) ** p - cost:
                return
            for count in range(min(n, rest // cost), 0, -1):
                left = rest - count * cost
                for more in self._search(size - 1, left, n - count, steps):
                    smallest = more[-1][0] if more else size
                    spare = left - sum(k * s**p for s, k in more)
                    full = count + sum(k for _, k in more) == n
                    cheapest = (smallest + 1) ** p - smallest**p if full else 1
                    if spare < cheapest or smallest == self.largest:
                        yield ((size, count), *more)


class _TooLongError(RuntimeError):
    """More steps than are taken."""


def _whole_parts(ball: Sensitivity) -> list[tuple[IntArray, float, int, int]] | None:
    """Blocks {|d_i| <= c, sum |d_i|^p <= m c^p} of which the |d_i| are; None if not known.

    Of each the coordinates, c, p and m. With p = 0 at most m of the d_i are not 0.
    """
    found: list[tuple[IntArray, float, int, int]] = []
    for first, factor in ball.factors():
        true, sides, K = factor.differences, factor.box, factor.dimension
        every = first + np.arange(K)
        if true is not None and true.listed:
            return None
        if true is not None:
            found.append((every, true.size, 0, true.moved))
        elif factor.body.cut == K:
            each = np.unique(sides).tolist()
            groups = [every[sides == size] for size in each]
            found += [(at, size, 1, at.size) for at, size in zip(groups, each, strict=True)]
        elif factor.ball_radius(1.0) or factor.ball_radius(2.0):
            found.append((every, float(sides[0]), 2 if factor.ball_radius(2.0) else 1, 1))
        else:
            return None
    return found


def read_parts(problems: Problems, ball: Sensitivity) -> list[IntegerPart]:
    """The parts of a set for answers that are integers; what has none is recorded."""
    parts = _whole_parts(ball)
    if parts is None:
        problems.add(
            "sensitivity: expected a set whose integer points are known (L1, L2, LInf, Box, AtMost "
            "and products of these; a box around any set is Box(np.ceil(set.box))) for "
            f"integers, got {ball!r}"
        )
        return []
    sizes = sorted({float(size) for _, size, _, _ in parts})
    bad = [size for size in sizes if not (size.is_integer() and 1 <= size <= LARGEST_SIZE)]
    if bad:
        some = ", ".join(map(repr, bad[:_SHOWN])) + ", ..." * (len(bad) > _SHOWN)
        problems.add(
            f"sensitivity: expected whole numbers from 1 to {LARGEST_SIZE} for integers (rounding "
            f"up is safe; leave out coordinates that cannot change), got {some} in {ball!r}"
        )
        return []
    return [IntegerPart(at, int(size), power, many) for at, size, power, many in parts]


def parts_of_set(ball: Sensitivity) -> list[IntegerPart]:
    """The parts of a set; ValueError if it has no meaning for integers."""
    problems = Problems("noise on the integers")
    parts = read_parts(problems, ball)
    problems.raise_if_any()
    return parts


def maximal_points(parts: Sequence[IntegerPart], most: int) -> list[tuple[Sizes, ...]] | None:
    """For each maximal point of a whole set the sizes in each part; None if they are too many."""
    each = []
    number = 1
    for part in parts:
        found = part.maximal(most)
        number *= len(found) if found is not None else most + 1
        if found is None or number > most:
            return None
        each.append(found)
    return list(product(*each))


MOST_POINTS, MOST_PARTS = 128, 16  # more take seconds
PURE, EXACT, CONCENTRATED = "greatest loss", "integer points", "concentrated privacy"
_LATTICE = 2**13  # points: losses of integers meet it, so that few are enough
_RHOS = 1e-12, 1e3  # whose dominating pairs are listed
_EPSILONS, _LAST = 256, 200.0  # how many, and minus the log delta at the last one, about
_ROUNDING = 1e-9  # relative, of the dozen operations of a logarithm up to 1e5


class IntegerBounds(NamedTuple):
    """Proved bounds lower <= delta <= upper for the integer points, and the account of upper."""

    log_lower: float
    log_upper: float
    account: str

    @property
    def lower(self) -> float:
        """The lower bound."""
        return math.exp(self.log_lower)

    @property
    def upper(self) -> float:
        """The upper bound, at least the smallest double unless delta is exactly 0."""
        return max(math.exp(self.log_upper), 5e-324) if self.log_upper > -math.inf else 0.0


def listed_points(parts: Sequence[IntegerPart]) -> list[tuple[Sizes, ...]] | None:
    """The maximal points of a set, None if they are too many, or change by too many sizes."""
    if len(parts) > MOST_PARTS:
        return None
    return maximal_points(parts, MOST_POINTS)


def shares_of_point(noises: Sequence[IntegerNoise], point: tuple[Sizes, ...]) -> Shares:
    """Noise, change and number of the coordinates that a point changes."""
    return [
        (noise, size, count)
        for noise, sizes in zip(noises, point, strict=True)
        for size, count in sizes
    ]


def largest_loss(noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart]) -> Fraction | float:
    """The largest privacy loss over the integer points, exactly; infinite where it has none.

    `noises` has that of the coordinates of each part.
    """
    total: Fraction | float = Fraction(0)
    for noise, part in zip(noises, parts, strict=True):
        step = noise.largest_loss(1)
        if step == math.inf:
            return math.inf
        total += Fraction(step) * part.steps(getattr(noise, "sensitivity", 1))
    return total


def concentration(noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart]) -> Fraction | None:
    """The largest rho of discrete Gaussian noise over the integer points; None for other noise."""
    rho = Fraction(0)
    for noise, part in zip(noises, parts, strict=True):
        pair = noise.zcdp_pair(Fraction(1))
        if pair is None or pair[0] > 0:
            return None
        rho += part.squares * pair[1]
    return rho


def concentrated_log_delta(rho: Fraction, epsilon: float) -> float:
    """Upper bound on log delta at epsilon where all Renyi divergences of order a are a rho."""
    size = as_double_above(rho)
    if not 0.0 < size < 1e100:
        return 0.0
    # Any order is a bound; the best one is near 1 + (epsilon - rho) / (2 rho).
    b = math.log(max((epsilon - size) / (2.0 * size), 1e-3))

    def log_delta(a: float) -> float:
        return (a - 1.0) * (a * size - epsilon) + a * math.log1p(-1.0 / a) - math.log(a - 1.0)

    orders = [1.0 + math.exp(b + 0.02 * k) for k in range(-60, 61)]
    best = min(map(log_delta, orders))
    largest = max(orders)
    error = _ROUNDING * (1.0 + abs(best)) + 2.0**-48 * largest * (largest * size + epsilon)
    return min(best + error, 0.0)


@lru_cache(maxsize=64)
def concentrated_loss(rho: Fraction) -> ListedLoss | None:
    """A pair that dominates noise with all Renyi divergences of order a at most a rho.

    By bounds on its profile at some epsilons. None if `rho` is out of range.
    """
    size = as_double_above(rho)
    if not _RHOS[0] <= size <= _RHOS[1]:
        return None
    top = size + 2.0 * math.sqrt(size * _LAST)
    at = [top * (k + 1) / _EPSILONS for k in range(_EPSILONS)]
    return ListedLoss(tuple(at), tuple(math.exp(concentrated_log_delta(rho, x)) for x in at))


def point_bounds(shares: Shares, epsilon: float, *, size: int = _LATTICE) -> tuple[float, float]:
    """Bounds on log delta for the shift by one point; (-inf, 0) beyond the range of the account."""
    try:
        several = sum(count for _, _, count in shares) > 1
        if several and all(noise.log_concave for noise, _, _ in shares):
            listed = [(n, float(d), k) for n, d, k in shares]
            found = lattice_bounds(listed, epsilon, size=size)
            return float(found.log_lower), float(found.log_upper)
        profile = profile_of_counted(shares, epsilon)
        return float(profile.log_lower), float(profile.log_upper)
    except ValueError:
        return -math.inf, 0.0


def integer_bounds(
    noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart], epsilon: float
) -> IntegerBounds:
    """Bounds on log delta of noise for the integer points of a set.

    `noises` has that of the coordinates of each part; the bounds include all rounding.
    """
    loss = largest_loss(noises, parts)
    if loss <= epsilon:
        return IntegerBounds(-math.inf, -math.inf, PURE)
    points = listed_points(parts)
    found = [IntegerBounds(-math.inf, response_log_delta(loss, epsilon), PURE)]
    rho = concentration(noises, parts)
    if rho is not None:
        upper = concentrated_log_delta(rho, epsilon)
        found.append(IntegerBounds(-math.inf, upper, CONCENTRATED))
    lower = -math.inf
    if points is not None:
        pairs = [point_bounds(shares_of_point(noises, point), epsilon) for point in points]
        lower = max(low for low, _ in pairs)
        found.append(IntegerBounds(lower, max(high for _, high in pairs), EXACT))
    best = min(found, key=lambda one: one.log_upper)
    if lower > best.log_upper:
        message = (
            f"integer points: the accounts disagree for {noises!r} at epsilon = {epsilon!r}: "
            f"{best.account!r} finds log delta <= {best.log_upper!r}, {EXACT!r} finds log delta >= "
            f"{lower!r}; please report"
        )
        raise RuntimeError(message)
    return best._replace(log_lower=lower)
