"""Figures of Section VI of inid-2024: every number is on them, with its interval."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.colors import to_rgb
from scipy.stats import t

from descent_toys import dataset, settings
from dpnoise_papers.inid_2024.figures.learning import (
    DEEP_SCHEMES,
    SCHEMES,
    VARIANTS,
    accuracies,
    accuracy_by_scheme,
    descent_orders,
    descent_paths,
    table_3,
)
from dpnoise_papers.inid_2024.figures.learning import PRINTED as LABELS
from dpnoise_papers.inid_2024.settings import Pca
from dpnoise_papers.inid_2024.tables.descent_orders import ORDERS_COLUMNS, spread
from dpnoise_papers.inid_2024.tables.descent_orders import descent_orders as experiment
from dpnoise_papers.inid_2024.tables.pca import dp_pca_table
from dpnoise_papers.style import save


@pytest.fixture(scope="module")
def table():
    settings = Pca(
        seed=0, variants=["unclipped", "unclipped-largest", "add-remove"],
        samples=200, features=8, rank=2, subspaces=1, epsilons=[1.0, 8.0], delta=1e-5, trials=5,
        others={"counts": [1], "variants": ["unclipped"], "trials": 2},
    )  # fmt: skip
    return dp_pca_table(settings)


PCA_PRINTED = pd.DataFrame(
    {
        "noise": ["gaussian", "laplace"], "scheme": ["iid", "inid"], "epsilon": ["1", "8"],
        "column": "sre", "printed": [0.4, 0.3], "half_unit": 0.05, "verdict": "differs",
    }
)  # fmt: skip


def pca_points(axes):
    offsets = [c.get_offsets() for c in axes.collections if len(c.get_offsets())]
    return {tuple(np.round(p, 9)) for offset in offsets for p in np.asarray(offset)}


def test_every_variant_has_its_line_of_points(table):
    figure = table_3(table, PCA_PRINTED)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    words = [label.get_text() for label in axes.get_yticklabels()]
    groups = table.drop_duplicates(["noise", "scheme", "reading"])
    expected = [
        VARIANTS[name]
        for key, rows in groups.groupby(["noise", "scheme"], sort=False)
        for name in VARIANTS if name in set(rows["reading"])
    ]  # fmt: skip
    assert words == expected
    drawn = pca_points(axes)
    assert len({x for x, _ in drawn}) == table["sre"].round(9).nunique()
    assert len(drawn) == len(table)
    bars = [line for line in axes.get_lines() if len(set(line.get_xdata())) == 1]
    assert sorted(line.get_xdata()[0] for line in bars) == [0.3, 0.4]


def test_what_is_private_is_told_apart(table):
    noises = ["Gaussian noise", "Laplace noise"]
    words = [text.get_text() for text in table_3(table).legends[0].get_texts()]
    assert words == ["private if a sample is added or removed", "not private", *noises]
    alone = table[table["reading"] == "add-remove"].reset_index(drop=True)
    words = [text.get_text() for text in table_3(alone, PCA_PRINTED).legends[0].get_texts()]
    printed = ["printed", "printed, at the noise that gives it"]
    assert words == ["private if a sample is added or removed", *noises, *printed]


def test_errors_stand_at_their_noise(table):
    drawn = pca_points(table_3(table, PCA_PRINTED).axes[1])
    own = table[~table["reading"].str.startswith("stated") & (table["reading"] != "unclipped")]
    expected = own[["off_diagonal", "sre"]].round(9)
    assert {tuple(row) for row in expected.to_numpy()} <= drawn
    assert {0.4, 0.3} <= {y for _, y in drawn}  # the printed errors, at the noise of the curve


BUDGETS = [("gaussian", 1e-5, 5.0), ("gaussian", 1e-5, 8.0), ("laplace", 0.0, 8.0)]


@pytest.fixture(scope="module")
def tables():
    """Accuracies that all differ, and three networks for each."""
    cells = [(*budget, scheme) for budget in BUDGETS for scheme in DEEP_SCHEMES]
    rows, runs = [], {}
    for k, cell in enumerate([("none", 0.0, math.inf, "none"), *cells]):
        accuracy = 97.25 - 5.5 * k
        head = dict(zip(["noise", "delta", "epsilon", "scheme"], cell, strict=True))
        numbers = {"repetitions": 3, "accuracy": accuracy, "accuracy_se": 0.5 + 0.1 * k}
        rows.append(head | {"data_note": math.nan} | numbers)
        runs[str(k)] = pd.DataFrame(
            [head | {"phase": "report", "epoch": 2, "accuracy": accuracy + d} for d in (-1, 0, 1)]
        )
    return pd.DataFrame(rows), runs


def test_every_cell_is_drawn_with_the_interval_of_the_verdict(tables):
    table, runs = tables
    figure = accuracy_by_scheme(table, runs)
    figure.draw_without_rendering()
    assert len(figure.axes) == 2  # one for each noise and delta
    bars = [bar for axes in figure.axes for bar in axes.containers]
    means = sorted(y for bar in bars for y in bar.lines[0].get_ydata())
    private = table[table["noise"] != "none"]
    assert means == sorted(private["accuracy"])
    lengths = sorted(
        float(segment[1, 1] - segment[0, 1])
        for bar in bars
        for segment in bar.lines[2][0].get_segments()
    )
    wide = 2 * t.ppf(0.995, private["repetitions"] - 1) * private["accuracy_se"]
    assert lengths == pytest.approx(sorted(wide))


def test_the_axis_of_each_noise_holds_its_networks_and_the_nearest_guide(tables):
    figure = accuracy_by_scheme(*tables)
    gaussian, laplace = figure.axes
    for axes, guide in ((gaussian, 97.25), (laplace, 10.0)):
        low, high = axes.get_ylim()
        heights = [y for line in axes.lines for y in line.get_ydata()]
        assert guide in heights
        assert low < min(heights) and max(heights) < high  # noqa: PT018
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"no clipping, no noise (97.2 %)", "guessing (10 %)"} < set(labels)
    assert {f"optimal i.n.i.d., {noise} noise" for noise in ("Gaussian", "Laplace")} < set(labels)


def test_a_cell_that_was_not_trained_is_left_out(tables):
    table, runs = tables
    accuracy_by_scheme(table.iloc[:3], dict(list(runs.items())[:3]))
    accuracy_by_scheme(table.iloc[:0], {"0": runs["0"].iloc[:0]})


def test_the_page_has_every_accuracy(tables):
    table, _ = tables
    text = accuracies(table)
    for row in table.to_dict("records"):
        assert f"{row['accuracy']:.2f} +- {row['accuracy_se']:.2f}" in text
    assert text.count("\n|") == 1 + len(BUDGETS)


def test_other_data_than_the_papers_are_named_on_both(tables):
    table, runs = tables
    assert "Other data" not in accuracies(table)
    lossy = table.assign(data_note="lossy copy")
    assert accuracies(lossy).endswith("Other data than the paper's: lossy copy.\n")
    assert "lossy copy" in accuracy_by_scheme(lossy, runs).axes[0].get_ylabel()


PRINTED = pd.DataFrame(
    {
        "dataset": "california",
        "protocol": ["printed", "printed", "fresh"],
        "scheme": ["spr", "optimal", "spr"],
        "passes": ["3", "3", "1"],
        "printed": [0.0188, 0.0045, 0.2],
    }
)
ONE = settings(documented={"california": {"as-is": ["a", "b", "c"]}}, random=4)
PAPER = pd.DataFrame(
    {
        "dataset": "california",
        "protocol": "printed",
        "scheme": ["spr", "optimal"],
        "printed": [0.02, 0.01],
    }
)


def words(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def points(panel):
    """Return all points of scatters, rounded, as a set."""
    offsets = [part.get_offsets() for part in panel.collections if len(part.get_offsets())]
    return {tuple(np.round(point, 9)) for part in offsets for point in np.asarray(part)}


@pytest.fixture(scope="module")
def orders_table():
    return experiment(ONE, dataset())[0]


def drawn(panel):
    """Return the lines of a panel that have several points, as tuples of their heights."""
    return {tuple(line.get_ydata()) for line in panel.get_lines() if len(line.get_ydata()) > 1}


def colour_at(panel, point):
    """Return the colour of the scatter with a point at this place."""
    for part in panel.collections:
        if any(np.allclose(place, point) for place in np.asarray(part.get_offsets())):
            return tuple(np.round(part.get_facecolor()[0][:3], 3))
    return None


def test_a_curve_ends_at_the_number_that_is_judged(orders_table):
    # the first order's errors are planted outside the band of the random ones
    outside = 3.0 * orders_table["error"].where(orders_table["order"] == "as-is")
    table = orders_table.assign(error=outside.fillna(orders_table["error"]))
    (panel,) = descent_paths(table, PRINTED).axes
    searched = table[table["protocol"] == "printed"]
    expected = set()
    for scheme in SCHEMES:
        own = searched[(searched["scheme"] == scheme) & (searched["order"] == "as-is")]
        expected.add(tuple(own["error"]))
        judged = spread(table).query(
            f"scheme == '{scheme}' and protocol == 'printed' and passes == 3"
        )
        assert own["error"].iloc[-1] == judged["error"].iloc[0]
    assert drawn(panel) == expected
    bands = [part.get_paths()[0].vertices[:, 1] for part in panel.collections
             if isinstance(part, FillBetweenPolyCollection)]  # fmt: skip
    assert len(bands) == 2
    random = searched[searched["order"].str.startswith("random")]
    for scheme, band in zip(SCHEMES, bands, strict=True):
        own = random.loc[random["scheme"] == scheme, "error"]
        assert (band.min(), band.max()) == pytest.approx((own.min(), own.max()))


def test_each_printed_star_has_the_colour_of_its_scheme_and_everything_is_in_the_key(orders_table):
    figure = descent_paths(orders_table, PRINTED)
    (panel,) = figure.axes
    assert {(3.0, 0.0188), (3.0, 0.0045), (1.0, 0.2)} <= points(panel)
    for point, scheme in (((3.0, 0.0188), "spr"), ((3.0, 0.0045), "optimal")):
        colour = tuple(np.round(to_rgb(SCHEMES[scheme]["color"]), 3))
        assert colour_at(panel, point) == colour
    assert set(words(figure)) == {
        *(look["label"] for look in SCHEMES.values()), *LABELS.values(), "DP-CD of Mangold et al.",
        "columns in random orders",
    }  # fmt: skip
    assert [text.get_text() for text in panel.texts] == ["strong lines: columns in as-is order"]
    other = orders_table.replace({"order": {"random-1": "cal-housing"}})
    assert "columns in cal_housing's order" in words(descent_paths(other, PRINTED))


def test_paths_without_printed_numbers_or_data(orders_table, tmp_path):
    assert not set(LABELS.values()) & set(words(descent_paths(orders_table, PRINTED[:0])))
    figure = descent_paths(pd.DataFrame(columns=ORDERS_COLUMNS), PRINTED)
    assert save(figure, tmp_path / "empty")[0].stat().st_size > 0


def test_each_order_is_a_point_and_spr_is_sorted(orders_table, tmp_path):
    figure = descent_orders(orders_table, PAPER)
    (panel,) = figure.axes
    last = orders_table[(orders_table["protocol"] == "printed") & (orders_table["passes"] == 3)]
    points = [part.get_offsets() for part in panel.collections if len(part.get_offsets()) == 5]
    drawn = {tuple(sorted(np.asarray(part)[:, 1])) for part in points}
    assert drawn == {tuple(sorted(own["error"])) for _, own in last.groupby("scheme")}
    spr = np.asarray(points[0])[:, 1]
    assert (np.diff(spr) >= 0).all()
    assert [text.get_text() for text in panel.get_xticklabels()] == ["as-is"]
    assert {0.02, 0.01} <= {line.get_ydata()[0] for line in panel.get_lines()}
    words = {text.get_text() for text in figure.legends[0].get_texts()}
    assert words == {look["label"] for look in SCHEMES.values()} | set(LABELS.values())
    assert all(path.stat().st_size for path in save(figure, tmp_path / "orders"))


def test_a_table_without_rows_is_an_empty_figure(orders_table):
    assert len(descent_orders(orders_table.iloc[:0], PAPER).axes) == 1
