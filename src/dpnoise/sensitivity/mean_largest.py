"""Expected largest of independent |X_i|: the integral over t of 1 - prod P(|X_i| <= t)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_PANELS, _NODES = 400, 8  # of Gauss-Legendre quadrature
_MOST_VALUES = 2**25  # of the tail, with fewer panels where there are many scales
_NEGLIGIBLE = 1e-18  # probability of a larger value than the last one


def largest_uniform(sides: Array) -> float:
    """E max |U_i| for independent U_i, uniform on [-sides_i, sides_i]: the sum over the pieces.

    Where n of the sides are above t, prod P(|U_i| <= t) is t^n over their product.
    """
    u = np.sort(sides[sides > 0.0])
    if u.size == 0:
        return 0.0
    longest = float(u[-1])
    u = u / longest
    n = np.arange(u.size, 0, -1)  # sides that are not below u_j
    above = np.cumsum(np.log(u)[::-1])[::-1]  # of their logarithms
    before = np.concatenate([[0.0], u[:-1] / u[1:]])
    most = np.exp(np.minimum(n * np.log(u) - above, 0.0))  # the probability at t = u_j
    # Up to u_1 all sides are above t, from u_(j-1) to u_j n_j of them.
    within = u * most * (1.0 - before ** (n + 1.0)) / (n + 1.0)
    return longest * float(1.0 - np.sum(within))


def mean_of_largest(tail: Callable[[Array], Array], scales: Array) -> float:
    """E max s_i |X_i| for independent X_i with P(|X_i| > t) = tail(t), by quadrature.

    To about 1e-6, and from some 10,000 different scales on to about 1e-4.
    """
    unit, count = np.unique(scales[scales > 0.0], return_counts=True)
    if unit.size == 0:
        return 0.0
    largest = float(unit[-1])
    unit = unit / largest
    end = 1.0
    # ends: grows until the tail is negligible
    while scales.size * float(tail(np.array(end))) > _NEGLIGIBLE:
        end *= 1.25
    panels = max(16, min(_PANELS, _MOST_VALUES // (_NODES * unit.size)))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    width = end / panels
    t = (width * (np.arange(panels)[:, None] + 0.5 * (nodes + 1.0))).ravel()
    log_inside = np.zeros(t.size)
    with np.errstate(divide="ignore"):
        for scale, number in zip(unit.tolist(), count.tolist(), strict=True):
            log_inside += number * np.log1p(-np.minimum(tail(t / scale), 1.0))
    beyond = -np.expm1(log_inside)
    total = float(np.sum(beyond * np.tile(weights, panels)))
    return largest * 0.5 * width * total
