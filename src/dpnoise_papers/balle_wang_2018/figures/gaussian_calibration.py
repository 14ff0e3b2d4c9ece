"""Figures of Section 5.1 of balle-wang-2018: the Gaussian mechanism, classical and analytic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from dpnoise_papers.style import (
    GREY,
    PLAIN,
    cell_edges,
    house_style,
    legend_below,
    look,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_NEAR = 2.0  # of the largest printed bound, up to where the second panel of a gain reaches
_NO_ANSWER = "#D0D0D0"
_STOPS = {
    "argument": "$v^*$, $u^*$ to $10^{-12}$ (Section 5.1)",
    "delta": "$\\delta$ to $10^{-12}$ (authors' script)",
}
# Powers of ten of the true delta over the delta asked for; the last class of each side is open.
_LEVELS = (-9.0, -3.0, -1.0, -0.1, -0.001, 0.001, 0.1, 0.5, 1.0, 2.0, 9.0)


def _shades(count: int) -> list[tuple[float, float, float]]:
    """Return shades of the analytic mechanism's blue, from light to dark."""
    light, dark = np.array([0.62, 0.80, 0.93]), np.array([0.0, 0.22, 0.42])
    steps = np.linspace(0.0, 1.0, count) if count > 1 else [0.6]
    mixed = (((1 - t) * light + t * dark).tolist() for t in steps)
    return [(red, green, blue) for red, green, blue in mixed]


@house_style()
def deviations(table: pd.DataFrame) -> Figure:
    """Both standard deviations as epsilon falls to 0 (Figure 1, first panel).

    One panel for each delta of `classical_against_analytic`: the analytic curve ends in a limit,
    beside the value that Theorem 2 names; the classical one grows without bound.
    """
    deltas = sorted(table["delta"].unique())
    figure, panels = page(1, len(deltas), height=2.9, sharey=True)
    for panel, delta in zip(panels[0], deltas, strict=True):
        rows = table[table["delta"] == delta]
        panel.plot(
            rows["epsilon"], rows["classical"], **look("classical-gaussian"),
            label="classical (cGM)",
        )  # fmt: skip
        panel.plot(rows["epsilon"], rows["analytic"], **look("gaussian"), label="analytic (aGM)")
        for column, line, name in (
            ("at_zero", (0, (1, 1.5)), r"analytic at $\epsilon = 0$"),
            ("theorem_2", (0, (5, 2, 1, 2)), r"Theorem 2: $\Delta / (2 \delta)$"),
        ):
            panel.axhline(rows[column].iloc[0], color=GREY, linestyle=line, linewidth=0.9,
                          label=name, zorder=1)  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(r"$\epsilon$")
        panel.set_title(rf"$\mathbf{{\delta = {power_of_ten(delta)}}}$")
        panel.grid()
    panels[0, 0].set_ylabel(r"standard deviation $\sigma / \Delta$")
    legend_below(figure)
    return figure


def gain_by_epsilon(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Gain in variance against epsilon, a line per delta (Figure 1, second panel).

    Guides are the gains that the paper prints.
    """
    return _gain(table, printed, "epsilon", "delta")


def gain_by_delta(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Gain in variance against delta, a line per epsilon (Figure 3, first panel).

    Guides are the gains that the paper prints.
    """
    return _gain(table, printed, "delta", "epsilon")


@house_style()
def _gain(table: pd.DataFrame, printed: pd.DataFrame, along: str, by: str) -> Figure:
    """Return the gain along one column, a line per value of the other, also near the bounds."""
    lines = sorted(table[by].unique())
    figure, panels = page(1, 2, height=3.2)
    axes, near = panels[0]
    for colour, value in zip(_shades(len(lines)), lines, strict=True):
        rows = table[table[by] == value]
        name = rf"$\{by} = {power_of_ten(value)}$"
        for panel in panels[0]:
            panel.plot(rows[along], rows["gain"], color=colour, label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks([1, 2, 5, *(10.0**k for k in range(1, 7) if 10**k < table["gain"].max())])
    axes.set_ylim(1.0, None)
    bounds = printed[printed["column"] == "gain"].drop_duplicates(["printed", "place"])
    words = [f"{row.printed:g} ({row.place})" for row in bounds.itertuples()]
    for place, level in enumerate(bounds["printed"]):
        name = "" if place else "printed: at least " + ", ".join(words)
        for panel in panels[0]:
            panel.axhline(level, color="black", linewidth=0.8, linestyle=(0, (2, 2)), label=name)
    for panel in panels[0]:
        panel.set_xscale("log")
        panel.set_xlim(table[along].min(), table[along].max())
        panel.set_xlabel(rf"$\{along}$")
        panel.grid()
    near.set_ylim(1.0, _NEAR * max(bounds["printed"].max(), 1.0) if len(bounds) else _NEAR)
    axes.set_ylabel("classical over analytic variance")
    axes.set_title("Gain in variance of the analytic mechanism")
    near.set_title("The same near the printed bounds")
    legend_below(figure)
    return figure


@house_style()
def published_algorithm(table: pd.DataFrame) -> Figure:
    """Privacy of Algorithm 1 as published, over epsilon and the delta asked for.

    One map for each stop of the delta that it really has over the delta asked for, in powers of
    ten: orange where it is not private, blue where it adds too much noise, grey without an answer.
    """
    safe = LinearSegmentedColormap.from_list("safe", ["#08306B", "#DEEBF7"], N=4)
    unsafe = LinearSegmentedColormap.from_list("unsafe", ["#FDD9B5", "#8C2D04"], N=5)
    colours = np.vstack([safe(np.arange(4)), np.ones(4), unsafe(np.arange(5))])
    shown = ListedColormap(colours)
    norm = BoundaryNorm(_LEVELS, len(colours))
    figure, panels = page(1, len(_STOPS), height=3.7, sharey=True)
    for axes, (stop, name) in zip(panels[0], _STOPS.items(), strict=True):
        rows = table[table["stop"] == stop]
        grid = rows.pivot_table(
            index="delta", columns="epsilon", values="log10_ratio", dropna=False
        )
        values = np.ma.masked_invalid(grid.to_numpy())
        x, y = (np.exp(cell_edges(np.log(e.to_numpy()))) for e in (grid.columns, grid.index))
        clipped = np.clip(values, _LEVELS[0] + 1e-6, _LEVELS[-1] - 1e-6)
        axes.set_facecolor(_NO_ANSWER)
        mesh = axes.pcolormesh(x, y, clipped, cmap=shown, norm=norm,
                               rasterized=True)  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(x[[0, -1]])
        axes.set_ylim(y[[0, -1]])
        axes.set_xlabel(r"$\epsilon$")
        axes.set_title(name)
    panels[0, 0].set_ylabel(r"$\delta$ asked for")
    bar = figure.colorbar(mesh, ax=list(panels[0]), ticks=_LEVELS[1:-1])
    bar.ax.set_yticklabels([_ratio(level) for level in _LEVELS[1:-1]])
    bar.ax.minorticks_off()
    bar.ax.set_title("true / asked", fontweight="normal")
    figure.suptitle("Algorithm 1 as published: the true $\\delta$ over the $\\delta$ asked for")
    patches = [
        Patch(color=unsafe(2), label="not private: too little noise"),
        Patch(color=safe(1), label="private, with too much noise"),
        Patch(facecolor="#FFFFFF", edgecolor=GREY, linewidth=0.5, label="right to 0.2 %"),
        Patch(color=_NO_ANSWER, label="no answer: overflow or endless search"),
    ]
    legend_below(figure, patches)
    return figure


def _ratio(level: float) -> str:
    """Return a power of ten as a factor, or in percent where it is near 1."""
    value = 10.0**level
    if abs(value - 1.0) < 0.01:
        return f"{100 * (value - 1):+.2f} %"
    return f"{value:.3g}"
