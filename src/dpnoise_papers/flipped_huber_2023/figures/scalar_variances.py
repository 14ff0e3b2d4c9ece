"""Figures of Section V-A of flipped-huber-2023 and its slides: variances in one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dpnoise_papers.style import COLOURS, COLUMN, GREY, NAMES, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLAIN = FuncFormatter(lambda x, _: f"{x:g}")
_LINES = {"exact": "-", "box": ":", "infimum": "-"}
_WORDS = {"exact": "", "box": ",\nin the paper's box", "infimum": ",\nleast or infimum"}
_FRONT = ("flipped-huber", "truncated-laplace")
_FLOOR = 1e-5  # excess variance that counts as none
_LEVELS = (0.1, 0.5, 1, 2, 5, 10, 20, 50)  # decibels; between the first two signs 'identical'


def figure_3a(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Draw variances against epsilon, and how far each is above the least of them.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_variances.scalar_variances` returns it.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.printed_numbers` returns it; numbers of the column 'variance' are
        drawn as open circles.

    Returns
    -------
    Figure
        Most variances differ by far less than a line's width; the lower panel tells them
        apart. A curve that runs along its lower edge is the least of all.
    """
    table = _with_limits(table)
    least = table.groupby("epsilon")["variance"].transform("min")
    excess = (table["variance"] / least - 1.0).clip(lower=_FLOOR)
    with house_style():
        figure = new_figure(PAGE, 5.0)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.15))
        for (mechanism, method), rows in table.groupby(["mechanism", "method"], sort=False):
            if rows["variance"].isna().all():  # a box without private noise
                continue
            dashed = mechanism == "truncated-laplace"  # lies on the flipped Huber curve
            look = {
                "color": COLOURS[mechanism],
                "linestyle": (0, (2, 2)) if dashed else _LINES[method],
                "zorder": 3 + dashed if mechanism in _FRONT else 2,
                "label": f"{NAMES[mechanism]}{_WORDS[method]}",
            }
            above.plot(rows["epsilon"], rows["variance"], **look)
            below.plot(rows["epsilon"], excess[rows.index], **look)
        if printed is not None and len(printed):
            _mark(above, printed)
        above.set_yscale("log")
        above.set_ylabel("variance of the noise")
        above.set_title("The variances")
        below.set_yscale("log")
        below.set_ylim(_FLOOR / 1.5, None)
        below.set_ylabel("excess over the least variance")
        below.set_title("How far each is above the least of them (lower edge: it is the least)")
        below.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:g} %"))
        figure.legend(*above.get_legend_handles_labels(), loc="outside right center")
        for axes in (above, below):
            axes.grid(color=GREY, alpha=0.2, linewidth=0.5)
        _epsilon_axis(below, table["epsilon"])
    return figure


def _with_limits(table: pd.DataFrame) -> pd.DataFrame:
    """Return one curve, of method 'infimum', where exact noise has a limit at some epsilon."""
    limited = table.loc[table["method"] == "infimum", "mechanism"].unique()
    kept = table[(table["method"] != "exact") | (table["attained"] == 1)].copy()
    joined = (kept["method"] == "exact") & kept["mechanism"].isin(limited)
    kept.loc[joined, "method"] = "infimum"
    return kept


def _mark(axes: Axes, printed: pd.DataFrame) -> None:
    rows = printed[printed["column"] == "variance"].drop_duplicates(["epsilon", "printed"])
    axes.scatter(
        rows["epsilon"].astype(float), rows["printed"], s=22, facecolors="none",
        edgecolors=[COLOURS[mechanism] for mechanism in rows["mechanism"]], linewidths=1,
        zorder=6,
    )  # fmt: skip
    axes.plot([], [], "o", color=GREY, markerfacecolor="none", label="printed in the paper")


def _epsilon_axis(axes: Axes, values: pd.Series) -> None:
    axes.set_xscale("log")
    axes.set_xlim(values.min(), values.max())
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(r"privacy budget $\epsilon$")


def ratio_map(table: pd.DataFrame) -> Figure:
    """Draw where flipped Huber noise has the lesser variance, and by how much (Figures 3b, 3c).

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_variances.variance_ratio` returns it.

    Returns
    -------
    Figure
        A map over epsilon and delta, in the colour of the better mechanism, white where the
        two are within 0.1 dB (2.3 %).
    """
    column = next(name for name in table.columns if name.replace("_", "-") in NAMES
                  and name != "flipped_huber")  # fmt: skip
    other = column.replace("_", "-")
    grid = table.pivot_table(index="delta", columns="epsilon", values="ratio_db")
    values = grid.to_numpy()
    levels = np.array([-x for x in reversed(_LEVELS)] + list(_LEVELS))
    used = _used(levels, values)
    with house_style():
        figure = new_figure(COLUMN * 1.35, 3.4)
        axes = figure.subplots()
        x, y = grid.columns.to_numpy(), grid.index.to_numpy()
        colours = LinearSegmentedColormap.from_list(
            "better", [COLOURS["flipped-huber"], "#FFFFFF", COLOURS[other]], N=len(levels) - 1
        )
        norm = BoundaryNorm(levels, colours.N)
        axes.set_yscale("log")  # before the contours, whose labels are placed by it
        _epsilon_axis(axes, table["epsilon"])
        axes.set_ylim(y.min(), y.max())
        axes.contourf(x, y, values, levels=levels, cmap=colours, norm=norm, extend="both")
        lines = axes.contour(
            x, y, values, levels=used, colors="#404040", linewidths=0.6, linestyles="solid"
        )
        axes.clabel(lines, fmt=lambda level: f"{level:+g} dB", fontsize=6.5)
        axes.set_ylabel(r"$\delta$")
        axes.set_title(f"Variance of flipped Huber over {NAMES[other]}")
        _name_regions(figure, values, other)
    return figure


def _used(levels: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the levels that the values cross."""
    return levels[(levels > values.min()) & (levels < values.max())]


def _name_regions(figure: Figure, values: np.ndarray, other: str) -> None:
    """Say below the map what its colours mean."""
    threshold = _LEVELS[0]
    regions = (
        (NAMES["flipped-huber"] + " is better", COLOURS["flipped-huber"], values < -threshold),
        (f"within {threshold:g} dB", "#FFFFFF", np.abs(values) <= threshold),
        (f"{NAMES[other]} is better", COLOURS[other], values > threshold),
    )
    patches = [
        Patch(facecolor=colour, edgecolor=GREY, linewidth=0.5, label=words)
        for words, colour, inside in regions
        if inside.any()
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=3, handlelength=1.2)
