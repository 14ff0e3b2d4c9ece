"""Crossovers, approximate Laplace noise and Theorem 7: what the tables hold is drawn."""

import math

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.figures.laplace import approximate_laplace, crossovers, theorem_7
from dpnoise_papers.style import COLOURS


def test_crossovers_have_a_line_per_delta_and_marks_for_never():
    rows = [
        (name, e, d, math.nan if name == "exponential" and d < 1e-5 else 3.0 + e)
        for name in ("uniform", "exponential")
        for d in (1e-3, 1e-6)
        for e in (0.1, 1.0, 10.0)
    ]
    table = pd.DataFrame(rows, columns=["profile", "epsilon", "delta", "crossover"])
    one, two = crossovers(table).axes
    assert [axes.get_title(loc="left") for axes in (one, two)] == ["uniform", "exponential"]
    marks = [[len(line.get_xdata()) for line in axes.get_lines() if line.get_marker() == "^"]
             for axes in (one, two)]  # fmt: skip
    assert [max(m) for m in marks] == [0, 3]


def test_approximate_laplace_has_both_accounts_and_its_limit():
    rows = [
        ("uniform", k, d, 10.0 * np.log10(k), 3.0)
        for d in (1e-3, 1e-6)
        for k in (1, 10, 100)
    ]  # fmt: skip
    columns = ["profile", "dimension", "delta", "over_gaussian_pure_db", "over_gaussian_exact_db"]
    figure = approximate_laplace(pd.DataFrame(rows, columns=columns))
    assert len(figure.axes) == 2
    for axes in figure.axes:
        drawn = {tuple(np.round(line.get_ydata(), 9)) for line in axes.get_lines()}
        assert {(0.0, 10.0, 20.0), (3.0, 3.0, 3.0)} <= drawn
        limit = round(10 * math.log10(2), 9)
        assert (limit, limit) in drawn


def test_theorem_7_shows_claim_and_truth():
    table = pd.DataFrame(
        {"profile": ["linear", "block", "outlier"], "nu": [0.5, 0.1, 0.01],
         "gaussian": [0.8, 0.1, 0.9], "laplace": [0.9, 0.1, 0.95]}
    )  # fmt: skip
    figure = theorem_7(table)
    for axes, noise in zip(figure.axes, ("gaussian", "laplace"), strict=True):
        claim = axes.get_lines()[0]
        assert np.allclose(claim.get_ydata(), claim.get_xdata() ** 2)
        points = [line for line in axes.get_lines() if line.get_color() == COLOURS[noise]]
        shown = sorted(float(y) for line in points for y in line.get_ydata())
        assert shown == sorted(table[noise])
