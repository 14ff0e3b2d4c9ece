"""Checks of what inid-2024 says on privacy, over random parameters.

Lemma 3, Remark 3, Corollary 6, what Algorithm 1 takes, and the sentences around them. Formulas are
compared with densities, by `gaussian_delta` and SciPy, or with `vector_profile`.

Section VI-B, on principal components: the upper triangle of sum x x' gets noise for the
sensitivities 1/sqrt K on the diagonal and 1/sqrt(2 K) off it, K = M (M + 1)/2, and the entries of
each x x' are clipped at these. Delta is computed from densities for single samples and at the
corner of the box to which clipping confines them all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special, stats

from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.checks import Outcome, at_most, column, equal, integrate, log_uniform
from dpnoise_papers.inid_2024.tables.bisection import printed_bracket, valid_bracket
from dpnoise_papers.inid_2024.theory.tools import (
    budgets,
    draw_sensitivities,
    gaussian_delta,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array

_FEW = 8  # features up to which samples are random


def _fisher(rng: Generator, n: int) -> Outcome:
    """Error of 2 for the Fisher information of Laplace over Gaussian noise, by quadrature.

    The information is the mean square of the slope of the log density, a central difference.
    """
    deviation = log_uniform(rng, 1e-2, 1e2, n)
    edges = deviation[:, None] * np.array([-50.0, -10.0, 0.0, 10.0, 50.0])
    h = 1e-5 * column(deviation)

    def information(noise: Callable[..., Array], scale: Array) -> Array:
        def squared(t: Array) -> Array:
            slope = (noise(t + h, scale=scale) - noise(t - h, scale=scale)) / (2.0 * h)
            return slope**2 * np.exp(noise(t, scale=scale))

        return integrate(squared, edges, parts=16)

    laplace = information(stats.laplace.logpdf, column(deviation) / math.sqrt(2.0))
    gaussian = information(stats.norm.logpdf, column(deviation))
    return Outcome(equal(laplace / gaussian, 2.0), 1e-6, {"standard_deviation": deviation})


def _shares(rng: Generator, dimension: int) -> Array:
    """Random positive shares of 1, from nearly equal to very unequal."""
    parts = draw_sensitivities(rng, dimension)
    return parts / parts.sum()


def _box_profile(rng: Generator, n: int) -> Outcome:
    """Slack of Lemma 3 over the right side of (6), at a random d of the box.

    The left side is delta by `gaussian_delta`, from densities. A quarter of the d are the corner,
    where (6) is claimed to be tight.
    """
    drawn = budgets(rng, n) | {"K": rng.integers(1, 13, n).astype(float)}
    margin, corner = np.empty(n), (np.arange(n) % 4 == 0).astype(float)
    for k in range(n):
        epsilon, dimension = drawn["epsilon"][k], int(drawn["K"][k])
        mu = 1.0 / float(gaussian_sigma(epsilon, drawn["delta"][k]))
        whole = mu * np.sqrt(_shares(rng, dimension))  # lambda_i / sigma_i
        right = special.ndtr(mu / 2 - epsilon / mu)
        right -= math.exp(epsilon) * special.ndtr(-mu / 2 - epsilon / mu)
        inside = np.ones(dimension) if corner[k] else rng.uniform(0.5, 1.0, dimension)
        left = gaussian_delta(whole * inside, epsilon)
        margin[k] = (equal if corner[k] else at_most)(left, right, right)
    return Outcome(margin, 1e-8, drawn | {"corner": corner})


def _loss(points: Array, apart: Array, beta: Array) -> Array:
    """Privacy loss of Laplace noise at points (m, K), by its densities."""
    near, far = (stats.laplace.logpdf(x, scale=beta) for x in (points, points + apart))
    return np.sum(near - far, axis=-1)


def _losses(rng: Generator, s: Array, beta: Array) -> Array:
    """Losses at a corner of the box, with the noise beyond it, and at 50 other points."""
    points = 3 * s * rng.standard_normal((50, len(s)))
    apart = s * rng.uniform(-1, 1, (50, len(s)))
    corner = s * rng.choice([-1.0, 1.0], len(s))
    points[0], apart[0] = rng.uniform(0.0, 3.0) * corner, corner
    return _loss(points, apart, beta)


def _pure(rng: Generator, n: int) -> Outcome:
    """Slack of the largest loss over epsilon with random scales that spend epsilon.

    The loss is epsilon at a corner of the box, with the noise beyond it on the same side; that a
    budget exceeded by one in 1e6 is noticed there is part of the trial.
    """
    drawn = {"epsilon": log_uniform(rng, 1e-2, 10, n), "K": rng.integers(1, 13, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        s, epsilon = draw_sensitivities(rng, int(drawn["K"][k])), drawn["epsilon"][k]
        loss = _losses(rng, s, s / (epsilon * rng.dirichlet(np.ones(len(s))))) / epsilon
        attained = (1.0 + 1e-6) * loss[0] > 1.0
        margin[k] = 1.0 - loss.max() if attained else -1.0
    return Outcome(margin, 1e-9, drawn)


def _theorems_4_and_5(s: Array, mu: float, epsilon: float) -> tuple[Array, Array]:
    """Scales sigma of Theorem 4 and beta of Theorem 5, as printed."""
    return np.sqrt(s * s.sum()) / mu, np.cbrt(s) * np.sum(np.cbrt(s) ** 2) / epsilon


def _enough(rng: Generator, n: int) -> Outcome:
    """Slack of delta, from densities, and of the Laplace loss with the scales of both theorems.

    At the corner of the box and inside; both are relative to the budget.
    """
    drawn = budgets(rng, n) | {"K": rng.integers(1, 13, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        mu = 1.0 / float(gaussian_sigma(epsilon, delta))
        sigma, beta = _theorems_4_and_5(s, mu, epsilon)
        inside = np.append(np.ones((1, len(s))), rng.uniform(0.5, 1, (2, len(s))), axis=0)
        needed = max(gaussian_delta(s * x / sigma, epsilon) for x in inside)
        loss = _losses(rng, s, beta).max()
        margin[k] = min(1.0 - needed / delta, 1.0 - loss / epsilon)
    return Outcome(margin, 1e-8, drawn)


def _needed(rng: Generator, n: int) -> Outcome:
    """How much the budgets are missed where the constraints of (P3) and (P4) are by one in 1e4.

    In every second trial by the scales of Theorems 4 and 5, else by scales at random.
    """
    drawn = budgets(rng, n) | {"K": rng.integers(1, 13, n).astype(float)}
    margin, over = np.empty(n), 1.0 + 1e-4
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        mu = 1.0 / float(gaussian_sigma(epsilon, delta))
        if k % 2:
            sigma = s / (mu * np.sqrt(_shares(rng, len(s))))
            beta = s / (epsilon * _shares(rng, len(s)))
        else:
            sigma, beta = _theorems_4_and_5(s, mu, epsilon)
        needed = gaussian_delta(s / sigma * over, epsilon)
        # Coordinates are decoupled, so that all change at once; the noise is beyond, on one side.
        loss = float(_loss(0.3 * s, s, beta / over))
        margin[k] = min(needed / delta - 1.0, loss / epsilon - 1.0) - 1e-6
    return Outcome(margin, 0.0, drawn)


def _iid_errors(rng: Generator, n: int, *, other_dimension: bool) -> Outcome:
    """Minus the error of one least scale of i.i.d. Gaussian noise for two profiles of l2 norm 1.

    The scale is calibrated to one coordinate of sensitivity 1. Delta from densities has to be the
    claimed one for both profiles, and above it with a scale smaller by one in 1e4: the least
    mean squared error, K times the squared scale, is then the same for every profile of K
    coordinates, and linear in K. The two K are 20 unless `other_dimension`.
    """
    drawn = budgets(rng, n)
    drawn["K"] = rng.integers(1, 41, n).astype(float) if other_dimension else np.full(n, 20.0)
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        sigma = float(gaussian_sigma(epsilon, delta))
        profile = np.sqrt(_shares(rng, int(drawn["K"][k])))
        error = abs(gaussian_delta(profile / sigma, epsilon) / delta - 1.0)
        less = gaussian_delta(profile / sigma * (1.0 + 1e-4), epsilon) / delta - 1.0
        margin[k] = -error if less > 1e-5 else -1.0
    return Outcome(margin, 1e-8, drawn)


def _scales_of_corollary_6(rng: Generator, n: int) -> Outcome:
    """Slack of log delta with the scales of Corollary 6."""
    drawn = {
        "epsilon": log_uniform(rng, 0.1, 5, n), "delta": log_uniform(rng, 1e-8, 0.3, n),
        "K": rng.integers(1, 10, n).astype(float),
    }  # fmt: skip
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        scales = np.cbrt(s) * np.sum(np.cbrt(s) ** 2) / (epsilon - math.log1p(-delta))
        profile = vector_profile([Laplace(b) for b in scales], list(s), epsilon)
        margin[k] = math.log(delta) - profile.log_estimate
    return Outcome(margin, 1e-6, drawn)


def _footnote_5(rng: Generator, n: int) -> Outcome:
    """Slack of 1/(epsilon - log(1 - delta)) <= 1/(epsilon + delta) <= 1/epsilon."""
    epsilon, delta = log_uniform(rng, 1e-3, 1e3, n), log_uniform(rng, 1e-12, 1.0, n)
    first, second = 1 / (epsilon - np.log1p(-delta)), 1 / (epsilon + delta)
    margin = np.minimum(at_most(first, second, second), at_most(second, 1 / epsilon, second))
    return Outcome(margin, 1e-15, {"epsilon": epsilon, "delta": delta})


def _any_budget(rng: Generator, n: int) -> tuple[Array, Array]:
    epsilon = np.where(rng.random(n) < 0.05, 0.0, log_uniform(rng, 1e-3, 1e3, n))
    delta = np.where(rng.random(n) < 0.5, log_uniform(rng, 1e-12, 0.5, n), rng.uniform(0, 1, n))
    return epsilon, delta


def _printed_ends_exist(rng: Generator, n: int) -> Outcome:
    """Whether mu_u exists, for the inputs that Algorithm 1 names."""
    epsilon, delta = _any_budget(rng, n)
    exists = np.isfinite(printed_bracket(epsilon, delta)[1])
    return Outcome(np.where(exists, 1.0, -1.0), 0.0, {"epsilon": epsilon, "delta": delta})


def _valid_ends(rng: Generator, n: int) -> Outcome:
    """Relative slack of our bracket, which exists for all inputs."""
    epsilon, delta = _any_budget(rng, n)
    low, high = valid_bracket(epsilon, delta)
    root = 1.0 / gaussian_sigma(epsilon, delta)
    margin = np.minimum(at_most(low, root, root), at_most(root, high, root))
    return Outcome(margin, 1e-11, {"epsilon": epsilon, "delta": delta})


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


def _components_private(rng: Generator, n: int, noise: str) -> Outcome:
    """Slack of the budget, relative, of one sample added; at the corner it is the whole budget.

    Entries are clipped, for Laplace noise also left as they are. It counts as -1 unless i.i.d.
    Gaussian noise for a sample of norm 1 has a delta above 0 beside it.
    """
    drawn = budgets(rng, n)
    drawn["M"] = np.floor(log_uniform(rng, 2, 101, n))
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
        samples = [np.minimum(moved, sizes[kind])] + [moved] * (noise == "laplace")
        spent = []
        for where, apart, many in (
            (np.array([0, 1]), sizes, counts),
            *((kind, size, copies) for size in samples),
        ):
            if noise == "gaussian":
                needed = gaussian_delta(apart / scales[where], epsilon, many)
                spent.append(needed / delta)
            else:
                near, far = (
                    stats.laplace.logpdf(x * apart, scale=scales[where]) for x in (0.3, 1.3)
                )
                spent.append(float(many @ (near - far)) / epsilon)
        margin[k] = min(1.0 - max(spent[1:]), -abs(spent[0] - 1.0))
        if noise == "laplace" and gaussian_delta(np.array([1.0 / sigma]), epsilon) <= 0.0:
            margin[k] = -1.0
    return Outcome(margin, 1e-8, drawn)
