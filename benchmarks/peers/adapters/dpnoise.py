"""Our answers."""

import numpy as np

from dpnoise import Budget, Gaussian, Laplace, SampledGaussian, gaussian_sigma, noise_multiplier

MOST = 10_000.0  # epsilon of a Budget


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise for sensitivity 1."""
    return gaussian_sigma(np.float64(epsilon), np.float64(delta))


def gaussian_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Gaussian noise of this standard deviation."""
    return _epsilon(Gaussian(noise), copies, delta)


def laplace_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Laplace noise of this scale."""
    return _epsilon(Laplace(noise), copies, delta)


def _epsilon(noise: Gaussian | Laplace, copies: int, delta: float) -> float:
    budget = Budget(epsilon=MOST, delta=delta, relation="replace-one")
    budget.spend(noise, 1.0, times=copies)
    return budget.epsilon_of()


def sampled_epsilon(sigma: float, rate: float, steps: int, delta: float) -> tuple[float, float]:
    """Both ends of epsilon of steps with Gaussian noise on Poisson samples."""
    low, high = SampledGaussian(sigma, rate).epsilon(delta, steps=steps)
    return low, high


def sampled_sigma(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier with which steps on Poisson samples keep a budget."""
    return noise_multiplier(epsilon, delta, rate, steps)
