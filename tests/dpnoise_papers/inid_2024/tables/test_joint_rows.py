"""Joint noise beside the errors of inid-2024: the same unit, the same settings, the same budget."""

import numpy as np
import pytest

from dpnoise_papers.inid_2024.settings import Errors, JointRows, TwoDimensions
from dpnoise_papers.inid_2024.tables.joint_rows import joint_rows
from dpnoise_papers.inid_2024.tables.profiles import error_curves
from dpnoise_papers.inid_2024.tables.two_dimensions import two_dimensions

GAUSSIAN, LAPLACE = ("gaussian", "optimal"), ("laplace", "optimal")
EPSILONS = (0.25, 0.5, 0.75, 1.0)


def errors(mechanisms, dimensions, epsilons, norm, profiles=("uniform", "exponential", "one-hot")):
    delta = 1e-6 if GAUSSIAN in mechanisms else None
    return Errors(
        mechanisms=mechanisms, profiles=profiles, dimensions=dimensions, epsilons=epsilons,
        delta=delta, norm=norm,
    )  # fmt: skip


@pytest.fixture(scope="module")
def table():
    sections = [
        errors((GAUSSIAN,), (6,), EPSILONS, 2),
        errors((GAUSSIAN,), (1, 6), (0.5,), 2),
        errors((LAPLACE,), (6,), EPSILONS, 1),
        errors((LAPLACE,), (1, 2, 6), (0.5,), 1),
        errors((GAUSSIAN, LAPLACE), (1, 6), (0.5,), 2, ("uniform",)),
    ]
    plane = TwoDimensions(sensitivities=(0.85, 0.15), epsilons=(0.5, 3.0))
    tables = [*(error_curves(section) for section in sections), two_dimensions(plane)]
    return joint_rows(JointRows(points=2), *sections, *tables)


def test_some_points_of_each_figure_are_kept_its_ends_first(table):
    ends = table.groupby("item").agg({"epsilon": ["min", "max"], "dimension": ["min", "max"]})
    assert ends.loc["figure-1a"].tolist() == [0.25, 1.0, 6, 6]
    assert ends.loc["figure-3b"].tolist() == [0.5, 0.5, 1, 6]
    assert set(table.loc[table["item"] == "figure-3b", "dimension"]) == {1, 6}
    assert len(table[table["item"] == "figure-4"]) == 4
    assert len(table[table["item"] == "table-2"]) == 6


def test_uniform_profiles_have_the_closed_form_of_k_norm_noise(table):
    rows = table[(table["profile"] == "uniform") & (table["dimension"] == 6)]
    squared = np.where(rows["item"].isin(["figure-3a", "figure-3b"]), 1 / 36, 1 / 6)
    expected = 6 * 7 * 8 / (3 * rows["epsilon"] ** 2) * squared
    assert np.allclose(rows["joint_error"], expected, rtol=1e-3)


def test_one_hot_profiles_have_the_error_of_one_coordinate(table):
    rows = table[table["profile"] == "one-hot"]
    assert np.allclose(rows["joint_error"], rows["floor"], rtol=0.02)


def test_nothing_is_below_the_floor_and_budgets_are_kept(table):
    assert (table["error"] >= table["floor"]).all()
    assert (table["joint_error"] >= table["floor"]).all()
    assert (table["joint_delta"] <= table["delta"]).all()
    laplace = table["mechanism"].str.startswith("laplace")
    assert (table.loc[laplace, "delta"] == 0).all()
    assert np.allclose(table["over_joint"], table["error"] / table["joint_error"])


def test_table_2_is_in_mean_absolute_errors(table):
    rows = table[table["item"] == "table-2"]
    assert set(rows["measure"]) == {"mae"}
    # The staircase in the norm of the box has 3/4 of the error of the paper's staircase.
    staircase = rows[rows["mechanism"] == "staircase"]
    assert np.allclose(staircase["over_joint"], 4 / 3)
