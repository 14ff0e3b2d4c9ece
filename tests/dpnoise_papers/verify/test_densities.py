"""Quadrature against closed forms, at round numbers, ties and extremes."""

import math

import pytest

from dpnoise_papers.verify import densities


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_gaussian_and_laplace(scale):
    gaussian, laplace = densities.gaussian(scale), densities.laplace(scale)
    assert gaussian.variance == pytest.approx(scale**2, rel=1e-12)
    assert gaussian.fisher_information == pytest.approx(scale**-2, rel=1e-12)
    assert laplace.variance == pytest.approx(2 * scale**2, rel=1e-12)
    assert gaussian.tail(scale) == pytest.approx(0.5 * math.erfc(math.sqrt(0.5)), rel=1e-12)
    assert laplace.tail(-scale) == pytest.approx(1 - 0.5 * math.exp(-1), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.5, 0.999])
def test_laplace_profile(epsilon):
    # 1 - exp((epsilon - d / beta) / 2), and 0 from epsilon = d / beta on
    delta = densities.laplace(2.0).delta(2.0, epsilon)
    assert delta == pytest.approx(-math.expm1((epsilon - 1.0) / 2), rel=1e-11)
    assert densities.laplace(2.0).delta(2.0, 1.5) == 0.0


def test_truncated_laplace_gives_all_away_where_supports_are_apart():
    noise = densities.truncated_laplace(1.0, 3.0)
    assert noise.delta(6.0, 1.0) == 1.0
    assert noise.tail(3.0) == 0.0
    assert noise.delta(1.0, 1.0) == pytest.approx(noise.tail(2.0), rel=1e-9)


def test_flipped_huber_without_transition_is_gaussian():
    one, other = densities.flipped_huber(0.0, 3.0), densities.gaussian(3.0)
    assert one.delta(1.0, 0.3) == pytest.approx(other.delta(1.0, 0.3), rel=1e-12)
