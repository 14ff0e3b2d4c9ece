"""Figures of Section VI of inid-2024: principal components, deep learning, coordinate descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpnoise_papers.claims.interval import ends, reach
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    PLAIN,
    house_style,
    legend_below,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise._types import Array

    Curve = Array | pd.Series

PCA_SCHEMES: dict[Any, str] = {"iid": "i.i.d.", "inid": "i.n.i.d."}
VARIANTS = {
    "stated": "as stated: i.n.i.d. entries clipped",
    "stated-largest": "as stated, largest eigenvalues",
    "unclipped": "nothing clipped",
    "unclipped-largest": "nothing clipped, largest eigenvalues",
    "add-remove": "valid: a sample added",
}
_MARKERS = {"yes": "o", "no": "X", "open": "D"}
_WORDS = {
    "yes": "private if a sample is added or removed",
    "no": "not private",
    "open": "neither proved nor refuted",
}


@house_style()
def table_3(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Variants of Table III beside what is printed, and errors against the noise.

    Above, one line per mechanism and variant, with the error at each epsilon; grey bars are the
    printed numbers. Below, all errors against the deviation of the noise off the diagonal, with the
    noise that the printed numbers would need.
    """
    if printed is not None and len(printed):
        printed = printed[printed["column"] == "sre"].astype({"epsilon": float})
    else:
        printed = None
    groups = table.groupby(["noise", "scheme"], sort=False)
    lines = sum(rows["reading"].nunique() for _, rows in groups)
    upper = 0.165 * (lines + 8)
    figure, panels = page(2, 1, height=upper + 3.1, height_ratios=(upper, 1.9))
    above, below = panels[:, 0]
    _variants(above, table, printed)
    _by_noise(below, table, printed)
    seen = [word for word in _WORDS if (table["private_add_remove"] == word).any()]
    handles = [
        Line2D([], [], marker=_MARKERS[w], color="black", linestyle="none", label=_WORDS[w])
        for w in seen
    ]
    handles += [
        Line2D([], [], color=COLOURS[noise], linewidth=4, label=f"{NAMES[noise]} noise")
        for noise in dict.fromkeys(table["noise"])
    ]
    if printed is not None:
        handles += [
            Line2D([], [], color=GREY, alpha=0.55, linewidth=4, label="printed"),
            Line2D([], [], marker="o", markerfacecolor="none", markersize=8, linestyle="none",
                   color=GREY, label="printed, at the noise that gives it"),
        ]  # fmt: skip
    legend_below(figure, handles)
    return figure


def _variants(axes: Axes, table: pd.DataFrame, printed: pd.DataFrame | None) -> None:
    """Lines of errors, one per mechanism and variant."""
    height, ticks, labels, heads = 0.0, [], [], []
    for (noise, scheme), rows in table.groupby(["noise", "scheme"], sort=False):
        heads.append((height, f"{NAMES[str(noise)]}, {PCA_SCHEMES[str(scheme)]}"))
        height += 1.0
        top = height - 0.5
        for variant in [name for name in VARIANTS if (rows["reading"] == name).any()]:
            own = rows[rows["reading"] == variant]
            _marks(axes, own["sre"], np.full(len(own), height), own)
            ticks.append(height)
            labels.append(VARIANTS[variant])
            height += 1.0
        marked = rows[rows["reading"] == rows["reading"].iloc[0]]
        column = "sre"
        if printed is not None:
            marked = printed[(printed["noise"] == noise) & (printed["scheme"] == scheme)]
            column = "printed"
            for value in marked[column].unique():
                axes.plot(
                    [value, value], [top, height - 0.5], color=GREY, alpha=0.55, linewidth=4,
                    solid_capstyle="butt", zorder=1,
                )  # fmt: skip
        for epsilon, values in marked.groupby("epsilon"):
            words = rf"$\epsilon = {epsilon:g}$"
            axes.text(values[column].iloc[0], top - 0.4, words, ha="center", va="center")
        height += 0.3
    axes.set_ylim(height - 0.5, -0.8)
    axes.set_xscale("log")
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    low = table["sre"].min()
    axes.set_xlim(0.4 * low, 1.05)
    for place, head in heads:
        axes.text(0.41 * low, place + 0.05, head, fontweight="bold", va="center")
    ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0) if t > 0.4 * low]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("subspace recovery error")
    axes.set_title("Table III by variant; data: a union of random subspaces", loc="left")
    axes.grid(axis="x")


def _marks(axes: Axes, x: pd.Series, y: np.ndarray, rows: pd.DataFrame) -> None:
    """Points marked by what is known of their privacy."""
    for word, marker in _MARKERS.items():
        here = (rows["private_add_remove"] == word).to_numpy()
        axes.scatter(
            np.asarray(x)[here], y[here], s=22, marker=marker, linewidths=0.4, zorder=3,
            color=[COLOURS[noise] for noise in rows.loc[here, "noise"]], edgecolors="white",
        )  # fmt: skip


def _by_noise(axes: Axes, table: pd.DataFrame, printed: pd.DataFrame | None) -> None:
    """Errors against the deviation of the noise, and where the printed ones would be."""
    curve = ~table["reading"].str.startswith("stated") & (table["reading"] != "unclipped")
    rows = table[curve].sort_values("off_diagonal")
    axes.plot(rows["off_diagonal"], rows["sre"], color=GREY, linewidth=0.8, zorder=1)
    _marks(axes, rows["off_diagonal"], rows["sre"].to_numpy(), rows)
    if printed is not None:
        for _, claim in printed.iterrows():
            level = np.interp(
                np.log(claim["printed"]), np.log(rows["sre"]), np.log(rows["off_diagonal"])
            )
            axes.scatter(
                np.exp(level), claim["printed"], s=70, facecolors="none", zorder=4,
                edgecolors=COLOURS[claim["noise"]], linewidths=1,
            )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("standard deviation of the noise off the diagonal")
    pure = rows[rows["noise"] == "laplace"]
    if len(pure):
        place = pure["off_diagonal"].median(), 0.72 * pure["sre"].min()
        text = "Laplace noise that is $\\epsilon$-DP"
        axes.text(*place, text, color=COLOURS["laplace"], ha="center", va="top")
    axes.set_ylabel("subspace recovery error")
    axes.set_title("One curve for all noise")
    axes.grid()


# Black i.i.d., grey SPR and optimal in the colour of the noise, as in Figures 1 to 6.
DEEP_SCHEMES = {
    "iid": ("i.i.d., global clipping", "#000000", "o"),
    "spr": ("SPR by parameter (Definition 5)", GREY, "s"),
    "spr-group": ("SPR by layer (He et al.)", "#A8A8A8", "D"),
    "optimal": ("optimal i.n.i.d.", "", "^"),
}
_CHANCE = 10.0  # per cent, of ten classes
_MARGIN = 0.06  # of the height of a panel, above and below


class _Guide(NamedTuple):
    """An accuracy to compare with, its dash and its words."""

    accuracy: float
    dash: str
    words: str


@house_style()
def accuracy_by_scheme(table: pd.DataFrame, runs: dict[str, pd.DataFrame]) -> Figure:
    """Mean accuracy of each cell with its 99 % interval, and every network.

    Panels of one noise have one axis, which reaches to the nearest guide: training without clipping
    and noise, or guessing.
    """
    private = table[table["noise"] != "none"]
    kinds = list(dict.fromkeys(zip(private["noise"], private["delta"], strict=True)))
    figure, panels = page(1, max(len(kinds), 1), height=3.2)
    singles = [_last(one) for one in runs.values() if len(one)]
    for axes, (noise, delta) in zip(panels[0], kinds, strict=False):
        own = private[private["noise"] == noise]
        points = [one for one in singles if one["noise"].iloc[0] == noise]
        _panel(axes, own[own["delta"] == delta], points)
        low, high = _extent(own, points)
        guide = min(_guides(table), key=lambda one: abs(one.accuracy - (low + high) / 2))
        low, high = min(low, guide.accuracy), max(high, guide.accuracy)
        space = _MARGIN * (high - low)
        axes.set_ylim(low - space, high + space)
        axes.axhline(
            guide.accuracy, color=GREY, linewidth=1, linestyle=guide.dash, label=guide.words,
            zorder=0,
        )  # fmt: skip
        what = "0" if delta == 0 else power_of_ten(delta)
        title = f"{NAMES[noise]} noise, $\\delta = {what}$"
        axes.set_title(title, color=COLOURS[noise])
    panels[0, 0].set_ylabel("\n".join(["test accuracy (%)", *_notes(table)]))
    legend_below(figure)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, singles: list[pd.DataFrame]) -> None:
    """Cells of one noise and delta, by epsilon and scheme."""
    epsilons = sorted(set(rows["epsilon"]))
    schemes = [scheme for scheme in DEEP_SCHEMES if (rows["scheme"] == scheme).any()]
    for k, scheme in enumerate(schemes):
        label, colour, marker = DEEP_SCHEMES[scheme]
        some = rows[rows["scheme"] == scheme]
        noise, delta = some[["noise", "delta"]].iloc[0]
        if not colour:
            label, colour = f"{label}, {NAMES[noise]} noise", COLOURS[noise]
        shift = 0.16 * (k - (len(schemes) - 1) / 2)
        x = np.array([epsilons.index(one) for one in some["epsilon"]]) + shift
        axes.errorbar(
            x, some["accuracy"], reach(some, "accuracy"), label=label, color=colour,
            marker=marker, linestyle="none", capsize=2, elinewidth=1,
        )  # fmt: skip
        for single in singles:
            first = single.iloc[0]
            if (first["delta"], first["scheme"]) == (delta, scheme):
                place = epsilons.index(first["epsilon"]) + shift
                spread = np.linspace(-0.05, 0.05, len(single))
                axes.plot(
                    place + spread, single["accuracy"], ".", color=colour, markersize=2, alpha=0.5
                )
    axes.set_xticks(range(len(epsilons)), [f"{one:g}" for one in epsilons])
    axes.set_xlim(-0.5, len(epsilons) - 0.5)
    axes.set_xlabel(r"$\epsilon$")


def _extent(rows: pd.DataFrame, singles: list[pd.DataFrame]) -> tuple[float, float]:
    """Lowest and highest of all intervals and networks."""
    values = np.concatenate([*ends(rows, "accuracy"), *(one["accuracy"] for one in singles)])
    return float(np.nanmin(values)), float(np.nanmax(values))


def _guides(table: pd.DataFrame) -> list[_Guide]:
    """What private accuracies are compared with."""
    best = table.loc[table["noise"] == "none", "accuracy"]
    return [
        _Guide(_CHANCE, ":", f"guessing ({_CHANCE:g} %)"),
        *(_Guide(one, "--", f"no clipping, no noise ({one:.1f} %)") for one in best),
    ]


def accuracies(table: pd.DataFrame) -> str:
    """Table IV on other data, as it is printed: a row for each budget, a column for each scheme."""
    lines = []
    schemes = [scheme for scheme in DEEP_SCHEMES if (table["scheme"] == scheme).any()]
    heads = ["noise", "delta", "epsilon", *(DEEP_SCHEMES[scheme][0] for scheme in schemes)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    private = table[table["noise"] != "none"]
    for (noise, delta, epsilon), rows in private.groupby(["noise", "delta", "epsilon"], sort=False):
        cells = [str(noise), f"{delta:g}", f"{epsilon:g}"]
        for scheme in schemes:
            some = rows[rows["scheme"] == scheme]
            cells += [
                f"{one['accuracy']:.2f} +- {one['accuracy_se']:.2f}"
                for one in some.to_dict("records")
            ] or [""]
        lines.append(f"| {' | '.join(cells)} |")
    counts = sorted(set(table["repetitions"]))
    below = [
        f"Test accuracy (%), mean and standard error over {' or '.join(map(str, counts))} networks."
    ]
    below += [
        f"Without clipping and noise: {one['accuracy']:.2f} +- {one['accuracy_se']:.2f}."
        for one in table[table["noise"] == "none"].to_dict("records")
    ]
    below += [f"Other data than the paper's: {note}." for note in _notes(table)]
    return "\n".join([*lines, "", *below]) + "\n"


def _notes(table: pd.DataFrame) -> list[str]:
    """What is not as in the original data, each note once."""
    return sorted(set(table["data_note"].dropna()) - {""})


def _last(runs: pd.DataFrame) -> pd.DataFrame:
    """Reported networks of a cell after their last epoch."""
    report = runs[runs["phase"] == "report"]
    return report[report["epoch"] == report["epoch"].max()]


# As in Figures 1 and 3: grey SPR, optimal in the colour of the noise, the Gaussian.
SCHEMES: dict[str, dict[str, Any]] = {
    "spr": {
        "color": GREY, "linestyle": "-", "marker": "o", "label": "SPR (usual DP-CD)",
    },
    "optimal": {
        "color": COLOURS["gaussian"], "linestyle": (0, (4, 1.8)), "marker": "s",
        "label": "optimal",
    },
}  # fmt: skip
TITLES = {"california": "California, LASSO", "electricity": "Electricity, logistic"}
_PERCENT = FuncFormatter(lambda value, _: f"{100 * value:g} %")
PRINTED = {"spr": "printed, DP-CD", "optimal": "printed, improved DP-CD"}
ORDERS = {"scikit-learn": "scikit-learn's", "cal-housing": "cal_housing's", "openml": "OpenML's"}
_BELOW = 4.0  # times, how far the axis goes below the smallest error; bars may be cut there


def _percent_axis(axis: Axes, subs: tuple[float, ...] = (1.0,)) -> None:
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter(_PERCENT)
    axis.yaxis.set_major_locator(LogLocator(10, subs))
    axis.yaxis.set_minor_formatter("")
    axis.grid(color=GREY, alpha=0.2, linewidth=0.5)


@house_style()
def descent_paths(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the relative error against passes by the protocol 'printed', with 99 % intervals.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_orders.descent_orders`: a strong
        line for the first documented order of the columns, which the claims judge, thin ones for
        the others, and a band for the random ones.
    printed : DataFrame
        The paper's numbers, each in the colour of its scheme, and those read off the figures of
        Mangold et al.
    """
    figure, panels = page(height=3.1)
    panel = panels[0, 0]
    shown = table[table["protocol"] == "printed"]
    if len(shown):
        key = _in_orders(panel, shown)
        if len(printed):
            key |= _printed(panel, printed)
        _percent_axis(panel)
        name = str(shown["dataset"].iloc[0])
        panel.set_title(f"{TITLES.get(name, name)}, raw features")
        panel.set_xlabel("passes over the data")
        panel.set_ylabel("relative error of the objective")
        for words, artist in key.items():
            artist.set_label(words)
        legend_below(figure, list(key.values()))
    return figure


def _in_orders(panel: Axes, table: pd.DataFrame) -> dict[str, Artist]:
    """Draw every scheme in documented orders of the columns, and the band of random ones.

    Entries of the key are returned: strong lines by scheme, then what the others are.
    """
    key: dict[str, Artist] = {}
    beside: dict[str, Artist] = {}
    first = ""
    thin: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (1, 1))}
    for scheme, look in SCHEMES.items():
        own = table[table["scheme"] == scheme]
        random = own["order"].str.startswith("random-")
        first, *others = dict.fromkeys(own["order"][~random]) or [own["order"].iloc[0]]
        key[look["label"]] = _path(panel, own[own["order"] == first], scheme)
        for name in others:
            line = own[own["order"] == name]
            panel.plot(line["passes"], line["error"], color=look["color"], **thin)
            words = f"columns in {ORDERS.get(name, name)} order"
            beside[words] = Line2D([], [], color=GREY, **thin)
        if random.any():
            band = own[random].groupby("passes")["error"].agg(["min", "max"])
            panel.fill_between(
                band.index, band["min"], band["max"], color=look["color"], alpha=0.15, linewidth=0
            )
            beside["columns in random orders"] = Patch(color=GREY, alpha=0.15, linewidth=0)
    words = f"strong lines: columns in {ORDERS.get(first, first)} order"
    panel.text(0.03, 0.05, words, transform=panel.transAxes, color=GREY)
    return key | beside


def _path(panel: Axes, run: pd.DataFrame, scheme: str) -> Artist:
    """Draw one run against its passes, with 99 % intervals as far as they are above 0."""
    down, up = reach(run, "error")
    down = np.minimum(down, (1.0 - 1.0 / _BELOW) * run["error"])
    look = {key: SCHEMES[scheme][key] for key in ("color", "linestyle")}
    panel.errorbar(run["passes"], run["error"], yerr=[down, up], elinewidth=0.7, **look)
    return Line2D([], [], **look)


def _printed(panel: Axes, rows: pd.DataFrame) -> dict[str, Artist]:
    """Mark the paper's numbers by their scheme, and those of the figures of Mangold et al."""
    key: dict[str, Artist] = {}
    for scheme, label in PRINTED.items():
        own = rows[(rows["protocol"] == "printed") & (rows["scheme"] == scheme)]
        if len(own):
            key[label] = panel.scatter(
                own["passes"].astype(float), own["printed"], s=60, marker="*", zorder=4,
                color=SCHEMES[scheme]["color"], edgecolors="#000000", linewidths=0.7,
            )  # fmt: skip
    theirs = rows[rows["protocol"] == "fresh"]
    if len(theirs):
        key["DP-CD of Mangold et al."] = panel.scatter(
            theirs["passes"].astype(float), theirs["printed"], s=18, marker="x", color="#000000",
            linewidths=0.8, zorder=4,
        )  # fmt: skip
    return key


@house_style()
def descent_orders(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the error after the last pass for every order of the columns, sorted by SPR's.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_orders.descent_orders`, all data
        sets together; drawn by the protocol 'printed', with 99 % intervals.
    printed : DataFrame
        The numbers of Figures 5 and 6: lines.
    """
    shown = table[table["protocol"] == "printed"]
    datasets = sorted(set(shown["dataset"]))
    figure, panels = page(1, max(1, len(datasets)), height=3.4)
    for panel, dataset in zip(panels[0], datasets, strict=False):
        here = shown[shown["dataset"] == dataset]
        _orders(panel, here[here["passes"] == here["passes"].max()])
        if len(printed):
            _lines(panel, printed[printed["dataset"].astype(str) == dataset])
        panel.set_title(f"{TITLES.get(dataset, dataset)}, raw features")
    if datasets:
        panels[0, 0].set_ylabel("relative error of the objective,\nafter the last pass")
        legend_below(figure)
    return figure


def _orders(panel: Axes, rows: pd.DataFrame) -> None:
    """Draw one point per order and scheme; documented orders are named."""
    errors = rows.pivot_table("error", "order", "scheme")
    table = rows.assign(low=ends(rows, "error")[0], high=ends(rows, "error")[1])
    low, high = (table.pivot_table(end, "order", "scheme") for end in ("low", "high"))
    names = list(errors["spr"].sort_values().index)
    places = np.arange(len(names))
    for scheme, look in SCHEMES.items():
        values = errors.loc[names, scheme]
        bars = [values - low.loc[names, scheme], high.loc[names, scheme] - values]
        panel.errorbar(places, values, yerr=bars, fmt="none", ecolor=look["color"], elinewidth=0.6)
        panel.scatter(
            places, values, s=16, color=look["color"], linewidths=0.9, zorder=3,
            marker=look["marker"], label=look["label"],
        )  # fmt: skip
    documented = [place for place in range(len(names)) if not names[place].startswith("random-")]
    panel.set_xticks(documented, [names[place] for place in documented], rotation=30, ha="right")
    panel.set_xlabel(f"{len(names)} orders of the columns, by SPR's error")
    panel.set_yscale("log")
    panel.set_ylim(max(panel.get_ylim()[0], errors.to_numpy().min() / _BELOW), None)
    panel.yaxis.set_major_formatter(_PERCENT)
    panel.yaxis.set_major_locator(LogLocator(10, (1.0, 2.0, 5.0)))
    panel.yaxis.set_minor_formatter("")
    panel.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.5)


def _lines(panel: Axes, rows: pd.DataFrame) -> None:
    """Draw the printed numbers of one data set as lines."""
    for scheme, label in PRINTED.items():
        chosen = (rows["protocol"] == "printed") & (rows["scheme"] == scheme)
        for value in rows.loc[chosen, "printed"]:
            panel.axhline(
                value, color=SCHEMES[scheme]["color"], linewidth=0.9, label=label, zorder=1,
                linestyle=SCHEMES[scheme]["linestyle"],
            )  # fmt: skip
