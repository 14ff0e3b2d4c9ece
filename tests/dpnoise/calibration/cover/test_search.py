"""A cover is complete, its reasons hold under another account, and its caps only weaken it."""

import math
from itertools import pairwise

import pytest

from dpnoise import FlippedHuber, OffsetSymmetricGaussian, TruncatedLaplace, calibrate
from dpnoise.calibration.budget import Budget
from dpnoise.calibration.cover.ordered import OrderedShapes
from dpnoise.calibration.cover.search import cover
from dpnoise.privacy.lattice.bounds import lattice_bounds

BUDGET = Budget(1.0, 1e-5, 1.0, 3)


def found(kind, budget=BUDGET):
    """Return the variance of the best noise that the search finds."""
    epsilon, delta, _, dimension = budget
    return calibrate(kind, epsilon=epsilon, delta=delta, dimension=dimension).variance


def test_the_intervals_cover_all_shapes_and_each_noise_violates_the_budget():
    variance = found(FlippedHuber)
    proved = cover(OrderedShapes(FlippedHuber), BUDGET, variance, 1e-2, 1000)
    assert proved.variance == variance * (1.0 - 1e-2)
    assert proved.better is None
    assert proved.cells[0].shapes[0] == 0.0
    assert proved.cells[-1].shapes[1] == math.inf
    for one, other in pairwise(proved.cells):
        assert one.shapes[1] == other.shapes[0]
    for cell in proved.cells:
        assert cell.log_delta > math.log(BUDGET.delta)
        again = lattice_bounds([(cell.noise, 1.0, BUDGET.dimension)], BUDGET.epsilon)
        assert again.log_lower > math.log(BUDGET.delta)
        assert cell.noise.var() > proved.variance


@pytest.mark.parametrize("kind", [FlippedHuber, OffsetSymmetricGaussian, TruncatedLaplace])
def test_a_planted_optimum_is_found_out(kind):
    """Noise with 2 % too much variance is beaten by members that are met on the way."""
    variance = found(kind)
    proved = cover(OrderedShapes(kind), BUDGET, 1.02 * variance, 1e-3, 5000)
    assert proved.better is not None
    assert variance * (1.0 - 1e-9) <= proved.better.var() < 1.002 * variance
    assert 0.997 * variance < proved.variance < variance


@pytest.mark.parametrize("most", [1, 5, 20])
def test_a_cap_lowers_the_bound(most):
    variance = found(FlippedHuber)
    proved = cover(OrderedShapes(FlippedHuber), BUDGET, variance, 1e-4, most)
    assert proved.variance < variance * (1.0 - 1e-4)
    assert not proved.cells or proved.cells[-1].shapes[1] == math.inf


def test_nothing_is_claimed_where_the_account_says_nothing(monkeypatch):
    def refuse(*args, **options):  # noqa: ARG001
        message = "beyond its range"
        raise ValueError(message)

    monkeypatch.setattr("dpnoise.calibration.cover.search.vector_profile", refuse)
    proved = cover(OrderedShapes(FlippedHuber), BUDGET, found(FlippedHuber), 1e-2, 100)
    assert proved.variance == 0.0
    assert proved.cells == ()
