"""Figures of mean estimation and histograms in balle-wang-2018: error against dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from dpnoise_papers.style import COLOURS, GREY, PLAIN, house_style, legend_below, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class _Look(NamedTuple):
    """Name and line of a mechanism."""

    name: str
    colour: str
    line: object
    marker: str


_DASHES = (0, (4, 1.5))
_DOTS = (0, (1, 1.2))
# In the order of the legend. James-Stein and the threshold have colours of their own.
_LOOKS = {
    "cgm": _Look("cGM: classical Gaussian", COLOURS["subbotin"], _DASHES, "s"),
    "agm": _Look("aGM: analytic Gaussian", COLOURS["gaussian"], "-", "o"),
    "laplace": _Look("Laplace, pure", COLOURS["laplace"], "-", "^"),
    "agm-js": _Look("aGM-JS: James-Stein", "#CC79A7", "-", "v"),
    "agm-js-plus": _Look("aGM-JS, positive part*", "#CC79A7", _DOTS, ""),
    "agm-th": _Look("aGM-TH: soft threshold", "#E69F00", "-", "D"),
    "laplace-exact": _Look(r"Laplace, $(\epsilon, \delta)$*", COLOURS["laplace"], _DOTS, ""),
    "flipped-huber": _Look("flipped Huber*", COLOURS["flipped-huber"], _DASHES, ""),
    "truncated-laplace": _Look("truncated Laplace*", COLOURS["truncated-laplace"], _DOTS, ""),
    "zero": _Look("all zeros, no data used*", GREY, _DOTS, ""),
}
_DENOISED = ("agm-js", "agm-js-plus", "agm-th", "zero")


@house_style()
def error_curves(table: pd.DataFrame) -> Figure:
    """Error of every mechanism against the dimension, of `tables.releases`.

    Two panels for each epsilon: the errors, and each over that of the analytic Gaussian mechanism,
    where curves that lie on one another come apart. Bands are two standard errors to either side.
    """
    methods = [name for name in _LOOKS if name in set(table["method"])]
    epsilons = sorted(table["epsilon"].unique())
    figure, panels = page(len(epsilons), 2, height=3.3 * len(epsilons))
    for (left, right), epsilon in zip(panels, epsilons, strict=True):
        rows = table[table["epsilon"] == epsilon]
        _draw(left, rows, methods)
        left.set_title(f"Error at $\\epsilon = {epsilon:g}$")
        left.set_ylabel("error, mean over data sets")
        shared = rows[rows["method"] == "agm"].set_index("dimension")["error"]
        _draw(right, rows, methods, rows["dimension"].map(shared))
        right.set_title("The same over the error of aGM")
    _legend(figure, panels[0, 0])
    return figure


@house_style()
def denoised_curves(table: pd.DataFrame) -> Figure:
    """Error of the denoised mechanisms alone, in high dimension, beside that of releasing zeros."""
    epsilons = sorted(table["epsilon"].unique())
    figure, panels = page(1, len(epsilons), height=2.9)
    for panel, epsilon in zip(panels[0], epsilons, strict=True):
        _draw(panel, table[table["epsilon"] == epsilon], _DENOISED)
        panel.set_title(f"$\\epsilon = {epsilon:g}$")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(PLAIN)
    panels[0, 0].set_ylabel("error, mean over data sets")
    _legend(figure, panels[0, 0])
    return figure


def _draw(
    axes: Axes, rows: pd.DataFrame, methods: Sequence[str], unit: pd.Series | None = None
) -> None:
    """Draw one line with its band per method, in units of another column if there is one."""
    for method in methods:
        own = rows[rows["method"] == method]
        if own.empty:
            continue
        look, scale = _LOOKS[method], 1.0 if unit is None else unit[own.index]
        error, band = own["error"] / scale, 2.0 * own["error_se"] / scale
        axes.plot(
            own["dimension"], error, color=look.colour, linestyle=look.line, marker=look.marker,
            markersize=3, label=look.name, zorder=3 if look.marker else 4,
        )  # fmt: skip
        low = (error - band).clip(lower=error.min() / 100)
        axes.fill_between(
            own["dimension"], low, error + band, color=look.colour, alpha=0.2, linewidth=0
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted(set(rows["dimension"]))
    axes.set_xticks(ticks[:: 1 + len(ticks) // 7])
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("dimension $d$")
    axes.grid()


def _legend(figure: Figure, panel: Axes) -> None:
    """Name the lines of a panel below all of them."""
    handles, names = panel.get_legend_handles_labels()
    if any(name.endswith("*") for name in names):
        handles.append(Line2D([], [], color="none", label="* beyond the paper"))
    legend_below(figure, handles)
