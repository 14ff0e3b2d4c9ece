"""Figures and page of Table IV: every cell is on them, with its noise and its error."""

import math

import pandas as pd
import pytest
from scipy.stats import t

from dpnoise_papers.inid_2024.figures.table_4 import (
    SCHEMES,
    accuracies,
    accuracy_by_scheme,
)

BUDGETS = [("gaussian", 1e-5, 5.0), ("gaussian", 1e-5, 8.0), ("laplace", 0.0, 8.0)]


@pytest.fixture(scope="module")
def tables():
    """Accuracies that all differ, and three networks for each."""
    cells = [(*budget, scheme) for budget in BUDGETS for scheme in SCHEMES]
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
