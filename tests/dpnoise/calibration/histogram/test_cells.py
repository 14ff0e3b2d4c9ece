"""Masses of a histogram by cells: their variance, pairs one unit apart, and falling masses."""

import numpy as np
import pytest

from dpnoise import Histogram
from dpnoise.calibration.histogram.cells import sorted_masses


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
