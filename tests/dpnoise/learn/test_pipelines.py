"""Data-dependent steps before a private estimator are warned of, and a delta above 1/N."""

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from dpnoise.learn import (
    DPPCA,
    DPLinearRegression,
    DPLogisticRegression,
    LargeDeltaWarning,
    PrivacyLeakWarning,
    PrivateScaler,
    PublicScaler,
    dp_pca,
    leaking_steps,
)

rng = np.random.default_rng([2026, 13])
X = rng.uniform(-1.0, 1.0, size=(50, 3))
Y = np.arange(50) % 2
PUBLIC = PublicScaler(low=-1.0, high=1.0)
PRIVATE = PrivateScaler(low=-1.0, high=1.0)
LOGISTIC = DPLogisticRegression(classes=(0, 1), feature_bounds=1.0, passes=1)
LINEAR = DPLinearRegression(target_bound=1.0, feature_bounds=1.0, passes=1)


class RecordWise(FunctionTransformer):
    """A transformer that its author declares safe."""

    privacy_preserving = True


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


def test_a_scaler_of_private_components_reads_the_data_all_the_same():
    pipeline = Pipeline(
        [("pca", DPPCA(1, relation="replace-one")), ("scale", StandardScaler()), ("fit", LOGISTIC)]
    )
    [message] = leaks(pipeline)
    assert message.startswith("DPLogisticRegression")
    assert "scale (StandardScaler)" in message


def test_a_pipeline_in_a_grid_search_is_seen_as_well():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LOGISTIC), {"dplogisticregression__passes": [1]}, cv=2
    )
    assert len(leaks(search)) == 3
    assert leaks(GridSearchCV(LOGISTIC, {"passes": [1]}, cv=2)) == []


def test_a_single_step_is_named_by_its_kind():
    assert leaking_steps(StandardScaler()) == ["StandardScaler"]
    assert leaking_steps(LOGISTIC) == []


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
