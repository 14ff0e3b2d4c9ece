"""Theorem 7: its claim and the true ratios are drawn."""

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.figures.theorem_7 import theorem_7
from dpnoise_papers.style import COLOURS


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
