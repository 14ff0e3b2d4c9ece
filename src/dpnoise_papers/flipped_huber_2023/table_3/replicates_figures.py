"""The replications of Table III of flipped-huber-2023: a page and a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from dpnoise_papers.descent.names import in_order, title
from dpnoise_papers.flipped_huber_2023.table_3.figures import ENDS, METRICS, ROWS
from dpnoise_papers.flipped_huber_2023.table_3.settings import CHOSEN
from dpnoise_papers.pages import markdown_table
from dpnoise_papers.style import COLOURS, GREY, NAMES, PAGE, house_style, legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VARIANTS = {
    CHOSEN: "as chosen",
    "bound-of-mangold": "Gaussian by the bound of [53]",
    "one-pass": "one pass allowed",
    "bound-and-one-pass": "both of these",
    "exact-account": "flipped Huber by the exact account",
    "optimum-50-passes": "optimum: 50 passes without noise",
    "optimum-200-passes": "optimum: 200 passes without noise",
}


def page(table: pd.DataFrame) -> str:
    """Return the page of the replications.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.replicates.summary` returns it.
    """
    ok = table[table["status"] == "ok"]
    count = int(ok["replications"].max()) if len(ok) else 0
    missed = int(ok["missed"].sum())
    about = (
        "The whole protocol (for every combination of passes, step and clip the mean NMSE over "
        f"a few trials, then the smallest of these means) {count} times with independent "
        "partitions and noise. `percentile` is the share of replications below the printed number: "
        "near 0 or 100 % seeds do not explain it. `independent seeds` is the probability that the "
        "printed ratio of Gaussian to flipped Huber, or a larger one, comes out when each of the "
        "two has a partition and noise of its own; `same seeds`, when they share both."
    )
    mean = (
        "Mean of the paired differences with its 99 % interval, and in how many replications the "
        "flipped Huber row is better, worse and equal. `same noise` is the share of replications "
        "in which both rows are one distribution: there they are equal by construction."
    )
    open_choices = (
        "Median NMSE and test error of the Gaussian row, the control, under combinations of what "
        "the paper does not print; in brackets what cannot be the printed one, since 99 % of the "
        "replications leave the printed number out."
    )
    gain = (
        "Median ratio of NMSE, Gaussian over flipped Huber noise, same seeds; in brackets how "
        "often the Gaussian's is larger."
    )
    thinned = (
        "The grid is thinned after a pilot; in the audited replications, on the whole grid, the "
        f"thinned grid missed the best {missed} times."
    )
    parts = [
        "# Table III of flipped-huber-2023, repeated", about,
        "## Where each printed number lies", _percentiles(ok),
        "## The probability of the printed gain", _probabilities(ok),
        "## The mean gain", mean, _mean_gains(ok),
        "## What other variants do to the gain", gain, _gains(ok),
        "## What other variants do to the numbers",
        "Median NMSE of the Gaussian row and of the flipped Huber row.", _levels(ok), thinned,
        "## What the paper does not print", open_choices, _combinations(ok),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.0f} %"


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def _percentiles(table: pd.DataFrame) -> str:
    rows = []
    for _, row in table[table["reading"] == CHOSEN].iterrows():
        cells = {"data set": title(row["dataset"]), "noise": NAMES[row["mechanism"]]}
        for column, name in METRICS.items():
            low, high = row[f"{column}_low"], row[f"{column}_high"]
            cells |= {
                f"{name}: printed": _number(row[f"{column}_printed"], ".4g"),
                f"{name}: median": f"{row[column]:.3g}",
                f"{name}: 99 % interval": f"{low:.3g} to {high:.3g}",
                f"{name}: percentile": _percent(row[f"{column}_percentile"]),
            }
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _probabilities(table: pd.DataFrame) -> str:
    rows = []
    part = table[(table["reading"] == CHOSEN) & (table["mechanism"] == ROWS[1])]
    for _, row in part.iterrows():
        cells = {"data set": title(row["dataset"])}
        for column, name in METRICS.items():
            cells |= {
                f"{name}: printed ratio": _number(row[f"{column}_printed_ratio"], ".3f"),
                f"{name}: independent seeds": _percent(row[f"{column}_independent_seeds"]),
                f"{name}: same seeds": _percent(row[f"{column}_same_seeds"]),
            }
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _mean_gains(table: pd.DataFrame) -> str:
    rows = []
    part = table[(table["reading"] == CHOSEN) & (table["mechanism"] == ROWS[1])]
    for _, row in part.iterrows():
        cells = {"data set": title(row["dataset"]), "same noise": _percent(row["same_noise"])}
        for column, name in METRICS.items():
            ends = " to ".join(f"{row[f'{column}_gain_{end}']:.3g}" for end in ("low", "high"))
            better, worse = (
                round(row[f"{column}_{word}"] * row["replications"]) for word in ("better", "worse")
            )
            cells[f"{name}: gain"] = f"{row[f'{column}_gain']:.3g} ({ends})"
            cells[f"{name}: better, worse, equal"] = (
                f"{better}, {worse}, {row['replications'] - better - worse:.0f}"
            )
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _combinations(table: pd.DataFrame) -> str:
    part = table[
        ((table["combination"] == 1) | (table["reading"] == CHOSEN))
        & (table["mechanism"] == ROWS[0])
    ]
    rows = []
    for name, same in part.groupby("reading", sort=False):
        cells = {"reading": VARIANTS.get(str(name), str(name))}
        for _, row in same.iterrows():
            texts = [
                f"({row[column]:.3g})"
                if row["contradicted"] in {column, "both"}
                else f"{row[column]:.3g}"
                for column in METRICS
            ]
            cells[title(row["dataset"])] = ", ".join(texts)
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows).fillna(""))


def _gains(table: pd.DataFrame) -> str:
    rows = []
    part = table[(table["mechanism"] == ROWS[1]) & (table["combination"] == 0)]
    for dataset, mine in part.groupby("dataset", sort=False):
        printed = _number(mine["nmse_printed_ratio"].iloc[0], ".3f")
        cells = {"data set": title(str(dataset)), "printed": printed}
        for _, row in mine.iterrows():
            name = VARIANTS.get(row["reading"], row["reading"])
            cells[name] = f"{row['nmse_ratio']:.3f} ({_percent(row['nmse_better'])})"
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def _levels(table: pd.DataFrame) -> str:
    rows = []
    for dataset, mine in table[table["combination"] == 0].groupby("dataset", sort=False):
        printed = mine[mine["reading"] == CHOSEN]["nmse_printed"]
        cells = {"data set": title(str(dataset))}
        cells["printed"] = ", ".join(_number(value, ".4g") for value in printed)
        for name, both in mine.groupby("reading", sort=False):
            texts = [f"{value:.3g}" for value in both["nmse"]]
            cells[VARIANTS.get(str(name), str(name))] = ", ".join(texts)
        rows.append(cells)
    return markdown_table(pd.DataFrame(rows))


def replicates(table: pd.DataFrame) -> Figure:
    """Draw where the printed numbers and gains lie among the replications.

    On the left NMSE in units of the median for the Gaussian: dot the median, bar the 99 % interval,
    open circle printed. On the right the ratio of Gaussian to flipped Huber NMSE with the same
    seeds, for three variants, and the printed one.

    Parameters
    ----------
    table : DataFrame
        As for `page`.
    """
    table = table[table["status"] == "ok"]
    names = in_order(table["dataset"])
    shown = [name for name in (CHOSEN, "bound-of-mangold", "exact-account")
             if name in set(table["reading"])]  # fmt: skip
    shades = dict(zip(shown, (GREY, COLOURS["gaussian"], COLOURS["flipped-huber"]), strict=False))
    by: dict[tuple[str, str, str], dict[Hashable, Any]] = {
        (row["dataset"], row["reading"], row["mechanism"]): row for row in table.to_dict("records")
    }
    with house_style():
        figure = new_figure(PAGE, 1.6 + 0.42 * max(len(names), 1))
        left, right = figure.subplots(1, 2, sharey=True)
        left.set_yticks(range(len(names)), [title(name) for name in names])
        left.set_ylim(max(len(names), 1) - 0.5, -0.5)
        for height, dataset in enumerate(names):
            unit = by[dataset, CHOSEN, ROWS[0]]["nmse"]
            for mechanism, shift in zip(ROWS, (-0.18, 0.18), strict=True):
                row = by[dataset, CHOSEN, mechanism]
                _bar(left, _ends(row, "nmse", unit), height + shift, COLOURS[mechanism])
                left.plot(row["nmse_printed"] / unit, height + shift, "o", mfc="none",
                          mec=COLOURS[mechanism], markersize=5.5)  # fmt: skip
            for name, shift in zip(shown, np.linspace(-0.25, 0.25, len(shown)), strict=True):
                row = by[dataset, name, ROWS[1]]
                _bar(right, _ends(row, "nmse_ratio"), height + shift, shades[name])
            ratio = by[dataset, CHOSEN, ROWS[1]]["nmse_printed_ratio"]
            right.plot(ratio, height, "D", mfc="none", mec="black", markersize=5)
        _axis(left, "NMSE, in units of our median for the Gaussian")
        _axis(right, "NMSE of Gaussian over flipped Huber noise")
        legend_below(figure, _key(shades))
    return figure


def _bar(axes: Axes, spread: list[float], height: float, colour: str) -> None:
    """Draw a median and its interval."""
    middle, *ends = spread
    axes.plot(ends, [height] * 2, color=colour, linewidth=1.2)
    axes.plot(middle, height, "o", color=colour, markersize=3)


def _ends(row: dict[Hashable, Any], column: str, unit: float = 1.0) -> list[float]:
    return [row[f"{column}{end}"] / unit for end in ENDS]


def _axis(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    left, right = axes.get_xlim()
    steps = (1, 1.5, 2, 3, 5, 7) if right / left < 12 else (1, 3)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=50))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(1, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    axes.set_xlabel(label)
    for tick in axes.get_yticks():
        axes.axhline(tick + 0.5, color=GREY, alpha=0.3, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _key(shades: dict[str, str]) -> list[Line2D]:
    rows = [
        Line2D([], [], color=COLOURS[name], marker="o", markersize=3, label=f"left: {NAMES[name]}")
        for name in ROWS
    ]
    rows.append(
        Line2D([], [], color=GREY, marker="o", mfc="none", linestyle="", label="left: printed")
    )
    rows += [
        Line2D([], [], color=colour, marker="o", markersize=3, label=f"right: {VARIANTS[name]}")
        for name, colour in shades.items()
    ]
    rows.append(
        Line2D([], [], color="black", marker="D", mfc="none", linestyle="", label="right: printed")
    )
    return rows
