"""Checks of what Section VI-B of inid-2024 says on the privacy of its principal components.

The upper triangle of sum x x' gets noise for the sensitivities 1/sqrt K on the diagonal and
1/sqrt(2 K) off it, K = M (M + 1)/2, and the entries of each x x' are clipped at these. Delta is
computed from densities for single samples and at the corner of the box to which clipping confines
them all.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.checks import Check, Outcome
from dpnoise_papers.inid_2024.theory.moments import gaussian_delta
from dpnoise_papers.inid_2024.theory.tools import budgets

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array

_FEW = 8  # features up to which samples are random


def _sample(rng: Generator, features: int) -> tuple[Array, Array, Array]:
    """Entries of x x' above and on the diagonal by size: which kind, how large, how many.

    The kind is 0 on the diagonal and 1 off it. x has norm 1; it is random for few features, else
    flat on some of them.
    """
    if features <= _FEW:
        x = rng.standard_normal(features)
        whole = np.abs(np.outer(x, x)) / (x @ x)
        row, column = np.triu_indices(features)
        return (row != column).astype(int), whole[row, column], np.ones(len(row))
    used = int(rng.integers(1, features + 1))
    counts = np.array([used, used * (used - 1) / 2])
    return np.array([0, 1]), np.full(2, 1.0 / used), counts


def _private(rng: Generator, n: int, noise: str) -> Outcome:
    """Slack of the budget, relative, of one sample added; at the corner it is the whole budget.

    Laplace noise counts as -1 unless i.i.d. Gaussian noise for a sample of norm 1 has a delta above
    0 beside it.
    """
    drawn = budgets(rng, n)
    drawn["M"] = np.floor(np.exp(rng.uniform(math.log(2), math.log(101), n)))
    margin = np.empty(n)
    for k in range(n):
        features, epsilon, delta = int(drawn["M"][k]), drawn["epsilon"][k], drawn["delta"][k]
        entries = features * (features + 1) // 2
        counts = np.array([features, entries - features], dtype=float)
        sizes = np.array([1.0, math.sqrt(0.5)]) / math.sqrt(entries)
        sigma = float(gaussian_sigma(epsilon, delta))
        if noise == "gaussian":
            scales = sigma * np.sqrt(sizes * (counts @ sizes))
        else:
            scales = np.cbrt(sizes) * (counts @ np.cbrt(sizes) ** 2) / epsilon
        kind, moved, copies = _sample(rng, features)
        spent = []
        for where, apart, many in (
            (np.array([0, 1]), sizes, counts),
            (kind, np.minimum(moved, sizes[kind]), copies),
        ):
            if noise == "gaussian":
                needed = gaussian_delta(apart / scales[where], epsilon, many)
                spent.append(needed / delta)
            else:
                near, far = (
                    stats.laplace.logpdf(x * apart, scale=scales[where]) for x in (0.3, 1.3)
                )
                spent.append(float(many @ (near - far)) / epsilon)
        margin[k] = min(1.0 - spent[1], -abs(spent[0] - 1.0))
        if noise == "laplace" and gaussian_delta(np.array([1.0 / sigma]), epsilon) <= 0.0:
            margin[k] = -1.0
    return Outcome(margin, 1e-8, drawn)


_STATED = "with entries clipped at the printed sensitivities, i.n.i.d. "

CHECKS = (
    Check("section-vi-b-gaussian", "Section VI-B",
          _STATED + "Gaussian noise is (epsilon, delta)-DP if a sample is added", "none given",
          partial(_private, noise="gaussian"), 0.1),
    Check("section-vi-b-laplace", "Section VI-B",
          _STATED + "Laplace noise is epsilon-DP if a sample is added, i.i.d. Gaussian is not",
          "none given", partial(_private, noise="laplace"), 0.1),
)  # fmt: skip
