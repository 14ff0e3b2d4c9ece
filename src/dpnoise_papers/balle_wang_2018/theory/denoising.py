"""Checks of Section 4 of balle-wang-2018, over random parameters.

Theorems 10, 11 and 12, and the risks that the section quotes: Bayes risk under a Gaussian prior,
what can be improved at every f, and the risk of the soft threshold on histograms and beside small
balls. Risks are integrals by quadrature or Poisson sums of the estimators' definitions; none uses
Stein's identity, by which the closed forms are derived. Rates Theta(.) and O(.) are in
`statements`.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.denoise.shrinkage import bayes_risk, james_stein_bayes_risk
from dpnoise_papers.checks import REACH, Outcome, at_most, column, equal, integrate, log_uniform

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
        return _mean_of_atoms(atoms, joint(y))

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


def _mean_of_atoms(atoms: Array, joint: list[Array]) -> Array:
    """Return the posterior mean, of the densities of y together with each atom."""
    weighted = [column(atoms[:, k]) * part for k, part in enumerate(joint)]
    return np.asarray(reduce(add, weighted) / reduce(add, joint))


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


def _mse(rng: Generator, n: int, *, printed: bool) -> Outcome:
    """Return the relative error of a closed form of the MSE of James-Stein."""
    d, variance, drawn = _prior(rng, n)
    risk = _printed_risk if printed else james_stein_bayes_risk
    claimed = [risk(int(k), w, 1.0) for k, w in zip(d, variance, strict=True)]
    exact = _james_stein_mean_risk(d, variance)
    return Outcome(equal(np.array(claimed), exact, exact), 1e-9, drawn)


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
    """Return the slack of: at every f the risk of James-Stein is below d sigma^2."""
    d = np.floor(log_uniform(rng, 3, 1000, n))
    far = log_uniform(rng, 1e-4, 1e4, n)
    risk = _shrunk_risk(d, far, d - 2)
    return Outcome(at_most(risk, d, d), 0.0, {"d": d, "squared_length": far})


def _shrunk_risk(d: Array, far: Array, a: Array) -> Array:
    """Return the risk of (1 - a/|y|^2) y at |f|^2 = `far`, sigma = 1.

    With l = |f|^2 it is d - 2 a + 2 a l E[1/X_{d+2}] + a^2 E[1/X_d], where X_d is chi-square with
    non-centrality l: a Poisson mixture, E[1/X_d] = E[1/(d - 2 + 2 N)].
    """
    inverse = [_inverse_length(e, far) for e in (d, d + 2)]
    return np.asarray(d - 2 * a + 2 * a * far * inverse[1] + a * a * inverse[0])


def _inverse_length(d: Array, far: Array, counts: float = _COUNTS) -> Array:
    """Return E[1/(d - 2 + 2 N)] for N Poisson with mean far/2, of so many terms."""
    count = np.arange(counts)
    weight = np.exp(special.xlogy(count, far[:, None] / 2) - far[:, None] / 2
                    - special.gammaln(count + 1))  # fmt: skip
    return np.asarray((weight / (d[:, None] - 2 + 2 * count)).sum(axis=1))


def _positive_part(rng: Generator, n: int) -> Outcome:
    """Return the slack of: the Bayes MSE of James-Stein is no larger than its positive part's.

    Given y, c y has squared error d b + (b - c)^2 |y|^2 with b = w^2/(w^2 + 1), and
    |y| = sqrt(w^2 + 1) t.
    """
    d, variance, drawn = _prior(rng, n)
    b, total = column(variance / (variance + 1)), column(variance + 1)

    def spread(minimum: float) -> Array:
        def error(t: Array) -> Array:
            c = np.maximum(1 - (column(d) - 2) / (total * t * t), minimum)
            return np.asarray((b - c) ** 2 * total * t * t)

        return _radial(d, error)

    return Outcome(at_most(spread(-np.inf), spread(0.0)), 1e-6, drawn)


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
    margin, dimension = np.empty(n), np.floor(log_uniform(rng, 1, 1e4, n))
    for k, d in enumerate(dimension.astype(int)):
        decay, scale = rng.uniform(0, 3), math.exp(rng.uniform(-2, 2.5))
        size = scale * np.arange(1, d + 1.0) ** -decay * rng.choice([0.3, 1.0, 1.0], d)
        threshold = math.sqrt(2 * math.log(d))
        place = np.searchsorted(grid, np.minimum(size, grid[-1]), side="right") - 1
        minimax = bound_at[place].sum()
        bound = (2 * math.log(d) + 1) * (1 + _FACTOR * minimax)
        margin[k] = 1 - threshold_risk(size, np.full(d, threshold)).sum() / bound
    return Outcome(margin, 1e-12, {"d": dimension})


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
    factor = _gaussian_posterior_mean(seen, np.sqrt(variance), sigma) / seen
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


def _gaussian_posterior_mean(y: Array, w: Array, sigma: Array) -> Array:
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
    d = np.floor(log_uniform(rng, 4, largest, n))
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


def _naive(rng: Generator, n: int, *, logarithm: bool) -> Outcome:
    """Return the slack of: its risk is at most d sigma^2, that of the noisy histogram.

    With the logarithm, up to the factor 2 log d + 1.
    """
    risk, d, _, drawn = sparse_counts_risk(rng, n)
    bound = (2 * np.log(d) + 1) * d if logarithm else d
    return Outcome(at_most(risk, bound, bound), 0.0, drawn)


def _known_prior_risk(variance: Array) -> Array:
    """Return the least risk in one coordinate under N(0, variance) at sigma = 1, by quadrature."""
    x, weight = np.polynomial.hermite.hermgauss(5)
    y = (np.sqrt(2 * (1 + variance))[:, None] * x)[:, :, None]  # distributed as f plus noise
    away = np.linspace(-12, 12, 481)
    log_joint = -0.5 * away**2 - 0.5 * (y + away) ** 2 / variance[:, None, None]
    joint = np.exp(log_joint - log_joint.max(axis=2, keepdims=True))
    joint /= joint.sum(axis=2, keepdims=True)
    mean = (joint * away).sum(axis=2, keepdims=True)
    return np.asarray((joint * (away - mean) ** 2).sum(axis=2) @ weight / math.sqrt(math.pi))


def _no_uniform_gain(rng: Generator, n: int) -> Outcome:
    """Return the slack of: no estimator has a risk below (1 - share) d sigma^2 at every f.

    The largest risk of an estimator is at least its mean under a prior N(0, w^2 I), which is at
    least that of the posterior mean. Here w^2 = sigma^2 (1 - share)/share.
    """
    d, share = rng.integers(3, 200, n), log_uniform(rng, 1e-6, 0.5, n)
    margin = at_most(1 - share, _known_prior_risk((1 - share) / share))
    return Outcome(margin, 1e-10, {"d": d.astype(float), "share": share})


def _no_gain_anywhere(rng: Generator, n: int) -> Outcome:
    """Return the slack of: at d >= 3 the risk at every f is d sigma^2 or more, for James-Stein.

    Its risk at f is d - (d - 2)^2 E[1/(d - 2 + 2 N)] at sigma = 1, N Poisson with mean |f|^2/2.
    """
    d, far = rng.integers(3, 100, n).astype(float), np.exp(rng.uniform(-5, 5, n))
    risk = d - (d - 2) ** 2 * _inverse_length(d, far, 600.0)
    return Outcome(at_most(d, risk, d), 1e-10, {"d": d, "squared_length": far})


def _nearly_optimal(rng: Generator, n: int, *, factor: bool = True) -> Outcome:
    """Return the slack of: over an l2 ball the threshold's largest risk is 4.44 log(d) R(S).

    Without the factor: it is the minimax risk R(S) itself.

    Against a lower bound on the former, the risk at 0 or at the end of an axis, and an upper bound
    on the latter, the least risk of c y: what fails here fails for certain.
    """
    d = np.floor(log_uniform(rng, 4, 1e4, n))
    radius = np.exp(rng.uniform(-8, 4, n))
    threshold = np.sqrt(2 * np.log(d))
    zero = threshold_risk(np.zeros(n), threshold)
    reached = np.maximum(d * zero, (d - 1) * zero + threshold_risk(radius, threshold))
    minimax = d * radius**2 / (d + radius**2)
    bound = (4.44 * np.log(d) if factor else 1.0) * minimax
    return Outcome(1 - reached / bound, 0.0, {"d": d, "radius": radius})


def _inside_the_region(rng: Generator, n: int) -> Outcome:
    """Return the slack of sqrt(log d) <= B/sigma at B = sigma, of footnote 4, over d >= 3."""
    d = np.floor(log_uniform(rng, 3, 1e6, n))
    return Outcome(at_most(np.sqrt(np.log(d)), 1.0), 0.0, {"d": d})
