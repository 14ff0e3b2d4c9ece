"""Errors, gains and dispersion for profiles of sensitivities: Tables I and II, Figures 1 to 4.

Muthukrishnan & Kalyani (2024), Section V: a query of K coordinates with
sensitivities lambda_i that are equal, grow like i, i^2 or e^i, or are all 0 but one, scaled to
||lambda||_2 = 1 or ||lambda||_1 = 1, and coordinates that may all change at once (so that Delta_p
is ||lambda||_p). They say that the reduction of the mean squared error improves with the
dispersion of the sensitivities, which they measure by the Gini coefficient (Figure 2), and with
the number K of coordinates. The gain of optimal over i.i.d. noise does not depend on the budget.
Theorem 7 lets nu be the mean of the sensitivities over their maximum and says that the error falls
by O(nu^2). The ratio of the errors is between nu and 1: nu for profiles of equal and absent
sensitivities, and near 1 for one large and very many small ones. Beyond the paper: the dimensions
from which the Laplace mechanism loses to the Gaussian, at any budget.

Corollary 6 gives (epsilon, delta)-DP Laplace noise scales smaller than those of epsilon-DP by the
factor epsilon / (epsilon - log(1 - delta)); the paper calls the gain insignificant and goes on with
delta = 0.

Table II has mean absolute errors of epsilon-DP noise for two coordinates. Section V-4 compares the
two-dimensional staircase of Geng, Kairouz, Oh & Viswanath (2015), which knows ||lambda||_1 alone,
with Laplace noise that knows lambda. Beyond the paper, correlated noise that knows lambda too,
whose density falls with max_i |x_i| / lambda_i, the norm whose unit ball is the box of neighbours,
in shells (as NormStaircase does in any norm). Since the area of a ball grows with the square of
its radius in any norm, the radius has the distribution that it has for the l1 ball; a point of norm
R is uniform in the cone measure of the box, so that E|X_i| = (3/4) lambda_i E R against E||X||_1 =
E R for the l1 ball of sensitivity 1. No epsilon-DP noise has E|X_i| below that of the best scalar
staircase, lambda_i e^(epsilon/2) / (e^epsilon - 1), hence the lower bound.
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.allocation.allocate import allocate
from dpnoise.joint.noise import NormStaircase
from dpnoise.noise.stepwise import staircase_2d_gamma
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.sensitivity.balls import L1
from dpnoise_papers.settings import values

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import (
        ApproximateLaplace,
        Dispersion,
        Errors,
        Formulas,
        LaplaceOrGaussian,
        Theorem7,
        TwoDimensions,
    )


SCHEMES = ("iid", "spr", "optimal")
EDGES = ("uniform", "one-hot")  # the paper calls these edge cases, the others profiles
_VARIANCE = {"gaussian": 1.0, "laplace": 2.0}  # over the squared scale
_NORMS = {"gaussian": 2, "laplace": 1}  # which norm of the profile is 1
_BUDGET = 0.5, 1e-6  # epsilon and delta, of which the gains are free
_SAME = 1e-9  # Gini coefficients closer than this are equal


def profile(name: str, dimension: int, norm: float | None = None) -> Array:
    """Sensitivities of one profile: i, i^2 and e^i for i = 1, ..., K in the paper.

    Increasing, with ||lambda||_p = 1 for p = `norm`, or a maximum of 1 where that is None;
    exponentials may underflow to 0 in dimensions above 700.
    """
    i = np.arange(1.0, dimension + 1.0)
    shapes = {
        "uniform": lambda: np.ones(dimension),
        "linear": lambda: i / dimension,
        "quadratic": lambda: (i / dimension) ** 2,
        "exponential": lambda: np.exp(i - dimension),
        "one-hot": lambda: (i == dimension).astype(float),
    }
    shape = shapes[name]()
    return shape if norm is None else shape / np.linalg.norm(shape, norm)


def decibels(ratio: float | Array) -> Array:
    """Ratio of variances in decibels, 10 log10 of it."""
    return 10.0 * np.log10(ratio)


def mean_squared_error(
    sensitivities: Array, noise: str, scheme: str, epsilon: float, delta: float
) -> float:
    """Mean squared l2 norm of the noise of one query.

    Identical noise goes to every coordinate, also to one that no neighbour changes. Laplace noise
    is epsilon-DP whatever delta is.
    """
    pure = noise == "laplace"
    scales = allocate(
        sensitivities, noise=noise, scheme=scheme, epsilon=epsilon, delta=0.0 if pure else delta
    )
    if scheme == "iid":
        return _VARIANCE[noise] * len(scales) * float(scales.max()) ** 2
    return _VARIANCE[noise] * float(scales @ scales)


def case(name: str) -> str:
    """Kind of a profile: 'edge' if the paper calls it an edge case, else 'profile'."""
    return "edge" if name in EDGES else "profile"


def error_curves(settings: Errors) -> pd.DataFrame:
    """Mean squared errors against epsilon and the dimension (Figures 1, 3 and 4).

    A one-hot profile has K coordinates, one of which is sensitive: noise on all of them for
    i.i.d. noise, on one for the others.

    Columns noise, scheme, profile, dimension, epsilon, delta (0 for pure noise), mse, mse_db
    (decibels), gain (the error of i.i.d. noise of the same kind over this one), gain_db, from_iid
    (how far mse is from the error of i.i.d. noise, relative to it), nu (as of `dispersion`: 1 where
    all sensitivities are equal) and case (as of `case`).
    """
    delta = settings.delta or 0.0
    rows = []
    for noise, scheme in settings.mechanisms:
        for name in settings.profiles:
            for dimension in settings.dimensions:
                sensitivities = profile(name, dimension, settings.norm)
                nu = profile(name, dimension).mean()
                for epsilon in values(settings.epsilons).tolist():
                    mse = mean_squared_error(sensitivities, noise, scheme, epsilon, delta)
                    gain = mean_squared_error(sensitivities, noise, "iid", epsilon, delta) / mse
                    shown = delta if noise == "gaussian" else 0.0
                    rows.append((noise, scheme, name, dimension, epsilon, shown, mse, gain, nu))
    columns = ["noise", "scheme", "profile", "dimension", "epsilon", "delta", "mse", "gain", "nu"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(7, "mse_db", decibels(table["mse"].to_numpy()))
    gains = table["gain"].to_numpy()
    return table.assign(
        gain_db=decibels(gains),
        from_iid=np.abs(1.0 / gains - 1.0),
        case=table["profile"].map(case),
    )


def gini(sensitivities: Array) -> float:
    """Gini coefficient, sum_ij |lambda_i - lambda_j| / (2 K ||lambda||_1)."""
    ordered = np.sort(sensitivities)
    count = len(ordered)
    weights = 2.0 * np.arange(1, count + 1) - count - 1.0
    return float(weights @ ordered / (count * ordered.sum()))


def dispersion(settings: Dispersion) -> pd.DataFrame:
    """Dispersion of the sensitivities of each profile (Figure 2).

    Columns profile, dimension, gini, and nu (the mean sensitivity over the largest, the measure of
    Theorem 7).
    """
    rows = []
    for name in settings.profiles:
        for dimension in settings.dimensions:
            sensitivities = profile(name, dimension)
            rows.append((name, dimension, gini(sensitivities), sensitivities.mean()))
    return pd.DataFrame(rows, columns=["profile", "dimension", "gini", "nu"])


def laplace_against_gaussian(settings: LaplaceOrGaussian) -> pd.DataFrame:
    """Dimension from which Laplace noise has the greater error.

    Columns profile, epsilon, delta, crossover (the least K at which the optimal Laplace noise has
    the greater mean squared error; NaN where there is none up to the largest dimension),
    ratio_db (its error over the Gaussian's at the largest dimension, in decibels) and case (as of
    `case`).
    """
    epsilon = values(settings.epsilons)
    rows = []
    for name in settings.profiles:
        shape = _laplace_over_gaussian(name, settings.largest_dimension)
        for delta in settings.deltas:
            unit = 2.0 / (epsilon * gaussian_sigma(epsilon, delta)) ** 2
            for e, factor in zip(epsilon, unit, strict=True):
                beyond = np.flatnonzero(shape * factor > 1.0)
                first = beyond[0] + 1.0 if beyond.size else math.nan
                rows.append((name, float(e), delta, first, decibels(shape[-1] * factor)))
    columns = ["profile", "epsilon", "delta", "crossover", "ratio_db"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(case=table["profile"].map(case))


def _laplace_over_gaussian(name: str, largest: int) -> Array:
    """(sum lambda^(2/3))^3 / (sum lambda)^2 for K = 1, ..., largest."""
    if name == "one-hot":
        return np.ones(largest)
    i = np.arange(1.0, largest + 1.0)
    # Every profile but the exponential is the start of one sequence; that one is its end.
    sequence = {
        "uniform": np.ones(largest),
        "linear": i,
        "quadratic": i * i,
        "exponential": np.exp(1.0 - i),
    }[name]
    return np.cumsum(np.cbrt(sequence) ** 2) ** 3 / np.cumsum(sequence) ** 2


def formula(noise: str, scheme: str, sensitivities: Array, unit: float) -> float:
    """Mean squared error by Table I, Delta_p = ||lambda||_p, for a unit of 1/mu_0 or 1/epsilon."""
    count, l1, l2 = len(sensitivities), sensitivities.sum(), np.linalg.norm(sensitivities)
    thirds = np.sum(np.cbrt(sensitivities) ** 2)
    errors = {
        ("gaussian", "iid"): count * l2**2,
        ("gaussian", "spr"): count * l2**2,
        ("gaussian", "optimal"): l1**2,
        ("laplace", "iid"): 2 * count * l1**2,
        ("laplace", "spr"): 2 * count**2 * l2**2,
        ("laplace", "optimal"): 2 * thirds**3,
    }
    return float(errors[noise, scheme] * unit**2)


def table_1(settings: Formulas) -> pd.DataFrame:
    """Mean squared errors of Table I by its formulas and by calibration.

    Columns profile, noise, scheme, formula and calibrated (mean squared errors), and excess
    (calibrated over formula, less 1).
    """
    epsilon, delta = settings.epsilon, settings.delta
    units = {"gaussian": float(gaussian_sigma(epsilon, delta)), "laplace": 1.0 / epsilon}
    rows = []
    for name in settings.profiles:
        sensitivities = profile(name, settings.dimension)
        for noise, unit in units.items():
            for scheme in SCHEMES:
                printed = formula(noise, scheme, sensitivities, unit)
                ours = mean_squared_error(sensitivities, noise, scheme, epsilon, delta)
                rows.append([name, noise, scheme, printed, ours, ours / printed - 1.0])
    columns = ["profile", "noise", "scheme", "formula", "calibrated", "excess"]
    return pd.DataFrame(rows, columns=columns)


def _errors(noise: str, name: str, dimension: int) -> tuple[float, float]:
    """Mean squared errors of i.i.d. and of optimal noise."""
    sensitivities = profile(name, dimension, _NORMS[noise])
    iid, optimal = (
        mean_squared_error(sensitivities, noise, scheme, *_BUDGET) for scheme in ("iid", "optimal")
    )
    return iid, optimal


def dispersion_orders(settings: Dispersion) -> pd.DataFrame:
    """Gain of each profile over one that is less dispersed, by the Gini coefficient.

    Columns noise, dimension, more and less (two profiles, the first of the larger Gini
    coefficient; pairs with equal ones are left out), gini_difference and gain_difference_db (how
    many decibels more the first gains over i.i.d. noise).
    """
    rows = []
    for dimension in settings.dimensions:
        spread = {name: gini(profile(name, dimension)) for name in settings.profiles}
        for noise in _NORMS:
            gains = {
                name: decibels(np.divide(*_errors(noise, name, dimension)))
                for name in settings.profiles
            }
            rows += [
                (noise, dimension, more, less, spread[more] - spread[less],
                 float(gains[more] - gains[less]))
                for more, less in permutations(settings.profiles, 2)
                if spread[more] > spread[less] + _SAME
            ]  # fmt: skip
    columns = ["noise", "dimension", "more", "less", "gini_difference", "gain_difference_db"]
    return pd.DataFrame(rows, columns=columns)


def profile_steps(settings: Dispersion) -> pd.DataFrame:
    """Gain of optimal over i.i.d. noise, and what one more coordinate adds to it.

    Columns noise, profile, case, dimension, nu (as of `dispersion`: 1 where all sensitivities are
    equal), gain_db and step_db (gain_db less that at the next smaller dimension of the settings,
    the smallest of which has no row).
    """
    rows = []
    for noise in _NORMS:
        for name in settings.profiles:
            last = np.nan
            for dimension in sorted(settings.dimensions):
                gain = float(decibels(np.divide(*_errors(noise, name, dimension))))
                if not np.isnan(last):
                    nu = profile(name, dimension).mean()
                    rows.append((noise, name, case(name), dimension, nu, gain, gain - last))
                last = gain
    columns = ["noise", "profile", "case", "dimension", "nu", "gain_db", "step_db"]
    return pd.DataFrame(rows, columns=columns)


def _block(dimension: int, share: float) -> Array:
    """K sensitivities, the first part of which is 1 and the rest 0."""
    return (np.arange(dimension) < max(1, round(share * dimension))).astype(float)


def _outlier(dimension: int, share: float) -> Array:
    """One sensitivity of 1 and K - 1 of `share`."""
    return np.where(np.arange(dimension) < 1, 1.0, share)


def theorem_7(settings: Theorem7) -> pd.DataFrame:
    """Ratio of the errors of optimal and i.i.d. noise beside nu and nu^2.

    Columns profile, case ('profile' for those of Section V, 'extreme' for the others), dimension,
    share (NaN for those of Section V), nu, nu_squared (what Theorem 7
    says, without a constant), gaussian and laplace (the ratio of the mean squared errors),
    gaussian_over_claim and laplace_over_claim (the ratios over nu^2), absolute (the ratio of the
    mean absolute errors of Laplace noise that is optimal for these) and absolute_over_claim (that
    ratio over nu, the measure of footnote 7).
    """
    rows = [
        _row(name, profile(name, dimension), np.nan)
        for name in ("linear", "quadratic", "exponential")
        for dimension in settings.dimensions
    ]
    kinds: dict[str, Callable[[int, float], Array]] = {"block": _block, "outlier": _outlier}
    rows += [
        _row(name, build(settings.largest, share), share)
        for name, build in kinds.items()
        for share in settings.shares
    ]
    return pd.DataFrame(rows)


def _row(name: str, sensitivities: Array, share: float) -> dict[str, str | float]:
    count, total = len(sensitivities), float(sensitivities.sum())
    nu = total / (count * float(sensitivities.max()))
    gaussian = total**2 / (count * float(sensitivities @ sensitivities))
    laplace = float(np.sum(np.cbrt(sensitivities) ** 2)) ** 3 / (count * total**2)
    absolute = float(np.sum(np.sqrt(sensitivities))) ** 2 / (count * total)
    return {
        "profile": name,
        "case": "profile" if math.isnan(share) else "extreme",
        "dimension": count,
        "share": share,
        "nu": nu,
        "nu_squared": nu * nu,
        "gaussian": gaussian,
        "laplace": laplace,
        "gaussian_over_claim": gaussian / nu**2,
        "laplace_over_claim": laplace / nu**2,
        "absolute": absolute,
        "absolute_over_claim": absolute / nu,
    }


def approximate_laplace(settings: ApproximateLaplace) -> pd.DataFrame:
    """Reduction of Laplace noise by delta > 0 in Corollary 6, and the error beside Gaussian noise.

    Columns profile, dimension, epsilon, delta, factor_printed (of the scales, against those of
    Theorem 5 at delta = 0), gain_printed_db and over_gaussian_pure_db (mean squared error at
    delta = 0 over that of optimal Gaussian noise of the same epsilon and delta, in decibels).
    """
    rows = []
    for name, counts in settings.dimensions.items():
        for dimension in counts:
            sensitivities = profile(name, dimension, 1)
            for epsilon, delta in product(settings.epsilons, settings.deltas):
                pure, gaussian = (
                    mean_squared_error(sensitivities, noise, "optimal", epsilon, delta)
                    for noise in ("laplace", "gaussian")
                )
                printed = epsilon / (epsilon - math.log1p(-delta))
                decibel = (-2.0 * float(decibels(printed)), float(decibels(pure / gaussian)))
                rows.append((name, dimension, epsilon, delta, printed, *decibel))
    columns = ["profile", "dimension", "epsilon", "delta", "factor_printed", "gain_printed_db",
               "over_gaussian_pure_db"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


_CONE = 0.75  # E max-norm share of one coordinate: half the time 1, else uniform
_BLIND = ("staircase", "laplace-iid")
_SHELLS = ("staircase", "box-staircase")


def _scalar_staircase(epsilon: float) -> float:
    """Minimum E|X| of scalar epsilon-DP noise at sensitivity 1 (Geng & Viswanath 2016)."""
    return float(0.5 / np.sinh(0.5 * epsilon))


def _staircase(epsilon: float) -> tuple[float, float]:
    """Best gamma and E||X||_1 of the two-dimensional staircase at sensitivity 1."""
    gamma = float(staircase_2d_gamma(epsilon))
    return gamma, NormStaircase(L1(1.0, of=2), epsilon, gamma).mean_norm()


def _laplace(sensitivities: Array, epsilon: float, scheme: str) -> float:
    """Mean absolute error of Laplace noise by a scheme."""
    scales = allocate(sensitivities, noise="laplace", scheme=scheme, epsilon=epsilon, p=1)
    return float(scales.sum())


def two_dimensions(settings: TwoDimensions) -> pd.DataFrame:
    """Mean absolute errors of Table II and of what it leaves out.

    Columns epsilon, mechanism, knows ('total' for ||lambda||_1 alone, else 'profile'), mae (the
    expected l1 error), mae_epsilon (mae times epsilon), from_iid (how far mae is from that of
    i.i.d. Laplace noise, relative to it) and gamma (of the staircases; NaN for others). Mechanisms:
    staircase, laplace-iid, laplace-optimal (for this error), box-staircase and lower-bound.
    """
    lambdas = np.array(settings.sensitivities)
    total = float(lambdas.sum())
    rows = []
    for epsilon in values(settings.epsilons).tolist():
        gamma, error = _staircase(epsilon)
        found = {
            "staircase": total * error,
            "laplace-iid": _laplace(lambdas, epsilon, "iid"),
            "laplace-optimal": _laplace(lambdas, epsilon, "optimal"),
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
