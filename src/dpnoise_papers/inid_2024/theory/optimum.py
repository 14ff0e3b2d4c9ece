"""Checks of the optimal scales of inid-2024, and of the others beside them, over random parameters.

Theorems 4 and 5 with their proofs, Table I and Section IV-B. 'Optimal' is compared with a generic
constrained optimiser, SLSQP on logarithms of scales.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special, stats

from dpnoise.allocation.allocate import allocate
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise_papers.checks import Outcome, column, equal, integrate, log_uniform
from dpnoise_papers.inid_2024.tables.profiles import SCHEMES, formula
from dpnoise_papers.inid_2024.theory.tools import (
    budgets,
    draw_sensitivities,
    gaussian_delta,
    printed_scales,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


_SOLVED = 1e-6  # of a logarithm of an error, by the generic optimiser
_FLAT = 1e-8  # an eigenvalue that differences of the Hessian leave of 0, over the largest entry
_FAR = 100.0  # minus the logarithm of a scale that is far too small for every budget here


def _minimum(power: float, constraint: Callable, start: Array) -> float:
    """Minimum of log sum exp(power x) subject to constraint(x) >= 0, by SLSQP from two starts."""
    total: Callable = lambda x: _log_sum(power * x)  # noqa: E731 - typed loosely, as SciPy needs
    gradient: Callable = lambda x: power * _softmax(power * x)  # noqa: E731
    # ends: only feasible values count: ending early shows as a violation, never hides one
    found = [
        optimize.minimize(
            total, at, jac=gradient, method="SLSQP",
            constraints={"type": "ineq", "fun": constraint},
            options={"maxiter": 500, "ftol": 1e-13},
        )
        for at in (start, start + 0.3 * np.cos(np.arange(len(start))))
    ]  # fmt: skip
    good = [f.fun for f in found if constraint(f.x) > -_SOLVED / 10]
    return min(good) if good else math.nan


def _log_sum(exponents: Array) -> float:
    top = float(np.max(exponents))
    return top + math.log(np.sum(np.exp(exponents - top)))


def _softmax(exponents: Array) -> Array:
    """Gradient of `_log_sum`."""
    terms = np.exp(exponents - np.max(exponents))
    return terms / np.sum(terms)


def _apart(ours: float, found: float) -> float:
    """Minus the error to nine digits: what an optimiser leaves beyond is no result."""
    return -round(abs(ours - found), 9)


def _printed_optimum(noise: str, s: Array, p: float, unit: float) -> Array:
    """Scales of the last displays of both proofs, for a unit of 1/mu_0 or 1/epsilon.

    Theorems 4 and 5 are p = 2.
    """
    if noise == "gaussian":
        return unit * np.sqrt(s ** (4 / (p + 2)) * np.sum(s ** (2 * p / (p + 2))))
    return unit * s ** (1 / (p + 1)) * np.sum(s ** (p / (p + 1)))


def _gaussian_optimum(rng: Generator, n: int) -> Outcome:
    """Minus the error of Theorem 4 in log MSE, against (P1) solved as it stands."""
    drawn = budgets(rng, n) | {"K": rng.integers(2, 7, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        sensitivities = draw_sensitivities(rng, int(drawn["K"][k]))
        unit = float(gaussian_sigma(epsilon, delta))
        scales = _printed_optimum("gaussian", sensitivities, 2.0, unit)

        def slack(
            x: Array, s: Array = sensitivities, e: float = epsilon, d: float = delta
        ) -> float:
            mu = np.linalg.norm(s * np.exp(np.minimum(-x, _FAR)))  # SLSQP tries points far off
            return math.log(d) - float(gaussian_log_delta(mu, e))

        start = np.full(len(sensitivities), math.log(scales.max()) + 0.1)
        found = _minimum(2.0, slack, start)
        apart = _apart(_log_sum(2 * np.log(scales)), found)
        margin[k] = min(apart, slack(np.log(scales)))  # the printed scales are private
    return Outcome(margin, _SOLVED, drawn)


def _general_optimum(rng: Generator, n: int, noise: str, power: float) -> Outcome:
    """Minus the error of Theorems 4 and 5 and their proofs for the l_p error, in its logarithm.

    A fifth of the trials has p = 1, another p = 2, the others p up to 20.
    """
    drawn = budgets(rng, n) | {"K": rng.integers(2, 7, n).astype(float)}
    kind = np.arange(n) % 5
    drawn["p"] = np.where(kind < 2, kind + 1.0, log_uniform(rng, 1.0, 20.0, n))
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta, p = drawn["epsilon"][k], drawn["delta"][k], drawn["p"][k]
        sensitivities = draw_sensitivities(rng, int(drawn["K"][k]))
        pure = noise == "laplace"
        budget = epsilon if pure else float(1.0 / gaussian_sigma(epsilon, delta))
        scales = _printed_optimum(noise, sensitivities, p, 1.0 / budget)

        def slack(x: Array, s: Array = sensitivities, b: float = budget) -> float:
            return math.log(b) - _log_sum(power * (np.log(s) - x)) / power

        start = np.full(len(sensitivities), math.log(scales.max()) + 0.1)
        found = _minimum(p, slack, start) / p
        apart = _apart(_log_sum(p * np.log(scales)) / p, found)
        margin[k] = min(apart, slack(np.log(scales)))
    return Outcome(margin, _SOLVED, drawn)


def _zero_gradient(rng: Generator, n: int, ones: float) -> Outcome:
    """Minus the slope of sigma^p at 0, which the proof of Theorem 4 says is 0; p = 1 in a share."""
    p = np.where(rng.random(n) < ones, 1.0, rng.uniform(1.2, 6, n))
    return Outcome(-p * 1e-80 ** (p - 1), 1e-12, {"p": p})


def _moments(rng: Generator, n: int, noise: str) -> Outcome:
    """Minus the error of E|T|^p, relative, by quadrature over SciPy's density."""
    p, scale = log_uniform(rng, 1.0, 12.0, n), log_uniform(rng, 0.01, 100.0, n)
    p[: n // 5] = 1.0
    if noise == "gaussian":
        density, reach = stats.norm.pdf, 16.0
        right = np.sqrt(2.0**p / math.pi) * special.gamma((p + 1) / 2)
    else:
        density, reach, right = stats.laplace.pdf, 120.0, special.gamma(p + 1)

    def powers(t: Array) -> Array:
        return 2 * t ** column(p) * density(t, scale=column(scale))

    found = integrate(powers, scale[:, None] * np.array((0.0, 1.0, reach)), parts=64)
    printed = right * scale**p
    return Outcome(equal(found, printed, printed), 1e-6, {"p": p, "scale": scale})


def _by_layer(rng: Generator, n: int) -> Outcome:
    """Minus the distance from the budget of gradients whose layers have the norms C_m.

    The sensitivity is C_m / K_m^(1/p) for each parameter of layer m, the scales are those of
    Theorems 4 and 5; delta is by `gaussian_delta`, the Laplace loss by densities.
    """
    drawn, margin = budgets(rng, n), np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        sizes, clips = rng.integers(1, 8, 3), np.exp(rng.standard_normal(3))
        layer = np.repeat(np.arange(3), sizes)
        shapes = [np.exp(rng.standard_normal(size)) for size in sizes]
        errors = []
        for noise, p in (("gaussian", 2.0), ("laplace", 1.0)):
            unit = float(gaussian_sigma(epsilon, delta)) if noise == "gaussian" else 1 / epsilon
            scales = _printed_optimum(noise, (clips / sizes ** (1 / p))[layer], 2.0, unit)
            gradient = np.concatenate(
                [c * g / np.linalg.norm(g, p) for c, g in zip(clips, shapes, strict=True)]
            )
            if noise == "gaussian":
                errors.append(abs(gaussian_delta(gradient / scales, epsilon) / delta - 1.0))
            else:
                near, far = (stats.laplace.logpdf(x * gradient, scale=scales) for x in (0.3, 1.3))
                errors.append(abs(float(np.sum(near - far)) / epsilon - 1.0))
        margin[k] = -max(errors)
    return Outcome(margin, 1e-8, drawn)


def _convex(rng: Generator, n: int, *, printed: bool) -> Outcome:
    """Minus the error of the whole Hessian of w by differences; -1 unless it is definite.

    In units of the largest printed entry, 6 lambda_i^2 / sigma_i^4; entries off the diagonal are 0.
    In a fifth of the trials with K > 1 one sensitivity is 0; there semidefinite is enough unless
    `printed`.
    """
    drawn = {"K": rng.integers(1, 6, n).astype(float), "least_sensitivity": np.empty(n)}
    margin = np.empty(n)
    for k in range(n):
        s, sigma = (log_uniform(rng, 0.3, 3, int(drawn["K"][k])) for _ in range(2))
        if k % 5 == 0:
            s[1:2] = 0.0
        drawn["least_sensitivity"][k] = s.min()
        h = 1e-3 * np.diag(sigma)

        def w(x: Array, s: Array = s) -> float:
            return float(np.sum(s**2 / x**2))

        def second(i: int, j: int, x: Array = sigma, h: Array = h) -> float:
            places = [(a, b, w(x + a * h[i] + b * h[j])) for a in (-1, 1) for b in (-1, 1)]
            return sum(a * b * value for a, b, value in places) / (4 * h[i, i] * h[j, j])

        hessian = np.array([[second(i, j) for j in range(len(s))] for i in range(len(s))])
        printed_entries = np.diag(6 * s**2 / sigma**4)
        error = float(np.max(np.abs(hessian - printed_entries)) / np.max(printed_entries))
        smallest = float(np.linalg.eigvalsh(hessian)[0] / np.max(printed_entries))
        definite = smallest > _FLAT if printed or np.all(s > 0.0) else smallest > -_FLAT
        margin[k] = -error if definite else -1.0
    return Outcome(margin, 1e-4, drawn)


def _table_1(rng: Generator, n: int) -> Outcome:
    """Minus the error of the six mean squared errors of Table I.

    Each is the sum of the variances, by SciPy, of noise with the scales that the table prints;
    the scales are those that `allocate` finds.
    """
    drawn = budgets(rng, n) | {"K": rng.integers(1, 30, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta, count = drawn["epsilon"][k], drawn["delta"][k], drawn["K"][[k]]
        s = draw_sensitivities(rng, int(count[0]))
        units = {"gaussian": float(gaussian_sigma(epsilon, delta)), "laplace": 1 / epsilon}
        errors = []
        for noise, unit in units.items():
            variance = stats.norm.var if noise == "gaussian" else stats.laplace.var
            budget = {"epsilon": epsilon, "delta": 0.0 if noise == "laplace" else delta}
            for scheme in SCHEMES:
                scales = printed_scales(noise, scheme, s[None], count, unit)[0]
                right = formula(noise, scheme, s, unit)
                errors.append(float(equal(np.sum(variance(scale=scales)), right, right)))
                found = allocate(s, noise=noise, scheme=scheme, **budget)
                errors.append(float(np.min(equal(found, scales, scales))))
        margin[k] = min(errors)
    return Outcome(margin, 1e-10, drawn)


def _shares(rng: Generator, n: int, noise: str, scheme: str) -> Outcome:
    """Minus the error of the shares of Section IV-B and their sum; no others beat optimal ones.

    The mean squared error is the sum of lambda_i^2 / (2 eta_i) for Gaussian and of
    2 (lambda_i / epsilon_i)^2 for Laplace noise, here compared with 50 shares nearby and not.
    """
    drawn = budgets(rng, n) | {"K": rng.integers(2, 30, n).astype(float)}
    # How the loss grows with the ratio; the error falls with the power 2 / lost of a share.
    lost, power = (2, 1.0) if noise == "gaussian" else (1, 2 / 3)
    margin = np.empty(n)
    for k in range(n):
        count, epsilon, delta = drawn["K"][[k]], drawn["epsilon"][k], drawn["delta"][k]
        s = draw_sensitivities(rng, int(count[0]))
        unit = float(gaussian_sigma(epsilon, delta)) if noise == "gaussian" else 1 / epsilon
        whole = unit**-lost / lost
        share = s**power / np.sum(s**power) if scheme == "optimal" else 1 / len(s)
        ratio = s / printed_scales(noise, scheme, s[None], count, unit)[0]
        spent = ratio**lost / lost / whole
        slack = [-np.max(np.abs(spent - share)), -abs(spent.sum() - 1.0)]
        if scheme == "optimal":
            spread = log_uniform(rng, 1e-3, 2.0, 50)[:, None]
            other = share * np.exp(spread * rng.standard_normal((50, len(s))))
            other /= other.sum(axis=1)[:, None]
            errors, minimum = ((s**2 / x ** (2 / lost)).sum(axis=-1) for x in (other, share))
            slack.append(np.min(errors) / minimum - 1.0)
        margin[k] = min(slack)
    return Outcome(margin, 1e-10, drawn)
