"""Trials of Table III: splits are disjoint, numbered, scaled, solved; noise has a name."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import zero_one_loss

from dpnoise.noise import FlippedHuber, Gaussian, Laplace
from dpnoise_papers.data.sets import Dataset
from dpnoise_papers.flipped_huber_2023.table_3.trials import (
    describe_centre,
    features_and_target,
    make_split,
)
from table_3_toys import NAMES, dataset, settings, split_of

LOSSES = pytest.mark.parametrize("loss", ["squared", "logistic"])


def untouched(split):
    """Return the rows of both parts of a split that was not scaled."""
    return [tuple(row) for row in np.vstack([split.problem.features, split.test_features])]


@LOSSES
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.33])
def test_a_split_is_disjoint_and_complete(loss, fraction):
    split = split_of(loss, features="raw", target="raw", test_fraction=fraction)
    whole = dataset(loss)
    assert len(split.test_target) == round(fraction * len(whole.target))
    assert split.problem.size + len(split.test_target) == len(whole.target)
    assert sorted(untouched(split)) == sorted(map(tuple, whole.features))
    # each target stays with its row
    known = {tuple(row): value for row, value in zip(whole.features, whole.target, strict=True)}
    targets = [*split.problem.target, *split.test_target]
    assert [known[row] for row in untouched(split)] == targets


def test_splits_are_numbered_and_belong_to_the_seed():
    raw = {"features": "raw"}
    assert untouched(split_of(index=3, **raw)) == untouched(split_of(index=3, **raw))
    assert untouched(split_of(index=3, **raw)) != untouched(split_of(index=4, **raw))
    assert untouched(split_of(seed=1, **raw)) != untouched(split_of(seed=2, **raw))
    # the same people whatever is done to them
    assert untouched(split_of(target="raw", **raw)) == untouched(split_of(target="center", **raw))


@pytest.mark.parametrize("how", ["standardise", "center", "raw"])
def test_both_parts_are_scaled_by_statistics_of_the_training_part(how):
    raw = split_of(features="raw", target="raw")
    split = split_of(features=how, target=how)
    for train, test, scaled_train, scaled_test in [
        (raw.problem.features, raw.test_features, split.problem.features, split.test_features),
        (raw.problem.target, raw.test_target, split.problem.target, split.test_target),
    ]:
        shift = 0.0 if how == "raw" else train.mean(axis=0)
        scale = train.std(axis=0) if how == "standardise" else 1.0
        assert np.allclose(scaled_train, (train - shift) / scale, rtol=1e-12, atol=1e-12)
        assert np.allclose(scaled_test, (test - shift) / scale, rtol=1e-12, atol=1e-12)


def test_the_test_part_does_not_touch_what_is_learned():
    whole = dataset()
    order = split_of(features="raw").test_features
    held_out = np.array([tuple(row) in set(map(tuple, order)) for row in whole.features])
    X, y = whole.features.copy(), whole.target.copy()
    X[held_out] *= 100.0
    y[held_out] += 1e6
    other = Dataset("diabetes", "toy", "toy", X, y, whole.feature_names)
    before = split_of()
    after = make_split(other, settings(), 0)
    assert np.array_equal(before.problem.features, after.problem.features)
    assert np.array_equal(before.problem.target, after.problem.target)
    assert np.array_equal(before.optimum, after.optimum)
    assert not np.array_equal(before.test_target, after.test_target)


def test_the_labels_of_a_classification_are_never_scaled():
    assert set(split_of("logistic", target="standardise").problem.target) == {-1.0, 1.0}


def test_nmse_is_the_relative_squared_distance_to_the_optimum():
    split = split_of()
    optimum = split.optimum
    assert split.nmse(optimum) == 0.0
    assert split.nmse(np.zeros(3)) == pytest.approx(1.0, rel=1e-15)
    assert split.nmse(3.0 * optimum) == pytest.approx(4.0, rel=1e-12)
    weights = np.random.default_rng(0).normal(size=(4, 2, 3))
    expected = [[split.nmse(w) for w in row] for row in weights]
    assert np.allclose(split.nmse(weights), expected, rtol=1e-14)


def test_the_errors_are_those_of_an_independent_library():
    squared, logistic = (split_of(loss) for loss in NAMES)
    lasso = Lasso(0.01, fit_intercept=False, tol=1e-12)
    lasso.fit(squared.problem.features, squared.problem.target)
    rest = squared.test_target - lasso.predict(squared.test_features)
    expected = np.sum(rest**2) / np.sum(squared.test_target**2)
    assert squared.test_error(squared.optimum) == pytest.approx(expected, rel=1e-6)
    assert squared.test_error(np.zeros(squared.problem.coordinates)) == pytest.approx(1.0)

    C = 1 / (0.1 * logistic.problem.size)
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-10)
    model.fit(logistic.problem.features, logistic.problem.target)
    predicted = model.predict(logistic.test_features)
    expected = zero_one_loss(logistic.test_target, predicted)
    assert logistic.test_error(logistic.optimum) == pytest.approx(expected, abs=1e-12)
    assert logistic.test_error(-logistic.optimum) == pytest.approx(1 - expected, abs=1e-12)


@LOSSES
def test_a_diverged_run_scores_infinity_without_a_warning(loss):
    split = split_of(loss)
    weights = [[1e200] * 3, [1e300, -1e300, 0], [np.inf, 1, 1], [np.nan] * 3, [np.inf, -np.inf, 0]]
    assert np.all(split.nmse(np.array(weights)) == np.inf)
    error = split.test_error(np.array(weights))
    assert np.all(error == np.inf) if loss == "squared" else np.all((error >= 0) & (error <= 1))
    assert split.test_error(np.full(3, np.nan)) == (np.inf if loss == "squared" else 1.0)


def test_the_penalty_scale_multiplies_the_strength():
    one, two = split_of(), split_of(penalty_scale=2.0)
    assert np.array_equal(two.problem.strengths, 2.0 * one.problem.strengths)
    same = split_of(task={"strength": 0.02})
    assert np.array_equal(two.optimum, same.optimum)


def test_delta_is_one_over_the_squared_number_of_training_samples():
    assert split_of().delta == 48.0**-2
    assert make_split(dataset(), settings(delta=1e-5), 0).delta == 1e-5


def choices(**setting):
    return settings(setting=setting).setting


def california(stream):
    rooms, bedrooms, population = stream.uniform(10, 1000, size=(3, 30))
    households = stream.uniform(5, 300, size=30)
    columns = {
        "median_income": stream.uniform(1, 9, size=30),
        "average_rooms": rooms / households,
        "average_bedrooms": bedrooms / households,
        "population": population,
        "average_occupancy": population / households,
    }
    X = np.column_stack(list(columns.values()))
    counts = np.column_stack([columns["median_income"], rooms, bedrooms, population, households])
    return Dataset(
        "california", "", "regression", X, stream.normal(size=30), tuple(columns)
    ), counts


def test_the_counts_of_california_are_what_its_ratios_were_made_of():
    whole, counts = california(np.random.default_rng(0))
    X, y = features_and_target(whole, choices(california_features="counts"))
    assert np.allclose(X, counts, rtol=1e-12)
    assert y is whole.target
    untouched_copy = whole.features.copy()
    X, _ = features_and_target(whole, choices())
    assert np.array_equal(X, untouched_copy)


def test_the_three_tasks_of_wine():
    quality = np.array([3, 5, 6, 9] * 15, dtype=float)
    base = dataset("logistic")
    wine = Dataset(
        "wine-quality", "", "classification", base.features, base.target, base.feature_names,
        {"quality": quality},
    )  # fmt: skip
    colour, both, good = (
        features_and_target(wine, choices(wine_task=task))
        for task in ("colour", "colour-and-quality", "quality")
    )
    assert colour[0] is base.features
    assert colour[1] is base.target
    assert np.array_equal(both[0], np.column_stack([base.features, quality]))
    assert both[1] is base.target
    assert good[0] is base.features
    assert good[1].tolist() == [-1.0, -1.0, 1.0, 1.0] * 15


@pytest.mark.parametrize("change", [{"wine_task": "quality"}, {"california_features": "counts"}])
def test_the_choices_of_one_data_set_leave_the_others_alone(change):
    whole = dataset("logistic")
    X, y = features_and_target(whole, choices(**change))
    assert X is whole.features
    assert y is whole.target


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (Gaussian(3.0), "Gaussian"),
        (Laplace(3.0), "Laplace"),
        (FlippedHuber(0.0, 2.0), "Gaussian (alpha = 0)"),
        (FlippedHuber(0.002, 2.0), "Gaussian (alpha/gamma = 0.001: 0.07979 %"),
        (FlippedHuber(2.0, 2.0), "graft: 7"),
        (FlippedHuber(2.9, 1.0), "Laplace limit (alpha/gamma = 2.9: 99.98 %"),
        (FlippedHuber(90.0, 2.0), "Laplace limit (alpha/gamma = 45: all"),
    ],
)
def test_noise_is_described_by_its_centre(noise, words):
    assert describe_centre(noise).startswith(words)
