"""What a largest privacy loss alone says of delta.

Whatever has no loss above L is dominated by randomized response, whose loss is L or -L (Kairouz,
Oh & Viswanath, "The composition theorem for differential privacy", ICML 2015):

    delta(epsilon) <= (1 - exp(epsilon - L)) / (1 + exp(-L)).
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpnoise.noise.exact import as_double, as_double_above

_ERROR = 1e-11  # relative, of two logarithms and their difference


def response_log_delta(loss: Fraction | float, epsilon: float) -> float:
    """Upper bound on log delta of whatever has no privacy loss above `loss`; -inf if it is 0."""
    if loss <= epsilon:
        return -math.inf
    if loss == math.inf:
        return 0.0
    gap = as_double_above(Fraction(loss) - Fraction(epsilon))
    value = math.log(-math.expm1(-gap)) - math.log1p(math.exp(-as_double(loss)))
    return min(value + _ERROR * (1.0 + abs(value)), 0.0)


def response_delta(loss: Fraction | float, epsilon: float) -> float:
    """The same bound on delta, at least the smallest double unless it is 0."""
    log_delta = response_log_delta(loss, epsilon)
    return max(math.exp(log_delta), 5e-324) if log_delta > -math.inf else 0.0
