"""Figures of Section V-B of flipped-huber-2023: variances in K dimensions, and the gain in K.

One drawing serves Figure 4, Table II and the slides' K-dimensional curves: on top the variance
per coordinate, then what is gained on the exact Gaussian, then, on a logarithmic scale, how much
more than the best of the mechanisms each one needs, which tells apart curves that coincide above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dpnoise_papers.style import COLOURS, COLUMN, GREY, NAMES, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What tells the methods of one mechanism apart.
LINES = {
    "exact": "-", "box": ":", "grid": ":", "sufficient": "--",
    "sufficient-box": "-.", "pure": "--",
}  # fmt: skip
METHODS = {
    "exact": "exact",
    "box": "in the box",
    "grid": "the paper's grid",
    "sufficient": "Theorem 8",
    "sufficient-box": "Theorem 8, in the box",
    "pure": "pure (delta = 0)",
}
FLOOR = 1e-3  # per cent; less than that is the best, as far as anyone will care
PLAIN = FuncFormatter(lambda x, _: f"{x:g}")


def variances(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Draw variance and gain against epsilon, one column per dimension and delta.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.vector_variances.vector_variances` returns it. Rows of method
        'infimum' are left out: the noise of the row before them is as close as drawing can be.
        Curves 'in the box' (the one that the paper searches) end where it has no private noise.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.printed_numbers` returns it; numbers of the column 'variance' are
        drawn as open circles.
    """
    table = table[table["method"] != "infimum"]
    with house_style():
        figure = new_figure(PAGE, 6.6)
        columns = sorted(set(zip(table["dimension"], table["delta"], strict=True)))
        axes = figure.subplots(3, len(columns), sharex=True, sharey="row", squeeze=False)
        for column, (dimension, delta) in enumerate(columns):
            above, middle, below = axes[:, column]
            here = table[(table["dimension"] == dimension) & (table["delta"] == delta)]
            least = here.groupby("epsilon")["variance"].min()
            for (mechanism, method), rows in here.groupby(["mechanism", "method"], sort=False):
                look = {
                    "color": COLOURS[mechanism],
                    "linestyle": LINES[method],
                    "zorder": 3 if method != "exact" else 2,
                }
                label = _label(mechanism, method, table)
                above.plot(rows["epsilon"], rows["variance"], **look, label=label)
                middle.plot(rows["epsilon"], rows["gain_db"], **look)
                excess = 100.0 * (rows["variance"] / rows["epsilon"].map(least) - 1.0)
                below.plot(rows["epsilon"], excess.where(excess > 0), **look)
            if printed is not None and len(printed):
                _mark(above, printed, delta)
            exponent = f"$10^{{{np.log10(delta):.0f}}}$"
            above.set_title(rf"K = {dimension}, $\delta$ = {exponent}")
            above.set_yscale("log")
            below.set_yscale("log")
            below.set_ylim(FLOOR, None)
            below.set_xlabel(r"privacy budget $\epsilon$")
            for panel in (above, middle, below):
                panel.set_xscale("log")
                panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
                panel.xaxis.set_major_locator(
                    LogLocator(subs=(1, 3) if len(columns) > 2 else (1, 2, 5))
                )
                panel.xaxis.set_major_formatter(PLAIN)
                panel.xaxis.set_minor_formatter(NullFormatter())
            above.set_xlim(table["epsilon"].min(), table["epsilon"].max())
        axes[0, 0].set_ylabel("variance per coordinate")
        axes[1, 0].set_ylabel("variance below Gaussian [dB]")
        axes[2, 0].set_ylabel("variance above the best [%]")
        handles = axes[0, 0].get_legend_handles_labels()
        columns = 4 if len(handles[0]) <= 8 else 3
        figure.legend(*handles, loc="outside lower center", ncols=columns)
    return figure


def _label(mechanism: str, method: str, table: pd.DataFrame) -> str:
    alone = len(set(table.loc[table["mechanism"] == mechanism, "method"])) == 1
    return NAMES[mechanism] if alone else f"{NAMES[mechanism]}, {METHODS[method]}"


def _mark(panel: Axes, printed: pd.DataFrame, delta: float) -> None:
    """Draw the numbers that the paper prints for this delta as open circles."""
    rows = printed[printed["column"] == "variance"]
    rows = rows[np.isclose(rows["delta"].astype(float), delta)]
    colours = [COLOURS[mechanism] for mechanism in rows["mechanism"]]
    panel.scatter(
        rows["epsilon"].astype(float), rows["printed"], s=22, facecolors="none",
        edgecolors=colours, linewidths=1, zorder=4, label="printed" if len(rows) else None,
    )  # fmt: skip


def gain(table: pd.DataFrame) -> Figure:
    """Draw how much flipped Huber noise gains over the better of Gaussian and Laplace.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.vector_variances.gain_by_dimension` returns it.

    Returns
    -------
    Figure
        One curve per (epsilon, delta). Left of its peak Laplace is the better of the two,
        right of it the Gaussian; the peak is where flipped Huber noise is worth its name.
    """
    shades = ("#00543B", "#009E73", "#56C7A6", "#A3DDCB")
    with house_style():
        figure = new_figure(COLUMN * 1.5, 3.0)
        axes = figure.subplots()
        budgets = list(table.groupby(["delta", "epsilon"], sort=True))
        epsilons = sorted(set(table["epsilon"]))
        deltas = sorted(set(table["delta"]))
        for (delta, epsilon), rows in budgets:
            colour = shades[epsilons.index(epsilon) % len(shades)]
            line = "-" if delta == deltas[0] else "--"
            power = f"10^{{{np.log10(delta):.0f}}}"
            axes.plot(
                rows["dimension"], rows["gain_db"], color=colour, linestyle=line,
                label=rf"$\epsilon={epsilon:g},\ \delta={power}$",
            )  # fmt: skip
            best = rows.loc[rows["gain_db"].idxmax()]
            axes.plot(best["dimension"], best["gain_db"], "o", color=colour, markersize=3)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.set_xlim(table["dimension"].min(), table["dimension"].max())
        axes.set_ylim(0, None)
        axes.set_xlabel("dimension K of the query")
        axes.set_ylabel("gain of flipped Huber [dB]")
        axes.set_title("Gain over the better of Gaussian and Laplace")
        axes.grid(color=GREY, alpha=0.2, linewidth=0.5)
        axes.legend(loc="upper right", borderaxespad=0)
    return figure
