"""Checks of privacy in one dimension: the loss of Appendix C, Section IV-A, Table I and Lemma 11.

The reference is the integral of [g(t) - e^epsilon g(t + d)]_+ by quadrature between its
kinks and the point where the privacy loss psi(t + d) - psi(t), which is nondecreasing in t,
crosses epsilon; that point is bisected from the definition of the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.calibrate import calibrate
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.checks import REACH, Outcome, at_most, column, equal, integrate, log_uniform
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.as_printed import ranges
from dpnoise_papers.flipped_huber_2023.theory.density import (
    bisect,
    draw_scalar,
    kinks,
    mass,
    mean,
    tail,
    weight,
)

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


CLEARLY = 1.1  # of two variances, as 'significantly' in published/words.yaml


def loss(t: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """Privacy loss psi(t + d) - psi(t) from the definition."""
    rho = printed.loss_function
    return (rho(t + d, alpha) - rho(t, alpha)) / gamma**2


def loss_pieces(rng: Generator, n: int) -> Outcome:
    """Error of (25) against the definition of the centred loss."""
    drawn, t, d = _draw_loss(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    value = loss(t - d / 2, d, alpha, gamma)
    margin = equal(printed.centred_loss(t, d, alpha, gamma), value, 1 + np.abs(value))
    return Outcome(margin, 1e-11, drawn | {"t": t, "d": d})


def loss_symmetry(rng: Generator, n: int) -> Outcome:
    """Smallest slack: odd in t and d, monotone in t in the direction of d.

    Both by the definition of the loss and by (25).
    """
    drawn, t, d = _draw_loss(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    later = t + rng.exponential(size=n) * gamma

    def defined(t: Array, d: Array) -> Array:
        return loss(t - d / 2, d, alpha, gamma)

    def pieces(t: Array, d: Array) -> Array:
        return printed.centred_loss(t, d, alpha, gamma)

    slacks = []
    for centred in (defined, pieces):
        value = centred(t, d)
        unit = 1 + np.abs(value)
        slacks += [equal(centred(-t, d), -value, unit), equal(centred(t, -d), -value, unit)]
        slacks.append(at_most(np.sign(d) * value, np.sign(d) * centred(later, d), unit))
    return Outcome(np.min(slacks, axis=0), 1e-11, drawn | {"t": t, "d": d})


def _draw_loss(rng: Generator, n: int) -> tuple[dict[str, Array], Array, Array]:
    drawn = draw_scalar(rng, n)
    d = drawn["sensitivity"] * np.where(rng.random(n) < 0.5, -1, 1)
    t = 2 * (drawn["alpha"] + np.abs(d)) * rng.uniform(-1, 1, n)
    return {key: drawn[key] for key in ("alpha", "gamma")}, t, d


def loss_inverse(rng: Generator, n: int) -> Outcome:
    """Error of (15), for nu of either sign.

    At half of the trials nu is the height of the loss where it is level, from d / 2 to
    alpha - d / 2 and, negative, from d / 2 - alpha to -d / 2; alpha, d and gamma are powers of 2
    there, for which (15) has no rounding, and the inverse is the last point of the stretch.
    """
    both = _inverse(rng, n, np.where(rng.random(n) < 0.5, -1, 1))
    alpha, d, gamma = np.exp2(rng.integers(-2, 3, (3, n)).astype(float))
    alpha = np.maximum(alpha, 2 * d)
    nu = rng.choice([-1, 1], n) * alpha * d / gamma**2
    last = np.where(nu > 0, alpha - d / 2, -d / 2)
    level = equal(printed.centred_loss_inverse(nu, d, alpha, gamma), last, alpha)
    at = {"epsilon": np.abs(nu), "sensitivity": d, "alpha": alpha, "gamma": gamma, "nu": nu}
    half = np.arange(n) % 2 == 0
    drawn = {key: np.where(half, at[key], both.parameters[key]) for key in at}
    return Outcome(np.where(half, level, both.margin), both.tolerance, drawn)


def loss_inverse_above(rng: Generator, n: int) -> Outcome:
    """Error of (15) for nu = epsilon >= 0, as Theorem 3 uses it."""
    return _inverse(rng, n, np.ones(n))


def _inverse(rng: Generator, n: int, sign: Array) -> Outcome:
    """Error of (15) for nu of a sign: the loss at the inverse is nu again.

    For alpha > d the loss is level from d / 2 to alpha - d / 2. Just above its height the inverse,
    the last point where the loss is at most nu, has to lie beyond alpha - d / 2.
    """
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = (drawn[k] for k in ("epsilon", "sensitivity", "alpha", "gamma"))
    nu = epsilon * sign
    t = printed.centred_loss_inverse(nu, d, alpha, gamma)
    margin = equal(loss(t - d / 2, d, alpha, gamma), nu, 1 + np.abs(nu))
    height = alpha * d / gamma**2 * (1 + 1e-12)
    beyond = printed.centred_loss_inverse(height, d, alpha, gamma) - (alpha - d / 2)
    margin = np.where(alpha > d, np.minimum(margin, beyond / alpha), margin)
    return Outcome(margin, 1e-9, drawn | {"nu": nu})


def ridge(rng: Generator, n: int) -> Outcome:
    """Slack of the affine bound on the centred loss, Appendix C, for |d| <= Delta.

    In half of the trials |d| = Delta and in half t = d / 2: with both the bound is attained.
    """
    drawn, t, d = _draw_loss(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    whole = np.abs(d) / np.where(rng.random(n) < 0.5, rng.uniform(0.05, 1, n), 1.0)
    t = np.where(rng.random(n) < 0.5, t, d / 2)
    right = t * d / gamma**2 + printed.transition_cost(alpha, whole) / (2 * gamma**2)
    left = loss(t - d / 2, d, alpha, gamma)
    margin = at_most(left, right, 1 + np.abs(left))
    return Outcome(margin, 1e-11, drawn | {"t": t, "d": d, "sensitivity": whole})


def ridge_point(rng: Generator, n: int) -> Outcome:
    """Error of the printed height of the ridge at t = d/2, for d of either sign."""
    drawn = draw_scalar(rng, n)
    size, alpha, gamma = (drawn[k] for k in ("sensitivity", "alpha", "gamma"))
    d = size * rng.choice([-1, 1], n)
    value = loss(0 * d, d, alpha, gamma)
    formula = (d**2 + printed.transition_cost(alpha, size)) / (2 * gamma**2)
    return Outcome(equal(formula, value, value), 1e-11, drawn | {"d": d})


def cost_monotone(rng: Generator, n: int) -> Outcome:
    """Slack of: R_d(alpha) rises with alpha by more than 1e-6 of it.

    alpha is compared with alphas that are larger by a hundredth or more; the larger ones are at
    most a hundred times d, so that the relative rise is not lost.
    """
    d = np.exp(rng.uniform(-4, 4, n))
    alpha = d * np.exp(rng.uniform(-4, 4, n))
    more = alpha * (1.01 + rng.exponential(size=n))
    value = printed.transition_cost(alpha, d)
    slack = at_most(value, printed.transition_cost(more, d), value) - 1e-6
    return Outcome(slack, 0.0, {"alpha": alpha, "larger_alpha": more, "d": d})


def offset_monotone(rng: Generator, n: int) -> Outcome:
    """Relative slack of: R_d(alpha), offset of the line through the ridge, does not fall with d."""
    d = np.sort(np.exp(rng.uniform(-4, 4, (2, n))), axis=0)
    alpha = d[0] * np.exp(rng.uniform(-4, 4, n))
    value = printed.transition_cost(alpha, d[0])
    slack = at_most(value, printed.transition_cost(alpha, d[1]), value)
    return Outcome(slack, 1e-12, {"alpha": alpha, "d": d[0], "larger_d": d[1]})


def cost_inverse(rng: Generator, n: int) -> Outcome:
    """Error of (21) as the inverse of R_Delta, of alpha and of its value."""
    drawn = draw_scalar(rng, n)
    alpha, d = drawn["alpha"], drawn["sensitivity"]
    back = printed.transition_inverse(printed.transition_cost(alpha, d), d)
    nu = d**2 * np.exp(rng.uniform(-5, 5, n))
    forth = printed.transition_cost(printed.transition_inverse(nu, d), d)
    margin = np.minimum(equal(back, alpha, alpha), equal(forth, nu, nu))
    return Outcome(margin, 1e-9, {"alpha": alpha, "sensitivity": d, "nu": nu})


def integrated_profile(epsilon: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """Integral of [g(t) - e^epsilon g(t + d)]_+ for d > 0."""
    end = alpha + d + REACH * gamma
    cross = bisect(lambda t: loss(t, d, alpha, gamma) > epsilon, -end, end)[1]
    a, g, s, e = column(alpha), column(gamma), column(d), column(epsilon)

    def integrand(t: Array) -> Array:
        density = weight(t, a, g)
        return np.maximum(density - np.exp(e - printed.loss_function(t + s, a) / g**2), 0)

    edges = kinks(alpha, gamma, cross, -d, alpha - d, -alpha - d)
    return integrate(integrand, edges) / mass(alpha, gamma)


def _unpack(drawn: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    return drawn["epsilon"], drawn["sensitivity"], drawn["alpha"], drawn["gamma"]


def table_1_ranges(rng: Generator, n: int) -> Outcome:
    """Zero if exactly one range of epsilon of Table I holds a random epsilon, else -1.

    Half of the epsilons lie anywhere up to beyond the last border, half within 1e-9 to a tenth of
    a border between two ranges, on either side of it.
    """
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    borders = np.array([low for low, _ in ranges(d, alpha, gamma)[2:]])
    border = borders[rng.integers(0, len(borders), n), np.arange(n)]
    aside = border * (1 + rng.choice([-1, 1], n) * 10 ** rng.uniform(-9, -1, n))
    epsilon = np.where(rng.random(n) < 0.5, epsilon, aside)
    held = [(low <= epsilon) & (epsilon < high) for low, high in ranges(d, alpha, gamma)]
    count = np.sum(held, axis=0)
    margin = np.where(count == 1, 0.0, -1.0)
    return Outcome(margin, 1e-12, drawn | {"epsilon": epsilon, "ranges": count})


def table_1_empty(rng: Generator, n: int) -> Outcome:
    """Zero if the ranges of Table I are empty for just the alpha that it says, else -1.

    alpha is up to a factor e^3 from Delta / 2 or from Delta, half of the time only 1e-9 to a tenth,
    and in a tenth of the trials it is Delta / 2 or Delta. In another tenth it is 0, where a range
    may be empty besides ('only when').
    """
    d, gamma = np.exp(rng.uniform(-3, 3, (2, n)))
    away = np.where(rng.random(n) < 0.5, 10 ** rng.uniform(-9, -1, n), rng.uniform(0.01, 3, n))
    away = np.where(rng.random(n) < 0.1, 0.0, away)
    alpha = d * np.where(rng.random(n) < 0.5, 0.5, 1.0) * np.exp(rng.choice([-1, 1], n) * away)
    alpha = np.where(rng.random(n) < 0.1, 0.0, alpha)
    filled = [low < high for low, high in ranges(d, alpha, gamma)]
    said = [alpha < d / 2, alpha > d / 2, alpha < d, True, True]
    right = np.all(
        [np.where(alpha > 0, a == b, a <= b) for a, b in zip(filled, said, strict=True)], axis=0
    )
    drawn = {"alpha": alpha, "gamma": gamma, "sensitivity": d}
    return Outcome(np.where(right, 0.0, -1.0), 1e-12, drawn)


def profile_formula(rng: Generator, n: int) -> Outcome:
    """Smaller slack, in units of the largest term of (13), of two comparisons with integrals.

    (13) is the integral at Delta, so that no smaller delta is enough, and at least the integral at
    another d, with abs(d) <= Delta, so that it is enough for every pair of neighbours.
    """
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    value = integrated_profile(epsilon, d, alpha, gamma)
    part = rng.uniform(0.02, 1, n)
    other = integrated_profile(epsilon, part * d, alpha, gamma)  # the same for -d by symmetry
    case = printed.case(epsilon, d, alpha, gamma)
    # In case (ii) terms of size e^epsilon cancel; in all others the terms are at most 1.
    unit = np.where(case == 2, 1 + np.exp(epsilon), 1)
    formula = printed.profile(epsilon, d, alpha, gamma)
    margin = np.minimum(equal(formula, value, unit), at_most(other, formula, unit))
    return Outcome(margin, 1e-11, drawn | {"case": case, "part": part})


def chosen_alpha(rng: Generator, n: int) -> Outcome:
    """Relative slack of delta(epsilon) <= delta for the choice of Section IV-A."""
    drawn, alpha, gamma = _draw_choice(rng, n)
    value = integrated_profile(drawn["epsilon"], np.ones(n), alpha, gamma)
    return Outcome(at_most(value, drawn["delta"], drawn["delta"]), 1e-7, drawn)


def chosen_variance(rng: Generator, n: int) -> Outcome:
    """Smaller relative slack of: the least variance <= that of Section IV-A's choice <= sigma^2.

    The least variance is that which the exact profile allows, found by `calibrate`; the choice's
    is by quadrature.
    """
    drawn, alpha, gamma = _draw_choice(rng, n)
    second = mean(lambda t: t * t, alpha, gamma)
    budgets = zip(drawn["epsilon"].tolist(), drawn["delta"].tolist(), strict=True)
    found = [calibrate("flipped-huber", epsilon=e, delta=p).infimum for e, p in budgets]
    smallest = np.array(found)
    slack = np.minimum(at_most(smallest, second, second), 1 - second / gamma**2)
    return Outcome(slack, 1e-8, drawn | {"least": smallest, "chosen": second})


def _draw_choice(rng: Generator, n: int) -> tuple[dict[str, Array], Array, Array]:
    drawn = {
        "epsilon": log_uniform(rng, 1e-3, 5, n),
        "delta": 10 ** rng.uniform(-9, -0.2, n),
    }
    gamma = gaussian_sigma(drawn["epsilon"], drawn["delta"])
    alpha = np.maximum(gamma**2 * drawn["epsilon"] - 0.5, 0)
    # alpha / gamma below this is Gaussian to the last digit, which (11) cannot divide by.
    return drawn, np.maximum(alpha, 1e-3 * gamma), gamma


def laplace_superior(rng: Generator, n: int, *, pure: bool) -> Outcome:
    """Relative margin by which Laplace noise is superior to flipped Huber noise, in two senses.

    Pure: epsilon-DP Laplace noise, whose loss is at most epsilon, has at most 1.1 times the
    variance; that of flipped Huber noise has no bound, so that it never is epsilon-DP. Else flipped
    Huber noise has at least 1.1 times the variance, each being the least for (epsilon, delta)-DP:
    of Laplace noise by its profile 1 - exp((epsilon - Delta / beta) / 2), of flipped Huber noise
    by the search of `calibrate`. Budgets are those of the slides' one-dimensional results.
    """
    epsilon, delta = log_uniform(rng, 0.1, 5, n), 1e-6
    found = [calibrate("flipped-huber", epsilon=e, delta=delta).infimum for e in epsilon.tolist()]
    if pure:
        ratio = 2 / epsilon**2 / np.array(found)
        margin = 1 - ratio / CLEARLY
    else:
        ratio = np.array(found) * (epsilon - 2 * np.log1p(-delta)) ** 2 / 2
        margin = ratio / CLEARLY - 1
    drawn = {"epsilon": epsilon, "delta": np.full(n, delta), "ratio": ratio}
    return Outcome(margin, 1e-8, drawn)


def always_less(rng: Generator, n: int) -> Outcome:
    """Margin by which flipped Huber noise betters the Gaussian, negative where it does not.

    Where the section's choice has alpha > 0 it is strictly better itself, and the margin is
    alpha / sigma. Where it is the Gaussian, shapes alpha / gamma from 0.01 to 30 are scanned,
    each with the smallest scale that is private, and the margin is the part of the variance
    that the best of them saves.
    """
    epsilon, delta = log_uniform(rng, 1e-3, 5, n), 10 ** rng.uniform(-6, -0.2, n)
    sigma = gaussian_sigma(epsilon, delta)
    best = np.full(n, np.inf)
    for b in np.geomspace(0.01, 30, 30):
        shape = np.full(n, b)
        low, high = np.log(1e-3 * sigma), np.log(10 * max(b, 1.0) * sigma)
        # ends: halves to 1e-11, and takes the private end
        for _ in range(40):
            middle = 0.5 * (low + high)
            gamma = np.exp(middle)
            ok = _stable_profile(epsilon, shape * gamma, gamma) <= delta
            low, high = np.where(ok, low, middle), np.where(ok, middle, high)
        gamma = np.exp(high)
        private = _stable_profile(epsilon, shape * gamma, gamma) <= delta * (1 + 1e-9)
        variance = printed.variance(shape * gamma, gamma)
        best = np.minimum(best, np.where(private, variance, np.inf))
    alpha = sigma**2 * epsilon - 0.5
    margin = np.where(alpha > 0, alpha / sigma, 1 - best / sigma**2)
    return Outcome(margin, 0.0, {"epsilon": epsilon, "delta": delta})


def _stable_profile(epsilon: Array, alpha: Array, gamma: Array) -> Array:
    """Profile at sensitivity 1 from (15) and the tails."""
    d = np.ones_like(alpha)
    t = printed.centred_loss_inverse(epsilon, d, alpha, gamma)
    return tail(t - 0.5, alpha, gamma) - np.exp(epsilon) * tail(t + 0.5, alpha, gamma)


def probabilistic_privacy(rng: Generator, n: int) -> Outcome:
    """Slack of Remark 1: P(loss >= epsilon) is at least delta(epsilon), for abs(d) <= Delta.

    P(loss >= epsilon) is by quadrature from where the loss, bisected from its definition, reaches
    epsilon.
    """
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = _unpack(drawn)
    d = d * rng.uniform(0.05, 1, n)
    end = alpha + d + REACH * gamma
    t = bisect(lambda t: loss(t, d, alpha, gamma) > epsilon, -end, end)[1]
    edges = np.maximum(kinks(alpha, gamma, t), np.minimum(t, alpha + REACH * gamma)[:, None])
    beyond = mean(np.ones_like, alpha, gamma, edges)
    value = integrated_profile(epsilon, d, alpha, gamma)
    return Outcome(at_most(value, beyond), 1e-12, drawn | {"d": d})
