"""Figures 1 to 3 of inid-2024: errors and dispersion of profiles of sensitivities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from dpnoise_papers.style import (
    COLOURS,
    GREY,
    GROUND,
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

# From even to uneven; told apart by place, dash and label.
LINES: dict[Any, Any] = {
    "uniform": (0, (1, 1.2)),
    "linear": (0, (4, 1.5)),
    "quadratic": (0, (6, 1.5, 1, 1.5)),
    "exponential": "-",
    "one-hot": (0, (1, 3)),
}
SHAPES: dict[Any, str] = {
    "uniform": "uniform",
    "linear": r"linear, $\lambda_i \propto i$",
    "quadratic": r"quadratic, $\lambda_i \propto i^2$",
    "exponential": r"exponential, $\lambda_i \propto e^i$",
    "one-hot": "one-hot",
}
_SPR_ALIKE = 1e-6  # dB
_SMALL = 2  # the dimension of the paper's inset
_GROWING = ("linear", "quadratic", "exponential")


@house_style()
def error_curves(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Mean squared errors of one noise, against epsilon with the gains or against K near K = 2.

    Solid black is i.i.d. noise, whose error is the same for all profiles; coloured lines are
    optimal noise; grey are SPR noise, where it differs from i.i.d. Circles are printed numbers:
    gain_db, below i.i.d. noise, beside the errors; mse_db at their place among them.
    """
    along = "epsilon" if len(set(table["dimension"])) == 1 else "dimension"
    noise = table["noise"].iloc[0]
    iid = table[table["scheme"] == "iid"].drop_duplicates(along).sort_values(along)
    zoomed = along == "dimension" and bool((table["dimension"] == _SMALL).any()) and len(iid) > 2
    two = zoomed or along == "epsilon"
    figure, panels = page(
        1, 1 + two, height=3.6 if zoomed else 3.2,
        width_ratios=([3, 1] if zoomed else [1.2, 1])[: 1 + two],
    )  # fmt: skip
    axes = panels[0, 0]
    words = "i.i.d., any profile" + (" (and SPR)" if noise == "gaussian" else "")
    _lines(axes, table, iid, "mse_db", words)
    _axis(axes, along, table)
    axes.set_ylabel("mean squared error [dB]")
    fixed = table["dimension"].iloc[0] if along == "epsilon" else table["epsilon"].iloc[0]
    words = f"$K = {fixed:g}$" if along == "epsilon" else rf"$\epsilon = {fixed:g}$"
    axes.set_title(f"{NAMES[noise]} noise, {words}")
    if along == "epsilon":
        beside = panels[0, 1]
        _lines(beside, table, iid, "gain_db")
        _axis(beside, along, table)
        beside.set_ylabel("below i.i.d. noise [dB]")
        beside.set_title("Gain")
    elif zoomed:
        _near(panels[0, 1], table, noise)
    if printed is not None and len(printed):
        for panel, column in zip(panels[0], ("mse_db", "gain_db"), strict=False):
            _mark(panel, iid, along, printed[printed["column"] == column])
    for panel in panels[0]:
        panel.grid(visible=True)
    legend_below(figure)
    return figure


def _lines(
    axes: Axes, table: pd.DataFrame, iid: pd.DataFrame, column: str, words: str = ""
) -> None:
    """Draw one column for i.i.d. noise and for each scheme and profile that differs from it."""
    along = "epsilon" if len(set(table["dimension"])) == 1 else "dimension"
    axes.plot(iid[along], iid[column], color="black", linewidth=1.8, zorder=2, label=words or None)
    for (scheme, name), rows in table.groupby(["scheme", "profile"], sort=False):
        alike = bool(rows["gain_db"].abs().max() < _SPR_ALIKE)
        if scheme == "iid" or (scheme == "spr" and (alike or name == "one-hot")):
            continue
        colour = COLOURS[rows["noise"].iloc[0]] if scheme == "optimal" else GREY
        label = SHAPES[name] + ("" if scheme == "optimal" else ", SPR") + ", on i.i.d." * alike
        axes.plot(
            rows[along], rows[column], color=colour, linestyle=LINES[name], zorder=3,
            label=label if words else None,
        )  # fmt: skip


def _mark(axes: Axes, iid: pd.DataFrame, along: str, known: pd.DataFrame) -> None:
    """Printed numbers of one panel as open circles.

    A number stands at the place that it names, if that was computed; one that names none is in the
    middle.
    """
    middle = iid[along].iloc[len(iid) // 2]
    places = known[along].astype(float) if along in known else known["printed"] * np.nan
    places = places.fillna(middle)
    shown = places.between(iid[along].min(), iid[along].max())
    if shown.any():
        axes.plot(
            places[shown], known.loc[shown, "printed"], "o", color="black", markerfacecolor="none",
            markersize=5, zorder=6, clip_on=False, label="printed in the paper",
        )  # fmt: skip


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
    """Optimal errors at K = 2, where quadratic is below exponential, and around it."""
    near = table[(table["scheme"] == "optimal") & (table["dimension"] <= _SMALL + 2)]
    for name, rows in near.groupby("profile", sort=False):
        if name in _GROWING:
            panel.plot(rows["dimension"], rows["mse_db"], color=COLOURS[noise],
                       linestyle=LINES[name], marker="o", markersize=3)  # fmt: skip
    panel.axvline(_SMALL, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("dimension $K$")
    panel.set_title("around $K = 2$")


@house_style()
def dispersion(table: pd.DataFrame) -> Figure:
    """Gini coefficients against K (Figure 2)."""
    figure, panels = page(height=2.8)
    axes = panels[0, 0]
    for name, rows in table.groupby("profile", sort=False):
        axes.plot(rows["dimension"], rows["gini"], color="black", linestyle=LINES[name],
                  linewidth=1.2)  # fmt: skip
        last = rows.iloc[-1]
        shift = {"one-hot": 3, "exponential": -3}.get(str(name), 0)  # they end side by side
        axes.annotate(name, (last["dimension"], last["gini"]), (4, shift), va="center",
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
    at = table[(table["dimension"] == 2) & table["profile"].isin(["quadratic", "exponential"])]
    axes.plot(at["dimension"], at["gini"], "o", color="black", markersize=3)
    axes.axvline(2, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
    axes.annotate("$K = 2$: quadratic above exponential", (2, 0.02), (4, 0), color=GREY,
                  textcoords="offset points", va="bottom", bbox=GROUND)  # fmt: skip
    axes.set_xlim(table["dimension"].min(), table["dimension"].max())
    axes.set_ylim(-0.01, 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("dimension $K$")
    axes.set_ylabel("Gini coefficient")
    axes.set_title("Dispersion of the sensitivities")
    axes.grid()
    return figure
