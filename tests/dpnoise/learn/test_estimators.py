"""The estimators: scikit-learn's contract, the non-private limit, the account, public errors.

Several labels one against the rest, within one budget, and probabilities without underflow.
"""

import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpnoise.learn.estimators import (
    DPLinearRegression,
    DPLogisticRegression,
)
from dpnoise.learn.pipelines import DPPCA
from dpnoise.learn.safeguards import SeededNoiseWarning, SmallBudgetWarning
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise.privacy.odometer.concentrated import epsilon_from_zcdp, zcdp

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::dpnoise.learn.safeguards.{one}Warning")
    for one in ("SeededNoise", "SmallBudget")
]

rng = np.random.default_rng(21)
X = rng.normal(size=(120, 3)) * [0.5, 1.0, 2.0] + [0.5, 0.0, 0.0]
REAL = X @ [1.0, -0.5, 0.1] + 2.0 + rng.normal(size=120)
WORDS = np.where(REAL > 2.4, "yes", "no")
TARGETS = {DPLinearRegression: REAL, DPLogisticRegression: WORDS}
SCALES = [0.7, 1.0, 2.0]
BOUNDS = {"feature_bounds": [3.0, 5.0, 9.0], "feature_scales": SCALES}
PUBLIC = {
    DPLinearRegression: BOUNDS | {"target_bound": 10.0},
    DPLogisticRegression: BOUNDS | {"classes": ("no", "yes")},
}
estimators = pytest.mark.parametrize("estimator", TARGETS)
mechanisms = pytest.mark.parametrize("mechanism", ["gaussian", "flipped-huber", "gaussian-tight"])
intercepts = pytest.mark.parametrize("fit_intercept", [False, True])
WHITENED = {"solver": "preconditioned", "feature_scales": None}
solvers = pytest.mark.parametrize("solver", [{}, WHITENED], ids=["coordinate", "preconditioned"])

EXACT = {"epsilon": math.inf, "clip": 1e5, "passes": 400}
NOISY = "asks for a good fit to a few samples, which the noise of epsilon = 1 drowns"
TELLS = "asks for a refusal that depends on values in the data, which would not be private"


def of(estimator, **settings):
    """An estimator for X and its target, with the bounds that belong to them."""
    return estimator(**PUBLIC[estimator], **settings)


class WithLabelsOfTheCheck(DPLogisticRegression):
    """Takes the labels from the target: scikit-learn's checks use many pairs of them."""

    def fit(self, X, y, **refused):
        given, self.classes = self.classes, None if y is None else np.unique(np.asarray(y))
        try:
            return super().fit(X, y, **refused)
        finally:
            self.classes = given


def expected_failures(estimator):
    failures = {"check_estimators_nan_inf": TELLS}
    if isinstance(estimator, DPLogisticRegression):
        return failures | {"check_classifiers_regression_target": TELLS}
    failures["check_supervised_y_no_nan"] = TELLS
    return failures | ({"check_regressors_train": NOISY} if estimator.epsilon == 1.0 else {})


WIDE = {"feature_bounds": 100.0, "feature_scales": 1.0}


@parametrize_with_checks(
    [
        DPLinearRegression(target_bound=1000.0, **WIDE),
        WithLabelsOfTheCheck(**WIDE),
        DPLinearRegression(target_bound=1000.0, feature_bounds=100.0, epsilon=math.inf),
        WithLabelsOfTheCheck(feature_bounds=100.0, solver="preconditioned", epsilon=1e7),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@intercepts
@pytest.mark.parametrize("penalty", ["none", "l1", "l2"])
def test_infinite_epsilon_is_plain_least_squares(penalty, fit_intercept):
    model = of(
        DPLinearRegression, penalty=penalty, strength=0.05, fit_intercept=fit_intercept, **EXACT
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
    model = of(
        DPLogisticRegression, penalty=penalty, strength=0.05, fit_intercept=fit_intercept, **EXACT
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


@estimators
@mechanisms
@intercepts
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, None), (1.0, 1e-6), (20.0, 1e-9)])
def test_every_update_together_keeps_the_budget(
    estimator, mechanism, fit_intercept, epsilon, delta
):
    """Recomputed from the noise of each update against 2 C_i / N, C_i = clip s_i / b_i."""
    model = of(
        estimator,
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
    true = 2 * 0.7 * np.append(np.divide(SCALES, BOUNDS["feature_bounds"]), 1.0)[:K] / 120
    assert model.sensitivities_ == pytest.approx(true, rel=1e-6)
    assert np.all(model.sensitivities_ > true)
    noises = [model.noise_.scaled(size) for size in model.sensitivities_]
    if mechanism == "gaussian-tight":
        mu = math.sqrt(4 * sum((t / n.sigma) ** 2 for t, n in zip(true, noises, strict=True)))
        assert gaussian_log_delta(mu, epsilon) <= math.log(target_delta)
        needed = math.sqrt(4 * K) * gaussian_sigma(epsilon, target_delta)
        assert model.noise_.unit.sigma == pytest.approx(needed, rel=1e-9)
    else:
        spent = [zcdp(n, t) for n, t in zip(noises, true, strict=True)]
        xi, eta = (4 * math.fsum(parts) for parts in zip(*spent, strict=True))
        assert epsilon_from_zcdp(xi, eta, target_delta) <= epsilon


@mechanisms
def test_released_weights_follow_the_certified_noise(mechanism):
    """With target 0 the weight is minus step times the noise of the account, in units of bounds.

    Kolmogorov-Smirnov on 500 fits; false-alarm rate 1e-4, the seeds are fixed. Noise too large
    or too small by half would be noticed.
    """
    settings = {"mechanism": mechanism, "passes": 1, "step": 0.3, "clip": 2.0, "xi_grid": 30}
    public = {"feature_bounds": 3.0, "target_bound": 1.0}
    model = DPLinearRegression(epsilon=3.0, fit_intercept=False, **public, **settings)
    x = X[:, :1]
    weights = [
        model.set_params(random_state=seed).fit(x, np.zeros(120)).coef_[0] for seed in range(500)
    ]
    drawn = model.noise_.scaled(model.sensitivities_[0]).scaled(0.3 / 3.0)
    assert stats.kstest(weights, drawn.cdf).pvalue > 1e-4
    assert stats.kstest(np.abs(weights), lambda t: 2 * drawn.scaled(1.5).cdf(t) - 1).pvalue < 1e-4
    assert stats.kstest(np.abs(weights), lambda t: 2 * drawn.scaled(0.6).cdf(t) - 1).pvalue < 1e-4


@estimators
@solvers
def test_random_state_fixes_the_weights(estimator, solver):
    model, y = of(estimator, random_state=5).set_params(**solver), TARGETS[estimator]
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
    settings = {"penalty": "l2", "strength": 0.1, "passes": 10, "clip": 1.0}
    base = of(estimator, random_state=1, **settings).fit(X, y)
    for change in (
        {"epsilon": 2.0},
        {"delta": 1e-9},
        {"mechanism": "gaussian"},
        {"penalty": "l1"},
        {"strength": 0.2},
        {"passes": 11},
        {"step": 0.5},
        {"clip": 0.5},
        {"fit_intercept": False},
        {"feature_scales": None},
        {"feature_bounds": 1.0},
        {"target_bound": 1.0} if estimator is DPLinearRegression else {"classes": ("no", "x")},
    ):
        changed = clone(base).set_params(**change).fit(X, y)
        assert not np.array_equal(changed.coef_, base.coef_), change
        assert changed.n_iter_ == changed.passes
        assert changed.get_params() == base.get_params() | change


ALL_WRONG = {
    "epsilon": 0.0,
    "delta": 1.0,
    "mechanism": "laplace",
    "penalty": "l0",
    "strength": -1.0,
    "passes": 0,
    "step": 0.0,
    "clip": math.inf,
    "solver": "newton",
    "fit_intercept": "no",
    "xi_grid": 2.5,
    "random_state": -1,
    "feature_bounds": [1.0, -1.0, 1.0],
    "feature_scales": [1.0, 1.0],
}
OWN = {DPLinearRegression: "target_bound", DPLogisticRegression: "classes"}


@estimators
def test_everything_wrong_is_named_in_one_message(estimator):
    model = estimator(**ALL_WRONG)
    with pytest.raises(ValueError, match=f"{estimator.__name__}: ") as caught:
        model.fit(X, TARGETS[estimator])
    for name in (*ALL_WRONG, OWN[estimator]):
        assert f"{name}: expected" in str(caught.value)
    assert not [name for name in vars(model) if name.endswith("_")][1:]  # n_features_in_ alone


@pytest.mark.parametrize("value", [None, 0.0, -1.0, math.inf, math.nan, "1", 1e16])
def test_the_target_needs_a_public_bound(value):
    with pytest.raises(
        ValueError, match="target_bound: expected .*, got " + re.escape(repr(value))
    ):
        DPLinearRegression(feature_bounds=1.0, target_bound=value).fit(X, REAL)


@pytest.mark.parametrize(
    "classes",
    [
        None,
        "no",
        ["no"],
        ["no", "no"],
        [1, 2, 3],
        ["no", "yes", "no"],
        [[1, 2]],
        [1, "?"],
        [1.0, math.nan],
    ],
)
def test_the_labels_must_be_at_least_two_and_of_the_type_of_the_target(classes):
    y = WORDS if classes != [1, "?"] else np.arange(120) % 2
    with pytest.raises(ValueError, match=r"classes: expected the labels, at|y: expected labels"):
        DPLogisticRegression(feature_bounds=1.0, classes=classes).fit(X, y)


@estimators
def test_sample_weights_are_refused_with_the_reason(estimator):
    y = TARGETS[estimator]
    with pytest.raises(ValueError, match="sample_weight: not supported: a weight multiplies"):
        of(estimator).fit(X, y, sample_weight=np.ones(120))
    with pytest.raises(ValueError, match="weight: unknown argument"):
        of(estimator).fit(X, y, weight=1)
    with pytest.raises(ValueError, match="sample_weight: not supported"):
        make_pipeline(of(estimator)).fit(
            X, y, **{f"{estimator.__name__.lower()}__sample_weight": y}
        )


def test_a_target_that_is_not_numeric_is_refused_without_its_values():
    with pytest.raises(
        ValueError, match="y: expected real numbers, got an array of type"
    ) as caught:
        of(DPLinearRegression).fit(X, WORDS)
    assert "yes" not in str(caught.value)


NO_NUMBERS = [math.nan, math.inf, -math.inf]
NO_LABELS = ["maybe", None, math.nan, pd.NA, 3, ["yes"]]


@pytest.mark.parametrize(
    ("estimator", "part", "value"),
    [
        *((kind, "features", value) for kind in TARGETS for value in NO_NUMBERS),
        *((DPLinearRegression, "target", value) for value in NO_NUMBERS),
        *((DPLogisticRegression, "target", value) for value in NO_LABELS),
    ],
)
def test_records_without_a_number_or_with_another_label_contribute_nothing(estimator, part, value):
    """As if they were not there, but for their share in N: clipping shrinks, the optimum stays."""
    features, y = X.copy(), TARGETS[estimator]
    rest, broken = np.delete(np.arange(120), [4, 77]), y.astype(object)
    if part == "features":
        features[[4, 77], [0, 2]], broken = value, y
    else:
        broken[4] = broken[77] = value
    model = of(estimator, **EXACT)
    fits = [clone(model).fit(*data) for data in ((features, broken), (X[rest], y[rest]))]
    assert fits[0].coef_ == pytest.approx(fits[1].coef_, rel=1e-4, abs=1e-5)
    assert fits[0].intercept_ == pytest.approx(fits[1].intercept_, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("classes", "y"),
    [
        ((1, 2), np.arange(120) % 2 + 1),
        ((2.0, -1.0), np.where(np.arange(120) % 2, 2, -1)),
        ((False, True), np.arange(120) % 2 == 1),
        (("b", "a"), pd.Series(["a", "b"] * 60, dtype="category")),
        (np.array(["a", "b"], dtype=object), np.array(["a", "b"] * 60)),
        ((0, 1), pd.array([0, 1] * 60, dtype="Int64")),
    ],
)
def test_labels_of_many_types(classes, y):
    model = DPLogisticRegression(classes=classes, feature_bounds=1.0, **EXACT)
    features = (np.arange(120) % 2)[:, None] + 0.1 * X[:, :1]
    model.fit(features, y)
    assert model.classes_.tolist() == sorted(classes)
    assert np.array_equal(model.predict(features), np.asarray(y))


@estimators
@solvers
@pytest.mark.parametrize("epsilon", [2.0, math.inf])
def test_the_units_of_features_and_targets_do_not_matter(estimator, solver, epsilon):
    """By powers of two, so that the mapping to [-1, 1] has the same bits."""
    settings = {"epsilon": epsilon, "random_state": 1}
    units, y = np.array([64.0, 1.0, 0.125]), TARGETS[estimator]
    if estimator is DPLinearRegression:
        settings |= {"fit_intercept": False}
    plain = of(estimator, **settings).set_params(**solver).fit(X, y)
    public = {name: np.multiply(value, units) for name, value in BOUNDS.items()} | solver
    other = clone(plain).set_params(**public).fit(X * units, y)
    assert np.array_equal(other.predict(X * units), plain.predict(X))
    assert np.array_equal(other.coef_ * units, plain.coef_)
    if estimator is DPLinearRegression:
        scaled = clone(plain).set_params(target_bound=40.0).fit(X, 4.0 * REAL)
        assert np.array_equal(scaled.coef_, 4.0 * plain.coef_)


def test_bounds_that_are_not_about_zero_are_ranges():
    """As data shifted to the middle, and back: one more release would be needed without."""
    settings = {"epsilon": 3.0, "random_state": 2, "passes": 20, "feature_scales": SCALES}
    half, middle = np.array(BOUNDS["feature_bounds"]), np.array([8.0, -16.0, 0.0])
    ranges = np.column_stack([middle - half, middle + half])
    plain = DPLinearRegression(feature_bounds=half, target_bound=10.0, **settings).fit(X, REAL)
    moved = DPLinearRegression(feature_bounds=ranges, target_bound=(22.0, 42.0), **settings)
    moved.fit(X + middle, REAL + 32.0)
    assert moved.coef_ == pytest.approx(plain.coef_, rel=1e-5)
    assert moved.predict(X + middle) == pytest.approx(plain.predict(X) + 32.0, rel=1e-6)
    around = clone(moved).set_params(fit_intercept=False).fit(X + middle, REAL + 32.0)
    wide = np.abs(ranges).max(axis=1)
    same = clone(moved).set_params(feature_bounds=wide, target_bound=42.0, fit_intercept=False)
    assert np.array_equal(same.fit(X + middle, REAL + 32.0).coef_, around.coef_)
    assert around.intercept_ == 0.0
    with pytest.raises(ValueError, match=r"feature_bounds: expected bounds b .* low < high"):
        clone(moved).set_params(feature_bounds=ranges[:, ::-1]).fit(X, REAL)


def test_defaults_reach_the_fit_that_the_class_allows():
    """Two reported cases: bounds of different sizes, and labels at a large epsilon."""
    draws = np.random.default_rng(4)
    features = draws.uniform(-1.0, 1.0, size=(5000, 2)) * [100.0, 1.0]
    target = features @ [0.03, 2.0] + draws.normal(scale=0.1, size=5000)
    model = DPLinearRegression(feature_bounds=[100.0, 1.0], target_bound=6.0, epsilon=1e6)
    assert model.fit(features, target).score(features, target) > 0.99
    assert model.set_params(epsilon=1.0).fit(features, target).score(features, target) > 0.95
    labels = target + draws.logistic(size=5000) > 0.0
    peer = LogisticRegression(C=math.inf).fit(features, labels).score(features, labels)
    private = DPLogisticRegression(
        classes=(False, True), feature_bounds=[100.0, 1.0], epsilon=1e7
    ).fit(features, labels)
    assert private.score(features, labels) > peer - 0.01


@estimators
@solvers
@pytest.mark.filterwarnings("always::dpnoise.learn.safeguards.SmallBudgetWarning")
def test_a_budget_that_is_too_small_warns_by_public_numbers_alone(estimator, solver):
    y, said = TARGETS[estimator], []
    for features in (X, X * 0.0, X * math.nan):
        with pytest.warns(SmallBudgetWarning, match="120 records and 4 coef") as caught:
            of(estimator, epsilon=0.01).set_params(**solver).fit(features, y)
        said.append([str(one.message) for one in caught])
    assert said[0] == said[1] == said[2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of(estimator, epsilon=50.0).set_params(**solver).fit(X, y)
        of(estimator, epsilon=math.inf).set_params(**solver).fit(X, y)


@estimators
@solvers
def test_data_are_clipped_to_the_bounds(estimator, solver):
    y = TARGETS[estimator]
    wild = X.copy()
    wild[:5] *= [[1e300, 1e-300, -1e200]]
    model = of(estimator, random_state=3).set_params(**solver)
    clipped = np.clip(wild, -np.array(BOUNDS["feature_bounds"]), BOUNDS["feature_bounds"])
    assert np.array_equal(clone(model).fit(wild, y).coef_, clone(model).fit(clipped, y).coef_)
    if estimator is DPLinearRegression:
        far = np.where(np.arange(120) < 5, 1e300, REAL)
        near = np.where(np.arange(120) < 5, 10.0, REAL)
        assert np.array_equal(clone(model).fit(X, far).coef_, clone(model).fit(X, near).coef_)


@estimators
@solvers
def test_what_does_not_carry_noise_does_not_depend_on_the_data(estimator, solver):
    """Constant columns, one class, huge values: no refusal, the same sensitivities and account."""
    y, model = TARGETS[estimator], of(estimator, random_state=0).set_params(**solver)
    others = [
        (X * 0.0 + 7.0, y),
        (X, np.repeat(y[:1], 120)),
        (X * 1e200, y[::-1]),
        (X * math.nan, np.repeat(y[:1], 120)),
    ]
    base = clone(model).fit(X, y)
    for features, target in others:
        other = clone(model).fit(features, target)
        assert other.noise_ == base.noise_
        assert np.array_equal(other.sensitivities_, base.sensitivities_)
        assert (other.n_iter_, other.clip_) == (base.n_iter_, base.clip_)
        assert np.isfinite(other.coef_).all()


@estimators
def test_a_descent_that_could_diverge_is_refused_for_any_data_alike(estimator):
    model = of(estimator, step=1e15, clip=1e15, passes=60, random_state=0)
    messages = set()
    for features in (X, X * 0.0, X * 1e300):
        with pytest.raises(ArithmeticError, match="the descent could diverge") as caught:
            clone(model).fit(features, TARGETS[estimator])
        messages.add(str(caught.value))
    assert len(messages) == 1


@estimators
@pytest.mark.filterwarnings("ignore::dpnoise.learn.safeguards.LargeDeltaWarning")
def test_fits_just_below_the_limit_are_finite_for_any_data(estimator):
    """An overflow would give NaN at records with a zero and tell that there is one."""
    own = {"target_bound": 1e14} if estimator is DPLinearRegression else {"classes": (0, 1)}
    public = {"feature_bounds": 1e14, "feature_scales": 1.0, "delta": 0.1} | own
    model = estimator(epsilon=1.0, passes=1, clip=2.0, step=0.3, random_state=0, **public)
    sign = np.where(np.arange(120) % 2, 1.0, -1.0)
    for features in (1e14 * sign[:, None] * [1, 1, 1], 1e14 * np.eye(120)[:, :3], X * 1e300):
        target = 1e14 * sign if estimator is DPLinearRegression else np.arange(120) % 2
        assert np.isfinite(clone(model).fit(features, target).coef_).all()
    with pytest.raises(ArithmeticError, match="could diverge"):
        clone(model).set_params(step=30.0).fit(X, np.arange(120) % 2)


@estimators
@pytest.mark.parametrize("state", [0, np.random.default_rng(0)])
def test_a_seed_warns(estimator, state):
    with pytest.warns(SeededNoiseWarning, match="noise from a given random_state is not private"):
        of(estimator, random_state=state).fit(X, TARGETS[estimator])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of(estimator).fit(X, TARGETS[estimator])
        of(estimator, random_state=0, **EXACT).fit(X, TARGETS[estimator])


@pytest.mark.parametrize("delta", [None, 1e-7])
def test_what_is_guaranteed_is_stated(delta):
    """Delta is 1 / N^2 if it is left out."""
    data, target = np.linspace(-1.0, 1.0, 100)[:, None], np.linspace(-1.0, 1.0, 100)
    settings = {"feature_bounds": 1.0, "delta": delta}
    for model, y in (
        (DPLinearRegression(target_bound=1.0, epsilon=2.0, **settings), target),
        (DPLogisticRegression(classes=(-1, 1), epsilon=2.0, **settings), np.sign(target)),
    ):
        said = "1e-07" if delta else "0.0001"
        sentence = "one person replaced by another, in one record: epsilon = 2, delta = "
        assert model.fit(data, y).promise_ == sentence + said
        assert model.set_params(epsilon=math.inf).fit(data, y).promise_ is None


stream = np.random.default_rng([2026, 11])
POINTS = stream.normal(size=(300, 2)).clip(-3.0, 3.0)
THREE = np.where(POINTS[:, 0] > 0.4, "a", np.where(POINTS[:, 1] > 0.0, "b", "c"))
CLASSES = ("c", "a", "b")
RIDGE = {"epsilon": math.inf, "clip": 1e5, "passes": 400, "penalty": "l2", "strength": 0.05}


def of_three(**settings):
    return DPLogisticRegression(classes=CLASSES, feature_bounds=3.0, feature_scales=1.0, **settings)


def test_without_noise_it_is_one_against_the_rest():
    model = of_three(**RIDGE).fit(POINTS, THREE)
    peer = OneVsRestClassifier(LogisticRegression(C=1 / (300 * 0.05), tol=1e-10)).fit(POINTS, THREE)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_ == pytest.approx(np.vstack([e.coef_ for e in peer.estimators_]), abs=2e-4)
    assert model.decision_function(POINTS) == pytest.approx(
        peer.decision_function(POINTS), abs=1e-3
    )
    assert model.predict_proba(POINTS) == pytest.approx(peer.predict_proba(POINTS), abs=1e-3)
    assert np.array_equal(model.predict(POINTS), peer.predict(POINTS))


def test_all_rows_share_one_budget_and_need_less_noise_than_thirds_of_it():
    model = of_three(epsilon=1.0, delta=1e-6).fit(POINTS, THREE)
    releases = 3 * model.n_iter_ * 3  # labels, passes, coordinates with the intercept
    sigma = model.noise_.unit.sigma
    assert gaussian_log_delta(math.sqrt(releases) / sigma, 1.0) <= math.log(1e-6)
    assert sigma == pytest.approx(math.sqrt(releases) * float(gaussian_sigma(1.0, 1e-6)))
    thirds = math.sqrt(releases / 3) * float(gaussian_sigma(1.0 / 3.0, 1e-6 / 3.0))
    assert sigma < 0.7 * thirds
    assert model.coef_.shape == (3, 2)
    assert model.intercept_.shape == (3,)


@pytest.mark.parametrize("classes", [("a", "b"), CLASSES])
def test_probabilities_add_up_and_their_logarithms_do_not_underflow(classes):
    model = of_three(**RIDGE).set_params(classes=classes).fit(POINTS, THREE)
    assert model.predict_proba(POINTS).sum(axis=1) == pytest.approx(np.ones(300))
    far = model.predict_log_proba(1e6 * POINTS)
    assert np.isfinite(far).all()
    assert far.min() < -1000.0
    near = model.predict_log_proba(POINTS)
    assert np.exp(near) == pytest.approx(model.predict_proba(POINTS))
    assert np.array_equal(model.classes_[near.argmax(axis=1)], model.predict(POINTS))


def test_a_label_that_is_no_class_counts_as_an_empty_record():
    strange = THREE.astype(object)
    strange[:5] = ["x", None, math.nan, ("a",), 3]
    missing = POINTS.copy()
    missing[:5] = math.nan
    exact = of_three(**RIDGE)
    one = exact.fit(POINTS, strange).coef_
    assert one == pytest.approx(exact.fit(missing, THREE).coef_)


@pytest.mark.parametrize(
    "model",
    [
        of_three(),
        DPLinearRegression(feature_bounds=1.0, target_bound=1.0),
        DPPCA(relation="replace-one"),
    ],
)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_data_are_refused_in_words(model, kind):
    with pytest.raises(TypeError, match=r"Sparse data .* dense data is required"):
        model.fit(kind(POINTS), THREE)
