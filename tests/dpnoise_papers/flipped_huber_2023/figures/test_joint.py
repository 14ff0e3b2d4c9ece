"""Joint noise beside independent noise, drawn."""

import numpy as np
import pandas as pd
import pytest

import figure_checks
from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.figures.joint import joint_noise

BUDGETS = [(0.3, 1e-6), (1.0, 1e-6), (3.0, 1e-6)]


@pytest.fixture(scope="module")
def table():
    ratios = {"gaussian": 9.0, "laplace": 20.0, "flipped-huber": 8.0, "joint": 2.0}
    rows = [
        (K, e, d, name, ratio * K**1.5, K**1.2) for e, d in BUDGETS for K in (1, 10, 1000)
        for name, ratio in ratios.items()
    ]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["dimension", "epsilon", "delta", "mechanism", "variance", "floor"]
    )


def test_each_budget_has_a_panel_with_every_mechanism_and_the_floor(table):
    figure = figure_checks.drawn(joint_noise(table))
    assert len(figure.axes) == 2 * len(BUDGETS)
    above, below = figure.axes[: len(BUDGETS)], figure.axes[len(BUDGETS) :]
    for axes, over, (epsilon, _) in zip(above, below, BUDGETS, strict=True):
        drawn = {line.get_label(): line for line in axes.get_lines()}
        assert set(drawn) == {"floor*", "Gaussian", "Laplace", "flipped Huber", "joint*"}
        rows = table[(table["epsilon"] == epsilon) & (table["mechanism"] == "joint")]
        assert np.allclose(drawn["joint*"].get_ydata(), rows["variance"])
        assert np.allclose(drawn["floor*"].get_ydata(), rows["dimension"] ** 1.2)
        ratios = [tuple(line.get_ydata()) for line in over.get_lines()]
        assert np.isclose(ratios, 1.0).all(axis=1).sum() == 1  # the floor, over itself
        assert any(np.allclose(one, rows["variance"] / rows["floor"]) for one in ratios)
    assert style.OURS in [text.get_text() for text in figure.legends[0].get_texts()]
    assert figure_checks.wrong_looks(figure) == []
    assert figure_checks.clipped_texts(figure) == []


def test_one_budget_is_enough(table):
    figure = joint_noise(table[table["epsilon"] == 1.0])
    assert len(figure.axes) == 2
