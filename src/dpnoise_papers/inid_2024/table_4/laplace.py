"""Laplace noise of Table IV of inid-2024 by what may have been run: privacy and size of each.

Muthukrishnan & Kalyani (2024), Section VI-C, print accuracies with Laplace noise for delta = 0 that
lie beside those of Gaussian noise at delta = 1e-5. Each variant says how gradients are clipped,
how the noise for a sensitivity of 1 is found and what is counted as sensitivity. For each: the
noise, what it truly guarantees, and the noise against the gradient beside Gaussian noise.

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

from dpnoise_papers.claims.beside import printed_texts
from dpnoise_papers.inid_2024.deep.accounting import (
    WHOLE_ORDERS,
    laplace_epsilon,
    minimum_multiplier,
    noise_unit,
    pure_epsilon,
    rdp_epsilon,
    upper_epsilon,
)
from dpnoise_papers.inid_2024.deep.scales import flat_clips, group_scales
from dpnoise_papers.inid_2024.table_4.noise import PRINTED_AS, layer_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.inid_2024.deep.scales import Noise, Scheme
    from dpnoise_papers.inid_2024.learning_settings import DeepLearning

_TIE = 1e-9  # the same noise, but for rounding
COLUMNS = (
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
    return pd.DataFrame(table, columns=list(COLUMNS))


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
