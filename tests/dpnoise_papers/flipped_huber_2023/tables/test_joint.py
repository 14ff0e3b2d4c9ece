"""Joint noise beside independent noise: closed forms, order, budgets, the floor below."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.settings import Gain, JointNoise
from dpnoise_papers.flipped_huber_2023.tables import joint as module
from dpnoise_papers.flipped_huber_2023.tables.joint import best_joint, joint_noise
from dpnoise_papers.flipped_huber_2023.tables.variances import gain_by_dimension

BUDGETS = ((1.0, 1e-6), (2.0, 1e-6))


def test_independent_noise_is_never_taken():
    # In many dimensions, where the Gaussian is next to the best.
    assert best_joint(100, 1.0, 1e-6).name == "K-norm of an ellipsoid"


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

    def planted(K, epsilon, _delta):
        return SimpleNamespace(name="planted", variance=10.0, floor=floors[epsilon, K])

    monkeypatch.setattr(module, "best_joint", planted)
    epsilon, K = zip(*floors, strict=True)
    gain = pd.DataFrame({"dimension": K, "epsilon": epsilon, "delta": 1e-6, "flipped_huber": 1e9,
                         "gaussian": 1e9, "laplace": 1e9})  # fmt: skip
    table = joint_noise(JointNoise(budgets=((0.3, 1e-6), (0.6, 1e-6))), gain)
    joint = table[table["mechanism"] == "joint"]
    assert joint["dimension"].tolist() == [16, 20, 1, 20]
    assert joint["floor"].tolist() == [5.0, 5.0, 2.0, 1.0]
    assert joint["over_floor"].tolist() == [2.0, 2.0, 5.0, 10.0]
