"""Partition of coordinates into blocks with joint noise, of minimum weighted variance.

K-norm noise for a block of k coordinates, in the norm of the sensitivity set of the block, at
epsilon_B has sum w_i sigma_i^2 = V (k + 1)(k + 2) / epsilon_B^2, V = sum w_i E Z_i^2 with Z
uniform in the set; for a product V adds up. The budgets of independent blocks add up. With
a_B = (V_B (k_B + 1)(k_B + 2))^(1/3), Hoelder's inequality gives

    min { sum a_B^3 / epsilon_B^2 : sum epsilon_B = epsilon } = (sum a_B)^3 / epsilon^2

at epsilon_B = epsilon a_B / sum a_B. So the partition minimises a sum over blocks, sum a_B.

For single coordinates (a box) only intervals of the coordinates sorted by v_i = w_i lambda_i^2
need to be looked at: for fixed sizes k_B the sum is concave in the vector (V_B), so its minimum
over all assignments is at a vertex of their convex hull; a vertex is the only minimum of some
sum c_B V_B, and that one is the sorted assignment, the largest v_i to the smallest c_B. Dynamic
programming finds the best intervals. For larger factors, sorted by v_i / k_i, it finds the best
intervals, and other partitions may be better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array, IntArray


class Partitions(NamedTuple):
    """The best partitions of the first j factors into intervals, for j from 0 to n."""

    values: Array  # the minimum of sum a_B, shape (n + 1,)
    starts: IntArray  # where the last block of the minimum starts, shape (n + 1,)

    def blocks(self, j: int) -> list[slice]:
        """The blocks of the best partition of the first `j` factors."""
        found: list[slice] = []
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
