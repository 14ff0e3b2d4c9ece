"""Joint noise beside flipped Huber noise: closed forms, order and the rows that are kept."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.settings import Gain, JointNoise, VectorVariances
from dpnoise_papers.flipped_huber_2023.tables.joint_noise import joint_noise, joint_rows
from dpnoise_papers.flipped_huber_2023.tables.variances import (
    gain_by_dimension,
    vector_variances,
)

BUDGETS = ((1.0, 1e-6), (2.0, 1e-6))
BOX = ((0.02, 150.0), (0.02, 50.0))


@pytest.fixture(scope="module")
def table():
    gain = gain_by_dimension(Gain(dimensions=(1, 5), budgets=BUDGETS))
    return joint_noise(JointNoise(budgets=BUDGETS[:1]), gain)


def test_only_the_budgets_of_the_settings_are_kept(table):
    assert set(zip(table["epsilon"], table["delta"], strict=True)) == {BUDGETS[0]}
    assert table["dimension"].tolist() == [1] * 4 + [5] * 4


def test_nothing_is_below_the_floor_and_joint_noise_is_nearest(table):
    assert (table["over_floor"] >= 1).all()
    assert np.allclose(table["over_floor"] * table["floor"], table["variance"])
    lowest = table.loc[table.groupby("dimension")["variance"].idxmin()]
    assert set(lowest["mechanism"]) == {"joint"}
    assert lowest["variance"].iloc[1] == pytest.approx(14.0)  # (K + 1)(K + 2) / 3
    assert lowest["noise"].tolist() == ["staircase in the norm", "K-norm"]


def test_the_floor_does_not_fall_with_the_dimension():
    K = [16, 20, 1]
    gain = pd.DataFrame({"dimension": K, "epsilon": 0.3, "delta": 1e-6, "flipped_huber": 1e9,
                         "gaussian": 1e9, "laplace": 1e9})  # fmt: skip
    table = joint_noise(JointNoise(budgets=((0.3, 1e-6),)), gain)
    assert table["dimension"].drop_duplicates().tolist() == K
    floors = table.drop_duplicates("dimension").sort_values("dimension")["floor"]
    assert floors.is_monotonic_increasing
    assert (table["over_floor"] >= 1).all()


def vector(dimension, delta):
    mechanisms = (("gaussian", "exact"), ("laplace", "pure"))
    return vector_variances(
        VectorVariances(
            dimensions=(dimension,), deltas=(delta,), epsilons=(0.5, 1.0), box=BOX,
            mechanisms=mechanisms,
        )
    )  # fmt: skip


def test_rows_are_those_of_the_items_with_joint_noise_beside():
    items = [vector(3, 1e-8), vector(5, 1e-8), vector(20, 1e-6)]
    rows = joint_rows(*items)
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
