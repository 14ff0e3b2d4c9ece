"""Several labels one against the rest, within one budget, and probabilities without underflow."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from dpnoise._validation import Problems
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.learn import DPPCA, DPLinearRegression, DPLogisticRegression
from dpnoise.learn.labels import label_codes, public_labels
from dpnoise.privacy.gaussian import gaussian_log_delta

rng = np.random.default_rng([2026, 11])
X = rng.normal(size=(300, 2)).clip(-3.0, 3.0)
THREE = np.where(X[:, 0] > 0.4, "a", np.where(X[:, 1] > 0.0, "b", "c"))
CLASSES = ("c", "a", "b")
EXACT = {"epsilon": math.inf, "clip": 1e5, "passes": 400, "penalty": "l2", "strength": 0.05}


def of(**settings):
    return DPLogisticRegression(classes=CLASSES, feature_bounds=3.0, feature_scales=1.0, **settings)


def test_without_noise_it_is_one_against_the_rest():
    model = of(**EXACT).fit(X, THREE)
    peer = OneVsRestClassifier(LogisticRegression(C=1 / (300 * 0.05), tol=1e-10)).fit(X, THREE)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_ == pytest.approx(np.vstack([e.coef_ for e in peer.estimators_]), abs=2e-4)
    assert model.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-3)
    assert model.predict_proba(X) == pytest.approx(peer.predict_proba(X), abs=1e-3)
    assert np.array_equal(model.predict(X), peer.predict(X))


def test_all_rows_share_one_budget_and_need_less_noise_than_thirds_of_it():
    model = of(epsilon=1.0, delta=1e-6).fit(X, THREE)
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
    model = of(**EXACT).set_params(classes=classes).fit(X, THREE)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(300))
    far = model.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all()
    assert far.min() < -1000.0
    near = model.predict_log_proba(X)
    assert np.exp(near) == pytest.approx(model.predict_proba(X))
    assert np.array_equal(model.classes_[near.argmax(axis=1)], model.predict(X))


def test_a_label_that_is_no_class_counts_as_an_empty_record():
    strange = THREE.astype(object)
    strange[:5] = ["x", None, math.nan, ("a",), 3]
    missing = X.copy()
    missing[:5] = math.nan
    exact = of(**EXACT)
    one = exact.fit(X, strange).coef_
    assert one == pytest.approx(exact.fit(missing, THREE).coef_)


def test_labels_are_placed_by_their_order():
    problems = Problems("labels")
    labels = public_labels(problems, [3, 1, 2], np.dtype(float))
    assert not problems.found
    assert label_codes(labels, np.array([1.0, 3.0, 4.0])).tolist() == [0, 2, -1]


@pytest.mark.parametrize(
    "model",
    [
        of(),
        DPLinearRegression(feature_bounds=1.0, target_bound=1.0),
        DPPCA(relation="replace-one"),
    ],
)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_data_are_refused_in_words(model, kind):
    with pytest.raises(TypeError, match=r"Sparse data .* dense data is required"):
        model.fit(kind(X), THREE)
