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
samples of norm 1; "open" is what neither a proof nor a violation settles. The functions of losses
bound what neighbouring data sets can lose, for independent noise with one scale on the diagonal
and one off it.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from dpnoise.allocation.allocate import allocate
from dpnoise.learn.pca import NEIGHBOURING, maximum_loss, second_moment_scales
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.profile import epsilon_at
from dpnoise.privacy.vector import profile_of_shares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.vector import VectorProfile

SPARSE = (3, 5, 8, 12, 16, 20, 30, 50)  # how many features a flat sample has, beside all
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


def printed_sensitivities(features: int) -> tuple[float, float]:
    """Sensitivities as the paper sets them: 1/sqrt K on the diagonal, 1/sqrt(2 K) off it."""
    entries = features * (features + 1) // 2
    return 1.0 / math.sqrt(entries), 1.0 / math.sqrt(2.0 * entries)


def _norm(noise: str, counts: tuple[float, float], ratios: tuple[float, float]) -> float:
    """Norm, l2 or l1, of so many diagonal and off-diagonal entries of these sizes."""
    if noise == "gaussian":
        return math.sqrt(counts[0] * ratios[0] ** 2 + counts[1] * ratios[1] ** 2)
    return counts[0] * ratios[0] + counts[1] * ratios[1]


def replaced_halves(features: int) -> tuple[int, int, float]:
    """Entries that differ on and off the diagonal, and by how much, for one exchange.

    Two samples that are constant on either half of the features, at 45 degrees to the halves, make
    all |D_ij| = sqrt 2 / M (M even, else of one feature fewer), the flattest that a replaced sample
    can: see dpnoise.learn.pca.
    """
    even = features - features % 2
    return even, even * (even - 1) // 2, math.sqrt(2.0) / even


def row_loss(
    features: int, scales: tuple[float, float], noise: str, relation: str
) -> tuple[float, float]:
    """Bounds of the greatest privacy loss of samples of norm 1: one reached, one not exceeded.

    They are l2 norms in units of sigma for Gaussian noise, epsilon for Laplace noise; `scales` are
    those on the diagonal and off it.
    """
    bound = maximum_loss(features, *scales, noise=noise, neighbouring=relation)
    if noise == "gaussian" or relation == "add-remove":
        return bound, bound
    on, off, size = replaced_halves(features)
    return _norm(noise, (on, off), (size / scales[0], size / scales[1])), bound


def clipped_loss(
    features: int, scales: tuple[float, float], noise: str, relation: str
) -> tuple[float, float]:
    """Bounds as of `row_loss` when entries are clipped at the printed sensitivities.

    Adding a sample moves every entry by at most that, which the bound takes to be reached.
    Replacing one moves an entry off the diagonal by up to twice that; flat samples that differ in
    sign on half of the features do so in a quarter of the matrix.
    """
    sizes = printed_sensitivities(features)
    ratios = sizes[0] / scales[0], sizes[1] / scales[1]
    counts = features, 0.5 * features * (features - 1)
    added = _norm(noise, counts, ratios)
    flat = min(1.0 / features, sizes[1]) / scales[1]
    if relation == "add-remove":
        diagonal = min(1.0 / features, sizes[0]) / scales[0]
        return _norm(noise, counts, (diagonal, flat)), added
    half = features // 2
    crossed = _norm(noise, (0.0, half * (features - half)), (0.0, 2.0 * flat))
    return crossed, _norm(noise, counts, (ratios[0], 2.0 * ratios[1]))


def laplace_profile(
    entries: Iterable[tuple[int, float, float]], epsilon: float, rtol: float = 1e-7
) -> VectorProfile:
    """Privacy profile of Laplace noise by group of entries: how many, their size, their beta."""
    shares: Counter[tuple[Noise | IntegerNoise, float]] = Counter()
    for count, size, scale in entries:
        shares[Laplace(scale), size] += count
    return profile_of_shares(+shares, np.asarray(epsilon, dtype=float), rtol)


@lru_cache(maxsize=256)
def sparse_delta(
    features: int, diagonal: float, off_diagonal: float, *, epsilon: float
) -> tuple[int, float]:
    """Worst k of the flat samples with k non-zero features, and its delta, for Laplace noise.

    A lower bound of the delta that adding the sample needs: 1/k in k entries of the diagonal and k
    (k - 1)/2 entries off it, under noise of these parameters beta.
    """
    found = []
    for k in sorted({min(k, features) for k in (*SPARSE, features)}):
        entries = (k, 1.0 / k, diagonal), (k * (k - 1) // 2, 1.0 / k, off_diagonal)
        found.append((k, float(laplace_profile(entries, epsilon).lower)))
    return max(found, key=lambda pair: pair[1])


def replaced_delta(features: int, diagonal: float, off_diagonal: float, *, epsilon: float) -> float:
    """Lower bound of the delta that `replaced_halves` needs, for Laplace noise."""
    on, off, size = replaced_halves(features)
    entries = (on, size, diagonal), (off, size, off_diagonal)
    return float(laplace_profile(entries, epsilon).lower)


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
    # ends: falls by 1 to where delta is exceeded
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
