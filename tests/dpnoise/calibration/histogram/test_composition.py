"""The composed delta of a histogram beside `vector_profile`; its gradient beside differences."""

import numpy as np
import pytest

from dpnoise import Histogram, vector_profile
from dpnoise.calibration.histogram.composition import composition, minimum_epsilon, plan


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
