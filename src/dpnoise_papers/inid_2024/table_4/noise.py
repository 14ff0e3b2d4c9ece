"""What Table IV of inid-2024 (deep learning) needs: the noise of each step beside the gradient.

Muthukrishnan & Kalyani (2024), Section VI-C, train ResNet-20 on CIFAR-10 with Poisson-sampled
batches, gradients clipped to norm 1 (l2 for Gaussian, l1 for Laplace noise), either all of one
gradient or each layer by itself. Training is not run here; the account of its noise is arithmetic.

The noise for a sensitivity of 1 is that of `deep.accounting`, its allocation to layers that of
`deep.scales`. The paper accounts by Renyi divergences. Privacy loss distributions are sharper: the
same noise has a lower epsilon, and less noise will do. `table_4_accounting` says by which one it is
calibrated, and what the other says.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.privacy.sampled.mechanism import SampledGaussian, SampledLaplace
from dpnoise.sensitivity.relation import REPLACE_ONE
from dpnoise_papers.claims.judge import printed_texts
from dpnoise_papers.inid_2024.deep.accounting import (
    minimum_multiplier,
    noise_unit,
    pld_epsilon,
    rdp_epsilon,
    replace_one_epsilon,
    step_loss,
)
from dpnoise_papers.inid_2024.deep.scales import flat_clips, group_scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.inid_2024.deep.scales import Scheme
    from dpnoise_papers.inid_2024.learning_settings import DeepLearning


NOISE_COLUMNS = (
    "noise", "delta", "epsilon", "scheme", "printed_accuracy", "parameters", "steps", "batch",
    "step_epsilon", "multiplier", "noise_l2", "gradient_most", "gradient_flat",
    "noise_over_most", "noise_over_flat", "delta_of_samples", "scale_ratio",
)  # fmt: skip
# 'SPR' may mean Definition 5 by parameter or noise by threshold alone, as in He et al. (2022).
PRINTED_AS: dict[Scheme, str] = {
    "iid": "iid", "spr": "spr", "spr-group": "spr", "optimal": "optimal"
}  # fmt: skip
ACCOUNTING_COLUMNS = (
    "noise", "delta", "epsilon", "accountant", "steps", "rate", "multiplier",
    "epsilon_rdp", "epsilon_pld", "epsilon_pure", "epsilon_replace_one",
    "epsilon_lower", "epsilon_upper", "epsilon_replace_one_lower", "epsilon_replace_one_upper",
)  # fmt: skip
_RTOL = 1e-5  # of the multiplier by privacy loss distributions


def layer_sizes(settings: DeepLearning) -> Array:
    """Numbers of parameters of the layers, shape (M,)."""
    repeats, parameters = np.array(settings.layers).T
    return np.repeat(parameters.astype(float), repeats)


def table_4(settings: DeepLearning, *, claims: Sequence[Claim]) -> pd.DataFrame:
    """Noise that each entry of Table IV needs in one step, beside the gradient.

    Columns `COLUMNS`. `printed_accuracy` is NaN for a budget that the paper does not have; both
    schemes called SPR stand beside the accuracy printed for SPR.
    `step_epsilon` is that of one step without sampling (Laplace), `multiplier` the scale of the
    noise for a sum of sensitivity 1. `noise_l2` is the root mean square of the l2 norm of the noise
    in the mean gradient of a batch; `gradient_most` the largest l2 norm of a clipped mean gradient,
    and `gradient_flat` that of a clipped gradient whose entries are equal in size;
    `delta_of_samples` is 1/N^2, `scale_ratio` the largest scale of a layer over the smallest.
    """
    printed = printed_texts(claims, "table-4", ["noise", "delta", "epsilon", "scheme"])
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
        for scheme, column in PRINTED_AS.items():
            accuracy = float(printed.get((noise, delta, epsilon, column), "nan"))
            scales = group_scales(scheme, noise, clips, sizes, unit)
            total = math.sqrt((2.0 if pure else 1.0) * float(sizes @ scales**2)) / batch
            table.append(
                [
                    noise, delta, epsilon, scheme, accuracy, int(sizes.sum()), steps, batch,
                    step, unit, total, 1.0, flat, total, total / flat, settings.samples**-2.0,
                    float(np.max(scales) / np.min(scales)),
                ]
            )  # fmt: skip
    return pd.DataFrame(table, columns=list(NOISE_COLUMNS))


def table_4_accounting(settings: DeepLearning) -> pd.DataFrame:
    """Noise multiplier of each budget by each accountant, and the epsilon of each at it.

    Columns `ACCOUNTING_COLUMNS`: `accountant` ("rdp", "pld", "pure") is the one that calibrates;
    `epsilon_rdp` and `epsilon_pld` are upper bounds for a record added or removed (NaN where delta
    is 0), `epsilon_pure` is exact (NaN where delta is not), and `epsilon_replace_one` is for a
    record replaced by another, by privacy loss distributions or, with delta = 0, exactly. The last
    four are both ends of this library's own account, which is none of these, for either relation.
    """
    steps, rate = settings.steps, settings.rate
    table = []
    for budget in settings.budgets:
        noise, delta, epsilon = budget.noise, budget.delta, budget.epsilon
        unit = noise_unit(noise, epsilon, delta, steps, rate)
        if noise == "laplace":
            more = replace_one_epsilon(1.0 / unit, steps, rate)
            ends = _ends(SampledLaplace(unit, rate), delta, steps)
            row = [steps, rate, unit, math.nan, math.nan, epsilon, more, *ends]
            table.append([noise, delta, epsilon, "pure", *row])
            continue

        def sharper(multiplier: float, delta: float = delta) -> float:
            return pld_epsilon(multiplier, delta, steps, rate)

        units = {"rdp": unit, "pld": minimum_multiplier(sharper, epsilon, _RTOL, guess=unit)}
        for name, multiplier in units.items():
            bounds = rdp_epsilon(multiplier, delta, steps, rate), sharper(multiplier)
            more = pld_epsilon(multiplier, delta, steps, rate, replace_one=True)
            ends = _ends(SampledGaussian(multiplier, rate), delta, steps)
            row = [steps, rate, multiplier, *bounds, math.nan, more, *ends]
            table.append([noise, delta, epsilon, name, *row])
    return pd.DataFrame(table, columns=list(ACCOUNTING_COLUMNS))


def _ends(noise: SampledGaussian | SampledLaplace, delta: float, steps: int) -> tuple[float, ...]:
    """Both ends of epsilon, for a record added or removed and for one replaced."""
    one = noise.epsilon(delta, steps=steps)
    return *one, *noise.epsilon(delta, steps=steps, relation=REPLACE_ONE)
