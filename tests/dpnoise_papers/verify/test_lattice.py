import math

import pytest

from dpnoise_papers.verify.lattice import profile
from dpnoise_papers.verify.oracles import densities
from dpnoise_papers.verify.oracles.gaussian import gaussian_log_delta


@pytest.mark.parametrize("copies", [2, 20, 1000])
def test_gaussian_noise_composes_to_gaussian_noise(copies):
    delta = profile([(densities.gaussian(2.0), 0.2, copies)], 0.7, 2**12)
    exact = gaussian_log_delta(0.1 * math.sqrt(copies), 0.7)
    assert math.log(delta) == pytest.approx(exact, abs=1e-7)


def test_different_coordinates():
    parts = [(densities.gaussian(1.0), 0.3, 2), (densities.gaussian(0.5), 0.2, 1)]
    exact = gaussian_log_delta(math.sqrt(2 * 0.09 + 0.16), 0.4)
    assert math.log(profile(parts, 0.4, 2**12)) == pytest.approx(exact, abs=1e-7)


def test_one_coordinate_is_quadrature():
    noise = densities.flipped_huber(3.0, 2.0)
    delta = profile([(noise, 1.0, 1)], 0.5, 2**15)
    assert delta == pytest.approx(noise.delta(1.0, 0.5), rel=1e-4)


def test_beyond_the_largest_loss_nothing_is_left():
    assert profile([(densities.laplace(1.0), 0.1, 3)], 0.31) == 0.0
