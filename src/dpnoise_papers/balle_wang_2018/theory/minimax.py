"""Checks of the risks that Section 4 of balle-wang-2018 quotes, over random parameters.

Bayes risk under a Gaussian prior, what can be improved at every f, and the risk of the soft
threshold on histograms and beside small balls. Rates Theta(.) and O(.) are in `orders`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.denoise.shrinkage import bayes_risk
from dpnoise_papers.balle_wang_2018.theory.denoising import threshold_risk
from dpnoise_papers.checks import REACH, Check, Outcome, at_most, column, equal, integrate

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


def _bayes_gaussian(rng: Generator, n: int) -> Outcome:
    """Return the error of the Bayes risk d w^2 sigma^2 / (w^2 + sigma^2).

    The posterior mean is an integral over the prior, at a random y. Gauss-Hermite nodes in f and in
    the noise are exact for the squared error of c y, c being that mean over y; other factors have
    to have a larger risk.
    """
    d, variance = rng.integers(3, 200, n), np.exp(rng.uniform(-6, 6, n))
    sigma = np.exp(rng.uniform(-2, 2, n))
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = np.outer(weights, weights) / (2 * math.pi)
    f = np.sqrt(variance)[:, None, None] * nodes[:, None]
    y = f + sigma[:, None, None] * nodes

    def risk(c: Array) -> Array:
        return d * (((c[:, None, None] * y - f) ** 2) * weights).sum(axis=(1, 2))

    seen = np.sqrt(variance + sigma**2) * rng.uniform(0.2, 3, n)
    factor = _posterior_mean(seen, np.sqrt(variance), sigma) / seen
    minimum = risk(factor)
    printed = [bayes_risk(int(k), w, s) for k, w, s in zip(d, variance, sigma, strict=True)]
    # The risk of the noisy answer is d sigma^2, and w^2/(w^2 + sigma^2) times that is printed.
    margin = [
        equal(minimum, np.array(printed), minimum),
        equal(minimum, variance / (variance + sigma**2) * risk(np.ones(n)), minimum),
        at_most(minimum, risk(factor * rng.uniform(0, 2, n)), minimum),
    ]
    drawn = {"d": d.astype(float), "prior_variance": variance, "sigma": sigma}
    return Outcome(np.min(margin, axis=0), 1e-10, drawn)


def _posterior_mean(y: Array, w: Array, sigma: Array) -> Array:
    """Return E[f | y] for f from N(0, w^2) and y from N(f, sigma^2), by quadrature."""
    start = np.maximum(-REACH * w, y - REACH * sigma)
    end = np.minimum(REACH * w, y + REACH * sigma)
    edges = np.stack([start, end], axis=1)

    def joint(f: Array) -> Array:
        return np.exp(-0.5 * (f / column(w)) ** 2 - 0.5 * ((column(y) - f) / column(sigma)) ** 2)

    mean = integrate(lambda f: f * joint(f), edges, parts=24)
    return np.asarray(mean / integrate(joint, edges, parts=24))


def sparse_counts_risk(
    rng: Generator,
    n: int,
    minimum: float = 0.0,
    maximum: float = math.log(1e6),
    largest: float = 3e3,
) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Risk of the threshold, d and min(s sigma^2, n^(1/k) sigma^(2-1/k)) at sigma = 1.

    Counts that fall like a power, cut off after s bins; `minimum` and `maximum` are the logarithms
    between which the items are drawn, in units of the noise, `largest` is the largest d.
    """
    d = np.floor(np.exp(rng.uniform(math.log(4), math.log(largest), n)))
    filled = np.ceil(d * rng.uniform(0, 1, n) ** 3)
    power, items = rng.uniform(1, 4, n), np.exp(rng.uniform(minimum, maximum, n))
    risk = np.empty(n)
    for i in range(n):
        order = np.arange(1, d[i] + 1)
        counts = np.where(order <= filled[i], items[i] * order ** -power[i], 0.0)
        threshold = np.full(counts.size, math.sqrt(2 * math.log(d[i])))
        risk[i] = threshold_risk(counts, threshold).sum()
    bound = np.minimum(filled, items ** (1 / power))
    return risk, d, bound, {"d": d, "s": filled, "k": power, "n": items}


def _naive_up_to_logarithms(rng: Generator, n: int) -> Outcome:
    """Return the slack of: its risk is at most d sigma^2, up to the factor 2 log d + 1."""
    risk, d, _, drawn = sparse_counts_risk(rng, n)
    bound = (2 * np.log(d) + 1) * d
    return Outcome(at_most(risk, bound, bound), 0.0, drawn)


def _naive(rng: Generator, n: int) -> Outcome:
    """Return the slack of: its risk is at most d sigma^2, that of the noisy histogram."""
    risk, d, _, drawn = sparse_counts_risk(rng, n)
    return Outcome(at_most(risk, d, d), 0.0, drawn)


def _no_uniform_gain(rng: Generator, n: int) -> Outcome:
    """Return the slack of: no estimator has a risk below (1 - share) d sigma^2 at every f.

    The largest risk of an estimator is at least its mean under a prior N(0, w^2 I), which is at
    least d w^2 sigma^2/(w^2 + sigma^2); with w^2 = sigma^2 (1 - share)/share that is the bound.
    """
    d, share = rng.integers(3, 200, n), np.exp(rng.uniform(math.log(1e-6), math.log(0.5), n))
    prior = (1 - share) / share
    reached = [bayes_risk(int(k), w, 1.0) for k, w in zip(d, prior, strict=True)]
    margin = at_most(1 - share, np.array(reached) / d)
    return Outcome(margin, 1e-10, {"d": d.astype(float), "share": share})


def _no_gain_anywhere(rng: Generator, n: int) -> Outcome:
    """Return the slack of: at d >= 3 the risk at every f is d sigma^2 or more, for James-Stein.

    Its risk at f is d - (d - 2)^2 E[1/(d - 2 + 2 N)] at sigma = 1, N Poisson with mean |f|^2/2.
    """
    d, far = rng.integers(3, 100, n).astype(float), np.exp(rng.uniform(-5, 5, n))
    count = np.arange(600.0)
    weight = np.exp(special.xlogy(count, far[:, None] / 2) - far[:, None] / 2
                    - special.gammaln(count + 1))  # fmt: skip
    inverse = (weight / (d[:, None] - 2 + 2 * count)).sum(axis=1)
    risk = d - (d - 2) ** 2 * inverse
    return Outcome(at_most(d, risk, d), 1e-10, {"d": d, "squared_length": far})


def _nearly_optimal(rng: Generator, n: int) -> Outcome:
    """Return the slack of: over an l2 ball the threshold's largest risk is 4.44 log(d) R(S).

    Against a lower bound on the former, the risk at 0 or at the end of an axis, and an upper bound
    on the latter, the least risk of c y: what fails here fails for certain.
    """
    d = np.floor(np.exp(rng.uniform(math.log(4), math.log(1e4), n)))
    radius = np.exp(rng.uniform(-8, 4, n))
    threshold = np.sqrt(2 * np.log(d))
    zero = threshold_risk(np.zeros(n), threshold)
    reached = np.maximum(d * zero, (d - 1) * zero + threshold_risk(radius, threshold))
    minimax = d * radius**2 / (d + radius**2)
    bound = 4.44 * np.log(d) * minimax
    return Outcome(1 - reached / bound, 0.0, {"d": d, "radius": radius})


def _inside_the_region(rng: Generator, n: int) -> Outcome:
    """Return the slack of sqrt(log d) <= B/sigma at B = sigma, of footnote 4, over d >= 3."""
    d = np.floor(np.exp(rng.uniform(math.log(3), math.log(1e6), n)))
    return Outcome(at_most(np.sqrt(np.log(d)), 1.0), 0.0, {"d": d})


CHECKS = (
    Check("section-4-bayes-risk", "Section 4, below Theorem 10",
          "under N(0, w^2 I) the Bayes risk is d w^2 sigma^2/(w^2 + sigma^2), a factor "
          "w^2/(w^2 + sigma^2) below that of the noisy answer", "cited", _bayes_gaussian),
    Check("section-4-uniform", "Section 4, third paragraph",
          "no estimator has a risk below a fixed share of d sigma^2 at every f", "complete",
          _no_uniform_gain),
    Check("section-4-uniform-literal", "Section 4, third paragraph",
          "at d >= 3 no estimator has a risk below d sigma^2 at every f",
          "false: James-Stein has, as Theorem 11 says", _no_gain_anywhere),
    Check("section-4-region", "Section 4, footnote 4",
          "p = 1, B = sigma lies where sqrt(log d) <= B/sigma",
          "false: only at d <= e", _inside_the_region),
    Check("section-4-nearly-optimal", "Theorem 12, below it",
          "over every l2 ball the largest risk of the soft threshold is at most 4.44 log(d) R(S)",
          "false: Theorem 12 adds (2 log d + 1) sigma^2, and R(S) is at most B^2",
          _nearly_optimal),
    Check("section-4-histogram-naive", "Section 4, end",
          "on histograms the soft threshold has a lower risk than the naive release, all d, n, s",
          "false: with all bins far from 0 the risk is d sigma^2 (1 + 2 log d)", _naive, 0.1),
    Check("section-4-histogram-naive-logarithm", "Section 4, end",
          "on histograms the soft threshold has at most 2 log d + 1 times the risk of the naive "
          "release", "complete",
          _naive_up_to_logarithms, 0.1),
)  # fmt: skip
