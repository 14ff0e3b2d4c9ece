"""Table II of inid-2024: mean absolute errors of epsilon-DP noise for two coordinates.

Muthukrishnan & Kalyani (2024), Section V-4, compare the two-dimensional staircase of Geng,
Kairouz, Oh & Viswanath (2015), which knows ||lambda||_1 alone, with Laplace noise that knows
lambda. Beyond the paper, mechanisms that know lambda too: one staircase per coordinate with the
budget split best, and correlated noise whose density falls with max_i |x_i| / lambda_i, the norm
whose unit ball is the box of neighbours, exponentially or in shells (as Staircase2D does in the
l1 norm). Since the area of a ball grows with the square of its radius in any norm, the radius has
the same distribution as for the l1 ball; a point of norm R is uniform in the cone measure of the
box, so that E|X_i| = (3/4) lambda_i E R against E||X||_1 = E R for the l1 ball of sensitivity 1. No
epsilon-DP noise has E|X_i| below that of the best scalar staircase, lambda_i e^(epsilon/2) /
(e^epsilon - 1), hence the lower bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import optimize

from dpnoise.allocation.allocate import allocate
from dpnoise.joint.vectors import Staircase2D
from dpnoise.noise.stepwise import staircase_2d_gamma
from dpnoise_papers.grids import values

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Crossings, TwoDimensions

_CONE = 0.75  # E max-norm share of one coordinate: half the time 1, else uniform
_MAXIMUM_EPSILON = 100.0
_BLIND = ("staircase", "laplace-iid")
_SHELLS = ("staircase", "box-staircase")


def _scalar_staircase(epsilon: float | Array) -> Array:
    """Minimum E|X| of scalar epsilon-DP noise at sensitivity 1 (Geng & Viswanath 2016)."""
    return 0.5 / np.sinh(0.5 * np.asarray(epsilon))[()]


def _staircase(epsilon: float) -> tuple[float, float]:
    """Best gamma and E||X||_1 of the two-dimensional staircase at sensitivity 1."""
    gamma = float(staircase_2d_gamma(epsilon))
    return gamma, Staircase2D(epsilon, 1.0, gamma).mean_norm()


def _split(sensitivities: Array, epsilon: float) -> float:
    """Least error of one staircase per coordinate, over how epsilon is shared."""

    def error(log_odds: float) -> float:
        share = 1.0 / (1.0 + math.exp(-log_odds))
        parts = np.array([share, 1.0 - share]) * epsilon
        return float(sensitivities @ _scalar_staircase(parts))

    # ends: the error of some split: ending early cannot make it less than any split has
    found = optimize.minimize_scalar(
        error, bounds=(-20.0, 20.0), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.fun)


def _laplace(sensitivities: Array, epsilon: float, scheme: str, p: float) -> float:
    scales = allocate(sensitivities, noise="laplace", scheme=scheme, epsilon=epsilon, p=p)
    return float(scales.sum())


def two_dimensions(settings: TwoDimensions) -> pd.DataFrame:
    """Mean absolute errors of Table II and of what it leaves out.

    Columns epsilon, mechanism, knows ('total' for ||lambda||_1 alone, else 'profile'), mae (the
    expected l1 error), mae_epsilon (mae times epsilon), from_iid (how far mae is from that of
    i.i.d. Laplace noise, relative to it) and gamma (of the staircases; NaN for others). Mechanisms:
    staircase, laplace-iid, laplace-spr, laplace-optimal (p = 1, for this error), laplace-optimal-2
    (p = 2), staircase-optimal (one per coordinate), box-norm, box-staircase and lower-bound.
    """
    lambdas = np.array(settings.sensitivities)
    total = float(lambdas.sum())
    rows = []
    for epsilon in values(settings.epsilons).tolist():
        gamma, error = _staircase(epsilon)
        found = {
            "staircase": total * error,
            "laplace-iid": _laplace(lambdas, epsilon, "iid", 1),
            "laplace-spr": _laplace(lambdas, epsilon, "spr", 1),
            "laplace-optimal": _laplace(lambdas, epsilon, "optimal", 1),
            "laplace-optimal-2": _laplace(lambdas, epsilon, "optimal", 2),
            "staircase-optimal": _split(lambdas, epsilon),
            "box-norm": 2.0 * _CONE * total / epsilon,
            "box-staircase": _CONE * total * error,
            "lower-bound": total * _scalar_staircase(epsilon),
        }
        for mechanism, mae in found.items():
            knows = "total" if mechanism in _BLIND else "profile"
            shape = gamma if mechanism in _SHELLS else math.nan
            from_iid = abs(mae / found["laplace-iid"] - 1.0)
            rows.append((epsilon, mechanism, knows, mae, from_iid, shape))
    columns = ["epsilon", "mechanism", "knows", "mae", "from_iid", "gamma"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(4, "mae_epsilon", table["mae"] * table["epsilon"])
    return table


def staircase_crossings(settings: Crossings) -> pd.DataFrame:
    """Epsilon from which the staircase beats optimal Laplace noise.

    Columns share and epsilon: below it Laplace noise that knows the profile has the lesser mean
    absolute error, above it the two-dimensional staircase, which does not know it.
    """
    rows = []
    for share in settings.shares:
        laplace = _laplace(np.array([share, 1.0 - share]), 1.0, "optimal", 1)

        def excess(epsilon: float, unit: float = laplace) -> float:
            return _staircase(epsilon)[1] * epsilon / unit - 1.0

        root = optimize.brentq(excess, 1e-3, _MAXIMUM_EPSILON, xtol=1e-12)
        rows.append((share, root))
    return pd.DataFrame(rows, columns=["share", "epsilon"])
