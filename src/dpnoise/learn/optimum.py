"""Non-private optimum of a learning problem, against which private estimates are measured.

Solved by scikit-learn's deterministic solvers and certified by the first-order conditions, so
that a solver that stopped early cannot pass for the optimum. The l1-penalised logistic risk is
refused: there scikit-learn's solvers draw random numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._imports import imports_of

with imports_of("learn"):
    from sklearn.linear_model import Lasso, LogisticRegression, Ridge

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem


def residual(problem: Problem, weights: Array) -> float:
    """Largest violation of the first-order conditions at weights of shape (K,), 0 at the optimum.

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


def optimum(problem: Problem, *, tolerance: float = 1e-7) -> Array:
    """Minimiser of the objective of a learning problem, without noise.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Largest first-order residual accepted, relative to the gradient at zero.

    Returns
    -------
    numpy.ndarray, shape (K,)

    Raises
    ------
    ValueError
        For the logistic loss with an l1 penalty.
    ArithmeticError
        If the solver's answer misses the tolerance.

    Examples
    --------
    >>> from dpnoise.learn.problem import make_problem
    >>> problem = make_problem([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0], loss="squared")
    >>> optimum(problem).round(9)
    array([2.])
    """
    strength = float(problem.strengths.max())
    if problem.loss == "logistic" and problem.penalty == "l1":
        raise ValueError("optimum: penalty: expected none or l2 for the logistic loss, got l1")
    weights = _fitted(problem, _model(problem, strength))
    # without the penalty: the residual is 0 at zero where zero is the optimum
    scale = residual(replace(problem, penalty="none"), np.zeros(problem.coordinates))
    miss = residual(problem, weights)
    if not miss <= tolerance * max(scale, 1e-300):
        message = f"optimum: first-order residual {miss:.3g} exceeds {tolerance:g} x {scale:.3g}"
        raise ArithmeticError(message)
    return np.asarray(weights, dtype=float)


def _fitted(problem: Problem, model: Lasso | LogisticRegression | Ridge) -> Array:
    """Weights of a scikit-learn model fitted to a problem, the intercept last."""
    model.set_params(fit_intercept=problem.intercept)
    features = problem.features[:, :-1] if problem.intercept else problem.features
    model.fit(features, problem.target)
    weights = np.ravel(model.coef_)
    return np.append(weights, model.intercept_) if problem.intercept else weights


def _model(problem: Problem, strength: float) -> Lasso | LogisticRegression | Ridge:
    """Scikit-learn estimator that minimises the same objective."""
    penalised = problem.penalty != "none" and strength > 0
    if problem.loss == "logistic":
        C = 1 / (problem.size * strength) if penalised else np.inf
        # ends: first-order conditions are checked afterwards
        return LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    if penalised and problem.penalty == "l1":
        tall = problem.size > problem.coordinates  # sweeps over the Gram matrix cost less
        # ends: first-order conditions are checked afterwards
        return Lasso(alpha=strength, tol=1e-13, max_iter=1_000_000, precompute=tall)
    return Ridge(alpha=problem.size * strength if penalised else 0.0, solver="svd")
