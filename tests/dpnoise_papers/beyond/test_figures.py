"""Joint noise beside the papers' noise, drawn and as a page."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import figure_checks
from dpnoise.mechanisms.methods import METHODS
from dpnoise_papers import style
from dpnoise_papers.beyond.figures import (
    CELLS,
    data,
    flipped_huber_rows,
    inid_rows,
    joint_noise,
    less,
    more,
    render,
    which_noise,
)
from dpnoise_papers.style import COLOURS
from which_noise_toys import MECHANISMS, toy

COLUMNS = ["item", "profile", "dimension", "epsilon", "delta", "mechanism", "error"]
ROWS = [
    ("figure-4", "linear", 21, 0.5, 1e-6, "gaussian-optimal", 1046.0),
    ("figure-4", "linear", 21, 0.5, 0.0, "laplace-optimal", 2386.0),
    ("table-2", None, 2, 0.5, 0.0, "staircase", 3.996),
    ("table-2", None, 2, 0.5, 0.0, "laplace-optimal", 3.428),
    ("table-2", None, 2, 3.0, 0.0, "staircase", 0.5),
    ("table-2", None, 2, 3.0, 0.0, "laplace-optimal", 0.5714),
]
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


def test_the_page_has_one_row_for_each_budget_at_the_delta_of_the_paper():
    same = {"item": "table-2", "dimension": 20, "epsilon": 0.4, "joint": "K-norm",
            "joint_error": 962.5, "floor": 250.0, "joint_over_floor": 3.85}  # fmt: skip
    rows = [
        same | {"delta": delta, "mechanism": name, "method": method, "variance": variance}
        for delta in (1e-8, 1e-6)
        for name, method, variance in (
            ("gaussian", "exact", 2979.0), ("laplace", "pure", 5000.0),
            ("flipped-huber", "exact", 1925.0), ("flipped-huber", "box", 7777.0),
        )
    ]  # fmt: skip
    (page,) = flipped_huber_rows(pd.DataFrame(rows))
    assert "Beyond the paper, and no verdict on it" in page
    (line,) = [line for line in page.splitlines() if line.startswith("| Table II")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == ["Table II", "20", "0.4", "2979", "5000", "1925", "962.5", "K-norm", "250",
                     "2.00", "3.85"]  # fmt: skip
    assert "7777" not in page


def test_a_mechanism_that_was_not_run_leaves_a_gap():
    row = {"item": "figure-4a", "dimension": 3, "epsilon": 1.0, "delta": 1e-8, "joint": "K-norm",
           "joint_error": 6.7, "floor": 5.7, "joint_over_floor": 1.2, "mechanism": "gaussian",
           "method": "exact", "variance": 78.0}  # fmt: skip
    (page,) = flipped_huber_rows(pd.DataFrame([row]))
    (line,) = [line for line in page.splitlines() if line.startswith("| Figure 4a")]
    assert [cell.strip() for cell in line.split("|")].count("-") == 2  # Laplace, flipped Huber


def test_each_setting_has_the_lowest_error_of_the_paper():
    table = pd.DataFrame(ROWS, columns=COLUMNS).assign(
        joint="blocks", joint_error=2.0, floor=1.0, joint_over_floor=2.0
    )
    (page,) = inid_rows(table.assign(over_joint=table["error"] / 2.0, measure="mse"))
    assert "Beyond the paper, and no verdict on it" in page
    lines = [line for line in page.splitlines() if line.startswith(("| Figure", "| Table"))]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:7] for row in cells] == [
        ["Figure 4", "linear", "21", "0.5", "1e-06", "Gaussian, optimal i.n.i.d.", "1046"],
        ["Figure 4", "linear", "21", "0.5", "0", "Laplace, optimal i.n.i.d.", "2386"],
        ["Table II", "-", "2", "0.5", "0", "Laplace, optimal i.n.i.d.", "3.428"],
        ["Table II", "-", "2", "3", "0", "staircase in two dimensions", "0.5"],
    ]
    assert cells[0][7:] == ["2", "blocks", "1", "523.00", "2.00"]


def test_each_set_and_delta_has_a_panel_with_the_best_mechanism_in_each_cell():
    table = toy(deltas=(0.0, 1e-9, 1e-6))
    figure = figure_checks.drawn(which_noise(table))
    assert len(figure.axes) == 2 * 3
    assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == [
        r"$\delta = 0$", r"$\delta = 10^{-9}$", r"$\delta = 10^{-6}$",
    ]  # fmt: skip
    axes = figure.axes[2]
    names = sorted(MECHANISMS, key=[*CELLS].index)
    shown = axes.images[0].get_array()
    here = table[(table["set"] == "all") & (table["delta"] == 1e-6)]
    best = here.drop_duplicates(["dimension", "epsilon"]).pivot_table(
        index="epsilon", columns="dimension", values="mechanism", aggfunc="first"
    )
    assert (np.array(names)[shown.astype(int)] == best.to_numpy()).all()
    assert figure_checks.clipped_texts(figure) == []


def test_a_dot_marks_cells_where_plain_noise_is_close():
    table = toy()
    figure = which_noise(table)
    here = table[(table["set"] == "all") & (table["delta"] == 0)]
    best = here.drop_duplicates(["dimension", "epsilon"])
    count = best["mechanism"].isin(["Laplace", "Gaussian"]).sum()  # the next has 1.5 times as much
    assert len(figure.axes[0].lines[0].get_xdata()) == count > 0


def test_every_mechanism_has_a_colour_of_its_own():
    assert {method.name for method in METHODS} <= set(CELLS)
    assert len(set(CELLS.values())) == len(CELLS)
    assert CELLS["Laplace"] == COLOURS["laplace"]


def test_the_page_holds_every_point_of_the_table():
    table = toy()
    content = re.search(r'<script type="application/json" id="data">(.*?)</script>', render(table))
    held = json.loads(content[1])
    assert held == json.loads(json.dumps(data(table)))
    assert held["axes"] == {
        "dimension": ["1", "5", "12"], "epsilon": ["0.1", "1", "3"], "delta": ["0", "1e-06"],
    }  # fmt: skip
    assert len(held["points"]) == 2 * 3 * 3 * 2 - 6
    here = table[(table["set"] == "three") & (table["dimension"] == 12)]
    here = here[(here["epsilon"] == 3.0) & (here["delta"] == 1e-6)]
    rows = held["points"]["three 12 3 1e-06"]["rows"]
    assert [row[0] for row in rows] == here["mechanism"].tolist()
    assert [row[1] for row in rows] == here["variance"].tolist()
    assert set(held["colours"]) == set(MECHANISMS)


def test_bounds_are_rounded_to_the_safe_side():
    assert more(1.00001e-6) == "1.001e-06"
    assert less(9.9999e-7) == "9.999e-07"
    assert more(0.0) == less(0.0) == "0"


def test_nothing_comes_from_outside():
    text = render(toy())
    assert not re.findall(r"(?:src|href)=|url\(|https?:|@import", text)
