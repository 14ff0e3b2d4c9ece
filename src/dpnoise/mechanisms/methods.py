"""How each mechanism of `best` finds its noise: independent, joint, or by blocks; their registry.

**Independent coordinates.** Gaussian noise keeps the budget if and only if sum (d_i / sigma_i)^2 <=
mu^2 for every difference d, Laplace noise with delta = 0 if and only if sum |d_i| / beta_i <=
epsilon. Over a product of sets both sums are largest block by block. Within a block that is no box
all scales are equal, so that the block counts like one coordinate of sensitivity Delta_2 or Delta_1
and of the weight of all its coordinates; the best scales have a closed form
(`dpnoise.allocation.scales`). With equal weights nothing is lost: permutations of coordinates
map each block to itself, and the inverse squared (or inverse) scales that keep the budget form a
convex set. In an ellipsoid the Gaussian's scales are proportional to the axes, which all of them
need.

The other families are calibrated at the true differences (`Sensitivity.differences`): for as many
coordinates of equal sensitivity as a person moves at once, with scales proportional to the sides.
That is no more than the box around the set asks for, and for people in one of many groups no more
than one number does. A staircase with delta = 0 has a share of epsilon for each coordinate that
moves; where blocks of different sizes move together, the shares are those of the least error.

**Joint noise**, in the norm of the set, or in that of an ellipsoid around it.

**Correlated Gaussian noise**, in the least ellipsoid around each part of the set. Noise of
covariance sigma^2 M keeps a budget with mu = 1 / sigma if the ellipsoid of M holds the set. The
trace of M is the mean square error, so that the ellipsoid with the least sum of squared axes is the
best one (docs/joint-noise.md, section 10). Over a product of sets the best covariance has a block
for each factor, as -d is a difference with d; the factors share mu^2 as independent coordinates do.

**Blocks**: joint noise within blocks of coordinates, composition across them.

With unequal sensitivities the norm of the whole set is not the best one: a coordinate of small
sensitivity gets noise of its own size times the number of all coordinates. The largest coordinates
go into blocks with K-norm or staircase noise of their own, whose epsilons add up to epsilon_1; if
delta > 0, the others may share one block of Gaussian noise.

Privacy with a Gaussian block. Whatever is epsilon_1-DP is a post-processing of randomised response,
with loss epsilon_1 with probability p = 1 / (1 + e^-epsilon_1), else -epsilon_1 (Kairouz, Oh &
Viswanath 2015). With delta_G the profile of the Gaussian block, all blocks together have

    delta(epsilon) <= p delta_G(epsilon - epsilon_1) + (1 - p) delta_G(epsilon + epsilon_1),

with equality for randomised response itself.

**Partition** of coordinates into blocks, of minimum weighted variance. K-norm noise for a block of
k coordinates, in the norm of the sensitivity set of the block, at epsilon_B has sum w_i sigma_i^2 =
V (k + 1)(k + 2) / epsilon_B^2, V = sum w_i E Z_i^2 with Z uniform in the set; for a product V adds
up. The budgets of independent blocks add up. With a_B = (V_B (k_B + 1)(k_B + 2))^(1/3), Hoelder's
inequality gives

    min { sum a_B^3 / epsilon_B^2 : sum epsilon_B = epsilon } = (sum a_B)^3 / epsilon^2

at epsilon_B = epsilon a_B / sum a_B. So the partition minimises a sum over blocks, sum a_B.

For single coordinates (a box) only intervals of the coordinates sorted by v_i = w_i lambda_i^2 need
to be looked at: for fixed sizes k_B the sum is concave in the vector (V_B), so its minimum over all
assignments is at a vertex of their convex hull; a vertex is the only minimum of some sum c_B V_B,
and that one is the sorted assignment, the largest v_i to the smallest c_B. Dynamic programming
finds the best intervals. For larger factors, sorted by v_i / k_i, it finds the best intervals, and
other partitions may be better.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.allocation.scales import closed_form_scales
from dpnoise.joint.calibrate import calibrate_joint
from dpnoise.joint.calibrate import staircase as staircase_in_norm
from dpnoise.joint.noise import check_steps, k_norm_noise
from dpnoise.joint.profile import Uncovered
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise, beside_response
from dpnoise.mechanisms.request import Found, Method
from dpnoise.mechanisms.summed import cells_summed, workload_gaussian
from dpnoise.noise.exponential_power import Gaussian, Laplace, TruncatedLaplace
from dpnoise.noise.families import FAMILIES
from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.privacy.accounts import equal_share
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise.sensitivity.ellipsoid import enclosing_ellipsoid

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array, IntArray
    from dpnoise.joint.base import RealVectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.noise.base import Noise
    from dpnoise.sensitivity.base import Sensitivity

UP = 1.0 + 2.0**-45  # covers the rounding of norms in up to 1e8 coordinates, summed in pairs


def _scales(request: Request, sizes: Array, weights: Array, q: float, unit: float) -> Array:
    """Scales s of minimum error with sum (size / s)^q <= unit^-q over the parts, shape (K,)."""
    weights = request.parts.sums(weights)
    sizes = sizes / request.unit * UP
    found = closed_form_scales(sizes, "optimal", q, request.power, weights, unit)
    return request.parts.spread(found) * (request.unit * UP)


def gaussian_scales(request: Request, weights: Array, unit: float) -> Array:
    """Scales s of minimum error with sum (l2 / s)^2 <= unit^-2 over the parts, shape (K,)."""
    return _scales(request, request.parts.l2, weights, 2.0, unit)


def gaussian(request: Request) -> Found | None:
    """Gaussian noise by the l2 norms of the parts."""
    if request.delta == 0.0:
        return None
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    shape = request.parts.shape
    weights = request.scale_weights * shape**request.power
    scales = gaussian_scales(request, weights, unit) * shape
    return Found(IndependentNoise(Gaussian(1.0), scales), request.delta)


def laplace(request: Request) -> Found | None:
    """Laplace noise with delta = 0 by the l1 norms of the parts."""
    if request.epsilon == 0.0:
        return None
    unit = UP / request.epsilon
    scales = _scales(request, request.parts.l1, request.scale_weights, 1.0, unit)
    return Found(IndependentNoise(Laplace(1.0), scales), 0.0)


def staircase(request: Request) -> Found | None:
    """Staircase noise, a share of epsilon for each coordinate that moves, with delta = 0."""
    if request.epsilon == 0.0:
        return None
    parts, sides = request.parts, request.sensitivity.box
    power = 1 if request.error == "mean-abs" else 2

    def unit(share: float) -> Staircase:
        return Staircase(share, 1.0, float(staircase_gamma(share, power)))

    def cost(share: float) -> float:
        one = unit(share)
        return one.mean_abs() if power == 1 else one.var()

    sizes = parts.sums(request.weights * (sides / request.unit) ** power) / parts.moved
    if request.sensitivity.convex:  # as it was published, for a box
        sizes = np.ones(sizes.size)
    kinds, which = np.unique(np.round(sizes / np.max(sizes), 9), return_inverse=True)
    moved = np.bincount(which, weights=parts.moved).astype(float)
    shares = shared_epsilon(request.epsilon, moved, [scaled(cost, size) for size in kinds.tolist()])
    if len(shares) == 1:
        return Found(IndependentNoise(unit(shares[0]), sides), 0.0)
    blocks: list[tuple[IntArray, RealVectorNoise]] = []
    for kind, share in enumerate(shares):
        at = parts.indices(np.flatnonzero(which == kind))
        blocks.append((at, IndependentNoise(unit(share), sides[at])))
    return Found(BlockNoise(tuple(blocks), request.dimension), 0.0)


def scaled(cost: Callable[[float], float], size: float) -> Callable[[float], float]:
    """A multiple of a cost."""
    return lambda share: size * cost(share)


MOST_KINDS, _COST_POINTS = 16, 48  # of shares of epsilon, and of the cost of each
_SMALLEST_SHARE = 1e-3  # of the mean share


def shared_epsilon(
    epsilon: float, counts: Array, costs: list[Callable[[float], float]]
) -> list[float]:
    """Shares e_j of epsilon, sum counts_j e_j <= epsilon, of nearly the least sum counts_j cost_j.

    The costs of a coordinate fall and are convex in its share: at the optimum their slopes are
    equal. They are read from a table. Beyond 16 kinds of coordinates all shares are equal.
    """
    total = float(np.sum(counts))
    shares = np.full(counts.size, epsilon / total)
    if 1 < counts.size <= MOST_KINDS:
        lowest, most = _SMALLEST_SHARE * epsilon / total, epsilon / np.min(counts)
        grid = np.geomspace(lowest, most, _COST_POINTS)
        values = np.array([[cost(share) for share in grid.tolist()] for cost in costs])
        slopes = np.minimum.accumulate(-np.diff(values) / np.diff(grid), axis=1)
        middle = np.sqrt(grid[1:] * grid[:-1])
        falls = np.log(np.maximum(slopes, np.finfo(float).tiny))

        def at(level: float) -> Array:
            return np.array([np.interp(-level, -row, middle) for row in falls])

        low, high = float(np.min(falls)), float(np.max(falls))
        # ends: shares that add up to epsilon after they are scaled, at any level
        for _ in range(_BISECTIONS):
            level = 0.5 * (low + high)
            low, high = (level, high) if counts @ at(level) > epsilon else (low, level)
        shares = at(high) * (epsilon / (counts @ at(high)))
    # ends: a few doubles down
    while sum(int(n) * Fraction(x) for n, x in zip(counts, shares, strict=True)) > Fraction(
        epsilon
    ):
        shares = np.nextafter(shares, 0.0)
    return shares.tolist()


def calibrated(family: str, request: Request) -> Found | None:
    """Noise of a family, calibrated for the coordinates that move at once; None without delta."""
    K = request.moved
    if request.delta == 0.0 or (family == "subbotin" and K > 1):
        return None
    from dpnoise.calibration.calibrate import calibrate  # noqa: PLC0415 - 0.2 s

    found = calibrate(family, epsilon=request.epsilon, delta=request.delta, dimension=K)
    return Found(IndependentNoise(found.noise, request.sensitivity.box), found.delta)


def is_searched(family: str, request: Request) -> bool:
    """Whether the calibration of a family takes tenths of a second."""
    if family == "staircase" and request.moved == 1 and request.epsilon > 0.0:
        # The largest loss e has a probability of 1/2 at least: delta >= (1 - exp(epsilon - e)) / 2.
        # The slope of log variance in e is at most 1 + 2 / epsilon in size.
        rise = -math.log1p(-min(2.0 * request.delta, 0.5))
        return (1.0 + 2.0 / request.epsilon) * rise < LITTLE
    if family in _BETWEEN and request.moved > 1 and not request.sensitivity.convex:
        # Where neither Laplace nor Gaussian noise is far better, it is better than both.
        values = []
        for find in (gaussian, staircase):
            with suppress(ValueError, RuntimeError, ArithmeticError):  # a budget out of its range
                if (one := find(request)) is not None:
                    values.append(request.mean(one.noise.var()))
        return len(values) < 2 or max(values) > _NEITHER * min(values)
    return (request.moved > 1) != (family == "subbotin")


_BISECTIONS = 60  # of the logarithm of a slope
DELTA_USED = "{}, delta used"
LITTLE = 0.999e-4  # relative gain in variance that is not worth a delta
_BETWEEN = "flipped-huber", "offset-symmetric-gaussian"
_NEITHER = 4.0  # times the variance: neither Laplace nor Gaussian noise is far better
_SMALL_SHARE, _MANY = 3e-6, 60  # delta over epsilon, and coordinates
_SHARE = 0.4  # of the Gaussian's variance: with less, K-norm noise is not beaten by an ellipsoid's


def k_norm(request: Request) -> Found | None:
    """K-norm noise with delta = 0."""
    if request.epsilon == 0.0:
        return None
    return Found(k_norm_noise(request.sensitivity, request.epsilon), 0.0)


def hardly_gains(K: int, epsilon: float) -> bool:
    """Whether the staircase in a norm has less than 1e-4 of variance below K-norm noise.

    By a rule that fits what was seen for K from 1 to 1000 (tests/dpnoise/mechanisms/test_joint.py).
    """
    return K >= 5 and epsilon <= min((K + 1.0) / 6.0, 1.2 * math.sqrt(K))


def norm_staircase(request: Request) -> Found | None:
    """Staircase noise in the norm of the set, with delta = 0."""
    if request.epsilon == 0.0:
        return None
    problems = Problems("staircase noise in the norm")
    check_steps(problems, request.sensitivity.active_dimension, request.epsilon)
    problems.raise_if_any()
    return Found(staircase_in_norm(request.sensitivity, request.epsilon, request.order), 0.0)


def in_norm(family: str, request: Request) -> Found | None:
    """Noise of a family that spends delta, in the norm of the set."""
    if request.delta == 0.0:
        return None
    return _calibrated(family, request.sensitivity, request)


def staircase_hardly_gains(request: Request) -> bool:
    """Whether the search for a staircase is not worth its time."""
    return hardly_gains(request.sensitivity.active_dimension, request.epsilon)


def in_ellipsoid(family: str, request: Request) -> Found | None:
    """Noise of a family that spends delta, in the norm of an ellipsoid around the set."""
    if (
        request.delta == 0.0
        or request.sensitivity.is_round
        or request.sensitivity.active_dimension == 1
    ):
        return None
    ball = request.sensitivity.smallest_ellipsoid
    if ball is None or ball.flat:
        return _calibrated(family, enclosing_ellipsoid(request.sensitivity), request)
    return _calibrated(family, ball, request)


def _calibrated(family: str, ball: Sensitivity, request: Request) -> Found:
    """Joint noise calibrated for a set."""
    found = calibrate_joint(family, ball, epsilon=request.epsilon, delta=request.delta)
    return Found(found.noise, found.delta)


def two_parameters_hardly_gain(request: Request) -> bool:
    """Whether a search in two parameters gains less than 1 % of the variance, or takes seconds.

    By a rule that fits what was seen (tests/dpnoise/mechanisms/test_default.py).
    """
    many = request.sensitivity.active_dimension > _MANY
    return request.delta > 0.0 and (many or request.delta < _SMALL_SHARE * request.epsilon)


def delta_hardly_gains(request: Request) -> bool:
    """Whether delta takes less than 1e-4 off the variance of K-norm noise, by a bound.

    For polytopes delta >= 1 - exp(share (epsilon - 1 / scale)), docs/joint-noise.md.
    """
    if request.delta == 0.0 or request.sensitivity.flat:
        return False
    uncovered = Uncovered(request.sensitivity)
    if uncovered.caps:
        return False
    share = min(uncovered.polytopes, default=0.5)  # 0 if it is below all doubles
    return 2.0 * -math.log1p(-request.delta) < LITTLE * request.epsilon * share


def is_unlikely(request: Request) -> bool:
    """Whether noise without delta is so good that an ellipsoid's has hardly a chance.

    And for a workload, as ellipsoids along the axes of its answers are far larger than it.
    """
    if request.sensitivity.preimage is not None:
        return True
    normal = correlated_gaussian(request) or gaussian(request)
    if normal is None or request.epsilon == 0.0 or request.sensitivity.flat:
        return False
    K = request.sensitivity.active_dimension
    square = (K + 1.0) * (K + 2.0) * request.sensitivity.mean_square  # times epsilon^2
    gaussian_mean = request.mean(np.asarray(normal.noise.var()))
    return request.mean(square) < _SHARE * gaussian_mean * request.epsilon**2


def correlated_gaussian(request: Request) -> Found | None:
    """Gaussian noise in the least ellipsoids; None where these have the axes of the coordinates."""
    if request.delta == 0.0:
        return None
    parts = request.parts
    found = {first: ball.smallest_ellipsoid for first, ball in parts.blocks.items()}
    smallest = {first: ball for first, ball in found.items() if ball is not None}
    if not smallest:
        return None
    l2 = dict(zip(parts.first.tolist(), parts.l2.tolist(), strict=True))
    shape = parts.shape.copy()
    for first, ball in smallest.items():
        shape[first : first + ball.dimension] = np.sqrt(ball.diagonal) / l2[first]
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    scales = gaussian_scales(request, request.scale_weights * shape**request.power, unit)
    blocks: list[tuple[IntArray, RealVectorNoise]] = []
    rest = request.sensitivity.active.copy()
    for first, ball in smallest.items():
        at = np.arange(first, first + ball.dimension)
        blocks.append((at, CorrelatedGaussian(ball, float(scales[first]) / l2[first])))
        rest[at] = False
    if len(blocks) == 1 and blocks[0][0].size == request.dimension:
        return Found(blocks[0][1], request.delta)
    at = np.flatnonzero(rest)
    if at.size:
        blocks.append((at, IndependentNoise(Gaussian(1.0), scales[at] * parts.shape[at])))
    return Found(BlockNoise(tuple(blocks), request.dimension), request.delta)


_MOST_FACTORS = 1000  # of the dynamic program; neighbours in sorted order are merged
_SHARES = 48  # of epsilon for the blocks with joint noise, tried at a time
_MOST_STEPS = 50.0  # beyond, a staircase gains less than 1e-4 of the variance
_MARGIN = 1e-11  # relative, for the rounding of the Gaussian profile
_GRIDS = 3
_STEPS, _ROUNDS = 17, 2  # between bounds on mu
_UP_BLOCKS = 1.0 + 2.0**-40  # for the rounding of sums and quotients of scales


class _BlockPlan(NamedTuple):
    """Which factors are in which block, and how epsilon is shared."""

    cost: float  # sum w_i sigma_i^2, sensitivities in units of the largest one
    joint: list[IntArray]  # parts of each block with joint noise
    gaussian: IntArray  # parts of the block with Gaussian noise
    share: float  # of epsilon for the blocks with joint noise


def gaussian_mu(epsilon: float, delta: float, spent: Array) -> Array:
    """Largest mu, to 1e-3, of a Gaussian block beside blocks that are epsilon_1-DP.

    epsilon_1 = `spent`. The search is between delta_G(epsilon - epsilon_1) = delta, which is
    enough, and p delta_G(epsilon - epsilon_1) = delta, which is necessary.
    """
    p = 1.0 / (1.0 + np.exp(-spent))
    low = 1.0 / gaussian_sigma(epsilon - spent, delta * (1.0 - 4.0 * _MARGIN))
    high = 1.0 / gaussian_sigma(epsilon - spent, np.minimum(delta / p, 0.5 * (1.0 + delta)))
    # ends: the private end of an interval, after any number of rounds; test_blocks
    for _ in range(_ROUNDS):
        steps = np.linspace(0.0, 1.0, _STEPS)[:, None]
        mu = low * (high / low) ** steps
        last = np.sum(composed_delta(mu, epsilon, spent) <= delta, axis=0) - 1
        ends = (np.clip(at, 0, _STEPS - 1)[None] for at in (last, last + 1))
        low, high = (np.take_along_axis(mu, at, axis=0)[0] for at in ends)
    return low


def composed_delta(mu: Array, epsilon: float, spent: Array) -> Array:
    """Upper bound on delta of a Gaussian block beside blocks that are `spent`-DP."""
    first = np.exp(gaussian_log_delta(mu, epsilon - spent))
    second = np.exp(gaussian_log_delta(mu, epsilon + spent))
    return beside_response(first, second, spent)


def _sorted_factors(request: Request) -> tuple[list[IntArray], Array, Array, Array]:
    """Factors in falling order of v / k: their parts, V, k, and their share of Gaussian noise."""
    parts, unit = request.parts, request.unit
    V = parts.sums(request.weights * request.sensitivity.mean_square) / unit**2
    T = np.sqrt(parts.sums(request.weights * parts.shape**2)) * (parts.l2 / unit)
    order = np.argsort(-V / parts.sizes, kind="stable")
    chunks = np.array_split(order, min(_MOST_FACTORS, order.size))
    sums = [np.array([float(np.sum(x[chunk])) for chunk in chunks]) for x in (V, parts.sizes, T)]
    return chunks, sums[0], sums[1], sums[2]


def _plan(request: Request) -> _BlockPlan:
    """The best plan found."""
    chunks, V, k, T = _sorted_factors(request)
    n, epsilon = len(chunks), request.epsilon
    partitions = best_partitions(V, k)
    # F[j]: the first j factors have joint noise; G[j]: the others have Gaussian noise.
    F = partitions.values
    G = np.concatenate([np.cumsum(T[::-1])[::-1], [0.0]])

    def plan(cost: float, j: int, share: float) -> _BlockPlan:
        joint = [np.concatenate(chunks[block]) for block in partitions.blocks(j)]
        rest = np.concatenate([np.empty(0, dtype=np.intp), *chunks[j:]])
        return _BlockPlan(cost, joint, rest, share)

    best = plan(F[n] ** 3 / epsilon**2, n, 1.0)
    if request.delta == 0.0:
        return best
    low, high = 0.0, 1.0
    # ends: more plans to choose from
    for _ in range(_GRIDS):  # each finer, around the best share of the one before
        shares = np.linspace(low, high, _SHARES + 2)[1:-1]
        mu = gaussian_mu(epsilon, request.delta, shares * epsilon)
        cost = (F[1:n] ** 3)[:, None] / (shares * epsilon) ** 2 + (G[1:n, None] / mu) ** 2
        if cost.size == 0:
            break
        j, at = np.unravel_index(int(np.argmin(cost)), cost.shape)
        if cost[j, at] < best.cost:
            best = plan(float(cost[j, at]), int(j) + 1, float(shares[at]))
        step = (high - low) / (_SHARES + 1)
        low, high = max(0.0, shares[at] - step), min(1.0, shares[at] + step)
    return best


def blocks(request: Request) -> Found | None:
    """Noise by blocks; None if one block is best, which other mechanisms cover."""
    if request.epsilon == 0.0 or request.parts.first.size == 1:
        return None
    plan = _plan(request)
    if len(plan.joint) + (plan.gaussian.size > 0) == 1:
        return None
    parts, spent = request.parts, request.epsilon * plan.share
    w, square = request.weights, request.sensitivity.mean_square
    roots = []
    for some in plan.joint:
        at = parts.indices(some)
        volume = float(np.sum(w[at] * (square[at] / request.unit**2)))
        roots.append(math.cbrt(volume * (at.size + 1.0) * (at.size + 2.0)))
    share = spent / math.fsum(roots) / _UP_BLOCKS
    if sum(Fraction(root * share) for root in roots) > Fraction(spent):  # in exact arithmetic
        message = f"blocks: the epsilons {[root * share for root in roots]} exceed {spent!r}"
        raise RuntimeError(message)
    noises: list[tuple[IntArray, RealVectorNoise]] = [
        (parts.indices(some), _joint_block(parts.ball(some), root * share))
        for some, root in zip(plan.joint, roots, strict=True)
    ]
    delta = 0.0
    if plan.gaussian.size:
        mu = float(gaussian_mu(request.epsilon, request.delta, np.array([spent]))[0])
        delta = float(composed_delta(np.array(mu), request.epsilon, np.array(spent)))
        if delta > request.delta:
            message = f"blocks: delta {delta!r} exceeds {request.delta!r}"
            raise RuntimeError(message)
        noises.append((parts.indices(plan.gaussian), _gaussian_block(request, plan.gaussian, mu)))
    return Found(BlockNoise(tuple(noises), request.dimension), delta)


def _joint_block(ball: Sensitivity, epsilon: float) -> RealVectorNoise:
    """Staircase noise in the norm of a block, or K-norm noise if that is hardly worse.

    Where few coordinates change at once, staircase noise of each coordinate may be better.
    """
    K, true = ball.active_dimension, ball.differences
    few = hardly_gains(K, epsilon) or K / epsilon > _MOST_STEPS
    found = k_norm_noise(ball, epsilon) if few else staircase_in_norm(ball, epsilon)
    if true is None:
        return found
    share = equal_share(epsilon, true.moved)
    unit = Staircase(share, 1.0, float(staircase_gamma(share)))
    each = IndependentNoise(unit, ball.box)
    return min(found, each, key=lambda noise: float(np.sum(noise.var())))


def _gaussian_block(request: Request, some: IntArray, mu: float) -> IndependentNoise:
    """Gaussian noise for some parts: sigma^2 proportional to l2 / sqrt(weight)."""
    parts = request.parts
    root = np.sqrt(parts.sums(request.weights * parts.shape**2)[some])
    sizes = parts.l2[some] / request.unit
    sigma = np.sqrt(sizes / root)
    sigma *= math.sqrt(float(np.sum((sizes / sigma) ** 2))) / mu * (request.unit * _UP_BLOCKS)
    each = np.repeat(sigma, parts.sizes[some]) * parts.shape[parts.indices(some)]
    return IndependentNoise(Gaussian(1.0), each)


class Partitions(NamedTuple):
    """The best partitions of the first j factors into intervals, for j from 0 to n."""

    values: Array  # the minimum of sum a_B, shape (n + 1,)
    starts: IntArray  # where the last block of the minimum starts, shape (n + 1,)

    def blocks(self, j: int) -> list[slice]:
        """The blocks of the best partition of the first `j` factors."""
        found: list[slice] = []
        # ends: a block starts before it ends
        while j > 0:
            found.append(slice(int(self.starts[j]), j))
            j = int(self.starts[j])
        return found[::-1]


def best_partitions(volumes: Array, sizes: IntArray | Array) -> Partitions:
    """Best partitions of factors with V_i = `volumes` and k_i = `sizes`, in this order."""
    n = sizes.size
    V = np.concatenate([[0.0], np.cumsum(volumes)])
    k = np.concatenate([[0], np.cumsum(sizes)])
    values, starts = np.zeros(n + 1), np.zeros(n + 1, dtype=np.intp)
    for j in range(1, n + 1):
        size = (k[j] - k[:j]).astype(float)
        total = values[:j] + np.cbrt((V[j] - V[:j]) * (size + 1.0) * (size + 2.0))
        starts[j] = np.argmin(total)
        values[j] = total[starts[j]]
    return Partitions(values, starts)


_HARDT, _GENG, _JOSEPH = "Hardt & Talwar 2010", Staircase.source, "Joseph & Yu 2024, Lebeda 2024"

_OWN = (
    Method("K-norm", "k-norm", _HARDT, k_norm),
    Method(
        "staircase in the norm", "norm-staircase", _GENG, norm_staircase, staircase_hardly_gains
    ),
    Method("blocks", "blocks", _HARDT, blocks),
    Method(Gaussian.title, "gaussian", Gaussian.source, gaussian),
    Method("correlated Gaussian", "correlated-gaussian", _JOSEPH, correlated_gaussian),
    Method("workload Gaussian", "correlated-gaussian", "Li et al. 2015", workload_gaussian),
    Method(
        "cells, summed", "cells", _GENG, partial(cells_summed, kinds=(gaussian, laplace, staircase))
    ),
    Method(Laplace.title, "laplace", Laplace.source, laplace),
    Method(Staircase.title, "staircase", _GENG, staircase),
    Method("K-norm, delta used", "k-norm", _HARDT, partial(in_norm, "k-norm"), delta_hardly_gains),
    Method(
        "truncated K-norm",
        "truncated-k-norm",
        TruncatedLaplace.source,
        partial(in_norm, "truncated-k-norm"),
        two_parameters_hardly_gain,
    ),
    Method(
        "K-norm of an ellipsoid", "k-norm", _HARDT, partial(in_ellipsoid, "k-norm"), is_unlikely
    ),
)
_NAMES = {method.family: DELTA_USED.format(method.name) for method in _OWN}


def _searched(family: str, kind: type[Noise]) -> Method:
    """The mechanism that spends delta by a search over a family."""
    name = _NAMES.get(family, kind.title)
    find, slow = partial(calibrated, family), partial(is_searched, family)
    like = (Gaussian.title, Laplace.title, Staircase.title) if family in _BETWEEN else ()
    return Method(name, family, kind.source, find, slow, like)


# Densities without steps first. Of Gaussian noise no other is to be found than its own.
METHODS = (
    *_OWN,
    *(
        _searched(family, kind)
        for family, kind in sorted(FAMILIES.items(), key=lambda pair: pair[1].stepwise)
        if kind is not Gaussian
    ),
)

METHOD_FAMILIES = tuple(dict.fromkeys(method.family for method in METHODS))
