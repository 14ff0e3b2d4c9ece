"""Figures of mean estimation and histograms in balle-wang-2018: error against dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from dpnoise_papers.claims.interval import ends
from dpnoise_papers.style import GREY, PLAIN, house_style, legend_below, look, page

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class _Look(NamedTuple):
    """Name, keywords of a line and marker of a mechanism."""

    name: str
    line: dict[str, Any]
    marker: str


# In the order of the legend; variants of one mechanism differ in the marker.
_LOOKS = {
    "cgm": _Look("cGM: classical Gaussian", look("classical-gaussian"), "s"),
    "agm": _Look("aGM: analytic Gaussian", look("gaussian"), "o"),
    "laplace": _Look("Laplace, pure", look("laplace"), "^"),
    "agm-js": _Look("aGM-JS: James-Stein", look("james-stein"), "v"),
    "agm-th": _Look("aGM-TH: soft threshold", look("soft-threshold"), "D"),
    "agm-js-plus": _Look("aGM-JS, positive part*", look("james-stein"), "1"),
    "laplace-exact": _Look(r"Laplace, $(\epsilon, \delta)$*", look("laplace"), "2"),
    "flipped-huber": _Look("flipped Huber*", look("flipped-huber"), ""),
    "truncated-laplace": _Look("truncated Laplace*", look("truncated-laplace"), ""),
    "zero": _Look("all zeros, no data used*", {"color": GREY, "linestyle": (0, (1, 2.5))}, ""),
}
# Mechanisms that others may lie on, as a note calls them.
_ON = {"agm": "aGM", "laplace": "Laplace, pure", "agm-js": "aGM-JS", "agm-th": "aGM-TH",
       "laplace-exact": r"Laplace, $(\epsilon, \delta)$"}  # fmt: skip
_DENOISED = ("agm-js", "agm-js-plus", "agm-th", "zero")


_ALIKE = 0.01  # relative; curves that differ by less lie on one another


def mean_curves(table: pd.DataFrame) -> Figure:
    """l2 error of private means, drawn by `error_curves`."""
    return error_curves(table, r"$\ell_2$ error")


def histogram_curves(table: pd.DataFrame) -> Figure:
    """l1 error of private histograms, drawn by `error_curves`."""
    return error_curves(table, r"$\ell_1$ error")


def denoised_means(table: pd.DataFrame) -> Figure:
    """l2 error of denoised means, drawn by `denoised_curves`."""
    return denoised_curves(table, r"$\ell_2$ error")


def denoised_histograms(table: pd.DataFrame) -> Figure:
    """l1 error of denoised histograms, drawn by `denoised_curves`."""
    return denoised_curves(table, r"$\ell_1$ error")


@house_style()
def error_curves(table: pd.DataFrame, error: str) -> Figure:
    """Error of every mechanism against the dimension, of `tables.releases`; `error` names its norm.

    Two panels for each epsilon: the errors, and each over that of the analytic Gaussian mechanism,
    where curves that lie on one another come apart. Bands are 99 % intervals, as the verdict has.
    The legend says where a curve ends before the last dimension, and on which other curve
    one of ours lies.
    """
    methods = [name for name in _LOOKS if name in set(table["method"])]
    epsilons = sorted(table["epsilon"].unique())
    notes = {name: _note(table, name) for name in methods}
    figure, panels = page(len(epsilons), 2, height=3.3 * len(epsilons))
    for (left, right), epsilon in zip(panels, epsilons, strict=True):
        rows = table[table["epsilon"] == epsilon]
        _draw(left, rows, notes)
        left.set_title(f"Error at $\\epsilon = {epsilon:g}$")
        left.set_ylabel(f"{error}, mean over data sets")
        shared = rows[rows["method"] == "agm"].set_index("dimension")["error"]
        _draw(right, rows, notes, rows["dimension"].map(shared))
        right.set_title("The same over the error of aGM")
    legend_below(figure)
    return figure


@house_style()
def denoised_curves(table: pd.DataFrame, error: str) -> Figure:
    """Error of the denoised mechanisms alone, in high dimension, beside that of releasing zeros.

    `error` names its norm.
    """
    epsilons = sorted(table["epsilon"].unique())
    figure, panels = page(1, len(epsilons), height=2.9)
    for panel, epsilon in zip(panels[0], epsilons, strict=True):
        _draw(panel, table[table["epsilon"] == epsilon], dict.fromkeys(_DENOISED, ""))
        panel.set_title(f"$\\epsilon = {epsilon:g}$")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(PLAIN)
    panels[0, 0].set_ylabel(f"{error}, mean over data sets")
    legend_below(figure)
    return figure


def _note(table: pd.DataFrame, method: str) -> str:
    """Words on where a curve ends, and on which earlier curve one of ours lies throughout."""
    errors = table.pivot_table("error", ["epsilon", "dimension"], "method")
    own = errors[method].dropna()
    last = own.index.get_level_values("dimension").max()
    note = "" if last == table["dimension"].max() else f", to $d = {last:g}$"
    if not _LOOKS[method].name.endswith("*"):
        return note
    for other in (name for name in _ON if name in errors and name != method):
        if (errors[other] / own - 1.0).abs().dropna().lt(_ALIKE).all():
            return f"{note}, on {_ON[other]}"
    return note


def _draw(
    axes: Axes, rows: pd.DataFrame, notes: Mapping[str, str], unit: pd.Series | None = None
) -> None:
    """Draw one line with its band per method, in units of another column if there is one.

    `notes` are what the legend adds to the name of each method.
    """
    for method, note in notes.items():
        own = rows[rows["method"] == method]
        if own.empty:
            continue
        entry, scale = _LOOKS[method], 1.0 if unit is None else unit[own.index]
        ours = entry.name.endswith("*")
        error = own["error"] / scale
        label = entry.name.removesuffix("*") + note + "*" * ours
        axes.plot(
            own["dimension"], error, **entry.line, marker=entry.marker, markersize=3.5,
            label=label, zorder=3 if ours else 4, linewidth=1.0 if ours else 1.4,
        )  # fmt: skip
        low, high = (end / scale for end in ends(own, "error"))
        low = np.maximum(low, error.min() / 100)  # a band that reaches 0 has no end on this axis
        axes.fill_between(
            own["dimension"], low, high, color=entry.line["color"], alpha=0.2, linewidth=0
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
