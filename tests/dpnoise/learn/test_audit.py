"""Every estimator under the auditor.

Each healthy estimator must stand the audit (false-alarm rate 1e-4 each, at fixed seeds), and each
fault that the estimators once had, put back, must be found.
"""

import functools
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from dpnoise.learn import estimators, pca, pipelines, whitened
from dpnoise.learn.estimators import DPLinearRegression, DPLogisticRegression
from dpnoise.learn.pca import clip_rows
from dpnoise.learn.pipelines import DPPCA
from dpnoise.learn.safeguards import SeededNoiseWarning
from repeated_runs import audited_runs

N = 40
DELTA = 1e-3


def stream(*entropy):
    return np.random.default_rng([2026, *entropy])


@pytest.fixture(autouse=True)
def calibrated_once(monkeypatch):
    """Calibrate once for each set of arguments: thousands of fits share them."""
    plain, known = estimators.coordinate_noise, {}

    def cached(mechanism, *, sensitivities, **settings):
        key = mechanism, sensitivities.tobytes(), *settings.values()
        if key not in known:
            known[key] = plain(mechanism, sensitivities=sensitivities, **settings)
        return known[key]

    monkeypatch.setattr(estimators, "coordinate_noise", cached)
    monkeypatch.setattr(pca, "second_moment_scales", functools.cache(pca.second_moment_scales))


def data(seed):
    """Small features, targets in [-1, 1] and labels of two kinds."""
    draws = stream(5, seed)
    X = draws.normal(size=(N, 2)).clip(-2.0, 2.0)
    return X, draws.uniform(-1.0, 1.0, N), np.arange(N) % 2


def huge():
    """One record replaced by the most extreme one."""
    X, y, labels = data(0)
    X[0], y[0], labels[0] = 0.0, 0.0, 0
    other = X.copy(), y.copy(), labels.copy()
    other[0][0], other[1][0], other[2][0] = [50.0, -1e300], 1e300, 1
    return (X, y, labels), other


def odd():
    """One record that breaks what all others have: a constant column, finite values, one label."""
    X, y, labels = data(1)
    X[:, 0], labels[:] = 1.0, 1
    other = X.copy(), y.copy(), labels.copy()
    other[0][0], other[1][0], other[2][0] = [-1.0, math.nan], math.inf, 7
    return (X, y, labels), other


def constant():
    """One record without which a column is constant and there is a single label."""
    X, y, labels = data(2)
    X[:, 0], labels[:] = 1.0, 1
    other = X.copy(), y.copy(), labels.copy()
    other[0][0, 0], other[2][0] = -1.0, 0
    return (X, y, labels), other


def opposite():
    """Two records whose clipped gradients differ as much as any; the others are all zeros."""
    X, y, labels = np.zeros((N, 2)), np.zeros(N), np.ones(N, dtype=int)
    X[0], y[0] = 3.0, 1.0
    other = X.copy(), y.copy(), labels.copy()
    other[1][0], other[2][0] = -1.0, 0
    return (X, y, labels), other


PAIRS = (huge, odd, constant, opposite)
PUBLIC = {"feature_bounds": 3.0, "delta": DELTA, "passes": 2, "clip": 0.115}
LINEAR = DPLinearRegression(target_bound=1.0, **PUBLIC)
LOGISTIC = DPLogisticRegression(classes=(0, 1), **PUBLIC)
WHITENED = {"feature_bounds": 3.0, "delta": DELTA, "fit_intercept": False}
WHITENED["solver"] = "preconditioned"
MODELS = {
    "linear": LINEAR,
    "logistic": LOGISTIC,
    "whitened": DPLinearRegression(target_bound=1.0, **WHITENED),
    "whitened-logistic": DPLogisticRegression(classes=(0, 1), **WHITENED),
}
PLAIN = ("linear", "logistic")  # what reads the data is the same for both solvers
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
RUNS = 250  # that find a tenth of the noise, of a whitened descent a twentieth
FEW = 150  # that find what is refused or told from others, with an advantage above 0.6


def length(model):
    """How many numbers `published` gives: coefficients, intercept, sensitivities and three more."""
    if isinstance(model, DPPCA):
        return 13
    sensitivities = 2 if model.solver == "preconditioned" else 3
    return 6 + sensitivities + 2 * isinstance(model, DPLogisticRegression)


def attributes(model):
    """Everything that a fitted estimator publishes, as numbers."""
    if isinstance(model, DPPCA):
        parts = (
            model.components_,
            model.eigenvalues_,
            model.second_moment_,
            model.diagonal_scale_,
            model.off_diagonal_scale_,
        )
    else:
        parts = (model.coef_, model.intercept_, model.sensitivities_, model.noise_.unit.std())
        parts = (*parts, model.n_iter_, *getattr(model, "classes_", ()))
    return np.concatenate([np.ravel(part) for part in parts]).astype(float)


def on_a_grid(found):
    """Multiples of 2^-44: fits are not hardened against attacks on low-order bits."""
    return np.round(found * 2.0**44) / 2.0**44


def published(model):
    """The mechanism of an estimator: attributes, and the number of warnings; NaN after an error."""

    def mechanism(dataset, rng):
        X, y, labels = dataset
        target = labels if isinstance(model, DPLogisticRegression) else y
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.random_state = rng  # as set_params does, which looks up every name
            try:
                found = attributes(model.fit(X, target))
            except (ValueError, ArithmeticError, TypeError):
                found = np.full(length(model) - 1, math.nan)
        told = sum(not issubclass(one.category, SeededNoiseWarning) for one in caught)
        return np.append(on_a_grid(found), told)

    return mechanism


def audited(model, pair, runs=FEW, mechanism=None, seed=6):
    claim = {"epsilon": model.epsilon, "delta": DELTA, "seed": stream(seed)}
    return audited_runs(mechanism or published(model), *pair, runs=runs, **claim)


@pytest.mark.parametrize(
    ("name", "pair"),
    [(name, pair) for name in MODELS for pair in PAIRS if pair in {odd, opposite} or name in PLAIN],
)
def test_linear_models_stand_the_audit(name, pair):
    model = MODELS[name]
    assert len(published(model)(pair()[0], stream(0))) == length(model)
    found = audited(model, pair(), RUNS if pair is opposite else FEW)
    assert not found.contradicted, found


@pytest.mark.parametrize(
    "settings",
    [
        {"mechanism": "flipped-huber", "xi_grid": 20},
        pytest.param(
            {"mechanism": "gaussian", "penalty": "l1", "strength": 0.01},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"penalty": "l2", "strength": 0.1, "fit_intercept": False, "feature_scales": 1.0},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_other_settings_stand_the_audit(settings):
    found = audited(clone(LINEAR).set_params(**settings), opposite(), RUNS)
    assert not found.contradicted, found


REST, FIRST, NONE = slice(1, None), slice(1), slice(0)
COMPONENTS = {"n_components": 2, "delta": DELTA, "bound": 2.0}


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_principal_components_stand_the_audit(noise, relation):
    model = DPPCA(noise=noise, relation=relation, max_samples=100, **COMPONENTS)
    extreme = huge()[1]
    pairs = [huge(), odd()]
    if relation == "add-remove":
        without, single, none = (tuple(p[k] for p in extreme) for k in (REST, FIRST, NONE))
        pairs = [(extreme, without), (single, none)]
    for pair in pairs:
        assert len(published(model)(pair[1], stream(0))) == length(model)
        found = audited(model, pair)
        assert not found.contradicted, found


# ---- faults put back -----------------------------------------------------------------------------


def constants_from_the_data(monkeypatch):
    """M_i as in the papers: the mean of x_i^2."""
    plain, bounded, raw = estimators.lay_out, estimators.bounded, []

    def noted(X, *rest, **settings):
        raw[:] = [np.where(np.isfinite(X), X, 0.0).clip(-1e15, 1e15) / 3.0]
        return bounded(X, *rest, **settings)

    def leaky(*rest):
        return replace(plain(*rest), smoothness=np.append(np.mean(raw[0] ** 2, axis=0), 1.0))

    monkeypatch.setattr(estimators, "bounded", noted)
    monkeypatch.setattr(estimators, "lay_out", leaky)


@pytest.mark.parametrize("model", [LINEAR, LOGISTIC], ids=["linear", "logistic"])
@pytest.mark.parametrize("part", ["coef_", "sensitivities_"])
def test_constants_from_the_data_are_caught(monkeypatch, model, part):
    """In what is published of them, and in the weights alone."""
    constants_from_the_data(monkeypatch)
    plain = published(model)

    def mechanism(dataset, rng):
        plain(dataset, rng)
        return np.ravel(getattr(model, part))

    found = audited(model, huge(), mechanism=mechanism)
    assert found.contradicted
    assert found.advantage > 0.6


@models
def test_too_little_noise_is_caught(monkeypatch, model):
    plain = estimators.coordinate_noise

    def leaky(*args, **settings):
        noise = plain(*args, **settings)
        share = 0.05 if model.solver == "preconditioned" else 0.1
        return replace(noise, unit=noise.unit.scaled(share))

    monkeypatch.setattr(estimators, "coordinate_noise", leaky)
    assert audited(model, opposite(), RUNS).contradicted


def test_gradients_that_are_not_clipped_are_caught(monkeypatch):
    """Noise for a hundredth of the clipping level that is used."""
    plain = estimators.descend
    monkeypatch.setattr(
        estimators,
        "descend",
        lambda problem, *, clips, noise, **settings: plain(
            problem, clips=[100 * clips[0]], noise=noise / 100, **settings
        ),
    )
    assert audited(LINEAR, opposite(), RUNS).contradicted


def test_whitened_gradients_that_are_not_clipped_are_caught(monkeypatch):
    plain = whitened.mean_gradient
    monkeypatch.setattr(
        whitened, "mean_gradient", lambda loss, z, *rest: plain(loss, 100 * z, *rest)
    )
    assert audited(MODELS["whitened-logistic"], opposite(), RUNS).contradicted


class RefusesConstants(DPLinearRegression):
    def fit(self, X, y):
        if np.any(np.ptp(X, axis=0) == 0):
            raise ValueError("constant columns")
        return super().fit(X, y)


class RefusesNan(DPLinearRegression):
    def fit(self, X, y):
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise ValueError("NaN or infinity")
        return super().fit(X, y)


class WarnsOfNan(DPLinearRegression):
    def fit(self, X, y):
        if not np.isfinite(X).all():
            warnings.warn("NaN", stacklevel=2)
        return super().fit(X, y)


class LearnsClasses(DPLogisticRegression):
    def fit(self, X, y):
        if len(np.unique(y)) != 2:
            raise ValueError("two classes")
        return super().fit(X, y)


class ShowsFoundLabels(DPLogisticRegression):
    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = np.unique(y)[[0, -1]]
        return self


@pytest.mark.parametrize(
    ("fault", "pair"),
    [
        (RefusesConstants, constant),
        (RefusesNan, odd),
        (WarnsOfNan, odd),
        (LearnsClasses, constant),
        (ShowsFoundLabels, constant),
    ],
)
def test_what_depends_on_one_value_is_caught(fault, pair):
    own = {"classes": (0, 1)} if issubclass(fault, DPLogisticRegression) else {"target_bound": 1.0}
    found = audited(fault(**own, **PUBLIC), pair())
    assert found.contradicted
    assert found.advantage > 0.6


def test_the_number_of_rows_in_the_scales_is_caught(monkeypatch):
    plain = pipelines.released_components

    def leaky(rows, rank, settings, *rest):
        return plain(rows, rank, replace(settings, max_samples=len(rows)), *rest)

    monkeypatch.setattr(pipelines, "released_components", leaky)
    model = DPPCA(relation="add-remove", max_samples=100, **COMPONENTS)
    first, _ = huge()
    found = audited(model, (first, tuple(part[REST] for part in first)))
    assert found.contradicted
    assert found.advantage > 0.6


def test_a_refusal_of_large_values_is_caught(monkeypatch):
    def refusing(rows, bound):
        if np.abs(rows).max(initial=0.0) > 1e200:
            raise ValueError("X: expected magnitudes up to 1e200")
        return clip_rows(rows, bound)

    monkeypatch.setattr(pipelines, "clip_rows", refusing)
    assert audited(DPPCA(**COMPONENTS, relation="replace-one"), huge()).contradicted


def test_rows_that_are_not_clipped_are_caught(monkeypatch):
    monkeypatch.setattr(pipelines, "clip_rows", lambda rows, bound: rows.clip(-50, 50) / bound)
    assert audited(DPPCA(**COMPONENTS, relation="replace-one"), huge()).contradicted
