"""Answers of autodp."""

from autodp import mechanism_zoo, transformer_zoo
from autodp.calibrator_zoo import ana_gaussian_calibrator, eps_delta_calibrator


def sigma(epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise for sensitivity 1."""
    found = ana_gaussian_calibrator()(mechanism_zoo.GaussianMechanism, epsilon, delta)
    return found.params["sigma"]


def gaussian_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Gaussian noise of this standard deviation."""
    one = mechanism_zoo.ExactGaussianMechanism(sigma=noise, name="one")
    return transformer_zoo.ComposeGaussian()([one], [copies]).get_approxDP(delta)


def laplace_epsilon(noise: float, copies: int, delta: float) -> float:
    """Epsilon of so many releases with Laplace noise of this scale."""
    one = mechanism_zoo.LaplaceMechanism(b=noise, name="one")
    return transformer_zoo.Composition()([one], [copies]).get_approxDP(delta)


def sampled_epsilon_rdp(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of steps with Gaussian noise on Poisson samples, by Renyi divergences."""
    one = mechanism_zoo.GaussianMechanism(sigma=sigma, name="one")
    sampled = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
    step = sampled(one, rate, improved_bound_flag=True)
    return transformer_zoo.Composition()([step], [steps]).get_approxDP(delta)


def sampled_sigma_rdp(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier with which steps on Poisson samples keep a budget, by Renyi divergences."""

    def mechanism(sigma: float) -> mechanism_zoo.NoisySGD_Mechanism:
        return mechanism_zoo.NoisySGD_Mechanism(rate, sigma, steps)

    found = eps_delta_calibrator()(mechanism, epsilon, delta, [0.1, 100.0])
    return found.params["sigma"]
