"""The estimators: scikit-learn's contract, the non-private limit, and the account."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpnoise.calibration import gaussian_sigma
from dpnoise.learn.estimators import DPLinearRegression, DPLogisticRegression
from dpnoise.privacy import epsilon_from_zcdp, gaussian_log_delta, zcdp

rng = np.random.default_rng(21)
X = rng.normal(size=(120, 3)) * [0.5, 1.0, 2.0] + [0.5, 0.0, 0.0]
REAL = X @ [1.0, -0.5, 0.1] + 2.0 + rng.normal(size=120)
WORDS = np.where(REAL > 2.4, "yes", "no")
TARGETS = {DPLinearRegression: REAL, DPLogisticRegression: WORDS}
estimators = pytest.mark.parametrize("estimator", TARGETS)
mechanisms = pytest.mark.parametrize("mechanism", ["gaussian", "flipped-huber", "gaussian-tight"])
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])

EXACT = {"epsilon": math.inf, "clip": 1e5, "passes": 400}
NOISY = "asks for a good fit to a few samples, which the noise of epsilon = 1 drowns"


def expected_failures(estimator):
    private_regression = isinstance(estimator, DPLinearRegression) and estimator.epsilon == 1.0
    return {"check_regressors_train": NOISY} if private_regression else {}


@parametrize_with_checks(
    [
        DPLinearRegression(),
        DPLogisticRegression(),
        DPLinearRegression(**EXACT),
        DPLogisticRegression(**EXACT),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@intercepts
@pytest.mark.parametrize("penalty", ["none", "l1", "l2"])
def test_infinite_epsilon_is_plain_least_squares(penalty, fit_intercept):
    model = DPLinearRegression(
        penalty=penalty, strength=0.05, fit_intercept=fit_intercept, **EXACT
    ).fit(X, REAL)
    peer = {
        "none": LinearRegression(fit_intercept=fit_intercept),
        "l1": Lasso(alpha=0.05, fit_intercept=fit_intercept, tol=1e-10),
        "l2": Ridge(alpha=0.05 * 120, fit_intercept=fit_intercept),
    }[penalty].fit(X, REAL)
    assert model.coef_ == pytest.approx(peer.coef_, abs=5e-5)
    assert model.intercept_ == pytest.approx(peer.intercept_, abs=5e-5)
    assert model.predict(X) == pytest.approx(peer.predict(X), abs=5e-4)
    assert model.score(X, REAL) == pytest.approx(peer.score(X, REAL), abs=1e-5)
    assert model.noise_ is None


@intercepts
@pytest.mark.parametrize("penalty", ["none", "l2"])
def test_infinite_epsilon_is_plain_logistic_regression(penalty, fit_intercept):
    model = DPLogisticRegression(
        penalty=penalty, strength=0.05, fit_intercept=fit_intercept, **EXACT
    ).fit(X, WORDS)
    C = math.inf if penalty == "none" else 1 / (120 * 0.05)
    peer = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-10, max_iter=1000)
    peer.fit(X, WORDS)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.coef_ == pytest.approx(peer.coef_, abs=2e-4)
    assert model.intercept_ == pytest.approx(peer.intercept_, abs=2e-4)
    assert model.predict_proba(X) == pytest.approx(peer.predict_proba(X), abs=1e-4)
    assert model.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-3)
    assert np.array_equal(model.predict(X), peer.predict(X))
    assert model.score(X, WORDS) == peer.score(X, WORDS)


def test_probabilities_do_not_overflow():
    model = DPLogisticRegression(**EXACT).fit(X, WORDS)
    proba = model.predict_proba(X * 1e6)
    assert np.all((proba >= 0) & (proba <= 1))
    assert proba.sum(axis=1) == pytest.approx(np.ones(120), abs=1e-15)


@estimators
@mechanisms
@intercepts
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, None), (1.0, 1e-6), (20.0, 1e-9)])
def test_every_update_together_keeps_the_budget(
    estimator, mechanism, fit_intercept, epsilon, delta
):
    """Recomputed from the noise of each update against 2 C_i / N."""
    model = estimator(
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        fit_intercept=fit_intercept,
        passes=4,
        clip=0.7,
        xi_grid=40,
        random_state=0,
    ).fit(X, TARGETS[estimator])
    K = 3 + fit_intercept
    target_delta = 120**-2 if delta is None else delta
    assert model.noise_.epsilon <= epsilon
    assert model.noise_.delta == target_delta
    M = np.append(np.mean(X**2, axis=0), 1.0)[:K]
    true = 2 * 0.7 * np.sqrt(M / M.sum()) / 120
    assert model.sensitivities_ == pytest.approx(true, rel=1e-9)
    assert np.all(model.sensitivities_ > true)
    noises = [model.noise_.scaled(size) for size in model.sensitivities_]
    if mechanism == "gaussian-tight":
        mu = math.sqrt(4 * sum((t / n.sigma) ** 2 for t, n in zip(true, noises, strict=True)))
        assert gaussian_log_delta(mu, epsilon) <= math.log(target_delta)
        least = math.sqrt(4 * K) * gaussian_sigma(epsilon, target_delta)
        assert model.noise_.unit.sigma == pytest.approx(least, rel=1e-9)
    else:
        spent = [zcdp(n, t) for n, t in zip(noises, true, strict=True)]
        xi, eta = (4 * math.fsum(parts) for parts in zip(*spent, strict=True))
        assert epsilon_from_zcdp(xi, eta, target_delta) <= epsilon


@mechanisms
def test_released_weights_follow_the_certified_noise(mechanism):
    """With target 0 the weight is minus step / M times the noise of the account.

    Kolmogorov-Smirnov on 500 fits; false-alarm rate 1e-4, the seeds are fixed. Noise too large
    or too small by half would be noticed.
    """
    settings = {"mechanism": mechanism, "passes": 1, "step": 0.3, "clip": 2.0, "xi_grid": 30}
    model = DPLinearRegression(epsilon=3.0, fit_intercept=False, **settings)
    x = X[:, :1]
    weights = [
        model.set_params(random_state=seed).fit(x, np.zeros(120)).coef_[0] for seed in range(500)
    ]
    law = model.noise_.scaled(model.sensitivities_[0]).scaled(0.3 / np.mean(x**2))
    assert stats.kstest(weights, law.cdf).pvalue > 1e-4
    assert stats.kstest(np.abs(weights), lambda t: 2 * law.scaled(1.5).cdf(t) - 1).pvalue < 1e-4
    assert stats.kstest(np.abs(weights), lambda t: 2 * law.scaled(0.6).cdf(t) - 1).pvalue < 1e-4


@estimators
def test_random_state_fixes_the_weights(estimator):
    model, y = estimator(order="random", random_state=5), TARGETS[estimator]
    first = model.fit(X, y).coef_.copy()
    assert np.array_equal(clone(model).fit(X, y).coef_, first)
    generator = clone(model).set_params(random_state=np.random.default_rng(5))
    assert np.array_equal(generator.fit(X, y).coef_, first)
    fresh = clone(model).set_params(random_state=None)
    drawn = {tuple(fresh.fit(X, y).coef_.ravel()) for _ in range(3)}
    assert len(drawn) == 3


@estimators
def test_settings_reach_the_descent(estimator):
    """Each of them changes the weights, and only the settings do."""
    y = TARGETS[estimator]
    base = estimator(random_state=1, penalty="l2", strength=0.1).fit(X, y)
    for change in (
        {"epsilon": 2.0},
        {"delta": 1e-9},
        {"mechanism": "gaussian"},
        {"penalty": "l1"},
        {"strength": 0.2},
        {"passes": 11},
        {"step": 0.5},
        {"clip": 0.5},
        {"order": "random"},
        {"iterate": "averaged"},
        {"fit_intercept": False},
    ):
        changed = clone(base).set_params(**change).fit(X, y)
        assert not np.array_equal(changed.coef_, base.coef_), change
        assert changed.n_iter_ == changed.passes
        assert changed.get_params() == base.get_params() | change


def damaged(row, column, value):
    changed = X.copy()
    changed[row, column] = value
    return changed


ALL_WRONG = {
    "epsilon": 0.0,
    "delta": 1.0,
    "mechanism": "laplace",
    "penalty": "l0",
    "strength": -1.0,
    "passes": 0,
    "step": 0.0,
    "clip": math.inf,
    "order": "spiral",
    "iterate": "best",
    "fit_intercept": "no",
    "xi_grid": 2.5,
    "random_state": -1,
}
BAD_DATA = [
    (damaged(3, 1, np.nan), r"NaN or infinity in columns \[1\]"),
    (damaged(slice(None), 2, 4.0), r"constant columns \[2\]"),
    (X * 1e20, "largest magnitudes"),
]


@estimators
@pytest.mark.parametrize(("features", "complaint"), BAD_DATA)
def test_bad_settings_and_bad_data_are_named_in_one_message(estimator, features, complaint):
    model = estimator(**ALL_WRONG)
    with pytest.raises(ValueError, match=complaint) as caught:
        model.fit(features, TARGETS[estimator])
    for name in ALL_WRONG:
        assert f"{name}: expected" in str(caught.value)
    assert not [name for name in vars(model) if name.endswith("_")][1:]  # n_features_in_ alone


@estimators
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", -1.0),
        ("epsilon", math.nan),
        ("epsilon", "1"),
        ("delta", 0.0),
        ("delta", 1.5),
        ("passes", 2.0),
        ("passes", True),
        ("strength", math.nan),
        ("step", -1.0),
        ("random_state", "seed"),
    ],
)
def test_each_setting_is_checked(estimator, name, value):
    with pytest.raises(ValueError, match=f"{name}: expected .*, got {value!r}"):
        estimator(**{name: value}).fit(X, TARGETS[estimator])


@estimators
def test_one_sample_is_refused(estimator):
    with pytest.raises(ValueError, match="at least 2 samples, got '1 sample'"):
        estimator().fit(X[:1], TARGETS[estimator][:1])


def test_labels_must_be_two_classes():
    one, three = np.array(["a"] * 120), np.arange(120) % 3
    with pytest.raises(ValueError, match=r"two classes, got \['a'\].*one class"):
        DPLogisticRegression().fit(X, one)
    with pytest.raises(
        ValueError, match=r"epsilon:.*two classes, got \[0, 1, 2\]|two classes.*eps"
    ):
        DPLogisticRegression(epsilon=-1.0).fit(X, three)


def test_a_diverging_fit_is_an_error_not_a_model():
    huge = DPLinearRegression(step=1e15, clip=1e15, passes=60, random_state=0)
    with pytest.raises(ArithmeticError, match="the descent diverged with step="):
        huge.fit(X * 1e-12, REAL)
