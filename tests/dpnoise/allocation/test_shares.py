"""The part of the budget that each coordinate spends."""

import numpy as np
import pytest

from dpnoise import allocate
from dpnoise.allocation.shares import resources
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
