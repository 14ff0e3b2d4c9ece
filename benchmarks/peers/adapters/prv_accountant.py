"""Answers of prv-accountant, its upper bound."""

from prv_accountant import (
    GaussianMechanism,
    LaplaceMechanism,
    PoissonSubsampledGaussianMechanism,
    PRVAccountant,
)
from prv_accountant.dpsgd import find_noise_multiplier


def gaussian_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Gaussian noise of this standard deviation."""
    return _upper(GaussianMechanism(noise_multiplier=noise), copies, delta)


def laplace_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Laplace noise of this scale."""
    return _upper(LaplaceMechanism(mu=1.0 / noise), copies, delta)


def _upper(one: object, copies: int, delta: float) -> float:
    accountant = PRVAccountant(
        prvs=[one], max_self_compositions=[copies], eps_error=0.01, delta_error=delta / 1000
    )
    return accountant.compute_epsilon(delta, [copies])[2]


def sampled_epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of steps with Gaussian noise on Poisson samples, upper bound."""
    one = PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=sigma)
    return _upper(one, steps, delta)


def sampled_sigma(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier with which steps on Poisson samples keep a budget."""
    return find_noise_multiplier(rate, steps, epsilon, delta)
