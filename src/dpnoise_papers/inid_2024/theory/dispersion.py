"""Checks of what inid-2024 says of more and less unequal sensitivities.

Lemma 8, Theorems 9 and 10, and what Section V says of the Gini coefficient in general.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.inid_2024.tables.profiles import gini
from dpnoise_papers.inid_2024.theory.tools import (
    MAXIMUM_DIMENSION,
    STRICT,
    clearly,
    draw,
    gaussian_ratio,
    laplace_ratio,
    mean_squared_errors,
    profile_outcome,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array
    from dpnoise_papers.checks import Outcome


def _transfers(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """B, a that b majorises and that is no permutation of it, and K: Robin Hood moves."""
    b, count = draw(rng, n)
    a = b.copy()
    rows = np.arange(n)
    # ends: draws, no iteration
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


def _mixtures(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """B, a that b majorises and that is no permutation of it, and K.

    a is a doubly stochastic matrix times b, as every a that b majorises is (Hardy, Littlewood and
    Polya): a mean of b itself, b shifted by one place and two permutations of b at random.
    """
    b, count = draw(rng, n)
    b = b ** rng.uniform(0.1, 0.4, n)[:, None]  # small entries stay visible beside large ones
    a = np.zeros_like(b)
    for k in range(n):
        size = int(count[k])
        whole = b[k, :size]
        orders = [np.arange(size), np.roll(np.arange(size), 1)]
        orders += [rng.permutation(size) for _ in range(2)]
        weights = 0.1 + 0.6 * rng.dirichlet(np.ones(4))
        a[k, :size] = sum(w * whole[order] for w, order in zip(weights, orders, strict=True))
        b[k, size:] = 0.0
    return b, a, count


def _lemma_8(rng: Generator, n: int) -> Outcome:
    """Relative slack of h(b) > h(a) for seven strictly convex h_0, on random intervals.

    r log r, -log r, -sqrt(r), 1/r and r^q on positive numbers; exp(r) and r^2 also on others.
    """
    b, a, count = _mixtures(rng, n)
    power = rng.uniform(1.1, 6.0, n)[:, None]
    shift = rng.uniform(-3.0, 0.0, n)[:, None]
    used = np.arange(MAXIMUM_DIMENSION) < count[:, None]
    functions: list[Callable[[Array], Array]] = [
        lambda r: r * np.log(r), lambda r: -np.log(r), lambda r: -np.sqrt(r), lambda r: 1.0 / r,
        lambda r: r**power, lambda r: np.exp(r + shift), lambda r: (r + shift) ** 2,
    ]  # fmt: skip
    inside = [np.where(used, x, 1.0) for x in (b, a)]
    margins = []
    for f in functions:
        left, right = (np.where(used, f(x), 0.0) for x in inside)
        margins.append((left.sum(axis=1) - right.sum(axis=1)) / np.abs(left).sum(axis=1))
    return profile_outcome(clearly(np.min(margins, axis=0)), b, count, 0.0)


def _lesser(noise: str, more: Array, less: Array, count: Array) -> Array:
    """Relative slack of a lesser error of optimal noise for the first profiles."""
    first, second = (mean_squared_errors(noise, "optimal", x, count) for x in (more, less))
    return clearly(1.0 - first / second)


def _theorem_9(rng: Generator, n: int) -> Outcome:
    """Relative slack of the Gaussian error below that of a profile whose squares are majorised."""
    b, a, count = _mixtures(rng, n)
    margin = _lesser("gaussian", np.sqrt(b), np.sqrt(a), count)
    return profile_outcome(margin, np.sqrt(b), count, 0.0)


def _uniform_is_worst(rng: Generator, n: int) -> Outcome:
    """Relative slack of the Gaussian error below that of the uniform profile of the same norm."""
    profiles, count = draw(rng, n)
    used = np.arange(MAXIMUM_DIMENSION) < count[:, None]
    uniform = used * (np.linalg.norm(profiles, axis=1) / np.sqrt(count))[:, None]
    return profile_outcome(_lesser("gaussian", profiles, uniform, count), profiles, count, 0.0)


def _theorem_10(rng: Generator, n: int) -> Outcome:
    """Relative slack of the Laplace error below that of a profile that is majorised."""
    b, a, count = _mixtures(rng, n)
    return profile_outcome(_lesser("laplace", b, a, count), b, count, 0.0)


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
    return profile_outcome(np.array(margin), b, count, STRICT)
