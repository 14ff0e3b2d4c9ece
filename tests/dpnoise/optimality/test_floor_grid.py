"""Floors for two coordinates against a linear program of all additive noise on a grid.

Noise with probabilities p on the multiples of h, plus a uniform point of a cell, has a density. A
shift by d moves each place within its cell by one of the grid points less than h from d, so that
noise which is (epsilon, delta)-DP for all of these is so for d. The program finds the least
variance among all p of bounded support: a mechanism like any other, above every floor.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from dpnoise import L1, L2, AtMost, Box, Ellipsoid, Gaussian, LInf, Product, privacy_profile
from dpnoise.optimality.floor import floor

SETS = [
    L1(1.0, of=2),
    L2(1.0, of=2),
    LInf(1.0, of=2),
    AtMost(1, of=2, each=0.5),
    Box([1.0, 0.5]),
    Ellipsoid([0.5, 1.0]),
    Product(LInf(0.5), L2(1.0)),
]


def orbit(point, *, swap):
    """The images of a grid point under changes of sign, and swaps where the set allows them."""
    x = tuple(map(abs, point))
    return tuple(sorted(x)) if swap else x


def shifts(ball, h):
    """Grid points less than h from a difference, one of each orbit, without 0."""
    reach = math.ceil(max(ball.box) / h) + 1
    swap = ball.box[0] == ball.box[1]
    found = set()
    for d in itertools.product(range(reach + 1), repeat=2):
        near = np.maximum(h * np.array(d) - h * (1.0 - 1e-9), 0.0)
        if any(d) and ball.norm(near) <= 1.0:
            found.add(orbit(d, swap=swap))
    return sorted(found), swap


def least_variance(ball, epsilon, delta, h, radius):
    """The least mean variance of noise on the grid within a radius, plus that of the cell."""
    differences, swap = shifts(ball, h)
    n = round(radius / h)
    points = list(itertools.product(range(-n, n + 1), repeat=2))
    orbits = {}
    place = {x: orbits.setdefault(orbit(x, swap=swap), len(orbits)) for x in points}
    q = len(orbits)
    counts = np.bincount([place[x] for x in points], minlength=q)
    squares = np.zeros(q)
    for (x, y), k in orbits.items():
        squares[k] = 0.5 * h * h * (x * x + y * y)
    rows, columns, entries, limits = [], [], [], []
    total = q
    for dx, dy in differences:
        slacks = []
        for x, y in points:
            row = len(limits)
            other = place.get((x + dx, y + dy))
            slacks.append(total)
            for column, entry in ((place[x, y], 1.0), (other, -math.exp(epsilon)), (total, -1.0)):
                if column is not None:
                    rows.append(row)
                    columns.append(column)
                    entries.append(entry)
            total += 1
            limits.append(0.0)
        rows += [len(limits)] * len(slacks)
        columns += slacks
        entries += [1.0] * len(slacks)
        limits.append(delta)
    upper = sparse.csr_matrix((entries, (rows, columns)), shape=(len(limits), total))
    cost = np.concatenate([counts * squares, np.zeros(total - q)])
    equal = sparse.csr_matrix(np.concatenate([counts, np.zeros(total - q)])[None])
    found = linprog(cost, upper, limits, equal, [1.0], method="highs")
    assert found.status == 0, found.message
    return found.fun + h * h / 12.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.2), (2.0, 0.05), (3.0, 0.02)])
@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_no_noise_on_a_grid_is_below_the_floor(ball, epsilon, delta):
    least = least_variance(ball, epsilon, delta, 0.5, 4.0)
    for method in ("fast", "program"):
        value = floor(ball, epsilon=epsilon, delta=delta, method=method).value
        assert value <= least * (1.0 + 1e-7)
        assert value >= 0.15 * least  # both say something


def test_the_program_is_no_floor_itself_but_close_to_the_best_noise_known():
    """A finer grid comes closer; Gaussian noise, on no grid, is not far above."""
    ball, epsilon, delta = L2(1.0, of=2), 2.0, 0.1
    coarse, fine = (least_variance(ball, epsilon, delta, h, 3.0) for h in (0.5, 0.25))
    assert floor(ball, epsilon=epsilon, delta=delta).value <= fine <= coarse
    sigma = 1.0
    assert float(privacy_profile(Gaussian(sigma), 1.0, epsilon)) < delta
    assert fine < sigma**2
