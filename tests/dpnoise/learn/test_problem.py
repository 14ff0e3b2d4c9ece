"""Learning problems: their constants, layout and refusals."""

import numpy as np
import pytest

from dpnoise.learn.cd import descend
from dpnoise.learn.problem import farthest_fit, make_problem
from for_all import for_all

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 4)) * [0.2, 1.0, 3.0, 10.0]
REAL = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=60)
SIGNS = np.where(REAL > 0, 1.0, -1.0)
TARGETS = {"squared": REAL, "logistic": SIGNS}
losses = for_all("loss", TARGETS)


@losses
@for_all("intercept", [False, True])
def test_clipping_and_sensitivities_follow_the_paper(loss, intercept):
    """Flipped-huber-2023, appendix D: C_i = C sqrt(M_i / sum M), lambda_i = 2 C_i / N."""
    problem = make_problem(X, TARGETS[loss], loss=loss, intercept=intercept)
    second = [float(np.sum(column**2)) / 60 for column in X.T] + [1.0] * intercept
    M = np.array(second) * (0.25 if loss == "logistic" else 1.0)
    assert problem.smoothness == pytest.approx(M, rel=1e-12)
    C = 3.0 * np.sqrt(M / M.sum())
    assert problem.clip_levels(3.0) == pytest.approx(C, rel=1e-12)
    assert np.sum(problem.clip_levels(3.0) ** 2) == pytest.approx(9.0, rel=1e-12)
    assert problem.sensitivities(3.0) == pytest.approx(2 * C / 60, rel=1e-12)
    assert problem.sensitivities([1.0, 3.0]).shape == (2, 4 + intercept)


@losses
@for_all("penalty", ["none", "l1", "l2"])
@for_all("intercept", [False, True])
def test_objective_sample_by_sample(loss, penalty, intercept):
    y = TARGETS[loss]
    problem = make_problem(X, y, loss=loss, penalty=penalty, strength=0.3, intercept=intercept)
    weights = rng.normal(size=(3, 4 + intercept)) * 0.3
    for w, value in zip(weights, problem.objective(weights), strict=True):
        slopes, offset = (w[:4], w[4]) if intercept else (w, 0.0)
        risk = 0.0
        for x, label in zip(X, y, strict=True):
            fitted = x @ slopes + offset
            squared = loss == "squared"
            risk += (fitted - label) ** 2 / 2 if squared else np.log(1 + np.exp(-label * fitted))
        psi = {"none": 0.0, "l1": sum(abs(slopes)), "l2": 0.5 * sum(slopes**2)}[penalty]
        assert value == pytest.approx(risk / 60 + 0.3 * psi, rel=1e-12)


@losses
def test_smoothness_bounds_the_curvature(loss):
    """Squared loss attains it everywhere, the logistic loss at w = 0."""
    problem = make_problem(X, TARGETS[loss], loss=loss)
    h = 1e-3
    for at in (np.zeros(4), rng.normal(size=4) * 0.2):
        curvature = [
            float(problem.objective([at + d, at - d]).sum() - 2 * problem.objective(at)) / h**2
            for d in h * np.eye(4) / np.sqrt(problem.smoothness)[:, None]
        ]
        assert np.all(np.array(curvature) <= 1 + 1e-5)
        if loss == "squared" or not at.any():
            assert curvature == pytest.approx(np.ones(4), rel=1e-5)


def test_no_descent_goes_farther_than_the_bound_for_all_of_them():
    """Of three descents one has most of the noise, and data in [-1, 1] that push one way."""
    data, target = np.column_stack([np.ones(30), np.linspace(0.9, 1.0, 30)]), -np.ones(30)
    data[0, 0] = 0.9  # a column that varies
    problem = make_problem(data, target, loss="squared")
    noise = rng.normal(size=(3, 4, 2)) * [[[1.0]], [[1e4]], [[10.0]]]
    bounds = [
        farthest_fit(problem, step=0.5, clip=2.0, noise=part)
        for part in (noise, noise[:1], noise[1:2], noise[2:])
    ]
    fits = descend(problem, steps=[0.5], clips=[2.0], noise=noise)[0, 0] @ data.T - target
    assert np.all(np.abs(fits).max(axis=1) <= bounds[1:])
    assert bounds[0] == max(bounds[1:]) == bounds[2] > 10.0 * bounds[3]


def with_column(values):
    changed = X.copy()
    changed[:, 2] = values
    return changed


def one_nan():
    changed = X.copy()
    changed[3, 1] = np.nan
    return changed


GOOD = {"features": X, "target": REAL, "loss": "squared", "penalty": "l2", "strength": 0.1}
BAD = [
    ({"loss": "hinge", "penalty": "l0", "strength": -1.0}, ["loss:", "penalty:", "strength:"]),
    ({"features": X[:, 0], "strength": np.nan}, ["an array of shape", "strength:"]),
    ({"features": with_column(7.0), "target": REAL[:5]}, [r"constant columns \[2\]", "target:"]),
    ({"features": X[:1], "target": REAL[:1], "penalty": "l3"}, ["1 sample", "penalty:"]),
    (
        {"features": one_nan(), "strength": np.inf},
        [r"NaN or infinity in columns \[1\]", "strength"],
    ),
    ({"features": one_nan(), "target": REAL * np.inf}, [r"columns \[1\]", "target: .*finite"]),
    ({"features": X[:, :0]}, ["at least one column"]),
    ({"features": with_column(X[:, 2] * 1e30)}, [r"largest magnitudes .* columns \[2\]"]),
    ({"features": with_column(X[:, 2] * 1e-30)}, [r"largest magnitudes .* columns \[2\]"]),
    ({"target": REAL * 1e20}, ["target: expected up to 1e"]),
    ({"loss": "logistic"}, ["target: expected the two labels"]),
    ({"loss": "logistic", "target": np.ones(60), "penalty": 3}, ["two labels", "penalty:"]),
]


@for_all(("change", "parts"), BAD)
def test_bad_input_is_refused_with_every_problem_named(change, parts):
    settings = GOOD | change
    features, target = settings.pop("features"), settings.pop("target")
    for part in parts:
        with pytest.raises(ValueError, match=f"^learning problem: .*{part}"):
            make_problem(features, target, **settings)
