"""Checks of Appendices E and F: conditions for any noise and the other mechanisms' formulas.

Lemma 10 holds for every density, so it is tried on random histograms on a two-dimensional
lattice with shifts by whole cells, where all its integrals are finite sums. Lemma 11 is
tried on every log-concave family of the package against the integral of
[g(t) - e^epsilon g(t + d)]_+ by quadrature.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Subbotin,
)
from dpnoise_papers.checks import Outcome, at_most, equal, log_uniform
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.theory.density import bisect

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array
    from dpnoise.noise import Noise

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def any_density(rng: Generator, n: int) -> Outcome:
    """Smallest slack of Lemma 10: its two forms agree and no event gives more.

    Events tried are a random one and the set where the loss is at least epsilon, which attains the
    integral, with one in ten cells changed. Remark 1 is a part: the first of the two probabilities
    alone is at least as large.
    """
    cells, border, epsilon = 9, 4, rng.exponential(size=n)
    p = np.zeros((n, cells + 2 * border, cells + 2 * border))
    p[:, border:-border, border:-border] = rng.gamma(0.3, size=(n, cells, cells))
    p /= p.sum(axis=(1, 2), keepdims=True)
    d = rng.integers(-border, border + 1, (n, 2))
    rows = np.arange(n)[:, None, None]
    x, y = np.indices(p.shape[1:])
    x1, y1 = d[:, :1, None], d[:, 1:, None]
    size = p.shape[1]
    moved = p[rows, (x + x1) % size, (y + y1) % size]  # g(t + d)
    back = p[rows, (x - x1) % size, (y - y1) % size]  # g(t - d)
    e = np.exp(epsilon)[:, None, None]
    integral = np.where(p >= e * moved, p - e * moved, 0).sum(axis=(1, 2))
    first = np.where(p >= e * moved, p, 0).sum(axis=(1, 2))
    second = np.where(e * p <= back, p, 0).sum(axis=(1, 2))
    same = equal(first - e[:, 0, 0] * second, integral, e[:, 0, 0])
    best = p >= e * moved
    events = rng.random(p.shape) < 0.5, best ^ (rng.random(p.shape) < 0.1)
    others = [np.where(event, p - e * moved, 0).sum(axis=(1, 2)) for event in events]
    # What no event exceeds, cell by cell and without the set, is attained.
    largest = np.maximum(p - e * moved, 0).sum(axis=(1, 2))
    slacks = [same, at_most(integral, first), equal(largest, integral)]
    slacks += [at_most(other, integral) for other in others]
    drawn = {"epsilon": epsilon, "d1": d[:, 0], "d2": d[:, 1]}
    return Outcome(np.min(slacks, axis=0), 1e-12, drawn)


def _families(rng: Generator) -> list[Noise]:
    one, two = log_uniform(rng, 0.4, 3, 2)
    power = rng.uniform(1.2, 3)
    return [
        Gaussian(one), Laplace(one), FlippedHuber(two, one), OffsetSymmetricGaussian(two, one),
        Huber(one, two), Subbotin(power, one),
    ]  # fmt: skip


def log_concave(rng: Generator, n: int) -> Outcome:
    """Smaller slack of Lemma 11: (28) is the integral at Delta, and that at a smaller d is less."""
    rows: list[tuple[float, ...]] = []
    # ends: draws until there are enough
    while len(rows) < n:
        for noise in _families(rng):
            delta, epsilon, d = _draw_shifts(rng, noise)
            formula = _by_lemma_11(noise, delta, epsilon)
            whole, part = (_integral(noise, shift, epsilon) for shift in (delta, d))
            rows.append((min(-abs(formula - whole), formula - part), epsilon, delta, d))
    margin, epsilon, delta, d = np.array(rows[:n]).T
    return Outcome(margin, 1e-9, {"epsilon": epsilon, "sensitivity": delta, "d": d})


def largest_shift(rng: Generator, n: int) -> Outcome:
    """Slack of: a shift by more needs a larger delta, for every family of log-concave noise.

    By integrals alone, at ten shifts up to Delta, and the same for -Delta as for Delta.
    """
    rows: list[tuple[float, ...]] = []
    # ends: draws until there are enough
    while len(rows) < n:
        for noise in _families(rng):
            delta, epsilon, _ = _draw_shifts(rng, noise)
            values = [_integral(noise, part / 10 * delta, epsilon) for part in range(1, 11)]
            other = _integral(noise, -delta, epsilon)
            rows.append((min(*np.diff(values), -abs(other - values[-1])), epsilon, delta))
    margin, epsilon, delta = np.array(rows[:n]).T
    return Outcome(margin, 1e-9, {"epsilon": epsilon, "sensitivity": delta})


def _transitions(noise: Noise) -> list[float]:
    """Points, other than 0, beyond which the density has another form."""
    if isinstance(noise, FlippedHuber):
        return [noise.alpha]
    return [noise.alpha * noise.scale] if isinstance(noise, Huber) else []


def _draw_shifts(rng: Generator, noise: Noise) -> tuple[float, float, float]:
    """Sensitivity, epsilon and a smaller shift."""
    delta = float(log_uniform(rng, 0.2, 3))
    return delta, float(rng.uniform(0, 2) * delta / noise.std()), delta * float(rng.uniform(0.1, 1))


def _integral(noise: Noise, d: float, epsilon: float) -> float:
    """Integral of [g(t) - e^epsilon g(t + d)]_+, good to 1e-9.

    The line is cut where either density has a kink, more finely at its centre, and a stretch at
    whose ends the integrand has different signs where it is 0, found by bisection.
    """
    reach = 30 * noise.std() + abs(d)
    near = noise.std() * np.geomspace(1e-7, 0.05, 20)
    kinks = np.concatenate([[0.0], near, -near, *([p, -p] for p in _transitions(noise))])
    cuts = np.unique(np.concatenate([np.linspace(-reach, reach, 1201), kinks, kinks - d]))

    def excess(t: Array) -> Array:
        return noise.pdf(t) - np.exp(epsilon) * noise.pdf(t + d)

    values = excess(cuts)
    turns = np.flatnonzero(values[:-1] * values[1:] < 0)
    positive = values[turns] > 0
    turned = bisect(lambda t: (excess(t) > 0) != positive, cuts[turns], cuts[turns + 1])[0]
    edges = np.union1d(cuts, turned)
    half = 0.5 * np.diff(edges)[:, None]
    t = edges[:-1, None] + half * (1 + _NODES)
    return float(np.sum(np.maximum(excess(t), 0) * half @ _WEIGHTS))


def offset_profile(rng: Generator, n: int) -> Outcome:
    """Error of the OSGT profile, Appendix F (c), against Lemma 11."""
    rho, d = log_uniform(rng, 0.4, 3, (2, n))
    theta = rho * log_uniform(rng, 0.05, 4, n)
    epsilon = (d + 2 * theta) * d / (2 * rho**2) * rng.uniform(0, 2.5, n)
    q = printed.upper_tail
    wide = d + 2 * theta
    near = 1 - (
        q(wide / (2 * rho) - rho * epsilon / wide)
        + np.exp(epsilon) * q(wide / (2 * rho) + rho * epsilon / wide)
    ) / (2 * q(theta / rho))
    far = q(rho * epsilon / d - d / (2 * rho)) - np.exp(epsilon) * q(
        rho * epsilon / d + d / (2 * rho)
    )
    formula = np.where(epsilon <= wide * d / (2 * rho**2), near, far / (2 * q(theta / rho)))
    rows = zip(theta, rho, d, epsilon, strict=True)
    value = [_by_lemma_11(OffsetSymmetricGaussian(*row[:2]), *row[2:]) for row in rows]
    drawn = {"theta": theta, "rho": rho, "sensitivity": d, "epsilon": epsilon}
    return Outcome(equal(formula, np.array(value)), 1e-10, drawn)


def laplace_profile(rng: Generator, n: int) -> Outcome:
    """Error of the Laplace profile, Appendix F (b), and of its condition, against Lemma 11.

    At the smallest beta of the condition the profile is delta; it falls as beta grows.
    """
    beta, d = log_uniform(rng, 0.1, 3, (2, n))
    epsilon = d / beta * rng.uniform(0, 1.3, n)
    formula = np.maximum(-np.expm1((epsilon - d / beta) / 2), 0)
    delta = 10 ** rng.uniform(-6, -0.1, n)
    smallest = d / (epsilon - 2 * np.log1p(-delta))

    def profile(scale: Array) -> Array:
        rows = zip(scale, d, epsilon, strict=True)
        return np.array([_by_lemma_11(Laplace(row[0]), *row[1:]) for row in rows])

    at = profile(smallest)
    errors = equal(formula, profile(beta)), equal(at, delta), at_most(profile(1.1 * smallest), at)
    drawn = {"beta": beta, "sensitivity": d, "epsilon": epsilon, "delta": delta}
    return Outcome(np.min(errors, axis=0), 1e-10, drawn)


def _by_lemma_11(noise: Noise, d: float, epsilon: float) -> float:
    """Value SF(t1) - e^epsilon SF(t1 + d), with t1 bisected to the last digit."""
    end = d + 60 * noise.std()
    if noise.logpdf(end) - noise.logpdf(end + d) < epsilon:
        return 0.0
    t = bisect(lambda t: noise.logpdf(t) - noise.logpdf(t + d) > epsilon, -d, end)[1]
    return float(noise.sf(t) - np.exp(epsilon) * noise.sf(t + d))


def loss_formulas(rng: Generator, n: int, *, which: tuple[int, ...]) -> Outcome:
    """Error of the centred losses of Appendix E-B, those of the noises from their log densities.

    `which` of Gaussian (0), Laplace (1), OSGT (2) and of OSGT as the sum of the two (3) are
    compared, for d of either sign.
    """
    theta, rho, beta, size = log_uniform(rng, 0.1, 3, (4, n))
    t = 3 * rng.standard_normal(n)
    d = size * np.where(rng.random(n) < 0.5, -1, 1)
    near = np.sign(t) * np.sign(d) * np.minimum(np.abs(t), size / 2)
    margins = []
    for i in range(n):

        def of(noise: Noise, t: float = t[i], d: float = d[i]) -> float:
            return float(noise.logpdf(t - d / 2) - noise.logpdf(t + d / 2))

        straight = t[i] * d[i] / rho[i] ** 2
        osgt = of(OffsetSymmetricGaussian(theta[i], rho[i]))
        sides = (
            (of(Gaussian(rho[i])), straight),
            (of(Laplace(beta[i])), 2 / beta[i] * near[i]),
            (osgt, straight + 2 * theta[i] / rho[i] ** 2 * near[i]),
            (osgt, of(Gaussian(rho[i])) + of(Laplace(rho[i] ** 2 / theta[i]))),
        )
        pairs = [sides[part] for part in which]
        margins.append(min(-abs(value - other) / (1 + abs(value)) for value, other in pairs))
    drawn = {"theta": theta, "rho": rho, "beta": beta, "d": d, "t": t}
    return Outcome(np.array(margins), 1e-10, drawn)


def minimum_information(rng: Generator, n: int) -> Outcome:
    """Slack of: the normalised Fisher information is smallest for the Gaussian.

    Half of the trials are the log-concave families, by their closed forms. Half are mixtures of one
    to five normal densities, which are neither symmetric nor log-concave in general, by quadrature;
    those of one component, the Gaussian, have to give 1.
    """
    found: list[float] = []
    # ends: draws until there are enough
    while len(found) < n // 2:
        found += [noise.var() * noise.fisher_information() for noise in _families(rng)]
    values = np.array(found[: n // 2])
    count = rng.integers(1, 6, n - n // 2)
    mixed = np.array([_mixture_information(rng, int(k)) for k in count])
    margin = np.concatenate([values - 1, np.where(count == 1, -np.abs(mixed - 1), mixed - 1)])
    components = np.concatenate([np.zeros(n // 2), count])
    return Outcome(margin, 1e-10, {"nfi": np.append(values, mixed), "components": components})


def _mixture_information(rng: Generator, count: int) -> float:
    """Normalised Fisher information of a random mixture of normal densities."""
    share = rng.dirichlet(np.ones(count))[:, None]
    mean = rng.normal(size=(count, 1)) * rng.choice([0.3, 3.0])
    scale = log_uniform(rng, 0.3, 3, (count, 1))
    t = np.linspace(np.min(mean - 12 * scale), np.max(mean + 12 * scale), 20001)
    parts = share * np.exp(-(((t - mean) / scale) ** 2) / 2) / scale / printed.ROOT_2PI
    density, slope = parts.sum(axis=0), np.sum(-parts * (t - mean) / scale**2, axis=0)
    step = t[1] - t[0]
    centre = np.sum(t * density) * step
    variance = np.sum((t - centre) ** 2 * density) * step
    inside = density > 0
    return float(variance * np.sum(slope[inside] ** 2 / density[inside]) * step)


def level_sets(rng: Generator, n: int, *, one_variance: bool) -> Outcome:
    """Slack of Appendix E-B: {loss >= epsilon} is the larger set for OSGT noise.

    Scales are 1. Variances are equal, the setting of Figure 6, with the offset theta solved for, or
    transition parameters are, theta = alpha. The slack is where the loss of flipped Huber noise
    reaches epsilon less where that of OSGT noise does.
    """
    alpha = theta = log_uniform(rng, 0.2, 4, n)
    d = log_uniform(rng, 0.1, 3, n)
    epsilon = (d + 2 * alpha) * d / 2 * rng.uniform(0, 1.5, n)

    def less(theta: Array, variance: float) -> bool:
        return OffsetSymmetricGaussian(float(theta), 1.0).var() <= variance

    if one_variance:
        variances = [FlippedHuber(b, 1.0).var() for b in alpha]
        theta = np.array([bisect(partial(less, variance=v), 0.0, 100.0)[1] for v in variances])
    wide = d + 2 * theta
    osgt = np.where(epsilon <= wide * d / 2, epsilon / wide, epsilon / d - theta)
    flipped = printed.centred_loss_inverse(epsilon, d, alpha, np.ones_like(alpha))
    return Outcome(flipped - osgt, 1e-9, {"ratio": alpha, "d": d, "epsilon": epsilon})
