"""Answers of riskcal."""

from riskcal.accountants import CTDAccountant
from riskcal.calibration import find_noise_multiplier_for_epsilon_delta


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise for sensitivity 1."""
    return find_noise_multiplier_for_epsilon_delta(
        CTDAccountant, sample_rate=1.0, num_steps=1, epsilon=epsilon, delta=delta
    )


def gaussian_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Gaussian noise of this standard deviation."""
    accountant = CTDAccountant()
    for _ in range(copies):
        accountant.step(noise_multiplier=noise, sample_rate=1.0)
    return accountant.get_epsilon(delta=delta)


def sampled_epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of steps with Gaussian noise on Poisson samples."""
    accountant = CTDAccountant()
    for _ in range(steps):
        accountant.step(noise_multiplier=sigma, sample_rate=rate)
    return accountant.get_epsilon(delta=delta)


def sampled_sigma(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier with which steps on Poisson samples keep a budget."""
    return find_noise_multiplier_for_epsilon_delta(
        CTDAccountant, sample_rate=rate, num_steps=steps, epsilon=epsilon, delta=delta
    )
