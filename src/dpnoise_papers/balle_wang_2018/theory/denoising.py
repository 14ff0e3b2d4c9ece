"""Checks of Section 4 of balle-wang-2018: Theorems 10, 11 and 12, over random parameters.

Risks are integrals by quadrature or Poisson sums of the estimators' definitions; none uses
Stein's identity, by which the closed forms are derived.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.denoise.shrinkage import bayes_risk, james_stein_bayes_risk
from dpnoise_papers.checks import (
    REACH,
    Check,
    Outcome,
    at_most,
    column,
    equal,
    integrate,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array

_FACTOR = 2.22  # of Theorem 12
_COUNTS = 6000.0  # of a Poisson variable with mean 5000 or less
_SMALL = 0.01  # difference between the posterior mean and estimators close to it


def _posterior_mean(rng: Generator, n: int) -> Outcome:
    """Return what other estimators lose on the posterior mean, for priors of three atoms.

    The last two lie close to it, on either side: by what they lose it is the only minimum.
    """
    atoms, weights = rng.uniform(-4, 4, (n, 3)), rng.dirichlet(np.ones(3), n)
    sigma = rng.uniform(0.3, 3, n)
    s = column(sigma)

    def joint(y: Array) -> list[Array]:
        """Return the density of y together with each atom."""
        return [
            column(weights[:, k]) * np.exp(-0.5 * ((y - column(atoms[:, k])) / s) ** 2)
            / (math.sqrt(2 * math.pi) * s)
            for k in range(3)
        ]  # fmt: skip

    def posterior(y: Array) -> Array:
        parts = joint(y)
        weighted = [column(atoms[:, k]) * part for k, part in enumerate(parts)]
        return reduce(add, weighted) / reduce(add, parts)

    end = 4 + REACH * sigma
    edges = np.stack([-end, *np.sort(atoms, axis=1).T, end], axis=1)

    def risk(estimate: Callable[[Array], Array]) -> Array:
        def loss(y: Array) -> Array:
            guess = estimate(y)
            parts = enumerate(joint(y))
            return reduce(add, [part * (column(atoms[:, k]) - guess) ** 2 for k, part in parts])

        return integrate(loss, edges, parts=12)

    slope, level, threshold = rng.random(n), rng.normal(0, 1, n), rng.uniform(0, 3, n)
    small, phase = column(_SMALL * (1 + rng.random(n))), column(rng.uniform(0, 2 * math.pi, n))
    others = (
        lambda y: column(slope) * y + column(level),
        lambda y: np.sign(y) * np.maximum(np.abs(y) - column(threshold), 0),
        lambda y: posterior(y) + small * (1.1 + np.cos(y + phase)),
        lambda y: posterior(y) - small * (1.1 + np.cos(y + phase)),
    )
    minimum = risk(posterior)
    margin = np.min([at_most(minimum, risk(other)) for other in others], axis=0)
    margin = margin - (0.1 * _SMALL) ** 2 / 2  # what the last two lose at least
    return Outcome(margin, 0.0, {"sigma": sigma, "slope": slope, "threshold": threshold})


def _prior(rng: Generator, n: int) -> tuple[Array, Array, dict[str, Array]]:
    """Return dimensions, prior variances at sigma = 1, and both by name."""
    d, variance = rng.integers(3, 200, n).astype(float), np.exp(rng.uniform(-6, 6, n))
    return d, variance, {"d": d, "prior_variance": variance}


def _radial(d: Array, function: Callable[[Array], Array]) -> Array:
    """Return the mean of a function of the length of a d-dimensional unit normal."""
    log_norm = column((d / 2 - 1) * math.log(2) + special.gammaln(d / 2))

    def integrand(t: Array) -> Array:
        log_density = (column(d) - 1) * np.log(t) - 0.5 * t * t - log_norm
        return np.exp(log_density) * function(t)

    middle = np.sqrt(d)
    start = np.maximum(middle - REACH, 1e-14)
    return integrate(integrand, np.stack([start, middle, middle + REACH], axis=1), parts=12)


def _james_stein_mean_risk(d: Array, variance: Array) -> Array:
    """Return the Bayes MSE of James-Stein at sigma = 1 from its definition.

    Given y, f is N(b y, b I) with b = w^2/(w^2 + 1), so that the estimate c y has mean squared
    error d b + (b - c)^2 |y|^2, and |y| = sqrt(w^2 + 1) t.
    """
    a = column(d) - 2
    spread = _radial(d, lambda t: (a / t - t) ** 2)  # (b - c)^2 |y|^2, but for w^2 + 1
    return (d * variance + spread) / (variance + 1)


def _printed_risk(d: int, prior_variance: float, sigma: float) -> float:
    """Risk of James-Stein as Theorem 11 prints it, with ((d - 2) / d)^2 for (d - 2) / d."""
    variance, factor = sigma**2, (d - 2) / d
    return d * variance * (1.0 - factor * factor * (variance / (prior_variance + variance)))


def _mse(rng: Generator, n: int, risk: Callable[[int, float, float], float]) -> Outcome:
    """Return the relative error of a closed form of the MSE of James-Stein."""
    d, variance, drawn = _prior(rng, n)
    claimed = [risk(int(k), w, 1.0) for k, w in zip(d, variance, strict=True)]
    exact = _james_stein_mean_risk(d, variance)
    return Outcome(equal(np.array(claimed), exact, exact), 1e-9, drawn)


def _james_stein_corrected(rng: Generator, n: int) -> Outcome:
    """Return the relative error with the factor (d - 2)/d."""
    return _mse(rng, n, james_stein_bayes_risk)


def _james_stein_factor(rng: Generator, n: int) -> Outcome:
    """Return the slack of: the MSE is within d^2/(d - 2)^2 of the Bayes risk."""
    d, variance, drawn = _prior(rng, n)
    bayes = [bayes_risk(int(k), w, 1.0) for k, w in zip(d, variance, strict=True)]
    ratio = _james_stein_mean_risk(d, variance) / np.array(bayes)
    return Outcome(at_most(ratio, (d / (d - 2)) ** 2), 1e-9, drawn)


def _james_stein_likelihood(rng: Generator, n: int) -> Outcome:
    """Return the slack in log likelihood of: w^2 + sigma^2 = |y|^2/(d - 2) is the maximum."""
    d, variance, drawn = _prior(rng, n)
    squared = (variance + 1) * rng.chisquare(d)

    def likelihood(total: Array) -> Array:
        return -0.5 * d * np.log(total) - 0.5 * squared / total

    return Outcome(at_most(likelihood(squared / d), likelihood(squared / (d - 2))), 1e-12, drawn)


def _james_stein_unbiased(rng: Generator, n: int) -> Outcome:
    """Return the relative error of: (d - 2)/|y|^2 is an unbiased estimate of 1/(w^2 + sigma^2)."""
    d, variance, drawn = _prior(rng, n)
    inverse = (d - 2) * _radial(d, lambda t: 1 / t**2) / (variance + 1)
    return Outcome(equal(inverse, 1 / (variance + 1), 1 / (variance + 1)), 1e-9, drawn)


def _james_stein_gain(rng: Generator, n: int) -> Outcome:
    """Return the slack of: the improvement over y is within d/(d - 2) of the Bayes estimator's."""
    d, variance, drawn = _prior(rng, n)
    bayes = [bayes_risk(int(k), w, 1.0) for k, w in zip(d, variance, strict=True)]
    gain = d - _james_stein_mean_risk(d, variance)
    return Outcome(at_most((d - np.array(bayes)) / gain, d / (d - 2)), 1e-6, drawn)


def _james_stein_improves(rng: Generator, n: int) -> Outcome:
    """Return the slack of: at every f the risk of James-Stein is below d sigma^2.

    With a = d - 2 and l = |f|^2 the definition gives the risk
    d - 2 a + 2 a l E[1/X_{d+2}] + a^2 E[1/X_d] at sigma = 1, where X_d is chi-square with
    non-centrality l: a Poisson mixture, E[1/X_d] = E[1/(d - 2 + 2 N)].
    """
    d = np.floor(np.exp(rng.uniform(math.log(3), math.log(1000), n)))
    far = np.exp(rng.uniform(math.log(1e-4), math.log(1e4), n))
    count = np.arange(_COUNTS)
    weight = np.exp(special.xlogy(count, far[:, None] / 2) - far[:, None] / 2
                    - special.gammaln(count + 1))  # fmt: skip
    inverse = [(weight / (e[:, None] - 2 + 2 * count)).sum(axis=1) for e in (d, d + 2)]
    a = d - 2
    risk = d - 2 * a + 2 * a * far * inverse[1] + a * a * inverse[0]
    return Outcome(at_most(risk, d, d), 0.0, {"d": d, "squared_length": far})


def threshold_risk(mean: Array, threshold: Array) -> Array:
    """Mean squared errors of the soft threshold at unit noise, in closed form."""

    def half(m: Array) -> Array:
        x = threshold - m
        density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        # Above the threshold the error is z - threshold, z > x.
        return (1 + threshold**2) * special.ndtr(-x) + (x - 2 * threshold) * density

    inside = special.ndtr(threshold - mean) - special.ndtr(-threshold - mean)
    return half(mean) + half(-mean) + mean**2 * inside


def two_point_risk() -> tuple[Array, Array]:
    """Lower bound on the minimax risk over |mean| <= t at unit noise, on 1201 points t.

    The Bayes risk of the prior on +-t is t^2 (1 - E tanh(t (t + Z))); the risk over a longer
    interval is no less.
    """
    t = np.linspace(0, 3, 1201)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    mean = np.tanh(t[:, None] * (t[:, None] + nodes)) @ weights / math.sqrt(2 * math.pi)
    return t, np.maximum.accumulate(t * t * (1 - mean))


def _soft_threshold_bound(rng: Generator, n: int) -> Outcome:
    """Return the relative slack of Theorem 12 at random points f.

    A ball that holds f holds all points with |f_i| or less in each coordinate, so that R(S) is
    at least the sum of the one-dimensional minimax risks over |mean| <= |f_i|.
    """
    grid, bound_at = two_point_risk()
    margin, dimension = np.empty(n), np.floor(np.exp(rng.uniform(0, math.log(1e4), n)))
    for k, d in enumerate(dimension.astype(int)):
        decay, scale = rng.uniform(0, 3), math.exp(rng.uniform(-2, 2.5))
        size = scale * np.arange(1, d + 1.0) ** -decay * rng.choice([0.3, 1.0, 1.0], d)
        threshold = math.sqrt(2 * math.log(d))
        place = np.searchsorted(grid, np.minimum(size, grid[-1]), side="right") - 1
        minimax = bound_at[place].sum()
        bound = (2 * math.log(d) + 1) * (1 + _FACTOR * minimax)
        margin[k] = 1 - threshold_risk(size, np.full(d, threshold)).sum() / bound
    return Outcome(margin, 1e-12, {"d": dimension})


CHECKS = (
    Check("theorem-10", "Theorem 10", "the posterior mean has the least mean squared error",
          "complete", _posterior_mean, 0.1),
    Check("theorem-11", "Theorem 11",
          "the MSE of James-Stein is d sigma^2 (1 - (d-2)^2/d^2 sigma^2/(w^2 + sigma^2))",
          "misprint: the factor is (d-2)/d", partial(_mse, risk=_printed_risk)),
    Check("theorem-11-corrected", "Theorem 11, corrected",
          "the MSE of James-Stein is d sigma^2 (1 - (d-2)/d sigma^2/(w^2 + sigma^2))",
          "complete", _james_stein_corrected),
    Check("theorem-11-factor", "Theorem 11, below it",
          "the risk of James-Stein is within d^2/(d-2)^2 of the Bayes risk for any w^2",
          "false: it exceeds it by 2 sigma^4/(w^2 + sigma^2), the factor 1 + 2 sigma^2/(d w^2), "
          "which is unbounded as w -> 0", _james_stein_factor),
    Check("theorem-11-gain", "Theorem 11, below it, of the improvement",
          "the improvement of James-Stein over the noisy answer is within d/(d-2) of that of the "
          "Bayes estimator for any w^2", "complete", _james_stein_gain),
    Check("theorem-11-likelihood", "Theorem 11, proof",
          "the maximum likelihood estimate of w^2 is |y|^2/(d-2) - sigma^2",
          "false: it is |y|^2/d - sigma^2; the density of |y|^2 lacks its factor "
          "1/(w^2 + sigma^2)", _james_stein_likelihood),
    Check("theorem-11-unbiased", "Theorem 11, proof, corrected",
          "(d-2)/|y|^2 is the unbiased estimate of 1/(w^2 + sigma^2)", "complete",
          _james_stein_unbiased),
    Check("theorem-11-improves", "Theorem 11, below it",
          "James-Stein improves on the noisy answer at every f when d >= 3", "cited",
          _james_stein_improves, 0.15),
    Check("theorem-12", "Theorem 12",
          "the soft threshold sigma sqrt(2 log d) has risk at most (2 log d + 1)(sigma^2 + "
          "2.22 R(S))", "cited", _soft_threshold_bound, 0.25),
)  # fmt: skip
