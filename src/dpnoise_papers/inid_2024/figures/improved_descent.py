"""Figures 5 and 6 of inid-2024, and their ends in every order of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator

from dpnoise_papers.claims.interval import ends, reach
from dpnoise_papers.style import COLOURS, GREY, house_style, legend_below, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As in Figures 1 and 3: grey SPR, optimal in the colour of the noise, the Gaussian.
SCHEMES: dict[str, dict[str, Any]] = {
    "spr": {
        "color": GREY, "linestyle": "-", "marker": "o", "label": "SPR (usual DP-CD)",
    },
    "optimal": {
        "color": COLOURS["gaussian"], "linestyle": (0, (4, 1.8)), "marker": "s",
        "label": "optimal",
    },
}  # fmt: skip
TITLES = {"california": "California, LASSO", "electricity": "Electricity, logistic"}
_PERCENT = FuncFormatter(lambda value, _: f"{100 * value:g} %")
PRINTED = {"spr": "printed, DP-CD", "optimal": "printed, improved DP-CD"}
ORDERS = {"scikit-learn": "scikit-learn's", "cal-housing": "cal_housing's", "openml": "OpenML's"}
_BELOW = 4.0  # times, how far the axis goes below the smallest error; bars may be cut there


def _percent_axis(axis: Axes, subs: tuple[float, ...] = (1.0,)) -> None:
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter(_PERCENT)
    axis.yaxis.set_major_locator(LogLocator(10, subs))
    axis.yaxis.set_minor_formatter("")
    axis.grid(color=GREY, alpha=0.2, linewidth=0.5)


@house_style()
def descent_paths(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the relative error against passes by the protocol 'printed', with 99 % intervals.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_orders.descent_orders`: a strong
        line for the first documented order of the columns, which the claims judge, thin ones for
        the others, and a band for the random ones.
    printed : DataFrame
        The paper's numbers, each in the colour of its scheme, and those read off the figures of
        Mangold et al.
    """
    figure, panels = page(height=3.1)
    panel = panels[0, 0]
    shown = table[table["protocol"] == "printed"]
    if len(shown):
        key = _in_orders(panel, shown)
        if len(printed):
            key |= _printed(panel, printed)
        _percent_axis(panel)
        name = str(shown["dataset"].iloc[0])
        panel.set_title(f"{TITLES.get(name, name)}, raw features")
        panel.set_xlabel("passes over the data")
        panel.set_ylabel("relative error of the objective")
        for words, artist in key.items():
            artist.set_label(words)
        legend_below(figure, list(key.values()))
    return figure


def _in_orders(panel: Axes, table: pd.DataFrame) -> dict[str, Artist]:
    """Draw every scheme in documented orders of the columns, and the band of random ones.

    Entries of the key are returned: strong lines by scheme, then what the others are.
    """
    key: dict[str, Artist] = {}
    beside: dict[str, Artist] = {}
    first = ""
    thin: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (1, 1))}
    for scheme, look in SCHEMES.items():
        own = table[table["scheme"] == scheme]
        random = own["order"].str.startswith("random-")
        first, *others = dict.fromkeys(own["order"][~random]) or [own["order"].iloc[0]]
        key[look["label"]] = _path(panel, own[own["order"] == first], scheme)
        for name in others:
            line = own[own["order"] == name]
            panel.plot(line["passes"], line["error"], color=look["color"], **thin)
            words = f"columns in {ORDERS.get(name, name)} order"
            beside[words] = Line2D([], [], color=GREY, **thin)
        if random.any():
            band = own[random].groupby("passes")["error"].agg(["min", "max"])
            panel.fill_between(
                band.index, band["min"], band["max"], color=look["color"], alpha=0.15, linewidth=0
            )
            beside["columns in random orders"] = Patch(color=GREY, alpha=0.15, linewidth=0)
    words = f"strong lines: columns in {ORDERS.get(first, first)} order"
    panel.text(0.03, 0.05, words, transform=panel.transAxes, color=GREY)
    return key | beside


def _path(panel: Axes, run: pd.DataFrame, scheme: str) -> Artist:
    """Draw one run against its passes, with 99 % intervals as far as they are above 0."""
    down, up = reach(run, "error")
    down = np.minimum(down, (1.0 - 1.0 / _BELOW) * run["error"])
    look = {key: SCHEMES[scheme][key] for key in ("color", "linestyle")}
    panel.errorbar(run["passes"], run["error"], yerr=[down, up], elinewidth=0.7, **look)
    return Line2D([], [], **look)


def _printed(panel: Axes, rows: pd.DataFrame) -> dict[str, Artist]:
    """Mark the paper's numbers by their scheme, and those of the figures of Mangold et al."""
    key: dict[str, Artist] = {}
    for scheme, label in PRINTED.items():
        own = rows[(rows["protocol"] == "printed") & (rows["scheme"] == scheme)]
        if len(own):
            key[label] = panel.scatter(
                own["passes"].astype(float), own["printed"], s=60, marker="*", zorder=4,
                color=SCHEMES[scheme]["color"], edgecolors="#000000", linewidths=0.7,
            )  # fmt: skip
    theirs = rows[rows["protocol"] == "fresh"]
    if len(theirs):
        key["DP-CD of Mangold et al."] = panel.scatter(
            theirs["passes"].astype(float), theirs["printed"], s=18, marker="x", color="#000000",
            linewidths=0.8, zorder=4,
        )  # fmt: skip
    return key


@house_style()
def descent_orders(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the error after the last pass for every order of the columns, sorted by SPR's.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_orders.descent_orders`, all data
        sets together; drawn by the protocol 'printed', with 99 % intervals.
    printed : DataFrame
        The numbers of Figures 5 and 6: lines.
    """
    shown = table[table["protocol"] == "printed"]
    datasets = sorted(set(shown["dataset"]))
    figure, panels = page(1, max(1, len(datasets)), height=3.4)
    for panel, dataset in zip(panels[0], datasets, strict=False):
        here = shown[shown["dataset"] == dataset]
        _orders(panel, here[here["passes"] == here["passes"].max()])
        if len(printed):
            _lines(panel, printed[printed["dataset"].astype(str) == dataset])
        panel.set_title(f"{TITLES.get(dataset, dataset)}, raw features")
    if datasets:
        panels[0, 0].set_ylabel("relative error of the objective,\nafter the last pass")
        legend_below(figure)
    return figure


def _orders(panel: Axes, rows: pd.DataFrame) -> None:
    """Draw one point per order and scheme; documented orders are named."""
    errors = rows.pivot_table("error", "order", "scheme")
    table = rows.assign(low=ends(rows, "error")[0], high=ends(rows, "error")[1])
    low, high = (table.pivot_table(end, "order", "scheme") for end in ("low", "high"))
    names = list(errors["spr"].sort_values().index)
    places = np.arange(len(names))
    for scheme, look in SCHEMES.items():
        values = errors.loc[names, scheme]
        bars = [values - low.loc[names, scheme], high.loc[names, scheme] - values]
        panel.errorbar(places, values, yerr=bars, fmt="none", ecolor=look["color"], elinewidth=0.6)
        panel.scatter(
            places, values, s=16, color=look["color"], linewidths=0.9, zorder=3,
            marker=look["marker"], label=look["label"],
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
    """Draw the printed numbers of one data set as lines."""
    for scheme, label in PRINTED.items():
        chosen = (rows["protocol"] == "printed") & (rows["scheme"] == scheme)
        for value in rows.loc[chosen, "printed"]:
            panel.axhline(
                value, color=SCHEMES[scheme]["color"], linewidth=0.9, label=label, zorder=1,
                linestyle=SCHEMES[scheme]["linestyle"],
            )  # fmt: skip
