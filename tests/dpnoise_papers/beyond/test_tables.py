"""Joint noise beside the papers' noise: closed forms, order, units, budgets, the floor below."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpnoise.mechanisms.compare import best
from dpnoise_papers.beyond import tables as module
from dpnoise_papers.beyond.tables import (
    BestJoint,
    best_joint,
    flipped_huber_rows,
    inid_rows,
    joint_noise,
    lower,
    sensitivity_of,
    upper,
    which_noise,
    with_ratios,
)
from dpnoise_papers.config import load
from dpnoise_papers.flipped_huber_2023.settings import Gain, JointNoise, VectorVariances, WhichNoise
from dpnoise_papers.flipped_huber_2023.tables.variances import (
    gain_by_dimension,
    vector_variances,
)
from dpnoise_papers.inid_2024.settings import Errors, JointRows, TwoDimensions
from dpnoise_papers.inid_2024.tables.profiles import error_curves, two_dimensions
from dpnoise_papers.result_files import read_table

BUDGETS = ((1.0, 1e-6), (2.0, 1e-6))
BOX = ((0.02, 150.0), (0.02, 50.0))
GAUSSIAN, LAPLACE = ("gaussian", "optimal"), ("laplace", "optimal")
EPSILONS = (0.5, 0.6, 0.8, 1.0)
GRID = {"dimensions": (12, 1, 5), "epsilons": (1.0,), "deltas": (1e-6, 0.0)}
PLAIN = {0.0: {"Laplace"}, 1e-6: {"Laplace", "Gaussian"}}


@pytest.mark.parametrize("K", [5, 10, 20])
@pytest.mark.parametrize("delta", [0.0, 1e-8])
def test_it_is_k_norm_noise_in_the_norm_of_a_small_box(K, delta):
    found = best_joint((1.0,) * K, 1.0 / 2.0, delta)
    assert found.name == "K-norm"
    assert found.error == pytest.approx((K + 1) * (K + 2) / (3 * 0.25))
    assert found.delta == 0.0
    assert 0 < found.floor < found.error


def test_one_coordinate_has_the_scalar_staircase_and_no_gap():
    found = best_joint((1.0,), 1.0, 0.0)
    assert found.error == pytest.approx(found.floor, rel=1e-3)


def test_coordinates_that_cannot_change_get_no_noise():
    alone, among = best_joint((2.0,), 1.0, 0.0), best_joint((0.0, 0.0, 2.0, 0.0), 1.0, 0.0)
    assert 4 * among.error == pytest.approx(alone.error)
    assert 4 * among.floor == pytest.approx(alone.floor)


def test_independent_noise_is_never_taken():
    # In many dimensions, where the Gaussian is next to the best.
    found = best_joint((1.0,) * 100, 1.0, 1e-6)
    assert found.name == "K-norm of an ellipsoid"
    assert 0 < found.delta <= 1e-6


def test_ratios_are_of_the_errors():
    table = pd.DataFrame({"mse": [6.0], "joint_error": [2.0], "floor": [1.0]})
    ratios = with_ratios(table, "mse")[["over_joint", "joint_over_floor"]]
    assert np.array_equal(ratios, [[3.0, 2.0]])


@pytest.fixture(scope="module")
def over_dimensions():
    gain = gain_by_dimension(Gain(dimensions=(1, 5), budgets=BUDGETS))
    return joint_noise(JointNoise(budgets=BUDGETS[:1]), gain)


def test_only_the_budgets_of_the_settings_are_kept(over_dimensions):
    assert set(zip(over_dimensions["epsilon"], over_dimensions["delta"], strict=True)) == {
        BUDGETS[0]
    }
    assert over_dimensions["dimension"].tolist() == [1] * 4 + [5] * 4


def test_no_variance_is_below_the_floor_and_joint_noise_is_nearest(over_dimensions):
    assert (over_dimensions["over_floor"] >= 1).all()
    assert np.allclose(
        over_dimensions["over_floor"] * over_dimensions["floor"], over_dimensions["variance"]
    )
    lowest = over_dimensions.loc[over_dimensions.groupby("dimension")["variance"].idxmin()]
    assert set(lowest["mechanism"]) == {"joint"}
    assert lowest["variance"].iloc[1] == pytest.approx(14.0)  # (K + 1)(K + 2) / 3
    assert lowest["noise"].tolist() == ["staircase in the norm", "K-norm"]


def test_the_floor_does_not_fall_with_the_dimension(monkeypatch):
    """Of a smaller dimension it counts where it is larger, at the same budget."""
    floors = {(0.3, 16): 5.0, (0.3, 20): 4.0, (0.3, 1): 2.0, (0.6, 20): 1.0}

    def planted(sensitivities, epsilon, delta):
        return BestJoint("planted", delta, 10.0, floors[epsilon, len(sensitivities)])

    monkeypatch.setattr(module, "best_joint", planted)
    epsilon, K = zip(*floors, strict=True)
    gain = pd.DataFrame({"dimension": K, "epsilon": epsilon, "delta": 1e-6, "flipped_huber": 1e9,
                         "gaussian": 1e9, "laplace": 1e9})  # fmt: skip
    table = joint_noise(JointNoise(budgets=((0.3, 1e-6), (0.6, 1e-6))), gain)
    joint = table[table["mechanism"] == "joint"]
    assert joint["dimension"].tolist() == [16, 20, 1, 20]
    assert joint["floor"].tolist() == [5.0, 5.0, 2.0, 1.0]
    assert joint["over_floor"].tolist() == [2.0, 2.0, 5.0, 10.0]


def vector(dimension, delta):
    mechanisms = (("gaussian", "exact"), ("laplace", "pure"))
    return vector_variances(
        VectorVariances(
            dimensions=(dimension,), deltas=(delta,), epsilons=(0.5, 1.0), box=BOX,
            mechanisms=mechanisms,
        )
    )  # fmt: skip


def test_rows_are_those_of_the_items_with_joint_noise_beside():
    items = [vector(3, 1e-8), vector(5, 1e-8), vector(10, 1e-6)]
    rows = flipped_huber_rows(*items)
    assert rows["item"].tolist() == ["figure-4a"] * 4 + ["figure-4b"] * 4 + ["table-2"] * 4
    assert rows["variance"].tolist() == pd.concat(items)["variance"].tolist()
    K, epsilon = rows["dimension"], rows["epsilon"]
    pure = (K + 1) * (K + 2) / (3 * epsilon**2)
    assert (rows["joint_error"] <= pure * (1 + 1e-9)).all()
    assert np.allclose(rows["joint_error"], pure, rtol=2e-3)
    assert (rows["joint_delta"] <= rows["delta"]).all()
    assert (rows["joint_over_floor"] >= 1).all()
    assert np.allclose(rows["over_joint"], rows["variance"] / rows["joint_error"])
    assert (rows["over_joint"] > 1).all()


def errors(mechanisms, dimensions, epsilons, norm, profiles=("uniform", "exponential", "one-hot")):
    delta = 1e-6 if GAUSSIAN in mechanisms else None
    return Errors(
        mechanisms=mechanisms, profiles=profiles, dimensions=dimensions, epsilons=epsilons,
        delta=delta, norm=norm,
    )  # fmt: skip


@pytest.fixture(scope="module")
def beside_errors():
    sections = [
        errors((GAUSSIAN,), (6,), EPSILONS, 2),
        errors((GAUSSIAN,), (1, 6), (0.5,), 2),
        errors((LAPLACE,), (6,), EPSILONS, 1),
        errors((LAPLACE,), (1, 2, 6), (0.5,), 1),
        errors((GAUSSIAN, LAPLACE), (1, 6), (0.5,), 2, ("uniform",)),
    ]
    plane = TwoDimensions(sensitivities=(0.85, 0.15), epsilons=(0.5, 3.0))
    tables = [*(error_curves(section) for section in sections), two_dimensions(plane)]
    return inid_rows(JointRows(points=2), *sections, *tables)


def test_some_points_of_each_figure_are_kept_its_ends_first(beside_errors):
    ends = beside_errors.groupby("item").agg(
        {"epsilon": ["min", "max"], "dimension": ["min", "max"]}
    )
    assert ends.loc["figure-1a"].tolist() == [0.5, 1.0, 6, 6]
    assert ends.loc["figure-3b"].tolist() == [0.5, 0.5, 1, 6]
    assert set(beside_errors.loc[beside_errors["item"] == "figure-3b", "dimension"]) == {1, 6}
    assert len(beside_errors[beside_errors["item"] == "figure-4"]) == 4
    assert len(beside_errors[beside_errors["item"] == "table-2"]) == 6


def test_uniform_profiles_have_the_closed_form_of_k_norm_noise(beside_errors):
    rows = beside_errors[
        (beside_errors["profile"] == "uniform") & (beside_errors["dimension"] == 6)
    ]
    squared = np.where(rows["item"].isin(["figure-3a", "figure-3b"]), 1 / 36, 1 / 6)
    expected = 6 * 7 * 8 / (3 * rows["epsilon"] ** 2) * squared
    assert np.allclose(rows["joint_error"], expected, rtol=1e-3)


def test_one_hot_profiles_have_the_error_of_one_coordinate(beside_errors):
    rows = beside_errors[beside_errors["profile"] == "one-hot"]
    assert np.allclose(rows["joint_error"], rows["floor"], rtol=0.02)


def test_no_error_is_below_the_floor_and_budgets_are_kept(beside_errors):
    assert (beside_errors["error"] >= beside_errors["floor"]).all()
    assert (beside_errors["joint_error"] >= beside_errors["floor"]).all()
    assert (beside_errors["joint_delta"] <= beside_errors["delta"]).all()
    laplace = beside_errors["mechanism"].str.startswith("laplace")
    assert (beside_errors.loc[laplace, "delta"] == 0).all()
    assert np.allclose(
        beside_errors["over_joint"], beside_errors["error"] / beside_errors["joint_error"]
    )


def test_table_2_is_in_mean_absolute_errors(beside_errors):
    rows = beside_errors[beside_errors["item"] == "table-2"]
    assert set(rows["measure"]) == {"mae"}
    # The staircase in the norm of the box has 3/4 of the error of the paper's staircase.
    staircase = rows[rows["mechanism"] == "staircase"]
    assert np.allclose(staircase["over_joint"], 4 / 3)


@pytest.fixture(scope="module")
def table():
    return which_noise(WhichNoise(**GRID))


def test_each_point_has_its_mechanisms_best_first(table):
    points = table.groupby(["set", "dimension", "epsilon", "delta"], sort=False)
    assert len(points) == 2 * 3 + 2 * 2  # up to K = 3 the sets are the same
    for (name, K, epsilon, delta), rows in points:
        found = best(sensitivity_of(name, K), epsilon=epsilon, delta=delta)
        assert rows["mechanism"].iloc[0] == found.name
        assert rows["variance"].iloc[0] == found.variance
        assert {"Laplace", "Gaussian"} - set(rows["mechanism"]) <= (
            {"Gaussian"} if not delta else set()
        )
        assert (rows["variance"] >= (1 - 1e-4) * rows["variance"].iloc[0]).all()


def test_bounds_are_on_the_safe_side(table):
    assert (table["certified"] <= table["delta"]).all()
    for (name, K, epsilon, delta), rows in table.groupby(["set", "dimension", "epsilon", "delta"]):
        found = best(sensitivity_of(name, K), epsilon=epsilon, delta=delta)
        first = rows.sort_index().iloc[0]
        assert found.delta <= first["certified"]
        assert (1 - 1e-7) * found.floor <= first["floor"] <= found.floor
        assert (rows["floor"] <= rows["variance"]).all()


RECORDED = Path(__file__).parents[3] / "docs/snapshot/flipped-huber-2023/which-noise.csv.xz"


def test_the_recorded_table_is_on_the_grid_of_the_settings_and_agrees_where_it_is_recomputed(table):
    recorded = read_table(RECORDED)
    grid = load(Path(__file__).parents[3] / "config.yaml").flipped_huber_2023.which_noise
    for column, values in zip(("dimension", "epsilon", "delta"), grid, strict=True):
        assert set(recorded[column]) == set(values[1])
    keys = ["set", "dimension", "epsilon", "delta", "mechanism"]
    both = table.merge(recorded, on=keys, suffixes=("", "_recorded"), how="left")
    assert both["variance"].to_numpy() == pytest.approx(both["variance_recorded"], rel=1e-6)
    assert both["floor"].to_numpy() == pytest.approx(both["floor_recorded"], rel=1e-6)


@pytest.mark.parametrize("x", [0.0, 1.0, 17.0, 1e-6, 199.9166806, 2 / 3, 1e-300, 3.0000000001])
def test_the_number_lies_between(x):
    for digits in (1, 4, 8):
        low, high = lower(x, digits), upper(x, digits)
        assert low <= x <= high
        assert high - low <= 10.0 ** (1 - digits) * x


@pytest.mark.parametrize("x", [1e-12, 1e-9, 1e-6, 1e-4, 0.1, 17.0])
def test_decimals_of_few_digits_stay(x):
    assert upper(x, 4) == lower(x, 4) == x


def test_others_move_to_their_side():
    assert upper(17.0, 1) == 20.0
    assert Fraction(lower(2 / 3, 4)) < Fraction(2, 3) < Fraction(upper(2 / 3, 4))
