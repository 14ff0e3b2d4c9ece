"""Halvings of Algorithm 1 of inid-2024 over epsilon and delta, and where it has no bracket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.patches import Patch

from dpnoise_papers.style import GREY, cell_edges, house_style, legend_below, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_NONE = "#D9B48F"
_PANELS = {
    "iterations": "as printed, absolute tolerance",
    "repaired_iterations": "valid bracket, relative tolerance",
}


@house_style()
def bisection(table: pd.DataFrame) -> Figure:
    """Number of halvings of the bracket by either version of Algorithm 1.

    In the brown region the printed algorithm gives nothing; the vertical axis is even in the log
    odds of delta.
    """
    largest = int(table[list(_PANELS)].to_numpy().max())
    levels = np.arange(0, largest + 6, 5)
    figure, panels = page(1, 2, height=3.4, sharex=True, sharey=True)
    for panel, (column, words) in zip(panels[0], _PANELS.items(), strict=True):
        values = table[column].astype(float)
        if column == "iterations":
            values = values.where(table["outcome"] != "none")
        grid = table.assign(shown=values).pivot_table(
            index="delta", columns="epsilon", values="shown", dropna=False
        )
        delta, epsilon = grid.index.to_numpy(), grid.columns.to_numpy()
        x, odds = np.exp(cell_edges(np.log(epsilon))), cell_edges(np.log(delta) - np.log1p(-delta))
        panel.set_facecolor(_NONE)
        mesh = panel.pcolormesh(
            x, odds / np.log(10.0), np.ma.masked_invalid(grid.to_numpy()), cmap="Blues",
            norm=BoundaryNorm(levels, 256), rasterized=True,
        )  # fmt: skip
        panel.set_xscale("log")
        panel.set_xlim(x[0], x[-1])
        panel.set_xlabel(r"$\epsilon$")
        panel.set_title(words)
    ticks = [t for t in (-16, -12, -8, -4, 0, 3, 6) if odds[0] <= t * np.log(10) <= odds[-1]]
    panels[0, 0].set_yticks(ticks, [_name(t) for t in ticks])
    panels[0, 0].set_ylabel(r"$\delta$")
    figure.colorbar(mesh, ax=list(panels[0])).set_label("halvings of the bracket")
    words = "no upper end: $\\delta' \\geq 1$, or $e^\\epsilon$ overflows"
    legend_below(figure, [Patch(facecolor=_NONE, edgecolor=GREY, linewidth=0.5, label=words)])
    return figure


def _name(power: int) -> str:
    """Text for the delta whose odds are 10^power."""
    if power == 0:
        return "0.5"
    return f"$10^{{{power}}}$" if power < 0 else f"$1 - 10^{{-{power}}}$"
