"""Checks of Sections IV-B and VI: Theorem 8 with the chain of bounds before it, and composition.

What the proofs leave open, and what closes it:

Lemma 5 needs P(T'd > a) <= Q(a / (gamma ||d||_2)), which sub-Gaussianity alone does not give
(`equation-20-for-every-sub-gaussian`). It is true for flipped Huber noise: each d_i T_i is
symmetric, unimodal and more peaked than d_i Z_i, Z_i ~ N(0, gamma^2), and sums of such
variables keep that order (Birnbaum 1948).

Lemma 6 uses Q(a + b) <= 2 Q(a) Q(b) at negative b, where it is false
(`esseen-inequality`). For t <= 0 it is used at b >= 0, where it holds; for t > 0 the lemma
follows from P(T > t) <= Q(t / gamma) <= Q((t - theta) / gamma).

Lemma 7 is false for ||d||_2 < Delta_2 (`lemma-7`) and true for ||d||_2 = Delta_2. Theorem 8
follows at the corner of the box |d_i| <= Delta with Delta_2 = sqrt(K) Delta, and for every
other d in the box because the corner is the worst; for other sets of neighbours it is open.

The theorem is compared with the exact privacy of flipped Huber noise at the corner and inside of
it, and for the neighbours that its proof does not reach, those with a smaller ||d||_2 that are
inside no corner: two neighbours d and d' whose norms are largest in turn.

Section VI: zero-concentrated privacy and its budgets. The log of E exp(s loss) is the Renyi
divergence of order s + 1 times s, by quadrature. Over independent coordinates it adds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.noise import FlippedHuber
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.checks import REACH, Outcome, at_most, column, equal, integrate, log_uniform
from dpnoise_papers.flipped_huber_2023 import as_printed as printed
from dpnoise_papers.flipped_huber_2023.theory.density import (
    draw_scalar,
    draw_shape,
    draw_wide,
    many_fold_tail,
    mass,
    tail,
    two_fold_tail,
)

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpnoise._types import Array

# The exact profile comes with bounds 1e-7 apart.
_TOLERANCE = 1e-6


def bounding_functions(rng: Generator, n: int) -> Outcome:
    """Smaller slack of Lemma 4 for functions on twelve points.

    In half of the trials all values are whole numbers, so that h1, h2 and a coincide at some.
    """
    p = rng.dirichlet(np.ones(12), n)
    whole = rng.random((n, 1)) < 0.5
    h1, more, a = (
        np.where(whole, np.round(values), values)
        for values in (
            rng.standard_normal((n, 12)),
            rng.exponential(size=(n, 12)),
            rng.standard_normal((n, 1)),
        )
    )
    h2 = h1 + more
    upper = np.sum(p * (h2 >= a), axis=1) - np.sum(p * (h1 >= a), axis=1)
    lower = np.sum(p * (h1 <= a), axis=1) - np.sum(p * (h2 <= a), axis=1)
    return Outcome(np.minimum(upper, lower), 1e-12, {"a": a[:, 0]})


def affine_condition(rng: Generator, n: int) -> Outcome:
    """Slack of (17) <= (19) in one and two dimensions, for abs(d_i) <= Delta.

    The left side of (17) is `vector_profile`'s upper bound, which knows of no affine bound; that of
    (19) is by `tail` and `two_fold_tail`. Both entries of d are equal in two dimensions.
    """
    drawn = draw_scalar(rng, n)
    epsilon, whole, alpha, gamma = (drawn[k] for k in ("epsilon", "sensitivity", "alpha", "gamma"))
    d = whole * rng.uniform(0.2, 1, n)
    k = rng.integers(1, 3, n)
    trials = zip(alpha, gamma, d, epsilon, k, strict=True)
    exact = np.array([
        float(vector_profile(FlippedHuber(a, g), float(x), float(e), copies=int(c)).upper)
        for a, g, x, e, c in trials
    ])  # fmt: skip
    centre = k * (d**2 + printed.transition_cost(alpha, whole)) / 2

    def beyond(sign: int) -> Array:
        level = gamma**2 * epsilon + sign * centre
        one = tail(level / d, alpha, gamma)
        return np.where(k == 1, one, two_fold_tail(level, d, d, alpha, gamma))

    slack = at_most(exact, beyond(-1) - np.exp(epsilon) * beyond(1))
    return Outcome(slack, 1e-7, drawn | {"d": d, "K": k})


def normal_bound(rng: Generator, n: int) -> Outcome:
    """Relative slack of (20) for flipped Huber noise in 2 and in 4 to 6 dimensions.

    A tenth of the levels a is 0, where both sides are 1/2.
    """
    drawn = draw_shape(rng, n)
    d = log_uniform(rng, 0.1, 1, (2, n))
    a = 5 * rng.random(n) * (rng.random(n) > 0.1)
    left = two_fold_tail(
        a * drawn["gamma"] * np.hypot(*d), d[0], d[1], drawn["alpha"], drawn["gamma"]
    )
    two = Outcome(
        _relative(left, printed.upper_tail(a)), 1e-9, drawn | {"a": a, "K": np.full(n, 2.0)}
    )
    more, d = _draw_many(rng, n // _MANY)
    a = 5 * rng.random(n // _MANY) * (rng.random(n // _MANY) > 0.1)
    level = a * more["gamma"] * np.linalg.norm(d, axis=0)
    left = many_fold_tail(level, d, more["alpha"], more["gamma"])
    return _with_many(two, _relative(left, printed.upper_tail(a)), more | {"a": a})


_MANY = 5  # one trial of so many is tried in more than two dimensions as well


def _relative(left: Array, right: Array) -> Array:
    """Relative slack of left <= right."""
    return at_most(left, right, right)


def _draw_many(rng: Generator, n: int) -> tuple[dict[str, Array], Array]:
    """Shapes with alpha up to 3 gamma, and four to six positive differences per trial."""
    drawn = draw_shape(rng, n)
    drawn["alpha"] = np.minimum(drawn["alpha"], 3 * drawn["gamma"])
    count = rng.integers(4, 7, n)
    d = log_uniform(rng, 0.5, 1, (6, n)) * (np.arange(6)[:, None] < count)
    return drawn | {"K": count.astype(float)}, d


def _with_many(two: Outcome, margin: Array, drawn: dict[str, Array]) -> Outcome:
    """Outcome in two dimensions with further trials, of `many_fold_tail`'s precision, put first.

    They replace as many of the trials. Parameters that only one kind of trial has are left out.
    """
    m = len(margin)
    whole = two.margin.copy()
    whole[:m] = margin + _MANY_ERROR - two.tolerance
    names = [name for name in two.parameters if name in drawn]
    parameters = {name: np.concatenate([drawn[name], two.parameters[name][m:]]) for name in names}
    return Outcome(whole, two.tolerance, parameters)


_MANY_ERROR = 1e-7


def sub_gaussian_implication(rng: Generator, n: int) -> Outcome:
    """Slack of (20) for X = +-1, sub-Gaussian with proxy variance 1."""
    a = rng.uniform(0, 1.5, n)
    return Outcome(at_most(0.5 * (a < 1), printed.upper_tail(a)), 1e-12, {"a": a})


def upper_tail_bound(rng: Generator, n: int) -> Outcome:
    """Relative slack of Lemma 5 in 2 and in 4 to 6 dimensions, ||d||_2 <= Delta_2.

    In about half of the trials ||d||_2 = Delta_2, where the bound is attained as alpha falls to 0.
    """
    drawn, d = _draw_neighbours(rng, n, inside=rng.random(n) < 0.5)
    level, _ = _levels(drawn, d)
    left = two_fold_tail(level, d[0], d[1], drawn["alpha"], drawn["gamma"])
    drawn["K"] = np.full(n, 2.0)
    two = Outcome(_relative(left, _theorem(drawn)[0]), 1e-9, drawn)
    more, worst = _draw_many(rng, n // _MANY)
    worst *= more["gamma"]
    more |= {"delta2": np.linalg.norm(worst, axis=0), "sensitivity": worst.max(axis=0)}
    cost = more["K"] * printed.transition_cost(more["alpha"], more["sensitivity"])
    smallest = (more["delta2"] ** 2 + cost) / (2 * more["gamma"] ** 2)
    more["epsilon"] = smallest + rng.exponential(size=n // _MANY)
    d = worst * np.where(rng.random(n // _MANY) < 0.5, rng.uniform(0.6, 1, worst.shape), 1.0)
    level = more["gamma"] ** 2 * more["epsilon"] - (np.sum(d * d, axis=0) + cost) / 2
    left = many_fold_tail(level, d, more["alpha"], more["gamma"])
    norms = worst.sum(axis=0), more["delta2"], more["sensitivity"]
    bound = printed.theorem_8(more["epsilon"], more["alpha"], more["gamma"], more["K"], norms)[0]
    return _with_many(two, _relative(left, bound), more)


def lower_tail_bound(rng: Generator, n: int, *, inside: bool) -> Outcome:
    """Relative slack of Lemma 7 in two dimensions, ||d||_2 = Delta_2 or, inside, at most that."""
    drawn, d = _draw_neighbours(rng, n, inside=inside)
    left = two_fold_tail(_levels(drawn, d)[1], d[0], d[1], drawn["alpha"], drawn["gamma"])
    right = _theorem(drawn)[1]
    return Outcome(at_most(right, left, right), 1e-9, drawn)


def _draw_neighbours(
    rng: Generator, n: int, *, inside: NDArray[np.bool] | bool
) -> tuple[dict[str, Array], Array]:
    """Parameters that satisfy Theorem 8's condition, and differences of two coordinates.

    Sensitivities are the norms of a vector; d is that vector, or part of it where `inside`.
    """
    drawn = draw_shape(rng, n)
    drawn["alpha"] = np.minimum(drawn["alpha"], 2 * drawn["gamma"])
    worst = log_uniform(rng, 0.5, 2, (2, n)) * drawn["gamma"]
    drawn |= {"delta1": worst.sum(axis=0), "delta2": np.hypot(*worst), "sensitivity": worst.max(0)}
    minimum = drawn["delta2"] ** 2 + 2 * printed.transition_cost(
        drawn["alpha"], drawn["sensitivity"]
    )
    minimum /= 2 * drawn["gamma"] ** 2
    drawn["epsilon"] = minimum + rng.exponential(size=n)
    d = worst * np.where(inside, log_uniform(rng, 0.2, 1, (2, n)), 1.0)
    return drawn | {"d1": d[0], "d2": d[1]}, d


def _levels(drawn: dict[str, Array], d: Array) -> tuple[Array, Array]:
    """Levels a and b with P(affine loss >= epsilon) = P(T'd >= a), P(<= -epsilon) = P(>= b)."""
    cost = 2 * printed.transition_cost(drawn["alpha"], drawn["sensitivity"])
    centre = (np.sum(d * d, axis=0) + cost) / 2
    scaled = drawn["gamma"] ** 2 * drawn["epsilon"]
    return scaled - centre, scaled + centre


def _theorem(drawn: dict[str, Array]) -> tuple[Array, Array]:
    """Both tails of Theorem 8."""
    norms = drawn["delta1"], drawn["delta2"], drawn["sensitivity"]
    return printed.theorem_8(drawn["epsilon"], drawn["alpha"], drawn["gamma"], 2, norms)[:2]


def _places(rng: Generator, drawn: dict[str, Array]) -> Array:
    """Points within 8 gamma of 0, half of them as near to 0 as the noise is."""
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    near = rng.random(len(gamma)) < 0.5
    unit = np.where(near, np.minimum(gamma, gamma**2 / alpha), gamma)
    return unit * rng.uniform(-8, 8, len(gamma))


def stochastic_bound(rng: Generator, n: int) -> Outcome:
    """Slack of Lemma 6, P(T > t) <= Q((t - theta) / gamma)."""
    drawn = draw_wide(rng, n)
    t = _places(rng, drawn)
    right = printed.upper_tail((t - printed.shift(**drawn)) / drawn["gamma"])
    # Below the median both sides are near 1 and the other tail says more.
    left = np.where(t < 0, -tail(-t, **drawn), tail(t, **drawn))
    right = np.where(
        t < 0, -printed.upper_tail((printed.shift(**drawn) - t) / drawn["gamma"]), right
    )
    return Outcome(at_most(left, right, np.abs(left)), 1e-9, drawn | {"t": t})


def first_step(rng: Generator, n: int) -> Outcome:
    """Slack of G(t) >= sqrt(2 pi) / omega Q(-t / gamma), Lemma 6."""
    drawn = draw_wide(rng, n)
    t = _places(rng, drawn)
    left = tail(-t, **drawn)
    right = printed.ROOT_2PI / printed.omega(**drawn) * printed.upper_tail(-t / drawn["gamma"])
    return Outcome(at_most(right, left, right), 1e-10, drawn | {"t": t})


def esseen(rng: Generator, n: int) -> Outcome:
    """Slack of Q(a + b) <= 2 Q(a) Q(b) for a >= 0 and every b."""
    a, b = 4 * rng.random(n), rng.uniform(-4, 4, n)
    right = 2 * printed.upper_tail(a) * printed.upper_tail(b)
    return Outcome(at_most(printed.upper_tail(a + b), right, right), 1e-12, {"a": a, "b": b})


def esseen_positive(rng: Generator, n: int) -> Outcome:
    """Slack of the logarithm of Q(a + b) <= 2 Q(a) Q(b) for a, b from 1e-6 to 30."""
    a, b = log_uniform(rng, 1e-6, 30, (2, n))
    left, *right = (special.log_ndtr(-x) for x in (a + b, a, b))
    return Outcome(at_most(left, np.log(2) + sum(right)), 1e-12, {"a": a, "b": b})


def both_steps(rng: Generator, n: int) -> Outcome:
    """Smaller relative slack of what takes the place of the second step of Lemma 6, by sign of t.

    For t <= 0 Q(a + b) <= 2 Q(a) Q(b), in logarithms, with a = -t / gamma and b = theta / gamma;
    for t > 0 P(T > t) <= Q(t / gamma) <= Q((t - theta) / gamma).
    """
    drawn = draw_wide(rng, n)
    t = _places(rng, drawn)
    gamma, b = drawn["gamma"], printed.shift(**drawn) / drawn["gamma"]
    a = np.maximum(-t, 0) / gamma
    whole, *parts = (special.log_ndtr(-x) for x in (a + b, a, b))
    above = np.maximum(t, 0) / gamma
    chain = tail(above * gamma, **drawn), printed.upper_tail(above), printed.upper_tail(above - b)
    later = np.minimum(_relative(chain[0], chain[1]), _relative(chain[1], chain[2]))
    slack = np.where(t <= 0, at_most(whole, np.log(2) + sum(parts)), later)
    return Outcome(slack, 1e-9, drawn | {"t": t})


def normal_order(rng: Generator, n: int) -> Outcome:
    """Slack of Phi((a - theta s1) / s2) >= Phi((a - theta S1) / S2), Lemma 7's step.

    s2 <= s1 are the norms of d and S1 = S2 = 1 the sensitivities, in units of gamma.
    """
    s2, s1 = np.sort(rng.uniform(0.1, 1, (2, n)), axis=0)
    theta, a = 2 * rng.random(n), rng.uniform(-4, 4, n)
    whole = printed.upper_tail(theta - a)
    margin = at_most(whole, printed.upper_tail((theta * s1 - a) / s2))
    return Outcome(margin, 1e-12, {"norm1": s1, "norm2": s2, "theta": theta, "a": a})


def in_the_box(rng: Generator, n: int) -> Outcome:
    """Relative slack of Theorem 8 at Delta = 1, Delta_2 = sqrt K, Delta_1 = K.

    In half of the trials d is the corner of the box abs(d_i) <= Delta, in half it has 1 to K equal
    entries of 0.3 to 1, the others 0: inside the corner, where Lemma 7 fails.
    """
    k = rng.integers(1, 31, n).astype(float)
    corner = rng.random(n) < 0.5
    entry = np.where(corner, 1.0, log_uniform(rng, 0.3, 1, n))
    moved = np.where(corner, k, rng.integers(1, k + 1)).astype(float)
    drawn = {"dimension": k, "entry": entry, "moved": moved}
    drawn |= _draw_noise(rng, k, np.sqrt(k), np.ones(n))
    names = "alpha", "gamma", "entry", "moved", "epsilon"
    exact = [_exact(*row) for row in _rows(drawn, *names)]
    bound = _bound(drawn, k, (k, np.sqrt(k), np.ones(n)))
    return Outcome(at_most(np.array(exact), bound, bound), _TOLERANCE, drawn)


def with_two_neighbours(rng: Generator, n: int) -> Outcome:
    """Relative slack of Theorem 8 for a spread d beside a concentrated one.

    The spread d has K equal entries and, in most trials, the largest l1 norm; the concentrated d'
    is one entry with the largest l2 and l-infinity norm. The slack is that of the spread d.
    """
    k = rng.integers(2, 9, n).astype(float)
    delta2 = np.ones(n)
    part = log_uniform(rng, 0.3, 1, n)
    entry = part / np.sqrt(k)
    drawn = {"dimension": k, "entry": entry} | _draw_noise(rng, k, delta2, delta2)
    names = "alpha", "gamma", "entry", "dimension", "epsilon"
    exact = [_exact(*row) for row in _rows(drawn, *names)]
    bound = _bound(drawn, k, (np.maximum(k * entry, 1), delta2, delta2))
    return Outcome(at_most(np.array(exact), bound, bound), _TOLERANCE, drawn)


def _draw_noise(rng: Generator, k: Array, delta2: Array, delta: Array) -> dict[str, Array]:
    """Random epsilon, gamma and an alpha that the theorem admits."""
    n = len(k)
    epsilon = log_uniform(rng, 0.05, 4, n)
    smallest = delta2**2 / (2 * epsilon)
    gamma = np.sqrt(smallest * (1 + log_uniform(rng, 0.1, 20, n)))
    largest_cost = (2 * gamma**2 * epsilon - delta2**2) / k
    alpha = printed.transition_inverse(largest_cost, delta) * rng.uniform(0.02, 1, n)
    return {"epsilon": epsilon, "alpha": np.minimum(alpha, 30 * gamma), "gamma": gamma}


def _rows(drawn: dict[str, Array], *names: str) -> list[tuple[float, ...]]:
    return list(zip(*(drawn[name].tolist() for name in names), strict=True))


def _exact(alpha: float, gamma: float, d: float, copies: float, epsilon: float) -> float:
    """Upper bound on the exact delta for one difference with equal entries d."""
    noise = FlippedHuber(alpha, gamma)
    return float(vector_profile(noise, d, epsilon, copies=int(copies)).upper)


def _bound(drawn: dict[str, Array], k: Array, norms: tuple[Array, Array, Array]) -> Array:
    upper, lower, _ = printed.theorem_8(drawn["epsilon"], drawn["alpha"], drawn["gamma"], k, norms)
    return upper - np.exp(drawn["epsilon"]) * lower


_COORDINATES = 6  # at most, of Section VI-A
_MOST = 29  # coordinates and batches of Section VI-B


def _log_moment(alpha: Array, gamma: Array, d: Array, s: Array, bound: Array) -> Array:
    """Log of E exp(s loss) for a shift d, less `bound`, which keeps the integrand in range."""
    a, g, c, m, r = (column(v) for v in (alpha, gamma, d, s, bound))
    far = alpha + s * d + REACH * gamma
    edges = [-far, -alpha, -alpha - d, 0 * d, -d, alpha - d, alpha, s * d, far]

    def integrand(t: Array) -> Array:
        rho = printed.loss_function
        return np.exp((m * (rho(t + c, a) - rho(t, a)) - rho(t, a)) / g**2 - r)

    value = integrate(integrand, np.stack(edges, axis=1), parts=8) / mass(alpha, gamma)
    return np.log(value)


def renyi(rng: Generator, n: int) -> Outcome:
    """Slack of Theorem 9: Renyi divergence at order s + 1 <= xi + (s + 1) eta.

    In half of the trials d is Delta, where the bound is attained as alpha falls to 0.
    """
    drawn = draw_scalar(rng, n)
    whole, alpha, gamma = (drawn[k] for k in ("sensitivity", "alpha", "gamma"))
    whole = np.minimum(whole, 4 * gamma)
    d = whole * np.where(rng.random(n) < 0.5, rng.uniform(0.02, 1, n), 1.0)
    s = log_uniform(rng, 0.01, 20, n) * gamma / whole
    xi = printed.transition_cost(alpha, whole) / (2 * gamma**2)
    eta = whole**2 / (2 * gamma**2)
    bound = s * (xi + (s + 1) * eta)
    margin = -_log_moment(alpha, gamma, d, s, bound) / bound
    return Outcome(
        margin, 1e-9, {"alpha": alpha, "gamma": gamma, "sensitivity": whole, "d": d, "s": s}
    )


def vector_renyi(rng: Generator, n: int) -> Outcome:
    """Slack of Section VI-A: xi = K R_Delta(alpha) / (2 gamma^2), eta = Delta_2^2 / (2 gamma^2).

    One to six coordinates; the sensitivities are the norms of a vector, d is a part of it, and in
    half of the trials all of it.
    """
    drawn = draw_shape(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    count = rng.integers(1, _COORDINATES + 1, n)
    used = np.arange(_COORDINATES)[:, None] < count
    worst = gamma * log_uniform(rng, 0.1, 4, used.shape) * used
    part = rng.uniform(0.02, 1, used.shape)
    d = worst * np.where(rng.random(n) < 0.5, part, 1.0)
    delta, delta2 = worst.max(axis=0), np.linalg.norm(worst, axis=0)
    s = log_uniform(rng, 0.01, 20, n) * gamma / delta
    xi = count * printed.transition_cost(alpha, delta) / (2 * gamma**2)
    bound = s * (xi + (s + 1) * delta2**2 / (2 * gamma**2))
    margin = -_spent(alpha, gamma, d, s, bound) / bound
    drawn |= {"sensitivity": delta, "delta2": delta2, "s": s, "K": count.astype(float)}
    return Outcome(margin, 1e-9, drawn)


def _spent(alpha: Array, gamma: Array, d: Array, s: Array, bound: Array) -> Array:
    """Log of E exp(s loss) over independent coordinates, less `bound`; d of shape (K, trials).

    A coordinate with d = 0 spends nothing. alpha and gamma are for all coordinates or for each.
    """
    share = bound / np.sum(d > 0, axis=0)
    alphas, gammas = np.broadcast_to(alpha, d.shape), np.broadcast_to(gamma, d.shape)
    total = np.zeros(d.shape[1])
    for a, g, one in zip(alphas, gammas, d, strict=True):
        used = one > 0
        if used.any():  # of few trials none may have so many coordinates
            total[used] += _log_moment(a[used], g[used], one[used], s[used], share[used])
    return total


def batch_parameters(rng: Generator, n: int) -> Outcome:
    """Error of Section VI-B: alpha_0 and gamma_0 spend xi_0 and eta_0 on one batch.

    By the pair of Section VI-A it is exact. The Renyi divergence of the noise, by quadrature, is at
    most that of the budget at an order drawn for each trial.
    """
    xi, eta = _budgets(rng, n)
    count, sizes = _sensitivities(rng, n)
    delta, delta2 = sizes.max(axis=0), np.linalg.norm(sizes, axis=0)
    alpha = printed.transition_inverse(delta2**2 * xi / (count * eta), delta)
    gamma = delta2 / np.sqrt(2 * eta)
    spent_xi = count * printed.transition_cost(alpha, delta) / (2 * gamma**2)
    spent_eta = delta2**2 / (2 * gamma**2)
    margin = np.minimum(equal(spent_xi, xi, xi), equal(spent_eta, eta, eta))
    s = _order(rng, gamma, delta)
    bound = s * (xi + (s + 1) * eta)
    slack = -_spent(alpha, gamma, sizes, s, bound) / bound
    return Outcome(np.minimum(margin, slack), 1e-9, {"xi0": xi, "eta0": eta, "K": count})


def _budgets(rng: Generator, n: int) -> tuple[Array, Array]:
    """Random xi and eta. In half of the trials xi is next to nothing, where the bound is attained.

    There alpha is next to 0, and the noise all but Gaussian.
    """
    xi, eta = np.exp(rng.uniform(-6, 1, (2, n)))
    return xi * np.where(rng.random(n) < 0.5, 1e-7, 1.0), eta


def _sensitivities(rng: Generator, n: int) -> tuple[NDArray[np.int64], Array]:
    """Random numbers of coordinates and their sensitivities, of shape (29, trials), 0 beyond."""
    count = rng.integers(1, _MOST + 1, n)
    return count, np.exp(rng.uniform(-2, 1, (_MOST, n))) * (np.arange(_MOST)[:, None] < count)


def _order(rng: Generator, gamma: Array, d: Array) -> Array:
    """Random orders s for a difference of size d."""
    return log_uniform(rng, 0.01, 20, len(d)) * gamma / d


def coordinate_budgets(rng: Generator, n: int) -> Outcome:
    """Error of Section VI-B: the budgets of all coordinates and batches add up.

    By Theorem 9 it is exact. The Renyi divergence of all batches, by quadrature, is at most that of
    the budget at an order drawn for each trial.
    """
    xi, eta = _budgets(rng, n)
    count, sizes = _sensitivities(rng, n)
    batches = rng.integers(1, _MOST + 1, n)
    scale = np.sqrt(count * batches / (2 * eta))  # gamma_i / lambda_i, of every coordinate
    alpha, gamma = sizes * printed.transition_inverse(xi / eta, 1.0), sizes * scale
    twice = np.where(sizes > 0, 2 * gamma**2, 1)
    spent_xi = batches * np.sum(printed.transition_cost(alpha, sizes) / twice, axis=0)
    spent_eta = batches * np.sum(sizes**2 / twice, axis=0)
    margin = np.minimum(equal(spent_xi, xi, xi), equal(spent_eta, eta, eta))
    s = _order(rng, scale, np.ones(n))
    bound = s * (xi + (s + 1) * eta)
    slack = -batches * _spent(alpha, gamma, sizes, s, bound / batches) / bound
    drawn = {"xi": xi, "eta": eta, "K": count, "L": batches}
    return Outcome(np.minimum(margin, slack), 1e-9, drawn)


def same_requirement(rng: Generator, n: int) -> Outcome:
    """Slack of Section VI-C: epsilon >= xi + eta is the requirement of Theorem 8.

    Zero if both hold or both fail, else -1; epsilon lies on either side of xi + eta. The
    requirement is taken as Theorem 8 prints it and as this section does, with the inverse (21).
    """
    drawn = draw_scalar(rng, n)
    alpha, gamma, delta = (drawn[k] for k in ("alpha", "gamma", "sensitivity"))
    count = rng.integers(1, 30, n)
    delta2 = delta * np.sqrt(count * rng.uniform(0.1, 1, n))
    cost = printed.transition_cost(alpha, delta)
    needed = (count * cost + delta2**2) / (2 * gamma**2)  # xi + eta
    epsilon = needed * np.exp(rng.choice([-1, 1], n) * np.exp(rng.uniform(-9, 1, n)))
    norms = (delta * count, delta2, delta)
    holds = printed.theorem_8(epsilon, alpha, gamma, count.astype(float), norms)[2]
    spare = (2 * gamma**2 * epsilon - delta2**2) / count
    inverse = printed.transition_inverse(np.maximum(spare, 0), delta)
    inverted = (spare > 0) & (alpha <= inverse)
    right = epsilon >= needed
    margin = np.where((holds == right) & (inverted == right), 0.0, -1.0)
    return Outcome(margin, 1e-12, drawn | {"epsilon": epsilon, "K": count, "delta2": delta2})
