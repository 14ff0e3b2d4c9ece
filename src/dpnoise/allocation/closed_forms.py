"""Scales of Gaussian and Laplace noise that spend one budget on coordinates of unequal weight.

Muthukrishnan & Kalyani, "Differential Privacy with Higher Utility by Exploiting Coordinate-wise
Disparity" (2024), Theorems 4 and 5 and Definition 5. Gaussian noise keeps (epsilon, delta) if
and only if sum (lambda_i / sigma_i)^2 <= mu_0^2, Laplace noise keeps epsilon if and only if
sum lambda_i / beta_i <= epsilon. With the power q = 2 or 1 both say

    sum (lambda_i / s_i)^q <= R^q,

and by Lagrange sum w_i s_i^p is minimal at s_i^(p + q) proportional to lambda_i^q / w_i; the
paper's formulas are those of w_i = 1.

*Shares*, section IV-B. A vector query is a composition of scalar ones, and a budget a resource that
they share: for Gaussian noise the eta of zero-concentrated privacy, which characterises
compositions exactly, for Laplace noise epsilon. The optimal scheme for p = 2 gives coordinate i a
share proportional to lambda_i (Gaussian) or lambda_i^(2/3) (Laplace), SPR gives all the same,
i.i.d. noise lambda_i^2 or lambda_i.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array

SCHEMES = ("iid", "spr", "optimal")
_BLOCK = 16384  # coordinates at a time, so that the work stays in the processor's cache
# With u = 2^-53, numpy adds a block by pairs with an error below 32 u, and fsum the blocks; the
# ratios, their powers, the root, the budget and the products add fewer than 32 u.
_MARGIN = 2.0**-46


def _power(x: Array, exponent: float) -> Array:
    """x^exponent, by the faster functions where there are any."""
    if exponent == 0.5:
        return np.sqrt(x)
    if exponent == 0.25:
        return np.sqrt(np.sqrt(x))
    return x if exponent == 1.0 else np.power(x, exponent)


def relative_scales(
    sensitivities: Array, scheme: str, q: float, p: float, weights: Array | None
) -> Array:
    """Scales of positive sensitivities up to a common factor; weights None stand for ones.

    "iid": equal scales. "spr": proportional to the sensitivity. "optimal": minimum of sum w_i s_i^p
    under the account sum (lambda_i / s_i)^q.
    """
    if scheme == "iid":
        return np.ones_like(sensitivities)
    if scheme == "spr":
        return sensitivities.copy()
    scales = _power(sensitivities, q / (p + q))
    return scales if weights is None else scales * _power(weights, -1.0 / (p + q))


def closed_form_scales(  # noqa: PLR0917
    sensitivities: Array,
    scheme: str,
    q: float,
    p: float,
    weights: Array | None,
    unit: float,
    slopes: Array | None = None,
) -> Array:
    """Minimum scales of a scheme that keep the account, in exact arithmetic, shape (K,).

    Parameters
    ----------
    sensitivities, scheme, q, p, weights
        As in `relative_scales`.
    unit : float
        1 / R, the scale that one coordinate of sensitivity 1 needs.
    slopes : numpy.ndarray, shape (K,), optional
        What a shift by 1 spends of R at scale 1; ones by default.

    Returns
    -------
    numpy.ndarray, shape (K,)
        s with sum (slope_i lambda_i / s_i)^q <= unit^-q whatever the rounding, above the exact
        formula by less than 3e-14 of it.
    """
    largest = float(sensitivities.max())
    scales = np.empty_like(sensitivities)
    blocks = [slice(k, k + _BLOCK) for k in range(0, scales.size, _BLOCK)]
    sums = []
    # In units of the largest sensitivity nothing overflows, and what underflows is negligible.
    for block in blocks:
        sizes = sensitivities[block] / largest
        some = None if weights is None else weights[block]
        if slopes is None:
            scales[block] = relative_scales(sizes, scheme, q, p, some)
        else:
            spent = sizes * slopes[block]
            scales[block] = relative_scales(
                spent if scheme == "optimal" else sizes, scheme, q, p, some
            )
            sizes = spent
        ratios = sizes / scales[block]
        sums.append(float(np.sum(ratios * ratios if q == 2.0 else ratios)))
    total = math.fsum(sums)
    root = math.sqrt(total) if q == 2.0 else total
    factor = root * (1.0 + _MARGIN) * unit
    with np.errstate(over="ignore"):  # refused by the caller
        for block in blocks:
            scales[block] *= factor
            scales[block] *= largest
    return scales
