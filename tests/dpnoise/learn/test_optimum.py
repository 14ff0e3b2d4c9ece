"""The non-private optimum against closed forms, optimality conditions and other solvers."""

from itertools import product

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
KINDS = [*product(TARGETS, ("none", "l2")), ("squared", "l1")]
kinds = for_all(("loss", "penalty"), KINDS)
intercepts = for_all("intercept", [False, True])


def problem_of(loss, penalty, intercept, strength=0.05):
    return make_problem(
        X, TARGETS[loss], loss=loss, penalty=penalty, strength=strength, intercept=intercept
    )


@kinds
@intercepts
def test_no_direction_improves_the_optimum(loss, penalty, intercept):
    """Convexity: it suffices that no small step in any direction helps."""
    problem = problem_of(loss, penalty, intercept)
    best = optimum(problem)
    moves = np.random.default_rng(0).normal(size=(500, len(best)))
    for length in (1e-3, 1.0):
        gain = problem.objective(best) - problem.objective(best + length * moves)
        assert np.all(gain <= 1e-15)
    assert residual(problem, best + 0.01) > 1e-5


def test_l1_for_the_logistic_loss_is_refused():
    with pytest.raises(ValueError, match="expected none or l2 for the logistic loss, got l1"):
        optimum(problem_of("logistic", "l1", intercept=False))


@kinds
@intercepts
def test_no_answer_depends_on_random_numbers(loss, penalty, intercept):
    """Lasso draws a number of NumPy's global stream at each call, which it does not use."""
    problem = problem_of(loss, penalty, intercept)
    assert optimum(problem).tobytes() == optimum(problem).tobytes()


@losses
def test_an_answer_off_the_optimum_is_refused(loss):
    with pytest.raises(ArithmeticError, match=r"first-order residual .* exceeds 1e-30"):
        optimum(problem_of(loss, "l2", intercept=True), tolerance=1e-30)
