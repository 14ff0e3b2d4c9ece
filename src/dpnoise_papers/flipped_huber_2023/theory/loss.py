"""Checks of the privacy loss, Appendix C: its pieces, its inverse and its affine bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import Check, Outcome, at_most, equal
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.theory.noise import draw_scalar

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


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
    """Error of (15): the loss at the inverse is nu again.

    For alpha > d the loss is level from d / 2 to alpha - d / 2. Just above its height the inverse,
    the last point where the loss is at most nu, has to lie beyond alpha - d / 2.
    """
    drawn = draw_scalar(rng, n)
    epsilon, d, alpha, gamma = (drawn[k] for k in ("epsilon", "sensitivity", "alpha", "gamma"))
    nu = epsilon * np.where(rng.random(n) < 0.5, -1, 1)
    t = printed.centred_loss_inverse(nu, d, alpha, gamma)
    margin = equal(loss(t - d / 2, d, alpha, gamma), nu, 1 + np.abs(nu))
    height = alpha * d / gamma**2 * (1 + 1e-12)
    beyond = printed.centred_loss_inverse(height, d, alpha, gamma) - (alpha - d / 2)
    margin = np.where(alpha > d, np.minimum(margin, beyond / alpha), margin)
    return Outcome(margin, 1e-9, drawn | {"nu": nu})


def ridge(rng: Generator, n: int) -> Outcome:
    """Slack of the affine bound on the centred loss, Appendix C, for |d| <= Delta."""
    drawn, t, d = _draw_loss(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    whole = np.abs(d) / rng.uniform(0.05, 1, n)
    right = t * d / gamma**2 + printed.transition_cost(alpha, whole) / (2 * gamma**2)
    left = loss(t - d / 2, d, alpha, gamma)
    margin = at_most(left, right, 1 + np.abs(left))
    return Outcome(margin, 1e-11, drawn | {"t": t, "d": d, "sensitivity": whole})


def ridge_point(rng: Generator, n: int) -> Outcome:
    """Error of the printed height of the ridge at t = d/2."""
    drawn = draw_scalar(rng, n)
    d, alpha, gamma = (drawn[k] for k in ("sensitivity", "alpha", "gamma"))
    value = loss(0 * d, d, alpha, gamma)
    formula = (d**2 + printed.transition_cost(alpha, d)) / (2 * gamma**2)
    return Outcome(equal(formula, value, value), 1e-11, drawn)


def cost_monotone(rng: Generator, n: int) -> Outcome:
    """Slack of: R_d(alpha) does not fall as d grows, and rises with alpha by more than 1e-6 of it.

    alpha is compared with alphas that are larger by a hundredth or more; the larger ones are at
    most a hundred times d, so that the relative rise is not lost.
    """
    d = np.sort(np.exp(rng.uniform(-4, 4, (2, n))), axis=0)
    alpha = d[0] * np.exp(rng.uniform(-4, 4, n))
    more = alpha * (1.01 + rng.exponential(size=n))
    value = printed.transition_cost(alpha, d[0])
    slack = np.minimum(
        at_most(value, printed.transition_cost(alpha, d[1]), value) + 1e-12,
        at_most(value, printed.transition_cost(more, d[0]), value) - 1e-6,
    )
    return Outcome(slack, 0.0, {"alpha": alpha, "d": d[0], "larger_d": d[1]})


def cost_inverse(rng: Generator, n: int) -> Outcome:
    """Error of (21) as the inverse of R_Delta, of alpha and of its value."""
    drawn = draw_scalar(rng, n)
    alpha, d = drawn["alpha"], drawn["sensitivity"]
    back = printed.transition_inverse(printed.transition_cost(alpha, d), d)
    nu = d**2 * np.exp(rng.uniform(-5, 5, n))
    forth = printed.transition_cost(printed.transition_inverse(nu, d), d)
    margin = np.minimum(equal(back, alpha, alpha), equal(forth, nu, nu))
    return Outcome(margin, 1e-9, {"alpha": alpha, "sensitivity": d, "nu": nu})


CHECKS = (
    Check("equation-25", "Appendix C, (25)", "the centred privacy loss has five pieces",
          "complete", loss_pieces),
    Check("equation-25-symmetry", "Appendix C",
          "the centred loss is odd in t and in d and monotone in t", "complete", loss_symmetry),
    Check("equation-15", "Theorem 3, (15)", "(15) is the inverse of the centred loss",
          "complete", loss_inverse),
    Check("equation-18-affine-bound", "Appendix C",
          "the centred loss is at most t d / gamma^2 + R_Delta(alpha) / (2 gamma^2)",
          "complete", ridge),
    Check("equation-18-ridge", "Appendix C", "height of the ridge at t = d / 2", "complete",
          ridge_point),
    Check("equation-18-monotone", "Appendix C and below Lemma 5",
          "R_d(alpha) rises with alpha and does not fall as d grows", "complete", cost_monotone),
    Check("equation-21", "Section IV-B, (21)", "(21) is the inverse of R_Delta", "complete",
          cost_inverse),
)  # fmt: skip
