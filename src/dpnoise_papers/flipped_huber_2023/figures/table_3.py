"""Table III of flipped-huber-2023 as a figure: each printed number beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from dpnoise_papers.claims.judge import SIGNS
from dpnoise_papers.descent.names import in_order, title
from dpnoise_papers.flipped_huber_2023.table_3.settings import CHOSEN
from dpnoise_papers.style import COLOURS, GREY, GROUND, NAMES, PAGE, TEXT, house_style, new_figure

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MECHANISMS = ("gaussian", "flipped-huber")
ENDS = ("", "_low", "_high")  # of a column: median and interval over replications
METRICS = (("nmse", "NMSE"), ("test_error", "test error"))


def table_3(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw printed numbers against ours for each data set, metric and mechanism.

    The sizes of the data sets' numbers differ by a thousand, so each is drawn in units of
    the number that is printed for the Gaussian.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.table_3_replicates.summary` returns it: median
        and 99 % interval of nmse and test_error over the replications; the variant 'chosen' is
        drawn. Rows whose status is not 'ok' are drawn as 'not run'.
    printed : DataFrame
        The printed numbers with our verdicts: columns dataset, mechanism, column, printed and
        verdict; for every data set in it, both mechanisms and both metrics.
    """
    paper: dict[tuple[str, str, str], dict[Hashable, Any]] = {
        (row["dataset"], row["mechanism"], row["column"]): row for row in printed.to_dict("records")
    }
    chosen = (table["status"] == "ok") & (table["reading"] == CHOSEN)
    ours = {(row["dataset"], row["mechanism"]): row for row in table[chosen].to_dict("records")}
    datasets = in_order(printed["dataset"])
    with house_style():
        figure = new_figure(PAGE, 1.3 + 0.42 * len(datasets))
        panels = figure.subplots(1, 2, sharey=True)
        panels[0].set_yticks(range(len(datasets)), [title(name) for name in datasets])
        panels[0].set_ylim(len(datasets) - 0.5, -0.5)
        for axes, (column, name) in zip(panels, METRICS, strict=True):
            for height, dataset in enumerate(datasets):
                unit = paper[dataset, MECHANISMS[0], column]["printed"]
                for mechanism, shift in zip(MECHANISMS, (-0.2, 0.2), strict=True):
                    cell = paper[dataset, mechanism, column]
                    row = ours.get((dataset, mechanism), {})
                    middle, low, high = (row.get(f"{column}{end}", np.nan) / unit for end in ENDS)
                    theirs = cell["printed"] / unit
                    entry = _Entry(height + shift, middle, low, high, theirs, cell["verdict"])
                    _draw(axes, entry, COLOURS[mechanism])
                axes.annotate(
                    f"1 = {unit:g}", (0, height), (2, 0), textcoords="offset points",
                    xycoords=axes.get_yaxis_transform(), va="center", color=GREY, bbox=GROUND,
                    zorder=4,
                )  # fmt: skip
            _scale(axes, f"{name}, in units of the printed Gaussian one")
        figure.legend(handles=_key(), loc="outside upper center", ncols=4)
        seen = [
            f"{mark}  {word}" for word, mark in SIGNS.items() if word in set(printed["verdict"])
        ]
        figure.supxlabel("        ".join(seen), fontsize=TEXT, color=GREY)
    return figure


class _Entry(NamedTuple):
    """One data set under one mechanism: where it is drawn and what was found."""

    height: float
    ours: float
    low: float
    high: float
    printed: float
    verdict: str


def _draw(axes: Axes, entry: _Entry, colour: str) -> None:
    """Draw one mechanism: open circle printed, dot and bar ours, the verdict at the right."""
    height = entry.height
    axes.plot(entry.printed, height, "o", markersize=5.5, mfc="none", mec=colour)
    if np.isnan(entry.ours):
        axes.annotate(
            "not run", (entry.printed, height), (6, 0), textcoords="offset points",
            va="center", color=GREY, bbox=GROUND,
        )  # fmt: skip
    else:
        axes.plot([entry.printed, entry.ours], [height] * 2, color=colour, lw=0.6, alpha=0.5)
        bar = [[entry.ours - entry.low], [entry.high - entry.ours]]
        axes.errorbar(entry.ours, height, xerr=bar, fmt="o", markersize=3, color=colour)
    axes.text(
        1.01, height, SIGNS[entry.verdict], transform=axes.get_yaxis_transform(),
        va="center", color=colour,
    )  # fmt: skip


def _scale(axes: Axes, label: str) -> None:
    """Give a panel its logarithmic axis, with round numbers, and lines between data sets."""
    axes.set_xscale("log")
    left, right = axes.get_xlim()
    left, right = min(left, 0.45), max(right, 1.6)
    # space on the left for the unit of each data set
    left /= (right / left) ** 0.2
    axes.set_xlim(left, right)
    steps = (1, 1.5, 2, 3, 5, 7) if right / left < 20 else (1, 3)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=50))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(1, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    axes.set_xlabel(label)
    for tick in axes.get_yticks():
        axes.axhline(tick + 0.5, color=GREY, alpha=0.3, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _key() -> list[Line2D]:
    """Return the entries of the key: mechanisms by colour, then printed and ours by shape."""
    colours = [Line2D([], [], color=COLOURS[name], label=NAMES[name]) for name in MECHANISMS]
    open_circle: dict[str, Any] = {
        "marker": "o",
        "markersize": 5.5,
        "mfc": "none",
        "mec": GREY,
        "ls": "",
    }
    return [
        *colours,
        Line2D([], [], **open_circle, label="printed"),
        Line2D(
            [],
            [],
            marker="o",
            markersize=3,
            color=GREY,
            label="ours, median and 99 % of replications",
        ),
    ]
