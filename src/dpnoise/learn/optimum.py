"""The non-private optimum, against which private estimates are measured.

Solved by scikit-learn and certified by the first-order conditions, so that a solver which
stopped early cannot pass for the optimum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise.learn.problem import Problem


def residual(problem: Problem, weights: NDArray[np.float64]) -> float:
    """Return the largest violation of the first-order conditions, 0 at the optimum.

    The proximal-gradient residual max_i M_i |w_i - prox(w_i - g_i / M_i)|, in units of the
    gradient.
    """
    fitted = problem.features @ weights
    if problem.loss == "squared":
        slope = fitted - problem.target
    else:
        slope = -problem.target * np.exp(-np.logaddexp(0.0, problem.target * fitted))
    smoothness = problem.smoothness
    moved = weights - (problem.features.T @ slope / problem.size) / smoothness
    threshold = problem.strengths / smoothness
    if problem.penalty == "l1":
        moved = np.sign(moved) * np.maximum(np.abs(moved) - threshold, 0.0)
    elif problem.penalty == "l2":
        moved = moved / (1.0 + threshold)
    return float(np.max(smoothness * np.abs(weights - moved)))


def optimum(problem: Problem, *, tolerance: float = 1e-7) -> NDArray[np.float64]:
    """Return the minimiser of the objective, shape (K,).

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Largest first-order residual accepted, relative to the gradient at zero.

    Raises
    ------
    ArithmeticError
        If the solver's answer misses the tolerance.
    """
    model = _model(problem, float(problem.strengths.max()))
    model.set_params(fit_intercept=problem.intercept)
    features = problem.features[:, :-1] if problem.intercept else problem.features
    model.fit(features, problem.target)
    weights = np.ravel(model.coef_)
    if problem.intercept:
        weights = np.append(weights, model.intercept_)
    # without the penalty: the residual is 0 at zero where zero is the optimum
    scale = residual(replace(problem, penalty="none"), np.zeros(problem.coordinates))
    miss = residual(problem, weights)
    if not miss <= tolerance * max(scale, 1e-300):
        message = f"optimum: first-order residual {miss:.3g} exceeds {tolerance:g} x {scale:.3g}"
        raise ArithmeticError(message)
    return np.asarray(weights, dtype=float)


def _model(problem: Problem, strength: float) -> Lasso | LogisticRegression | Ridge:
    """Return the scikit-learn estimator that minimises the same objective."""
    penalised = problem.penalty != "none" and strength > 0
    if problem.loss == "logistic":
        C = 1 / (problem.size * strength) if penalised else np.inf
        if penalised and problem.penalty == "l1":
            return LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=100_000)
        return LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    if penalised and problem.penalty == "l1":
        return Lasso(alpha=strength, tol=1e-13, max_iter=1_000_000)
    return Ridge(alpha=problem.size * strength if penalised else 0.0, solver="svd")
