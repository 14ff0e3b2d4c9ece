"""Figures of Section V of flipped-huber-2023 and its slides: variances, and the gain in K.

One drawing serves Figure 4, Table II and the slides' K-dimensional curves: on top the variance
per coordinate, as the paper shows it, where curves coincide over decades. Below, on axes of ratios,
what is gained on the exact Gaussian, and how much more than the best of the mechanisms each one
needs; the best runs in the grey band at the lower edge. Methods of one mechanism that agree
everywhere share a curve, so that the legend lists what differs. In one dimension Figure 3a has
curves, too, and Figures 3b and 3c are maps over epsilon and delta.

Table II is a page for people, too: Markdown and LaTeX, printed beside ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpnoise_papers.claims.judge import printed_texts
from dpnoise_papers.pages import latex, markdown
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    PLAIN,
    TEXT,
    house_style,
    legend_below,
    log_ticks,
    look,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim


# What tells the methods of one mechanism apart.
MARKERS = {"box": "s", "grid": "D", "sufficient": "^", "sufficient-box": "v", "pure": "x"}
METHODS = {
    "exact": "exact",
    "box": "in the search box",
    "grid": "the paper's grid",
    "sufficient": "Theorem 8",
    "sufficient-box": "Theorem 8, in the search box",
    "pure": "pure (delta = 0)",
    "infimum": "minimum or infimum",
}
LABELS = (
    "variance per coordinate",
    "variance below Gaussian [dB]",
    "variance above the best [%]\n(grey: the best)",
)
FLOOR = 1e-4  # what exceeds the best by a smaller share is drawn at this height
_EDGE = 1.6  # by which the axis and its grey band go beyond it
SAME = 0.02  # relative; methods of one mechanism that differ by less everywhere share a curve
# What Figure 4 and Table II show of themselves.
_FIGURE_4 = ("gaussian", "offset-symmetric-gaussian", "flipped-huber")
TABLE_2 = (("flipped-huber", "sufficient"), ("laplace", "pure"), ("staircase", "exact"))
# The axis of decibels is linear; if gains fill less than this share, it is so near 0 alone.
_SMALL = 0.2
_NEAR = 0.2  # decibels
_STEPS = (-10.0, -5.0, -2.0, -1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_MARGIN = 1.06  # for the marks at the ends of the axis
_NONE = 1e-3  # of the largest gain, which counts as none
_OF_PAPER = ("variance", "searched")  # columns that its printed numbers are about
_PAPER = ("gaussian", "offset-symmetric-gaussian", "flipped-huber", "truncated-laplace")
_SPACE = 0.02  # of the axis, between a label and its ends
_LEVELS = (0.1, 0.5, 1, 2, 5, 10, 20, 50)  # decibels; between the first two signs 'identical'


def figure_4(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Figure 4, drawn by `variances`; what the paper does not show is marked so."""
    methods = set(zip(table["mechanism"], table["method"], strict=True))
    return variances(table, printed, {pair for pair in methods if pair[0] in _FIGURE_4})


def table_2(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Table II as curves, drawn by `variances`; what the paper does not list is marked so."""
    return variances(table, printed, set(TABLE_2))


@house_style()
def variances(
    table: pd.DataFrame,
    printed: pd.DataFrame | None = None,
    paper: set[tuple[str, str]] | None = None,
) -> Figure:
    """Variance and gain against epsilon, one column per dimension and delta.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.variances.vector_variances` returns
        it. Rows of method 'infimum' are left out: the noise of the row before them is as close as
        drawing can be. Curves 'in the search box' (the alpha or theta and gamma that the paper
        searches) end where the box has no private noise. The paper's delta comes first.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.judge.printed_beside` returns it; variances are drawn as open
        circles, in the middle against the exact Gaussian.
    paper : set of (mechanism, method), optional
        What the paper shows; by default all.
    """
    table = table[table["method"] != "infimum"]
    columns = list(dict.fromkeys(zip(table["dimension"], table["delta"], strict=True)))
    own = table["delta"].iloc[0]
    drawn = _drawn(table, ["dimension", "delta", "epsilon"], paper)
    figure, panels = page(
        3, len(columns), height=7.4, sharex=True, sharey="row", height_ratios=(1, 1.3, 1)
    )
    for (dimension, delta), column in zip(columns, panels.T, strict=True):
        here = table[(table["dimension"] == dimension) & (table["delta"] == delta)]
        above, middle, below = column
        panels_of = {"variance": above, "gain_db": middle, "excess": below}
        _curves(panels_of, _with_excess(here, 100.0), drawn)
        if printed is not None and len(printed):
            numbers = printed[np.isclose(printed["delta"].astype(float), delta)]
            mark(above, numbers)
            gaussian = here[here["mechanism"] == "gaussian"].set_index("epsilon")["variance"]
            units = numbers["epsilon"].astype(float).map(gaussian)
            mark(middle, numbers.assign(printed=10.0 * np.log10(units / numbers["printed"])))
        star = "" if delta == own else "*"
        above.set_title(rf"K = {dimension}, $\delta = {power_of_ten(delta)}${star}")
        above.set_yscale("log")
        epsilon_axis(below, table["epsilon"], (1, 3) if len(columns) > 2 else (1, 2, 5))
        for panel in column:
            panel.grid(visible=True)
    for panel in panels[2]:  # once all are drawn, since they share the axis
        _excess_axis(panel, 100.0)
    _decibels(panels[1, 0], table["gain_db"])
    for panel in panels[0]:
        log_ticks(panel.yaxis)
    for panel, label in zip(panels[:, 0], LABELS, strict=True):
        panel.set_ylabel(label)
    legend_below(figure)
    return figure


def _curves(
    panels: Mapping[str, Axes], table: pd.DataFrame, drawn: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """Draw columns of a table, each in its panel; `drawn` has each curve's keywords."""
    for (mechanism, method), kind in drawn.items():
        rows = table[(table["mechanism"] == mechanism) & (table["method"] == method)]
        for column, axes in panels.items():
            axes.plot(rows["epsilon"], rows[column], **kind)


def _with_excess(table: pd.DataFrame, unit: float) -> pd.DataFrame:
    """Table with how far each variance is above the smallest at its epsilon, 1 being `unit`."""
    smallest = table.groupby("epsilon")["variance"].transform("min")
    return table.assign(excess=unit * (table["variance"] / smallest - 1.0).clip(lower=FLOOR))


def _drawn(
    table: pd.DataFrame, keys: list[str], paper: set[tuple[str, str]] | None
) -> dict[tuple[str, str], dict[str, Any]]:
    """Curves to draw, by mechanism and method, with their keywords and entries in the legend.

    Methods of one mechanism that agree to `SAME` wherever both have noise share the curve of the
    one that has noise at most epsilons, the paper's before ours, and then the exact one. A search
    box that holds no private noise at all has no curve.
    """
    drawn: dict[tuple[str, str], dict[str, Any]] = {}
    for mechanism, of_one in table.groupby("mechanism", sort=False):
        name = str(mechanism)
        variances = of_one.pivot_table(index=keys, columns="method", values="variance", sort=False)
        known = [str(one) for one in variances]
        ours = {one for one in known if paper is not None and (name, one) not in paper}
        names = {one: METHODS[one] + "*" * (one in ours) for one in known}
        groups: dict[str, list[str]] = {}
        order = {one: (-variances[one].count(), one in ours, one != "exact") for one in known}
        for one in sorted(known, key=order.__getitem__):
            near = ((variances[one] / variances[of] - 1.0).abs().max() <= SAME for of in groups)
            of = next((of for of, agrees in zip(groups, near, strict=True) if agrees), one)
            groups.setdefault(of, []).append(one)
        for of, methods in groups.items():
            told = ": " + "; ".join(names[one] for one in methods)
            if len(groups) == 1 and of != "infimum":  # the mechanism's name is enough
                told = "*" * (of in ours)
            drawn[name, of] = {
                **curve(name, of),
                "zorder": 2 if of in ours else 3,
                "label": NAMES[name] + told,
            }
    return drawn


def _excess_axis(axes: Axes, unit: float, ending: str = "") -> None:
    """Logarithmic axis of what exceeds the best, 1 being `unit`, with a band for what does not."""
    floor = unit * FLOOR
    axes.set_yscale("log")
    axes.axhspan(floor / _EDGE, floor * _EDGE, color=GREY, alpha=0.2, linewidth=0, zorder=0)
    axes.set_ylim(floor / _EDGE, None)
    log_ticks(axes.yaxis)
    axes.yaxis.set_major_formatter(
        FuncFormatter(
            lambda y, _: ("≤ " if y < floor * _EDGE else "") + f"{100.0 * y / unit:g}{ending}"
        )
    )


def curve(mechanism: str, method: str) -> dict[str, Any]:
    """Colour and dash of a mechanism with the marker of a method, as keywords of a line."""
    face = "white" if "box" in method else COLOURS[mechanism]
    return {
        **look(mechanism),
        "marker": MARKERS.get(method, ""),
        "markersize": 3.5,
        "markerfacecolor": face,
    }


def epsilon_axis(
    axes: Axes,
    epsilons: pd.Series,
    steps: tuple[int, ...] = (1, 2, 5),
    margin: float = _MARGIN,
) -> None:
    """Draw a logarithmic axis of epsilons, with numbers at some multiples of powers of ten.

    `margin` is the factor by which it goes beyond the epsilons at either end.
    """
    axes.set_xscale("log")
    axes.set_xlim(epsilons.min() / margin, epsilons.max() * margin)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(r"privacy budget $\epsilon$")


def _decibels(axes: Axes, gains: pd.Series) -> None:
    """Spread the part of an axis of decibels near 0 where all gains lie in a small part of it."""
    most = max(gains.max(), 0.0)
    if most < _SMALL * (most - gains.min()):
        axes.set_yscale("symlog", linthresh=_NEAR, linscale=0.7)
        axes.margins(y=0.1)
        axes.yaxis.set_major_locator(FixedLocator(_STEPS))
        axes.yaxis.set_major_formatter(PLAIN)
        axes.yaxis.set_minor_locator(NullLocator())


def mark(axes: Axes, printed: pd.DataFrame) -> None:
    """Draw the variances that the paper prints, or what is made of them, as open circles."""
    rows = printed[printed["column"].isin(_OF_PAPER)].drop_duplicates(
        ["epsilon", "mechanism", "printed"]
    )
    if not len(rows):
        return
    axes.scatter(
        rows["epsilon"].astype(float), rows["printed"], s=26, facecolors="none",
        edgecolors=[COLOURS[mechanism] for mechanism in rows["mechanism"]], linewidths=1, zorder=6,
    )  # fmt: skip
    axes.plot([], [], "o", color=GREY, markerfacecolor="none", label="printed")


@house_style()
def gain(table: pd.DataFrame) -> Figure:
    """Gain of flipped Huber noise over the better of Gaussian and Laplace, up to where it ends.

    One curve per (epsilon, delta), with a point at each K that was computed. Left of its peak
    Laplace is the better of the two, right of it the Gaussian; the peak is where flipped Huber
    noise is worth its name.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.variances.gain_by_dimension` returns it.
    """
    shades = ("#00543B", "#009E73", "#56C7A6", "#A3DDCB")
    epsilons, deltas = sorted(set(table["epsilon"])), sorted(set(table["delta"]))
    figure, ((axes,),) = page(height=3.4)
    for delta in deltas:
        for place, epsilon in enumerate(epsilons):
            rows = table[(table["delta"] == delta) & (table["epsilon"] == epsilon)]
            if rows.empty:
                continue
            colour = shades[place % len(shades)]
            axes.plot(
                rows["dimension"], rows["gain_db"], color=colour,
                linestyle="-" if delta == deltas[0] else "--", marker=".", markersize=4,
                label=rf"$\epsilon={epsilon:g},\ \delta={power_of_ten(delta)}$",
            )  # fmt: skip
            best = rows.loc[rows["gain_db"].idxmax()]
            axes.plot(best["dimension"], best["gain_db"], "o", color=colour, markersize=5)
    axes.set_xscale("log")
    some = table.loc[table["gain_db"] > _NONE * table["gain_db"].max(), "dimension"].max()
    axes.set_xlim(
        table["dimension"].min(), table.loc[table["dimension"] >= some, "dimension"].min()
    )
    log_ticks(axes.xaxis)
    axes.set_ylim(0, None)
    axes.set_xlabel("dimension K of the query")
    axes.set_ylabel("gain of flipped Huber [dB]")
    axes.set_title("Gain over the better of Gaussian and Laplace")
    axes.grid(visible=True)
    legend_below(figure)
    return figure


@house_style()
def figure_3a(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Variances against epsilon, and how far each is above the smallest of them.

    Most variances differ by far less than a line's width; the lower panel tells them apart. A curve
    in the grey band at its lower edge is the smallest of all.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.variances.scalar_variances` returns it.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.judge.printed_beside` returns it; numbers of the column
        'variance' are drawn as open circles.
    """
    table = _with_excess(_with_limits(table), 1.0)
    pairs = set(zip(table["mechanism"], table["method"], strict=True))
    drawn = _drawn(table, ["epsilon"], {pair for pair in pairs if pair[0] in _PAPER})
    figure, ((above,), (below,)) = page(2, 1, height=5.6, sharex=True, height_ratios=(1, 1.15))
    _curves({"variance": above, "excess": below}, table, drawn)
    if printed is not None and len(printed):
        mark(above, printed)
        units = printed["epsilon"].astype(float).map(table.groupby("epsilon")["variance"].min())
        over = (printed["printed"] / units - 1.0).clip(lower=FLOOR)
        mark(below, printed.assign(printed=over))
    above.set_yscale("log")
    _excess_axis(below, 1.0, " %")
    for axes in (above, below):
        axes.grid(visible=True)
    above.set_ylabel("variance of the noise")
    above.set_title("The variances")
    below.set_ylabel("excess over the smallest variance")
    below.set_title("How far each is above the smallest of them (grey: it is the smallest)")
    log_ticks(above.yaxis)
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
        As `dpnoise_papers.flipped_huber_2023.variances.variance_ratio` returns it.
    """
    column = next(name for name in table.columns if name.replace("_", "-") in NAMES
                  and name != "flipped_huber")  # fmt: skip
    other = column.replace("_", "-")
    grid = table.pivot_table(index="delta", columns="epsilon", values="ratio_db")
    values = grid.to_numpy()
    levels = np.array([-x for x in reversed(_LEVELS)] + list(_LEVELS))
    used = levels[(levels > values.min()) & (levels < values.max())]
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


def table_2_page(table: pd.DataFrame, *, claims: Sequence[Claim]) -> tuple[str, str]:
    """Table II as Markdown and LaTeX, with the printed numbers in brackets, and ours below.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.variances.vector_variances` returns
        it; the paper's delta comes first.
    claims : sequence of Claim
        Those of the paper.
    """
    table = table[table["method"] != "infimum"]
    printed = printed_texts(claims, "table-2", ["mechanism", "epsilon"])
    epsilons = sorted(set(table["epsilon"]))
    keys = ["delta", "mechanism", "method"]
    known = table.set_index([*keys, "epsilon"])["variance"].to_dict()
    own = table["delta"].iloc[0]
    groups = list(dict.fromkeys(zip(*(table[key] for key in keys), strict=True)))
    paper = [(own, *pair) for pair in TABLE_2 if (own, *pair) in groups]
    rows = []
    for group in (*paper, *(one for one in groups if one not in paper)):
        delta, mechanism, method = group
        star = "" if group in paper else "*"
        cells = []
        for epsilon in epsilons:
            text = printed.get((mechanism, epsilon)) if group in paper else None
            value = known.get((*group, epsilon), float("nan"))
            ours = "-" if pd.isna(value) else f"{value:.2f}"
            cells.append(ours + (f" [{text}]" if text else ""))
        name = f"{NAMES[mechanism]}, {METHODS.get(method, method)}{star}"
        rows.append([name, f"{delta:g}", *cells])
    heads = ["mechanism", "delta", *(f"epsilon = {value:g}" for value in epsilons)]
    shown = pd.DataFrame(rows, columns=heads)
    title = f"Table II of flipped-huber-2023: variances in {table['dimension'].iloc[0]} dimensions"
    note = (
        "Minimum variance per coordinate; in brackets what the paper prints. Rows with an asterisk "
        "are not in the paper; '-' marks a search that holds no private noise."
    )
    return markdown(title, note, shown), latex(shown)
