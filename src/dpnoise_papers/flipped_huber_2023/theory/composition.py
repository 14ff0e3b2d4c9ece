"""Checks of Section VI: zero-concentrated privacy of flipped Huber noise and its budgets.

The log of E exp(s loss) is the Renyi divergence of order s + 1 times s, by quadrature. Over
independent coordinates it adds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import REACH, Outcome, column, equal, integrate, log_uniform
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.theory.density import draw_scalar, draw_shape, mass

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpnoise._types import Array

_COORDINATES = 6  # at most, of Section VI-A
_MOST = 29  # coordinates and batches of Section VI-B


def _log_moment(alpha: Array, gamma: Array, d: Array, s: Array, bound: Array) -> Array:
    """Log of E exp(s loss) for a shift d, less `bound`, which keeps the integrand in range."""
    a, g, c, m, r = (column(v) for v in (alpha, gamma, d, s, bound))
    far = alpha + s * d + REACH * gamma
    edges = [-far, -alpha, -alpha - d, 0 * d, -d, alpha - d, alpha, s * d, far]

    def integrand(t: Array) -> Array:
        rho = printed.loss_function
        return np.exp((m * (rho(t + c, a) - rho(t, a)) - rho(t, a)) / g**2 - r)

    value = integrate(integrand, np.stack(edges, axis=1), parts=8) / mass(alpha, gamma)
    return np.log(value)


def renyi(rng: Generator, n: int) -> Outcome:
    """Slack of Theorem 9: Renyi divergence at order s + 1 <= xi + (s + 1) eta.

    In half of the trials d is Delta, where the bound is attained as alpha falls to 0.
    """
    drawn = draw_scalar(rng, n)
    whole, alpha, gamma = (drawn[k] for k in ("sensitivity", "alpha", "gamma"))
    whole = np.minimum(whole, 4 * gamma)
    d = whole * np.where(rng.random(n) < 0.5, rng.uniform(0.02, 1, n), 1.0)
    s = log_uniform(rng, 0.01, 20, n) * gamma / whole
    xi = printed.transition_cost(alpha, whole) / (2 * gamma**2)
    eta = whole**2 / (2 * gamma**2)
    bound = s * (xi + (s + 1) * eta)
    margin = -_log_moment(alpha, gamma, d, s, bound) / bound
    return Outcome(
        margin, 1e-9, {"alpha": alpha, "gamma": gamma, "sensitivity": whole, "d": d, "s": s}
    )


def vector_renyi(rng: Generator, n: int) -> Outcome:
    """Slack of Section VI-A: xi = K R_Delta(alpha) / (2 gamma^2), eta = Delta_2^2 / (2 gamma^2).

    One to six coordinates; the sensitivities are the norms of a vector, d is a part of it, and in
    half of the trials all of it.
    """
    drawn = draw_shape(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    count = rng.integers(1, _COORDINATES + 1, n)
    used = np.arange(_COORDINATES)[:, None] < count
    worst = gamma * log_uniform(rng, 0.1, 4, used.shape) * used
    part = rng.uniform(0.02, 1, used.shape)
    d = worst * np.where(rng.random(n) < 0.5, part, 1.0)
    delta, delta2 = worst.max(axis=0), np.linalg.norm(worst, axis=0)
    s = log_uniform(rng, 0.01, 20, n) * gamma / delta
    xi = count * printed.transition_cost(alpha, delta) / (2 * gamma**2)
    bound = s * (xi + (s + 1) * delta2**2 / (2 * gamma**2))
    margin = -_spent(alpha, gamma, d, s, bound) / bound
    drawn |= {"sensitivity": delta, "delta2": delta2, "s": s, "K": count.astype(float)}
    return Outcome(margin, 1e-9, drawn)


def _spent(alpha: Array, gamma: Array, d: Array, s: Array, bound: Array) -> Array:
    """Log of E exp(s loss) over independent coordinates, less `bound`; d of shape (K, trials).

    A coordinate with d = 0 spends nothing. alpha and gamma are for all coordinates or for each.
    """
    share = bound / np.sum(d > 0, axis=0)
    alphas, gammas = np.broadcast_to(alpha, d.shape), np.broadcast_to(gamma, d.shape)
    total = np.zeros(d.shape[1])
    for a, g, one in zip(alphas, gammas, d, strict=True):
        used = one > 0
        if used.any():  # of few trials none may have so many coordinates
            total[used] += _log_moment(a[used], g[used], one[used], s[used], share[used])
    return total


def batch_parameters(rng: Generator, n: int) -> Outcome:
    """Error of Section VI-B: alpha_0 and gamma_0 spend xi_0 and eta_0 on one batch.

    By the pair of Section VI-A it is exact. The Renyi divergence of the noise, by quadrature, is at
    most that of the budget at an order drawn for each trial.
    """
    xi, eta = _budgets(rng, n)
    count, sizes = _sensitivities(rng, n)
    delta, delta2 = sizes.max(axis=0), np.linalg.norm(sizes, axis=0)
    alpha = printed.transition_inverse(delta2**2 * xi / (count * eta), delta)
    gamma = delta2 / np.sqrt(2 * eta)
    spent_xi = count * printed.transition_cost(alpha, delta) / (2 * gamma**2)
    spent_eta = delta2**2 / (2 * gamma**2)
    margin = np.minimum(equal(spent_xi, xi, xi), equal(spent_eta, eta, eta))
    s = _order(rng, gamma, delta)
    bound = s * (xi + (s + 1) * eta)
    slack = -_spent(alpha, gamma, sizes, s, bound) / bound
    return Outcome(np.minimum(margin, slack), 1e-9, {"xi0": xi, "eta0": eta, "K": count})


def _budgets(rng: Generator, n: int) -> tuple[Array, Array]:
    """Random xi and eta. In half of the trials xi is next to nothing, where the bound is attained.

    There alpha is next to 0, and the noise all but Gaussian.
    """
    xi, eta = np.exp(rng.uniform(-6, 1, (2, n)))
    return xi * np.where(rng.random(n) < 0.5, 1e-7, 1.0), eta


def _sensitivities(rng: Generator, n: int) -> tuple[NDArray[np.int64], Array]:
    """Random numbers of coordinates and their sensitivities, of shape (29, trials), 0 beyond."""
    count = rng.integers(1, _MOST + 1, n)
    return count, np.exp(rng.uniform(-2, 1, (_MOST, n))) * (np.arange(_MOST)[:, None] < count)


def _order(rng: Generator, gamma: Array, d: Array) -> Array:
    """Random orders s for a difference of size d."""
    return log_uniform(rng, 0.01, 20, len(d)) * gamma / d


def coordinate_budgets(rng: Generator, n: int) -> Outcome:
    """Error of Section VI-B: the budgets of all coordinates and batches add up.

    By Theorem 9 it is exact. The Renyi divergence of all batches, by quadrature, is at most that of
    the budget at an order drawn for each trial.
    """
    xi, eta = _budgets(rng, n)
    count, sizes = _sensitivities(rng, n)
    batches = rng.integers(1, _MOST + 1, n)
    scale = np.sqrt(count * batches / (2 * eta))  # gamma_i / lambda_i, of every coordinate
    alpha, gamma = sizes * printed.transition_inverse(xi / eta, 1.0), sizes * scale
    twice = np.where(sizes > 0, 2 * gamma**2, 1)
    spent_xi = batches * np.sum(printed.transition_cost(alpha, sizes) / twice, axis=0)
    spent_eta = batches * np.sum(sizes**2 / twice, axis=0)
    margin = np.minimum(equal(spent_xi, xi, xi), equal(spent_eta, eta, eta))
    s = _order(rng, scale, np.ones(n))
    bound = s * (xi + (s + 1) * eta)
    slack = -batches * _spent(alpha, gamma, sizes, s, bound / batches) / bound
    drawn = {"xi": xi, "eta": eta, "K": count, "L": batches}
    return Outcome(np.minimum(margin, slack), 1e-9, drawn)


def same_requirement(rng: Generator, n: int) -> Outcome:
    """Slack of Section VI-C: epsilon >= xi + eta is the requirement of Theorem 8.

    Zero if both hold or both fail, else -1; epsilon lies on either side of xi + eta. The
    requirement is taken as Theorem 8 prints it and as this section does, with the inverse (21).
    """
    drawn = draw_scalar(rng, n)
    alpha, gamma, delta = (drawn[k] for k in ("alpha", "gamma", "sensitivity"))
    count = rng.integers(1, 30, n)
    delta2 = delta * np.sqrt(count * rng.uniform(0.1, 1, n))
    cost = printed.transition_cost(alpha, delta)
    needed = (count * cost + delta2**2) / (2 * gamma**2)  # xi + eta
    epsilon = needed * np.exp(rng.choice([-1, 1], n) * np.exp(rng.uniform(-9, 1, n)))
    norms = (delta * count, delta2, delta)
    holds = printed.theorem_8(epsilon, alpha, gamma, count.astype(float), norms)[2]
    spare = (2 * gamma**2 * epsilon - delta2**2) / count
    inverse = printed.transition_inverse(np.maximum(spare, 0), delta)
    inverted = (spare > 0) & (alpha <= inverse)
    right = epsilon >= needed
    margin = np.where((holds == right) & (inverted == right), 0.0, -1.0)
    return Outcome(margin, 1e-12, drawn | {"epsilon": epsilon, "K": count, "delta2": delta2})
