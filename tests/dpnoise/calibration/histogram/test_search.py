"""Masses by cells, falling masses, the composed delta beside `vector_profile` and its gradient."""

import math

import numpy as np
import pytest

from dpnoise import Histogram, vector_profile
from dpnoise.calibration.histogram.search import (
    HistogramCells,
    composition,
    minimum_epsilon,
    plan,
    sorted_masses,
)


@pytest.fixture
def histogram():
    """Cells and masses."""
    cells = HistogramCells.of(2, 60, math.exp(-0.5))
    x = np.arange(60) / 2
    return cells, cells.masses(0.7 * np.sqrt(1 + x * x), 9.0)


def test_the_composed_delta_and_its_gradient(histogram):
    cells, p = histogram
    noise = Histogram(1.0, 2, p, cells.ratio)
    lattice = plan(cells, p, 5, 2.0)
    found = composition(cells, p, 5, 2.0, lattice)
    exact = vector_profile(noise, 1.0, 2.0, copies=5)
    assert found.log_delta == pytest.approx(exact.log_estimate, abs=1e-4)
    assert minimum_epsilon(cells, p, 5, found.log_delta, 2.0) == pytest.approx(2.0, abs=1e-9)
    dp = p * np.random.default_rng(0).normal(size=p.size)
    steps = [composition(cells, p + t * dp, 5, 2.0, lattice).log_delta for t in (-1e-6, 1e-6)]
    assert (steps[1] - steps[0]) / 2e-6 == pytest.approx(found.gradient @ dp, rel=1e-5)


def test_cells_are_those_of_a_histogram(histogram):
    cells, p = histogram
    noise = Histogram(1.0, 2, p, cells.ratio)
    assert np.allclose(noise.masses, p, rtol=1e-14)
    assert noise.var() == pytest.approx(9.0, rel=1e-12)
    here, there, factor = cells.pair(p)
    assert (factor * here).sum() == pytest.approx(1.0, rel=1e-12)
    assert (factor * there).sum() == pytest.approx(1.0, rel=1e-12)
    # The gradient of a linear function of the pairs, by differences.
    rng = np.random.default_rng(1)
    u, v, dp = rng.random(here.size), rng.random(here.size), rng.random(p.size)
    found = cells.gather(u, v) @ dp
    there, here = (np.array(cells.pair(dp)[k]) for k in (1, 0))
    assert found == pytest.approx(u @ here + v @ there, rel=1e-12)


def test_sorted_masses_fall_and_keep_their_sum(histogram):
    cells, p = histogram
    rough = p * (1 + 0.1 * np.sin(np.arange(p.size)))
    fitted, ratio = sorted_masses(cells, rough)
    assert np.all(np.diff(fitted) <= 0.0)
    assert Histogram(1.0, 2, fitted, ratio).unimodal
    assert cells.weight @ fitted == pytest.approx(cells.weight @ rough, rel=1e-12)
