"""Checks of the risks that Section 4 of balle-wang-2018 quotes, over random parameters.

Bayes risk under a Gaussian prior, minimax rates over l_p balls with p >= 2, and the risk of the
soft threshold on histograms. Rates Theta(.) and O(.) are read with the constant 10. Equation (7),
the rate for p < 2, is cited and not checked here, but for histograms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.denoise.shrinkage import bayes_risk
from dpnoise_papers.balle_wang_2018.theory.denoising import threshold_risk, two_point_risk
from dpnoise_papers.checks import Check, Outcome, at_most, equal

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array

_CONSTANT = 10.0


def _bayes_gaussian(rng: Generator, n: int) -> Outcome:
    """Return the error of the Bayes risk d w^2 sigma^2 / (w^2 + sigma^2), by cubature.

    Gauss-Hermite nodes in f and in the noise are exact for the squared error of c y; besides the
    posterior mean's factor c, others have to have a larger risk.
    """
    d, variance = rng.integers(3, 200, n), np.exp(rng.uniform(-6, 6, n))
    sigma = np.exp(rng.uniform(-2, 2, n))
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = np.outer(weights, weights) / (2 * math.pi)
    f = np.sqrt(variance)[:, None, None] * nodes[:, None]
    y = f + sigma[:, None, None] * nodes

    def risk(c: Array) -> Array:
        return d * (((c[:, None, None] * y - f) ** 2) * weights).sum(axis=(1, 2))

    factor = variance / (variance + sigma**2)
    minimum = risk(factor)
    printed = [bayes_risk(int(k), w, s) for k, w, s in zip(d, variance, sigma, strict=True)]
    # The factor is also the gain over the noisy answer, whose risk is d sigma^2.
    margin = [
        equal(minimum, np.array(printed), minimum),
        equal(minimum, factor * risk(np.ones(n)), minimum),
        at_most(minimum, risk(factor * rng.uniform(0, 2, n)), minimum),
    ]
    drawn = {"d": d.astype(float), "prior_variance": variance, "sigma": sigma}
    return Outcome(np.min(margin, axis=0), 1e-10, drawn)


def _ball(rng: Generator, n: int, p: Array) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Return d, B at sigma = 1 and bounds on the minimax risk of l_p balls with p >= 2.

    The ball holds the cube of half side t = B d^(-1/p), whose minimax risk is d times that of
    one coordinate, and it lies in the l2 ball of radius t sqrt d, where c y has risk at most
    d t^2 / (1 + t^2) at c = t^2 / (1 + t^2).
    """
    d = np.floor(np.exp(rng.uniform(0, math.log(1e4), n)))
    side = np.exp(rng.uniform(-4, 3, n))
    radius = side * d ** (1 / p)
    grid, bound = two_point_risk()
    place = np.searchsorted(grid, np.minimum(side, grid[-1]), side="right") - 1
    low, high = d * bound[place], d * side**2 / (1 + side**2)
    # Between 0 and the first point of the grid: the risk of two points is side^2 (1 - side^2) or
    # more.
    low = np.where(side < 0.1, d * side**2 * (1 - side**2), low)
    return radius, low, high, {"d": d, "p": p, "radius": radius}


def _rate(claimed: Array, low: Array, high: Array) -> Array:
    """Return the slack of: the risk is within the constant of the claimed rate."""
    above = np.log(_CONSTANT * claimed / low)  # R <= C rate, so that the lower bound is
    below = np.log(_CONSTANT * high / claimed)  # R >= rate / C, so that the upper bound is
    return np.minimum(above, below)


def _rate_printed(rng: Generator, n: int) -> Outcome:
    """Return the slack of R = Theta(B^2 sigma^2/(sigma^2 + B^2/d)) over p >= 2."""
    radius, low, high, drawn = _ball(rng, n, 2 / rng.uniform(0.02, 1, n))
    claimed = radius**2 / (1 + radius**2 / drawn["d"])
    return Outcome(_rate(claimed, low, high), 0.0, drawn)


def _rate_at_two(rng: Generator, n: int) -> Outcome:
    """Return the same at p = 2."""
    radius, low, high, drawn = _ball(rng, n, np.full(n, 2.0))
    claimed = radius**2 / (1 + radius**2 / drawn["d"])
    return Outcome(_rate(claimed, low, high), 0.0, drawn)


def _rate_corrected(rng: Generator, n: int) -> Outcome:
    """Return the slack with B d^(1/2 - 1/p), the radius of the l2 ball around, in B's place."""
    radius, low, high, drawn = _ball(rng, n, 2 / rng.uniform(0.02, 1, n))
    around = radius**2 * drawn["d"] ** (1 - 2 / drawn["p"])
    claimed = around / (1 + around / drawn["d"])
    return Outcome(_rate(claimed, low, high), 0.0, drawn)


def _histogram(rng: Generator, n: int) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Return the risk of the threshold, d and min(s sigma^2, n^(1/k) sigma^(2-1/k)) at sigma = 1.

    Counts that fall like a power, cut off after s bins; items are at least sigma, so that there
    is something to find.
    """
    d = np.floor(np.exp(rng.uniform(math.log(4), math.log(3e3), n)))
    filled = np.ceil(d * rng.uniform(0, 1, n) ** 3)
    power, items = rng.uniform(1, 4, n), np.exp(rng.uniform(0, math.log(1e6), n))
    risk = np.empty(n)
    for i in range(n):
        order = np.arange(1, d[i] + 1)
        counts = np.where(order <= filled[i], items[i] * order ** -power[i], 0.0)
        threshold = np.full(counts.size, math.sqrt(2 * math.log(d[i])))
        risk[i] = threshold_risk(counts, threshold).sum()
    bound = np.minimum(filled, items ** (1 / power))
    return risk, d, bound, {"d": d, "s": filled, "k": power, "n": items}


def _histogram_bound(rng: Generator, n: int) -> Outcome:
    """Return the slack of the threshold's bound on histograms, with its factor 2 log d + 1."""
    risk, d, bound, drawn = _histogram(rng, n)
    slack = np.log(_CONSTANT * (2 * np.log(d) + 1) * bound / risk)
    return Outcome(slack, 0.0, drawn)


def _naive_up_to_logarithms(rng: Generator, n: int) -> Outcome:
    """Return the slack of: its risk is at most d sigma^2, up to the factor 2 log d + 1."""
    risk, d, _, drawn = _histogram(rng, n)
    bound = (2 * np.log(d) + 1) * d
    return Outcome(at_most(risk, bound, bound), 0.0, drawn)


def _naive(rng: Generator, n: int) -> Outcome:
    """Return the slack of: its risk is at most d sigma^2, that of the noisy histogram."""
    risk, d, _, drawn = _histogram(rng, n)
    return Outcome(at_most(risk, d, d), 0.0, drawn)


CHECKS = (
    Check("section-4-bayes-risk", "Section 4, below Theorem 10",
          "under N(0, w^2 I) the Bayes risk is d w^2 sigma^2/(w^2 + sigma^2), a factor "
          "w^2/(w^2 + sigma^2) below that of the noisy answer", "cited", _bayes_gaussian),
    Check("section-4-rate", "Section 4, below (7)",
          "for p >= 2 the minimax risk over the l_p ball is "
          "Theta(B^2 sigma^2/(sigma^2 + B^2/d))",
          "misprint: right at p = 2; for p > 2 B has to be B d^(1/2 - 1/p), since the ball holds "
          "a cube of half side B d^(-1/p)", _rate_printed),
    Check("section-4-rate-at-2", "Section 4, below (7)",
          "the same at p = 2", "cited", _rate_at_two),
    Check("section-4-rate-corrected", "Section 4, below (7), corrected",
          "for p >= 2 it is that with B d^(1/2 - 1/p) in the place of B", "complete",
          _rate_corrected),
    Check("section-4-histogram", "Section 4, end",
          "on histograms the soft threshold has risk O~(min(s sigma^2, n^(1/k) "
          "sigma^(2 - 1/k)))", "cited", _histogram_bound, 0.1),
    Check("section-4-histogram-naive", "Section 4, end",
          "so that it improves over the naive release for all d, n, s, up to the logarithmic "
          "factor that O~ hides", "complete", _naive_up_to_logarithms, 0.1),
    Check("section-4-histogram-naive-literal", "Section 4, end",
          "the same without a logarithmic factor",
          "false: with all bins far from 0 the risk is d sigma^2 (1 + 2 log d)", _naive, 0.1),
)  # fmt: skip
