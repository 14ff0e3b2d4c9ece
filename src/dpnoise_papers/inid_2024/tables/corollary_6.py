"""How far from tight Corollary 6 of inid-2024 is, and what approximate Laplace noise can do.

Muthukrishnan & Kalyani (2024) give (epsilon, delta)-DP Laplace noise scales smaller than those of
epsilon-DP by the factor epsilon / (epsilon - log(1 - delta)), call the gain insignificant and go
on with delta = 0. Here the least common factor is found by the exact account, which makes the
gain large in many dimensions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from scipy import optimize

from dpnoise.allocation.allocate import allocate
from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.inid_2024.tables.profiles import decibels, mean_squared_error, profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.privacy.vector import VectorProfile
    from dpnoise_papers.inid_2024.settings import ApproximateLaplace

_MINIMUM_FACTOR = 1e-4
_RTOL = 1e-5  # of delta
_SAFETY = 1e-6  # relative, of the factor; then the upper bound is checked


def _accountant(name: str, dimension: int, epsilon: float) -> Callable[[float], VectorProfile]:
    """Profile at `epsilon` of pure Laplace scales times a factor."""
    sensitivities = profile(name, dimension, 1)
    scales = allocate(sensitivities, noise="laplace", epsilon=epsilon)

    def account(factor: float) -> VectorProfile:
        if name == "uniform":
            noise = Laplace(factor * float(scales[0]))
            return vector_profile(
                noise, float(sensitivities[0]), epsilon, copies=dimension, rtol=_RTOL
            )
        used = sensitivities > 0.0
        noises = [Laplace(factor * float(b)) for b in scales[used]]
        return vector_profile(noises, [float(s) for s in sensitivities[used]], epsilon, rtol=_RTOL)

    return account


def _minimum_factor(account: Callable[[float], VectorProfile], delta: float) -> float:
    """Minimum factor of the scales that keeps delta, verified."""
    target = math.log(delta)

    def excess(log_factor: float) -> float:
        return float(account(math.exp(log_factor)).log_estimate) - target

    root = optimize.brentq(excess, math.log(_MINIMUM_FACTOR), -1e-15, xtol=1e-8)
    factor = min(math.exp(root) * (1.0 + _SAFETY), 1.0)
    if account(factor).log_upper > target:
        message = f"approximate Laplace noise: not verified at factor={factor!r}, delta={delta!r}"
        raise RuntimeError(message)
    return factor


def approximate_laplace(settings: ApproximateLaplace) -> pd.DataFrame:
    """Reduction of Laplace noise by delta > 0, by Corollary 6 and exactly.

    Columns profile, dimension, epsilon, delta, factor_printed (of the scales, against those of
    Theorem 5 at delta = 0), gain_printed_db, delta_printed (which those scales really have),
    factor_exact and gain_exact_db (the same for the least common factor), and
    over_gaussian_pure_db, over_gaussian_exact_db (mean squared error over that of optimal Gaussian
    noise of the same epsilon and delta, in decibels). Raises RuntimeError if a result cannot be
    verified.
    """
    rows = []
    for name, counts in settings.dimensions.items():
        for dimension in counts:
            sensitivities = profile(name, dimension, 1)
            for epsilon in settings.epsilons:
                account = _accountant(name, dimension, epsilon)
                pure = mean_squared_error(sensitivities, "laplace", "optimal", epsilon, 0.0)
                for delta in settings.deltas:
                    gaussian = mean_squared_error(
                        sensitivities, "gaussian", "optimal", epsilon, delta
                    )
                    printed = epsilon / (epsilon - math.log1p(-delta))
                    exact = _minimum_factor(account, delta)
                    rows.append(
                        {
                            "profile": name,
                            "dimension": dimension,
                            "epsilon": epsilon,
                            "delta": delta,
                            "factor_printed": printed,
                            "gain_printed_db": -2.0 * float(decibels(printed)),
                            "delta_printed": float(account(printed).estimate),
                            "factor_exact": exact,
                            "gain_exact_db": -2.0 * float(decibels(exact)),
                            "over_gaussian_pure_db": float(decibels(pure / gaussian)),
                            "over_gaussian_exact_db": float(
                                decibels(exact * exact * pure / gaussian)
                            ),
                        }
                    )
    return pd.DataFrame(rows)
