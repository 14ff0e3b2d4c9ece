"""Checks of what inid-2024 says on privacy, over random parameters.

Lemmas 3 and 11, Remark 3, Corollary 6, Algorithm 1 and the sentences around them. A profile is
compared with quadrature or with `vector_profile`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.checks import (
    REACH,
    Check,
    Outcome,
    at_most,
    column,
    equal,
    integrate,
)
from dpnoise_papers.inid_2024.as_printed import algorithm_1, printed_bracket, valid_bracket
from dpnoise_papers.inid_2024.theory.tools import budgets, draw_sensitivities, log_uniform

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


_TOLERANCE = 1e-12  # of Algorithm 1, which prints none


def _fisher(rng: Generator, n: int) -> Outcome:
    """Error of 2 for the Fisher information of Laplace over Gaussian noise."""
    deviation = log_uniform(rng, 1e-2, 1e2, n)
    ratio = [
        Laplace(s / math.sqrt(2)).fisher_information() / Gaussian(s).fisher_information()
        for s in deviation
    ]
    return Outcome(equal(np.array(ratio), 2.0), 1e-12, {"standard_deviation": deviation})


def _box_profile(rng: Generator, n: int) -> Outcome:
    """Slack of Lemma 3: delta at a random d of the box, by quadrature over T_1."""
    epsilon, mu = log_uniform(rng, 0.05, 5, n), log_uniform(rng, 0.1, 4, n)
    angle, inside = rng.uniform(0.1, 1.4, n), rng.uniform(0.05, 1, (2, n))
    inside[:, ::4] = 1.0  # the corner, where (6) is claimed to be tight
    whole = np.stack([mu * np.cos(angle), mu * np.sin(angle)])  # lambda_i / sigma_i
    one, two = (column(m) for m in whole * inside)
    e = column(epsilon)

    def density(t: Array) -> Array:
        rest = e - t * one - 0.5 * one * one  # what the second coordinate may still lose
        tail = special.ndtr(0.5 * two - rest / two)
        other = np.exp(rest + special.log_ndtr(-0.5 * two - rest / two))
        return (tail - other) * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)

    ends = np.full(n, REACH + 5.0)
    places = np.stack([-ends, ends, 0 * ends, epsilon / whole[0]], axis=1)
    edges = np.clip(places, -ends[:, None], ends[:, None])
    left = integrate(density, edges, parts=24)
    right = np.exp(gaussian_log_delta(mu, epsilon))
    corner = np.all(inside == 1.0, axis=0)
    margin = np.where(corner, equal(left, right), at_most(left, right))
    return Outcome(margin, 1e-10, {"epsilon": epsilon, "mu": mu, "corner": corner.astype(float)})


def _profile_grows(rng: Generator, n: int) -> Outcome:
    """Growth of log phi per step of 1e-3 in log a (Lemma 11)."""
    epsilon, a = rng.uniform(0, 20, n), log_uniform(rng, 1e-2, 20, n)
    grows = gaussian_log_delta(a * math.exp(1e-3), epsilon) - gaussian_log_delta(a, epsilon)
    return Outcome(np.where(grows > 0.0, grows, -1.0), 0.0, {"epsilon": epsilon, "a": a})


def _profile_slope(rng: Generator, n: int) -> Outcome:
    """Error of phi'(a) = density(epsilon/a - a/2), with phi by central differences."""
    epsilon, a = rng.uniform(0, 5, n), rng.uniform(0.3, 4, n)
    h = 1e-4

    def phi(x: Array) -> Array:
        return np.exp(gaussian_log_delta(x, epsilon))

    slope = (8 * (phi(a + h) - phi(a - h)) - phi(a + 2 * h) + phi(a - 2 * h)) / (12 * h)
    density = np.exp(-0.5 * (epsilon / a - a / 2) ** 2) / math.sqrt(2 * math.pi)
    return Outcome(equal(slope, density), 1e-9, {"epsilon": epsilon, "a": a})


def _pure(rng: Generator, n: int) -> Outcome:
    """Slack of the largest loss over epsilon with random scales that spend epsilon.

    The loss is epsilon at a corner of the box, with the noise beyond it on the same side; that a
    budget exceeded by one in 1e6 is noticed there is part of the trial.
    """
    drawn = {"epsilon": log_uniform(rng, 1e-2, 10, n), "K": rng.integers(1, 6, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        s, epsilon = draw_sensitivities(rng, int(drawn["K"][k])), drawn["epsilon"][k]
        parts = rng.dirichlet(np.ones(len(s)))
        beta = s / (epsilon * parts)
        points = 3 * s * rng.standard_normal((50, len(s)))
        apart = s * rng.uniform(-1, 1, (50, len(s)))
        corner = s * rng.choice([-1.0, 1.0], len(s))
        points[0], apart[0] = rng.uniform(0.0, 3.0) * corner, corner
        loss = ((np.abs(points + apart) - np.abs(points)) / beta).sum(axis=1) / epsilon
        attained = (1.0 + 1e-6) * loss[0] > 1.0
        margin[k] = 1.0 - loss.max() if attained else -1.0
    return Outcome(margin, 1e-12, drawn)


def _enough(rng: Generator, n: int) -> Outcome:
    """Slack of log delta at the worst neighbour with the scales of Theorem 4."""
    drawn = budgets(rng, n) | {"K": rng.integers(1, 6, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        noise = [Gaussian(x) for x in allocate(s, epsilon=epsilon, delta=delta)]
        margin[k] = math.log(delta) - vector_profile(noise, list(s), epsilon).log_estimate
    return Outcome(margin, 1e-9, drawn)


def _needed(rng: Generator, n: int) -> Outcome:
    """How much the budget is missed with scales of Theorems 4 and 5 cut by one in 1e6."""
    drawn = budgets(rng, n) | {"K": rng.integers(1, 6, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        sigma = allocate(s, epsilon=epsilon, delta=delta)
        beta = allocate(s, noise="laplace", epsilon=epsilon)
        over = gaussian_log_delta(np.linalg.norm(s / sigma) * (1 + 1e-6), epsilon) - math.log(delta)
        # A point outside the box has the greatest loss; the box is open to both sides.
        loss = sum(
            float(Laplace(b * (1 - 1e-6)).logpdf(0.3 * x) - Laplace(b * (1 - 1e-6)).logpdf(1.3 * x))
            for b, x in zip(beta, s, strict=True)
        )
        margin[k] = min(float(over), loss / epsilon - 1.0) - 1e-7
    return Outcome(margin, 0.0, drawn)


def _scales_of_corollary_6(rng: Generator, n: int, factor: float) -> Outcome:
    """Slack of log delta with the scales of Corollary 6, or with log(1 - delta) doubled there."""
    drawn = {
        "epsilon": log_uniform(rng, 0.1, 5, n), "delta": log_uniform(rng, 1e-8, 0.3, n),
        "K": rng.integers(1, 6, n).astype(float),
    }  # fmt: skip
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(drawn["K"][k]))
        scales = np.cbrt(s) * np.sum(np.cbrt(s) ** 2) / (epsilon - factor * math.log1p(-delta))
        profile = vector_profile([Laplace(b) for b in scales], list(s), epsilon)
        margin[k] = math.log(delta) - profile.log_estimate
    return Outcome(margin, 1e-6, drawn)


def _footnote_5(rng: Generator, n: int) -> Outcome:
    """Slack of 1/(epsilon - log(1 - delta)) <= 1/(epsilon + delta) <= 1/epsilon."""
    epsilon, delta = log_uniform(rng, 1e-3, 10, n), log_uniform(rng, 1e-12, 0.9, n)
    first, second = 1 / (epsilon - np.log1p(-delta)), 1 / (epsilon + delta)
    margin = np.minimum(at_most(first, second, second), at_most(second, 1 / epsilon, second))
    return Outcome(margin, 1e-15, {"epsilon": epsilon, "delta": delta})


def _footnote_5_close(rng: Generator, n: int) -> Outcome:
    """Slack of (1/epsilon) / (1/(epsilon - log(1 - delta))) <= 1.1 for delta <= epsilon / 100."""
    epsilon = log_uniform(rng, 1e-3, 10, n)
    delta = np.minimum(epsilon * log_uniform(rng, 1e-9, 0.01, n), 0.9)
    margin = 1.1 - (1.0 - np.log1p(-delta) / epsilon)
    return Outcome(margin, 0.0, {"epsilon": epsilon, "delta": delta})


def _any_budget(rng: Generator, n: int) -> tuple[Array, Array]:
    epsilon = np.where(rng.random(n) < 0.05, 0.0, log_uniform(rng, 1e-3, 1e3, n))
    delta = np.where(rng.random(n) < 0.5, log_uniform(rng, 1e-12, 0.5, n), rng.uniform(0, 1, n))
    return epsilon, delta


def _printed_ends(rng: Generator, n: int) -> Outcome:
    """Slack of mu_l <= mu_0 <= mu_u for delta below 1/2 and epsilon to 600, where both exist."""
    epsilon = np.where(rng.random(n) < 0.05, 0.0, log_uniform(rng, 1e-3, 600, n))
    delta = log_uniform(rng, 1e-12, 0.49, n)
    low, high = printed_bracket(epsilon, delta)
    root = 1.0 / gaussian_sigma(epsilon, delta)
    margin = np.minimum(at_most(low, root, root), at_most(root, high, root))
    return Outcome(margin, 1e-7, {"epsilon": epsilon, "delta": delta})  # R(y) cancels


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


def _algorithm_is_private(rng: Generator, n: int) -> Outcome:
    """Slack of log delta at the mu that Algorithm 1 gives in double precision."""
    epsilon, delta = _any_budget(rng, n)
    epsilon = np.maximum(epsilon, 1e-3)  # towards 0 the two terms of phi cancel
    mu, _ = algorithm_1(epsilon, delta, tolerance=_TOLERANCE)
    margin = np.ones(n)
    ran = np.isfinite(mu)
    margin[ran] = np.log(delta[ran]) - gaussian_log_delta(mu[ran], epsilon[ran])
    return Outcome(margin, 1e-9, {"epsilon": epsilon, "delta": delta})


def _halvings(rng: Generator, n: int) -> Outcome:
    """One less the distance of the count of halvings from log2(length / tolerance)."""
    epsilon, delta = log_uniform(rng, 1e-2, 100, n), log_uniform(rng, 1e-9, 0.3, n)
    low, high = printed_bracket(epsilon, delta)
    _, count = algorithm_1(epsilon, delta, tolerance=1e-10)
    expected = np.log2((high - low) / 1e-10)
    margin = np.where(np.isfinite(high), 1.001 - np.abs(count - expected), 1.0)
    return Outcome(margin, 0.0, {"epsilon": epsilon, "delta": delta})


CHECKS = (
    Check("introduction-fisher", "Section I-B",
          "the Fisher information of Laplace noise is twice that of Gaussian noise of the same "
          "variance", "complete", _fisher, 0.05),
    Check("lemma-3", "Lemma 3",
          "i.n.i.d. Gaussian noise is (epsilon, delta)-DP under (6); at the corner of the box it "
          "is an equality", "complete", _box_profile),
    Check("lemma-11", "Lemma 11", "phi_epsilon(a) is increasing", "complete", _profile_grows),
    Check("lemma-11-slope", "Lemma 11, proof", "its slope is the density at epsilon/a - a/2",
          "complete", _profile_slope),
    Check("theorem-5-private", "Theorem 5, proof",
          "Laplace noise with sum lambda / beta <= epsilon is epsilon-DP", "complete", _pure, 0.1),
    Check("remark-3-enough", "Remark 3", "the scales of Theorem 4 are (epsilon, delta)-DP",
          "complete", _enough, 0.1),
    Check("remark-3-needed", "Remark 3",
          "where coordinates are decoupled, smaller scales in the directions of Theorems 4 and 5 "
          "break their guarantees", "complete", _needed, 0.05),
    Check("corollary-6", "Corollary 6",
          "beta_i = lambda_i^(1/3) sum lambda_j^(2/3) / (epsilon - log(1 - delta)) is "
          "(epsilon, delta)-DP",
          "complete but for two misprints: [.]_+ is dropped where the sum is at least epsilon, and "
          "the sum may be at most epsilon - log(1 - delta)",
          partial(_scales_of_corollary_6, factor=1.0), 0.1),
    Check("corollary-6-doubled", "Corollary 6, beyond it",
          "so is epsilon - 2 log(1 - delta), which is exact for one coordinate",
          "none given", partial(_scales_of_corollary_6, factor=2.0), 0.1),
    Check("footnote-5", "Section III-B, footnote 5",
          "1/(epsilon - log(1 - delta)) <= 1/(epsilon + delta) <= 1/epsilon", "none given",
          _footnote_5),
    Check("footnote-5-close", "Section III-B, footnote 5",
          "for delta of at most epsilon / 100 they differ by at most 10 %", "none given",
          _footnote_5_close),
    Check("algorithm-1-bracket", "Appendix B",
          "mu_l <= mu_0 <= mu_u for delta below 1/2 and epsilon to 600, where both exist",
          "complete", _printed_ends),
    Check("algorithm-1-input", "Algorithm 1, line 1",
          "it takes any epsilon >= 0 and any delta in [0, 1]",
          "false: delta' = delta + e^epsilon Q(sqrt(2 epsilon)) must be below 1, e^epsilon must "
          "not overflow, and at delta = 0 there is no root", _printed_ends_exist),
    Check("algorithm-1-input-corrected", "Algorithm 1, corrected",
          "max(mu_l, 2 z) <= mu_0 <= z + sqrt(z^2 + 2 epsilon), z = sqrt(2) erfinv(delta), for "
          "any epsilon >= 0 and 0 < delta < 1", "complete (module inid_algorithm_1)", _valid_ends),
    Check("algorithm-1-private", "Algorithm 1, Appendix B",
          "its output, the lower end, meets phi(mu) <= delta (double precision, tolerance 1e-12, "
          "epsilon >= 1e-3)",
          "complete but for rounding, which Q by relative error keeps below 1e-9 of log delta",
          _algorithm_is_private),
    Check("algorithm-1-iterations", "Appendix B",
          "it ends after log2((mu_u - mu_l)/tolerance) halvings, rounded up", "complete",
          _halvings, 0.5),
)  # fmt: skip
