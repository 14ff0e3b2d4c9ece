"""Figures 5 and 6 of inid-2024 for many orders of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator

from dpnoise_papers.claims.interval import ends
from dpnoise_papers.inid_2024.figures.improved_descent import SCHEMES, TITLES
from dpnoise_papers.style import GREY, PAGE, house_style, legend_below, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {
    "spr": {"color": SCHEMES["spr"]["color"], "marker": "o", "label": "SPR (usual DP-CD)"},
    "spr-half": {
        "color": SCHEMES["spr"]["color"], "marker": "o", "facecolors": "white",
        "label": "SPR, half the noise: not private",
    },
    "optimal": {"color": SCHEMES["optimal"]["color"], "marker": "s", "label": "optimal"},
}  # fmt: skip
PRINTED = {"spr": "printed, DP-CD", "optimal": "printed, improved DP-CD"}
_BELOW = 4.0  # times, how far the axis goes below the smallest error; bars may be cut there
_PERCENT = FuncFormatter(lambda value, _: f"{100 * value:g} %")


def descent_orders(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the error after the last pass for every order of the columns, sorted by SPR's.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_variants.descent_orders`, all data
        sets together; drawn by the protocol 'printed', with 99 % intervals.
    printed : DataFrame
        The numbers of Figures 5 and 6: lines.
    """
    shown = table[table["protocol"] == "printed"]
    datasets = sorted(set(shown["dataset"]))
    with house_style():
        figure = new_figure(PAGE, 3.4)
        panels = figure.subplots(1, max(1, len(datasets)), squeeze=False)[0]
        for panel, dataset in zip(panels, datasets, strict=False):
            here = shown[shown["dataset"] == dataset]
            last = here[here["passes"] == here["passes"].max()]
            _orders(panel, last)
            if len(printed):
                _lines(panel, printed[printed["dataset"].astype(str) == dataset])
            panel.set_title(f"{TITLES.get(dataset, dataset)}, raw features")
        if datasets:
            panels[0].set_ylabel("relative error of the objective,\nafter the last pass")
            legend_below(figure)
    return figure


def _orders(panel: Axes, rows: pd.DataFrame) -> None:
    """Draw one point per order and scheme; documented orders are named."""
    errors = rows.pivot_table("error", "order", "scheme")
    table = rows.assign(low=ends(rows, "error")[0], high=ends(rows, "error")[1])
    low, high = (table.pivot_table(end, "order", "scheme") for end in ("low", "high"))
    names = list(errors["spr"].sort_values().index)
    places = np.arange(len(names))
    for scheme, look in LOOKS.items():
        values = errors.loc[names, scheme]
        bars = [values - low.loc[names, scheme], high.loc[names, scheme] - values]
        panel.errorbar(places, values, yerr=bars, fmt="none", ecolor=look["color"], elinewidth=0.6)
        style = {key: look[key] for key in ("marker", "label")}
        faces = look.get("facecolors", look["color"])
        panel.scatter(
            places, values, s=16, facecolors=faces, edgecolors=look["color"], linewidths=0.9,
            zorder=3, **style,
        )  # fmt: skip
    documented = [place for place in range(len(names)) if not names[place].startswith("random-")]
    panel.set_xticks(documented, [names[place] for place in documented], rotation=30, ha="right")
    panel.set_xlabel(f"{len(names)} orders of the columns, by SPR's error")
    panel.set_yscale("log")
    panel.set_ylim(max(panel.get_ylim()[0], errors.to_numpy().min() / _BELOW), None)
    panel.yaxis.set_major_formatter(_PERCENT)
    panel.yaxis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0)))
    panel.yaxis.set_minor_formatter("")
    panel.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.5)


def _lines(panel: Axes, rows: pd.DataFrame) -> None:
    for scheme, label in PRINTED.items():
        chosen = (rows["protocol"] == "printed") & (rows["scheme"] == scheme)
        for value in rows.loc[chosen, "printed"]:
            panel.axhline(
                value, color=SCHEMES[scheme]["color"], linewidth=0.9, label=label, zorder=1,
                linestyle=SCHEMES[scheme]["linestyle"],
            )  # fmt: skip
