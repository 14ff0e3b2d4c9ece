"""What DP-PCA of inid-2024 needs at single pairs of neighbours, and true sensitivities.

Section VI-B of Muthukrishnan & Kalyani (2024) gives the diagonal entries of sum x x' noise for
a sensitivity of 1/sqrt K. Unless entries are clipped at that, as the text states and the printed
errors rule out, a sample x = e_1 has all its weight in one diagonal entry and moves that
by 1, which the noise does not cover. The proof is one line: the releases with and without that
sample differ by N(0, sigma^2) against N(1, sigma^2) in one entry and in nothing else, so that
delta(epsilon) is that of Gaussian noise at mu = 1/sigma, whatever the other samples are.

`dp_pca_privacy` evaluates delta at such pairs: a lower bound of what the mechanism needs, so that
a value above the claimed delta refutes. A pair that is within the claim proves nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.learn.pca import NEIGHBOURING
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.inid_2024.tables.pca_losses import (
    SPARSE,
    laplace_profile,
    printed_sensitivities,
    replaced_halves,
    row_loss,
)
from dpnoise_papers.inid_2024.tables.pca_variants import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise_papers.inid_2024.learning_settings import PcaPrivacy, PcaSensitivities
    from dpnoise_papers.inid_2024.tables.pca_variants import Row

COLUMNS = (
    "reading", "noise", "scheme", "relation", "neighbour", "epsilon", "delta", "delta_lower",
    "delta_upper", "excess", "loss", "violated",
)  # fmt: skip
_ABOVE = 1.0 + 1e-9  # beyond rounding
_ERROR = 1e-11  # of the closed form


class Neighbour(NamedTuple):
    """A pair of neighbouring data sets, by how far apart their second moments are.

    Attributes
    ----------
    diagonal, off_diagonal : tuple of int and float
        How many entries of the upper triangle differ, and by how much each.
    """

    relation: str
    name: str
    diagonal: tuple[int, float]
    off_diagonal: tuple[int, float]


def _neighbours(features: int) -> Iterator[Neighbour]:
    """Pairs of neighbours at which delta is evaluated."""
    yield Neighbour("add-remove", "e_1 added", (1, 1.0), (0, 0.0))
    for k in sorted({min(k, features) for k in (*SPARSE, features)}):
        entries = (k, 1.0 / k), (k * (k - 1) // 2, 1.0 / k)
        yield Neighbour("add-remove", f"flat on {k} added", *entries)
    yield Neighbour("replace-one", "e_1 for e_2", (2, 1.0), (0, 0.0))
    yield Neighbour("replace-one", "(e_1 + e_2) for (e_1 - e_2)", (0, 0.0), (1, 1.0))
    on, off, size = replaced_halves(features)
    yield Neighbour("replace-one", "halves at 45 degrees", (on, size), (off, size))


def _needed(row: Row, neighbour: Neighbour) -> tuple[float, float, float]:
    """Bounds of delta and the loss that a mechanism needs at one pair of neighbours.

    A lower and an upper bound of delta at the row's epsilon, and the greatest privacy loss, which
    is epsilon at delta = 0 (infinite for Gaussian noise).
    """
    parts = [
        (count, size, scale)
        for (count, size), scale in (
            (neighbour.diagonal, row.diagonal),
            (neighbour.off_diagonal, row.off_diagonal),
        )
        if count
    ]
    if row.noise == "gaussian":
        mu = math.sqrt(sum(count * (size / scale) ** 2 for count, size, scale in parts))
        delta = math.exp(gaussian_log_delta(mu, row.epsilon))
        return delta * (1.0 - _ERROR), delta * (1.0 + _ERROR), math.inf
    profile = laplace_profile(parts, row.epsilon)
    loss = sum(count * size / scale for count, size, scale in parts)
    return float(profile.lower), float(profile.upper), loss


def dp_pca_privacy(settings: PcaPrivacy) -> pd.DataFrame:
    """Delta that each mechanism needs at single pairs of neighbours.

    Columns reading, noise, scheme, relation, neighbour, epsilon, delta (claimed), delta_lower and
    delta_upper (what these neighbours need), excess (delta_lower - delta), loss (the greatest
    privacy loss, inf for Gaussian noise) and violated: 'yes' if delta_lower exceeds the claimed
    delta, or the loss the epsilon where that is 0, by more than a relative 1e-9.
    """
    features, delta = settings.features, settings.delta
    table = []
    for variant in settings.variants:
        for epsilon in settings.epsilons:
            for row in rows(variant, features=features, epsilon=epsilon, delta=delta):
                for pair in _neighbours(features):
                    low, high, loss = _needed(row, pair)
                    seen = (
                        low > row.delta * _ABOVE if row.delta > 0.0 else loss > row.epsilon * _ABOVE
                    )
                    about = [variant, row.noise, row.scheme, pair.relation, pair.name]
                    bounds = [row.epsilon, row.delta, low, high, low - row.delta, loss]
                    table.append([*about, *bounds, "yes" if seen else "no"])
    return pd.DataFrame(table, columns=list(COLUMNS))


def dp_pca_sensitivities(settings: PcaSensitivities) -> pd.DataFrame:
    """Sensitivity of sum x x' as Section VI-B has it, beside the true one.

    Columns quantity (diagonal, off-diagonal: of one entry; l1, l2: of the upper triangle; l2-twice:
    l2 of the whole matrix, where entries off the diagonal appear twice),
    relation, printed (1/sqrt K, 1/sqrt(2 K) and the norms that follow from these), exact (the
    largest reached by known neighbours), bound (proved; equal to exact but for l1 under
    replace-one) and departure (how far printed is from exact, relative to it).
    """
    features = settings.features
    sizes = printed_sensitivities(features)
    above = features * (features - 1) // 2
    printed = {
        "diagonal": sizes[0],
        "off-diagonal": sizes[1],
        "l1": features * sizes[0] + above * sizes[1],
        "l2": math.sqrt(features * sizes[0] ** 2 + above * sizes[1] ** 2),
        "l2-twice": math.sqrt(features * sizes[0] ** 2 + 2.0 * above * sizes[1] ** 2),
    }
    table = []
    for relation in NEIGHBOURING[::-1]:
        added = relation == "add-remove"
        norms = {
            name: row_loss(features, (1.0, 1.0), noise, relation)
            for name, noise in (("l1", "laplace"), ("l2", "gaussian"))
        }
        # x_i^2 <= 1 and |x_i x_j| <= 1/2, of both signs
        entry = {"diagonal": (1.0, 1.0), "off-diagonal": (0.5, 0.5) if added else (1.0, 1.0)}
        whole = _whole_norm(features, added=added)
        table += [
            [name, relation, printed[name], *bounds] for name, bounds in (entry | norms).items()
        ]
        bound = 1.0 if added else math.sqrt(2.0)  # ||x||^2, and orthogonal samples
        table.append(["l2-twice", relation, printed["l2-twice"], whole, bound])
    columns = ["quantity", "relation", "printed", "exact", "bound"]
    found = pd.DataFrame(table, columns=columns)
    return found.assign(departure=(found["printed"] / found["exact"] - 1.0).abs())


def _whole_norm(features: int, *, added: bool) -> float:
    """Largest Frobenius norm of x x', or of x x' - y y', over samples of norm 1 of a few shapes."""
    i = np.arange(1.0, features + 1.0)
    shapes = i == 1, i == features, np.ones(features), i, np.exp(-i)
    samples = [np.asarray(x, dtype=float) / np.linalg.norm(x) for x in shapes]
    moments = [np.outer(x, x) for x in samples]
    if added:
        return max(float(np.linalg.norm(r)) for r in moments)
    return max(float(np.linalg.norm(r - s)) for r in moments for s in moments)
