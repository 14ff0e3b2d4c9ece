"""Private gradient descent in whitened coordinates: sensitivities, account, limit, choice."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

from dpnoise.learn.estimators import DPLinearRegression, DPLogisticRegression
from dpnoise.learn.whitened import (
    Schedule,
    largest_slopes,
    mean_gradient,
    noisy_second_moment,
    whitened_descent,
)
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from for_all import for_all

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::dpnoise.learn.safeguards.{one}Warning")
    for one in ("SeededNoise", "SmallBudget")
]

N = 200


def stream(*entropy):
    return np.random.default_rng([2026, 46, *entropy])


def skewed(size, seed=0):
    """Columns in a corner of [-1, 1], hardly to be told from the intercept, and a common one."""
    draws = stream(seed)
    X = np.column_stack([-0.95 + 0.04 * draws.uniform(size=(size, 2)), draws.uniform(-1, 1, size)])
    logits = 40.0 * (X[:, 0] + 0.93) - 30.0 * (X[:, 1] + 0.93) + X[:, 2]
    return X, logits, draws.uniform(size=size) < 1.0 / (1.0 + np.exp(-logits))


def test_without_noise_it_is_the_fit_of_scikit_learn():
    """Where coordinate descent is far off after as many passes."""
    X, logits, labels = skewed(4000)
    y = 0.1 * logits + stream(1).normal(scale=0.1, size=4000)
    model = DPLinearRegression(feature_bounds=1.0, target_bound=2.0, epsilon=math.inf)
    peer = LinearRegression().fit(X, y)
    assert model.fit(X, y).coef_ == pytest.approx(peer.coef_, rel=1e-6)
    assert model.intercept_ == pytest.approx(peer.intercept_, rel=1e-6)
    assert model.solver_ == "preconditioned"
    labelled = DPLogisticRegression(feature_bounds=1.0, classes=(False, True), epsilon=math.inf)
    peer = LogisticRegression(C=math.inf, tol=1e-10, max_iter=1000).fit(X, labels)
    assert labelled.fit(X, labels).coef_ == pytest.approx(peer.coef_, rel=1e-3)
    slow = labelled.set_params(solver="coordinate").fit(X, labels)
    assert np.abs(slow.coef_ - peer.coef_).max() > 5.0


@for_all(
    ("loss", "fits", "epsilon", "delta", "intercept"),
    [
        ("squared", 1, 0.3, 1e-6, True),
        ("logistic", 1, 2.0, 1e-9, False),
        ("logistic", 3, 20.0, None, True),
        ("squared", 1, 1e-3, 1e-3, False),
    ],
)
def test_the_squares_of_mu_of_all_releases_keep_the_budget(loss, fits, epsilon, delta, intercept):
    """From the noise of each release and what a record moves, both recomputed."""
    X, logits, _ = skewed(N)
    public = {"epsilon": epsilon, "delta": delta, "solver": "preconditioned", "random_state": 0}
    public |= {"feature_bounds": 1.0, "fit_intercept": intercept}
    if loss == "squared":
        model = DPLinearRegression(target_bound=5.0, **public).fit(X, logits)
    else:
        classes = range(fits + (fits == 1))
        model = DPLogisticRegression(classes=classes, **public).fit(X, np.arange(N) % len(classes))
    K, steps, sigma = 3 + intercept, model.n_iter_, model.noise_.unit.sigma
    true = np.array([math.sqrt(2) * K, 2 * model.clip_]) / N
    assert model.sensitivities_ == pytest.approx(true, rel=1e-9)
    assert np.all(model.sensitivities_ > true)
    plan = Schedule(loss, N, K, fits, float(gaussian_sigma(epsilon, delta or N**-2)))
    matrix, gradient = sigma * model.sensitivities_ / [math.sqrt(plan.copies), 1.0]
    assert model.noise_.releases == plan.copies + steps * fits
    mu = math.hypot(true[0] / matrix, math.sqrt(steps * fits) * true[1] / gradient)
    target = N**-2 if delta is None else delta
    assert gaussian_log_delta(mu, epsilon) <= math.log(target)
    assert mu * gaussian_sigma(epsilon, target) == pytest.approx(1.0, rel=1e-6)  # and uses it up


def test_noise_of_the_matrix_is_alike_in_all_directions_and_as_large_as_the_account_says():
    """Along symmetric matrices of Frobenius norm 1, of which each has one Gaussian of its own."""
    plan = Schedule("squared", N, 4, 1, 3.0)
    draws, seen = stream(2), []
    rows = draws.uniform(-1.0, 1.0, (N, 4))
    exact = rows.T @ rows / N
    one = draws.normal(size=(4, 4))
    directions = [np.eye(4) / 2.0, np.diag([0, 1.0, 0, 0]), (one + one.T) / 2.0]
    for _ in range(4000):
        noise = noisy_second_moment(plan, rows, lambda shape: draws.normal(size=shape)) - exact
        assert np.array_equal(noise + exact, (noise + exact).T)
        seen.append([np.sum(noise * d) / np.linalg.norm(d) for d in directions])
    scale = plan.sensitivities[0] / math.sqrt(plan.copies)
    for found in np.transpose(seen):
        assert stats.kstest(found, stats.norm(scale=scale).cdf).pvalue > 1e-4
        assert stats.kstest(found, stats.norm(scale=0.85 * scale).cdf).pvalue < 1e-4
    norm = math.sqrt(2 * 4) * scale * 3.0 * math.sqrt(plan.releases)  # of noise of that size, about
    assert plan.noise == pytest.approx(norm, rel=0.1)


@for_all(("loss", "fits"), [("squared", 1), ("logistic", 1), ("logistic", 3)])
def test_the_descent_is_that_of_the_noisy_matrix_line_by_line(loss, fits):
    """With noise of the size of the data, from the same draws."""
    plan, draws = Schedule(loss, N, 4, fits, 1.0), stream(4)
    sigma = math.sqrt(plan.releases)
    rows = np.column_stack([skewed(N)[0], np.ones(N)])
    targets = draws.choice([-1.0, 1.0], (fits, N))
    found = whitened_descent(
        plan, rows, targets, lambda shape: sigma * stream(5).normal(size=shape)
    )
    matrix = noisy_second_moment(plan, rows, lambda shape: sigma * stream(5).normal(size=shape))
    noises = plan.sensitivities[1] * sigma * stream(5).normal(size=(plan.steps, 4, fits))
    values, vectors = np.linalg.eigh(matrix)
    turn = vectors @ np.diag(np.maximum(values, plan.noise / 3.0) ** -0.5)
    assert values.min() < plan.noise / 3.0 < values.max()
    for weights, y, noise in zip(found, targets, np.moveaxis(noises, 2, 0), strict=True):
        u, iterates = np.zeros(4), []
        for one in noise:
            gradients = []
            for z, label in zip(rows @ turn, y, strict=True):
                p = 1.0 / (1.0 + math.exp(-z @ u))
                g = z * (z @ u - label if loss == "squared" else p - (label > 0.0))
                gradients.append(g * min(1.0, plan.clip / np.linalg.norm(g)))
            u = u - (np.mean(gradients, axis=0) + one) * (1.0 if loss == "squared" else 4.0)
            iterates.append(u)
        expected = turn @ np.mean(iterates[-(len(iterates) // 3) :], axis=0)
        assert weights == pytest.approx(expected, rel=1e-8)


@for_all("loss", ["squared", "logistic"])
@for_all("sigma", [0.0, 1.0, 1e3])
def test_a_replaced_record_moves_matrix_and_gradients_by_their_sensitivities_at_most(loss, sigma):
    """Random neighbours and two that are made for it: the bounds are attained."""
    plan, draws = Schedule(loss, N, 4, 1, sigma), stream(3)
    far = 1.0 if loss == "logistic" else 1e9
    moved = np.zeros((300, 2))
    for k in range(300):
        first, targets = draws.uniform(-1.0, 1.0, (N, 4)), np.full((1, N), 0.5)
        other, changed = first.copy(), targets.copy()
        other[0] = draws.uniform(-1.0, 1.0, 4)
        turn = np.linalg.qr(draws.normal(size=(4, 4)))[0] * 10.0 ** draws.uniform(-1, 4)
        u = draws.normal(size=(4, 1)) * 10.0 ** draws.uniform(-3, 3)
        targets[0, 0], changed[0, 0] = -far, far
        if k == 0:  # corners at right angles
            first[0], other[0] = 1.0, [1.0, -1.0, 1.0, -1.0]
        if k == 1:  # on both sides of the plane where a label is as likely as not
            first[0], other[0] = [1e-3, 1.0, 1.0, 1.0], [-1e-3, 1.0, 1.0, 1.0]
            turn, u = 1e3 * np.eye(4), np.array([[1e9], [0.0], [0.0], [0.0]])
        matrices = [noisy_second_moment(plan, rows, np.zeros) for rows in (first, other)]
        gradients = [
            mean_gradient(loss, z, y, u, largest_slopes(plan, z))
            for z, y in ((first @ turn, targets), (other @ turn, changed))
        ]
        moved[k] = [np.linalg.norm(np.subtract(*pair)) for pair in (matrices, gradients)]
    assert np.all(moved <= plan.sensitivities)
    assert np.all(moved.max(axis=0) >= 0.999 * plan.sensitivities)


def test_the_solver_is_chosen_by_public_numbers_and_settings_of_coordinates():
    X, logits, labels = skewed(N)
    for epsilon, solver in ((1.15, "coordinate"), (1.3, "preconditioned")):
        model = DPLogisticRegression(feature_bounds=1.0, classes=(False, True), epsilon=epsilon)
        for features in (X, X * 0.0, X * math.nan):
            assert model.fit(features, labels).solver_ == solver
        assert model.set_params(solver="preconditioned").fit(X, labels).solver_ == "preconditioned"
    number = DPLinearRegression(feature_bounds=1.0, target_bound=9.0)
    assert number.fit(X, logits).solver_ == "preconditioned"
    for name, value in {"feature_scales": [1.0, 0.5, 1.0], "penalty": "l2", "step": 0.5,
                        "mechanism": "gaussian", "passes": 3, "clip": 1.0}.items():  # fmt: skip
        changed = DPLinearRegression(feature_bounds=1.0, target_bound=9.0, **{name: value})
        assert changed.fit(X, logits).solver_ == "coordinate"
        with pytest.raises(ValueError, match=f"solver: expected 'auto' or .* beside {name}, got"):
            changed.set_params(solver="preconditioned").fit(X, logits)


def test_steps_and_clipping_grow_as_noise_falls():
    """Between limits, of which the work with many rows is one."""
    plans = [Schedule("logistic", 10**4, 5, 1, sigma) for sigma in (1e4, 10.0, 1.0, 0.1, 0.0)]
    assert [plan.steps for plan in plans] == sorted(plan.steps for plan in plans)
    assert [plan.clip for plan in plans] == sorted(plan.clip for plan in plans)
    assert (plans[0].steps, plans[-1].steps, plans[-1].clip) == (80, 1000, 10.0 * math.sqrt(5))
    assert replace(plans[-1], size=10**7).steps == 80
