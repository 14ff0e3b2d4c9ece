"""Figures of Section V-A of flipped-huber-2023 and its slides: variances in one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from dpnoise_papers.flipped_huber_2023.figures.vector_variances import (
    METHODS,
    curve,
    epsilon_axis,
    mark,
)
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    TEXT,
    house_style,
    legend_below,
    log_ticks,
    page,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure

    from dpnoise._types import Array

_WORDS = {"exact": "", "infimum": ", minimum or infimum"}
_PAPER = ("gaussian", "offset-symmetric-gaussian", "flipped-huber", "truncated-laplace")
_FLOOR = 1e-5  # excess variance that counts as none
_SPACE = 0.02  # of the axis, between a label and its ends
_LEVELS = (0.1, 0.5, 1, 2, 5, 10, 20, 50)  # decibels; between the first two signs 'identical'


@house_style()
def figure_3a(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Variances against epsilon, and how far each is above the smallest of them.

    Most variances differ by far less than a line's width; the lower panel tells them apart. A curve
    that runs along its lower edge is the smallest of all.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_variances.scalar_variances` returns it.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.beside.printed_beside` returns it; numbers of the column
        'variance' are drawn as open circles.
    """
    table = _with_limits(table)
    smallest = table.groupby("epsilon")["variance"].transform("min")
    excess = (table["variance"] / smallest - 1.0).clip(lower=_FLOOR)
    figure, ((above,), (below,)) = page(2, 1, height=5.6, sharex=True, height_ratios=(1, 1.15))
    for mechanism, method in dict.fromkeys(zip(table["mechanism"], table["method"], strict=True)):
        rows = table[(table["mechanism"] == mechanism) & (table["method"] == method)]
        if rows["variance"].isna().all():  # a box without private noise
            continue
        ours = mechanism not in _PAPER
        kind: dict[str, Any] = {
            **curve(mechanism, method),
            "zorder": 2 if ours else 3,
            "label": NAMES[mechanism]
            + _WORDS.get(method, f", {METHODS.get(method, method)}")
            + "*" * ours,
        }
        above.plot(rows["epsilon"], rows["variance"], **kind)
        below.plot(rows["epsilon"], excess[rows.index], **kind)
    if printed is not None and len(printed):
        mark(above, printed)
        units = printed["epsilon"].astype(float).map(table.groupby("epsilon")["variance"].min())
        over = (printed["printed"] / units - 1.0).clip(lower=_FLOOR)
        mark(below, printed.assign(printed=over))
    for axes in (above, below):
        axes.set_yscale("log")
        axes.grid(visible=True)
    above.set_ylabel("variance of the noise")
    above.set_title("The variances")
    below.set_ylim(_FLOOR / 1.5, None)
    below.set_ylabel("excess over the smallest variance")
    below.set_title("How far each is above the smallest of them (lower edge: it is the smallest)")
    log_ticks(above.yaxis)
    below.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
    epsilon_axis(below, table["epsilon"])
    legend_below(figure)
    return figure


def _with_limits(table: pd.DataFrame) -> pd.DataFrame:
    """Table in which 'infimum' is one curve where exact noise has a limit at some epsilon."""
    limited = table.loc[table["method"] == "infimum", "mechanism"].unique()
    kept = table[(table["method"] != "exact") | (table["attained"] == 1)].copy()
    joined = (kept["method"] == "exact") & kept["mechanism"].isin(limited)
    kept.loc[joined, "method"] = "infimum"
    return kept


@house_style()
def ratio_map(table: pd.DataFrame) -> Figure:
    """Where flipped Huber noise has the smaller variance, and by how much (Figures 3b, 3c).

    A map over epsilon and delta, in the colour of the better mechanism, white where the two are
    within 0.1 dB (2.3 %).

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_variances.variance_ratio` returns it.
    """
    column = next(name for name in table.columns if name.replace("_", "-") in NAMES
                  and name != "flipped_huber")  # fmt: skip
    other = column.replace("_", "-")
    grid = table.pivot_table(index="delta", columns="epsilon", values="ratio_db")
    values = grid.to_numpy()
    levels = np.array([-x for x in reversed(_LEVELS)] + list(_LEVELS))
    used = _used(levels, values)
    figure, ((axes,),) = page(height=4.0)
    x, y = grid.columns.to_numpy(), grid.index.to_numpy()
    colours = LinearSegmentedColormap.from_list(
        "better", [COLOURS["flipped-huber"], "#FFFFFF", COLOURS[other]], N=len(levels) - 1
    )
    norm = BoundaryNorm(levels, colours.N)
    axes.set_yscale("log")  # before the contours, whose labels are placed by it
    epsilon_axis(axes, table["epsilon"], margin=1.0)
    axes.set_ylim(y.min(), y.max())
    axes.contourf(x, y, values, levels=levels, cmap=colours, norm=norm, extend="both")
    lines = axes.contour(
        x, y, values, levels=used, colors="#404040", linewidths=0.6, linestyles="solid"
    )
    axes.clabel(
        lines, fmt=lambda level: f"{level:+g} dB", fontsize=TEXT, manual=_inside(axes, lines)
    )
    axes.set_ylabel(r"$\delta$")
    axes.set_title(f"Variance of flipped Huber over {NAMES[other]}")
    legend_below(figure, _regions(values, other), handlelength=1.2)
    return figure


def _inside(axes: Axes, lines: ContourSet) -> list[tuple[float, float]]:
    """Places of the labels of contours: in the middle of where each is far from the edges."""
    places = []
    for path in lines.get_paths():
        line = np.asarray(path.vertices)
        at = axes.transLimits.transform(axes.transScale.transform(line))
        space = np.minimum(at, 1.0 - at).min(axis=1)
        if len(space) and space.max() > _SPACE:
            far = np.flatnonzero(space > 0.9 * space.max())
            x, y = line[far[len(far) // 2]].tolist()
            places.append((x, y))
    return places


def _used(levels: Array, values: Array) -> Array:
    """Levels that the values cross."""
    return levels[(levels > values.min()) & (levels < values.max())]


def _regions(values: Array, other: str) -> list[Patch]:
    """Entries of the legend, which say what the colours of the map mean."""
    threshold = _LEVELS[0]
    regions = (
        (NAMES["flipped-huber"] + " is better", COLOURS["flipped-huber"], values < -threshold),
        (f"within {threshold:g} dB", "#FFFFFF", np.abs(values) <= threshold),
        (f"{NAMES[other]} is better", COLOURS[other], values > threshold),
    )
    return [
        Patch(facecolor=colour, edgecolor=GREY, linewidth=0.5, label=words)
        for words, colour, inside in regions
        if inside.any()
    ]
