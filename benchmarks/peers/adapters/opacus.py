"""Answers of Opacus, for Poisson samples."""

from opacus.accountants import PRVAccountant, RDPAccountant
from opacus.accountants.utils import get_noise_multiplier


def sampled_epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of steps with Gaussian noise on Poisson samples, by privacy random variables."""
    accountant = PRVAccountant()
    accountant.history = [(sigma, rate, steps)]
    return accountant.get_epsilon(delta)


def sampled_epsilon_rdp(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of the same by Renyi divergences."""
    accountant = RDPAccountant()
    accountant.history = [(sigma, rate, steps)]
    return accountant.get_epsilon(delta)


def sampled_sigma(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier with which steps on Poisson samples keep a budget."""
    return _multiplier("prv", epsilon, delta, rate, steps)


def sampled_sigma_rdp(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The same by Renyi divergences."""
    return _multiplier("rdp", epsilon, delta, rate, steps)


def _multiplier(kind: str, epsilon: float, delta: float, rate: float, steps: int) -> float:
    return get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=rate, steps=steps, accountant=kind
    )
