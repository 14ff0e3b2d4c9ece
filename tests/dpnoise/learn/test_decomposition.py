"""The estimator: scikit-learn's contract, and that it hands on what `dp_pca` releases."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpnoise.learn.decomposition import DPPCA
from dpnoise.learn.pca import dp_pca
from dpnoise.learn.safeguards import SeededNoiseWarning

rng = np.random.default_rng(2)
X = rng.normal(size=(200, 5)) * [0.4, 0.3, 0.2, 0.1, 0.05]


pytestmark = pytest.mark.filterwarnings("ignore::dpnoise.learn.safeguards.SeededNoiseWarning")
ADDING = {"relation": "add-remove", "max_samples": 10_000}


def expected_failures(estimator):
    tells = "asks for a refusal that depends on values in the data, which would not be private"
    failures = {"check_estimators_nan_inf": tells}
    if estimator.relation == "add-remove":
        failures["check_estimators_empty_data_messages"] = "an empty data set has neighbours too"
    return failures


@parametrize_with_checks(
    [
        DPPCA(relation="replace-one"),
        DPPCA(noise="laplace", relation="replace-one"),
        DPPCA(epsilon=math.inf, relation="replace-one"),
        DPPCA(**ADDING),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_infinite_epsilon_and_a_wide_bound_is_truncated_svd():
    model = DPPCA(2, epsilon=math.inf, bound=10.0, relation="replace-one").fit(X)
    peer = TruncatedSVD(2, algorithm="arpack", random_state=0).fit(X)
    overlap = np.abs(np.sum(model.components_ * peer.components_, axis=1))
    assert overlap == pytest.approx(np.ones(2), abs=1e-10)
    assert model.eigenvalues_ == pytest.approx(peer.singular_values_**2)
    assert model.second_moment_ == pytest.approx(X.T @ X)
    assert np.abs(model.transform(X)) == pytest.approx(np.abs(peer.transform(X)), abs=1e-9)
    back = model.inverse_transform(model.transform(X))
    assert back == pytest.approx(peer.inverse_transform(peer.transform(X)), abs=1e-9)


@pytest.mark.parametrize("bound", [0.3, 1.0, 20.0])
def test_it_is_dp_pca_in_units_of_the_bound(bound):
    settings = {"epsilon": 2.0, "delta": 1e-5, "random_state": 6} | ADDING
    model = DPPCA(3, bound=bound, **settings).fit(X)
    released = dp_pca(X / bound, 3, **settings)
    assert model.components_ == pytest.approx(released.components.T)
    assert model.second_moment_ == pytest.approx(released.matrix * bound**2)
    assert model.eigenvalues_ == pytest.approx(released.eigenvalues * bound**2)
    assert model.diagonal_scale_ == pytest.approx(released.diagonal_scale * bound**2)
    assert model.off_diagonal_scale_ == pytest.approx(released.off_diagonal_scale * bound**2)


def test_settings_reach_the_release():
    base = DPPCA(2, random_state=1, relation="replace-one").fit(X)
    for change in (
        {"n_components": 3}, {"epsilon": 2.0}, {"delta": 1e-9}, {"bound": 0.5},
        {"noise": "laplace"}, {"allocation": "iid"}, ADDING,
        {"random_state": 2},
    ):  # fmt: skip
        changed = clone(base).set_params(**change).fit(X)
        assert not np.array_equal(changed.components_, base.components_), change


def test_names_and_pipelines():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = DPPCA(2, random_state=0, relation="replace-one").fit(frame)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.get_feature_names_out().tolist() == ["dppca0", "dppca1"]
    assert make_pipeline(DPPCA(2, random_state=0, relation="replace-one")).fit_transform(
        frame
    ).shape == (200, 2)


def test_everything_wrong_is_named_at_once():
    bad = DPPCA(
        9, epsilon=0.0, delta=0.0, bound=-1.0, noise="gaussian", allocation="best",
        relation="both", random_state="x",
    )  # fmt: skip
    with pytest.raises(ValueError, match="DPPCA: ") as error:
        bad.fit(X)
    for name in (
        "n_components", "epsilon", "delta", "bound", "allocation", "relation", "random_state"
    ):  # fmt: skip
        assert f"{name}: expected" in str(error.value)
    with pytest.raises(ValueError, match=r"max_samples: expected .* add-remove needs, got None"):
        DPPCA(relation="add-remove").fit(X)
    with pytest.raises(ValueError, match=r"relation: expected 'add-remove' .*, got None"):
        DPPCA().fit(X)
    with pytest.raises(ValueError, match="X: expected at most max_samples rows, got 'more'"):
        DPPCA(relation="add-remove", max_samples=199).fit(X)
    with pytest.raises(ValueError, match=r"X: expected shape \(N, 2\)"):
        DPPCA(2, relation="replace-one").fit(X).inverse_transform(X)


def test_data_of_any_magnitude_are_clipped_and_samples_that_are_not_finite_contribute_nothing():
    wild = np.vstack([X[:3], [[1e308] * 5, [np.inf] * 5, [0.0, np.nan, 0, 0, 0], [-1e-320] * 5]])
    model = DPPCA(epsilon=math.inf, bound=1e-10, relation="replace-one").fit(wild)
    assert np.trace(model.second_moment_) == pytest.approx(4e-20, rel=1e-12)
    tame = DPPCA(epsilon=math.inf, bound=5.0, relation="replace-one").fit(wild)
    assert tame.second_moment_ == pytest.approx(X[:3].T @ X[:3] + 5.0, rel=1e-12)


def test_adding_a_sample_changes_no_scale():
    sizes = (0, 1, 2, 199, 200)
    fits = [DPPCA(random_state=0, **ADDING).fit(X[:size]) for size in sizes]
    assert len({model.diagonal_scale_ for model in fits}) == 1
    assert len({model.off_diagonal_scale_ for model in fits}) == 1


def test_a_seed_warns():
    for state in (0, np.random.default_rng(0)):
        with pytest.warns(SeededNoiseWarning, match="DPPCA: noise from a given random_state"):
            DPPCA(random_state=state, relation="replace-one").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPPCA(relation="replace-one").fit(X)
        DPPCA(epsilon=math.inf, random_state=0, relation="replace-one").fit(X)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_what_is_guaranteed_is_stated_for_either_relation(noise):
    delta = "1e-06" if noise == "gaussian" else "0"
    for settings, who in (
        ({"relation": "replace-one"}, "one person replaced by another"),
        (ADDING, "one person more or less"),
    ):
        model = DPPCA(1, epsilon=2.0, delta=1e-6, noise=noise, **settings).fit(X)
        assert model.promise_ == f"{who}, in one row: epsilon = 2, delta = {delta}"
    assert DPPCA(epsilon=math.inf, relation="replace-one").fit(X).promise_ is None
