"""Allocation beside generic solvers and the formula in one line, in one run: time and safety.

Few coordinates: the optimal scales by scipy's SLSQP and by clarabel, both given the problem in its
convex form. Many: the paper's formula in NumPy. A result is unsafe if its account, in exact
rational arithmetic, exceeds the budget. Run `python benchmarks/allocation.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from fractions import Fraction
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import clarabel
import numpy as np
from scipy import optimize, sparse, special

from dpnoise import FlippedHuber, allocate, gaussian_sigma

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
FEW, MANY, TRIALS, ROUNDS = 20, 10**7, 200, 5


def seconds(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median time of a call, the first left out."""
    call()
    times = []
    for _ in range(rounds):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return median(times)


def formula(lambdas: Array) -> Array:
    """Return the scales of Theorem 4 as anyone would type them."""
    return np.sqrt(lambdas * lambdas.sum()) * float(gaussian_sigma(**BUDGET))


def slsqp(lambdas: Array) -> Array:
    """Return the scales by sequential quadratic programming in their logarithms."""
    log_lambda = np.log(lambdas)
    budget = -2.0 * np.log(float(gaussian_sigma(**BUDGET)))
    found = optimize.minimize(
        lambda x: special.logsumexp(2.0 * x),
        log_lambda - 0.5 * budget + 0.5 * np.log(lambdas.size),
        jac=lambda x: 2.0 * special.softmax(2.0 * x),
        constraints={
            "type": "ineq",
            "fun": lambda x: budget - special.logsumexp(2.0 * (log_lambda - x)),
            "jac": lambda x: 2.0 * special.softmax(2.0 * (log_lambda - x)),
        },
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    return np.exp(found.x)


def cones(lambdas: Array) -> Array:
    """Return the scales by an interior-point method.

    With v_i = sigma_i^2: minimise sum v_i with t_i v_i >= lambda_i^2, sum t_i <= mu_0^2, each of
    the products one second-order cone |(2 lambda_i, t_i - v_i)| <= t_i + v_i.
    """
    size = lambdas.size
    identity, zero = sparse.identity(size), sparse.csc_matrix((size, size))
    rows = sparse.vstack([
        sparse.hstack([sparse.csc_matrix((1, size)), np.ones((1, size))]),
        sparse.hstack([-identity, -identity]),
        sparse.hstack([zero, zero]),
        sparse.hstack([identity, -identity]),
    ]).tocsr()  # fmt: skip
    interleaved = np.concatenate([[0], 1 + np.arange(3 * size).reshape(3, size).T.ravel()])
    bound = np.concatenate(
        [[float(gaussian_sigma(**BUDGET)) ** -2], np.zeros(size), 2.0 * lambdas, np.zeros(size)]
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    kinds = [clarabel.NonnegativeConeT(1), *[clarabel.SecondOrderConeT(3)] * size]
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((2 * size, 2 * size)),
        np.concatenate([np.ones(size), np.zeros(size)]),
        rows[interleaved].tocsc(),
        bound[interleaved],
        kinds,
        settings,
    )
    return np.sqrt(np.asarray(solver.solve().x[:size]))


def unsafe(scales: Array, lambdas: Array) -> bool:
    """Return whether the account exceeds the budget, in exact arithmetic."""
    spent = sum((Fraction(a) / Fraction(s)) ** 2 for a, s in zip(lambdas, scales, strict=True))
    return spent * Fraction(float(gaussian_sigma(**BUDGET))) ** 2 > 1


def main() -> None:
    """Time all, then judge the results."""
    rng = np.random.default_rng(0)
    ways = {"ours": lambda x: allocate(x, **BUDGET), "NumPy": formula, "SLSQP": slsqp,
            "clarabel": cones}  # fmt: skip
    trials = rng.random((TRIALS, FEW)) + 0.01
    for name, way in ways.items():
        found = [way(lambdas) for lambdas in trials]
        share = np.mean([unsafe(*pair) for pair in zip(found, trials, strict=True)])
        least = np.sqrt(np.sum(formula(trials[0]) ** 2))
        error = np.sqrt(np.sum(found[0] ** 2)) / least - 1.0
        time = seconds(lambda way=way: way(trials[0]), 20)
        print(
            f"K = {FEW}, {name:<9} {1e6 * time:9.0f} us, {share:6.1%} unsafe, "
            f"error above the least by {error:+.1e}"
        )
    lambdas = rng.random(MANY)
    weights = lambdas + 1.0
    for name, call in {
        "ours": lambda: allocate(lambdas, **BUDGET),
        "NumPy": lambda: formula(lambdas),
        "ours, Laplace": lambda: allocate(lambdas, noise="laplace", epsilon=1.0),
        "ours, p = 3 and weights": lambda: allocate(lambdas, p=3, weights=weights, **BUDGET),
    }.items():
        print(f"K = {MANY:.0e}, {name:<24} {seconds(call):6.2f} s")
    few = np.linspace(0.1, 1.0, 5)
    for name, noise in {"Laplace": "laplace", "flipped Huber": FlippedHuber(2.0, 2.0)}.items():
        time = seconds(lambda noise=noise: allocate(few, noise=noise, **BUDGET), 3)
        print(f"K = {few.size}, {name} by the exact profile  {time:6.2f} s")


if __name__ == "__main__":
    main()
