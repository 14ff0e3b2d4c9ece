"""Checks of Section IV-A, Table I and Lemma 11's first step: privacy in one dimension.

The reference is the integral of [g(t) - e^epsilon g(t + d)]_+ by quadrature between its
kinks and the point where the privacy loss psi(t + d) - psi(t), which is nondecreasing in t,
crosses epsilon; that point is bisected from the definition of the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.checks import REACH, Check, Outcome, at_most, column, equal, integrate
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.as_printed_cases import intervals, points
from dpnoise_papers.flipped_huber_2023.theory.loss import loss
from dpnoise_papers.flipped_huber_2023.theory.noise import draw_scalar, kinks, mass, tail, weight

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


def _bisect(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Point where a nondecreasing function turns positive, in [low, high]."""
    for _ in range(100):
        middle = 0.5 * (low + high)
        above = function(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


def integrated_profile(epsilon: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """Integral of [g(t) - e^epsilon g(t + d)]_+ for d > 0."""
    end = alpha + d + REACH * gamma
    cross = _bisect(lambda t: loss(t, d, alpha, gamma) - epsilon, -end, end)
    a, g, s, e = column(alpha), column(gamma), column(d), column(epsilon)

    def integrand(t: Array) -> Array:
        density = weight(t, a, g)
        return np.maximum(density - np.exp(e - printed.loss_function(t + s, a) / g**2), 0)

    edges = kinks(alpha, gamma, cross, -d, alpha - d, -alpha - d)
    return integrate(integrand, edges) / mass(alpha, gamma)


def _unpack(drawn: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    return drawn["epsilon"], drawn["sensitivity"], drawn["alpha"], drawn["gamma"]


def table_1(rng: Generator, n: int) -> Outcome:
    """Zero if exactly one case of Table I holds with t1, t2 as it says, else -1."""
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    which = printed.case(epsilon, d, alpha, gamma)
    chosen = [which == k for k in range(1, 6)]
    t1, t2 = (
        np.select(chosen, values, np.nan)
        for values in zip(*points(epsilon, d, alpha, gamma), strict=True)
    )
    slack = 1e-9 * (alpha + d)
    ok = np.full(n, fill_value=True)
    for t, places in zip((t1, t2), zip(*intervals(alpha), strict=True), strict=True):
        low, high = (np.select(chosen, ends) for ends in zip(*places, strict=True))
        ok &= (t >= low - slack) & (t <= high + slack)
    crossing = loss(t1, d, alpha, gamma)
    ok &= np.abs(crossing - epsilon) <= 1e-9 * (1 + epsilon)
    only = (which != 1) | (alpha < d / 2)
    only &= (which != 2) | (alpha > d / 2)
    only &= (which != 3) | (alpha < d)
    return Outcome(np.where((which > 0) & ok & only, 0.0, -1.0), 1e-12, drawn | {"case": which})


def profile_formula(rng: Generator, n: int) -> Outcome:
    """Error of (13) against the integral, in units of its largest term."""
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    value = integrated_profile(epsilon, d, alpha, gamma)
    case = printed.case(epsilon, d, alpha, gamma)
    # In case (ii) terms of size e^epsilon cancel; in all others the terms are at most 1.
    unit = np.where(case == 2, 1 + np.exp(epsilon), 1)
    margin = equal(printed.profile(epsilon, d, alpha, gamma), value, unit)
    return Outcome(margin, 1e-11, drawn | {"case": case})


def largest_shift(rng: Generator, n: int) -> Outcome:
    """Slack of: a shift d <= Delta needs no larger delta than Delta."""
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    d = np.maximum(d, 0.05 * gamma)
    part = rng.uniform(0.05, 1, n)
    less = integrated_profile(epsilon, part * d, alpha, gamma)
    whole = integrated_profile(epsilon, d, alpha, gamma)
    return Outcome(at_most(less, whole), 1e-12, drawn | {"part": part})


def chosen_alpha(rng: Generator, n: int) -> Outcome:
    """Relative slack of delta(epsilon) <= delta for the choice of Section IV-A."""
    drawn, alpha, gamma = _draw_choice(rng, n)
    value = integrated_profile(drawn["epsilon"], np.ones(n), alpha, gamma)
    return Outcome(at_most(value, drawn["delta"], drawn["delta"]), 1e-7, drawn)


def chosen_variance(rng: Generator, n: int) -> Outcome:
    """Relative slack of variance <= sigma^2 for the choice of Section IV-A."""
    drawn, alpha, gamma = _draw_choice(rng, n)
    return Outcome(1 - printed.variance(alpha, gamma) / gamma**2, 1e-8, drawn)


def _draw_choice(rng: Generator, n: int) -> tuple[dict[str, Array], Array, Array]:
    drawn = {
        "epsilon": np.exp(rng.uniform(np.log(0.01), np.log(5), n)),
        "delta": 10 ** rng.uniform(-9, -0.5, n),
    }
    gamma = gaussian_sigma(drawn["epsilon"], drawn["delta"])
    alpha = np.maximum(gamma**2 * drawn["epsilon"] - 0.5, 0)
    # alpha / gamma below this is Gaussian to the last digit, which (11) cannot divide by.
    return drawn, np.maximum(alpha, 1e-3 * gamma), gamma


def always_less(rng: Generator, n: int) -> Outcome:
    """Margin by which flipped Huber noise betters the Gaussian, negative where it does not.

    Where the section's choice has alpha > 0 it is strictly better itself, and the margin is
    alpha / sigma. Where it is the Gaussian, shapes alpha / gamma from 0.05 to 6 are scanned,
    each with the smallest scale that is private, and the margin is the part of the variance
    that the best of them saves.
    """
    epsilon, delta = np.exp(rng.uniform(np.log(1e-3), np.log(5), n)), 10 ** rng.uniform(-6, -0.2, n)
    sigma = gaussian_sigma(epsilon, delta)
    best = np.full(n, np.inf)
    for b in np.geomspace(0.05, 6, 14):
        shape = np.full(n, b)
        low, high = np.log(1e-3 * sigma), np.log(10 * sigma)
        for _ in range(40):
            middle = 0.5 * (low + high)
            gamma = np.exp(middle)
            ok = _stable_profile(epsilon, shape * gamma, gamma) <= delta
            low, high = np.where(ok, low, middle), np.where(ok, middle, high)
        gamma = np.exp(high)
        best = np.minimum(best, printed.variance(shape * gamma, gamma))
    alpha = sigma**2 * epsilon - 0.5
    margin = np.where(alpha > 0, alpha / sigma, 1 - best / sigma**2)
    return Outcome(margin, 0.0, {"epsilon": epsilon, "delta": delta})


def _stable_profile(epsilon: Array, alpha: Array, gamma: Array) -> Array:
    """Profile at sensitivity 1 from (15) and the tails."""
    d = np.ones_like(alpha)
    t = printed.centred_loss_inverse(epsilon, d, alpha, gamma)
    return tail(t - 0.5, alpha, gamma) - np.exp(epsilon) * tail(t + 0.5, alpha, gamma)


def probabilistic_privacy(rng: Generator, n: int) -> Outcome:
    """Slack of Remark 1: P(loss >= epsilon) is at least delta(epsilon)."""
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    t = printed.centred_loss_inverse(epsilon, d, alpha, gamma) - d / 2
    value = integrated_profile(epsilon, d, alpha, gamma)
    return Outcome(at_most(value, tail(t, alpha, gamma)), 1e-12, drawn)


CHECKS = (
    Check("table-1", "Table I",
          "exactly one case holds, and t1, t2 are and lie as the table says", "complete", table_1),
    Check("theorem-3", "Theorem 3, (13)", "the privacy profile in one dimension is (13)",
          "complete", profile_formula),
    Check("lemma-11-largest-shift", "Lemma 11, proof", "the profile grows with the shift d",
          "complete", largest_shift, 0.5),
    Check("section-iv-a-choice", "Section IV-A",
          "gamma = sigma, alpha = [gamma^2 epsilon / Delta - Delta / 2]_+ is (epsilon, delta)-DP",
          "complete", chosen_alpha),
    Check("section-iv-a-variance", "Section IV-A", "the variance of that choice is at most sigma^2",
          "complete", chosen_variance),
    Check("section-iv-a-always-less", "Section IV-A, last sentences",
          "some flipped Huber noise has strictly less variance than the Gaussian, for every "
          "epsilon and delta",
          "gap: where sigma^2 epsilon <= Delta^2 / 2 the choice is alpha = 0, the Gaussian itself",
          always_less, 0.25),
    Check("remark-1", "Remark 1", "P(loss >= epsilon) <= delta suffices for privacy",
          "complete", probabilistic_privacy),
)  # fmt: skip
