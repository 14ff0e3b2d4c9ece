"""DP-CD curves of the slides: one panel per data set, best error against passes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from dpnoise_papers.claims.interval import reach
from dpnoise_papers.descent.names import MECHANISMS, title
from dpnoise_papers.style import GREY, PAGE, house_style, legend_below, look, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# The tight account is the same noise family as the Gaussian: its colour, another marker. Where
# flipped Huber noise *is* Gaussian noise its dashes lie on the Gaussian's line and both show.
LOOKS = {
    "gaussian": {**look("gaussian"), "marker": "o", "zorder": 2},
    "flipped-huber": {**look("flipped-huber"), "marker": "o", "zorder": 3},
    "gaussian-tight": {**look("gaussian"), "marker": "v", "zorder": 2},
}
COLUMNS = 4


def descent_curves(table: pd.DataFrame) -> Figure:
    """Draw the smallest NMSE of each mechanism against the number of passes.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.descent_curves.descent_curves` returns it;
        bars are 99 % intervals.
    """
    datasets = sorted(set(table["dataset"]))
    rows = max(1, math.ceil(len(datasets) / COLUMNS))
    with house_style():
        figure = new_figure(PAGE, 0.4 + 1.7 * rows)
        panels = figure.subplots(rows, COLUMNS, sharex=True, squeeze=False).ravel()
        for panel in panels[len(datasets) :]:
            panel.set_visible(False)
        for panel, dataset in zip(panels, datasets, strict=False):
            here = table[table["dataset"] == dataset]
            for mechanism, curve in here.groupby("mechanism", sort=False):
                panel.errorbar(
                    curve["passes"], curve["nmse"], yerr=reach(curve, "nmse"),
                    markersize=3, elinewidth=0.6, label=MECHANISMS[mechanism], **LOOKS[mechanism],
                )  # fmt: skip
            panel.set_title(title(dataset))
            panel.set_xscale("log")
            panel.set_ylim(0, None)
            panel.yaxis.set_major_locator(MaxNLocator(4))
            ticks = sorted(set(table["passes"]))
            panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
            panel.minorticks_off()
            panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
        for place, panel in enumerate(panels[: len(datasets)]):
            if place % COLUMNS == 0:
                panel.set_ylabel("best NMSE")
            if place >= len(datasets) - COLUMNS:
                panel.set_xlabel("passes")
                panel.tick_params(labelbottom=True)
        if datasets:
            legend_below(figure)
    return figure
