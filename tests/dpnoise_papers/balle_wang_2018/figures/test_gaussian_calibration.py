"""Figures of the Gaussian mechanism: every line of the table is on them."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.balle_wang_2018.figures.gaussian_calibration import (
    deviations,
    gain_by_delta,
    gain_by_epsilon,
    published_algorithm,
)

BOUNDS = pd.DataFrame(
    {"column": ["gain", "gain", "other"], "printed": [1.4, 1.5, 7.0],
     "place": ["Section 5.1", "abstract", "nowhere"]}
)  # fmt: skip
EPSILONS, DELTAS = [0.01, 0.1, 1.0], [1e-8, 1e-4]


@pytest.fixture
def table():
    rows = [
        (e, d, 3 / e - np.log10(d), 2 / e, 2 - d - e / 2, 1 / d, 1.2 / d)
        for d in DELTAS for e in EPSILONS
    ]  # fmt: skip
    columns = ["epsilon", "delta", "classical", "analytic", "gain", "at_zero", "theorem_2"]
    return pd.DataFrame(rows, columns=columns)


def drawn(axes):
    return {tuple(line.get_ydata()) for line in axes.get_lines()}


def test_deviations_have_both_curves_and_both_limits_per_delta(table):
    figure = deviations(table)
    assert len(figure.axes) == 2
    for axes, (delta, rows) in zip(figure.axes, table.groupby("delta"), strict=True):
        assert drawn(axes) == {
            tuple(rows["classical"]), tuple(rows["analytic"]), (1 / delta,) * 2, (1.2 / delta,) * 2
        }  # fmt: skip
        assert axes.get_xscale() == axes.get_yscale() == "log"
    assert len(deviations(table[table["delta"] == 1e-4]).axes) == 1


@pytest.mark.parametrize(
    ("draw", "by", "words"),
    [
        (gain_by_epsilon, "delta", [r"$\delta = 10^{-8}$", r"$\delta = 10^{-4}$"]),
        (gain_by_delta, "epsilon", [rf"$\epsilon = {e:g}$" for e in EPSILONS]),
    ],
)
def test_gains_have_a_line_per_value_and_two_guides(table, draw, by, words):
    figure = draw(table, BOUNDS)
    lines = {tuple(rows["gain"]) for _, rows in table.groupby(by)}
    guides = {(1.4, 1.4), (1.5, 1.5)}
    whole, near = figure.axes
    assert drawn(whole) == drawn(near) == lines | guides
    assert near.get_ylim() == (1.0, 3.0)
    assert near.get_yscale() == "linear"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[: len(words)] == words
    assert texts[len(words) :] == ["printed: at least 1.4 (Section 5.1), 1.5 (abstract)"]


def test_the_map_colours_by_outcome():
    cases = ((1e-9, (1.5, np.nan, -4.0)), (1e-3, (0.0, 0.0, 0.2)))
    rows = [(stop, e, d, r) for stop in ("argument", "delta") for d, ratios in cases
            for e, r in zip(EPSILONS, ratios, strict=True)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["stop", "epsilon", "delta", "log10_ratio"])
    figure = published_algorithm(table)
    figure.draw_without_rendering()
    (mesh,) = [c for c in figure.axes[0].collections if c.get_array() is not None]
    assert mesh.get_array().mask.sum() == 1
    red, _, blue = (mesh.to_rgba(mesh.get_array())[0, :, k] for k in range(3))
    assert red[0] > blue[0]  # not private
    assert red[2] < blue[2]  # private
    assert np.allclose(mesh.to_rgba(mesh.get_array())[1, 0, :3], 1)  # right
    assert "not private: too little noise" in [t.get_text() for t in figure.legends[0].get_texts()]
