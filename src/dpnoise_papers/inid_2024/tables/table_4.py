"""What Table IV of inid-2024 (deep learning) needs: the noise of each step beside the gradient.

Muthukrishnan & Kalyani (2024), Section VI-C, train ResNet-20 on CIFAR-10 with Poisson-sampled
batches, gradients clipped to norm 1 (l2 for Gaussian, l1 for Laplace noise), either all of one
gradient or each layer by itself. Training is not run here; the account of its noise is arithmetic.

Laplace noise with delta = 0. T steps compose to T times the greatest loss of one step, exactly:
with delta = 0 the greatest losses add up, and neighbours that differ in the same way in every step
reach the sum. A step that samples with rate q has greatest loss log(1 + q (e^a - 1)), where a is
that of the step without sampling, so that a = log(1 + (e^(epsilon / T) - 1) / q).

Gaussian noise. Renyi divergences of integer orders of the sampled Gaussian mechanism (Mironov,
Talwar & Zhang 2019), as in the paper, converted by Canonne, Kamath & Steinke (2020). This is an
upper bound, so that the noise errs on the private side.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import optimize, special

from dpnoise_papers.claims.beside import printed_texts
from dpnoise_papers.inid_2024.tables.profiles import SCHEMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.inid_2024.learning_settings import DeepLearning

COLUMNS = (
    "noise", "delta", "epsilon", "scheme", "printed_accuracy", "parameters", "steps", "batch",
    "step_epsilon", "multiplier", "noise_l2", "gradient_most", "gradient_flat",
    "noise_over_most", "noise_over_flat",
)  # fmt: skip
_ORDERS = np.arange(2, 513)
_MAXIMUM_MULTIPLIER = 1e8


def _step_epsilon(epsilon: float, steps: int, rate: float) -> float:
    """Greatest privacy loss of a step without sampling, for epsilon of all steps, delta = 0."""
    return math.log1p(math.expm1(epsilon / steps) / rate)


def _gaussian_epsilon(multiplier: float, steps: int, rate: float, delta: float) -> float:
    """Upper bound of epsilon of the sampled Gaussian mechanism after all steps.

    `multiplier` is the standard deviation over the clipping norm, `rate` the chance q of each
    sample to be in a batch.

    References
    ----------
    Mironov, Talwar & Zhang, "Renyi Differential Privacy of the Sampled Gaussian Mechanism" (2019);
    Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy" (2020).
    """
    k = np.arange(_ORDERS[-1] + 1.0)[:, None]
    a = _ORDERS.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (
            special.gammaln(a + 1.0) - special.gammaln(k + 1.0) - special.gammaln(a - k + 1.0)
            + special.xlog1py(a - k, -rate) + k * math.log(rate)
            + k * (k - 1.0) / (2.0 * multiplier**2)
        )  # fmt: skip
    divergence = special.logsumexp(np.where(k <= a, terms, -np.inf), axis=0) / (a - 1.0)
    converted = np.log1p(-1.0 / a) - (math.log(delta) + np.log(a)) / (a - 1.0)
    return float(np.min(steps * divergence + converted))


def _gaussian_multiplier(epsilon: float, steps: int, rate: float, delta: float) -> float:
    """Minimum noise multiplier whose bound on epsilon is at most the one asked for.

    On the private side. Raises ValueError if no multiplier up to 1e8 will do.
    """

    def excess(log_multiplier: float) -> float:
        return _gaussian_epsilon(math.exp(log_multiplier), steps, rate, delta) - epsilon

    high = 0.0
    while excess(high) > 0.0:
        high += 1.0
        if high > math.log(_MAXIMUM_MULTIPLIER):
            message = (
                f"no noise multiplier up to {_MAXIMUM_MULTIPLIER:g} keeps epsilon = {epsilon:g}"
            )
            raise ValueError(message)
    low = high - 1.0
    while excess(low) <= 0.0:
        low -= 1.0
    return math.exp(optimize.brentq(excess, low, high, xtol=1e-9) + 1e-9)


def _layer_scales(noise: str, scheme: str, layers: Array, unit: float) -> Array:
    """Scale of the noise of each layer, shape (M,).

    `iid` clips the whole gradient to norm 1, the others each of M layers to C_m = M^(-1/p), p = 2
    for Gaussian and 1 for Laplace noise. A coordinate of a layer of K_m parameters (`layers`)
    counts for lambda = C_m / K_m^(1/p), as the paper sets it; `unit` is the scale that a query of
    sensitivity 1 needs.
    """
    if scheme == "iid":
        return np.full(len(layers), unit)
    p = 2.0 if noise == "gaussian" else 1.0
    lambdas = (len(layers) * layers) ** (-1.0 / p)
    if scheme == "spr":
        return unit * layers.sum() ** (1.0 / p) * lambdas
    if noise == "gaussian":
        return unit * np.sqrt(lambdas * (layers @ lambdas))
    return unit * np.cbrt(lambdas) * float(layers @ np.cbrt(lambdas) ** 2)


def table_4(settings: DeepLearning, *, claims: Sequence[Claim]) -> pd.DataFrame:
    """Noise that each entry of Table IV needs in one step, beside the gradient.

    Columns `COLUMNS`. `printed_accuracy` is NaN for a budget that the paper does not have.
    `step_epsilon` is that of one step without sampling (Laplace), `multiplier` the scale of the
    noise for a sum of sensitivity 1. `noise_l2` is the root mean square of the l2 norm of the noise
    in the mean gradient of a batch; `gradient_most` the largest l2 norm of a clipped mean gradient,
    and `gradient_flat` that of a clipped gradient whose entries are equal in size.
    """
    printed = printed_texts(claims, "table-4", ["noise", "delta", "epsilon", "scheme"])
    rate = settings.rate
    repeats, parameters = np.array(settings.layers).T
    sizes = np.repeat(parameters.astype(float), repeats)
    steps, batch = round(settings.epochs / rate), rate * settings.samples
    table = []
    for budget in settings.budgets:
        noise, delta, epsilon = budget.noise, budget.delta, budget.epsilon
        pure = noise == "laplace"
        step = _step_epsilon(epsilon, steps, rate) if pure else math.nan
        unit = 1.0 / step if pure else _gaussian_multiplier(epsilon, steps, rate, delta)
        flat = 1.0 / math.sqrt(sizes.sum()) if pure else 1.0
        for scheme in SCHEMES:
            accuracy = float(printed.get((noise, delta, epsilon, scheme), "nan"))
            scales = _layer_scales(noise, scheme, sizes, unit)
            total = math.sqrt((2.0 if pure else 1.0) * float(sizes @ scales**2)) / batch
            table.append(
                [
                    noise, delta, epsilon, scheme, accuracy, int(sizes.sum()), steps, batch,
                    step, unit, total, 1.0, flat, total, total / flat,
                ]
            )  # fmt: skip
    return pd.DataFrame(table, columns=list(COLUMNS))
