"""Laplace beside Gaussian noise in inid-2024: Figure 4, crossovers at any budget, delta > 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from dpnoise_papers.style import COLOURS, GREY, GROUND, PLAIN, house_style, legend_below, look, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@house_style()
def laplace_and_gaussian(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Errors of optimal Laplace and Gaussian noise against K, one panel per profile (Figure 4).

    A mark and its K show the first dimension at which Laplace noise has the greater error; an open
    circle the one that the paper prints.
    """
    best = table[table["scheme"] == "optimal"]
    names = list(dict.fromkeys(best["profile"]))
    figure, panels = page(1, len(names), height=2.9, sharex=True, sharey=True)
    for panel, name in zip(panels[0], names, strict=True):
        rows = best[best["profile"] == name].pivot_table(
            index="dimension", columns="noise", values="mse_db"
        )
        for noise, words in (
            ("gaussian", r"Gaussian, $(\epsilon, \delta)$-DP"),
            ("laplace", r"Laplace, $\epsilon$-DP"),
        ):
            panel.plot(rows.index, rows[noise], **look(noise), label=words)
        _first_loss(panel, rows)
        first = _crossover(printed, name)
        _circle(panel, first, np.interp(first, rows.index, rows["laplace"]))
        panel.set_title(name)
        panel.set_xlabel("dimension $K$")
        panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        panel.grid()
    panels[0, 0].set_ylabel("mean squared error [dB]")
    panels[0, 0].set_xlim(table["dimension"].min(), table["dimension"].max())
    legend_below(figure)
    return figure


def _first_loss(panel: Axes, rows: pd.DataFrame) -> None:
    """Mark of the first dimension at which the Laplace error is above the Gaussian's."""
    beyond = rows.index[rows["laplace"] > rows["gaussian"]]
    text = "Laplace below\nfor every $K$"
    if len(beyond):
        first = beyond[0]
        panel.plot(
            [first], [rows.loc[first, "laplace"]], "o", color="black", markersize=4, zorder=5,
            clip_on=False,
        )  # fmt: skip
        text = f"Laplace above\nfrom $K = {first}$"
    panel.text(0.96, 0.05, text, transform=panel.transAxes, ha="right", va="bottom", bbox=GROUND)


def _crossover(printed: pd.DataFrame | None, profile: str) -> float:
    """Dimension from which a paper prints that Laplace noise is worse, NaN if none."""
    if printed is None or not len(printed):
        return np.nan
    rows = printed[(printed["column"] == "crossover") & (printed["profile"] == profile)]
    return float(rows["printed"].iloc[0]) if len(rows) else np.nan


def _circle(panel: Axes, x: float, y: float) -> None:
    """Open circle of a printed number, if there is one."""
    if np.isfinite(x) and np.isfinite(y):
        panel.plot(
            [x], [y], "o", color="black", markerfacecolor="none", markersize=7, zorder=6,
            label="printed",
        )  # fmt: skip


@house_style()
def crossovers(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Dimension from which optimal Laplace noise is worse than Gaussian noise, against epsilon.

    One panel per profile. Triangles at the top stand for 'in no dimension', an open circle for
    what the paper prints.
    """
    profiles = list(table.groupby("profile", sort=False))
    top = 2.0 * table["crossover"].max()
    figure, panels = page(1, len(profiles), height=2.8, sharex=True, sharey=True)
    deltas = sorted(set(table["delta"]), reverse=True)
    for panel, (name, rows) in zip(panels[0], profiles, strict=True):
        for step, delta in enumerate(deltas):
            here = rows[rows["delta"] == delta].sort_values("epsilon")
            colour = f"{0.75 - 0.75 * step / max(len(deltas) - 1, 1):g}"  # a shade of grey
            label = rf"$\delta = 10^{{{np.log10(delta):.0f}}}$"
            panel.plot(here["epsilon"], here["crossover"], color=colour, label=label,
                       drawstyle="steps-mid")  # fmt: skip
            never = here[here["crossover"].isna()]
            panel.plot(never["epsilon"], np.full(len(never), top * 0.72**step), marker="^",
                       linestyle="none", color=colour, markersize=3, markevery=5)  # fmt: skip
        if printed is not None and np.isfinite(first := _crossover(printed, str(name))):
            _circle(panel, float(printed["epsilon"].iloc[0]), first)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(name)
        panel.set_xlabel(r"$\epsilon$")
        panel.xaxis.set_major_formatter(PLAIN)
        panel.grid()
    axes = panels[0, 0]
    axes.set_ylabel("dimension from which\nLaplace noise is worse")
    axes.set_ylim(0.9, top * 1.4)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(table["epsilon"].min(), table["epsilon"].max())
    known = (panel.get_legend_handles_labels() for panel in panels[0])
    lines = {words: line for found in known for line, words in zip(*found, strict=True)}
    mark = Line2D([], [], marker="^", linestyle="none", color="black", markersize=3)
    mark.set_label("in no dimension")
    legend_below(figure, [*lines.values(), mark])
    return figure


@house_style()
def approximate_laplace(table: pd.DataFrame) -> Figure:
    """Error of Laplace over Gaussian noise of the same (epsilon, delta), against the dimension.

    Dashed with delta = 0 (Corollary 6 is within a line's width of it), solid by the exact account.
    """
    deltas = sorted(set(table["delta"]), reverse=True)
    figure, panels = page(1, len(deltas), height=3.1, sharex=True, sharey=True)
    for panel, delta in zip(panels[0], deltas, strict=True):
        here = table[table["delta"] == delta]
        for name, rows in here.groupby("profile", sort=False):
            marker = {"uniform": "o", "linear": "^", "exponential": "D"}.get(name, "s")
            for column, line, face, words in (
                ("over_gaussian_pure_db", (0, (4, 1.5)), "none", r"$\delta = 0$"),
                ("over_gaussian_exact_db", "-", COLOURS["laplace"], "exact account"),
            ):
                panel.plot(
                    rows["dimension"], rows[column], linestyle=line, linewidth=1.0, marker=marker,
                    color=COLOURS["laplace"], markersize=3, markerfacecolor=face,
                    label=f"{name}, {words}",
                )  # fmt: skip
        panel.axhline(0.0, color=COLOURS["gaussian"], linewidth=1.2, label="Gaussian noise")
        panel.axhline(10.0 * np.log10(2.0), color=GREY, linewidth=0.8, linestyle=(0, (2, 2)),
                      label="twice the Gaussian error")  # fmt: skip
        panel.set_xscale("log")
        panel.set_xlabel("dimension $K$")
        panel.set_title(rf"$\mathbf{{\delta = 10^{{{np.log10(delta):.0f}}}}}$")
        panel.grid()
    panels[0, 0].set_ylabel("mean squared error of Laplace\nover Gaussian noise [dB]")
    panels[0, 0].set_xlim(table["dimension"].min(), table["dimension"].max())
    panels[0, 0].set_ylim(-13, 22)
    legend_below(figure)
    return figure
