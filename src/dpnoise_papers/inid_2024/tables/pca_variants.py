"""Variants of Table III of inid-2024 (DP-PCA): which noise, on which data, and is it private.

Section VI-B of Muthukrishnan & Kalyani (2024) sets the sensitivities of the upper triangle of
sum x x' to 1/sqrt K on the diagonal and 1/sqrt(2 K) off it, K = M (M + 1)/2, "since the
off-diagonal entries appear twice", and says that for i.n.i.d. mechanisms the entries of every x x'
are clipped. A variant is one way to make this definite:

    stated       those sensitivities, and for i.n.i.d. noise the entries clipped at them; i.i.d.
                 Gaussian noise has l2 sensitivity 1, as the text says of "Analyze Gauss", i.i.d.
                 Laplace noise their l1 norm, both with nothing clipped. The dominant eigenvectors
                 are those of the largest magnitudes, as a singular value decomposition finds them;
    unclipped    the same with nothing clipped, against the text;
    stated-largest, unclipped-largest
                 the same two with the largest eigenvalues, as in all that follow: without noise
                 none is negative;
    add-remove   what the sensitivities really are when a sample of norm 1 is added;
    replace-one  the same when a sample is replaced;
    approximate  Laplace noise at delta = 1e-6 instead of the stated delta = 0: the printed scales
                 times the minimum factor that keeps the box of the printed sensitivities private.

A row is private for a relation ("yes") or provably not ("no"), by the exact greatest loss over
samples of norm 1; "open" is what neither a proof nor a violation settles.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from dpnoise.allocation.allocate import allocate
from dpnoise.learn.pca import NEIGHBOURING, second_moment_scales
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.profile import epsilon_at
from dpnoise_papers.inid_2024.tables.pca_losses import (
    clipped_loss,
    laplace_profile,
    printed_sensitivities,
    replaced_delta,
    row_loss,
    sparse_delta,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIANTS = {  # variant -> noises
    "stated": ("gaussian", "laplace"),
    "stated-largest": ("gaussian",),
    "unclipped": ("gaussian", "laplace"),
    "unclipped-largest": ("gaussian",),
    "add-remove": ("gaussian", "laplace"),
    "replace-one": ("gaussian", "laplace"),
    "approximate": ("laplace",),
}
STATED = ("stated", "stated-largest")  # i.n.i.d. noise on clipped entries
SCHEMES = ("iid", "inid")
_FACTOR = 1e-6  # accuracy of the variant 'approximate', relative
_DEVIATION = {"gaussian": 1.0, "laplace": math.sqrt(2.0)}  # over the scale


class Row(NamedTuple):
    """One mechanism of a variant at one epsilon.

    Attributes
    ----------
    epsilon, delta : float
        The guarantee that the variant claims.
    diagonal, off_diagonal : float
        Scales of the noise: sigma or beta.
    epsilon_add_remove, epsilon_replace_one : float
        The epsilon that is kept at this delta; exact, but an upper bound for Laplace noise and for
        clipped entries under replace-one. NaN where the row is not settled by one number.
    """

    variant: str
    noise: str
    scheme: str
    epsilon: float
    delta: float
    diagonal: float
    off_diagonal: float
    epsilon_add_remove: float
    epsilon_replace_one: float
    private_add_remove: str
    private_replace_one: str

    @property
    def clipped(self) -> bool:
        """Whether the entries of every x x' are clipped at the printed sensitivities."""
        return _clips(self.variant, self.scheme)

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations of the noise on the diagonal and off it."""
        factor = _DEVIATION[self.noise]
        return self.diagonal * factor, self.off_diagonal * factor


def _clips(variant: str, scheme: str) -> bool:
    return variant in STATED and scheme == "inid"


def rows(variant: str, *, features: int, epsilon: float, delta: float) -> Iterator[Row]:
    """Mechanisms of a variant, a key of `VARIANTS`.

    Laplace noise claims delta = 0 except in the variant 'approximate'.
    """
    for noise in VARIANTS[variant]:
        claimed = delta if noise == "gaussian" or variant == "approximate" else 0.0
        for scheme in SCHEMES:
            scales = _scales(
                variant, noise, scheme, features=features, epsilon=epsilon, delta=claimed
            )
            kept, private = _kept(
                variant, noise, scheme, scales, features=features, epsilon=epsilon, delta=claimed
            )
            yield Row(
                variant, noise, scheme, epsilon, claimed, diagonal=scales[0],
                off_diagonal=scales[1], epsilon_add_remove=kept[0], epsilon_replace_one=kept[1],
                private_add_remove=private[0], private_replace_one=private[1],
            )  # fmt: skip


@lru_cache(maxsize=256)
def _scales(
    variant: str, noise: str, scheme: str, *, features: int, epsilon: float, delta: float
) -> tuple[float, float]:
    """Scales on the diagonal and off it."""
    allocation = "iid" if scheme == "iid" else "optimal"
    if variant in NEIGHBOURING:
        return second_moment_scales(
            features, noise=noise, allocation=allocation, neighbouring=variant,
            epsilon=epsilon, delta=delta,
        )  # fmt: skip
    if variant == "approximate":
        pure = _scales("unclipped", noise, scheme, features=features, epsilon=epsilon, delta=0.0)
        return _shrunk(features, pure, epsilon=epsilon, delta=delta)
    if noise == "gaussian" and scheme == "iid":  # l2 sensitivity 1
        scale = float(allocate([1.0], noise=noise, epsilon=epsilon, delta=delta)[0])
        return scale, scale
    diagonal, off_diagonal = printed_sensitivities(features)
    lambdas = np.full(features * (features + 1) // 2, off_diagonal)
    lambdas[:features] = diagonal
    scales = allocate(lambdas, noise=noise, scheme=allocation, epsilon=epsilon, delta=delta)
    return float(scales[0]), float(scales[-1])


def _shrunk(
    features: int, pure: tuple[float, float], *, epsilon: float, delta: float
) -> tuple[float, float]:
    """Laplace scales in the same proportion, as small as delta allows for the box."""
    counts = features, features * (features - 1) // 2
    sizes = printed_sensitivities(features)

    def excess(log_factor: float) -> float:
        scales = [scale * math.exp(log_factor) for scale in pure]
        entries = zip(counts, sizes, scales, strict=True)
        upper = float(laplace_profile(entries, epsilon, rtol=1e-6).log_upper)
        return max(upper - math.log(delta), -30.0)

    # At the factor 1 delta is 0; from the normal limit on, it is above.
    low, high = -1.0, 0.0
    while excess(low) <= 0.0:
        low, high = low - 1.0, low
    middle = optimize.brentq(excess, low, high, xtol=0.1 * _FACTOR)
    factor = math.exp(middle + _FACTOR)  # on the private side
    return pure[0] * factor, pure[1] * factor


def _kept(
    variant: str,
    noise: str,
    scheme: str,
    scales: tuple[float, float],
    *,
    features: int,
    epsilon: float,
    delta: float,
) -> tuple[list[float], list[str]]:
    """Epsilon that is kept by relation, and whether that is private."""
    if variant == "approximate":
        added = sparse_delta(features, *scales, epsilon=epsilon)[1]
        # A sample can be replaced by zeros, so that replacing is no better protected.
        replaced = max(added, replaced_delta(features, *scales, epsilon=epsilon))
        return [math.nan] * 2, ["no" if d > delta else "open" for d in (added, replaced)]
    kept, verdicts = [], []
    for relation in NEIGHBOURING[::-1]:
        loss = clipped_loss if _clips(variant, scheme) else row_loss
        reached, bound = loss(features, scales, noise, relation)
        if noise == "gaussian":
            reached, bound = (float(epsilon_at(Gaussian(1.0), x, delta)) for x in (reached, bound))
        kept.append(bound)
        limit = epsilon * (1.0 + 1e-9)
        verdicts.append("yes" if bound <= limit else "no" if reached > limit else "open")
    return kept, verdicts
