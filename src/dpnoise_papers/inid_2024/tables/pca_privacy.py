"""Sensitivities of DP-PCA of inid-2024, as printed and as they are.

Section VI-B of Muthukrishnan & Kalyani (2024) gives the diagonal entries of sum x x' noise for
a sensitivity of 1/sqrt K. Unless entries are clipped at that, as the text states and the printed
errors rule out, a sample x = e_1 has all its weight in one diagonal entry and moves that by 1,
which the noise does not cover.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.learn.pca import NEIGHBOURING
from dpnoise_papers.inid_2024.tables.pca import (
    printed_sensitivities,
    row_loss,
)

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.learning_settings import PcaSensitivities


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
