"""Theorem 7 of inid-2024 beside the true range of the gain of optimal noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from dpnoise_papers.style import COLOURS, GREY, NAMES, house_style, legend_below, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_FAMILIES = {
    "linear": ("linear", "^"),
    "quadratic": ("quadratic", "s"),
    "exponential": ("exponential", "D"),
    "block": ("equal or absent", "_"),
    "outlier": ("one large, many small", "|"),
}


@house_style()
def theorem_7(table: pd.DataFrame) -> Figure:
    """Ratio of the errors against nu, between what is true and what is claimed."""
    nu = np.geomspace(table["nu"].min(), 1.0, 60)
    figure, panels = page(1, 2, height=3.2, sharex=True, sharey=True)
    for panel, noise in zip(panels[0], ("gaussian", "laplace"), strict=True):
        panel.fill_between(nu, nu, 1.0, color=GREY, alpha=0.15, linewidth=0,
                           label=r"possible: $\nu \leq$ ratio $\leq 1$")  # fmt: skip
        panel.plot(nu, nu**2, color="black", linestyle=(0, (4, 1.5)), linewidth=1.0,
                   label=r"$\nu^2$, Theorem 7")  # fmt: skip
        for name, (_, marker) in _FAMILIES.items():
            rows = table[table["profile"] == name]
            panel.plot(rows["nu"], rows[noise], linestyle="none", marker=marker, markersize=4,
                       color=COLOURS[noise], markerfacecolor="none")  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(r"$\nu$, mean over largest sensitivity")
        panel.set_title(NAMES[noise])
        panel.grid()
    panels[0, 0].set_ylabel("mean squared error of optimal\nover i.i.d. noise")
    panels[0, 0].set_xlim(0.8 * nu[0], 1.25)
    panels[0, 0].set_ylim(max(nu[0] ** 2, 1e-6), 1.5)
    regions, _ = panels[0, 0].get_legend_handles_labels()
    look: dict[str, Any] = {
        "color": "black",
        "linestyle": "none",
        "markersize": 4,
        "markerfacecolor": "none",
    }
    marks = [Line2D([], [], marker=m, label=words, **look) for words, m in _FAMILIES.values()]
    legend_below(figure, [*regions, *marks])
    return figure
