"""Sensitivities of second-moment matrices: never exceeded, reached, and spent well."""

import math

import numpy as np
import pytest
from scipy import optimize

from dpnoise.learn.pca_noise import (
    ALLOCATIONS,
    NEIGHBOURING,
    NOISES,
    maximum_loss,
    second_moment_scales,
)
from dpnoise.noise import Gaussian, Laplace
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.vector import vector_profile

SCALES = [(1.0, 1.0), (1.0, math.sqrt(0.5)), (2.0, 0.3), (0.3, 2.0)]
relations = pytest.mark.parametrize("neighbouring", NEIGHBOURING)
noises = pytest.mark.parametrize("noise", NOISES)


def difference(flat, features, neighbouring):
    """Second moments of neighbours from unconstrained numbers, samples pulled into the ball."""
    rows = flat.reshape(-1, features)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
    moments = rows[:, :, None] * rows[:, None, :]
    return moments[0] if neighbouring == "add-remove" else moments[0] - moments[1]


def loss(D, diagonal, off_diagonal, noise):
    scaled = np.concatenate([np.diag(D) / diagonal, D[np.triu_indices(len(D), 1)] / off_diagonal])
    return np.linalg.norm(scaled, 2 if noise == "gaussian" else 1)


def greatest_found(features, scales, noise, neighbouring, seed):
    """The largest loss that 8 local searches from random neighbours reach."""
    rng = np.random.default_rng(seed)
    samples = 1 if neighbouring == "add-remove" else 2

    def goal(flat):
        return -loss(difference(flat, features, neighbouring), *scales, noise)

    starts = rng.normal(size=(8, samples * features)) * rng.choice([0.1, 1.0, 3.0], size=(8, 1))
    found = (optimize.minimize(goal, start, method="Nelder-Mead").fun for start in starts)
    return -min(found)


@noises
@relations
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("features", [1, 2, 3])
def test_no_search_finds_more_than_the_greatest_loss(features, scales, noise, neighbouring):
    most = maximum_loss(features, *scales, noise=noise, neighbouring=neighbouring)
    found = greatest_found(features, scales, noise, neighbouring, features)
    assert found <= most * (1 + 1e-12)
    exact = noise == "gaussian" or neighbouring == "add-remove"
    assert found >= most * (1 - 1e-4 if exact else 0.7)


@noises
@relations
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("features", [2, 7, 40])
def test_random_and_special_neighbours_stay_below(features, scales, noise, neighbouring):
    rng = np.random.default_rng(features)
    most = maximum_loss(features, *scales, noise=noise, neighbouring=neighbouring)
    first, second = np.eye(features)[:2]
    flat = np.full(features, features**-0.5)
    signed = flat * (-1.0) ** np.arange(features)
    special = [first, second, flat, signed, (first + second) / 2**0.5, (first - second) / 2**0.5]
    pairs = [np.concatenate([x, y]) for x in special for y in special]
    pairs += list(rng.normal(size=(300, 2 * features)) * rng.choice([0.0, 1.0], (300, 1)))
    pairs += list(rng.standard_cauchy(size=(300, 2 * features)) ** 3)
    losses = [loss(difference(p, features, neighbouring), *scales, noise) for p in pairs]
    assert max(losses) <= most * (1 + 1e-12)
    if noise == "gaussian" or neighbouring == "add-remove":
        assert max(losses) >= most * (1 - 1e-12)  # one of the special pairs reaches it


@pytest.mark.parametrize("features", [4, 100])
def test_the_bound_for_replaced_samples_and_laplace_is_tight_to_a_few_per_cent(features):
    """All |D_ij| = sqrt 2 / M: x and y constant on either half, at 45 degrees."""
    angles = math.pi / 8, 5 * math.pi / 8
    p, q = (np.repeat([f(a) for a in angles], features // 2) for f in (np.cos, np.sin))
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    D = difference(np.concatenate([(p + q), (p - q)]) / 2**0.5, features, "replace-one")
    assert np.abs(D) == pytest.approx(np.full((features, features), 2**0.5 / features))
    for scales, slack in (((1.0, 1.0), 0.06 if features == 4 else 0.005), ((1.0, 0.5), 1e-12)):
        most = maximum_loss(features, *scales, noise="laplace", neighbouring="replace-one")
        assert most * (1 - slack) <= loss(D, *scales, "laplace") <= most * (1 + 1e-12)


@noises
@relations
@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("features", [1, 2, 5, 100])
def test_scales_spend_the_budget_and_no_more(features, allocation, noise, neighbouring):
    epsilon, delta = 0.7, 1e-7
    scales = second_moment_scales(
        features, noise=noise, allocation=allocation, neighbouring=neighbouring,
        epsilon=epsilon, delta=delta,
    )  # fmt: skip
    spent = maximum_loss(features, *scales, noise=noise, neighbouring=neighbouring)
    if noise == "gaussian":
        assert math.log(delta) - 1e-9 < gaussian_log_delta(spent, epsilon) <= math.log(delta)
    else:
        assert epsilon * (1 - 1e-12) < spent <= epsilon
    if allocation == "iid":
        assert scales[0] == pytest.approx(scales[1], rel=1e-13)


@noises
@relations
@pytest.mark.parametrize("features", [2, 5, 100])
def test_no_other_ratio_of_scales_has_a_smaller_squared_error(features, noise, neighbouring):
    def error(ratio):
        """M s^2 + M (M - 1) t^2 of scales 1 and `ratio`, enlarged to a loss of 1."""
        most = maximum_loss(features, 1.0, ratio, noise=noise, neighbouring=neighbouring)
        return most**2 * features * (1 + (features - 1) * ratio**2)

    s, t = second_moment_scales(
        features, noise=noise, allocation="optimal", neighbouring=neighbouring,
        epsilon=1.0, delta=1e-6,
    )  # fmt: skip
    others = [error(ratio) for ratio in np.geomspace(0.3, 3.0, 400)]
    # of two features, replaced, the bound by twice the loss of adding can be the smaller one
    slack = 1e-12 if features > 2 or noise == "gaussian" else 0.05
    assert error(t / s) <= min(others) * (1 + slack)
    assert error(t / s) < error(1.0)


@noises
@relations
@pytest.mark.parametrize("allocation", ALLOCATIONS)
def test_the_exact_profile_at_single_neighbours_is_within_the_budget(
    allocation, noise, neighbouring
):
    """An account that knows nothing of second moments, over random and extreme neighbours."""
    features, epsilon = 4, 1.3
    delta = 1e-4 if noise == "gaussian" else 0.0
    scales = second_moment_scales(
        features, noise=noise, allocation=allocation, neighbouring=neighbouring,
        epsilon=epsilon, delta=delta,
    )  # fmt: skip
    family = Gaussian if noise == "gaussian" else Laplace
    above = np.triu_indices(features, 1)
    noises = [family(scales[0])] * features + [family(scales[1])] * len(above[0])
    rng = np.random.default_rng(5)
    pairs = [*rng.normal(size=(6, 2 * features)), np.eye(features)[:2].ravel()]
    pairs.append(np.repeat([0.5, -0.5, 0.5], [4, 2, 2]))
    deltas = []
    for pair in pairs:
        D = np.abs(difference(pair, features, neighbouring))
        sizes = np.concatenate([np.diag(D), D[above]])
        kept = sizes > 1e-9
        some = [n for n, k in zip(noises, kept, strict=True) if k]
        at = [epsilon * (1 + 1e-12), 0.98 * epsilon]
        profile = vector_profile(some, sizes[kept].tolist(), at)
        deltas.append([profile.upper[0], profile.lower[1]])
    within, beyond = np.max(deltas, axis=0)
    assert within <= delta * (1 + 1e-6) + 1e-12  # the bound's own rounding
    if noise == "gaussian" or neighbouring == "add-remove":
        assert beyond > delta + 1e-9  # no less noise would do
