"""The gain of optimal over i.i.d. noise against nu, the measure of Theorem 7 of inid-2024.

Muthukrishnan & Kalyani (2024) let nu be the mean of the sensitivities over their maximum and say
that the mean squared error falls by O(nu^2). The ratio of the errors is between nu and 1: nu for
profiles of equal and absent sensitivities, and near 1 for one large and very many small ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.tables.profiles import profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Theorem7


def _block(dimension: int, share: float) -> Array:
    """K sensitivities, the first part of which is 1 and the rest 0."""
    return (np.arange(dimension) < max(1, round(share * dimension))).astype(float)


def _outlier(dimension: int, share: float) -> Array:
    """One sensitivity of 1 and K - 1 of `share`."""
    return np.where(np.arange(dimension) < 1, 1.0, share)


def theorem_7(settings: Theorem7) -> pd.DataFrame:
    """Ratio of the errors of optimal and i.i.d. noise beside nu and nu^2.

    Columns profile, dimension, share (NaN for the first three), nu, nu_squared (what Theorem 7
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
