"""Checks of what inid-2024 says optimal noise gains, over random sensitivities.

Remark 1, Section IV, Theorem 7, Remark 4 and footnote 7; Lemma 8, Theorems 9 and 10 and what
Section V says of the Gini coefficient, for more and less unequal sensitivities. Theorem 7 compares
the error of optimal noise with an upper bound on that of i.i.d. noise; with the error itself it is
false: if nu is the mean of the sensitivities over their maximum, the ratio of the two errors lies
between nu and 1, and comes as near to 1 as one likes for any nu.

The abstract says that optimal noise has the higher accuracy, without a condition; Section IV says
so 'under the decoupled setting', where all coordinates can change at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.checks import Outcome, at_most, equal, log_uniform
from dpnoise_papers.inid_2024.tables.profiles import gini
from dpnoise_papers.inid_2024.theory.tools import (
    CONSTANT,
    MAXIMUM_DIMENSION,
    ROUNDING,
    absolute_ratio,
    budgets,
    clearly,
    draw,
    evenness,
    gaussian_ratio,
    laplace_ratio,
    mean_squared_errors,
    printed_scales,
    profile_outcome,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


def _norms(points: Array, p: Array) -> Array:
    """L_p norms of the last axis, for p of shape (n, 1), infinity among them."""
    finite = np.where(np.isinf(p), 1.0, p)
    norms = (np.abs(points) ** finite[..., None]).sum(axis=-1) ** (1.0 / finite)
    return np.where(np.isinf(p), np.abs(points).max(axis=-1), norms)


def _queries(rng: Generator, n: int) -> tuple[Array, Array, Array, Array]:
    """Differences of neighbours, shape (n, 6, 12), Delta_p per p, p and K, of n queries.

    Coordinates from K on do not change; one p in five is 1, one in five infinite.
    """
    count = np.floor(rng.uniform(1, 13, n))
    apart = rng.standard_normal((n, 6, 12)) * (rng.random((n, 6, 12)) < 0.6)
    apart *= np.exp(rng.standard_normal((n, 1, 12))) * (np.arange(12) < count[:, None])[:, None]
    apart[:, 0, 0] += 0.1  # some neighbours do differ
    kind = rng.random((n, 2))
    p = np.where(kind < 0.2, 1.0, np.where(kind > 0.8, math.inf, 1 / rng.uniform(0.05, 1, (n, 2))))
    sensitivity = np.stack([_norms(apart, p[:, [j]]).max(axis=1) for j in (0, 1)], axis=1)
    return apart, sensitivity, p, count


def _norms_fall(rng: Generator, n: int) -> Outcome:
    """Slack of (4), Delta_p <= K^([1/p - 1/r]_+) Delta_r."""
    _, sensitivity, p, count = _queries(rng, n)
    factor = count ** np.maximum(1 / p[:, 0] - 1 / p[:, 1], 0.0)
    right = factor * sensitivity[:, 1]
    margin = at_most(sensitivity[:, 0], right, right)
    return Outcome(margin, ROUNDING, {"p": p[:, 0], "r": p[:, 1], "K": count})


def _norms_rise(rng: Generator, n: int) -> Outcome:
    """Slack of Delta_q <= Delta_r for r >= q, as printed below (4)."""
    _, sensitivity, p, _ = _queries(rng, n)
    order = np.argsort(p, axis=1)
    small, large = (np.take_along_axis(sensitivity, order, axis=1)[:, j] for j in (0, 1))
    return Outcome(at_most(small, large, large), ROUNDING, {"q": p.min(axis=1), "r": p.max(axis=1)})


def _box_is_larger(rng: Generator, n: int) -> Outcome:
    """Slack of Delta_p <= ||lambda||_p; it is 0 for p = infinity."""
    apart, sensitivity, p, count = _queries(rng, n)
    box = np.abs(apart).max(axis=1)
    right = np.array([np.linalg.norm(x, q) for x, q in zip(box, p[:, 0], strict=True)])
    largest = np.linalg.norm(apart, math.inf, axis=2).max(axis=1)
    tight = equal(largest, np.linalg.norm(box, math.inf, axis=1), largest)
    margin = np.minimum(at_most(sensitivity[:, 0], right, right), tight)
    return Outcome(margin, ROUNDING, {"p": p[:, 0], "K": count})


def _spr_is_worse(rng: Generator, n: int) -> Outcome:
    """Slack of the errors of i.i.d. below those of SPR, also for coupled queries.

    SPR is Definition 5: noise for sensitivities of 1, times the sensitivities. Where coordinates
    are decoupled both Gaussian errors are the same, and minus their distance counts too.
    """
    apart, _, _, count = _queries(rng, n)
    box = np.abs(apart).max(axis=1)
    ones = (np.arange(12) < count[:, None]).astype(float)
    margins = []
    for noise, p in (("gaussian", 2), ("laplace", 1)):
        unscaled = printed_scales(noise, "iid", ones, count)
        spr = ((unscaled * box) ** 2).sum(axis=1)
        needed = np.linalg.norm(apart, p, axis=2).max(axis=1)  # Delta_p of the query itself
        margins.append(at_most(count * needed**2, spr, spr))
        if noise == "gaussian":
            decoupled = (printed_scales(noise, "iid", box, count) ** 2).sum(axis=1)
            margins.append(equal(decoupled, spr, spr))
    return Outcome(np.min(margins, axis=0), ROUNDING, {"K": count, "Delta": box.max(axis=1)})


def _with_edges(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """Random profiles, of which one in ten is uniform (kind 1) and one in ten one-hot (kind 2)."""
    profiles, count = draw(rng, n)
    kind = (np.arange(n) % 10).astype(float)
    used = np.arange(profiles.shape[1]) < count[:, None]
    top = profiles.max(axis=1)[:, None]
    hot = np.eye(1, profiles.shape[1]) * top
    profiles = np.where((kind == 1)[:, None], top * used, profiles)
    profiles = np.where((kind == 2)[:, None], hot, profiles)
    return profiles.astype(float), count, kind


def _spr_is_equal(rng: Generator, n: int) -> Outcome:
    """Gain of i.i.d. over SPR Laplace noise, above 0; 0 for uniform profiles if decoupled.

    Where coordinates are coupled, i.i.d. noise is for the Delta_1 of random differences.
    """
    profiles, count, kind = _with_edges(rng, n)
    spr, iid = (mean_squared_errors("laplace", x, profiles, count) for x in ("spr", "iid"))
    gain = spr / iid - 1.0
    apart, _, _, size = _queries(rng, n)
    coupled = size * (np.abs(apart).max(axis=1) ** 2).sum(axis=1)
    coupled /= np.linalg.norm(apart, 1, axis=2).max(axis=1) ** 2
    coupled = np.where(size == 1, 1.0, clearly(coupled - 1.0))  # one coordinate is uniform
    gain = np.minimum(np.where(kind == 1, -np.abs(gain), clearly(gain)), coupled)
    return profile_outcome(gain, profiles, count)


def _never_worse(rng: Generator, n: int) -> Outcome:
    """Slack of 1/K <= ratio of errors < 1 for both kinds of noise.

    The ratio is 1 for uniform and 1/K for one-hot profiles.
    """
    profiles, count, kind = _with_edges(rng, n)
    margins = []
    for noise in ("gaussian", "laplace"):
        optimal, iid = (
            mean_squared_errors(noise, scheme, profiles, count) for scheme in ("optimal", "iid")
        )
        ratio = optimal / iid
        margins += [
            at_most(1.0 / count, ratio),
            np.where(kind == 1, equal(ratio, 1.0), clearly(1.0 - ratio)),
            np.where(kind == 2, equal(ratio, 1.0 / count), 1.0),
        ]
    return profile_outcome(np.min(margins, axis=0), profiles, count)


def _never_worse_coupled(rng: Generator, n: int) -> Outcome:
    """Slack of the errors for weighted histograms, with the Delta_2 and Delta_1 that they have."""
    profiles, count = draw(rng, n)
    count = np.maximum(count, 3.0)
    top = np.sort(profiles, axis=1)[:, -2:]  # replacing one user changes two bins
    gaussian = at_most(profiles.sum(axis=1) ** 2, count * (top**2).sum(axis=1), count)
    laplace = at_most(
        (np.cbrt(profiles) ** 2).sum(axis=1) ** 3, count * top.sum(axis=1) ** 2, count
    )
    return profile_outcome(np.minimum(gaussian, laplace), profiles, count)


def _theorem_7_corrected(rng: Generator, n: int) -> Outcome:
    """Slack of nu <= ratio <= 1, over nu."""
    profiles, count = draw(rng, n)
    nu = evenness(profiles, count)
    ratios = gaussian_ratio(profiles, count), laplace_ratio(profiles, count)
    margins = [margin for r in ratios for margin in (at_most(nu, r, nu), at_most(r, 1.0))]
    return profile_outcome(np.min(margins, axis=0), profiles, count)


def _theorem_7_uninformed(rng: Generator, n: int) -> Outcome:
    """Slack against i.i.d. noise that knows Delta alone, for which each sensitivity is Delta."""
    profiles, count = draw(rng, n)
    nu = evenness(profiles, count)
    used = np.arange(profiles.shape[1]) < count[:, None]
    flat = used * profiles.max(axis=1)[:, None]
    gaussian, laplace = (
        mean_squared_errors(noise, "optimal", profiles, count)
        / mean_squared_errors(noise, "iid", flat, count)
        for noise in ("gaussian", "laplace")
    )
    margin = np.minimum(equal(gaussian, nu**2, nu**2), at_most(laplace, nu**2, nu**2))
    return profile_outcome(margin, profiles, count)


def _remark_4_corrected(rng: Generator, n: int) -> Outcome:
    """How much more Gaussian noise gains than Laplace noise, in the log of the ratio."""
    profiles, count = draw(rng, n)
    gain = np.log(laplace_ratio(profiles, count) / gaussian_ratio(profiles, count))
    return profile_outcome(gain, profiles, count)


def _decaying(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """K, a and nu = K^(-1/2) of a profile (1, a, ..., a)."""
    count = np.floor(log_uniform(rng, 10, 1e6, n))
    nu = count**-0.5
    return count, (nu * count - 1) / (count - 1), nu


def _steep(rng: Generator, total: float, dimension: int) -> Array:
    """Sensitivities of which the largest is 1 and whose sum is `total` or less, shape (1, K)."""
    others = rng.dirichlet(np.full(dimension - 1, rng.uniform(0.2, 5.0)))
    return np.append(1.0, np.minimum((total - 1.0) * others, 1.0))[None]


def _free_of_dimension(rng: Generator, n: int) -> Outcome:
    """Slack of the Gaussian error <= c^2 Delta^2 / mu_0^2 for random profiles with nu <= c / K.

    The error is the sum of the variances of Theorem 4 at a random budget.
    """
    count = np.floor(log_uniform(rng, 10, 3000, n))
    c, top = rng.uniform(1.0, CONSTANT, n), np.exp(rng.standard_normal(n))
    budget = budgets(rng, n)
    unit, margin = gaussian_sigma(budget["epsilon"], budget["delta"]), np.empty(n)
    for k in range(n):
        profile = top[k] * _steep(rng, c[k], int(count[k]))
        error = mean_squared_errors("gaussian", "optimal", profile, count[[k]], unit[[k]])
        bound = (c[k] * top[k] * unit[k]) ** 2
        margin[k] = at_most(error, bound, bound)[0]
    return Outcome(margin, ROUNDING, {"K": count, "c": c})


def _laplace_free_of_dimension(rng: Generator, n: int) -> Outcome:
    """Slack of the Laplace error <= 2 (constant Delta / epsilon)^2, nu <= constant K^(-3/2).

    As nu is at least 1/K, only K up to the square of the constant can meet the condition; all
    profiles here do.
    """
    most = CONSTANT**2 - 1.0
    count, margin = np.floor(log_uniform(rng, 2, most, n)), np.empty(n)
    nu = np.empty(n)
    for k in range(n):
        total = rng.uniform(1.0, CONSTANT / math.sqrt(count[k]))
        profile = _steep(rng, total, int(count[k]))
        nu[k] = evenness(profile, count[[k]])[0]
        met = nu[k] <= CONSTANT * count[k] ** -1.5
        error = mean_squared_errors("laplace", "optimal", profile, count[[k]])[0]
        margin[k] = 1.0 - error / (2.0 * CONSTANT**2) if met else -1.0
    return Outcome(margin, ROUNDING, {"K": count, "nu": nu})


def _laplace_on_each(rng: Generator, n: int) -> Outcome:
    """Slack of the largest scale, epsilon beta_i <= constant, nu = 2/K."""
    count = np.floor(log_uniform(rng, 10, 1e6, n))
    a = 1.0 / (count - 1)  # nu = 2 / K
    largest = 1 + (count - 1) * np.cbrt(a) ** 2
    return Outcome(at_most(largest, CONSTANT), 0.0, {"K": count})


def _iid_bound(rng: Generator, n: int, noise: str) -> Outcome:
    """Slack of (12) or (13) for calibrated i.i.d. noise, with the constant of O(.).

    (12) for epsilon <= 1, where the scale that it cites is claimed: beyond, the Gaussian error is
    of the order 1/epsilon. Beside it that of the step Delta_2^2 <= K Delta^2 or
    Delta_1^2 <= K^2 Delta^2, for every budget.
    """
    profiles, count = draw(rng, n)
    budget, top = budgets(rng, n), profiles.max(axis=1)
    epsilon, delta = budget["epsilon"], budget["delta"]
    if noise == "gaussian":
        unit = gaussian_sigma(epsilon, delta)
        order, step = (count * top / epsilon) ** 2 * -np.log(delta), (count * top * unit) ** 2
        claimed = epsilon <= 1.0
    else:
        unit, order = 1.0 / epsilon, count**3 * (top / epsilon) ** 2
        step, claimed = 2.0 * order, np.full(n, fill_value=True)
    error = mean_squared_errors(noise, "iid", profiles, count, unit)
    ordered = np.where(claimed, at_most(error, CONSTANT * order, order), 1.0)
    outcome = profile_outcome(np.minimum(ordered, at_most(error, step, error)), profiles, count)
    return outcome._replace(parameters={**outcome.parameters, **budget})


def _noise_on_average(rng: Generator, n: int) -> Outcome:
    """Slack of the mean variance, mu_0^2 ||sigma||^2 / K <= constant, nu = K^(-1/2)."""
    count, a, nu = _decaying(rng, n)
    mean = (1 + (count - 1) * a) ** 2 / count
    return Outcome(at_most(mean, CONSTANT), 0.0, {"K": count, "nu": nu})


def _noise_on_each(rng: Generator, n: int) -> Outcome:
    """Slack of the largest variance, mu_0^2 sigma_i^2 <= constant, nu = K^(-1/2)."""
    count, a, nu = _decaying(rng, n)
    return Outcome(at_most(1 + (count - 1) * a, CONSTANT), 0.0, {"K": count, "nu": nu})


def _footnote_7(rng: Generator, n: int) -> Outcome:
    """Slack of the ratio of mean absolute errors <= constant nu, over nu."""
    count = np.floor(log_uniform(rng, 2, 1e6, n))
    a = log_uniform(rng, 1e-6, 1, n)
    total = 1 + (count - 1) * a
    ratio, nu = (1 + (count - 1) * np.sqrt(a)) ** 2 / (count * total), total / count
    return Outcome(at_most(ratio, CONSTANT * nu, nu), 0.0, {"K": count, "nu": nu, "ratio": ratio})


def _footnote_7_corrected(rng: Generator, n: int) -> Outcome:
    """Slack of nu <= ratio of mean absolute errors <= 1, over nu."""
    profiles, count = draw(rng, n)
    ratio, nu = absolute_ratio(profiles, count), evenness(profiles, count)
    margin = np.minimum(at_most(nu, ratio, nu), at_most(ratio, 1.0))
    return profile_outcome(margin, profiles, count)


def _mixtures(rng: Generator, n: int) -> tuple[Array, Array, Array]:
    """B, a that b majorises and that is no permutation of it, and K.

    a is a doubly stochastic matrix times b, as every a that b majorises is (Hardy, Littlewood and
    Polya): a mean of b itself, b shifted by one place and two permutations of b at random.
    """
    b, count = draw(rng, n)
    b = b ** rng.uniform(0.1, 0.4, n)[:, None]  # small entries stay visible beside large ones
    a = np.zeros_like(b)
    for k in range(n):
        size = int(count[k])
        whole = b[k, :size]
        orders = [np.arange(size), np.roll(np.arange(size), 1)]
        orders += [rng.permutation(size) for _ in range(2)]
        weights = 0.1 + 0.6 * rng.dirichlet(np.ones(4))
        a[k, :size] = sum(w * whole[order] for w, order in zip(weights, orders, strict=True))
        b[k, size:] = 0.0
    return b, a, count


def _lemma_8(rng: Generator, n: int) -> Outcome:
    """Relative slack of h(b) > h(a) for seven strictly convex h_0, on random intervals.

    r log r, -log r, -sqrt(r), 1/r and r^q on positive numbers; exp(r) and r^2 also on others.
    """
    b, a, count = _mixtures(rng, n)
    power = rng.uniform(1.1, 6.0, n)[:, None]
    shift = rng.uniform(-3.0, 0.0, n)[:, None]
    used = np.arange(MAXIMUM_DIMENSION) < count[:, None]
    functions: list[Callable[[Array], Array]] = [
        lambda r: r * np.log(r), lambda r: -np.log(r), lambda r: -np.sqrt(r), lambda r: 1.0 / r,
        lambda r: r**power, lambda r: np.exp(r + shift), lambda r: (r + shift) ** 2,
    ]  # fmt: skip
    inside = [np.where(used, x, 1.0) for x in (b, a)]
    margins = []
    for f in functions:
        left, right = (np.where(used, f(x), 0.0) for x in inside)
        margins.append((left.sum(axis=1) - right.sum(axis=1)) / np.abs(left).sum(axis=1))
    return profile_outcome(clearly(np.min(margins, axis=0)), b, count, 0.0)


def _lesser(noise: str, more: Array, less: Array, count: Array) -> Array:
    """Relative slack of a lesser error of optimal noise for the first profiles."""
    first, second = (mean_squared_errors(noise, "optimal", x, count) for x in (more, less))
    return clearly(1.0 - first / second)


def _theorem_9(rng: Generator, n: int) -> Outcome:
    """Relative slack of the Gaussian error below that of a profile whose squares are majorised."""
    b, a, count = _mixtures(rng, n)
    margin = _lesser("gaussian", np.sqrt(b), np.sqrt(a), count)
    return profile_outcome(margin, np.sqrt(b), count, 0.0)


def _uniform_is_worst(rng: Generator, n: int) -> Outcome:
    """Relative slack of the Gaussian error below that of the uniform profile of the same norm."""
    profiles, count = draw(rng, n)
    used = np.arange(MAXIMUM_DIMENSION) < count[:, None]
    uniform = used * (np.linalg.norm(profiles, axis=1) / np.sqrt(count))[:, None]
    return profile_outcome(_lesser("gaussian", profiles, uniform, count), profiles, count, 0.0)


def _theorem_10(rng: Generator, n: int) -> Outcome:
    """Relative slack of the Laplace error below that of a profile that is majorised."""
    b, a, count = _mixtures(rng, n)
    return profile_outcome(_lesser("laplace", b, a, count), b, count, 0.0)


def _gini_order(rng: Generator, n: int, dimension: int) -> Outcome:
    """Slack of 'the larger Gini coefficient has the larger gain', both noises."""
    pairs = np.exp(rng.uniform(0.2, 2, (n, 2, 1)) * rng.standard_normal((n, 2, dimension)))
    count = np.full(n, float(dimension))
    coefficients = np.array([[gini(x) for x in pair] for pair in pairs])
    order = np.sign(coefficients[:, 0] - coefficients[:, 1])
    margins = []
    for ratio in (gaussian_ratio, laplace_ratio):
        first, second = (np.log(ratio(pairs[:, j], count)) for j in (0, 1))
        margins.append(order * (second - first))
    return profile_outcome(np.min(margins, axis=0), pairs[:, 0], count)
