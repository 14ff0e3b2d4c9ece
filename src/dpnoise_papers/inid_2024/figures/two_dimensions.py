"""Table II of inid-2024 over epsilon, and what it leaves out: noise for two coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.style import COLOURS, GREY, GROUND, PLAIN, house_style, legend_below, look, page

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
# Of one mechanism, a marker tells the variants apart.
_LOOKS = {
    "staircase": ("staircase", ""),
    "laplace-iid": ("laplace", ""),
    "laplace-optimal": ("laplace", "o"),
    "staircase-optimal": ("staircase", "o"),
    "box-norm": ("k-norm", ""),
    "box-staircase": ("k-norm", "s"),
    "lower-bound": ("", ""),
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
    for name, (mechanism, marker) in _LOOKS.items():
        rows = table[table["mechanism"] == name].sort_values("epsilon")
        axes.plot(
            rows["epsilon"], rows["mae_epsilon"], **(look(mechanism) if mechanism else _BOUND),
            marker=marker, markersize=3, markevery=max(1, len(rows) // 8),
            label=MECHANISMS[name] + "*" * (name not in _PAPER),
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
        edgecolors=[COLOURS[_LOOKS[name][0]] for name in rows["mechanism"]],
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
