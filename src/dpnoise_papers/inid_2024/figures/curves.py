"""Figures 1 to 4 of inid-2024: errors and dispersion of profiles of sensitivities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dpnoise_papers.style import COLOURS, COLUMN, GREY, NAMES, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLAIN = FuncFormatter(lambda x, _: f"{x:g}")
# From even to uneven; told apart by place, dash and label.
LINES = {
    "uniform": (0, (1, 1.2)),
    "linear": (0, (4, 1.5)),
    "quadratic": (0, (6, 1.5, 1, 1.5)),
    "exponential": "-",
    "one-hot": (0, (1, 3)),
}
SHAPES = {
    "uniform": "uniform",
    "linear": r"linear, $\lambda_i \propto i$",
    "quadratic": r"quadratic, $\lambda_i \propto i^2$",
    "exponential": r"exponential, $\lambda_i \propto e^i$",
    "one-hot": "one-hot",
}
_SPR_ALIKE = 1e-6  # dB
_SMALL = 2  # the dimension of the paper's inset
_GROWING = ("linear", "quadratic", "exponential")


def error_curves(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Draw mean squared errors against epsilon, or against K with K = 2 beside it.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.profiles.error_curves` returns it for one noise; either one
        dimension and several epsilons or the reverse.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.printed_numbers` returns it: numbers of the columns gain_db (circles
        below the i.i.d. curve) and mse_db (circles at their place).

    Returns
    -------
    Figure
        Solid black is i.i.d. noise, whose error is the same for all profiles; coloured lines are
        optimal noise; grey are SPR noise, where it differs from i.i.d.
    """
    along = "epsilon" if len(set(table["dimension"])) == 1 else "dimension"
    noise = table["noise"].iloc[0]
    iid = table[table["scheme"] == "iid"].drop_duplicates(along).sort_values(along)
    with house_style():
        wide = along == "dimension" and bool((table["dimension"] == _SMALL).any()) and len(iid) > 2
        figure = new_figure(PAGE if wide else COLUMN * 1.5, 3.6)
        axes, *zoom = figure.subplots(1, 1 + wide, squeeze=False, width_ratios=[3, 1][: 1 + wide])[
            0
        ]
        words = "i.i.d., any profile" + (" (and SPR)" if noise == "gaussian" else "")
        axes.plot(iid[along], iid["mse_db"], color="black", linewidth=1.8, zorder=2, label=words)
        for (scheme, name), rows in table.groupby(["scheme", "profile"], sort=False):
            alike = rows["gain_db"].abs().max() < _SPR_ALIKE
            if scheme == "iid" or (scheme == "spr" and (alike or name == "one-hot")):
                continue
            colour = COLOURS[noise] if scheme == "optimal" else GREY
            words = SHAPES[name] + ("" if scheme == "optimal" else ", SPR")
            axes.plot(rows[along], rows["mse_db"], color=colour, linestyle=LINES[name],
                      label=words, zorder=3)  # fmt: skip
        if printed is not None and len(printed):
            _mark(axes, iid, along, printed)
        _axis(axes, along, table)
        axes.set_ylabel("mean squared error [dB]")
        fixed = table["dimension"].iloc[0] if along == "epsilon" else table["epsilon"].iloc[0]
        words = f"$K = {fixed:g}$" if along == "epsilon" else rf"$\epsilon = {fixed:g}$"
        axes.set_title(f"{NAMES[noise]} noise, {words}")
        axes.grid(color=GREY, alpha=0.2, linewidth=0.5)
        for panel in zoom:
            _near(panel, table, noise)
        figure.legend(loc="outside lower center", ncols=3 if wide else 2)
    return figure


def _mark(axes: Axes, iid: pd.DataFrame, along: str, printed: pd.DataFrame) -> None:
    """Draw printed gains below the i.i.d. curve, and printed errors, as open circles.

    A number stands at the place that it names; one that names none is in the middle.
    """
    known = printed[printed["column"].isin(["gain_db", "mse_db"])].copy()
    places = known[along].astype(float) if along in known else np.nan
    known["x"] = places
    known["x"] = known["x"].fillna(iid[along].iloc[len(iid) // 2])
    level = np.interp(known["x"], iid[along], iid["mse_db"])
    known["y"] = known["printed"].where(known["column"] == "mse_db", level - known["printed"])
    axes.plot(known["x"], known["y"], "o", color="black", markerfacecolor="none", markersize=5,
              zorder=6, clip_on=False, label="printed in the paper")  # fmt: skip


def _axis(axes: Axes, along: str, table: pd.DataFrame) -> None:
    axes.set_xlim(table[along].min(), table[along].max())
    if along == "epsilon":
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.set_xlabel(r"privacy budget $\epsilon$")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("dimension $K$")


def _near(panel: Axes, table: pd.DataFrame, noise: str) -> None:
    """Draw the optimal errors at K = 2, where quadratic is below exponential, and around it."""
    near = table[(table["scheme"] == "optimal") & (table["dimension"] <= _SMALL + 2)]
    for name, rows in near.groupby("profile", sort=False):
        if name in _GROWING:
            panel.plot(rows["dimension"], rows["mse_db"], color=COLOURS[noise],
                       linestyle=LINES[name], marker="o", markersize=3)  # fmt: skip
    panel.axvline(_SMALL, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("dimension $K$")
    panel.set_title("around $K = 2$")
    panel.grid(color=GREY, alpha=0.2, linewidth=0.5)


def dispersion(table: pd.DataFrame) -> Figure:
    """Draw Gini coefficients against K (Figure 2).

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.profiles.dispersion` returns it.
    """
    with house_style():
        figure = new_figure(COLUMN * 1.3, 2.8)
        axes = figure.subplots()
        for name, rows in table.groupby("profile", sort=False):
            axes.plot(rows["dimension"], rows["gini"], color="black", linestyle=LINES[name],
                      linewidth=1.2)  # fmt: skip
            last = rows.iloc[-1]
            shift = {"one-hot": 3, "exponential": -3}.get(name, 0)  # they end side by side
            axes.annotate(name, (last["dimension"], last["gini"]), (4, shift), va="center",
                          textcoords="offset points", annotation_clip=False)  # fmt: skip
        at = table[(table["dimension"] == 2) & table["profile"].isin(["quadratic", "exponential"])]
        axes.plot(at["dimension"], at["gini"], "o", color="black", markersize=3)
        axes.axvline(2, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
        axes.annotate("$K = 2$: quadratic above\nexponential", (2, 0.02), (4, 0), color=GREY,
                      textcoords="offset points", fontsize=6.5, va="bottom")  # fmt: skip
        axes.set_xlim(table["dimension"].min(), table["dimension"].max())
        axes.set_ylim(-0.01, 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("dimension $K$")
        axes.set_ylabel("Gini coefficient")
        axes.set_title("How unequal the sensitivities are")
        axes.grid(color=GREY, alpha=0.2, linewidth=0.5)
    return figure


def laplace_and_gaussian(table: pd.DataFrame) -> Figure:
    """Draw optimal Laplace and Gaussian noise against K, one panel per profile (Figure 4).

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.profiles.error_curves` returns it for both noises at one
        epsilon.

    Returns
    -------
    Figure
        A mark and its K show the first dimension at which Laplace noise has the greater error.
    """
    best = table[table["scheme"] == "optimal"]
    panels = list(dict.fromkeys(best["profile"]))
    with house_style():
        figure = new_figure(PAGE, 2.9)
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for place, (panel, name) in enumerate(zip(axes, panels, strict=True)):
            rows = best[best["profile"] == name].pivot_table(
                index="dimension", columns="noise", values="mse_db"
            )
            for noise, words in (
                ("gaussian", r"Gaussian, $(\epsilon, \delta)$-DP"),
                ("laplace", r"Laplace, $\epsilon$-DP"),
            ):
                panel.plot(rows.index, rows[noise], color=COLOURS[noise], label=words,
                           linestyle="-" if noise == "gaussian" else (0, (4, 1.5)))  # fmt: skip
            _first_loss(panel, rows)
            panel.set_title(name)
            panel.set_xlabel("dimension $K$")
            panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
            if place == 0:
                panel.set_ylabel("mean squared error [dB]")
        axes[0].set_xlim(rows.index.min(), rows.index.max())
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _first_loss(panel: Axes, rows: pd.DataFrame) -> None:
    """Mark the first dimension at which the Laplace error is above the Gaussian's."""
    beyond = rows.index[rows["laplace"] > rows["gaussian"]]
    if len(beyond):
        first = beyond[0]
        level = rows.loc[first, "laplace"]
        panel.plot([first], [level], "o", color="black", markersize=4, zorder=5)
        text, shift = f"Laplace above\nfrom $K = {first}$", (6, -22)
    else:
        first = float(np.median(rows.index))
        level = rows["gaussian"].iloc[-1]
        text, shift = "Laplace below\nfor every $K$", (-14, 12)
    panel.annotate(text, (first, level), shift, textcoords="offset points", fontsize=7)
