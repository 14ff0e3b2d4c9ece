"""The noise of private coordinate descent: budgets, limits and orderings."""

import math

import numpy as np
import pytest

from dpnoise.calibration import coordinate_noise as module
from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.noise import FlippedHuber, Noise, flipped_huber_variance
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise.privacy.odometer.concentrated import epsilon_from_zcdp, eta_from_dp, zcdp
from for_all import for_all

MECHANISMS = ("gaussian", "flipped-huber", "gaussian-tight")
BUDGETS = [(0.01, 1e-9), (0.5, 1e-6), (1.0, 1e-300), (1.0, 0.3), (8.0, 1e-5), (300.0, 1e-12)]
SHAPES = [(1, 1), (10, 1), (3, 4), (20, 50), (784, 7)]
mechanisms = for_all("mechanism", MECHANISMS)


def calibrated(mechanism, epsilon=1.0, delta=1e-6, coordinates=8, passes=5, **options):
    return coordinate_noise(
        mechanism, epsilon=epsilon, delta=delta, coordinates=coordinates, passes=passes, **options
    )


@mechanisms
@for_all(("epsilon", "delta"), BUDGETS)
@for_all(("K", "L"), SHAPES)
def test_every_release_together_keeps_the_budget(mechanism, epsilon, delta, K, L):
    """Recomputed release by release, at unequal sensitivities and after scaling."""
    lambdas = 10 ** np.random.default_rng(K).uniform(-4, 2, K)
    result = calibrated(mechanism, epsilon, delta, K, L, sensitivities=lambdas)
    assert (1 - 1e-12) * epsilon <= result.epsilon <= epsilon
    noises = [result.scaled(size) for size in lambdas]
    if mechanism == "gaussian-tight":
        ratios = [size / noise.sigma for size, noise in zip(lambdas, noises, strict=True)]
        mu = math.sqrt(L * math.fsum(r * r for r in ratios))
        assert gaussian_log_delta(mu, epsilon) <= math.log(delta)
    else:
        spent = [zcdp(noise, size) for size, noise in zip(lambdas, noises, strict=True)]
        xi, eta = (L * math.fsum(parts) for parts in zip(*spent, strict=True))
        assert epsilon_from_zcdp(xi, eta, delta) <= epsilon
        assert (xi, eta) == pytest.approx((result.xi, result.eta), rel=1e-12)


@for_all(("epsilon", "delta"), BUDGETS)
def test_one_release_is_the_direct_computation(epsilon, delta):
    eta = eta_from_dp(epsilon, delta)
    gaussian = calibrated("gaussian", epsilon, delta, 1, 1)
    assert gaussian.unit.sigma == pytest.approx(math.sqrt(1 / (2 * eta)), rel=1e-13)
    tight = calibrated("gaussian-tight", epsilon, delta, 1, 1)
    assert tight.unit.sigma == pytest.approx(gaussian_sigma(epsilon, delta), rel=1e-13)
    best = math.inf
    for step in range(50):
        xi = epsilon * step / 50
        eta = float(eta_from_dp(epsilon, delta, xi))
        ratio = xi / eta
        alpha = math.sqrt(ratio) if ratio <= 1 else (ratio + 1) / 2
        best = min(best, FlippedHuber(alpha, math.sqrt(1 / (2 * eta))).var())
    flipped = calibrated("flipped-huber", epsilon, delta, 1, 1, grid=50)
    assert flipped.unit.var() == pytest.approx(best, rel=1e-12)


def test_search_uses_the_variance_of_identical_noise():
    """With unequal sensitivities the grid minimises the paper's FH(alpha_0, gamma_0^2)."""
    lambdas = np.array([1.0, 0.02, 0.01, 0.01])
    result = calibrated("flipped-huber", 3.0, 1e-6, 4, 1, sensitivities=lambdas, grid=200)
    xi = 3.0 * np.arange(200) / 200
    eta = eta_from_dp(3.0, 1e-6, xi)
    square = np.sum(lambdas**2)
    cost = square * xi / (4 * eta)
    alpha = np.where(cost <= 1, np.sqrt(cost), (cost + 1) / 2)
    best = np.argmin(flipped_huber_variance(alpha, np.sqrt(square / (2 * eta))))
    assert result.xi == pytest.approx(xi[best], rel=1e-12)
    equal = calibrated("flipped-huber", 3.0, 1e-6, 4, 1, sensitivities=[9.0] * 4, grid=200)
    assert equal == calibrated("flipped-huber", 3.0, 1e-6, 4, 1, grid=200)


@mechanisms
def test_an_account_over_budget_is_refused(mechanism, monkeypatch):
    monkeypatch.setattr(module, "epsilon_from_zcdp", lambda *bound: 1.001 + 0 * sum(bound))
    monkeypatch.setattr(module, "gaussian_log_delta", lambda mu, _: 0.0 * mu)
    with pytest.raises(RuntimeError, match=r"exceeds epsilon=1\.0"):
        calibrated(mechanism)


@mechanisms
def test_unit_noise_is_scaled_to_the_sensitivity(mechanism):
    result = calibrated(mechanism)
    assert isinstance(result.scaled(0.25), Noise)
    assert result.scaled(0.25).var() == pytest.approx(result.unit.var() / 16, rel=1e-14)
    with pytest.raises(ValueError, match="factor"):
        result.scaled(0.0)


@for_all(
    ("options", "words"),
    [
        (
            {"mechanism": "laplace", "epsilon": 0.0, "delta": 0.0, "passes": 0, "grid": 2.5},
            ["mechanism", "'laplace'", "epsilon", "delta", "passes", "got 0", "grid", "2.5"],
        ),
        ({"coordinates": 0, "delta": 1.0}, ["coordinates", "delta", "got 1.0"]),
        ({"coordinates": True}, ["coordinates", "True"]),
        ({"sensitivities": [1.0, 2.0]}, ["sensitivities", "(8,)", "(2,)"]),
        ({"sensitivities": [0.0] * 8}, ["sensitivities", "[0.0, 0.0, 0.0]"]),
        ({"epsilon": math.nan, "sensitivities": "all"}, ["epsilon", "nan", "'all'"]),
    ],
)
def test_bad_input_names_every_problem(options, words):
    with pytest.raises(ValueError, match="expected") as error:
        calibrated(**{"mechanism": "gaussian", **options})
    assert all(word in str(error.value) for word in words)


@for_all("count", [0, 2**70, 10**400, 1.5, True, None])
def test_counts_out_of_range_are_named(count):
    with pytest.raises(
        ValueError, match=r"passes: expected a whole.*coordinates: expected a whole"
    ):
        coordinate_noise("gaussian", epsilon=1.0, delta=1e-3, coordinates=count, passes=count)


@for_all("mechanism", [np.ones(2), None, ["gaussian"]])
def test_a_mechanism_of_another_type_is_named(mechanism):
    with pytest.raises(ValueError, match="mechanism: expected one of"):
        coordinate_noise(mechanism, epsilon=1.0, delta=1e-3, coordinates=2, passes=2)
