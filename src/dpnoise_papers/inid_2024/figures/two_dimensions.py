"""Table II of inid-2024 and what it leaves out: noise for two coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.style import COLOURS, GREY, PLAIN, house_style, legend_below, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MECHANISMS = {
    "staircase": "staircase, knows $\\|\\lambda\\|_1$",
    "laplace-iid": "i.i.d. Laplace, knows $\\|\\lambda\\|_1$",
    "laplace-spr": "SPR Laplace",
    "laplace-optimal": "i.n.i.d. Laplace, $p = 1$",
    "laplace-optimal-2": "i.n.i.d. Laplace, $p = 2$",
    "staircase-optimal": "a staircase per coordinate",
    "box-norm": "noise in the norm of the box",
    "box-staircase": "staircase in the norm of the box",
    "lower-bound": "lower bound on any noise",
}
# Dark is what the paper compares, light what knows as much as its i.n.i.d. noise.
_LOOKS = {
    "staircase": (COLOURS["staircase"], "-"),
    "laplace-iid": (COLOURS["laplace"], (0, (1, 1.2))),
    "laplace-optimal": (COLOURS["laplace"], "-"),
    "staircase-optimal": (COLOURS["truncated-laplace"], (0, (4, 1.5))),
    "box-norm": (COLOURS["gaussian"], (0, (1, 1.2))),
    "box-staircase": (COLOURS["gaussian"], "-"),
    "lower-bound": (GREY, (0, (2, 2))),
}
_PAPER = ("staircase", "laplace-iid", "laplace-optimal")


@house_style()
def table_2(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Table II as a page: ours, and below it in grey what the paper prints.

    The lowest error of each column, bound aside, is bold.
    """
    wide = table.pivot_table(index="mechanism", columns="epsilon", values="mae", sort=False)
    known = {}
    if printed is not None and len(printed):
        rows = printed[printed["column"] == "mae"]
        places = zip(rows["mechanism"], rows["epsilon"].astype(float), strict=True)
        known = dict(zip(places, rows["printed"], strict=True))
    names = [*_PAPER, *(name for name in wide.index if name not in _PAPER)]
    lowest = wide.drop(index="lower-bound", errors="ignore").min()
    figure, panels = page(height=0.7 + 0.34 * len(names))
    axes = panels[0, 0]
    axes.set_axis_off()
    axes.set_xlim(-2.6, len(wide.columns) - 0.4)
    axes.set_ylim(len(names) - 0.3, -1.3)
    axes.set_title("Mean absolute error in two dimensions; in grey as the paper prints it")
    for place, epsilon in enumerate(wide.columns):
        axes.text(place, -0.85, rf"$\epsilon = {epsilon:g}$", ha="center", fontweight="bold")
    for row, name in enumerate(names):
        axes.text(-2.6, row, MECHANISMS[name], va="center")
        for place, epsilon in enumerate(wide.columns):
            value = float(wide[epsilon][name])
            weight = "bold" if value == lowest[epsilon] else "normal"
            text = known.get((name, float(epsilon)))
            up = 0.14 if text is not None else 0.0
            axes.text(place, row - up, f"{value:.4f}", ha="center", va="center",
                      fontweight=weight)  # fmt: skip
            if text is not None:
                axes.text(place, row + 0.24, f"{text:.4f}", ha="center", va="center",
                          color=GREY)  # fmt: skip
    for level in (-0.55, len(_PAPER) - 0.5):
        axes.axhline(level, color="black", linewidth=0.6)
    return figure


@house_style()
def curves(table: pd.DataFrame) -> Figure:
    """Errors times epsilon, which is constant for Laplace noise, against epsilon."""
    figure, panels = page(height=3.6)
    axes = panels[0, 0]
    for name, (colour, line) in _LOOKS.items():
        rows = table[table["mechanism"] == name].sort_values("epsilon")
        axes.plot(rows["epsilon"], rows["mae_epsilon"], color=colour, linestyle=line,
                  label=MECHANISMS[name])  # fmt: skip
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
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "relpos": (1.0, 0.4)},
        )  # fmt: skip
