"""Trials of private coordinate descent: honest splits, paired noise, numbered streams."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import zero_one_loss

from dpnoise.noise import FlippedHuber
from dpnoise_papers.data.dataset import Dataset
from dpnoise_papers.descent import trials
from dpnoise_papers.descent.trials import (
    features_and_target,
    make_split,
    run_trials,
    unit_noise,
)
from table_3_toys import SETTING, TASKS, dataset, settings

GRID = {"passes": 5, "steps": [0.1, 1.0], "clips": [0.5, 5.0], "seed": 2023}
LOSSES = pytest.mark.parametrize("loss", ["squared", "logistic"])


def split_of(loss="squared", index=0, seed=2023, task=None, **setting):
    task = {**TASKS[loss], **(task or {})}
    return make_split(dataset(loss), task, {**SETTING, **setting}, seed, index)


def untouched(split):
    """Return the rows of both parts of a split that was not scaled."""
    return [tuple(row) for row in np.vstack([split.problem.features, split.test_features])]


def seen_by_descend(monkeypatch, split, **changes):
    """Return what `run_trials` hands to the algorithm, call by call."""
    calls = []

    def spy(problem, **arguments):
        calls.append(arguments)
        return np.zeros((2, 2, len(arguments["noise"]), problem.coordinates))

    monkeypatch.setattr(trials, "descend", spy)
    run_trials(split, "toy", settings(**changes), trials=range(3), **GRID)
    return calls


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
    other = Dataset("toy", "toy", "toy", X, y, whole.feature_names)
    before = split_of()
    after = make_split(other, TASKS["squared"], SETTING, 2023, 0)
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


@pytest.mark.parametrize("intercept", [False, True])
def test_the_errors_are_those_of_an_independent_library(intercept):
    squared, logistic = (split_of(loss, intercept=intercept) for loss in TASKS)
    used = slice(None, -1 if intercept else None)
    lasso = Lasso(0.01, fit_intercept=intercept, tol=1e-12)
    lasso.fit(squared.problem.features[:, used], squared.problem.target)
    rest = squared.test_target - lasso.predict(squared.test_features[:, used])
    expected = np.sum(rest**2) / np.sum(squared.test_target**2)
    assert squared.test_error(squared.optimum) == pytest.approx(expected, rel=1e-6)
    assert squared.test_error(np.zeros(squared.problem.coordinates)) == pytest.approx(1.0)

    C = 1 / (0.1 * logistic.problem.size)
    model = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-10)
    model.fit(logistic.problem.features[:, used], logistic.problem.target)
    predicted = model.predict(logistic.test_features[:, used])
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


def test_an_intercept_is_one_more_unpenalised_coordinate():
    split = split_of(intercept=True, features="raw")
    assert split.problem.coordinates == 4
    assert split.problem.strengths.tolist() == [0.01, 0.01, 0.01, 0.0]
    assert np.all(split.test_features[:, -1] == 1.0)


def test_delta_is_one_over_the_squared_number_of_training_samples():
    split = split_of()
    by_rule = unit_noise(split.problem, "gaussian", settings(), 5)
    by_hand = unit_noise(split.problem, "gaussian", settings(delta=48.0**-2), 5)
    assert by_rule == by_hand
    assert by_rule.delta == 48.0**-2


@LOSSES
def test_flipped_huber_noise_with_alpha_zero_gives_the_very_numbers_of_gaussian_noise(loss):
    split = split_of(loss)
    unit = unit_noise(split.problem, "flipped-huber", settings(), 5).unit
    assert isinstance(unit, FlippedHuber)
    assert unit.alpha == 0.0
    results = run_trials(split, "toy", settings(), trials=range(3), **GRID)
    for ours, theirs in zip(results["flipped-huber"], results["gaussian"], strict=True):
        assert np.array_equal(ours, theirs)
    assert not np.array_equal(results["gaussian-tight"][0], results["gaussian"][0])


def test_every_mechanism_maps_the_same_uniforms(monkeypatch):
    # at this budget the search of the paper ends at alpha > 0, so three laws differ
    small = {"epsilon": 0.1, "delta": 1e-9, "xi_grid": 200}
    split = split_of()
    calls = seen_by_descend(monkeypatch, split, **small)
    mechanisms = settings()["mechanisms"]
    units = [unit_noise(split.problem, m, settings(**small), 5).unit for m in mechanisms]
    assert units[1].alpha > 0
    assert len(calls) == 3
    uniforms = [u.cdf(call["noise"]) for u, call in zip(units, calls, strict=True)]
    assert uniforms[0].shape == (3, 5, 3)
    assert np.allclose(uniforms[1], uniforms[0], rtol=1e-9, atol=0.0)
    assert np.allclose(uniforms[2], uniforms[0], rtol=1e-9, atol=0.0)


def test_the_noise_does_not_depend_on_the_order_of_coordinates(monkeypatch):
    split = split_of()
    cyclic = seen_by_descend(monkeypatch, split, setting={"order": "cyclic"})
    shuffled = seen_by_descend(monkeypatch, split, setting={"order": "random"})
    assert np.array_equal(cyclic[0]["noise"], shuffled[0]["noise"])
    assert np.array_equal(cyclic[0]["orders"], np.broadcast_to(np.arange(3), (3, 5, 3)))
    orders = shuffled[0]["orders"]
    assert set(orders.ravel()) == {0, 1, 2}
    assert not np.array_equal(orders[0], orders[1])
    assert all(np.array_equal(call["orders"], orders) for call in shuffled)


@LOSSES
@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_a_trial_does_not_depend_on_which_others_run(loss, order):
    split = split_of(loss)
    # a law with alpha > 0, whose quantile function is solved for and not a formula
    chosen = settings(epsilon=0.1, delta=1e-9, xi_grid=200, setting={"order": order})
    together = run_trials(split, "toy", chosen, trials=[0, 1, 2, 3], **GRID)
    alone = run_trials(split, "toy", chosen, trials=[2], **GRID)
    backwards = run_trials(split, "toy", chosen, trials=[3, 2], **GRID)
    for mechanism in chosen["mechanisms"]:
        for whole, one, two in zip(
            *(r[mechanism] for r in (together, alone, backwards)), strict=True
        ):
            assert whole.shape == (2, 2, 4)
            assert np.array_equal(one[..., 0], whole[..., 2])
            assert np.array_equal(two, whole[..., [3, 2]])
            assert one.shape == (2, 2, 1)
    nmse = together["gaussian"][0]
    assert len(np.unique(nmse)) == nmse.size


@LOSSES
def test_with_hardly_any_noise_the_optimum_is_reached(loss):
    split = split_of(loss)
    chosen = settings(epsilon=1e12, mechanisms=["gaussian-tight"])
    results = run_trials(
        split, "toy", chosen, passes=100, trials=[0], steps=[1.0], clips=[50.0], seed=1
    )
    nmse, error = (values.item() for values in results["gaussian-tight"])
    assert nmse < 1e-6
    assert error == pytest.approx(split.test_error(split.optimum), abs=1e-3)


def test_more_budget_helps():
    split = split_of()
    loss = [
        np.mean(
            run_trials(
                split, "toy", settings(epsilon=epsilon, mechanisms=["gaussian"]),
                passes=5, trials=range(50), steps=[0.5], clips=[2.0], seed=1,
            )["gaussian"][0]
        )
        for epsilon in (0.1, 1.0, 10.0, 100.0)
    ]  # fmt: skip
    assert np.all(np.diff(loss) < 0)


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
    X, y = features_and_target(whole, {**SETTING, "california_features": "counts"})
    assert np.allclose(X, counts, rtol=1e-12)
    assert y is whole.target
    untouched_copy = whole.features.copy()
    X, _ = features_and_target(whole, SETTING)
    assert np.array_equal(X, untouched_copy)


def test_the_three_tasks_of_wine():
    quality = np.array([3, 5, 6, 9] * 15, dtype=float)
    base = dataset("logistic")
    wine = Dataset(
        "wine-quality", "", "classification", base.features, base.target, base.feature_names,
        {"quality": quality},
    )  # fmt: skip
    colour, both, good = (
        features_and_target(wine, {**SETTING, "wine_task": task})
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
    X, y = features_and_target(whole, {**SETTING, **change})
    assert X is whole.features
    assert y is whole.target
