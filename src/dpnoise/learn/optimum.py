"""Non-private optimum of a learning problem, against which private estimates are measured.

Solved by scikit-learn's deterministic solvers and certified by the first-order conditions, so
that a solver that stopped early cannot pass for the optimum. For l1-penalised logistic regression
scikit-learn's solvers draw random numbers; there a proximal Newton method (Lee, Sun & Saunders,
SIAM J. Optim. 24, 2014) solves one weighted Lasso per step, exactly, by least-angle regression.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpnoise._imports import imports_of

with imports_of("learn"):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso, LogisticRegression, Ridge, lars_path_gram

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem

_STEPS = 100  # of the proximal Newton method, which needs about ten


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
    if problem.loss == "logistic" and problem.penalty == "l1" and strength > 0:
        weights = _sparse_logistic(problem, strength)
    else:
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


def _sparse_logistic(problem: Problem, strength: float) -> Array:
    """Minimise the l1-penalised logistic risk by proximal Newton steps.

    With h_n the curvatures of the loss and z_n = f_n - slope_n / h_n the working responses, the
    step is to the minimiser of sum h_n (z_n - x_n'w)^2 / (2 N) + strength |w|_1. It is halved until
    the objective does not rise; where no share of it lowers the objective, rounding has been
    reached.
    """
    weights = np.zeros(problem.coordinates)
    value = float(problem.objective(weights))
    # ends: first-order conditions are checked afterwards
    for _ in range(_STEPS):
        fitted = problem.features @ weights
        likely = expit(problem.target * fitted)  # of the label that was seen
        # a floor keeps the working responses finite where a sample is fitted almost surely
        curvature = np.maximum(likely * (1.0 - likely), 1e-10)
        response = fitted + problem.target * (1.0 - likely) / curvature
        step = _weighted_lasso(problem, strength, response, curvature) - weights
        share, best = 1.0, np.inf
        # ends: halves down to 1e-12
        while share > 1e-12:
            best = float(problem.objective(weights + share * step))
            if best <= value:
                break
            share /= 2.0
        if not best <= value or not step.any():
            break
        weights, gain, value = weights + share * step, value - best, best
        if gain <= 1e-16 * abs(value) and np.abs(step).max() <= 1e-13 * np.abs(weights).max():
            break
    return weights


def _weighted_lasso(problem: Problem, strength: float, response: Array, curvature: Array) -> Array:
    """Minimise sum h_n (z_n - x_n'w)^2 / (2 N) + strength |w|_1 by least-angle regression."""
    features, mean = problem.features, 0.0
    middle: Array | float = 0.0
    if problem.intercept:  # not penalised: the weighted means are its part of the fit
        features = features[:, :-1]
        middle = np.average(features, axis=0, weights=curvature)
        mean = np.average(response, weights=curvature)
    apart = features - middle
    weighted = apart.T * (curvature / problem.size)
    with warnings.catch_warnings():  # of collinear columns left out: the result is certified
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = lars_path_gram(
            weighted @ (response - mean),
            weighted @ apart,
            n_samples=1,
            alpha_min=strength,
            method="lasso",
            return_path=False,
        )[2]
    return np.append(found, mean - middle @ found) if problem.intercept else found
