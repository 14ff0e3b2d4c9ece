"""Answers of diffprivlib, which composes pure budgets only."""

from diffprivlib.mechanisms import GaussianAnalytic


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise for sensitivity 1."""
    return GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1.0)._scale  # noqa: SLF001
