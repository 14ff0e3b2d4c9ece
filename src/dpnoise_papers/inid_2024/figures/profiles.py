"""Errors and dispersion of profiles of sensitivities: Figures 1 to 4, Corollary 6, Theorem 7.

Beside them Table II over epsilon with what it leaves out, noise for two coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dpnoise_papers.style import (
    COLOURS,
    GREY,
    GROUND,
    NAMES,
    PLAIN,
    house_style,
    legend_below,
    look,
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
_FAMILIES = {
    "linear": ("linear", "^"),
    "quadratic": ("quadratic", "s"),
    "exponential": ("exponential", "D"),
    "block": ("equal or absent", "o"),
    "outlier": ("one large, many small", "v"),
}


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
def theorem_7(table: pd.DataFrame) -> Figure:
    """Ratio of the errors against nu, between what is true and what is claimed."""
    nu = np.geomspace(table["nu"].min(), 1.0, 60)
    figure, panels = page(1, 2, height=3.2, sharex=True, sharey=True)
    for panel, noise in zip(panels[0], ("gaussian", "laplace"), strict=True):
        panel.fill_between(nu, nu, 1.0, color=GREY, alpha=0.15, linewidth=0,
                           label=r"possible: $\nu \leq$ ratio $\leq 1$")  # fmt: skip
        panel.plot(nu, nu**2, color="black", linestyle=(0, (4, 1.5)), linewidth=1.0,
                   label=r"$\nu^2$, which Theorem 7 claims")  # fmt: skip
        for name, (_, marker) in _FAMILIES.items():
            rows = table[table["profile"] == name]
            panel.plot(rows["nu"], rows[noise], linestyle="none", marker=marker, markersize=4.5,
                       color=COLOURS[noise], markerfacecolor="none", clip_on=False)  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(r"$\nu$, mean over largest sensitivity")
        panel.set_title(NAMES[noise])
        panel.grid()
    panels[0, 0].set_ylabel("mean squared error of optimal\nover i.i.d. noise")
    panels[0, 0].set_xlim(0.8 * nu[0], 1.25)
    panels[0, 0].set_ylim(max(nu[0] ** 2, 1e-6), 1.5)
    regions, _ = panels[0, 0].get_legend_handles_labels()
    look: dict[str, Any] = {
        "color": "black",
        "linestyle": "none",
        "markersize": 4,
        "markerfacecolor": "none",
    }
    marks = [Line2D([], [], marker=m, label=words, **look) for words, m in _FAMILIES.values()]
    legend_below(figure, [*regions, *marks])
    return figure


# Words of each mechanism, then colour and dash, and a marker where two have the same.
MECHANISMS = {
    "staircase": ("staircase, knows $\\|\\lambda\\|_1$", "staircase", ""),
    "laplace-iid": ("i.i.d. Laplace, knows $\\|\\lambda\\|_1$", "laplace", ""),
    "laplace-optimal": ("i.n.i.d. Laplace, $p = 1$", "laplace", "o"),
    "box-staircase": ("staircase in the norm of the box", "k-norm", ""),
    "lower-bound": ("lower bound on any noise", "", ""),
}
_BOUND = {"color": GREY, "linestyle": (0, (2, 2))}
_PAPER = ("staircase", "laplace-iid", "laplace-optimal")


@house_style()
def curves(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Errors times epsilon, which is constant for Laplace noise, against epsilon.

    Open circles are the numbers of Table II; what it leaves out carries an asterisk.
    """
    figure, panels = page(height=3.6)
    axes = panels[0, 0]
    for name, (words, mechanism, marker) in MECHANISMS.items():
        rows = table[table["mechanism"] == name].sort_values("epsilon")
        axes.plot(
            rows["epsilon"], rows["mae_epsilon"], **(look(mechanism) if mechanism else _BOUND),
            marker=marker, markersize=3, markevery=max(1, len(rows) // 8),
            label=words + "*" * (name not in _PAPER),
        )  # fmt: skip
    if printed is not None and len(printed):
        _mark_printed(axes, printed)
    _mark_crossing(axes, table)
    axes.set_xscale("log")
    axes.set_xlim(table["epsilon"].min(), table["epsilon"].max())
    axes.set_ylim(0.0, None)
    axes.xaxis.set_major_formatter(PLAIN)
    axes.set_xlabel(r"privacy budget $\epsilon$")
    axes.set_ylabel(r"mean absolute error $\times\, \epsilon$")
    axes.set_title("Two coordinates: mean absolute error times epsilon")
    axes.grid()
    legend_below(figure)
    return figure


def _mark_printed(axes: Axes, printed: pd.DataFrame) -> None:
    """Mark of the printed errors, times epsilon."""
    rows = printed[printed["column"] == "mae"]
    epsilon = rows["epsilon"].astype(float)
    axes.scatter(
        epsilon, epsilon * rows["printed"], s=26, facecolors="none", linewidths=1, zorder=6,
        edgecolors=[COLOURS[MECHANISMS[name][1]] for name in rows["mechanism"]],
    )  # fmt: skip
    axes.plot([], [], "o", color=GREY, markerfacecolor="none", label="printed")


def _mark_crossing(axes: Axes, table: pd.DataFrame) -> None:
    """Mark of the first epsilon of the grid at which the staircase beats i.n.i.d. Laplace noise."""
    wide = table.pivot_table(index="epsilon", columns="mechanism", values="mae_epsilon")
    beyond = wide.index[wide["staircase"] < wide["laplace-optimal"]]
    if len(beyond):
        level = wide.loc[beyond[0], "laplace-optimal"]
        axes.plot([beyond[0]], [level], "o", color="black", markersize=4, zorder=5)
        axes.annotate(
            "here the staircase, which knows less,\novertakes i.n.i.d. Laplace noise",
            (beyond[0], level), (0.12, 0.885), textcoords="axes fraction", va="center",
            bbox=GROUND,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "relpos": (1.0, 0.4)},
        )  # fmt: skip
