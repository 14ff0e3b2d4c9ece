"""The least error of all noise on a grid that hides given shifts: one linear program.

No noise that is (epsilon, delta)-DP for differences has a smaller error if the grid and its shifts
are chosen so that every such noise gives one on the grid; and noise that the program finds is a
mechanism like any other, above every floor.
"""

import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def least_error(points, shifts, cost, budget, *, orbit=tuple, method="highs"):
    """Return the least sum of `cost`, one for each of the grid points (tuples of integers).

    Points of one `orbit` have the same mass. With delta, nothing lies beyond the points. Without
    delta, shifts beyond them are left out, which can only make the least error smaller.
    """
    epsilon, delta = budget
    orbits = {}
    index = [orbits.setdefault(orbit(x), len(orbits)) for x in points]
    place = dict(zip(points, index, strict=True))
    counts, total = np.bincount(index).astype(float), np.bincount(index, cost)
    moved = [
        [place.get(tuple(a + b for a, b in zip(x, d, strict=True)), -1) for x in points]
        for d in shifts
    ]
    pairs = np.array([(a, b) for row in moved for a, b in zip(index, row, strict=True)])
    if delta == 0.0:
        pairs = np.unique(pairs[(pairs[:, 1] >= 0) & (pairs[:, 0] != pairs[:, 1])], axis=0)
    row, near = np.arange(len(pairs)), pairs[:, 1] >= 0
    values = np.append(np.ones(row.size), np.full(near.sum(), -math.exp(epsilon)))
    where = np.append(row, row[near]), np.append(pairs[:, 0], pairs[near, 1])
    upper = sparse.csr_array((values, where), shape=(row.size, counts.size))
    limits = np.zeros(row.size)
    if delta > 0.0:
        spent = sparse.kron(sparse.eye_array(len(shifts)), np.ones((1, len(points))))
        upper = sparse.block_array([[upper, -sparse.eye_array(row.size)], [None, spent]])
        limits = np.append(limits, np.full(len(shifts), delta))
        counts, total = (np.append(x, np.zeros(row.size)) for x in (counts, total))
    found = linprog(total, sparse.csr_array(upper), limits, counts[None], [1.0], method=method)
    assert found.status == 0, found.message
    return found.fun
