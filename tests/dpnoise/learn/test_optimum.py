"""The non-private optimum against closed forms, optimality conditions and other solvers."""

import numpy as np
import pytest

from dpnoise.learn.optimum import optimum, residual
from dpnoise.learn.problem import make_problem
from for_all import for_all

rng = np.random.default_rng(8)
X = rng.normal(size=(80, 3)) * [0.5, 1.0, 2.0] + [1.0, 0.0, -1.0]
REAL = X @ [1.0, -0.5, 0.02] + 0.7 + rng.normal(size=80)
SIGNS = np.where(np.median(REAL) < REAL, 1.0, -1.0)
TARGETS = {"squared": REAL, "logistic": SIGNS}
losses = for_all("loss", TARGETS)
penalties = for_all("penalty", ["none", "l1", "l2"])
intercepts = for_all("intercept", [False, True])


def problem_of(loss, penalty, intercept, strength=0.05):
    return make_problem(
        X, TARGETS[loss], loss=loss, penalty=penalty, strength=strength, intercept=intercept
    )


@penalties
@intercepts
@losses
def test_no_direction_improves_the_optimum(loss, penalty, intercept):
    """Convexity: it suffices that no small step in any direction helps."""
    problem = problem_of(loss, penalty, intercept)
    best = optimum(problem)
    moves = np.random.default_rng(0).normal(size=(500, len(best)))
    for length in (1e-3, 1.0):
        gain = problem.objective(best) - problem.objective(best + length * moves)
        assert np.all(gain <= 1e-15)
    assert residual(problem, best + 0.01) > 1e-5


@for_all("seed", range(0, 40, 2))
def test_sparse_logistic_regression_on_badly_scaled_and_nearly_collinear_columns(seed):
    """Certified inside `optimum`: scales from 1e-2 to 1e3, correlations up to 1 - 1e-6."""
    draws = np.random.default_rng(seed)
    size, columns = int(draws.integers(20, 400)), int(draws.integers(2, 12))
    A = draws.normal(size=(size, columns)) * 10.0 ** draws.uniform(-2, 3, columns)
    A += draws.normal(size=columns) * (seed % 3)
    if seed % 4 == 0:
        A[:, 1] = A[:, 0] + 1e-3 * A[:, 1]
    y = np.where(A @ draws.normal(size=columns) / np.abs(A).max() > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    strength = 10.0 ** draws.uniform(-4, -0.3) * np.abs(A).mean()
    for intercept in (False, True):
        problem = make_problem(
            A, y, loss="logistic", penalty="l1", strength=strength, intercept=intercept
        )
        best = optimum(problem)
        assert optimum(problem).tobytes() == best.tobytes()
        moves = best + draws.normal(size=(200, len(best))) * 1e-3 * (1e-9 + np.abs(best))
        minimum = problem.objective(best)
        assert np.all(problem.objective(moves) >= minimum * (1 - 1e-13))


@penalties
@intercepts
@losses
def test_no_answer_depends_on_random_numbers(loss, penalty, intercept):
    """Lasso draws a number of NumPy's global stream at each call, which it does not use."""
    problem = problem_of(loss, penalty, intercept)
    assert optimum(problem).tobytes() == optimum(problem).tobytes()


@losses
def test_an_answer_off_the_optimum_is_refused(loss):
    with pytest.raises(ArithmeticError, match=r"first-order residual .* exceeds 1e-30"):
        optimum(problem_of(loss, "l2", intercept=True), tolerance=1e-30)
