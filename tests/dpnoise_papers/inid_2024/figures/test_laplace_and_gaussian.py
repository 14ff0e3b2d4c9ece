"""Laplace beside Gaussian noise: what the tables hold is drawn."""

import math

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.figures.laplace_and_gaussian import (
    approximate_laplace,
    crossovers,
    laplace_and_gaussian,
)


def test_the_comparison_marks_the_first_loss_or_says_never():
    rows = [
        (noise, "optimal", name, k, 10.0 if noise == "gaussian" else level(k))
        for name, level in (("uniform", lambda k: 5.0 + k), ("exponential", lambda _: 7.0))
        for noise in ("gaussian", "laplace")
        for k in range(1, 9)
    ]
    table = pd.DataFrame(rows, columns=["noise", "scheme", "profile", "dimension", "mse_db"])
    one, two = laplace_and_gaussian(table).axes
    assert "from $K = 6$" in one.texts[0].get_text()
    assert "every" in two.texts[0].get_text()


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
