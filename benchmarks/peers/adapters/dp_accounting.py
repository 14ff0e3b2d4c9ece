"""Answers of dp-accounting."""

import dp_accounting
from dp_accounting.pld import common, privacy_loss_distribution, privacy_loss_mechanism
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant


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


def sampled_epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of steps with Gaussian noise on Poisson samples, by loss distributions."""
    return _sampled(PLDAccountant(), sigma, rate, steps, delta)


def sampled_epsilon_rdp(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of the same by Renyi divergences."""
    return _sampled(RdpAccountant(), sigma, rate, steps, delta)


def _sampled(
    accountant: dp_accounting.PrivacyAccountant,
    sigma: float, rate: float, steps: int, delta: float,
) -> float:  # fmt: skip
    one = dp_accounting.GaussianDpEvent(sigma)
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, one), steps)
    return accountant.get_epsilon(delta)


def sampled_sigma(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier with which steps on Poisson samples keep a budget."""
    return _multiplier(PLDAccountant, epsilon, delta, rate, steps)


def sampled_sigma_rdp(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The same by Renyi divergences."""
    return _multiplier(RdpAccountant, epsilon, delta, rate, steps)


def _multiplier(
    accountant: type[dp_accounting.PrivacyAccountant],
    epsilon: float, delta: float, rate: float, steps: int,
) -> float:  # fmt: skip
    def event(sigma: float) -> dp_accounting.DpEvent:
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(step, steps)

    return dp_accounting.calibrate_dp_mechanism(accountant, event, epsilon, delta)
