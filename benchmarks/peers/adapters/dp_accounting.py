"""Answers of dp-accounting."""

from dp_accounting.pld import common, privacy_loss_distribution, privacy_loss_mechanism


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise for sensitivity 1."""
    target = common.DifferentialPrivacyParameters(epsilon, delta)
    found = privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(target)
    return found.standard_deviation


def gaussian_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Gaussian noise of this standard deviation."""
    one = privacy_loss_distribution.from_gaussian_mechanism(noise)
    return one.self_compose(copies).get_epsilon_for_delta(delta)


def laplace_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Laplace noise of this scale."""
    one = privacy_loss_distribution.from_laplace_mechanism(noise)
    return one.self_compose(copies).get_epsilon_for_delta(delta)
