"""Data-dependent steps before a private estimator are warned of, and a delta above 1/N.

Scalers between public bounds: closed forms, account, nothing that depends on one value.
"""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpnoise import vector_profile
from dpnoise.learn import (
    DPPCA,
    DPLinearRegression,
    DPLogisticRegression,
    LargeDeltaWarning,
    PrivacyLeakWarning,
    PrivateScaler,
    dp_pca,
    leaking_steps,
)
from dpnoise.noise import Gaussian

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::dpnoise.learn.safeguards.{one}Warning")
    for one in ("SeededNoise", "SmallBudget")
]

rng = np.random.default_rng([2026, 13])
X = rng.uniform(-1.0, 1.0, size=(50, 3))
Y = np.arange(50) % 2
PRIVATE = PrivateScaler(low=-1.0, high=1.0)
LOGISTIC = DPLogisticRegression(classes=(0, 1), feature_bounds=1.0, passes=1)
LINEAR = DPLinearRegression(target_bound=1.0, feature_bounds=1.0, passes=1)
draws = np.random.default_rng(2)
SAMPLES = draws.normal(size=(200, 5)) * [0.4, 0.3, 0.2, 0.1, 0.05]


ADDING = {"relation": "add-remove", "max_samples": 10_000}


class RecordWise(FunctionTransformer):
    """A transformer that its author declares safe."""

    privacy_preserving = True


PUBLIC = RecordWise()


def leaks(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y)
    return [str(one.message) for one in caught if one.category is PrivacyLeakWarning]


@pytest.mark.parametrize("last", [LOGISTIC, LINEAR, DPPCA(1, relation="replace-one"), PRIVATE])
@pytest.mark.parametrize("first", [StandardScaler(), MinMaxScaler(), FunctionTransformer()])
def test_a_step_that_is_not_known_to_be_safe_is_warned_of(first, last):
    [message] = leaks(make_pipeline(first, last))
    assert type(first).__name__ in message
    assert type(last).__name__ in message


SAFE = [
    make_pipeline(LOGISTIC),
    make_pipeline(PUBLIC, LOGISTIC),
    make_pipeline(PRIVATE, DPPCA(2, relation="replace-one"), LINEAR),
    make_pipeline("passthrough", RecordWise(), LOGISTIC),
    make_pipeline(FeatureUnion([("a", PUBLIC), ("b", DPPCA(1, relation="replace-one"))]), LOGISTIC),
    make_pipeline(ColumnTransformer([("a", PUBLIC, [0]), ("b", "drop", [1])]), LOGISTIC),
    make_pipeline(make_pipeline(PUBLIC), make_pipeline(PRIVATE, LOGISTIC)),
]


@pytest.mark.parametrize("pipeline", SAFE)
def test_steps_that_are_safe_are_not(pipeline):
    assert leaks(pipeline) == []
    assert leaking_steps(pipeline) == []


LEAKY = [
    make_pipeline(make_pipeline(StandardScaler()), LOGISTIC),
    make_pipeline(StandardScaler(), make_pipeline(PUBLIC, LOGISTIC)),
    make_pipeline(PUBLIC, FeatureUnion([("a", PUBLIC), ("b", StandardScaler())]), LOGISTIC),
    make_pipeline(ColumnTransformer([("a", PUBLIC, [0])], remainder=StandardScaler()), LOGISTIC),
]


@pytest.mark.parametrize("pipeline", LEAKY)
def test_nested_steps_are_found(pipeline):
    [message] = leaks(pipeline)
    assert "(StandardScaler)" in message
    [step] = leaking_steps(pipeline)
    assert "(StandardScaler)" in step


def test_a_pipeline_in_a_grid_search_is_seen_as_well():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LOGISTIC), {"dplogisticregression__passes": [1]}, cv=2
    )
    assert len(leaks(search)) == 3
    assert leaks(GridSearchCV(LOGISTIC, {"passes": [1]}, cv=2)) == []


@pytest.mark.parametrize("model", [LOGISTIC, LINEAR, DPPCA(1, relation="replace-one"), PRIVATE])
def test_a_delta_above_one_in_n_is_warned_of(model):
    settings = model.get_params()
    for delta, told in ((0.021, True), (0.02, False), (1e-6, False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            type(model)(**{**settings, "delta": delta}).fit(X, Y)
        assert [one.category for one in caught] == [LargeDeltaWarning] * told


def test_under_add_remove_delta_is_held_against_the_public_bound_on_n():
    settings = {"epsilon": 1.0, "relation": "add-remove", "max_samples": 1000}
    with pytest.warns(LargeDeltaWarning, match="above 1/max_samples = 0.001"):
        dp_pca(X, 1, delta=0.002, **settings)
    DPPCA(1, delta=0.0009, **settings).fit(X)


def test_without_noise_nothing_is_promised_and_nothing_warned_of():
    model = DPLinearRegression(
        target_bound=1.0, feature_bounds=1.0, epsilon=np.inf, delta=0.5, passes=1
    )
    assert leaks(make_pipeline(StandardScaler(), model)) == []


stream = np.random.default_rng([2026, 12])
RECORDS = stream.uniform([0.0, -3.0], [100.0, 1.0], size=(400, 2))
BOUNDS = {"low": [0.0, -5.0], "high": [120.0, 5.0]}
WIDE = {"low": -100.0, "high": 100.0}
TELLS = "asks for a refusal that depends on values in the data, which would not be private"


@parametrize_with_checks(
    [PrivateScaler(**WIDE), PrivateScaler(epsilon=math.inf, **WIDE)],
    expected_failed_checks=lambda _: {"check_estimators_nan_inf": TELLS},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_without_noise_the_private_scaler_standardises():
    scaler = PrivateScaler(epsilon=math.inf, **BOUNDS).fit(RECORDS)
    assert scaler.mean_ == pytest.approx(RECORDS.mean(axis=0))
    assert scaler.scale_ == pytest.approx(RECORDS.std(axis=0))
    assert scaler.noise_scales_ is None
    assert scaler.transform(RECORDS).mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("delta", [None, 1e-7, 0.0])
def test_the_account_of_the_released_moments_keeps_the_budget(delta):
    scaler = PrivateScaler(epsilon=0.5, delta=delta, **BOUNDS).fit(RECORDS)
    sensitivities = np.repeat([2.0 / 400, 1.0 / 400], 2)
    scales = scaler.noise_scales_
    if delta == 0.0:
        assert np.sum(sensitivities / scales) <= 0.5
        return
    noise = [Gaussian(float(scale)) for scale in scales]
    kept = vector_profile(noise, sensitivities, 0.5).upper
    assert 0.99 * (delta or 400**-2) < kept <= (delta or 400**-2)


def test_what_replacing_a_record_moves_is_within_the_sensitivities():
    """Seen through the moments without noise, for the most extreme records."""

    def moments(data):
        unit = np.clip((data - [60.0, 0.0]) / [60.0, 5.0], -1.0, 1.0)
        scaler = PrivateScaler(epsilon=math.inf, **BOUNDS).fit(data)
        centre = (scaler.mean_ - [60.0, 0.0]) / [60.0, 5.0]
        assert centre == pytest.approx(unit.mean(axis=0))
        return np.concatenate([centre, (scaler.scale_ / [60.0, 5.0]) ** 2 + centre**2])

    for first, second in (([0.0, -9.0], [1e9, 9.0]), ([60.0, 0.0], [0.0, 5.0])):
        one, other = RECORDS.copy(), RECORDS.copy()
        one[0], other[0] = first, second
        moved = np.abs(moments(one) - moments(other)) * 400
        assert np.all(moved <= np.repeat([2.0, 1.0], 2) + 1e-9)


def test_noise_depends_on_settings_and_the_number_of_records_alone():
    odd = RECORDS.copy()
    odd[0] = [math.nan, math.inf]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [
            PrivateScaler(**BOUNDS).fit(data) for data in (RECORDS, odd, np.zeros_like(RECORDS))
        ]
    assert len({one.noise_scales_.tobytes() for one in found}) == 1
    assert all(np.all((one.scale_ > 0.0) & np.isfinite(one.mean_)) for one in found)
    assert np.nanmax(np.abs(found[2].transform(1e9 * RECORDS))) <= 5.0


def test_bounds_are_needed_and_everything_wrong_is_named():
    with pytest.raises(ValueError, match=r"low: expected .*; high: expected .*, got None"):
        PrivateScaler(low="x").fit(RECORDS)
    with pytest.raises(ValueError, match="low < high in every feature"):
        PrivateScaler(low=[0.0, 1.0], high=1.0).fit(RECORDS)


def test_every_setting_of_the_private_scaler_is_checked():
    with pytest.raises(ValueError, match="PrivateScaler: ") as caught:
        PrivateScaler(low=0.0, high=1.0, epsilon=0.0, delta=1.0, limit=0.0).fit(RECORDS[:1])
    for name in ("epsilon", "delta", "limit", "X"):
        assert f"{name}: expected" in str(caught.value)


@pytest.mark.parametrize(("delta", "said"), [(0.0, "0"), (1e-6, "1e-06")])
def test_what_is_guaranteed_is_stated(delta, said):
    RECORDS = np.linspace(0.0, 1.0, 100)[:, None]
    scaler = PrivateScaler(low=0.0, high=1.0, epsilon=0.5, delta=delta).fit(RECORDS)
    sentence = "one person replaced by another, in one record: epsilon = 0.5, delta = "
    assert scaler.promise_ == sentence + said
    assert PrivateScaler(low=0.0, high=1.0, epsilon=np.inf).fit(RECORDS).promise_ is None


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
def test_scikit_learn_contract_of_components(estimator, check):
    check(estimator)


def test_infinite_epsilon_and_a_wide_bound_is_truncated_svd():
    model = DPPCA(2, epsilon=math.inf, bound=10.0, relation="replace-one").fit(SAMPLES)
    peer = TruncatedSVD(2, algorithm="arpack", random_state=0).fit(SAMPLES)
    overlap = np.abs(np.sum(model.components_ * peer.components_, axis=1))
    assert overlap == pytest.approx(np.ones(2), abs=1e-10)
    assert model.eigenvalues_ == pytest.approx(peer.singular_values_**2)
    assert model.second_moment_ == pytest.approx(SAMPLES.T @ SAMPLES)
    assert np.abs(model.transform(SAMPLES)) == pytest.approx(
        np.abs(peer.transform(SAMPLES)), abs=1e-9
    )
    back = model.inverse_transform(model.transform(SAMPLES))
    assert back == pytest.approx(peer.inverse_transform(peer.transform(SAMPLES)), abs=1e-9)


@pytest.mark.parametrize("bound", [0.3, 1.0, 20.0])
def test_it_is_dp_pca_in_units_of_the_bound(bound):
    settings = {"epsilon": 2.0, "delta": 1e-5, "random_state": 6} | ADDING
    model = DPPCA(3, bound=bound, **settings).fit(SAMPLES)
    released = dp_pca(SAMPLES / bound, 3, **settings)
    assert model.components_ == pytest.approx(released.components.T)
    assert model.second_moment_ == pytest.approx(released.matrix * bound**2)
    assert model.eigenvalues_ == pytest.approx(released.eigenvalues * bound**2)
    assert model.diagonal_scale_ == pytest.approx(released.diagonal_scale * bound**2)
    assert model.off_diagonal_scale_ == pytest.approx(released.off_diagonal_scale * bound**2)


def test_settings_reach_the_release():
    base = DPPCA(2, random_state=1, relation="replace-one").fit(SAMPLES)
    for change in (
        {"n_components": 3}, {"epsilon": 2.0}, {"delta": 1e-9}, {"bound": 0.5},
        {"noise": "laplace"}, {"allocation": "iid"}, ADDING,
        {"random_state": 2},
    ):  # fmt: skip
        changed = clone(base).set_params(**change).fit(SAMPLES)
        assert not np.array_equal(changed.components_, base.components_), change


def test_everything_wrong_is_named_at_once():
    bad = DPPCA(
        9, epsilon=0.0, delta=0.0, bound=-1.0, noise="gaussian", allocation="best",
        relation="both", random_state="x",
    )  # fmt: skip
    with pytest.raises(ValueError, match="DPPCA: ") as error:
        bad.fit(SAMPLES)
    for name in (
        "n_components", "epsilon", "delta", "bound", "allocation", "relation", "random_state"
    ):  # fmt: skip
        assert f"{name}: expected" in str(error.value)
    with pytest.raises(ValueError, match=r"max_samples: expected .* add-remove needs, got None"):
        DPPCA(relation="add-remove").fit(SAMPLES)
    with pytest.raises(ValueError, match=r"relation: expected 'add-remove' .*, got None"):
        DPPCA().fit(SAMPLES)
    with pytest.raises(ValueError, match="X: expected at most max_samples rows, got 'more'"):
        DPPCA(relation="add-remove", max_samples=199).fit(SAMPLES)
    with pytest.raises(ValueError, match=r"X: expected shape \(N, 2\)"):
        DPPCA(2, relation="replace-one").fit(SAMPLES).inverse_transform(SAMPLES)


def test_data_of_any_magnitude_are_clipped_and_samples_that_are_not_finite_contribute_nothing():
    wild = np.vstack(
        [SAMPLES[:3], [[1e308] * 5, [np.inf] * 5, [0.0, np.nan, 0, 0, 0], [-1e-320] * 5]]
    )
    model = DPPCA(epsilon=math.inf, bound=1e-10, relation="replace-one").fit(wild)
    assert np.trace(model.second_moment_) == pytest.approx(4e-20, rel=1e-12)
    tame = DPPCA(epsilon=math.inf, bound=5.0, relation="replace-one").fit(wild)
    assert tame.second_moment_ == pytest.approx(SAMPLES[:3].T @ SAMPLES[:3] + 5.0, rel=1e-12)


def test_adding_a_sample_changes_no_scale():
    sizes = (0, 1, 2, 199, 200)
    fits = [DPPCA(random_state=0, **ADDING).fit(SAMPLES[:size]) for size in sizes]
    assert len({model.diagonal_scale_ for model in fits}) == 1
    assert len({model.off_diagonal_scale_ for model in fits}) == 1


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_what_is_guaranteed_is_stated_for_either_relation(noise):
    delta = "1e-06" if noise == "gaussian" else "0"
    for settings, who in (
        ({"relation": "replace-one"}, "one person replaced by another"),
        (ADDING, "one person more or less"),
    ):
        model = DPPCA(1, epsilon=2.0, delta=1e-6, noise=noise, **settings).fit(SAMPLES)
        assert model.promise_ == f"{who}, in one row: epsilon = 2, delta = {delta}"
    assert DPPCA(epsilon=math.inf, relation="replace-one").fit(SAMPLES).promise_ is None
