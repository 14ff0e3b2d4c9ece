"""Figures 3a to 3c of flipped-huber-2023 show what their tables hold."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.figures.scalar_variances import figure_3a, ratio_map
from figure_bytes import svg


def variances():
    rows = []
    for epsilon, attained in ((0.1, 1), (0.3, 1), (3.0, 0)):
        least = 2 / epsilon**2
        rows += [
            (epsilon, "gaussian", "exact", 7 * least, 1),
            (epsilon, "truncated-laplace", "exact", 0.999 * least, 1),
            (epsilon, "offset-symmetric-gaussian", "exact", 1.01 * least, attained),
            (epsilon, "flipped-huber", "exact", 0.9995 * least, 1),
            (epsilon, "flipped-huber", "box", 1.02 * least, 1),
        ]
        if not attained:
            rows.append((epsilon, "offset-symmetric-gaussian", "infimum", least, 0))
    return pd.DataFrame(rows, columns=["epsilon", "mechanism", "method", "variance", "attained"])


def printed():
    return pd.DataFrame(
        {
            "epsilon": ["0.3", "0.3", "3", "3"],
            "mechanism": ["gaussian", "flipped-huber", "gaussian", "gaussian"],
            "column": ["variance", "variance", "variance", "gain_db"],
            "printed": [168.8, 22.21, 2.38, 8.0],
        }
    )


def ratios(against="laplace"):
    epsilons, deltas = np.geomspace(0.01, 10, 7), np.geomspace(1e-8, 0.1, 6)
    rows = [
        (e, d, 1.0, 1.0, 3 * np.log10(e) - 2 * np.log10(d) - 9) for e in epsilons for d in deltas
    ]
    columns = ["epsilon", "delta", "flipped_huber", against.replace("-", "_"), "ratio_db"]
    return pd.DataFrame(rows, columns=columns)


def curves(axes):
    return {line.get_label(): line for line in axes.lines if len(line.get_xdata()) > 1}


def test_figure_3a_draws_each_variance_and_its_excess_over_the_least():
    table = variances()
    above, below = figure_3a(table).axes
    assert curves(above).keys() == curves(below).keys()
    gaussian = curves(above)["Gaussian"]
    assert list(gaussian.get_xdata()) == [0.1, 0.3, 3.0]
    assert gaussian.get_ydata() == pytest.approx([1400, 1400 / 9, 14 / 9])
    assert curves(below)["Gaussian"].get_ydata() == pytest.approx([7 / 0.999 - 1] * 3)
    best = curves(below)["truncated Laplace"].get_ydata()
    assert len(set(best)) == 1
    assert min(best) >= below.get_ylim()[0]


def test_figure_3a_draws_a_limit_where_no_noise_attains_the_least_variance():
    above, _ = figure_3a(variances()).axes
    (label,) = [name for name in curves(above) if name.startswith("offset-symmetric Gaussian")]
    assert "minimum or infimum" in label
    assert curves(above)[label].get_ydata() == pytest.approx([202, 202 / 9, 2 / 9])


def test_figure_3a_marks_the_printed_variances_alone():
    above, below = figure_3a(variances(), printed()).axes
    (marks,) = above.collections
    assert sorted(map(tuple, marks.get_offsets().tolist())) == [
        (0.3, 22.21), (0.3, 168.8), (3.0, 2.38),
    ]  # fmt: skip
    colours = [to_hex(colour) for colour in marks.get_edgecolors()]
    assert colours.count(style.COLOURS["gaussian"].lower()) == 2
    (excess,) = below.collections
    assert excess.get_offsets()[0].tolist() == pytest.approx([0.3, 168.8 / (0.999 * 2 / 0.09) - 1])
    assert not figure_3a(variances(), printed().iloc[:0]).axes[0].collections


@pytest.mark.parametrize("against", ["laplace", "staircase", "truncated-laplace"])
def test_a_ratio_map_names_its_mechanisms_and_labels_its_contours(against):
    table = ratios(against)
    figure = ratio_map(table)
    (axes,) = figure.axes
    assert style.NAMES[against] in axes.get_title(loc="left")
    assert axes.get_xlim() == pytest.approx((0.01, 10))
    assert axes.get_ylim() == pytest.approx((1e-8, 0.1))
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == [
        "flipped Huber is better",
        "within 0.1 dB",
        f"{style.NAMES[against]} is better",
    ]
    labels = [text.get_text() for text in axes.texts]
    assert labels
    assert all(text.endswith(" dB") and text[0] in "+-" for text in labels)


def test_a_ratio_map_with_one_sign_speaks_of_that_alone():
    table = ratios().assign(ratio_db=-1.0 - ratios()["epsilon"])
    words = [text.get_text() for text in ratio_map(table).legends[0].get_texts()]
    assert words == ["flipped Huber is better"]


def test_the_map_is_white_in_the_middle_and_takes_the_colour_of_the_better():
    (axes,) = ratio_map(ratios("staircase")).axes
    filled = axes.collections[0]
    colours = [to_hex(colour) for colour in filled.get_facecolors()]
    middle = filled.cmap(filled.norm(0.0))
    assert to_hex(middle) == "#ffffff"
    assert to_hex(filled.cmap(filled.norm(-45.0))) == style.COLOURS["flipped-huber"].lower()
    assert to_hex(filled.cmap(filled.norm(45.0))) == style.COLOURS["staircase"].lower()
    assert "#ffffff" in colours


@pytest.mark.parametrize(
    "draw", [lambda: figure_3a(variances(), printed()), lambda: ratio_map(ratios())]
)
def test_two_drawings_are_the_same(draw):
    assert svg(draw()) == svg(draw())
