"""A picture of the counterexample to Lemma 7 of flipped-huber-2023, drawn from its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.style import COLOURS, GREY, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLOOR = 1e-14  # what is smaller leaves the picture
_BOUND = COLOURS["laplace"]


def lemma_7(table: pd.DataFrame) -> Figure:
    """Draw both sides of Lemma 7 against the size of the difference of two neighbours.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.theory.counterexamples.lemma_7` returns it.

    Returns
    -------
    Figure
        One panel per dimension. The lemma fails where the curve runs below the dashed line.
    """
    panels = list(table.groupby("dimension"))
    with house_style():
        figure = new_figure(PAGE, 2.7)
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for place, (panel, (dimension, rows)) in enumerate(zip(axes, panels, strict=True)):
            _draw(panel, rows, labels=place == 0)
            panel.set_title(f"K = {dimension}")
            panel.set_xlabel(r"$\|d\|_2\,/\,\Delta_2$")
        first = table.iloc[0]
        axes[0].set_ylabel("probability, logarithmic")
        axes[0].set_ylim(_FLOOR, 1)
        values = rf"$\alpha={first['alpha']:g},\ \gamma={first['gamma']:g},"
        values += rf"\ \epsilon={first['epsilon']:g}$"
        axes[-1].annotate(
            f"flipped Huber noise, {values}\n$\\Delta=1$, all entries of $d$ equal",
            (0.98, 0.04), xycoords="axes fraction", ha="right", color=GREY, fontsize=7,
        )  # fmt: skip
    return figure


def _draw(axes: Axes, rows: pd.DataFrame, *, labels: bool) -> None:
    """Draw one panel: the probability, the bound and the stretch between them."""
    x, right = rows["norm_ratio"].to_numpy(), rows["right"].to_numpy()
    left = np.maximum(rows["left"].to_numpy(), _FLOOR / 10)
    axes.fill_between(x, left, right, where=left < right, color=_BOUND, alpha=0.12, linewidth=0)
    axes.plot(x, left, color=COLOURS["flipped-huber"])
    axes.plot(x, right, color=_BOUND, linestyle="--")
    axes.set_yscale("log")
    axes.set_xlim(x[0], x[-1])
    if labels:
        axes.annotate(
            "lower bound that Lemma 7 claims for it", (x[0], right[0]), (4, 4),
            textcoords="offset points", color=_BOUND,
        )  # fmt: skip
        middle = int(np.argmin(np.abs(np.log(left) - np.log(1e-8))))
        axes.annotate(
            "exact probability that the\naffine loss is at most $-\\epsilon$",
            (x[middle], left[middle]), (8, 0), textcoords="offset points", va="top",
            color=COLOURS["flipped-huber"],
        )  # fmt: skip
        axes.annotate(
            "the lemma is false here", (x[0], right[0]), (4, -14), textcoords="offset points",
            color=_BOUND, fontweight="bold",
        )  # fmt: skip
