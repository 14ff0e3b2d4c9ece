"""Privacy of Laplace noise in many sampled steps, exactly for delta = 0 and by bounds above it.

A step without sampling loses at most a = sum_i |d_i| / beta_i, where d_i is what one record adds to
coordinate i; each record is sampled with chance `rate`. Proofs: docs/deep-learning.md, section 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from scipy import special

if TYPE_CHECKING:
    from dpnoise._types import Array

WHOLE_ORDERS = tuple(range(2, 257))
_MAXIMUM_EXPONENT = 700.0
_MAXIMUM_LOSS = 20.0  # of a step whose distribution is composed
_POINTS = 1e6  # of a composed distribution


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


def upper_epsilon(loss: float, delta: float, steps: int, rate: float) -> float:
    """Upper bound on epsilon, by Renyi divergences of integer orders and by `pure_epsilon`.

    The divergences of independent coordinates are at most that of one coordinate which loses as
    much as all of them, since they are convex in the shift and 0 at 0.

    References
    ----------
    Mironov, "Renyi Differential Privacy" (2017); Mironov, Talwar & Zhang, "Renyi Differential
    Privacy of the Sampled Gaussian Mechanism" (2019); Canonne, Kamath & Steinke, "The Discrete
    Gaussian for Differential Privacy" (2020).
    """
    a = np.array(WHOLE_ORDERS, dtype=float)
    k = np.arange(a[-1] + 1.0)[:, None]
    terms = (
        special.gammaln(a + 1.0) - special.gammaln(k + 1.0)
        - special.gammaln(np.maximum(a - k, 0.0) + 1.0)
        + special.xlog1py(a - k, -rate) + k * math.log(rate) + _log_moment(k, loss)
    )  # fmt: skip
    divergence = special.logsumexp(np.where(k <= a, terms, -np.inf), axis=0) / (a - 1.0)
    bounds = steps * divergence + np.log1p(-1.0 / a) - (math.log(delta) + np.log(a)) / (a - 1.0)
    return min(float(np.min(bounds)), pure_epsilon(loss, steps, rate))


def lower_epsilon(loss: float, delta: float, steps: int, rate: float) -> float:
    """Lower bound on epsilon: what one coordinate, which loses `loss` alone, gives away.

    By its privacy loss distribution, rounded towards less loss. Above a loss of 20, by the event
    that some step's noise is above half of the shift.
    """
    if loss > _MAXIMUM_LOSS:
        seen = -math.expm1(steps * math.log1p(-0.5 * rate)) - delta
        by_chance = math.log(0.5 * steps) - 0.5 * loss
        return math.log(seen) - by_chance if seen > 0.0 else 0.0
    interval = max(1e-4, pure_epsilon(loss, steps, rate) / _POINTS)
    one = privacy_loss_distribution.from_laplace_mechanism(
        1.0 / loss,
        pessimistic_estimate=False,
        value_discretization_interval=interval,
        sampling_prob=rate,
        use_connect_dots=False,  # which only rounds towards more loss
    )
    return float(one.self_compose(steps).get_epsilon_for_delta(delta))


def _log_moment(k: Array, loss: float) -> Array:
    """Logarithm of E_Q (P / Q)^k for Laplace distributions P, Q that are apart by `loss` scales."""
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.log(k / (2.0 * k - 1.0)) + (k - 1.0) * loss
        down = np.log((k - 1.0) / (2.0 * k - 1.0)) - k * loss
        return np.where(k < 2.0, 0.0, np.logaddexp(up, down))
