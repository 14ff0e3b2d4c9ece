"""Checks of Sections II and III and Appendices A and B: the density, its moments, its tails.

Flipped Huber noise T and Gaussian noise Z ~ N(0, gamma^2) have the density ratio
exp((t^2 / 2 - rho_alpha(t)) / gamma^2) times a constant, which falls in |t|. Hence |T| is
smaller than |Z| in the likelihood-ratio order. That one line proves variance <= gamma^2,
Lemma 2 (E cosh(sT) <= E cosh(sZ)) and P(T > a) <= Q(a / gamma) for a >= 0; the paper's own
proof of Lemma 2 rests on an implication that is false (`orlicz-implies-lemma-2` below).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from dpnoise_papers.checks import REACH, Outcome, at_most, column, equal, integrate, log_uniform
from dpnoise_papers.flipped_huber_2023 import as_printed as printed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


def draw_shape(
    rng: Generator, n: int, ratios: tuple[float, float] = (0.01, 6.0)
) -> dict[str, Array]:
    """Random pairs alpha, gamma with alpha / gamma between two ratios, in log scale."""
    gamma = log_uniform(rng, 0.2, 5.0, n)
    return {"alpha": gamma * log_uniform(rng, *ratios, n), "gamma": gamma}


def draw_wide(rng: Generator, n: int) -> dict[str, Array]:
    """Random pairs alpha, gamma with alpha / gamma from 0.003 to 30, in log scale.

    As far as the formulas of the density can be evaluated as they are printed.
    """
    return draw_shape(rng, n, (0.003, 30.0))


def draw_scalar(rng: Generator, n: int) -> dict[str, Array]:
    """Random shapes with a sensitivity and an epsilon that together reach all five cases."""
    drawn = draw_shape(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    # Half of the sensitivities compare with alpha, half with gamma.
    unit = np.where(rng.random(n) < 0.5, alpha, gamma)
    sensitivity = unit * log_uniform(rng, 0.1, 5.0, n)
    sensitivity = np.minimum(sensitivity, 6 * gamma)
    last = (sensitivity + 2 * alpha) * sensitivity / (2 * gamma**2)
    return drawn | {"sensitivity": sensitivity, "epsilon": last * rng.uniform(0, 1.4, n)}


def kinks(alpha: Array, gamma: Array, *points: Array) -> Array:
    """Edges for an integral against the density: its kinks, its ends and more points between.

    The density falls from 0 as that of Laplace noise of scale gamma^2 / alpha, some multiples of
    which are edges where they lie before the transition.
    """
    end = alpha + REACH * gamma
    rows = [np.clip(p, -end, end) for p in (-end, -alpha, np.zeros_like(alpha), alpha, end)]
    for scales in (2.0, 8.0, 36.0):
        inner = np.minimum(scales * gamma**2 / np.maximum(alpha, 1e-300), alpha)
        rows += [-inner, inner]
    rows += [np.clip(p, -end, end) for p in points]
    return np.stack(rows, axis=1)


def weight(t: Array, alpha: Array, gamma: Array) -> Array:
    """Density but for its factor, exp(-rho_alpha(t) / gamma^2)."""
    return np.exp(-printed.loss_function(t, alpha) / gamma**2)


def mass(alpha: Array, gamma: Array) -> Array:
    """Integral of `weight` by quadrature."""
    a, g = column(alpha), column(gamma)
    return integrate(lambda t: weight(t, a, g), kinks(alpha, gamma))


def mean(
    function: Callable[[Array], Array], alpha: Array, gamma: Array, edges: Array | None = None
) -> Array:
    """Mean E f(T) by quadrature, or the part of it between the first and the last edge."""
    a, g = column(alpha), column(gamma)
    edges = kinks(alpha, gamma) if edges is None else edges
    return integrate(lambda t: function(t) * weight(t, a, g), edges) / mass(alpha, gamma)


def _below(x: Array, alpha: Array, gamma: Array) -> Array:
    """P(T < x) by quadrature of the density."""
    edges = np.minimum(kinks(alpha, gamma, x), x[:, None])
    return mean(np.ones_like, alpha, gamma, edges)


def bisect(
    passed: Callable[[Array], Any], low: Array | float, high: Array | float
) -> tuple[Array, Array]:
    """Ends around the point from which on a condition is passed, a hundred halvings apart."""
    ends = np.asarray(low), np.asarray(high)
    # ends: halves to the last digit
    for _ in range(100):
        middle = np.asarray(0.5 * (ends[0] + ends[1]))
        found = passed(middle)
        ends = np.where(found, ends[0], middle), np.where(found, middle, ends[1])
    return ends


def tail(x: Array, alpha: Array, gamma: Array) -> Array:
    """P(T > x) of flipped Huber noise, a sum of positive terms where x >= 0."""
    w, b, size = printed.omega(alpha, gamma), alpha / gamma, np.abs(x)
    rim = printed.ROOT_2PI * printed.upper_tail(np.maximum(size / gamma, b))
    inside = np.minimum(size, alpha) / gamma
    centre = np.exp(b * (b / 2 - inside)) * -np.expm1(-b * (b - inside)) / b
    upper = (rim + centre) / w
    return np.where(x < 0, 1 - upper, upper)


def two_fold_tail(level: Array, one: Array, two: Array, alpha: Array, gamma: Array) -> Array:
    """P(one T_1 + two T_2 > level) of flipped Huber noise, by quadrature."""
    middle = level * one / (one * one + two * two)  # where T_1 is most likely to be then
    end = alpha + np.abs(middle) + REACH * gamma
    places = [(level - two * edge) / one for edge in (-alpha, 0 * alpha, alpha)]
    places += [middle - REACH / 2 * gamma, middle, middle + REACH / 2 * gamma]
    edges = [-end, -alpha, 0 * end, alpha, end, *(np.clip(p, -end, end) for p in places)]
    a, g, x, c, e = (column(v) for v in (alpha, gamma, level, one, two))
    return mean(lambda t: tail((x - c * t) / e, a, g), alpha, gamma, np.stack(edges, axis=1))


def many_fold_tail(level: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """P(d_1 T_1 + ... + d_K T_K > level) of flipped Huber noise, by inverting its transform.

    `d`, shape (K, trials), may have zeros, but four entries of a trial or more are of one size.
    The integral of exp(-s level) M(s) / (2 pi i s) runs along the line with real part c, near the
    point where it is least, so that all terms are of the size of the result. M is a power of
    1 / abs(s) far out, where the integral is cut off.
    """
    norm = np.linalg.norm(d, axis=0)
    c = np.maximum(level / (gamma * norm), 0.5) / (gamma * norm)
    unit = np.maximum(alpha / gamma, 1.0) / (gamma * d.max(axis=0))
    edges = unit[:, None] * np.concatenate([[0.0], np.geomspace(0.25, 60.0, 40)])
    base = _log_transform(c[None, :] + 0j, d, alpha, gamma)[0].real

    def integrand(u: Array) -> Array:
        s = c[:, None, None] + 1j * u
        flat = s.reshape(len(c), -1).T
        power = _log_transform(flat, d, alpha, gamma).T.reshape(s.shape) - column(base)
        return (np.exp(power - 1j * u * column(level)) / s).real

    total = integrate(integrand, edges, parts=6)
    return total * np.exp(base - c * level) / math.pi


def _log_transform(s: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """Sum over i of log E exp(s d_i T), s of shape (nodes, trials)."""
    normaliser = mass(alpha, gamma)
    total = np.zeros_like(s)
    for size in d:
        inside = s * size
        both = sum(_half_transform(sign * inside, alpha, gamma) for sign in (-1, 1))
        with np.errstate(divide="ignore"):  # far out on the line it is 0
            total += np.log(both / normaliser)
    return total


def _half_transform(s: Array, alpha: Array, gamma: Array) -> Array:
    """Integral of exp(s t) `weight`(t) over t > 0."""
    rate = alpha / gamma**2 - s
    centre = -np.expm1(-rate * alpha) / rate
    z = (alpha / gamma - gamma * s) / math.sqrt(2)
    rim = gamma * math.sqrt(math.pi / 2) * special.wofz(1j * z)
    return centre + rim * np.exp(-((alpha / gamma) ** 2) + alpha * s)


_ERROR = 1e-12  # of a moment by quadrature, relative


def _variance(drawn: dict[str, Array]) -> Array:
    return mean(np.square, **drawn)


def _information(drawn: dict[str, Array]) -> Array:
    a, g = column(drawn["alpha"]), column(drawn["gamma"])
    return mean(lambda t: (np.maximum(np.abs(t), a) / g**2) ** 2, **drawn)


def norm_equivalence(rng: Generator, n: int) -> Outcome:
    """Slack of (5), first half, for queries with four differences of neighbours each.

    A sensitivity is the largest norm of the four, in 1 to 30 dimensions. In a third of the trials
    the differences have equal entries, in a third a single one, where the bound is attained. A
    tenth of the orders is 1, a tenth is infinite.
    """
    k = rng.integers(1, 31, n)
    kind = rng.integers(0, 3, n)[:, None, None]
    drawn = rng.standard_normal((n, 4, 30)) ** 3
    d = np.where(kind == 0, drawn, drawn[:, :, :1])
    d = d * (np.arange(30) < np.where(kind == 2, 1, k[:, None, None]))
    orders = np.where(rng.random((2, n)) < 0.1, np.inf, 1 + rng.exponential(3.0, (2, n)))
    orders = np.where(rng.random((2, n)) < 0.1, 1.0, orders)
    q, r = orders
    left, right = (_sensitivity(d, p) for p in orders)
    right = k ** np.maximum(1 / q - 1 / r, 0) * right
    return Outcome(at_most(left, right, right), 1e-12, {"q": q, "r": r, "K": k})


def _sensitivity(d: Array, order: Array) -> Array:
    """Largest norm among some differences; d of shape (trials, differences, coordinates)."""
    largest = np.max(np.abs(d), axis=2)
    p = np.where(np.isinf(order), 1.0, order)[:, None]
    powers = np.sum((np.abs(d) / largest[:, :, None]) ** p[:, :, None], axis=2)
    norms = np.where(np.isinf(order)[:, None], largest, largest * powers ** (1 / p))
    return np.max(norms, axis=1)


def norm_order(rng: Generator, n: int, *, turned: bool) -> Outcome:
    """Slack of (5), second half as printed: Delta_q <= Delta_r for r >= q; or turned round."""
    sides, drawn = _ordered_norms(rng, n)
    left, right = sides[::-1] if turned else sides
    return Outcome(at_most(left, right, right), 1e-12, drawn)


def _ordered_norms(rng: Generator, n: int) -> tuple[tuple[Array, Array], dict[str, Array]]:
    """Norms of one difference of order q and of order r >= q, and the orders.

    A fifth of the pairs has r infinite.
    """
    d = rng.standard_normal((n, 1, 6)) ** 3
    q, r = np.sort(rng.uniform(1, 8, (2, n)), axis=0)
    r = np.where(rng.random(n) < 0.2, np.inf, r)
    return (_sensitivity(d, q), _sensitivity(d, r)), {"q": q, "r": r}


def distribution_function(rng: Generator, n: int) -> Outcome:
    """Error of (10) against quadrature of the density."""
    drawn = draw_wide(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    # Half of the points lie as the noise does, half anywhere up to beyond the transition.
    near = np.minimum(gamma, gamma**2 / alpha) * rng.exponential(size=n)
    size = np.where(rng.random(n) < 0.5, near, (alpha + 3 * gamma) * rng.random(n))
    at = size * np.where(rng.random(n) < 0.5, -1, 1)
    margin = equal(printed.cdf(at, alpha, gamma), _below(at, alpha, gamma))
    return Outcome(margin, 1e-11, drawn | {"t": at})


def quantile_function(rng: Generator, n: int) -> Outcome:
    """Relative error of the mass beyond (23), by quadrature, and of (10) at it, on both sides."""
    drawn = draw_wide(rng, n)
    less = 0.5 * log_uniform(rng, 1e-6, 1, n)
    u = np.where(rng.random(n) < 0.5, less, 1 - less)
    t = printed.quantile(u, **drawn)
    beyond = _below(-np.abs(t), **drawn)
    margin = np.minimum(equal(beyond, less, less), equal(printed.cdf(t, **drawn), u))
    margin = np.where((t > 0) == (u > 0.5), margin, -1.0)
    return Outcome(margin, 1e-9, drawn | {"u": u})


def minimum_omega(rng: Generator, n: int) -> Outcome:
    """Slack of Proposition 1, and 1e-12 less the relative error of (9) against quadrature."""
    drawn = draw_wide(rng, n)
    w = drawn["gamma"] ** -1 * mass(**drawn) * np.exp((drawn["alpha"] / drawn["gamma"]) ** 2 / 2)
    slack = at_most(printed.ROOT_2PI, w, w)
    return Outcome(np.minimum(slack, equal(printed.omega(**drawn), w, w)), 1e-12, drawn)


def moment_formula(rng: Generator, n: int, *, name: str) -> Outcome:
    """Relative error of (11) or (12) against quadrature."""
    drawn = draw_wide(rng, n)
    value = {"variance": _variance, "fisher_information": _information}[name](drawn)
    return Outcome(equal(getattr(printed, name)(**drawn), value, value), 1e-9, drawn)


def variance_bound(rng: Generator, n: int) -> Outcome:
    """Slack of variance < gamma^2 in units of gamma^2, less what quadrature can err by."""
    drawn = draw_wide(rng, n)
    return Outcome(1 - _variance(drawn) / drawn["gamma"] ** 2 - _ERROR, 0.0, drawn)


def information_bound(rng: Generator, n: int) -> Outcome:
    """Slack of Fisher information > 1 / gamma^2 in its units, less what quadrature can err by."""
    drawn = draw_wide(rng, n)
    return Outcome(_information(drawn) * drawn["gamma"] ** 2 - 1 - _ERROR, 0.0, drawn)


def hyperbolic_bounds(rng: Generator, n: int) -> Outcome:
    """Smaller slack of (24), sinh a <= a cosh a <= a e^a; a tenth of the a is 0, where it is 0."""
    a = log_uniform(rng, 1e-3, 50, n) * (rng.random(n) > 0.1)
    middle, right = a * np.cosh(a), a * np.exp(a)
    unit = np.where(a > 0, right, 1.0)
    slack = np.minimum(at_most(np.sinh(a), middle, unit), at_most(middle, right, unit))
    return Outcome(slack, 1e-12, {"a": a})


def mgf_formula(rng: Generator, n: int) -> Outcome:
    """Relative error of the moment generating function against quadrature."""
    drawn, value = _mgf(rng, n)
    s = drawn["s"]
    formula = printed.mgf(s, drawn["alpha"], drawn["gamma"])
    formula *= np.exp(-((drawn["gamma"] * s) ** 2) / 2)
    return Outcome(equal(formula, value, value), 1e-8, drawn)


def sub_gaussian(rng: Generator, n: int) -> Outcome:
    """Slack of Lemma 2, M(s) e^{-gamma^2 s^2 / 2} <= 1."""
    drawn, value = _mgf(rng, n)
    return Outcome(1 - value, 1e-12, drawn)


def _mgf(rng: Generator, n: int) -> tuple[dict[str, Array], Array]:
    """Parameters and M(s) e^{-gamma^2 s^2 / 2} by quadrature."""
    drawn = draw_shape(rng, n)
    drawn["alpha"] = np.where(rng.random(n) < 0.2, 2.0, 1.0) * drawn["alpha"]
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    s = log_uniform(rng, 0.02, 12, n) / gamma
    s *= np.where(rng.random(n) < 0.5, -1, 1)
    end = alpha + gamma**2 * np.abs(s) + 12 * gamma
    steps = [part / 8 * alpha for part in range(-8, 9)]
    edges = np.stack([-end, *steps, gamma**2 * s, end], axis=1)
    a, g, c = column(alpha), column(gamma), column(s)

    def integrand(t: Array) -> Array:
        return np.exp(c * t - (g * c) ** 2 / 2 - printed.loss_function(t, a) / g**2)

    return drawn | {"s": s}, integrate(integrand, edges, parts=6) / mass(alpha, gamma)


def orlicz_identity(rng: Generator, n: int) -> Outcome:
    """Relative error of C_{alpha,gamma}(s) against quadrature."""
    drawn = draw_shape(rng, n)
    s = rng.uniform(0.002, 0.98, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    a, g, c = column(alpha), column(gamma), column(s)
    end = alpha + 12 * gamma / np.sqrt(1 - s)
    edges = np.stack([-end, -alpha, 0 * end, alpha, end], axis=1)
    total = integrate(
        lambda t: np.exp((c * t * t / 2 - printed.loss_function(t, a)) / g**2), edges, parts=8
    )
    value = np.sqrt(1 - s) * total / mass(alpha, gamma)
    margin = equal(printed.orlicz_factor(s, alpha, gamma), value, value)
    return Outcome(margin, 1e-8, drawn | {"s": s})


def orlicz_decrease(rng: Generator, n: int) -> Outcome:
    """Smaller slack of two forms of: C falls strictly, less what rounding can err by.

    C(s') < C(s) for s < s', as C is printed, in units of s' - s, where alpha / gamma is at least
    0.1: the difference falls as its cube. And, for all alpha / gamma, the derivative of 2 log C is
    below 0 at s: E_s T^2 < gamma^2 / (1 - s), by quadrature, where the mean E_s is that of the
    density times exp(s t^2 / (2 gamma^2)).
    """
    drawn = draw_wide(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    s = 10 ** rng.uniform(-3, -0.01, n) * np.where(rng.random(n) < 0.5, 0.5, 1.0)
    more = s + (0.999 - s) * rng.uniform(0.01, 1, n)
    low, high = (printed.orlicz_factor(x, alpha, gamma) for x in (s, more))
    printed_slack = np.where(alpha < 0.1 * gamma, np.inf, at_most(high, low, more - s) - 1e-7)
    a, g, c = column(alpha), column(gamma), column(s)
    end = alpha + 12 * gamma / np.sqrt(1 - s)
    edges = np.concatenate([kinks(alpha, gamma), np.stack([-end, end], axis=1)], axis=1)

    def tilted(t: Array) -> Array:
        shift = np.maximum(c * a * a / 2 - a * a, 0)  # keeps the exponent at alpha in range
        return np.exp((c * t * t / 2 - printed.loss_function(t, a) - shift) / g**2)

    whole = integrate(tilted, edges, parts=8)
    second = integrate(lambda t: t * t * tilted(t), edges, parts=8)
    slack = 1 - (1 - s) * second / whole / gamma**2 - _ERROR
    return Outcome(np.minimum(printed_slack, slack), 0.0, drawn | {"s": s, "larger_s": more})


def orlicz_limit(rng: Generator, n: int) -> Outcome:
    """Minus |C(s) - 1| at s = 1e-8, where C(s) - 1 is of order s."""
    drawn = draw_wide(rng, n)
    value = printed.orlicz_factor(1e-8, drawn["alpha"], drawn["gamma"])
    return Outcome(equal(value, 1.0), 1e-6, drawn)


def orlicz_implication(rng: Generator, n: int) -> Outcome:
    """Slack of M(s) <= e^{s^2/2} for three-point distributions that satisfy the condition.

    X is 0 or +-a. The mass p of +-a is the largest with E exp(s X^2 / 2) <= 1 / sqrt(1 - s)
    for all s in [0, 1), on a fine grid of s and less one per mille for what lies between.
    """
    a = rng.uniform(1.5, 6.0, n)
    s = 1 - np.geomspace(1, 1e-4, 4000)[1:]
    largest = np.min((1 / np.sqrt(1 - s) - 1) / np.expm1(s * a[:, None] ** 2 / 2), axis=1)
    p = np.minimum(0.999 * largest, 1)
    at = a
    mgf = 1 + p * (np.cosh(at * a) - 1)
    return Outcome(1 - mgf * np.exp(-at * at / 2), 1e-12, {"a": a, "p": p, "s": at})


def ends_of_alpha(rng: Generator, n: int) -> Outcome:
    """Slack of bounds on the L1 distance from N(0, gamma^2) and from the Laplace density.

    With b = alpha / gamma: at most b from the Gaussian, for b from 1e-6 to 0.1 and for b = 0, and
    at most 4 exp(-b^2) from the Laplace density of scale gamma^2 / alpha, for b from 1 to 30. The
    density is (8) with (9), at b = 0 with its integral.
    """
    gamma = draw_shape(rng, n)["gamma"]
    small = 10 ** rng.uniform(-6, -1, n)
    large = log_uniform(rng, 1, 30, n)
    g = column(gamma)

    def gaussian(t: Array) -> Array:
        return np.exp(-((t / g) ** 2) / 2) / (g * printed.ROOT_2PI)

    def laplace(t: Array) -> Array:
        beta = g / column(large)
        return np.exp(-np.abs(t) / beta) / (2 * beta)

    def distance(b: Array, other: Callable[[Array], Array], factor: Array) -> Array:
        alpha = b * gamma
        a, f = column(alpha), column(factor)
        end = 2 * (alpha + 36 * gamma / np.maximum(b, 1))
        edges = kinks(alpha, gamma, -end, end)
        edges = np.concatenate([edges, -end[:, None], end[:, None]], axis=1)
        return integrate(lambda t: np.abs(weight(t, a, g) / f - other(t)), edges, parts=8)

    none = np.zeros(n)
    at_none = distance(none, gaussian, mass(none, gamma))
    near = distance(small, gaussian, _normaliser(small, gamma))
    far = distance(large, laplace, _normaliser(large, gamma))
    slacks = (-at_none, at_most(near, small), at_most(far, 4 * np.exp(-(large**2))))
    drawn = {"gamma": gamma, "small alpha / gamma": small, "large alpha / gamma": large}
    return Outcome(np.minimum(np.minimum(*slacks[:2]), slacks[2]), 1e-11, drawn)


def _normaliser(b: Array, gamma: Array) -> Array:
    """Constant kappa of (8), as printed above (9)."""
    return gamma * printed.omega(b * gamma, gamma) * np.exp(-(b**2) / 2)
