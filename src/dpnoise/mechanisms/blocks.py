"""The mechanism 'blocks': joint noise within blocks of coordinates, composition across them.

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
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.joint.calibrate import staircase
from dpnoise.mechanisms.methods import hardly_gains, k_norm_noise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise, beside_response
from dpnoise.mechanisms.request import Found
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma

if TYPE_CHECKING:
    from dpnoise._types import Array, IntArray
    from dpnoise.mechanisms.noise import RealVectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.sensitivity.base import Sensitivity

_MOST_FACTORS = 1000  # of the dynamic program; neighbours in sorted order are merged
_SHARES = 48  # of epsilon for the blocks with joint noise, tried at a time
_MOST_STEPS = 50.0  # beyond, a staircase gains less than 1e-4 of the variance
_MARGIN = 1e-11  # relative, for the rounding of the Gaussian profile
_GRIDS = 3
_STEPS, _ROUNDS = 17, 2  # between bounds on mu
_UP = 1.0 + 2.0**-40  # for the rounding of sums and quotients of scales


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
        low, high = (
            np.take_along_axis(mu, np.clip(at, 0, _STEPS - 1)[None], axis=0)[0]
            for at in (last, last + 1)
        )
    return low


def composed_delta(mu: Array, epsilon: float, spent: Array) -> Array:
    """Upper bound on delta of a Gaussian block beside blocks that are `spent`-DP."""
    first = np.exp(gaussian_log_delta(mu, epsilon - spent))
    second = np.exp(gaussian_log_delta(mu, epsilon + spent))
    return beside_response(first, second, spent)


def _sorted_factors(
    request: Request,
) -> tuple[list[IntArray], Array, Array, Array]:
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
    share = spent / math.fsum(roots) / _UP
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
    """Staircase noise in the norm of a block, or K-norm noise if that is hardly worse."""
    K = ball.active_dimension
    if hardly_gains(K, epsilon) or K / epsilon > _MOST_STEPS:
        return k_norm_noise(ball, epsilon)
    return staircase(ball, epsilon)


def _gaussian_block(request: Request, some: IntArray, mu: float) -> IndependentNoise:
    """Gaussian noise for some parts: sigma^2 proportional to l2 / sqrt(weight)."""
    parts = request.parts
    root = np.sqrt(parts.sums(request.weights * parts.shape**2)[some])
    sizes = parts.l2[some] / request.unit
    sigma = np.sqrt(sizes / root)
    sigma *= math.sqrt(float(np.sum((sizes / sigma) ** 2))) / mu * (request.unit * _UP)
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
