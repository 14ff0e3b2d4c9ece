"""A picture of the counterexample to Lemma 7 of flipped-huber-2023, drawn from its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.style import house_style, legend_below, look, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLOOR = 1e-14  # what is smaller leaves the picture
_BOUND = "#000000"


@house_style()
def lemma_7(table: pd.DataFrame) -> Figure:
    """Both sides of Lemma 7 against the size of the difference of two neighbours.

    One panel per dimension. The lemma fails where the curve runs below the black line.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.theory.counterexamples.lemma_7` returns it.
    """
    panels = list(table.groupby("dimension"))
    figure, (axes,) = page(1, len(panels), height=3.1, sharey=True)
    for panel, (dimension, rows) in zip(axes, panels, strict=True):
        _draw(panel, rows)
        panel.set_title(f"K = {dimension}")
        panel.set_xlabel(r"$\|d\|_2\,/\,\Delta_2$")
    first = table.iloc[0]
    axes[0].set_ylabel("probability, logarithmic")
    axes[0].set_ylim(_FLOOR, 1)
    values = rf"$\alpha={first['alpha']:g},\ \gamma={first['gamma']:g},"
    values += rf"\ \epsilon={first['epsilon']:g}$"
    noise = f"flipped Huber noise, {values}, $\\Delta=1$, all entries of $d$ equal"
    legend_below(figure, title=noise)
    return figure


def _draw(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the probability, the bound and the stretch between them."""
    x, right = rows["norm_ratio"].to_numpy(), rows["right"].to_numpy()
    left = np.maximum(rows["left"].to_numpy(), _FLOOR / 10)
    axes.plot(
        x, left, **look("flipped-huber"),
        label=r"probability that the affine loss is at most $-\epsilon$",
    )  # fmt: skip
    axes.plot(x, right, color=_BOUND, linewidth=1, label="lower bound that Lemma 7 claims")
    axes.fill_between(
        x, left, right, where=left < right, color=_BOUND, alpha=0.12, linewidth=0,
        label="the lemma is false here",
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlim(x[0], x[-1])
