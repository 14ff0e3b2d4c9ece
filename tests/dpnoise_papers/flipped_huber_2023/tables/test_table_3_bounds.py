"""Lower bounds of the NMSE, against descents that are run."""

import numpy as np
import pytest

from dpnoise.learn.cd import descend
from dpnoise.learn.problem import make_problem
from dpnoise_papers.flipped_huber_2023.tables.table_3_bounds import nmse_bound

STEPS, CLIPS = np.geomspace(0.01, 10.0, 7), np.geomspace(1e-4, 1e8, 25)


def problem_of(loss, penalty, rng, strength=0.1):
    X = rng.normal(size=(300, 3)) * [1.0, 30.0, 0.2]
    X[0] *= 20.0  # one record far from the others
    y = X @ [1.0, -0.02, 2.0] + rng.normal(size=300)
    y = np.sign(y) if loss == "logistic" else y
    return make_problem(X, y, loss=loss, penalty=penalty, strength=strength)


def bound_and_nmse(problem, noise, target):
    shared = {"steps": STEPS, "clips": CLIPS}
    with np.errstate(all="ignore"):
        weights = descend(problem, noise=noise[None], **shared)[:, :, 0]
        nmse = np.sum((weights - target) ** 2, axis=-1) / np.sum(target**2)
    return nmse_bound(problem, target, noise=noise, **shared), nmse


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("penalty", ["none", "l1", "l2"])
@pytest.mark.parametrize("strength", [0.1, 10.0])
@pytest.mark.parametrize("passes", [1, 4, 30])
@pytest.mark.parametrize("scale", [0.0, 1.0, 40.0])
def test_no_descent_errs_less_than_its_bound(loss, penalty, strength, passes, scale):
    rng = np.random.default_rng(passes)
    problem = problem_of(loss, penalty, rng, strength)
    noise = scale * rng.normal(size=(passes, 3))
    for target in (np.array([1.0, -0.02, 2.0]), np.array([0.0, 0.0, 1e-3])):
        bound, nmse = bound_and_nmse(problem, noise, target)
        assert np.all(bound >= 0.0)
        assert not np.any(nmse < bound)


@pytest.mark.parametrize("penalty", ["none", "l2"])
def test_tiny_and_huge_clipping_levels_are_bounded_closely(penalty):
    rng = np.random.default_rng(1)
    problem = problem_of("logistic", penalty, rng)
    bound, nmse = bound_and_nmse(problem, 40.0 * rng.normal(size=(5, 3)), np.ones(3))
    assert np.allclose(bound[0, 0], nmse[0, 0], rtol=0.01)
    assert nmse[0, 0] == pytest.approx(1.0, abs=0.01)
    assert np.allclose(bound[:, -1], nmse[:, -1], rtol=0.01)
    assert np.all(nmse[:, -1] > 1e6)


def test_numbers_that_overflow_bound_nothing_or_everything():
    rng = np.random.default_rng(2)
    problem = problem_of("squared", "l1", rng)
    extreme = np.array([1e-300, 1.0, 1e300])
    noise = 1e10 * rng.normal(size=(3, 3))
    found = nmse_bound(problem, np.ones(3), steps=extreme, clips=extreme, noise=noise)
    assert not np.isnan(found).any()
    assert np.all(found >= 0.0)
