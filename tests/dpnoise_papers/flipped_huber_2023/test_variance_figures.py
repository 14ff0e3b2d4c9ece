"""Figures 3 and 4, Table II and the gain show what their tables hold.

Tables I and II of flipped-huber-2023 as pages: every number is there, the paper's first.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from dpnoise_papers import style
from dpnoise_papers.claims.model import Claim, Condition, Printed
from dpnoise_papers.flipped_huber_2023.privacy_figures import table_1_page
from dpnoise_papers.flipped_huber_2023.variance_figures import (
    FLOOR,
    figure_3a,
    figure_4,
    gain,
    ratio_map,
    table_2,
    table_2_page,
    variances,
)

EPSILONS = [0.1, 1.0, 10.0]


@pytest.fixture
def table():
    rows = [
        (3, delta, epsilon, mechanism, method, scale / epsilon**2, 10 * np.log10(9 / scale))
        for delta in (1e-8, 1e-6)
        for mechanism, method, scale in (
            ("gaussian", "exact", 9.0), ("flipped-huber", "exact", 3.0),
            ("flipped-huber", "sufficient", 4.0), ("laplace", "pure", 18.0),
        )
        for epsilon in EPSILONS
    ]  # fmt: skip
    columns = ["dimension", "delta", "epsilon", "mechanism", "method", "variance", "gain_db"]
    return pd.DataFrame(rows, columns=columns)


def test_every_mechanism_is_drawn_for_every_delta(table):
    figure = variances(table)
    assert len(figure.axes) == 6
    for panel, column in zip(figure.axes, ["variance"] * 2 + ["gain_db"] * 2, strict=False):
        drawn = {tuple(line.get_ydata()) for line in panel.get_lines()}
        expected = table.groupby(["mechanism", "method"])[column].agg(tuple).map(lambda y: y[:3])
        assert drawn == set(expected)
    lowest = {100 * FLOOR}
    (best,) = [line for line in figure.axes[4].get_lines() if set(line.get_ydata()) == lowest]
    assert best.get_ydata()[0] > figure.axes[4].get_ylim()[0]
    assert best.get_color() == style.COLOURS["flipped-huber"]
    excess = [line.get_ydata()[0] for line in figure.axes[4].get_lines() if line is not best]
    assert np.allclose(sorted(excess), [100 / 3, 200.0, 500.0])
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Laplace" in words
    assert "flipped Huber: Theorem 8" in words


@pytest.mark.parametrize(("factor", "curves"), [(1.019, 1), (1.021, 2)])
def test_methods_that_agree_everywhere_share_a_curve(table, factor, curves):
    exact = (table["mechanism"] == "flipped-huber") & (table["method"] == "exact")
    near = table[exact].assign(method="box", variance=table.loc[exact, "variance"])
    near.loc[near.index[-1], "variance"] *= factor
    figure = variances(pd.concat([table, near.iloc[1:]]))
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("flipped Huber: exact; in the search box" in words) == (curves == 1)
    assert sum(word.startswith("flipped Huber") for word in words) == 1 + curves
    longest = {line.get_label(): len(line.get_xdata()) for line in figure.axes[0].get_lines()}
    assert max(n for label, n in longest.items() if "exact" in label) == len(EPSILONS)


def test_a_shared_curve_is_the_exact_one(table):
    exact = (table["mechanism"] == "flipped-huber") & (table["method"] == "exact")
    near = table[exact].assign(method="grid", variance=table.loc[exact, "variance"] * 1.01)
    lines = curves(variances(pd.concat([near, table])).axes[0])
    drawn = lines["flipped Huber: exact; the paper's grid"].get_ydata()
    assert list(drawn) == list(table.loc[exact, "variance"][: len(drawn)])


def test_gain_has_one_curve_per_budget_and_marks_its_peak():
    rows = [
        (k, e, d, g * e) for e in (0.5, 1.0) for d in (1e-8, 1e-6)
        for k, g in ((1, 0.1), (10, 0.9), (100, 0.0))
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["dimension", "epsilon", "delta", "gain_db"])
    (axes,) = gain(table).axes
    curves = [line for line in axes.get_lines() if len(line.get_xdata()) == 3]
    peaks = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert len(curves) == 4
    assert {float(p.get_xdata()[0]) for p in peaks} == {10.0}
    assert len({(c.get_color(), c.get_linestyle()) for c in curves}) == 4


def test_the_middle_panel_has_the_printed_numbers_against_the_gaussian(table):
    printed = pd.DataFrame(
        {"column": ["searched"], "delta": ["1e-8"], "epsilon": ["1.0"],
         "mechanism": ["flipped-huber"], "printed": [4.5]}
    )  # fmt: skip
    _, other, middle = figure_4(table, printed).axes[:3]
    assert not [dots for dots in other.collections if len(dots.get_offsets())]  # of another delta
    (dots,) = middle.collections
    assert dots.get_offsets()[0].tolist() == pytest.approx([1.0, 10 * np.log10(9.0 / 4.5)])


@pytest.mark.parametrize(
    ("draw", "ours"),
    [(figure_4, {"Laplace*"}), (table_2, {"Gaussian*", "flipped Huber: exact*"})],
)
def test_what_the_paper_does_not_show_carries_an_asterisk(table, draw, ours):
    words = [text.get_text() for text in draw(table, table[:0]).legends[0].get_texts()]
    starred = {word for word in words if word.endswith("*")}
    assert starred == ours
    assert words[-1] == style.OURS
    titles = [axes.get_title(loc="left") for axes in figure_4(table, table[:0]).axes[:2]]
    assert [title.endswith("*") for title in titles] == [False, True]


def scalar_variances():
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
    table = scalar_variances()
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
    above, _ = figure_3a(scalar_variances()).axes
    (label,) = [name for name in curves(above) if name.startswith("offset-symmetric Gaussian")]
    assert "minimum or infimum" in label
    assert curves(above)[label].get_ydata() == pytest.approx([202, 202 / 9, 2 / 9])


def test_figure_3a_marks_the_printed_variances_alone():
    above, below = figure_3a(scalar_variances(), printed()).axes
    (marks,) = above.collections
    assert sorted(map(tuple, marks.get_offsets().tolist())) == [
        (0.3, 22.21), (0.3, 168.8), (3.0, 2.38),
    ]  # fmt: skip
    colours = [to_hex(colour) for colour in marks.get_edgecolors()]
    assert colours.count(style.COLOURS["gaussian"].lower()) == 2
    (excess,) = below.collections
    assert excess.get_offsets()[0].tolist() == pytest.approx([0.3, 168.8 / (0.999 * 2 / 0.09) - 1])
    assert not figure_3a(scalar_variances(), printed().iloc[:0]).axes[0].collections


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


def test_the_map_is_white_in_the_middle_and_takes_the_colour_of_the_better():
    (axes,) = ratio_map(ratios("staircase")).axes
    filled = axes.collections[0]
    colours = [to_hex(colour) for colour in filled.get_facecolors()]
    middle = filled.cmap(filled.norm(0.0))
    assert to_hex(middle) == "#ffffff"
    assert to_hex(filled.cmap(filled.norm(-45.0))) == style.COLOURS["flipped-huber"].lower()
    assert to_hex(filled.cmap(filled.norm(45.0))) == style.COLOURS["staircase"].lower()
    assert "#ffffff" in colours


def cells(page):
    lines = [line for line in page.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def claim(epsilon, printed):
    fields = dict.fromkeys(Claim.__dataclass_fields__, "")
    select = Condition.parse(f"mechanism=laplace;method=pure;epsilon={epsilon}")
    own = {"id": "x", "item": "table-2", "kind": "printed", "quantity": "number"}
    return Claim(**(fields | own | {"select": select, "printed": Printed.parse(printed)}))


def test_table_2_has_the_papers_rows_first_with_what_is_printed():
    rows = [
        (20, delta, mechanism, method, epsilon, scale / epsilon)
        for delta in (1e-8, 1e-6)
        for mechanism, method, scale in (
            ("gaussian", "exact", 3.0), ("laplace", "pure", 800.0),
            ("flipped-huber", "box", np.nan), ("gaussian", "infimum", 1.0),
        )
        for epsilon in (1.0, 2.0)
    ]  # fmt: skip
    columns = ["dimension", "delta", "mechanism", "method", "epsilon", "variance"]
    page, latex = table_2_page(pd.DataFrame(rows, columns=columns), claims=[claim("1", "800")])
    body = cells(page)
    assert body[0] == ["Laplace, pure (delta = 0)", "1e-08", "800.00 [800]", "400.00"]
    assert body[1] == ["Gaussian, exact*", "1e-08", "3.00", "1.50"]
    assert body[2][2:] == ["-", "-"]
    assert len(body) == 6
    assert [row[0].endswith("*") for row in body] == [False] + [True] * 5
    assert latex.count("800.00 [800]") == 1


def test_table_1_counts_trials_and_says_how_far_the_worst_is_off():
    table = pd.DataFrame(
        {
            "case": ["i", "i", "i-ii"], "relative_error": [1e-16, -3e-9, 2e-12],
            "loss_error": [0.0, 1e-20, np.nan], "t1_in_interval": [1, 0, np.nan],
            "t2_in_interval": [1, 1, np.nan], "ranges": [1, 2, np.nan],
        }
    )  # fmt: skip
    page, latex = table_1_page(table)
    assert cells(page) == [
        ["(i)", "2", "1 of 2", "1", "1e-20", "3e-09"],
        ["(i-ii)", "1", "-", "-", "-", "2e-12"],
    ]
    assert "3e-09" in latex
