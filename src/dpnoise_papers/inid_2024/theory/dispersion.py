"""Checks of what inid-2024 says of more and less unequal sensitivities.

Lemma 8, Theorems 9 and 10, and what Section V says of the Gini coefficient in general.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import Check, Outcome, at_most
from dpnoise_papers.inid_2024.tables.profiles import gini
from dpnoise_papers.inid_2024.theory.tools import (
    MAXIMUM_DIMENSION,
    draw,
    gaussian_ratio,
    laplace_ratio,
    profile_outcome,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


_STRICT = 1e-13  # of the relative slack of a strict inequality, for rounding


def _transfers(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """B, a that b majorises and that is no permutation of it, and K: Robin Hood moves."""
    b, count = draw(rng, n)
    a = b.copy()
    rows = np.arange(n)
    for _ in range(4):
        i, j = (np.floor(rng.random(n) * count).astype(int) for _ in (0, 1))
        share = rng.uniform(0.05, 0.5, n) * (i != j)
        moved = share * (a[rows, i] - a[rows, j])
        a[rows, i] -= moved
        a[rows, j] += moved
    # Where all moves were from a coordinate to itself, one is made between the ends.
    used = np.arange(MAXIMUM_DIMENSION) < count[:, None]
    high, low = b.argmax(axis=1), np.where(used, b, np.inf).argmin(axis=1)
    same = np.all(a == b, axis=1)
    moved = 0.3 * (b[rows, high] - b[rows, low])
    a[rows[same], high[same]] -= moved[same]
    a[rows[same], low[same]] += moved[same]
    return b, a, count


def _lemma_8(rng: Generator, n: int) -> Outcome:
    """Relative slack of h(b) > h(a) for h_0(r) = r^2, r log r and -sqrt(r)."""
    b, a, count = _transfers(rng, n)
    functions: list[Callable[[Array], Array]] = [
        np.square, lambda r: r * np.log(np.maximum(r, 1e-300)), lambda r: -np.sqrt(r),
    ]  # fmt: skip
    margins = [(f(b).sum(axis=1) - f(a).sum(axis=1)) / np.abs(f(b)).sum(axis=1) for f in functions]
    return profile_outcome(np.min(margins, axis=0), b, count, _STRICT)


def _theorem_9(rng: Generator, n: int) -> Outcome:
    """Relative slack of ||lambda||_1 below that of the profile it majorises."""
    b, a, count = _transfers(rng, n)
    left, right = np.sqrt(b).sum(axis=1), np.sqrt(a).sum(axis=1)
    return profile_outcome(at_most(left, right, right), np.sqrt(b), count, _STRICT)


def _uniform_is_worst(rng: Generator, n: int) -> Outcome:
    """Slack of ||lambda||_1 <= sqrt(K) ||lambda||_2."""
    profiles, count = draw(rng, n)
    margin = at_most(profiles.sum(axis=1), np.sqrt(count * (profiles**2).sum(axis=1)), count)
    return profile_outcome(margin, profiles, count)


def _theorem_10(rng: Generator, n: int) -> Outcome:
    """Relative slack of sum lambda^(2/3) below that of the profile it majorises."""
    b, a, count = _transfers(rng, n)
    left, right = (np.cbrt(x) ** 2 for x in (b, a))
    return profile_outcome(at_most(left.sum(axis=1), right.sum(axis=1), count), b, count, _STRICT)


def _gini_order(rng: Generator, n: int, dimension: int) -> Outcome:
    """Slack of 'the larger Gini coefficient has the larger gain', both noises."""
    pairs = np.exp(rng.uniform(0.2, 2, (n, 2, 1)) * rng.standard_normal((n, 2, dimension)))
    count = np.full(n, float(dimension))
    coefficients = np.array([[gini(x) for x in pair] for pair in pairs])
    order = np.sign(coefficients[:, 0] - coefficients[:, 1])
    margins = []
    for ratio in (gaussian_ratio, laplace_ratio):
        first, second = (np.log(ratio(pairs[:, j], count)) for j in (0, 1))
        margins.append(order * (second - first))
    return profile_outcome(np.min(margins, axis=0), pairs[:, 0], count)


def _gini_majorised(rng: Generator, n: int) -> Outcome:
    """Slack of the Gini coefficient of a profile above one that it majorises."""
    b, a, count = _transfers(rng, n)
    kept = (np.arange(MAXIMUM_DIMENSION) < c for c in count)
    margin = [gini(x[k]) - gini(y[k]) for x, y, k in zip(b, a, kept, strict=True)]
    return profile_outcome(np.array(margin), b, count, _STRICT)


CHECKS = (
    Check("lemma-8", "Lemma 8", "sums of a strictly convex function are strictly Schur-convex",
          "cited", _lemma_8),
    Check("theorem-9", "Theorem 9",
          "if lambda^2 majorises another's squares, its optimal Gaussian noise has the lesser MSE",
          "complete but for a misprint: squares are missing at ||sigma||_2", _theorem_9),
    Check("theorem-9-uniform", "Section IV-A, below Theorem 9",
          "the uniform profile has the largest MSE among those of one l2 norm", "complete",
          _uniform_is_worst),
    Check("theorem-10", "Theorem 10",
          "if lambda majorises another, its optimal Laplace noise has the lesser MSE",
          "complete: sum lambda^(2/3) is Schur-concave; the paper leaves the proof out",
          _theorem_10),
    Check("section-v-gini-2", "Section V-1",
          "for K = 2 a larger Gini coefficient means a larger reduction of the MSE",
          "complete: both depend on lambda_1/lambda_2 alone",
          partial(_gini_order, dimension=2), 0.5),
    Check("section-v-gini", "Section V-2",
          "the reduction of the MSE improves with the dispersion of lambda, measured by the Gini "
          "coefficient (K = 6)", "false: two profiles need not be comparable",
          partial(_gini_order, dimension=6), 0.5),
    Check("section-v-gini-majorised", "Section V",
          "a profile has at least the Gini coefficient of one that it majorises", "cited",
          _gini_majorised, 0.5),
)  # fmt: skip
