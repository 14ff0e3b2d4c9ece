import math

import mpmath
import numpy as np
import pytest

from dpnoise_papers.verify.lattice import minimum_moment
from dpnoise_papers.verify.oracles import densities
from dpnoise_papers.verify.oracles.densities import minimum, minimum_in_box, scalar_delta
from dpnoise_papers.verify.oracles.gaussian import (
    gaussian_log_delta,
    gaussian_sigma,
)
from dpnoise_papers.verify.paths import minimum_cost
from oracles.exact import Pieces

BOX = ((0.02, 150.0), (0.02, 50.0))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_gaussian_and_laplace(scale):
    gaussian, laplace = densities.gaussian(scale), densities.laplace(scale)
    assert gaussian.variance == pytest.approx(scale**2, rel=1e-12)
    assert gaussian.fisher_information == pytest.approx(scale**-2, rel=1e-12)
    assert laplace.variance == pytest.approx(2 * scale**2, rel=1e-12)
    assert gaussian.tail(scale) == pytest.approx(0.5 * math.erfc(math.sqrt(0.5)), rel=1e-12)
    assert laplace.tail(-scale) == pytest.approx(1 - 0.5 * math.exp(-1), rel=1e-12)


@pytest.mark.parametrize(
    ("density", "parameters"),
    [
        (densities.flipped_huber, (1.5, 1.2)),
        (densities.huber, (0.7, 1.4)),
        (densities.offset_symmetric_gaussian, (2.0, 1.5)),
        (densities.truncated_laplace, (1.1, 2.5)),
    ],
)
def test_quadrature_in_doubles_agrees_with_many_digits(density, parameters):
    one, many = density(*parameters), Pieces(density, *parameters)
    assert one.variance == pytest.approx(float(many.variance()), rel=1e-12)
    assert one.tail(0.9) == pytest.approx(float(mpmath.exp(many.log_tail(0.9))), rel=1e-12)
    if one.bound == math.inf:
        assert one.fisher_information == pytest.approx(float(many.fisher()), rel=1e-12)
    for epsilon in (0.0, 0.4):
        assert one.delta(1.0, epsilon) == pytest.approx(float(many.delta(1.0, epsilon)), rel=1e-11)


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


def test_laplace_scale():
    found = minimum("laplace", scalar_delta(0.3, 1.0), 1e-6)
    assert found.scale == pytest.approx(1 / (0.3 - 2 * math.log1p(-1e-6)), rel=1e-11)


def test_a_wrong_hint_does_not_hide_the_minimum():
    spent = scalar_delta(0.3, 1.0)
    whole = minimum("flipped-huber", spent, 1e-6)
    assert whole.variance == pytest.approx(22.212785, rel=1e-7)
    hinted = minimum("flipped-huber", spent, 1e-6, hint=0.5)
    assert whole.variance * (1 - 1e-9) <= hinted.variance < 23.0


def test_a_box_that_is_too_small_has_no_private_noise():
    spent = scalar_delta(0.3, 1.0)
    assert math.isnan(minimum_in_box("flipped-huber", spent, 1e-6, ((0.02, 0.1), (0.02, 0.1))))
    found = minimum_in_box("offset-symmetric-gaussian", spent, 1e-6, BOX)
    assert found == pytest.approx(27.9839, rel=1e-5)


@pytest.mark.parametrize("sizes", [[1.0], [1.0, 1.0, 0.0], [0.85, 0.15], [1e-8, 1.0]])
def test_allocation_is_the_closed_form(sizes):
    sizes = np.array(sizes)
    gauss = minimum_cost(sizes, power=2.0, loss=2.0, budget=0.25)
    assert gauss == pytest.approx(sizes.sum() ** 2 / 0.25, rel=1e-7)
    laplace = minimum_cost(sizes, power=2.0, loss=1.0, budget=0.5)
    assert laplace == pytest.approx(np.sum(np.cbrt(sizes) ** 2) ** 3 / 0.25, rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_staircase_of_least_mean_absolute_error(epsilon):
    exact = 0.5 / math.sinh(0.5 * epsilon)
    assert minimum_moment(epsilon, 1) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-6), (0.5, 1e-12), (20.0, 1e-8)])
def test_sigma_is_a_proved_root(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta, 2.0)
    assert gaussian_log_delta(2.0 / sigma, epsilon) == pytest.approx(math.log(delta), abs=1e-10)
