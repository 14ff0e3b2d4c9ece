"""Noise of the steps of private training: what the budget needs, by layer, and Table IV's.

Each step adds noise to a sum over a Poisson sample: every record is in it with chance `rate`,
independently. Neighbouring data sets differ by the presence of one record. A step's noise is that
of one query of sensitivity 1, whatever the groups (docs/inid-2024.md, section 1).

Gaussian noise: Renyi divergences, as in the paper, and privacy loss distributions, both by
dp_accounting and both upper bounds. Laplace noise: the exact account for delta = 0. A step without
sampling loses at most a = sum_i |d_i| / beta_i, where d_i is what one record adds to coordinate i.
Proofs: docs/inid-2024.md, section 3.

Muthukrishnan & Kalyani (2024), Section VI-C: the gradient of one sample is clipped to norm C_m in
group m of K_m parameters, l2 for Gaussian and l1 for Laplace noise, and every parameter of the
group gets noise of one scale s_m. With q = 2 or 1 the step keeps its budget if and only if

    sum_m (C_m / s_m)^q <= unit^-q,

where `unit` is the scale that a query of sensitivity 1 needs. The schemes share this account and
differ in who gets how much of it. What settings and network give is not checked again. The table
`table_4` is arithmetic: no network is trained.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import dp_accounting
import numpy as np
import pandas as pd
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from scipy import optimize

from dpnoise.allocation.scales import closed_form_scales
from dpnoise_papers.inid_2024.settings import Scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import DeepLearning

Noise = Literal["gaussian", "laplace"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
_POWER = {"gaussian": 2.0, "laplace": 1.0}  # q: the norm of clipping, and of the account

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


def pld_epsilon(multiplier: float, delta: float, steps: int, rate: float) -> float:
    """Upper bound on epsilon of the sampled Gaussian mechanism, by privacy loss distributions.

    Infinite where delta is below the mass that the accountant cuts off.

    References
    ----------
    Doroshenko et al., "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
    Distributions" (2022).
    """
    accountant = PLDAccountant(
        NeighboringRelation.ADD_OR_REMOVE_ONE, value_discretization_interval=_INTERVAL
    )
    accountant.compose(_event(multiplier, rate), steps)
    return float(accountant.get_epsilon(delta))


def minimum_multiplier(bound: Callable[[float], float], epsilon: float, rtol: float) -> float:
    """Minimum noise multiplier at which an upper bound on epsilon is at most the one asked for.

    Parameters
    ----------
    bound : callable
        Bound on epsilon at a multiplier, falling.
    epsilon : float
        The budget.
    rtol : float
        Relative tolerance of the multiplier, which is on the private side.

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
    >>> from dpnoise_papers.inid_2024.deep.noise import minimum_multiplier
    >>> round(minimum_multiplier(lambda m: 6.0 / m, 2.0, 1e-9), 6)
    3.0
    """

    @cache
    def at(log_multiplier: float) -> float:
        return bound(math.exp(log_multiplier))

    def excess(log_multiplier: float) -> float:
        found = math.log(max(at(log_multiplier), 1e-300) / epsilon)
        return min(found, 1e3)  # of an infinite bound

    low = high = 0.0
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
    >>> from dpnoise_papers.inid_2024.deep.noise import noise_unit
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

    With delta = 0 the greatest losses add up, and neighbours that differ in the same way in every
    step reach the sum: epsilon = T log(1 + q (e^a - 1)) for the loss a, solved for a.
    """
    share = epsilon / steps
    if share > _MAXIMUM_EXPONENT:  # where e^share overflows, the rest is below its last digit
        return share - math.log(rate)
    return math.log1p(math.expm1(share) / rate)


def group_scales(
    scheme: Scheme,
    noise: Noise,
    clips: ArrayLike,
    sizes: ArrayLike,
    unit: float,
) -> Array:
    """Noise scale of each group of a clipped gradient.

    Parameters
    ----------
    scheme : {"iid", "spr", "optimal", "spr-group"}
        "iid": equal scales, for a gradient clipped as a whole to C_0 = ||C||_q, which also covers
        one clipped by group. "spr": Definition 5 by parameter, as the paper counts its
        sensitivity, s_m proportional to C_m / K_m^(1/q). "spr-group": proportional to C_m, as in
        He et al. (2022); with equal thresholds the same as "iid". "optimal": minimum of the
        noise's variance, sum K_m s_m^2.
    noise : {"gaussian", "laplace"}
        A scale is the sigma of Gaussian (q = 2), the beta of Laplace noise (q = 1).
    clips : array_like of float, shape (M,)
        C_m in the norm l_q, from 1e-50 to 1e50.
    sizes : array_like of int or float, shape (M,)
        K_m, whole numbers from 1 to 1e15.
    unit : float
        Scale that a query of sensitivity 1 needs, from 1e-50 to 1e50.

    Returns
    -------
    numpy.ndarray, shape (M,)
        s_m with sum (C_m / s_m)^q <= unit^-q in exact arithmetic, whatever the rounding; above
        the closed forms by less than 3e-14 of them.

    Notes
    -----
    By Lagrange s_m^(2 + q) is proportional to C_m^q / K_m for "optimal": for Gaussian noise
    sigma_m^4 to C_m^2 / K_m, for Laplace noise beta_m^3 to C_m / K_m.

    References
    ----------
    He et al., "Exploring the Limits of Differentially Private Deep Learning with Group-wise
    Clipping" (2022).

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.noise import group_scales
    >>> group_scales("optimal", "gaussian", [0.6, 0.8], [16, 81], 1.0).round(3)
    array([1.2  , 0.924])
    """
    c, k = np.asarray(clips, float), np.asarray(sizes, float)
    q = _POWER[noise]
    if scheme == "spr":
        roots = k ** (1.0 / q)
        return closed_form_scales(c / roots, "spr", q, 2.0, None, unit, roots)
    if scheme == "optimal":
        return closed_form_scales(c, "optimal", q, 2.0, k, unit)
    return closed_form_scales(c, "iid" if scheme == "iid" else "spr", q, 2.0, None, unit)


def flat_clips(noise: Noise, groups: int, total: float) -> Array:
    """Equal thresholds whose norm is that of the whole gradient, C_m = C_0 / M^(1/q).

    Parameters
    ----------
    noise : {"gaussian", "laplace"}
        Decides the norm: q = 2 or 1.
    groups : int
        M, from 1 to 1e7.
    total : float
        C_0, from 1e-50 to 1e50.

    Returns
    -------
    numpy.ndarray, shape (M,)
        The thresholds.

    Examples
    --------
    >>> from dpnoise_papers.inid_2024.deep.noise import flat_clips
    >>> flat_clips("gaussian", 4, 1.0)
    array([0.5, 0.5, 0.5, 0.5])
    """
    return np.full(groups, total / groups ** (1.0 / _POWER[noise]))


NOISE_COLUMNS = (
    "noise", "delta", "epsilon", "scheme", "parameters", "steps", "batch", "step_epsilon",
    "multiplier", "noise_l2", "gradient_flat", "delta_of_samples", "scale_ratio",
)  # fmt: skip


def layer_sizes(settings: DeepLearning) -> Array:
    """Numbers of parameters of the layers, shape (M,)."""
    repeats, parameters = np.array(settings.layers).T
    return np.repeat(parameters.astype(float), repeats)


def table_4(settings: DeepLearning) -> pd.DataFrame:
    """Noise that each entry of Table IV needs in one step, beside the gradient.

    Columns `NOISE_COLUMNS`. 'SPR' of the paper may mean Definition 5 by parameter ('spr') or noise
    by threshold alone ('spr-group'), as in He et al. (2022).
    `step_epsilon` is that of one step without sampling (Laplace), `multiplier` the scale of the
    noise for a sum of sensitivity 1. `noise_l2` is the root mean square of the l2 norm of the noise
    in the mean gradient of a batch, whose own is at most 1; `gradient_flat` is that of a clipped
    gradient whose entries are equal in size. `delta_of_samples` is 1/N^2, `scale_ratio` the largest
    scale of a layer over the smallest.
    """
    rate = settings.rate
    sizes, steps, batch = layer_sizes(settings), settings.steps, rate * settings.samples
    table = []
    for budget in settings.budgets:
        noise, delta, epsilon = budget.noise, budget.delta, budget.epsilon
        pure = noise == "laplace"
        step = step_loss(epsilon, steps, rate) if pure else math.nan
        unit = noise_unit(noise, epsilon, delta, steps, rate)
        clips = flat_clips(noise, len(sizes), 1.0)
        flat = 1.0 / math.sqrt(sizes.sum()) if pure else 1.0
        for scheme in SCHEMES:
            scales = group_scales(scheme, noise, clips, sizes, unit)
            total = math.sqrt((2.0 if pure else 1.0) * float(sizes @ scales**2)) / batch
            table.append(
                [
                    noise, delta, epsilon, scheme, int(sizes.sum()), steps, batch, step, unit,
                    total, flat, settings.samples**-2.0, float(np.max(scales) / np.min(scales)),
                ]
            )  # fmt: skip
    return pd.DataFrame(table, columns=list(NOISE_COLUMNS))
