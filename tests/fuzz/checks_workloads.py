"""Workloads with random matrices: hidden by dense algebra, within certified bounds, certified."""

from fractions import Fraction

import numpy as np
from scipy.stats import norm

from dpnoise.certificates.certificate import certify
from dpnoise.mechanisms.compare import best
from dpnoise.optimality.factorisation import factorisation_of
from dpnoise.sensitivity.workload import Workload

_GAP = 1e-5  # of the bounds of the total variance
_SLACK = 1e-6  # of the search, and of dense algebra


def _matrix(draws):
    """Return W without empty rows and columns: whole, real, of low rank or nearly so."""
    K, n = int(draws.rng.integers(1, 9)), int(draws.rng.integers(1, 7))
    kind = draws.pick(["zeros and ones", "whole", "real", "low rank", "scales"])
    if kind == "zeros and ones":
        W = draws.rng.integers(0, 2, (K, n)).astype(float)
    elif kind == "whole":
        W = draws.rng.integers(-3, 4, (K, n)).astype(float)
    elif kind == "low rank":
        W = np.outer(draws.rng.integers(1, 4, K), draws.rng.integers(1, 4, n)).astype(float)
    else:
        W = draws.rng.standard_normal((K, n))
        W *= draws.size() if kind == "scales" else 1.0
    W[np.all(W == 0.0, axis=1)] = 1.0
    W[0, np.all(W == 0.0, axis=0)] = 1.0
    return W


def check_workload(draws, report):
    """The best Gaussian noise of a random workload, by linear algebra in the answers."""
    W = _matrix(draws)
    relation = draws.pick(["add-remove", "replace-one"])
    most = int(draws.rng.integers(1, min(3, W.shape[1]) + 1))
    ball = report.call(Workload, W, at_most=most, relation=relation)
    epsilon, delta = draws.between(0.03, 10.0), draws.between(1e-12, 0.1)
    found = best(ball, epsilon=epsilon, delta=delta, family="correlated-gaussian")
    report.about(found.name, copies=ball.dimension)
    axes = np.array(found.noise.inner.ball.axes)
    half = found.noise.inner.sigma * axes @ W.T
    _, values, right = np.linalg.svd(half, full_matrices=False)
    some = values > 1e-9 * values[0]
    columns = (ball.W @ ball.changes).toarray()
    place = right[some] @ columns
    off = np.max(np.abs(columns - right[some].T @ place), initial=0.0)
    report.require(off <= 1e-6 * np.max(np.abs(columns)), "a difference leaves the noise's range")
    mu = float(np.sqrt(np.max(np.sum((place / values[some, None]) ** 2, axis=0))))
    a, h = epsilon / mu / (1.0 - _SLACK), 0.5 * mu * (1.0 - _SLACK)
    exact = float(norm.sf(a - h) - np.exp(epsilon + norm.logsf(a + h)))
    report.require(exact <= delta, f"delta {exact!r} at mu = {mu!r}")
    variances = np.sum(half * half, axis=0)
    close = np.allclose(found.variances, variances, rtol=1e-6)
    report.require(bool(close), f"variances {found.variances.tolist()}, by algebra {variances}")
    report.require(found.floor <= found.variance * (1.0 + 1e-9), "below the floor")
    gap = factorisation_of(ball, np.ones(ball.dimension)).gap
    report.require(0.0 <= gap <= _GAP, f"bounds of the total that are {gap!r} apart")
    upper = certify(found).upper
    report.require(upper <= Fraction(delta), f"certified for {float(upper)!r} only")


CHECKS = {"workloads": (check_workload, 1.0)}
