"""Who spends what of a budget, and the sufficient condition of Corollary 6."""

import math

import numpy as np
import pytest

from dpnoise import Laplace, allocate, vector_profile
from dpnoise.allocation.shares import resources
from dpnoise.allocation.sufficient import corollary_6
from dpnoise.calibration.gaussian import gaussian_sigma

LAMBDAS = np.array([0.3, 1.0, 2.5, 0.0])
BUDGET = {"gaussian": {"epsilon": 0.5, "delta": 1e-6}, "laplace": {"epsilon": 0.5}}


@pytest.mark.parametrize(
    ("noise", "scheme", "power"),
    [
        ("gaussian", "optimal", 1.0),
        ("laplace", "optimal", 2.0 / 3.0),
        ("gaussian", "spr", 0.0),
        ("laplace", "spr", 0.0),
        ("gaussian", "iid", 2.0),
        ("laplace", "iid", 1.0),
    ],
)
def test_shares_of_the_budget(noise, scheme, power):
    # Section IV-B: eta_i ~ lambda_i and epsilon_i ~ lambda_i^(2/3) for the optimal scheme.
    spent = resources(
        LAMBDAS, allocate(LAMBDAS, noise=noise, scheme=scheme, **BUDGET[noise]), noise=noise
    )
    total = 0.5 / gaussian_sigma(**BUDGET[noise]) ** 2 if noise == "gaussian" else 0.5
    ratios = np.where(LAMBDAS > 0, LAMBDAS**power, 0.0)
    np.testing.assert_allclose(spent, total * ratios / ratios.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (([1.0], [0.0], "gaussian"), ["scales", "positive", "[0]"]),
        (([-1.0], [1.0], "x"), ["sensitivities", "noise"]),
        (([1.0, 2.0], [1.0], "laplace"), ["scales", "(2,)"]),
    ],
)
def test_resources_refuse_bad_input(arguments, names):
    with pytest.raises(ValueError, match="resources") as caught:
        resources(*arguments[:2], noise=arguments[2])
    assert all(name in str(caught.value) for name in names)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 0.1), (0.0, 0.3)])
def test_corollary_6_as_printed_is_private(epsilon, delta):
    scales = corollary_6(LAMBDAS, epsilon, delta)
    pure = np.cbrt(LAMBDAS) * np.sum(np.cbrt(LAMBDAS) ** 2)
    np.testing.assert_allclose(scales, pure / (epsilon - math.log1p(-delta)), rtol=1e-12)
    noises = [Laplace(1.0 + 1e-12).scaled(beta) for beta in scales[:3]]
    assert vector_profile(noises, LAMBDAS[:3].tolist(), epsilon).upper <= delta
    assert corollary_6([0.0], 1.0, 0.0) == [0.0]


def test_corollary_6_refuses_bad_input():
    with pytest.raises(ValueError, match=r"sensitivities.*epsilon, delta"):
        corollary_6([[1.0]], 0.0, 0.0)
    with pytest.raises(ValueError, match=r"sensitivities.*epsilon.*delta"):
        corollary_6([-1.0], -1.0, 1.0)
