"""How Table III of inid-2024 (DP-PCA) can be read: which noise, on which data, and is it private.

Section VI-B of Muthukrishnan & Kalyani (2024) sets the sensitivities of the upper triangle of
sum x x' to 1/sqrt K on the diagonal and 1/sqrt(2 K) off it, K = M (M + 1)/2, "since the
off-diagonal entries appear twice", and says that for i.n.i.d. mechanisms the entries of every x x'
are clipped. A reading is one way to make this definite:

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
                 times the least factor that keeps the box of the printed sensitivities private.

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
from dpnoise.learn.pca_noise import NEIGHBOURING, maximum_loss, second_moment_scales
from dpnoise.noise import Gaussian, Laplace
from dpnoise.privacy.profile import epsilon_at
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

READINGS = {  # reading -> noises
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
SPARSE = (3, 5, 8, 12, 16, 20, 30, 50)  # how many features a flat sample has, beside all
_FACTOR = 1e-6  # accuracy of the reading 'approximate', relative
_DEVIATION = {"gaussian": 1.0, "laplace": math.sqrt(2.0)}  # over the scale


class Row(NamedTuple):
    """One mechanism of a reading at one epsilon.

    Attributes
    ----------
    reading, noise, scheme : str
    epsilon, delta : float
        The guarantee that the reading claims.
    diagonal, off_diagonal : float
        Scales of the noise: sigma or beta.
    epsilon_add_remove, epsilon_replace_one : float
        The epsilon that is kept at this delta; exact, but an upper bound for Laplace noise and for
        clipped entries under replace-one. NaN where the row is not settled by one number.
    private_add_remove, private_replace_one : str
    """

    reading: str
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
        return _clips(self.reading, self.scheme)

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations of the noise on the diagonal and off it."""
        factor = _DEVIATION[self.noise]
        return self.diagonal * factor, self.off_diagonal * factor


def _clips(reading: str, scheme: str) -> bool:
    return reading in STATED and scheme == "inid"


def printed_sensitivities(features: int) -> tuple[float, float]:
    """Return 1/sqrt K and 1/sqrt(2 K), of the diagonal and off it, as the paper sets them."""
    entries = features * (features + 1) // 2
    return 1.0 / math.sqrt(entries), 1.0 / math.sqrt(2.0 * entries)


def rows(reading: str, *, features: int, epsilon: float, delta: float) -> Iterator[Row]:
    """Yield the mechanisms of a reading.

    Parameters
    ----------
    reading : str
        A key of `READINGS`.
    features : int
        M >= 2.
    epsilon, delta : float
        The budget; Laplace noise claims delta = 0 except in the reading 'approximate'.
    """
    for noise in READINGS[reading]:
        claimed = delta if noise == "gaussian" or reading == "approximate" else 0.0
        for scheme in SCHEMES:
            claim = {"features": features, "epsilon": epsilon, "delta": claimed}
            scales = _scales(reading, noise, scheme, **claim)
            kept = _kept(reading, noise, scheme, scales, **claim)
            yield Row(reading, noise, scheme, epsilon, claimed, *scales, *kept)


@lru_cache(maxsize=256)
def _scales(
    reading: str, noise: str, scheme: str, *, features: int, epsilon: float, delta: float
) -> tuple[float, float]:
    """Return the scales on the diagonal and off it."""
    allocation = "iid" if scheme == "iid" else "optimal"
    if reading in NEIGHBOURING:
        return second_moment_scales(
            features, noise=noise, allocation=allocation, neighbouring=reading,
            epsilon=epsilon, delta=delta,
        )  # fmt: skip
    if reading == "approximate":
        pure = _scales("unclipped", noise, scheme, features=features, epsilon=epsilon, delta=0.0)
        return _shrunk(features, pure, epsilon=epsilon, delta=delta)
    budget = {"noise": noise, "epsilon": epsilon, "delta": delta}
    if noise == "gaussian" and scheme == "iid":
        scale = float(allocate([1.0], **budget)[0])  # l2 sensitivity 1
        return scale, scale
    diagonal, off_diagonal = printed_sensitivities(features)
    lambdas = np.full(features * (features + 1) // 2, off_diagonal)
    lambdas[:features] = diagonal
    scales = allocate(lambdas, scheme=allocation, **budget)
    return float(scales[0]), float(scales[-1])


def _shrunk(
    features: int, pure: tuple[float, float], *, epsilon: float, delta: float
) -> tuple[float, float]:
    """Return Laplace scales in the same proportion, as small as delta allows for the box."""
    counts = features, features * (features - 1) // 2
    sizes = np.repeat(printed_sensitivities(features), counts).tolist()

    def excess(log_factor: float) -> float:
        noises = [Laplace(scale * math.exp(log_factor)) for scale in pure]
        each = [noise for noise, count in zip(noises, counts, strict=True) for _ in range(count)]
        upper = float(vector_profile(each, sizes, epsilon, rtol=1e-6).log_upper)
        return max(upper - math.log(delta), -30.0)

    # At the factor 1 delta is 0; from the normal limit on, it is above.
    low, high = -1.0, 0.0
    while excess(low) <= 0.0:
        low, high = low - 1.0, low
    middle = optimize.brentq(excess, low, high, xtol=0.1 * _FACTOR)
    factor = math.exp(middle + _FACTOR)  # on the private side
    return pure[0] * factor, pure[1] * factor


def _kept(
    reading: str,
    noise: str,
    scheme: str,
    scales: tuple[float, float],
    *,
    features: int,
    epsilon: float,
    delta: float,
) -> tuple[float, float, str, str]:
    """Return the epsilon that is kept by relation, and whether that is private."""
    if reading == "approximate":
        added = sparse_delta(features, *scales, epsilon=epsilon)[1]
        # A sample can be replaced by zeros, so that replacing is no better protected.
        replaced = max(added, _replaced_delta(features, *scales, epsilon=epsilon))
        return math.nan, math.nan, *("no" if d > delta else "open" for d in (added, replaced))
    kept, verdicts = [], []
    for relation in NEIGHBOURING[::-1]:
        loss = _box_loss if _clips(reading, scheme) else row_loss
        bounds = loss(features, scales, noise, relation)
        if noise == "gaussian":
            bounds = [float(epsilon_at(Gaussian(1.0), loss, delta)) for loss in bounds]
        reached, most = bounds
        kept.append(most)
        limit = epsilon * (1.0 + 1e-9)
        verdicts.append("yes" if most <= limit else "no" if reached > limit else "open")
    return *kept, *verdicts


def _norm(noise: str, counts: tuple[float, float], ratios: tuple[float, float]) -> float:
    """Return the l2 or l1 norm of so many diagonal and off-diagonal entries of these sizes."""
    if noise == "gaussian":
        return math.sqrt(counts[0] * ratios[0] ** 2 + counts[1] * ratios[1] ** 2)
    return counts[0] * ratios[0] + counts[1] * ratios[1]


def replaced_halves(features: int) -> tuple[int, int, float]:
    """Return how many entries differ on and off the diagonal, and by how much, for one exchange.

    Two samples that are constant on either half of the features, at 45 degrees to the halves,
    make all |D_ij| = sqrt 2 / M (M even, else of one feature fewer), the flattest that a
    replaced sample can: see dpnoise.learn.pca_noise.
    """
    even = features - features % 2
    return even, even * (even - 1) // 2, math.sqrt(2.0) / even


def row_loss(
    features: int, scales: tuple[float, float], noise: str, relation: str
) -> tuple[float, float]:
    """Return bounds of the greatest loss of samples of norm 1, which some neighbours reach."""
    most = maximum_loss(features, *scales, noise=noise, neighbouring=relation)
    if noise == "gaussian" or relation == "add-remove":
        return most, most
    *counts, size = replaced_halves(features)
    return _norm(noise, counts, (size / scales[0], size / scales[1])), most


def _box_loss(
    features: int, scales: tuple[float, float], noise: str, relation: str
) -> tuple[float, float]:
    """Return bounds of the greatest loss when entries are clipped at the printed sensitivities.

    Adding a sample moves every entry by at most that, which the bound takes to be reached.
    Replacing one moves an entry off the diagonal by up to twice that; flat samples that differ
    in sign on half of the features do so in a quarter of the matrix.
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


@lru_cache(maxsize=256)
def sparse_delta(
    features: int, diagonal: float, off_diagonal: float, *, epsilon: float
) -> tuple[int, float]:
    """Return the worst of the flat samples with k non-zero features, and its delta, for Laplace.

    Parameters
    ----------
    features : int
    diagonal, off_diagonal : float
        The parameters beta.
    epsilon : float

    Returns
    -------
    tuple of int and float
        k and a lower bound of the delta that adding the sample needs: 1/k in k entries of the
        diagonal and k (k - 1)/2 entries off it.
    """
    found = []
    for k in sorted({min(k, features) for k in (*SPARSE, features)}):
        noises = [Laplace(diagonal)] * k + [Laplace(off_diagonal)] * (k * (k - 1) // 2)
        profile = vector_profile(noises, [1.0 / k] * len(noises), epsilon)
        found.append((k, float(profile.lower)))
    return max(found, key=lambda pair: pair[1])


def _replaced_delta(
    features: int, diagonal: float, off_diagonal: float, *, epsilon: float
) -> float:
    """Return a lower bound of the delta that `replaced_halves` needs, for Laplace noise."""
    on, off, size = replaced_halves(features)
    noises = [Laplace(diagonal)] * on + [Laplace(off_diagonal)] * off
    return float(vector_profile(noises, [size] * len(noises), epsilon).lower)
