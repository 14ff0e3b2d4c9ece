"""What Table IV of inid-2024 (deep learning) needs: the noise of each step beside the gradient.

Muthukrishnan & Kalyani (2024), Section VI-C, train ResNet-20 on CIFAR-10 with Poisson-sampled
batches, gradients clipped to norm 1 (l2 for Gaussian, l1 for Laplace noise), either all of one
gradient or each layer by itself. Training is not run here; the account of its noise is arithmetic.

The noise for a sensitivity of 1 is that of `deep.accounting`, its allocation to layers that of
`deep.scales`. The paper accounts by Renyi divergences. Privacy loss distributions are sharper: the
same noise has a lower epsilon, and less noise will do. `table_4_accounting` says by which one it is
calibrated, and what the other says.

Laplace noise goes by what may have been run. The paper prints accuracies with Laplace noise for
delta = 0 that lie beside those of Gaussian noise at delta = 1e-5. Each variant says how gradients
are clipped, how the noise for a sensitivity of 1 is found and what is counted as sensitivity. For
each: the noise, what it truly guarantees, and the noise against the gradient beside Gaussian noise.

Which of them the printed accuracies rule out takes an assumption: that of two printed accuracies of
one scheme that differ by more than `slack`, the lower one had more noise. `slack` is the most by
which the printed Gaussian accuracies break this order themselves. Noise counts relative to a
clipped gradient. Clipping in l1 and in l2 leaves norms whose ratio depends on the gradient's shape,
so a variant is excluded only if it is outside for every shape. What is inside is possible, no more.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.privacy.sampled.mechanism import SampledGaussian, SampledLaplace
from dpnoise.sensitivity.relation import REPLACE_ONE
from dpnoise_papers.claims.judge import printed_texts
from dpnoise_papers.inid_2024.deep.accounting import (
    WHOLE_ORDERS,
    laplace_epsilon,
    minimum_multiplier,
    noise_unit,
    pld_epsilon,
    pure_epsilon,
    rdp_epsilon,
    replace_one_epsilon,
    step_loss,
    upper_epsilon,
)
from dpnoise_papers.inid_2024.deep.scales import flat_clips, group_scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.inid_2024.deep.scales import Noise, Scheme
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


_TIE = 1e-9  # the same noise, but for rounding
LAPLACE_COLUMNS = (
    "variant", "epsilon", "scheme", "clipping", "unit", "noise_l2", "signal_most", "signal_flat",
    "noise_over_gaussian_minimum", "noise_over_gaussian", "noise_over_gaussian_maximum",
    "multiplier", "slack", "multiplier_from", "multiplier_to", "excluded", "printed_accuracy",
    "epsilon_pure", "delta", "epsilon_lower", "epsilon_upper",
)  # fmt: skip
MEASURED_COLUMNS = [
    "variant", "epsilon", "scheme", "gradients", "noise_over_gaussian_minimum",
    "noise_over_gaussian_maximum", "multiplier_from", "multiplier_to", "excluded",
    "printed_accuracy", "data_note",
]  # fmt: skip


def largest_inversion(accuracies: dict[str, dict[float, float]]) -> float:
    """Most by which an accuracy exceeds one with less noise in the same column, or 0.

    `accuracies` holds those of each column by the multiplier of their noise; NaN is none.
    """
    gaps = [
        much - little
        for column in accuracies.values()
        for more, much in column.items()
        for less, little in column.items()
        if more > less
    ]
    return max([0.0, *(gap for gap in gaps if math.isfinite(gap))])


def multiplier_range(
    accuracy: float, gaussian: dict[float, float], slack: float
) -> tuple[float, float]:
    """Gaussian multipliers between which an accuracy places noise.

    Above those of accuracies that are higher by more than `slack`, below those of accuracies that
    are lower by more. `gaussian` holds accuracies by multiplier. NaN where there is none.
    """
    if not any(math.isfinite(accuracy - other) for other in gaussian.values()):
        return math.nan, math.nan
    above = [noise for noise, other in gaussian.items() if other > accuracy + slack]
    below = [noise for noise, other in gaussian.items() if other < accuracy - slack]
    return max(above, default=0.0), min(below, default=math.inf)


def excluded(ends: tuple[float, float], bounds: tuple[float, float]) -> float:
    """1.0 if noise between two multipliers is outside of a `multiplier_range`, else 0.0.

    NaN if there is no such range. The ends belong to both.
    """
    low, high = bounds
    if math.isnan(low):
        return math.nan
    return float(ends[1] < low * (1.0 - _TIE) or ends[0] > high * (1.0 + _TIE))


class Variant(NamedTuple):
    """One way to have found Laplace noise.

    `clipping` is the norm of gradients; `unit` a key of `_units`; `counted` says what of a group
    enters the sum over groups that the scales keep: its threshold ("l1"), its threshold squared,
    as for Gaussian noise ("l2"), its threshold times the root of its size, which is its l1 norm
    ("box"), or nothing, every parameter being by itself ("parameter").
    """

    clipping: str
    unit: str
    counted: str


VARIANTS = {
    "stated": Variant("l1", "pure", "l1"),
    "partition": Variant("l1", "partition", "l1"),
    "renyi": Variant("l1", "renyi", "l1"),
    "renyi-small-delta": Variant("l1", "renyi-small-delta", "l1"),
    "one-step": Variant("l1", "one-step", "l1"),
    "by-parameter": Variant("l1", "pure", "parameter"),
    "l2-clipped-box": Variant("l2", "pure", "box"),
    "l2-clipped": Variant("l2", "pure", "l1"),
    "l2-clipped-renyi": Variant("l2", "renyi", "l1"),
    "l2-clipped-renyi-small-delta": Variant("l2", "renyi-small-delta", "l1"),
    "l2-clipped-one-step": Variant("l2", "one-step", "l1"),
    "l2-clipped-gaussian-multiplier": Variant("l2", "gaussian", "l2"),
    "l2-clipped-gaussian-variance": Variant("l2", "gaussian-variance", "l2"),
}


class Groups(NamedTuple):
    """Groups of a gradient and the noise scale of each, shape (M,)."""

    clips: Array
    sizes: Array
    scales: Array

    def noise_l2(self, variance: float) -> float:
        """Root mean square of the l2 norm of noise with `variance` at scale 1."""
        return math.sqrt(variance * float(self.sizes @ self.scales**2))


def table_4_laplace(settings: DeepLearning, *, claims: Sequence[Claim]) -> pd.DataFrame:
    """Laplace noise of Table IV by variant, scheme and epsilon, beside Gaussian noise.

    Columns `COLUMNS`. `noise_l2` and the signals are l2 norms in the mean gradient of a batch, of
    noise, of the largest and of a flat clipped gradient. `noise_over_gaussian` compares noise over
    a flat gradient with that of Gaussian noise at the largest delta and the same epsilon, whose
    multiplier is `multiplier`; `_minimum` and `_maximum` are the ends over gradients of all shapes.
    `multiplier_from` to `multiplier_to` are the Gaussian multipliers that the printed accuracies
    leave where differences of up to `slack` say nothing; `excluded` is 1 where the variant has
    more or less for every shape, 0 where not, NaN where nothing is printed. `epsilon_pure` is the
    true epsilon with delta = 0; with `delta` it lies between the last two columns.
    """
    printed = printed_texts(claims, "table-4", ["noise", "delta", "epsilon", "scheme"])
    sizes, rate, batch = layer_sizes(settings), settings.rate, settings.rate * settings.samples
    gaussian = [budget for budget in settings.budgets if budget.noise == "gaussian"]
    multipliers = {
        (budget.delta, budget.epsilon): noise_unit(
            "gaussian", budget.epsilon, budget.delta, settings.steps, rate
        )
        for budget in gaussian
    }
    delta = max(budget.delta for budget in gaussian)
    small = min(budget.delta for budget in gaussian)
    account = _Account(delta, settings.steps, rate)
    accuracies = {
        column: {
            noise: float(printed.get(("gaussian", *key, column), "nan"))
            for key, noise in multipliers.items()
        }
        for column in PRINTED_AS.values()
    }
    slack = largest_inversion(accuracies)
    table = []
    for budget in settings.budgets:
        if budget.noise == "gaussian" or (delta, budget.epsilon) not in multipliers:
            continue
        beside = multipliers[delta, budget.epsilon]
        units = _units(settings, budget.epsilon, beside, delta, small)
        for name, variant in VARIANTS.items():
            for scheme, column in PRINTED_AS.items():
                if variant.counted == "parameter" and scheme != "iid":
                    continue
                accuracy = float(printed.get(("laplace", 0.0, budget.epsilon, column), "nan"))
                groups = _scales(variant, scheme, sizes, units[variant.unit])
                peer = _gaussian(scheme, sizes, beside)
                more = noise_over_gaussian(groups, peer, variant.clipping)
                bounds = multiplier_range(accuracy, accuracies[column], slack)
                ends = beside * more.minimum, beside * more.maximum
                table.append(
                    [
                        name, budget.epsilon, scheme, variant.clipping, units[variant.unit],
                        groups.noise_l2(2.0) / batch, *_signals(groups, variant.clipping), *more,
                        beside, slack, *bounds, excluded(ends, bounds), accuracy,
                        *account.epsilons(groups, variant.clipping),
                    ]
                )  # fmt: skip
    return pd.DataFrame(table, columns=list(LAPLACE_COLUMNS))


def _units(
    settings: DeepLearning, epsilon: float, gaussian: float, delta: float, small: float
) -> dict[str, float]:
    """Scale for what is counted as a sensitivity of 1, by the way it is found."""
    steps, rate = settings.steps, settings.rate

    def renyi(delta: float) -> float:
        def bound(scale: float) -> float:
            return upper_epsilon(1.0 / scale, delta, steps, rate)

        return minimum_multiplier(bound, epsilon, 1e-9)

    return {
        "pure": noise_unit("laplace", epsilon, 0.0, steps, rate),
        "partition": settings.epochs / epsilon,
        "renyi": renyi(delta),
        "renyi-small-delta": renyi(small),
        "one-step": 1.0 / epsilon,
        "gaussian": gaussian,
        "gaussian-variance": gaussian / math.sqrt(2.0),
    }


def _scales(variant: Variant, scheme: Scheme, sizes: Array, unit: float) -> Groups:
    """Thresholds and noise of a variant; i.i.d. noise has one group, clipped to 1."""
    sizes = np.array([sizes.sum()]) if scheme == "iid" else sizes
    norm: Noise = "laplace" if variant.clipping == "l1" else "gaussian"
    clips = flat_clips(norm, len(sizes), 1.0)
    if variant.counted == "parameter":
        share = clips / (sizes if norm == "laplace" else np.sqrt(sizes))
        return Groups(clips, sizes, unit * share)
    counted = clips * np.sqrt(sizes) if variant.counted == "box" else clips
    rule: Noise = "gaussian" if variant.counted == "l2" else "laplace"
    return Groups(clips, sizes, group_scales(scheme, rule, counted, sizes, unit))


def _gaussian(scheme: Scheme, sizes: Array, multiplier: float) -> Groups:
    """Thresholds and Gaussian noise of a scheme."""
    sizes = np.array([sizes.sum()]) if scheme == "iid" else sizes
    clips = flat_clips("gaussian", len(sizes), 1.0)
    return Groups(clips, sizes, group_scales(scheme, "gaussian", clips, sizes, multiplier))


def _signals(groups: Groups, clipping: str) -> tuple[float, float]:
    """Largest l2 norm of a clipped gradient, and that of one with equal entries by group."""
    most = float(np.linalg.norm(groups.clips))
    if clipping == "l2":
        return most, most
    return most, float(np.linalg.norm(groups.clips / np.sqrt(groups.sizes)))


class NoiseRatio(NamedTuple):
    """Laplace noise over a gradient, in units of Gaussian noise over the same gradient.

    Each over the norm that clipping leaves of it: the smallest over gradients of all shapes, that
    of a flat one, and the largest.
    """

    minimum: float
    flat: float
    maximum: float


def noise_over_gaussian(groups: Groups, gaussian: Groups, clipping: str) -> NoiseRatio:
    """Laplace noise beside Gaussian noise, whose gradients are clipped in l2.

    Clipping a gradient g of group m to C_m in l1 multiplies it by min(1, C_m / ||g||_1), clipping
    to C'_m >= C_m in l2 by min(1, C'_m / ||g||_2). Since ||g||_2 <= ||g||_1 <= sqrt(K_m) ||g||_2
    the second factor is 1 to sqrt(K_m) C'_m / C_m times the first, and so are the norms of the
    whole clipped gradients, with the largest of these over the groups.
    """
    noise = groups.noise_l2(2.0) / gaussian.noise_l2(1.0)
    if clipping == "l2":  # the same thresholds: one clipped gradient for both
        return NoiseRatio(noise, noise, noise)
    _, flat = _signals(groups, clipping)
    largest = float(np.max(gaussian.clips * np.sqrt(groups.sizes) / groups.clips))
    return NoiseRatio(noise, noise * float(np.linalg.norm(gaussian.clips)) / flat, noise * largest)


class _Account:
    """True privacy of noise by group after all steps, at one delta; kept by what decides it."""

    def __init__(self, delta: float, steps: int, rate: float) -> None:
        self.delta = delta
        self.ends = cache(lambda loss: laplace_epsilon(loss, delta, steps, rate))
        self.gauss = cache(lambda m: rdp_epsilon(m, delta, steps, rate, WHOLE_ORDERS))
        self.pure = cache(lambda loss: pure_epsilon(loss, steps, rate))

    def epsilons(self, groups: Groups, clipping: str) -> tuple[float, float, float, float]:
        """Epsilon with delta = 0, exactly; then delta, and bounds on epsilon with it.

        Below l2 clipping Laplace noise has at most the Renyi divergences of Gaussian noise with
        sigma = beta (docs/deep-learning.md, section 3).
        """
        ratios = groups.clips / groups.scales
        one, _ = self.ends(_digits(float(ratios.max())))
        if clipping == "l1":
            loss = _digits(float(ratios.sum()))
            return self.pure(loss), self.delta, one, self.ends(loss)[1]
        pure = self.pure(float(ratios @ np.sqrt(groups.sizes)))
        gauss = self.gauss(_digits(1.0 / float(np.linalg.norm(ratios))))
        return pure, self.delta, one, min(pure, gauss)


def _digits(value: float) -> float:
    """A number to ten digits, so that schemes with the same account are accounted once."""
    return float(f"{value:.10g}")


def table_4_laplace_measured(laplace: pd.DataFrame, shapes: pd.DataFrame) -> pd.DataFrame:
    """Laplace noise over measured gradients, in units of Gaussian noise over the same ones.

    Parameters
    ----------
    laplace : pandas.DataFrame
        From `table_4_laplace`.
    shapes : pandas.DataFrame
        From `measured_gradients`: the shape of the gradients of some states of the network.

    Returns
    -------
    pandas.DataFrame
        Columns `MEASURED_COLUMNS`: the smallest and the largest over the states, whose number is
        `gradients`, and whether all between them is outside of what the printed accuracies leave.
        No rows without states.
    """
    rows = []
    for row in laplace.to_dict("records") if len(shapes) else []:
        whole = row["scheme"] == "iid"
        some = shapes[shapes["clipping"] == ("whole" if whole else "group")]
        # One clipped gradient in both: without the ratio of the norms that clipping leaves.
        ratio = some["signal_l2"] / some["signal_l1"] if row["clipping"] == "l1" else [1.0]
        noise = row["noise_over_gaussian_minimum"]
        low, high = noise * min(ratio), noise * max(ratio)
        bounds = row["multiplier_from"], row["multiplier_to"]
        ends = low * row["multiplier"], high * row["multiplier"]
        rows.append(
            [
                row["variant"], row["epsilon"], row["scheme"], len(some), low, high, *bounds,
                excluded(ends, bounds), row["printed_accuracy"], shapes["data_note"].iloc[0],
            ]
        )  # fmt: skip
    return pd.DataFrame(rows, columns=MEASURED_COLUMNS)
