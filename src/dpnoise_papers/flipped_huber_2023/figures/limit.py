"""Excess of every mechanism over the limit of additive noise, drawn and in words.

The figure has one column for each delta; the page tells where each mechanism is within 1 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    PLAIN,
    house_style,
    legend_below,
    look,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR = 0.1  # per cent; the limit is hardly anywhere known better
_SHORT = {"offset-symmetric-gaussian": "OSGT", "truncated-laplace": "trunc. Laplace"}
_SHOWN = (0.0, 1e-6)  # pure privacy and the paper's delta; all others are in the supplement
COSTS = {"variance": "variance", "mean-abs": "mean absolute error"}
_ENDS = ["mechanism", "epsilon_from", "epsilon_to"]
_OPENING = (
    "One dimension, sensitivity 1, replace-one neighbours. The bounds, and how far each mechanism "
    "is from them, are in `limit.csv`."
)


def limit(table: pd.DataFrame) -> Figure:
    """Excess over the limit for pure privacy and the paper's delta, drawn by `excess`."""
    shown = table[table["delta"].isin(_SHOWN)]
    return excess(table if shown.empty else shown)


def limit_supplement(table: pd.DataFrame) -> Figure:
    """Excess over the limit for all other deltas, drawn by `excess`."""
    rest = table[~table["delta"].isin(_SHOWN)]
    return excess(table if rest.empty else rest)


@house_style()
def excess(table: pd.DataFrame) -> Figure:
    """Excess over the limit against epsilon, and where it is within 1 %.

    Two rows for each cost, a column for each delta. Above, a line is the most that a mechanism can
    lie above the limit, the band under it reaches down to what it certainly does, and in the grey
    area the limit is not known well enough to tell; what is nearer than that runs along the lower
    edge. Below, the dots are the epsilons at which a
    mechanism is within 1 % for certain.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.limit.limit` returns it.
    """
    costs, deltas = list(dict.fromkeys(table["cost"])), sorted(set(table["delta"]))
    names = list(dict.fromkeys(table["mechanism"]))
    highest = 200.0 * max(table["over_limit"].max() - 1.0, 0.05)
    figure, panels = page(
        2 * len(costs), len(deltas), height=0.9 + 3.6 * len(costs), sharex=True, sharey="row",
        height_ratios=[2.0, 1.0] * len(costs),
    )  # fmt: skip
    for row, cost in enumerate(costs):
        above, below = panels[2 * row : 2 * row + 2]
        for delta, over, under in zip(deltas, above, below, strict=True):
            here = table[(table["cost"] == cost) & (table["delta"] == delta)]
            _excess(over, here, names)
            _within(under, here, names)
            over.set_title(rf"$\delta = {power_of_ten(delta) if delta else 0}$")
        above[0].set_ylim(FLOOR, highest)
        above[0].yaxis.set_major_formatter(PLAIN)
        above[0].set_ylabel(f"{COSTS[cost]}\nabove the limit [%]")
        below[0].set_yticks(range(len(names)), [_SHORT.get(name, NAMES[name]) for name in names])
        below[0].tick_params(axis="y", length=0)
        below[0].set_ylim(len(names) - 0.5, -0.5)
        below[0].set_ylabel("within 1 %")
    for panel in panels[-1]:
        panel.set_xlabel(r"budget $\epsilon$")
    entries: list[Artist] = [Line2D([], [], **look(name), label=NAMES[name]) for name in names]
    entries.append(
        Patch(color=GREY, alpha=0.25, linewidth=0, label="bounds on the limit differ by this much")
    )
    legend_below(figure, entries)
    return figure


def _excess(axes: Axes, here: pd.DataFrame, names: list[str]) -> None:
    """Draw the curves of one cost and delta."""
    known = here.drop_duplicates("epsilon").sort_values("epsilon")
    unknown = 100.0 * (known["upper"] / known["lower"] - 1.0)
    axes.fill_between(known["epsilon"], FLOOR, unknown, color=GREY, alpha=0.25, linewidth=0)
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    for name in names:
        rows = here[here["mechanism"] == name].sort_values("epsilon")
        low = np.maximum(100.0 * (rows["over_limit_least"] - 1.0), FLOOR)
        high = 100.0 * (rows["over_limit"] - 1.0)
        colour = COLOURS[name]
        axes.fill_between(rows["epsilon"], low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(rows["epsilon"], np.maximum(high, FLOOR), **look(name))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([0.1, 1.0, 10.0])
    axes.set_xlim(here["epsilon"].min(), here["epsilon"].max())
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid()


def _within(axes: Axes, here: pd.DataFrame, names: list[str]) -> None:
    """Mark the epsilons of one cost and delta at which each mechanism is within 1 %."""
    for place, name in enumerate(names):
        rows = here[here["mechanism"] == name].sort_values("epsilon")
        level = np.where(rows["within"] == 1, float(place), np.nan)
        axes.plot(
            rows["epsilon"], level, "o-", color=COLOURS[name], markersize=2.5, linewidth=2,
            clip_on=False,
        )  # fmt: skip
    axes.grid(axis="x")


def limit_page(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Markdown page with one sentence per cost and delta.

    The sentences speak of the table's epsilons and of what is certain: a mechanism counts if its
    cost is at most 1 % above the *lower* bound on the limit.

    Parameters
    ----------
    table, runs : DataFrame
        As `limit` and `within` of `dpnoise_papers.flipped_huber_2023.tables.limit` return them.
    """
    lines = ["# Within 1 % of the least that any additive noise needs", "", _OPENING]
    for cost, title in COSTS.items():
        here = table[table["cost"] == cost]
        if here.empty:
            continue
        gap = float((here["upper"] / here["lower"] - 1.0).max())
        lines += ["", f"## {title.capitalize()} (the limit is known to {gap:.1%})", ""]
        for delta in sorted(set(here["delta"])):
            part = runs[(runs["cost"] == cost) & (runs["delta"] == delta)]
            found = [_run(*ends) for ends in part[_ENDS].itertuples(index=False)]
            lines.append(f"- delta = {delta:g}: {'; '.join(found) or 'none of them'}.")
    return "\n".join(lines) + "\n"


def _run(mechanism: str, low: float, high: float) -> str:
    """One run of epsilons as words."""
    where = f"from {low:g} to {high:g}" if high > low else f"at {low:g}"
    return f"{mechanism.replace('-', ' ')} for epsilon {where}"
