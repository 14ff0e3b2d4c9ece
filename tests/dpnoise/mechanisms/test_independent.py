"""Mechanisms with independent coordinates against closed forms and `allocate`."""

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, LInf, Product, allocate, gaussian_sigma
from dpnoise.mechanisms.methods import gaussian, laplace
from dpnoise.mechanisms.request import read_request
from sampled_delta import loss

LAMBDAS = (1.0, 4.0, 0.0, 0.25)


def request(ball, delta=1e-6, error="variance", weights=None):
    return read_request(ball, 1.0, delta, error, weights)


@pytest.mark.parametrize("error", ["variance", "mean-abs"])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 5.0, 100.0]])
def test_a_box_gets_what_allocate_gives(error, weights):
    one = request(Box(LAMBDAS), error=error, weights=weights)
    p = 2.0 if error == "variance" else 1.0
    for found, noise, delta in ((gaussian(one), "gaussian", 1e-6), (laplace(one), "laplace", 0.0)):
        best = allocate(LAMBDAS, noise=noise, epsilon=1.0, delta=delta, p=p, weights=weights)
        assert np.allclose(found.noise.scales, best, rtol=1e-11, atol=0.0)
        assert np.all(found.noise.scales >= best * (1.0 - 1e-15))


@pytest.mark.parametrize(
    ("ball", "l1", "l2"),
    [
        (L1(2.0, of=5), 2.0, 2.0),
        (L2(2.0, of=5), 2.0 * 5**0.5, 2.0),
        (LInf(2.0, of=5), 10.0, 2.0 * 5**0.5),
        (AtMost(3, of=5, each=2.0), 6.0, 12**0.5),
    ],
)
def test_symmetric_sets_get_equal_scales_by_their_norms(ball, l1, l2):
    sigma = float(gaussian_sigma(1.0, 1e-6, l2))
    assert np.allclose(gaussian(request(ball)).noise.scales, sigma, rtol=1e-11)
    assert np.allclose(laplace(request(ball)).noise.scales, l1, rtol=1e-11)


def test_a_product_shares_the_budget_between_its_factors():
    ball = Product(L2(1.0, of=4), AtMost(2, of=9, each=0.1), Box((3.0, 0.0)))
    one = request(ball)
    sigma = gaussian(one).noise.scales
    mu = 1.0 / float(gaussian_sigma(1.0, 1e-6))
    spent = (1.0 / sigma[0]) ** 2 + (0.02 / sigma[4] ** 2) + (3.0 / sigma[13]) ** 2
    assert spent == pytest.approx(mu**2, rel=1e-10)
    assert sigma[14] == 0.0
    # Stationary: d cost / d spent is equal for all factors.
    rates = 4 * sigma[0] ** 4 / 1.0, 9 * sigma[4] ** 4 / 0.02, sigma[13] ** 4 / 9.0
    assert np.ptp(rates) < 1e-9 * max(rates)


@pytest.mark.parametrize("find", [gaussian, laplace])
def test_the_unit_of_a_factor_changes_nothing(find):
    """Weights that differ by far, as of counts beside sums, are added up factor by factor."""
    for unit in (2.0**30, 2.0**60):
        found = []
        for each in (1.0, unit):
            ball = Product(AtMost(2, of=3), AtMost(2, of=3, each=each))
            one = request(ball, weights=np.repeat([1.0, 3.0 / each**2], 3))
            found.append(find(one).noise.scales / np.repeat([1.0, each], 3))
        assert np.allclose(*found, rtol=1e-12, atol=0.0)


def test_laplace_noise_keeps_epsilon_for_differences_at_random():
    ball = Product(L2(1.0, of=4), AtMost(2, of=9, each=0.1))
    noise = laplace(request(ball)).noise
    d = ball.sample(200, 1)
    d /= ball.norm(d)[:, None]
    for x, one in zip(noise.rvs(200, 2), d, strict=True):
        assert abs(loss(noise, x, one)) <= 1.0 + 1e-9
