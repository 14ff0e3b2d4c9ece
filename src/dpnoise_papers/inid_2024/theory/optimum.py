"""Checks of the optimal scales of inid-2024, and of the others beside them, over random parameters.

Theorems 4 and 5 with their proofs, Table I and Section IV-B. 'Optimal' is compared with a generic
constrained optimiser, SLSQP on logarithms of scales.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special

from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.checks import Check, Outcome, column, equal, integrate
from dpnoise_papers.inid_2024.tables.profiles import SCHEMES
from dpnoise_papers.inid_2024.tables.table_1 import formula
from dpnoise_papers.inid_2024.theory.tools import budgets, draw_sensitivities, log_uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpnoise._types import Array


_SOLVED = 1e-6  # of a logarithm of an error, by the generic optimiser


def _minimum(power: float, constraint: Callable, start: Array) -> float:
    """Minimum of log sum exp(power x) subject to constraint(x) >= 0, by SLSQP from two starts."""
    total: Callable = lambda x: _log_sum(power * x)  # noqa: E731 - typed loosely, as SciPy needs
    gradient: Callable = lambda x: power * _softmax(power * x)  # noqa: E731
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


def _gaussian_optimum(rng: Generator, n: int) -> Outcome:
    """Minus the error of Theorem 4 in log MSE, against (P1) solved as it stands."""
    drawn = budgets(rng, n) | {"K": rng.integers(2, 7, n).astype(float)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta = drawn["epsilon"][k], drawn["delta"][k]
        sensitivities = draw_sensitivities(rng, int(drawn["K"][k]))
        scales = allocate(sensitivities, epsilon=epsilon, delta=delta)

        def slack(
            x: Array, s: Array = sensitivities, e: float = epsilon, d: float = delta
        ) -> float:
            return math.log(d) - float(gaussian_log_delta(np.linalg.norm(s * np.exp(-x)), e))

        start = np.full(len(sensitivities), math.log(scales.max()) + 0.1)
        found = _minimum(2.0, slack, start)
        margin[k] = _apart(_log_sum(2 * np.log(scales)), found)
    return Outcome(margin, _SOLVED, drawn)


def _general_optimum(rng: Generator, n: int, noise: str, power: float) -> Outcome:
    """Minus the error of Theorems 4 and 5 and their proofs for the l_p error, in its logarithm."""
    drawn = budgets(rng, n) | {"K": rng.integers(2, 7, n).astype(float), "p": rng.uniform(1, 6, n)}
    margin = np.empty(n)
    for k in range(n):
        epsilon, delta, p = drawn["epsilon"][k], drawn["delta"][k], drawn["p"][k]
        sensitivities = draw_sensitivities(rng, int(drawn["K"][k]))
        pure = noise == "laplace"
        budget = epsilon if pure else float(1.0 / gaussian_sigma(epsilon, delta))
        scales = allocate(
            sensitivities, noise=noise, epsilon=epsilon, delta=0.0 if pure else delta, p=p
        )

        def slack(x: Array, s: Array = sensitivities, b: float = budget) -> float:
            return math.log(b) - _log_sum(power * (np.log(s) - x)) / power

        start = np.full(len(sensitivities), math.log(scales.max()) + 0.1)
        found = _minimum(p, slack, start) / p
        margin[k] = _apart(_log_sum(p * np.log(scales)) / p, found)
    return Outcome(margin, _SOLVED, drawn)


def _zero_gradient(rng: Generator, n: int, ones: float) -> Outcome:
    """Minus the slope of sigma^p at 0, which the proof of Theorem 4 says is 0; p = 1 in a share."""
    p = np.where(rng.random(n) < ones, 1.0, rng.uniform(1.2, 6, n))
    return Outcome(-p * 1e-80 ** (p - 1), 1e-12, {"p": p})


def _moments(rng: Generator, n: int) -> Outcome:
    """Minus the error of E|T|^p of both noises, relative, by quadrature."""
    p = rng.uniform(1, 6, n)
    edges = np.stack([np.zeros(n), np.ones(n), np.full(n, 12.0)], axis=1)
    longer = np.stack([np.zeros(n), np.ones(n), np.full(n, 80.0)], axis=1)
    gaussian = integrate(
        lambda t: t ** column(p) * np.exp(-0.5 * t * t) * math.sqrt(2 / math.pi), edges, parts=16
    )
    laplace = integrate(lambda t: t ** column(p) * np.exp(-t), longer, parts=64)
    half = np.sqrt(2.0**p / math.pi) * special.gamma((p + 1) / 2)
    margin = np.minimum(equal(gaussian, half, half), equal(laplace, special.gamma(p + 1), laplace))
    return Outcome(margin, 1e-6, {"p": p})


def _by_layer(rng: Generator, n: int) -> Outcome:
    """Slack of the budget for gradients clipped by layer, under lambda = C / K^(1/p) in a layer."""
    epsilon, delta = np.exp(rng.uniform(-1, 2, n)), np.exp(rng.uniform(-20, -5, n))
    margin = np.empty(n)
    for k in range(n):
        sizes, clips = rng.integers(1, 20, 4), np.exp(rng.standard_normal(4))
        layer = np.repeat(np.arange(4), sizes)
        slack = []
        for noise, p in (("gaussian", 2.0), ("laplace", 1.0)):
            pure = noise == "laplace"
            lambdas = (clips / sizes ** (1 / p))[layer]
            budget = {"epsilon": epsilon[k], "delta": 0.0 if pure else delta[k]}
            scales = allocate(lambdas, noise=noise, **budget)
            spent = [np.exp(3 * rng.standard_normal(s)) for s in sizes]
            gradient = np.concatenate(
                [c * g / np.linalg.norm(g, p) for c, g in zip(clips, spent, strict=True)]
            )
            loss = float(np.linalg.norm(gradient / scales, p))
            limit = epsilon[k] if pure else 1 / float(gaussian_sigma(epsilon[k], delta[k]))
            slack.append(1.0 - loss / limit)
        margin[k] = min(slack)
    return Outcome(margin, 1e-9, {"epsilon": epsilon, "delta": delta})


def _convex(rng: Generator, n: int) -> Outcome:
    """Minus the error of the Hessian 6 lambda^2 / sigma^4 by central differences."""
    lambdas, sigma = log_uniform(rng, 0.1, 10, n), log_uniform(rng, 0.1, 10, n)
    h = 1e-3 * sigma
    values = [lambdas**2 / (sigma + k * h) ** 2 for k in (-2, -1, 0, 1, 2)]
    second = (16 * (values[1] + values[3]) - values[0] - values[4] - 30 * values[2]) / (12 * h * h)
    unit = 6 * lambdas**2 / sigma**4
    drawn = {"lambda": lambdas, "sigma": sigma}
    return Outcome(equal(second, unit, unit), 1e-8, drawn)


def _table_1(rng: Generator, n: int) -> Outcome:
    """Minus the error of the six mean squared errors of Table I."""
    epsilon, delta = np.exp(rng.uniform(-3, 2, n)), np.exp(rng.uniform(-25, -1, n))
    margin, dimension = np.empty(n), rng.integers(1, 30, n)
    for k in range(n):
        s = np.exp(rng.standard_normal(dimension[k]))
        units = {"gaussian": float(gaussian_sigma(epsilon[k], delta[k])), "laplace": 1 / epsilon[k]}
        errors = []
        for noise, unit in units.items():
            pure = noise == "laplace"
            budget = {"epsilon": epsilon[k], "delta": 0.0 if pure else delta[k]}
            for scheme in SCHEMES:
                right = formula(noise, scheme, s, unit)
                scales = allocate(s, noise=noise, scheme=scheme, **budget)
                errors.append(equal((1 + pure) * float(scales @ scales), right, right))
        margin[k] = min(errors)
    drawn = {"epsilon": epsilon, "delta": delta, "K": dimension.astype(float)}
    return Outcome(margin, 1e-10, drawn)


def _shares(rng: Generator, n: int) -> Outcome:
    """Minus the error of the shares of Section IV-B, of their sums and of SPR's."""
    epsilon, delta = np.exp(rng.uniform(-3, 2, n)), np.exp(rng.uniform(-25, -1, n))
    margin, dimension = np.empty(n), rng.integers(1, 30, n)
    for k in range(n):
        s, e = np.exp(rng.standard_normal(dimension[k])), epsilon[k]
        eta = 0.5 / gaussian_sigma(e, delta[k]) ** 2
        errors = []
        for scheme in ("optimal", "spr"):
            gaussian = 0.5 * (s / allocate(s, scheme=scheme, epsilon=e, delta=delta[k])) ** 2 / eta
            laplace = s / allocate(s, noise="laplace", scheme=scheme, epsilon=e) / e
            optimal = scheme == "optimal"
            powers = (1.0, 2 / 3) if optimal else (0.0, 0.0)
            for found, power in zip((gaussian, laplace), powers, strict=True):
                errors.append(np.max(np.abs(found - s**power / np.sum(s**power))))
        margin[k] = -max(errors)
    return Outcome(margin, 1e-10, {"epsilon": epsilon, "delta": delta})


CHECKS = (
    Check("theorem-4", "Theorem 4",
          "sigma_i^2 = lambda_i ||lambda||_1 / mu_0^2 has the least MSE under (P1)", "complete",
          _gaussian_optimum, 0.02),
    Check("theorem-4-p", "Theorem 4, proof",
          "sigma_i^2 = lambda_i^(4/(p+2)) sum lambda_j^(2p/(p+2)) / mu_0^2 has the least l_p "
          "error, p >= 1", "complete",
          partial(_general_optimum, noise="gaussian", power=2.0), 0.03),
    Check("theorem-4-gradient", "Theorem 4, proof",
          "the gradient of ||sigma||_p^p is zero at sigma = 0 for p >= 1",
          "false: it is 1 for p = 1; the constraint is active all the same, since the objective "
          "grows with each sigma_i", partial(_zero_gradient, ones=0.1)),
    Check("theorem-4-gradient-corrected", "Theorem 4, proof, corrected",
          "the gradient of ||sigma||_p^p is zero at sigma = 0 for p > 1", "complete",
          partial(_zero_gradient, ones=0.0)),
    Check("moments", "Theorems 4 and 5, proofs",
          "E|T|^p is sqrt(2^p / pi) Gamma((p + 1)/2) sigma^p for Gaussian and Gamma(p + 1) beta^p "
          "for Laplace noise", "none given", _moments, 0.1),
    Check("section-vi-c-layers", "Section VI-C",
          "with lambda = C_m / K_m^(1/p) for each parameter of layer m the optimal scales keep the "
          "budget if layers are clipped at C_m in l_p", "none given", _by_layer, 0.1),
    Check("theorem-4-convex", "Section III-A, footnote 3",
          "the Hessian of the constraint of (P3) is diagonal with 6 lambda_i^2 / sigma_i^4",
          "complete", _convex),
    Check("theorem-5", "Theorem 5 and its proof",
          "beta_i = lambda_i^(1/(p+1)) sum lambda_j^(p/(p+1)) / epsilon has the least l_p error "
          "under (P4), p >= 1", "complete",
          partial(_general_optimum, noise="laplace", power=1.0), 0.03),
    Check("table-1", "Table I", "the six mean squared errors", "complete", _table_1, 0.1),
    Check("section-iv-b", "Section IV-B",
          "shares of the budget: lambda_i of eta for Gaussian, lambda_i^(2/3) of epsilon for "
          "Laplace noise; equal ones for SPR; all add up", "complete", _shares, 0.1),
)  # fmt: skip
