"""Histogram noise of least epsilon for composition: a search on grids of cells, no proof.

Coarse cells first, then fine ones; what is found is certified by `vector_profile`.

Gilani et al. ("Optimizing Noise Distributions for Differential Privacy", ICML 2025) choose the
masses of the cells by the Renyi divergence of one order, a convex program. Here the composed delta
itself is lowered, by its gradient. The masses are p_j = exp(-psi_j - a - b x_j^2): whatever psi, a
and b meet the total mass and the variance, so that psi is free and L-BFGS finds it, in terms of its
rises from cell to cell. What is found is sorted to fall with |t| (isotonic regression).

**Composition** by the lattice account (`dpnoise.privacy.lattice.bounds`) on one lattice for all
masses, rounded up: estimates, without bounds. With S the sum of K - 1 losses
and P and Q the two neighbours, the best test of the neighbours gives (by the envelope theorem: its
own change with the masses p costs nothing)

    d delta = K sum_j [ A(l_j) d p_j - e^epsilon B(l_j) d p_(j+n) ],
    A(l) = P(S > epsilon - l),  B(l) = Q(S > epsilon - l),  l_j = log p_j / p_(j+n).

On the lattice V(l), the mean of (1 - e^(epsilon - S - l))_+, is a - b e^-l between two points, with
a for A and b for e^epsilon B. The lattice is weighted with e^(c loss) at the saddle point, so that
a small delta has all its digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize, special

from dpnoise.noise.stepwise import Histogram
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise.privacy.lattice.bounds import RoundedLoss, round_up, sum_weights
from dpnoise.privacy.lattice.plan import Nodes
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array, IntArray
    from dpnoise.privacy.lattice.bounds import Masses

STDS = 0.5, 30.0  # of the noise in units of the sensitivity
_LISTED = 16.0  # standard deviations up to which cells are listed
_CELLS, _MOST_CELLS = 16.0, 64  # to the standard deviation, to the unit
_COARSER = 4
_NEWTON, _ROUNDS = 3, 8  # steps towards a variance, and of certification
_CLOSE = 1e-6  # relative distance to the epsilon asked for with which the search ends
_MARGIN = 2e-5  # of log delta, for sorting the masses
_GROWTH, _FASTER = 1e-4, 3.0  # relative, by which the variance grows where that is not enough
_SLOPE = 1e-4  # relative step of epsilon


class CertifiedHistogram(NamedTuple):
    """Histogram noise with its certified epsilon and delta."""

    noise: Histogram
    epsilon: float
    delta: float


class _CellSearch(NamedTuple):
    """A grid of cells, and what is searched for on it."""

    cells: HistogramCells
    target: Target

    @classmethod
    def on(cls, std: float, finer: float, target: Target) -> _CellSearch:
        """A grid for noise of about that standard deviation."""
        n = min(max(round(_CELLS / std * finer), 1), _MOST_CELLS)
        size = math.ceil(_LISTED * std * n) + n
        return cls(HistogramCells.of(n, size, math.exp(-math.sqrt(2.0) / std)), target)

    @property
    def places(self) -> Array:
        """The centres of the cells, in units of the sensitivity."""
        return np.arange(self.cells.weight.size) / self.cells.n

    def best(self, std: float) -> FoundMasses:
        """The better of the searches from Laplace and Gaussian noise."""
        smooth = gaussian_epsilon(self.target, std)
        pure = math.sqrt(2.0) * self.target.copies / std
        x = self.places / std
        starts = [(0.5 * x * x, smooth), (math.sqrt(2.0) * x, min(smooth, 0.97 * pure))]
        found = [self.from_start(psi, std, epsilon) for psi, epsilon in starts]
        return min(found, key=lambda one: one.epsilon)

    def from_start(self, psi: Array, std: float, epsilon: float) -> FoundMasses:
        """The search from given noise."""
        return descend(self.cells, psi, self.target, std * std, epsilon)

    def noise(self, found: FoundMasses) -> Histogram:
        """What was found, as noise that falls with |t|."""
        masses, ratio = sorted_masses(self.cells, found.masses)
        return Histogram(1.0, self.cells.n, tuple(masses.tolist()), ratio)


def gaussian_epsilon(target: Target, std: float) -> float:
    """The epsilon of Gaussian noise."""
    mu = math.sqrt(target.copies) / std

    def excess(epsilon: float) -> float:
        return float(gaussian_log_delta(mu, np.asarray(epsilon))) - target.log_delta

    if excess(0.0) <= 0.0:
        return 0.0
    # The tail of the loss, which is Gaussian, at twice its standard deviations.
    high = mu * mu + 2.0 * mu * math.sqrt(-2.0 * target.log_delta) + 1.0
    return float(optimize.brentq(excess, 0.0, high, rtol=1e-9))


def _fine(coarse: _CellSearch, found: FoundMasses, std: float) -> tuple[_CellSearch, FoundMasses]:
    """The search on cells of full fineness, from what was found on coarse ones."""
    search = _CellSearch.on(std, 1.0, coarse.target)
    if search.cells.n == coarse.cells.n and search.cells.weight.size == coarse.cells.weight.size:
        return search, found
    psi = np.interp(search.places, coarse.places, found.psi)
    return search, search.from_start(psi, std, found.epsilon)


def _minimum_epsilon(
    noise: Histogram, copies: int, delta: float, guess: float
) -> tuple[float, float]:
    """About the least epsilon whose certified delta is small enough, and that delta."""
    epsilon, best = guess, (math.inf, 0.0)
    # ends: raises; noise of another family is handed out
    for _ in range(_ROUNDS):
        pair = vector_profile(noise, 1.0, [epsilon, epsilon * (1.0 + _SLOPE)], copies=copies)
        upper = float(pair.upper[0])
        if upper <= delta and epsilon < best[0]:
            best = epsilon, upper
        if upper == 0.0:  # at the sum of the largest losses
            break
        excess = float(pair.log_upper[0]) - math.log(delta)
        if -_CLOSE < excess <= 0.0:
            break
        slope = float(pair.log_upper[1] - pair.log_upper[0]) / (epsilon * _SLOPE)
        epsilon += (excess + 0.5 * _CLOSE) / -slope
    if best[0] == math.inf:
        raise RuntimeError(f"histogram calibration: {noise!r} could not be certified")
    return best


def searched_by_std(std: float, copies: int, delta: float) -> CertifiedHistogram:
    """What the search finds for a standard deviation, in units of the sensitivity."""
    coarse = _CellSearch.on(std, 1.0 / _COARSER, Target(copies, math.log(delta)))
    search, found = _fine(coarse, coarse.best(std), std)
    noise = search.noise(found)
    epsilon, reached = _minimum_epsilon(noise, copies, delta, found.epsilon)
    return CertifiedHistogram(noise, epsilon, reached)


def _closer(
    search: _CellSearch, found: FoundMasses, std: float, epsilon: float
) -> tuple[FoundMasses, float]:
    """A variance with a least epsilon next to a given one, by Newton's method."""
    # ends: the variance is taken of the masses that were found
    for _ in range(_NEWTON):
        change = (epsilon - found.epsilon) / found.by_variance / (std * std)
        if abs(change) < _CLOSE:
            break
        std *= math.sqrt(min(max(1.0 + change, 0.5), 2.0))
        found = search.from_start(found.psi, std, epsilon)
    return found, std


def searched_by_epsilon(epsilon: float, copies: int, delta: float) -> CertifiedHistogram:
    """What the search finds for an epsilon, for sensitivity 1."""
    target = Target(copies, math.log(delta) - _MARGIN)
    smooth = math.sqrt(copies) * float(gaussian_sigma(epsilon, delta))
    std = min(max(min(smooth, math.sqrt(2.0) * copies / epsilon), STDS[0]), STDS[1])
    coarse = _CellSearch.on(std, 1.0 / _COARSER, target)
    found, std = _closer(coarse, coarse.best(std), std, epsilon)
    search, found = _fine(coarse, found, std)
    found, std = _closer(search, found, std, epsilon)
    # ends: raises
    for k in range(_ROUNDS):
        noise = search.noise(found)
        reached = float(vector_profile(noise, 1.0, epsilon, copies=copies).upper)
        if reached <= delta:
            return CertifiedHistogram(noise, epsilon, reached)
        std *= 1.0 + _GROWTH * _FASTER**k
        found = search.from_start(found.psi, std, epsilon)
    raise RuntimeError("histogram calibration: what was found could not be certified")


_ITERATIONS, _EVALUATIONS, _MEMORY, _DESCENTS = 80, 120, 20, 6
_FAR = 3.0  # a round ends when log delta is so far below its target
_ENOUGH = 1e-5  # relative change of epsilon in a round with which the search ends
_STEP = 1e-4  # relative, of epsilon for a slope


class Target(NamedTuple):
    """How many releases there are, and log delta of all of them."""

    copies: int
    log_delta: float


class FoundMasses(NamedTuple):
    """Masses found and their epsilon; by how much it changes with the variance."""

    psi: Array
    masses: Array
    epsilon: float
    by_variance: float


def _far_enough(log_delta: float) -> Callable[[optimize.OptimizeResult], None]:
    """A callback that ends a round once delta is so small that epsilon should be."""

    def stop(intermediate_result: optimize.OptimizeResult) -> None:
        if intermediate_result.fun < log_delta - _FAR:
            raise StopIteration

    return stop


def descend(
    cells: HistogramCells, psi: Array, target: Target, variance: float, epsilon: float
) -> FoundMasses:
    """Masses of a given variance with the least epsilon near a start, whose own is about given.

    Each round lowers delta at the epsilon of the last one.
    """
    copies, log_delta = target
    x2 = cells.square / cells.weight
    rows = np.array([cells.weight, cells.square])

    def multipliers(p: Array, gradient: Array) -> Array:
        """The gradient by total mass and variance, which cannot change."""
        right = [gradient @ p, gradient @ (p * x2)]
        return np.linalg.solve(np.array([rows @ p, rows @ (p * x2)]), right)

    # ends: an earlier end gives larger noise, certified all the same
    for _ in range(_DESCENTS):
        lattice = plan(cells, cells.masses(psi, variance), copies, epsilon)

        def objective(
            rises: Array, lattice: Lattice = lattice, epsilon: float = epsilon
        ) -> tuple[float, Array]:
            p = cells.masses(np.cumsum(rises), variance)
            found = composition(cells, p, copies, epsilon, lattice)
            free = found.gradient - multipliers(p, found.gradient) @ rows
            return found.log_delta, np.cumsum((-p * free)[::-1])[::-1]

        # ends: a search: what it leads to is certified, larger if it ends early
        rises = optimize.minimize(  # type: ignore[call-overload]  # a callback that may end it
            objective,
            np.diff(psi, prepend=0.0),
            jac=True,
            method="L-BFGS-B",
            callback=_far_enough(log_delta),
            options={"maxiter": _ITERATIONS, "maxfun": _EVALUATIONS, "maxcor": _MEMORY},
        ).x
        psi = np.cumsum(rises)
        p, before = cells.masses(psi, variance), epsilon
        epsilon = minimum_epsilon(cells, p, copies, log_delta, epsilon)
        if abs(before - epsilon) < _ENOUGH * epsilon:
            break
    step = _STEP * epsilon
    lattice = plan(cells, p, copies, epsilon)
    lower, upper = (
        composition(cells, p, copies, epsilon + side * step, lattice) for side in (-1.0, 1.0)
    )
    slope = (upper.log_delta - lower.log_delta) / (2.0 * step)
    square = multipliers(p, 0.5 * (lower.gradient + upper.gradient))[1]
    return FoundMasses(psi, p, epsilon, float(-square / slope))


_POINTS = 2**13  # of the lattice of losses
_REACH = 14.0  # standard deviations of the weighted sum on either side
_WIDEST = 250.0  # of the tilt times a loss
_SEARCHED = 2.0  # epsilon is looked for so far below the middle of the lattice
_WINDOWS = 60  # that are looked at for an epsilon
_TINY = 1e-290


class Lattice(NamedTuple):
    """Losses at (start + k) h, weighted with exp(tilt loss)."""

    h: float
    tilt: float
    start: int

    @property
    def levels(self) -> Array:
        """The losses."""
        return (self.start + np.arange(float(_POINTS))) * self.h


def plan(cells: HistogramCells, p: Array, copies: int, epsilon: float) -> Lattice:
    """A lattice around the sum of the losses, weighted so that it lies around epsilon."""
    here, there, factor = cells.pair(p)
    loss, mass = np.log(here / there), factor * here
    most = _WIDEST / float(np.max(np.abs(loss)))

    def moments(c: float) -> tuple[float, float]:
        weight = mass * np.exp(c * (loss - loss.max()))
        mean = float(weight @ loss) / float(weight.sum())
        return copies * mean, copies * float(weight @ (loss - mean) ** 2) / float(weight.sum())

    def slope(log_c: float) -> float:  # of log of E e^(c sum) e^(-c epsilon) / (c (c + 1))
        c = math.exp(log_c)
        return moments(c)[0] - epsilon - 1.0 / c - 1.0 / (c + 1.0)

    low, high = math.log(1e-3 * most), math.log(most)
    c = most if slope(high) < 0.0 else math.exp(low)
    if slope(low) < 0.0 < slope(high):
        c = math.exp(optimize.brentq(slope, low, high, xtol=1e-3))
    mean, spread = moments(c)
    half = _REACH * math.sqrt(spread) + abs(mean - epsilon) + float(np.abs(loss).max())
    h = 2.0 * half / _POINTS
    return Lattice(h, c, round(epsilon / h) - _POINTS // 2)


class ComposedDelta(NamedTuple):
    """Log delta of composed noise at one epsilon, and its gradient by the masses."""

    log_delta: float
    gradient: Array


def _above(part: Array) -> Array:
    """Sums from each lattice point on, shape (points + 1,)."""
    return np.append(np.cumsum(part[::-1])[::-1], 0.0)


class LossSums(NamedTuple):
    """The composed loss on a lattice: what its profile is made of, in units of exp(log_unit).

    At lattice point k, delta is above[k] - e^(level - middle) rest[k].
    """

    lattice: Lattice
    largest: float  # of the losses of one coordinate
    one: Masses
    above: Array
    rest: Array

    @property
    def middle(self) -> float:
        """The middle of the lattice."""
        return (self.lattice.start + _POINTS // 2) * self.lattice.h

    def above_and_rest(self, copies: int) -> tuple[Array, Array]:
        """Sums of P, and of P e^-(loss - middle), from each lattice point on."""
        h, c, start = self.lattice
        gap = self.lattice.levels - self.middle
        # Lower levels only matter to larger losses than there are.
        near = gap > -self.largest - 2.0 * h - _SEARCHED
        gap = np.where(near, gap, 0.0)
        part = RoundedLoss(copies, -math.inf, self.one, 0.0, 0.0)
        weights, _ = sum_weights([part], start, _POINTS)
        sums = np.where(near, np.exp(-c * gap) * np.maximum(weights, 0.0), 0.0)
        return _above(sums), _above(sums * np.exp(-gap))

    def log_delta(self, copies: int, epsilon: float) -> float:
        """Log delta at an epsilon within the lattice."""
        h, c, start = self.lattice
        k = math.floor(epsilon / h) + 1 - start
        if not 0 < k < _POINTS:
            raise ArithmeticError("histogram search: epsilon is outside the lattice")
        delta = float(self.above[k] - math.exp(epsilon - self.middle) * self.rest[k])
        unit = copies * self.one.log_total - c * self.middle
        return math.log(max(delta, _TINY)) + unit


def composed(
    cells: HistogramCells, p: Array, copies: int, lattice: Lattice
) -> tuple[LossSums, IntArray, Array]:
    """The composed loss of given masses; the lattice point below each loss; factors of masses."""
    h, c, _ = lattice
    here, there, factor = cells.pair(p)
    loss = np.log(here / there)
    nodes = Nodes(loss, np.log(factor * here))
    one = round_up(nodes, h, c, float(special.logsumexp(nodes.log_mass + c * loss)))
    nothing = np.zeros(0)
    sums = LossSums(lattice, float(loss.max()), one, nothing, nothing)
    above, rest = sums.above_and_rest(copies)
    return sums._replace(above=above, rest=rest), np.floor(loss / h).astype(np.intp), factor


def composition(
    cells: HistogramCells, p: Array, copies: int, epsilon: float, lattice: Lattice
) -> ComposedDelta:
    """Log delta at an epsilon and its gradient; the losses are not far outside the lattice."""
    sums, place, factor = composed(cells, p, copies, lattice)
    log_delta = sums.log_delta(copies, epsilon)
    h, c, start = lattice
    # V(l), the mean of (1 - e^(epsilon - S - l))_+ over K - 1 losses, in units of delta.
    above, rest = sums.above_and_rest(copies - 1)
    points = np.arange(int(place.min()), int(place.max()) + 2)
    first = np.clip(np.floor(epsilon / h - points).astype(np.intp) + 1 - start, 0, _POINTS)
    value = above[first] - np.exp(epsilon - sums.middle - points * h) * rest[first]
    unit = (copies - 1) * sums.one.log_total - c * sums.middle - log_delta
    value *= copies * math.exp(min(unit, 600.0))
    # Between lattice points it is a - b e^-l.
    b = np.diff(value) / -math.expm1(-h) * np.exp(points[:-1] * h)
    a = value[:-1] + b * np.exp(-points[:-1] * h)
    slot = place - points[0]
    return ComposedDelta(log_delta, cells.gather(factor * a[slot], -factor * b[slot]))


def minimum_epsilon(
    cells: HistogramCells, p: Array, copies: int, log_delta: float, guess: float
) -> float:
    """The least epsilon of given masses, without bounds, looked for from above."""
    # ends: raises; noise of another family is handed out
    for _ in range(_WINDOWS):
        lattice = plan(cells, p, copies, guess)
        sums, _, _ = composed(cells, p, copies, lattice)
        low, high = ((lattice.start + k) * lattice.h for k in (1, _POINTS - 2))
        low = max(low, sums.middle - _SEARCHED, 0.0)

        def excess(epsilon: float, sums: LossSums = sums) -> float:
            return sums.log_delta(copies, epsilon) - log_delta

        if excess(low) > 0.0 > excess(high):
            return float(optimize.brentq(excess, low, high, xtol=1e-12))
        if low == 0.0 or excess(high) >= 0.0:
            break
        guess = low
    raise ArithmeticError("histogram search: no epsilon above 0 is the least one")


_LIGHTEST = 1e-120  # of the mass of cell 0: no mass falls below
_DOUBLINGS = 60


class HistogramCells(NamedTuple):
    """Cells j = 0, ..., m - 1 of unit-sensitivity noise with n cells to the unit, and their tail.

    `weight` and `square` are the factors of the masses in the total and in the variance.
    """

    n: int
    ratio: float
    weight: Array
    square: Array

    @classmethod
    def of(cls, n: int, size: int, ratio: float) -> HistogramCells:
        """So many cells and a ratio of the tail."""
        x, r = np.arange(size) / n, ratio
        weight = np.append(1.0, np.full(size - 1, 2.0))
        square = weight * (x * x + 1.0 / (12.0 * n * n))
        last = x[-n:]
        sums = r / (1 - r), r / (1 - r) ** 2, r * (1 + r) / (1 - r) ** 3
        weight[-n:] += 2.0 * sums[0]
        square[-n:] += 2.0 * (
            (last * last + 1.0 / (12.0 * n * n)) * sums[0] + 2.0 * last * sums[1] + sums[2]
        )
        return cls(n, ratio, weight, square)

    def masses(self, psi: Array, variance: float) -> Array:
        """Masses in proportion to exp(-psi - b x^2) with a given variance."""
        x2 = self.square / self.weight

        def tilted(b: float) -> Array:
            exponent = -psi - b * x2
            return np.maximum(np.exp(exponent - exponent.max()), _LIGHTEST)

        def excess(b: float) -> float:
            p = tilted(b)
            return float(self.square @ p) / float(self.weight @ p) / variance - 1.0

        low, high = -0.1 / variance, 0.1 / variance
        # ends: raises; noise of another family is handed out
        for _ in range(_DOUBLINGS):
            if excess(low) > 0.0 > excess(high):
                break
            low, high = 2.0 * low, 2.0 * high
        else:
            raise ArithmeticError("histogram search: no masses of this variance")
        p = tilted(float(optimize.brentq(excess, low, high, xtol=1e-15 / variance)))
        return p / float(self.weight @ p)

    def pair(self, p: Array) -> tuple[Array, Array, Array]:
        """Masses of all cells that count and those one unit on, with the factor of each."""
        n, r = self.n, self.ratio
        right = np.concatenate([p, r * p[-n:]])
        both = np.concatenate([right[:0:-1], right])
        factor = np.ones(both.size - n)
        factor[:n] = factor[-n:] = 1.0 / (1.0 - r)
        return both[:-n], both[n:], factor

    def gather(self, here: Array, there: Array) -> Array:
        """The gradient by the masses listed, from those by the pair."""
        n, size = self.n, self.weight.size
        both = np.zeros(here.size + n)
        both[:-n] += here
        both[n:] += there
        right = both[size + n - 1 :].copy()
        right[1:] += both[: size + n - 1][::-1]
        found = right[:size].copy()
        found[-n:] += self.ratio * right[size:]
        return found


def sorted_masses(cells: HistogramCells, p: Array) -> tuple[Array, float]:
    """Masses that fall with |t|, closest to given ones, and a ratio with which their tail does."""
    fitted = optimize.isotonic_regression(p, weights=cells.weight, increasing=False).x
    return fitted, min(cells.ratio, float(fitted[-1] / fitted[-cells.n]))
