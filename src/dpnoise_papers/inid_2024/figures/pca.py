"""Table III of inid-2024 (DP-PCA): variants that give the printed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    PLAIN,
    house_style,
    legend_below,
    page,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise._types import Array

    Curve = Array | pd.Series

SCHEMES: dict[Any, str] = {"iid": "i.i.d.", "inid": "i.n.i.d."}
VARIANTS = {
    "stated": "as stated: i.n.i.d. entries clipped",
    "stated-largest": "as stated, largest eigenvalues",
    "unclipped": "nothing clipped",
    "unclipped-largest": "nothing clipped, largest eigenvalues",
    "add-remove": "valid: a sample added",
}
_MARKERS = {"yes": "o", "no": "X", "open": "D"}
_WORDS = {
    "yes": "private if a sample is added or removed",
    "no": "not private",
    "open": "neither proved nor refuted",
}


@house_style()
def table_3(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Variants of Table III beside what is printed, and errors against the noise.

    Above, one line per mechanism and variant, with the error at each epsilon; grey bars are the
    printed numbers. Below, all errors against the deviation of the noise off the diagonal, with the
    noise that the printed numbers would need.
    """
    if printed is not None and len(printed):
        printed = printed[printed["column"] == "sre"].astype({"epsilon": float})
    else:
        printed = None
    groups = table.groupby(["noise", "scheme"], sort=False)
    lines = sum(rows["reading"].nunique() for _, rows in groups)
    upper = 0.165 * (lines + 8)
    figure, panels = page(2, 1, height=upper + 3.1, height_ratios=(upper, 1.9))
    above, below = panels[:, 0]
    _variants(above, table, printed)
    _by_noise(below, table, printed)
    seen = [word for word in _WORDS if (table["private_add_remove"] == word).any()]
    handles = [
        Line2D([], [], marker=_MARKERS[w], color="black", linestyle="none", label=_WORDS[w])
        for w in seen
    ]
    handles += [
        Line2D([], [], color=COLOURS[noise], linewidth=4, label=f"{NAMES[noise]} noise")
        for noise in dict.fromkeys(table["noise"])
    ]
    if printed is not None:
        handles += [
            Line2D([], [], color=GREY, alpha=0.55, linewidth=4, label="printed"),
            Line2D([], [], marker="o", markerfacecolor="none", markersize=8, linestyle="none",
                   color=GREY, label="printed, at the noise that gives it"),
        ]  # fmt: skip
    legend_below(figure, handles)
    return figure


def _variants(axes: Axes, table: pd.DataFrame, printed: pd.DataFrame | None) -> None:
    """Lines of errors, one per mechanism and variant."""
    height, ticks, labels, heads = 0.0, [], [], []
    for (noise, scheme), rows in table.groupby(["noise", "scheme"], sort=False):
        heads.append((height, f"{NAMES[str(noise)]}, {SCHEMES[str(scheme)]}"))
        height += 1.0
        top = height - 0.5
        for variant in [name for name in VARIANTS if (rows["reading"] == name).any()]:
            own = rows[rows["reading"] == variant]
            _marks(axes, own["sre"], np.full(len(own), height), own)
            ticks.append(height)
            labels.append(VARIANTS[variant])
            height += 1.0
        marked = rows[rows["reading"] == rows["reading"].iloc[0]]
        column = "sre"
        if printed is not None:
            marked = printed[(printed["noise"] == noise) & (printed["scheme"] == scheme)]
            column = "printed"
            for value in marked[column].unique():
                axes.plot(
                    [value, value], [top, height - 0.5], color=GREY, alpha=0.55, linewidth=4,
                    solid_capstyle="butt", zorder=1,
                )  # fmt: skip
        for epsilon, values in marked.groupby("epsilon"):
            words = rf"$\epsilon = {epsilon:g}$"
            axes.text(values[column].iloc[0], top - 0.4, words, ha="center", va="center")
        height += 0.3
    axes.set_ylim(height - 0.5, -0.8)
    axes.set_xscale("log")
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    low = table["sre"].min()
    axes.set_xlim(0.4 * low, 1.05)
    for place, head in heads:
        axes.text(0.41 * low, place + 0.05, head, fontweight="bold", va="center")
    ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0) if t > 0.4 * low]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("subspace recovery error")
    axes.set_title("Table III by variant; data: a union of random subspaces", loc="left")
    axes.grid(axis="x")


def _marks(axes: Axes, x: pd.Series, y: np.ndarray, rows: pd.DataFrame) -> None:
    """Points marked by what is known of their privacy."""
    for word, marker in _MARKERS.items():
        here = (rows["private_add_remove"] == word).to_numpy()
        axes.scatter(
            np.asarray(x)[here], y[here], s=22, marker=marker, linewidths=0.4, zorder=3,
            color=[COLOURS[noise] for noise in rows.loc[here, "noise"]], edgecolors="white",
        )  # fmt: skip


def _by_noise(axes: Axes, table: pd.DataFrame, printed: pd.DataFrame | None) -> None:
    """Errors against the deviation of the noise, and where the printed ones would be."""
    curve = ~table["reading"].str.startswith("stated") & (table["reading"] != "unclipped")
    rows = table[curve].sort_values("off_diagonal")
    axes.plot(rows["off_diagonal"], rows["sre"], color=GREY, linewidth=0.8, zorder=1)
    _marks(axes, rows["off_diagonal"], rows["sre"].to_numpy(), rows)
    if printed is not None:
        for _, claim in printed.iterrows():
            level = np.interp(
                np.log(claim["printed"]), np.log(rows["sre"]), np.log(rows["off_diagonal"])
            )
            axes.scatter(
                np.exp(level), claim["printed"], s=70, facecolors="none", zorder=4,
                edgecolors=COLOURS[claim["noise"]], linewidths=1,
            )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("standard deviation of the noise off the diagonal")
    pure = rows[rows["noise"] == "laplace"]
    if len(pure):
        place = pure["off_diagonal"].median(), 0.72 * pure["sre"].min()
        text = "Laplace noise that is $\\epsilon$-DP"
        axes.text(*place, text, color=COLOURS["laplace"], ha="center", va="top")
    axes.set_ylabel("subspace recovery error")
    axes.set_title("One curve for all noise")
    axes.grid()
