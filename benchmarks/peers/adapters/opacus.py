"""Answers of Opacus, for Poisson samples."""

from opacus.accountants import PRVAccountant, RDPAccountant


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
