"""Figures of balle-wang-2018.

Section 5.1 and Appendix B: the Gaussian mechanism, classical and analytic. Mean estimation and
histograms: error against dimension. Heat maps: Figures 2 and 5 as maps, Figure 6 as errors over
epsilon. Roads are drawn in the colour of the mean of their two junctions. All maps of a figure
share one scale, from zero to what all but a few junctions have in truth; a darker colour is a
larger count, in print too. The city is turned so that its long axis is upright.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from dpnoise_papers.claims.interval import ends
from dpnoise_papers.style import (
    GREY,
    OURS,
    PAGE,
    PLAIN,
    house_style,
    legend_below,
    look,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise._types import Array

_NEAR = 2.0  # of the largest printed bound, up to where the second panel of a gain reaches
SOURCES = {"scaled": "substitute trips, scaled"}
# Maps in the order of Figure 2, then ours. A flat one is blank, and the positive part's is as
# James-Stein's.
_MAPS_OF_PAPER = ("analytic", "wavelets", "trend-filtering-0")
_OUR_MAPS = ("classical", "soft-threshold", "james-stein", "trend-filtering-1", "trend-filtering-2")
# From a pale tone that still shows a street on white to nearly black; monotone in lightness.
_SHADES = ListedColormap(colormaps["magma_r"](np.linspace(0.05, 0.97, 256)))
_ALL_BUT = 0.5  # per cent of junctions beyond the scale


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


@house_style()
def gain(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Gain in variance against epsilon or delta, of which there are more, a line per other value.

    The second panels of Figures 1 and 3. Guides are the gains that the paper prints, near which the
    right panel is.
    """
    along, by = sorted(("epsilon", "delta"), key=lambda name: -table[name].nunique())
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


class _Look(NamedTuple):
    """Name, with an asterisk if it is ours, keywords of a line and marker of a mechanism."""

    name: str
    line: dict[str, Any]
    marker: str = ""


_FLAT = {"color": GREY, "linestyle": (0, (1, 2.5))}
# In the order of the legend; variants of one mechanism differ in the marker.
_RELEASES = {
    "cgm": _Look("cGM: classical Gaussian", look("classical-gaussian"), "s"),
    "agm": _Look("aGM: analytic Gaussian", look("gaussian"), "o"),
    "laplace": _Look("Laplace, pure", look("laplace"), "^"),
    "agm-js": _Look("aGM-JS: James-Stein", look("james-stein"), "v"),
    "agm-th": _Look("aGM-TH: soft threshold", look("soft-threshold"), "D"),
    "agm-js-plus": _Look("aGM-JS, positive part*", look("james-stein"), "1"),
    "zero": _Look("all zeros, no data used*", _FLAT),
}
_MAPS = {
    "classical": _Look("classical Gaussian", look("classical-gaussian"), "s"),
    "analytic": _Look("analytic Gaussian", look("gaussian"), "o"),
    "flat": _Look("mean everywhere*", _FLAT),
    "james-stein": _Look("James-Stein", look("james-stein"), "v"),
    "james-stein-positive": _Look("James-Stein, positive part*", look("james-stein"), "1"),
    "soft-threshold": _Look("soft threshold", look("soft-threshold"), "D"),
    "wavelets": _Look("wavelets", look("wavelets"), "P"),
    "trend-filtering-0": _Look("trend filter, order 0", look("trend-filtering"), "*"),
    "trend-filtering-1": _Look("trend filter, order 1*", look("trend-filtering"), "X"),
    "trend-filtering-2": _Look("trend filter, order 2*", look("trend-filtering"), "x"),
}
_DENOISED = ("agm-js", "agm-js-plus", "agm-th", "zero")


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
    """
    epsilons = sorted(table["epsilon"].unique())
    figure, panels = page(len(epsilons), 2, height=3.3 * len(epsilons))
    for (left, right), epsilon in zip(panels, epsilons, strict=True):
        rows = table[table["epsilon"] == epsilon]
        _draw(left, rows, _RELEASES)
        left.set_title(f"Error at $\\epsilon = {epsilon:g}$")
        left.set_ylabel(f"{error}, mean over data sets")
        shared = rows[rows["method"] == "agm"].set_index("dimension")["error"]
        _draw(right, rows, _RELEASES, rows["dimension"].map(shared))
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
        _draw(panel, table[table["epsilon"] == epsilon], _DENOISED)
        panel.set_title(f"$\\epsilon = {epsilon:g}$")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(PLAIN)
    panels[0, 0].set_ylabel(f"{error}, mean over data sets")
    legend_below(figure)
    return figure


def _draw(
    axes: Axes, rows: pd.DataFrame, methods: Iterable[str], unit: pd.Series | None = None
) -> None:
    """Draw errors over dimensions, in units of another column if there is one."""
    axes.set_xscale("log", base=2)
    _bands(axes, rows, {name: _RELEASES[name] for name in methods}, ("dimension", "error"), unit)
    ticks = sorted(set(rows["dimension"]))
    axes.set_xticks(ticks[:: 1 + len(ticks) // 7])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("dimension $d$")


def _bands(
    axes: Axes,
    rows: pd.DataFrame,
    looks: Mapping[str, _Look],
    columns: tuple[str, str],
    unit: pd.Series | None = None,
) -> None:
    """Draw one line with its band per method that has rows, of columns x and y."""
    x, y = columns
    for method, entry in looks.items():
        own = rows[rows["method"] == method]
        if own.empty:
            continue
        scale, ours = 1.0 if unit is None else unit[own.index], entry.name.endswith("*")
        error = own[y] / scale
        axes.plot(
            own[x], error, **entry.line, marker=entry.marker, markersize=3.5, label=entry.name,
            zorder=3 if ours else 4, linewidth=1.0 if ours else 1.4,
        )  # fmt: skip
        low, high = (end / scale for end in ends(own, y))
        low = np.maximum(low, error / 10)  # a band that reaches 0 has no end on this axis
        axes.fill_between(own[x], low, high, color=entry.line["color"], alpha=0.2, linewidth=0)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.grid()


@house_style()
def maps(
    errors: pd.DataFrame,
    maps: pd.DataFrame,
    roads: pd.DataFrame,
    printed: pd.DataFrame | None = None,
) -> Figure:
    """Row of maps: substitute counts and the methods of `heat_maps`, each with its RMSE below.

    Those of the paper come first, with the RMSE that it prints in brackets.
    """
    present = set(errors["method"])
    methods = [name for name in (*_MAPS_OF_PAPER, *_OUR_MAPS) if name in present]
    paper = _printed(printed)
    rmse = dict(zip(errors["method"], errors["rmse_first"], strict=True))
    x, y = _upright(maps[["x", "y"]].to_numpy())
    low, high = roads[["u", "v"]].to_numpy().T
    points = np.column_stack([x, y])
    lines = list(np.stack([points[low], points[high]], axis=1))
    truth = maps["truth"].to_numpy()
    scale = Normalize(0.0, float(np.percentile(truth, 100.0 - _ALL_BUT)))
    aspect = float(np.ptp(y) / np.ptp(x))
    count = 1 + len(methods)
    figure, panels = page(1, count, height=min(PAGE / count * aspect * 0.9, 6.2) + 1.3)
    for panel, method in zip(panels[0], ["truth", *methods], strict=True):
        values = maps[method].to_numpy()
        panel.add_collection(
            LineCollection(
                lines, array=(values[low] + values[high]) / 2.0, cmap=_SHADES, norm=scale,
                linewidths=0.8, capstyle="round", rasterized=True,
            )
        )  # fmt: skip
        panel.set_xlim(np.min(x), np.max(x))
        panel.set_ylim(np.min(y), np.max(y))
        panel.set_aspect("equal")
        panel.set_axis_off()
        words = "counts (substitutes)"
        if method != "truth":
            words = _MAPS[method].name.removesuffix("*") + "*" * (method in _OUR_MAPS)
        panel.set_title(
            textwrap.fill(words, 13, break_on_hyphens=False), loc="center", fontweight="normal"
        )
        below = "RMSE" if method == "truth" else f"{rmse[method]:.2f}"
        panel.text(0.5, -0.01, below, transform=panel.transAxes, ha="center", va="top",
                   fontweight="normal" if method == "truth" else "bold")  # fmt: skip
        known = "(printed)" if method == "truth" else paper.get(method, "")
        panel.text(0.5, -0.045, known, transform=panel.transAxes, ha="center", va="top", color=GREY)
    first = errors.iloc[0]
    figure.suptitle(
        f"{first['city']}, {first['hour']:02d}-{first['hour'] + 1:02d} h, "
        f"{SOURCES[first['source']]}: {first['day']}\n"
        rf"$\epsilon$ = {first['epsilon']:g}, $\delta$ = ${power_of_ten(first['delta'])}$, "
        f"sensitivity {first['sensitivity']:g} ({first['neighbours']})"
    )
    colours = figure.colorbar(
        ScalarMappable(scale, _SHADES), ax=list(panels[0]), orientation="horizontal",
        extend="both", aspect=60, fraction=0.03, pad=0.04,
    )  # fmt: skip
    colours.set_label(f"pick-ups and drop-offs at a junction{' ' * 12}{OURS}")
    colours.outline.set_linewidth(0.4)
    return figure


def _printed(printed: pd.DataFrame | None) -> dict[str, str]:
    """RMSE that the paper prints for each method, in brackets."""
    if printed is None or "method" not in printed:
        return {}
    rows = printed.dropna(subset="method")
    texts = (f"({value:.2f})" for value in rows["printed"])
    return dict(zip(rows["method"], texts, strict=True))


@house_style()
def errors(table: pd.DataFrame) -> Figure:
    """Mean square error and its 99 % interval against epsilon, one panel for each hour."""
    hours = sorted(set(table["hour"]))
    name = r"classical Gaussian (private for $\epsilon < 1$)"
    looks = _MAPS | {"classical": _MAPS["classical"]._replace(name=name)}
    columns = min(len(hours), 2)
    rows = -(-len(hours) // columns)
    figure, panels = page(rows, columns, height=2.5 * rows + 0.7, sharex=True, sharey=True)
    for panel, hour in zip(panels.flat, hours, strict=False):
        here = table[table["hour"] == hour]
        panel.set_xscale("log")
        _bands(panel, here, looks, ("epsilon", "mse"))
        panel.set_xlim(here["epsilon"].min() * 0.95, here["epsilon"].max() * 1.05)
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_title(f"{hour:02d}-{hour + 1:02d} h, {SOURCES[here['source'].iloc[0]]}")
    for panel in panels.flat[len(hours) :]:
        panel.set_axis_off()
    for panel in panels[-1]:
        panel.set_xlabel(r"privacy budget $\epsilon$")
    for panel in panels[:, 0]:
        panel.set_ylabel("mean square error")
    first = table.iloc[0]
    figure.suptitle(
        rf"{first['city']}: $\delta$ = ${power_of_ten(first['delta'])}$, "
        f"sensitivity {first['sensitivity']:g}, {first['repetitions']} repetitions"
    )
    legend_below(figure)
    return figure


def _upright(points: Array) -> tuple[Array, Array]:
    """Return coordinates along the short and the long axis, the northern end on top."""
    centred = points - np.mean(points, axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    up = axes[:, 1] * (1.0 if axes[1, 1] >= 0.0 else -1.0)
    return centred @ np.array([up[1], -up[0]]), centred @ up
