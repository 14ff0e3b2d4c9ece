"""Heat maps of balle-wang-2018: Figures 2 and 5 as maps, Figure 6 as errors over epsilon.

Roads are drawn in the colour of the mean of their two junctions. All maps of a figure share one
scale, from zero to what all but a few junctions have in truth; a darker colour is a larger count,
in print too. The city is turned so that its long axis is upright.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.ticker import LogLocator, NullFormatter

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
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise._types import Array

NAMES = {
    "classical": "classical\nGaussian",
    "analytic": "analytic\nGaussian",
    "flat": "mean everywhere",
    "james-stein": "James-Stein",
    "james-stein-positive": "James-Stein,\npositive part",
    "soft-threshold": "soft\nthreshold",
    "wavelets": "wavelets",
    "trend-filtering-0": "trend filter,\norder 0",
    "trend-filtering-1": "trend filter,\norder 1",
    "trend-filtering-2": "trend filter,\norder 2",
}
# Name of the style and marker of each method; variants of one differ in the marker.
LOOKS = {
    "classical": ("classical-gaussian", "s"),
    "analytic": ("gaussian", "o"),
    "flat": ("", ""),
    "james-stein": ("james-stein", "v"),
    "james-stein-positive": ("james-stein", "1"),
    "soft-threshold": ("soft-threshold", "D"),
    "wavelets": ("wavelets", "P"),
    "trend-filtering-0": ("trend-filtering", "*"),
    "trend-filtering-1": ("trend-filtering", "X"),
    "trend-filtering-2": ("trend-filtering", "x"),
}
_PAPER = (
    "classical", "analytic", "james-stein", "soft-threshold", "wavelets", "trend-filtering-0",
)  # fmt: skip
_FLAT = {"color": GREY, "linestyle": (0, (1, 2.5))}
SOURCES = {
    "scaled": "substitute trips, scaled",
    "synthetic": "SYNTHETIC counts",
}
_PROVED = {"classical": r" (private for $\epsilon < 1$)"}
# Maps in the order of Figure 2, then ours. A flat one is blank, and the positive part's is as
# James-Stein's.
_MAPS_OF_PAPER = ("analytic", "wavelets", "trend-filtering-0")
_OUR_MAPS = ("classical", "soft-threshold", "james-stein", "trend-filtering-1", "trend-filtering-2")
# From a pale tone that still shows a street on white to nearly black; monotone in lightness.
_SHADES = ListedColormap(colormaps["magma_r"](np.linspace(0.05, 0.97, 256)))
_ALL_BUT = 0.5  # per cent of junctions beyond the scale


@house_style()
def maps(
    errors: pd.DataFrame,
    maps: pd.DataFrame,
    roads: pd.DataFrame,
    printed: pd.DataFrame | None = None,
) -> Figure:
    """Row of maps: the true counts and methods of `heat_maps`, each with its RMSE below.

    Those of the paper come first, with the RMSE that it prints in brackets.
    """
    present = set(errors["method"])
    methods = [name for name in (*_MAPS_OF_PAPER, *_OUR_MAPS) if name in present]
    paper = _printed(printed)
    rmse = dict(zip(errors["method"], errors["rmse_first"], strict=True))
    x, y, north = _upright(maps[["x", "y"]].to_numpy())
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
        panel.set_aspect("equal")
        panel.set_axis_off()
        title = "true counts" if method == "truth" else NAMES[method] + "*" * (method in _OUR_MAPS)
        panel.set_title(title, loc="center", fontweight="normal")
        below = "RMSE" if method == "truth" else f"{rmse[method]:.2f}"
        panel.text(0.5, -0.01, below, transform=panel.transAxes, ha="center", va="top",
                   fontweight="normal" if method == "truth" else "bold")  # fmt: skip
        known = "(printed)" if method == "truth" else paper.get(method, "")
        panel.text(0.5, -0.045, known, transform=panel.transAxes, ha="center", va="top", color=GREY)
    top = _compass(panels[0, 0], x, y, north)
    for panel in panels[0]:
        panel.set_ylim(np.min(y), top)
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
    columns = min(len(hours), 2)
    rows = -(-len(hours) // columns)
    figure, panels = page(rows, columns, height=2.5 * rows + 0.7, sharex=True, sharey=True)
    for panel, hour in zip(panels.flat, hours, strict=False):
        here = table[table["hour"] == hour]
        _curves(panel, here)
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


def _curves(panel: Axes, table: pd.DataFrame) -> None:
    """Draw the error of each method with its band."""
    present = set(table["method"])
    for method in (name for name in LOOKS if name in present):
        rows = table[table["method"] == method]
        name, marker = LOOKS[method]
        line, ours = look(name) if name else _FLAT, method not in _PAPER
        label = NAMES[method].replace("\n", " ") + _PROVED.get(method, "") + "*" * ours
        panel.plot(
            rows["epsilon"], rows["mse"], **line, marker=marker, label=label,
            zorder=2 if ours else 3, linewidth=1.0 if ours else 1.4,
        )  # fmt: skip
        low, high = ends(rows, "mse")
        # a band that reaches zero has no lower end on this axis
        low = np.maximum(low, rows["mse"] / 10.0)
        panel.fill_between(rows["epsilon"], low, high, color=line["color"], alpha=0.2, linewidth=0)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlim(table["epsilon"].min() * 0.95, table["epsilon"].max() * 1.05)
    panel.grid()
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(PLAIN)
    panel.xaxis.set_minor_formatter(NullFormatter())


def _upright(points: Array) -> tuple[Array, Array, Array]:
    """Return coordinates along the short and the long axis, and the direction of north."""
    centred = points - np.mean(points, axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    up = axes[:, 1] * (1.0 if axes[1, 1] >= 0.0 else -1.0)  # the northern end on top
    right = np.array([up[1], -up[0]])
    return centred @ right, centred @ up, np.array([right[1], up[1]])


def _compass(panel: Axes, x: Array, y: Array, north: Array) -> float:
    """Draw a bar of one kilometre and an arrow to the north in an upper corner.

    Returns the height that all panels need for it to be free of streets.
    """
    unit = 1000.0
    above = y > np.max(y) - 3.0 * unit
    left, right = (np.count_nonzero(above & side) for side in (x < 0.0, x > 0.0))
    middle = np.min(x) + 0.7 * unit if left <= right else np.max(x) - 0.7 * unit
    taken = np.any(above & (np.abs(x - middle) < 0.8 * unit))
    top = np.max(y) + 3.0 * unit * bool(taken)
    base = np.array([middle, top - 2.3 * unit])
    panel.plot(middle + np.array([-0.5, 0.5]) * unit, [base[1]] * 2, color=GREY, linewidth=1.2)
    panel.text(middle, base[1] - 0.15 * unit, "1 km", ha="center", va="top", color=GREY)
    foot = base + np.array([0.0, 0.25 * unit])
    arrow = {"arrowstyle": "<-", "color": GREY, "linewidth": 0.6}
    panel.annotate("N", foot, xytext=foot + 1.8 * unit * north, color=GREY,
                   ha="center", va="center", arrowprops=arrow)  # fmt: skip
    return top
