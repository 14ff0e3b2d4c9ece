"""Noise that a training run of many sampled steps needs, and its privacy.

Each step adds noise to a sum over a Poisson sample: every record is in it with chance `rate`,
independently. Neighbouring data sets differ by the presence of one record. A step's noise is that
of one query of sensitivity 1, whatever the groups (docs/inid-2024.md, section 1).

Gaussian noise: Renyi divergences, as in the paper, and privacy loss distributions, both by
dp_accounting and both upper bounds. Laplace noise: the exact account for delta = 0. A step without
sampling loses at most a = sum_i |d_i| / beta_i, where d_i is what one record adds to coordinate i.
Proofs: docs/inid-2024.md, section 3.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import dp_accounting
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from scipy import optimize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise_papers.inid_2024.deep.scales import Noise

ORDERS = (*(k / 10 for k in range(20, 110)), *range(11, 65), 128, 256, 512, 1024)
_MAXIMUM_MULTIPLIER = 1e6
_STRIDE = 0.1  # of the logarithm, doubling
_ROUNDING = 1e-13  # of the divergence of a step: 1e-15 of exponents of up to 1e4, over order - 1
_INTERVAL = 2e-4  # of the losses of a step; half of it moves epsilon = 8 by 1e-5 of it
_MAXIMUM_EXPONENT = 700.0


def rdp_epsilon(
    multiplier: float,
    delta: float,
    steps: int,
    rate: float,
    orders: Sequence[float] = ORDERS,
) -> float:
    """Upper bound on epsilon of the sampled Gaussian mechanism, by Renyi divergences.

    `multiplier` is the standard deviation over the sensitivity. Infinite where rounding hides
    the divergence.

    References
    ----------
    Mironov, Talwar & Zhang, "Renyi Differential Privacy of the Sampled Gaussian Mechanism" (2019);
    Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy" (2020).
    """
    accountant = RdpAccountant(orders)
    accountant.compose(_event(multiplier, rate), steps)
    epsilon = float(accountant.get_epsilon(delta))
    # dp_accounting returns 0 also where rounding has made a divergence negative.
    return epsilon + steps * _ROUNDING if epsilon > 0.0 else math.inf


def pld_epsilon(
    multiplier: float, delta: float, steps: int, rate: float, *, replace_one: bool = False
) -> float:
    """Upper bound on epsilon of the sampled Gaussian mechanism, by privacy loss distributions.

    For a record added or removed, or with `replace_one` for one replaced by another of the same
    bound. Infinite where delta is below the mass that the accountant cuts off.

    References
    ----------
    Doroshenko et al., "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
    Distributions" (2022).
    """
    relation = (
        NeighboringRelation.REPLACE_ONE if replace_one else NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    accountant = PLDAccountant(relation, value_discretization_interval=_INTERVAL)
    accountant.compose(_event(multiplier, rate), steps)
    return float(accountant.get_epsilon(delta))


def minimum_multiplier(
    bound: Callable[[float], float], epsilon: float, rtol: float, *, guess: float = 1.0
) -> float:
    """Minimum noise multiplier at which an upper bound on epsilon is at most the one asked for.

    Parameters
    ----------
    bound : callable
        Bound on epsilon at a multiplier, falling.
    epsilon : float
        The budget.
    rtol : float
        Relative tolerance of the multiplier, which is on the private side.
    guess : float
        Where the search begins.

    Returns
    -------
    float
        A multiplier with bound(multiplier) <= epsilon, checked.

    Raises
    ------
    ValueError
        If no multiplier up to 1e6 will do.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.accounting import minimum_multiplier
    >>> round(minimum_multiplier(lambda m: 6.0 / m, 2.0, 1e-9), 6)
    3.0
    """

    @cache
    def at(log_multiplier: float) -> float:
        return bound(math.exp(log_multiplier))

    def excess(log_multiplier: float) -> float:
        found = math.log(max(at(log_multiplier), 1e-300) / epsilon)
        return min(found, 1e3)  # of an infinite bound

    low = high = math.log(guess)
    stride = _STRIDE
    # ends: steps to a maximum that raises, down to where epsilon is exceeded, and at last up
    # to the end that keeps it
    while at(high) > epsilon:
        low, high, stride = high, high + stride, 2.0 * stride
        if high > math.log(_MAXIMUM_MULTIPLIER):
            what = f"no noise multiplier up to {_MAXIMUM_MULTIPLIER:g} keeps epsilon = {epsilon:g}"
            raise ValueError(what)
    # ends: steps to a maximum that raises, down to where epsilon is exceeded, and at last up
    # to the end that keeps it
    while low == high or at(low) <= epsilon:
        low, stride = low - stride, 2.0 * stride
    step = 0.5 * math.log1p(rtol)
    root = float(optimize.brentq(excess, low, high, xtol=0.5 * step))
    # Bounds by privacy loss distributions rise and fall by about 1e-5 beside their slope.
    # ends: steps to a maximum that raises, down to where epsilon is exceeded, and at last up
    # to the end that keeps it
    while root + step < high and at(root + step) > epsilon:
        step *= 2.0
    return math.exp(min(root + step, high))


def noise_unit(noise: Noise, epsilon: float, delta: float, steps: int, rate: float) -> float:
    """Noise scale of each step for a sensitivity of 1, so that all steps keep the budget.

    Parameters
    ----------
    noise : {"gaussian", "laplace"}
        A scale is the sigma of Gaussian, the beta of Laplace noise.
    epsilon : float
        Of all steps, from 1e-3 to 100.
    delta : float
        From 1e-100 to 0.5 for Gaussian noise, 0 for Laplace noise.
    steps : int
        T, from 1 to 1e12.
    rate : float
        q, from 1e-6 to 1: the chance of each record to be in the sample of a step.

    Returns
    -------
    float
        For neighbouring data sets that differ by the presence of one record. Gaussian noise by
        Renyi divergences, as in the paper; Laplace noise by the exact account.

    Raises
    ------
    ValueError
        If no noise will do.
    RuntimeError
        If the account by privacy loss distributions does not confirm the epsilon.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.accounting import noise_unit
    >>> round(noise_unit("gaussian", 8.0, 1e-5, 5000, 0.02), 4)
    1.1392
    >>> round(noise_unit("laplace", 8.0, 0.0, 5000, 0.02), 2)
    12.98
    """
    if noise == "laplace":
        loss = step_loss(epsilon, steps, rate)
        return (1.0 + 1e-12) / loss  # its rounding is below 1e-15 of 1 and of epsilon / T
    return _gaussian_unit(epsilon, delta, steps, rate)


@lru_cache(maxsize=64)
def _gaussian_unit(epsilon: float, delta: float, steps: int, rate: float) -> float:
    """Noise multiplier by Renyi divergences, confirmed by privacy loss distributions."""
    unit = minimum_multiplier(lambda m: rdp_epsilon(m, delta, steps, rate), epsilon, 1e-8)
    second = pld_epsilon(unit, delta, steps, rate)
    if epsilon < second < math.inf:  # infinite: its cut is above delta, which confirms nothing
        message = (
            f"noise multiplier {unit!r}: Renyi divergences bound epsilon by {epsilon!r}, "
            f"privacy loss distributions by {second!r}"
        )
        raise RuntimeError(message)
    return unit


def _event(multiplier: float, rate: float) -> dp_accounting.DpEvent:
    """One step of the sampled Gaussian mechanism."""
    return dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))


def step_loss(epsilon: float, steps: int, rate: float) -> float:
    """Greatest privacy loss of a step without sampling, for epsilon of all steps, delta = 0.

    The inverse of `pure_epsilon`: a = log(1 + (e^(epsilon / T) - 1) / q).
    """
    share = epsilon / steps
    if share > _MAXIMUM_EXPONENT:  # where e^share overflows, the rest is below its last digit
        return share - math.log(rate)
    return math.log1p(math.expm1(share) / rate)


def pure_epsilon(loss: float, steps: int, rate: float) -> float:
    """Epsilon of all steps with delta = 0, exactly: T log(1 + q (e^a - 1)).

    With delta = 0 the greatest losses add up, and neighbours that differ in the same way in every
    step reach the sum.
    """
    if loss > _MAXIMUM_EXPONENT:
        return steps * (loss + math.log(rate))
    return steps * math.log1p(rate * math.expm1(loss))


def replace_one_epsilon(loss: float, steps: int, rate: float) -> float:
    """Epsilon of all steps with delta = 0 where a record is replaced by another, exactly.

    Two records that move one coordinate by as much in opposite directions; beyond both places the
    densities have the ratio (1 - q + q e^a) / (1 - q + q e^-a), and nowhere a larger one.
    """
    other = steps * -math.log1p(rate * math.expm1(-loss))
    return pure_epsilon(loss, steps, rate) + other
