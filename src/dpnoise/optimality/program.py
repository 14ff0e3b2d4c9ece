"""The linear program of additive noise on a lattice, and a lower bound recomputed from its dual.

Unknown are the masses p_0, ..., p_N of symmetric noise at the points j/n, where p_N is all
mass from N on (on one side), and, for each shift by k cells, slacks u_kj:

    minimise    sum_j c_j p_j  over both signs
    subject to  sum_j p_j = 1  over both signs,
                p_|j| - e^epsilon p_|j+k| <= u_kj  for j >= -(k-1)/2, j + k < N,
                p_(N-k) + ... + p_N - e^epsilon p_N <= u_kN,
                sum_j u_kj <= delta.

Shifts towards 0, j < -(k-1)/2, are left out: noise whose density falls on either side of 0 gains
nothing by them. For large delta the optimum is another, and the `whole` program has all j > -N.

The last slack belongs to the events {T >= N - k} and, shifted, {T >= N}. By data processing
the masses of every (epsilon, delta)-DP lattice noise, the lump being what it has beyond N,
are feasible (see `dpnoise.optimality.bounds` for noise off the lattice).

Any multipliers y_kj in [0, w_k] give the bound min_j (c_j + (A' y)_j) - delta sum_k w_k. The
solver's multipliers are clipped to that and the bound is computed from them, independently of the
solver's accuracy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array

LARGE_DELTA = 0.1  # beyond, the optimum may not fall on either side of 0
_TOLERANCE = 1e-10  # the solver's, on primal and dual feasibility; the least it accepts
_UNIT = 2.0**-52


class LatticeProgram:
    """Program for one budget, cost |t|^power and lattice.

    There are n = `cells` lattice points per unit, and N = `last` is more than n. `whole` adds the
    shifts towards 0.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        power: int,
        cells: int,
        last: int,
        *,
        whole: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.cells, self.last = epsilon, delta, cells, last
        self.whole = whole
        self.growth = math.exp(epsilon)
        self.cost = (np.arange(last + 1) / cells) ** power
        self.weight = np.full(last + 1, 2.0)  # the cost and the mass of both signs
        self.weight[0] = 1.0
        # The solver's tolerances are absolute: costs are given to it near 1.
        self._unit_cost = epsilon**-power

    def solve(self, shifts: list[int]) -> tuple[Array, float]:
        """Optimal masses, shape (N + 1,), and a certified lower bound on the cost.

        The shifts k, in 1, ..., n, are those constrained.
        """
        rows, counts = self._rows(shifts)
        masses, multipliers = self._run(rows, counts)
        return masses, self._bound(rows, counts, multipliers)

    def multipliers(self, shifts: list[int]) -> Array:
        """Multipliers of the rows of the given shifts, then of their budgets, all >= 0."""
        return self._run(*self._rows(shifts))[1]

    def bound(self, shifts: list[int], multipliers: Array) -> float:
        """Lower bound on the cost that any multipliers >= 0 prove."""
        return self._bound(*self._rows(shifts), multipliers)

    def _rows(self, shifts: list[int]) -> tuple[Any, list[int]]:
        """Rows of several shifts, and how many each has."""
        blocks = [self._differences(k) for k in shifts]
        return _stack(blocks), [block.shape[0] for block in blocks]

    def solve_decreasing(self) -> tuple[Array, float]:
        """Minimum of the cost over decreasing masses, as these masses and their cost.

        For decreasing symmetric masses the largest shift is the worst, so that it alone is
        constrained: each cell's term grows as the shift moves its partner outwards.
        """
        from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed

        block = self._differences(self.cells)
        size = (self.last - 1, self.last + 1)
        steps = sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=size)
        masses, _ = self._run(block, [block.shape[0]], steps)
        return masses, float(np.sum(self.cost * self.weight * masses))

    def _differences(self, k: int) -> Any:  # noqa: ANN401 - a sparse array
        """Rows p_|j| - e^epsilon p_|j+k| of one shift."""
        from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed

        first = 1 - self.last if self.whole else -((k - 1) // 2)
        j = np.arange(first, self.last - k + 1)
        row = np.arange(j.size)
        lump = np.arange(self.last - k + 1, self.last + 1)
        values = [np.ones(j.size), np.full(j.size, -self.growth), np.ones(lump.size)]
        rows = [row, row, np.full(lump.size, row[-1])]
        index = (np.concatenate(rows), np.concatenate([np.abs(j), np.abs(j + k), lump]))
        shape = (j.size, self.last + 1)
        return sparse.csr_array(sparse.coo_array((np.concatenate(values), index), shape=shape))

    def _run(self, rows: Any, counts: list[int], extra: Any = None) -> tuple[Array, Array]:  # noqa: ANN401
        """Masses and the multipliers of `rows`, then of each shift's budget."""
        from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed
        from scipy.optimize import linprog  # noqa: PLC0415

        size, slacks = self.last + 1, 0
        matrix, right = rows, np.zeros(rows.shape[0])
        if self.delta > 0.0:  # else a slack could only be 0
            slacks = rows.shape[0]
            owner = np.repeat(np.arange(len(counts)), counts)
            # Budgets in units of delta, which may be far below the solver's tolerance.
            value = np.full(slacks, 1.0 / self.delta)
            shape = (len(counts), slacks)
            budget = sparse.coo_array((value, (owner, np.arange(slacks))), shape=shape)
            matrix = sparse.block_array([[rows, -sparse.eye_array(slacks)], [None, budget]])
            right = np.concatenate([right, np.ones(len(counts))])
        if extra is not None:
            extra = sparse.csr_array(extra)  # a copy, to be widened
            extra.resize(extra.shape[0], size + slacks)
            matrix = sparse.vstack([matrix, extra])
            right = np.append(right, np.zeros(extra.shape[0]))
        # Typed loosely: the types of SciPy know no sparse constraints.
        inequalities: Any = sparse.csr_array(matrix)
        normalised: Any = sparse.csr_array(np.append(self.weight, np.zeros(slacks))[None, :])
        answer = linprog(
            np.append(self.cost * self.weight / self._unit_cost, np.zeros(slacks)),
            A_ub=inequalities,
            b_ub=right,
            A_eq=normalised,
            b_eq=np.ones(1),
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": _TOLERANCE,
                "dual_feasibility_tolerance": _TOLERANCE,
            },
        )
        if answer.status != 0 or answer.x is None:
            message = (
                f"linear program of additive noise (epsilon={self.epsilon!r}, "
                f"delta={self.delta!r}, {self.cells} cells per unit): {answer.message}"
            )
            raise RuntimeError(message)
        masses = np.maximum(answer.x[:size], 0.0)
        masses[-1] = min(masses[-1], masses[-2])  # one cell of the lump
        multipliers = -answer.ineqlin.marginals[: rows.shape[0] + len(counts)] * self._unit_cost
        return masses, np.maximum(multipliers, 0.0)

    def _bound(self, rows: Any, counts: list[int], multipliers: Array) -> float:  # noqa: ANN401
        """Bound that feasible multipliers near the solver's prove."""
        y, paid = multipliers[: rows.shape[0]], 0.0
        if self.delta > 0.0:
            w = multipliers[rows.shape[0] :] / self.delta
            y = np.minimum(y, np.repeat(w, counts))
            paid = self.delta * math.fsum(w)
        value = self.cost * self.weight + rows.T @ y
        size = self.cost * self.weight + abs(rows).T @ y
        terms = np.diff(rows.tocsc().indptr)
        # Each sum of m terms is off by less than m + 4 units in the last place of its size.
        minimum = float(np.min((value - (terms + 4) * _UNIT * size) / self.weight))
        return minimum - paid - 8.0 * _UNIT * (abs(minimum) + paid)


def _stack(blocks: list[Any]) -> Any:  # noqa: ANN401
    from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed

    return sparse.csr_array(sparse.vstack(blocks))
