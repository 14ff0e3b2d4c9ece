"""Table III of inid-2024 (DP-PCA): which reading gives the printed numbers, and is it private."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator
from scipy import special

from dpnoise_papers.style import COLOURS, GREY, NAMES, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Curve = NDArray[np.float64] | pd.Series

PLAIN = FuncFormatter(lambda x, _: f"{x:g}")
SCHEMES = {"iid": "i.i.d.", "inid": "i.n.i.d."}
READINGS = {
    "stated": "as stated: i.n.i.d. entries clipped",
    "stated-largest": "as stated, largest eigenvalues",
    "unclipped": "nothing clipped",
    "unclipped-largest": "nothing clipped, largest eigenvalues",
    "add-remove": "valid: a sample added",
    "replace-one": "valid: a sample replaced",
    "approximate": r"nothing clipped, $\delta = 10^{-6}$",
}
_SCHEME_COLOURS = {"iid": "#404040", "inid": COLOURS["gaussian"]}
_SCHEME_MARKERS = {"iid": "s", "inid": "o"}
_MARKERS = {"yes": "o", "no": "X", "open": "D"}
_WORDS = {
    "yes": "private if a sample is added or removed",
    "no": "not private",
    "open": "neither proved nor refuted",
}


def table_3(table: pd.DataFrame, printed: pd.DataFrame | None = None) -> Figure:
    """Draw every reading of Table III beside what is printed, and errors against the noise.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.pca.dp_pca_table` returns it.
    printed : DataFrame, optional
        As `dpnoise_papers.claims.printed_numbers` returns it; of the column 'sre'.

    Returns
    -------
    Figure
        Above, one line per mechanism and reading, with the error at each epsilon; grey bars are
        the printed numbers. Below, the error of what is private against epsilon, and all
        errors against the deviation of the noise off the diagonal, with the noise that the
        printed numbers would need.
    """
    if printed is not None and len(printed):
        printed = printed[printed["column"] == "sre"].astype({"epsilon": float})
    else:
        printed = None
    groups = table.groupby(["noise", "scheme"], sort=False)
    lines = sum(rows["reading"].nunique() for _, rows in groups)
    with house_style():
        figure = new_figure(PAGE, 3.4 + 0.155 * (lines + 4))
        above, below = figure.subfigures(2, 1, height_ratios=(0.155 * (lines + 4) + 0.6, 2.8))
        _readings(above.subplots(), table, printed)
        left, right = below.subplots(1, 2)
        _by_epsilon(left, table)
        _by_noise(right, table, printed)
        seen = [word for word in _WORDS if (table["private_add_remove"] == word).any()]
        handles = [
            Line2D([], [], marker=_MARKERS[w], color="black", linestyle="none", label=_WORDS[w])
            for w in seen
        ]
        if printed is not None:
            bar = {"color": GREY, "alpha": 0.55, "linewidth": 4}
            handles.append(Line2D([], [], label="printed", **bar))
        figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _readings(axes: Axes, table: pd.DataFrame, printed: pd.DataFrame | None) -> None:
    """Draw one line per mechanism and reading."""
    height, ticks, labels, heads = 0.0, [], [], []
    for (noise, scheme), rows in table.groupby(["noise", "scheme"], sort=False):
        heads.append((height, f"{NAMES[noise]}, {SCHEMES[scheme]}"))
        height += 1.0
        top = height - 0.5
        for reading in [name for name in READINGS if (rows["reading"] == name).any()]:
            own = rows[rows["reading"] == reading]
            _marks(axes, own["sre"], np.full(len(own), height), own)
            ticks.append(height)
            labels.append(READINGS[reading])
            height += 1.0
        if printed is not None:
            chosen = (printed["noise"] == noise) & (printed["scheme"] == scheme)
            for value in printed.loc[chosen, "printed"]:
                axes.plot(
                    [value, value], [top, height - 0.5], color=GREY, alpha=0.55, linewidth=4,
                    solid_capstyle="butt", zorder=1,
                )  # fmt: skip
        height += 0.3
    axes.set_ylim(height - 0.5, -0.7)
    axes.set_xscale("log")
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    low = table["sre"].min()
    axes.set_xlim(0.8 * low, 1.05)
    for place, head in heads:
        axes.text(0.81 * low, place + 0.05, head, fontweight="bold", va="center", fontsize=7.5)
    first = table[(table["noise"] == table["noise"].iloc[0]) & (table["scheme"] == "iid")]
    first = first[first["reading"] == first["reading"].iloc[0]]
    for epsilon, value in zip(first["epsilon"], first["sre"], strict=True):
        axes.text(value, 0.05, rf"$\epsilon = {epsilon:g}$", ha="center", va="center", fontsize=7)
    ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0) if t > 0.8 * low]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("subspace recovery error")
    model = table["model"].iloc[0].replace("-", " ")
    axes.set_title(f"Table III by reading; data model: {model}", loc="left")
    axes.grid(axis="x", color=GREY, alpha=0.2, linewidth=0.5)


def _marks(axes: Axes, x: pd.Series, y: np.ndarray, rows: pd.DataFrame) -> None:
    """Draw points by what is known of their privacy."""
    for word, marker in _MARKERS.items():
        here = (rows["private_add_remove"] == word).to_numpy()
        axes.scatter(
            np.asarray(x)[here], y[here], s=22, marker=marker, linewidths=0.4, zorder=3,
            color=[COLOURS[noise] for noise in rows.loc[here, "noise"]], edgecolors="white",
        )  # fmt: skip


def _by_epsilon(axes: Axes, table: pd.DataFrame) -> None:
    """Draw the error of the valid mechanisms against epsilon."""
    styles = {("add-remove", "iid"): ":", ("add-remove", "inid"): "-",
              ("replace-one", "iid"): (0, (1, 2.5)), ("replace-one", "inid"): "--"}  # fmt: skip
    words = {"add-remove": "added", "replace-one": "replaced"}
    for (reading, scheme), line in styles.items():
        for noise in ("gaussian", "laplace"):
            chosen = (table["reading"] == reading) & (table["scheme"] == scheme)
            rows = table[chosen & (table["noise"] == noise)].sort_values("epsilon")
            if rows.empty or (noise == "laplace" and scheme == "iid"):
                continue  # the two Laplace rows differ by less than a line's width
            axes.errorbar(
                rows["epsilon"], rows["sre"], yerr=2.0 * rows["sre_se"], color=COLOURS[noise],
                linestyle=line, linewidth=1.1, marker="o", markersize=2.5, capsize=1.5,
                label=f"{NAMES[noise]} {SCHEMES[scheme]}, {words[reading]}",
            )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    low = table["sre"].min()
    axes.set_ylim(0.12 * low, 1.15)
    axes.set_xticks(sorted(set(table["epsilon"])))
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(r"$\epsilon$")
    axes.set_ylabel("subspace recovery error")
    axes.set_title("What is private")
    axes.legend(loc="lower left", fontsize=6.5)
    axes.grid(color=GREY, alpha=0.2, linewidth=0.5)


def _by_noise(axes: Axes, table: pd.DataFrame, printed: pd.DataFrame | None) -> None:
    """Draw errors against the deviation of the noise, and where the printed ones would be."""
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
    pure = rows[(rows["noise"] == "laplace") & (rows["delta"] == 0.0)]
    if len(pure):
        place = pure["off_diagonal"].median(), 0.72 * pure["sre"].min()
        text = "Laplace noise\nthat is $\\epsilon$-DP"
        axes.text(*place, text, color=COLOURS["laplace"], ha="center", va="top", fontsize=7)
    axes.set_title("One curve for all noise")
    handles = [
        Line2D([], [], marker="o", linestyle="none", color=COLOURS[n], label=f"{NAMES[n]}")
        for n in ("gaussian", "laplace")
    ]  # fmt: skip
    if printed is not None:
        ring = {"markerfacecolor": "none", "markersize": 8, "linestyle": "none"}
        handles += [
            Line2D([], [], marker="o", color=COLOURS[n], label=f"printed, {NAMES[n]}", **ring)
            for n in ("gaussian", "laplace")
        ]
    axes.legend(handles=handles, loc="lower right", fontsize=6.5)
    axes.grid(color=GREY, alpha=0.2, linewidth=0.5)


def attack(table: pd.DataFrame) -> Figure:
    """Draw how well neighbours are told apart, over the most that the claim allows.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.pca_attack.dp_pca_attack` returns it.

    Returns
    -------
    Figure
        One panel per neighbouring relation: the chance of detection over e^epsilon times that of
        a false alarm plus delta, which no mechanism with the claimed epsilon and delta brings
        above 1 (shaded). Lines are exact, points are drawn releases, bars reach down to what the
        counts prove at the confidence of the run, and the point chosen beforehand is ringed.
    """
    epsilon, delta = table["epsilon"].iloc[0], table["delta"].iloc[0]
    titles = {"add-remove": "$e_1$ added or not", "replace-one": "$e_1$ in place of $e_2$ or not"}
    alarms = np.geomspace(1e-7, 0.05, 300)

    def ratio(detection: Curve, alarm: Curve) -> Curve:
        return detection / (np.exp(epsilon) * alarm + delta)

    with house_style():
        figure = new_figure(PAGE, 3.3)
        for axes, (relation, rows) in zip(
            figure.subplots(1, 2, sharey=True), table.groupby("relation", sort=False), strict=True
        ):
            axes.axhspan(1.0, 10.0, color=GREY, alpha=0.15, linewidth=0)
            axes.axhline(1.0, color="black", linewidth=1, linestyle="--")
            for scheme, own in rows.groupby("scheme", sort=False):
                look = {"color": _SCHEME_COLOURS[scheme]}
                mu = own["separation"].iloc[0]
                axes.plot(alarms, ratio(special.ndtr(special.ndtri(alarms) + mu), alarms), **look)
                some = own[(own["detection_lower"] > 0) & (own["false_alarm"] > 1e-6)]
                drawn = ratio(some["detection"], some["false_alarm"])
                proved = ratio(some["detection_lower"], some["false_alarm_upper"])
                axes.errorbar(
                    some["false_alarm"], drawn, yerr=[drawn - proved, 0.0 * drawn], **look,
                    linestyle="none", marker=_SCHEME_MARKERS[scheme], markersize=3, elinewidth=0.8,
                )  # fmt: skip
                ringed = (some["chosen"] == 1).to_numpy()
                axes.scatter(
                    some["false_alarm"][ringed], drawn[ringed], s=70, facecolors="none",
                    edgecolors=look["color"], zorder=4,
                )  # fmt: skip
            _verdicts(axes, rows)
            axes.set_xscale("log")
            axes.set_xlim(8e-7, 0.05)
            axes.set_xlabel("chance of a false alarm")
            axes.set_title(titles[relation])
            axes.grid(color=GREY, alpha=0.2, linewidth=0.5)
        top = max(2.0, 1.35 * ratio(table["detection_exact"], table["false_alarm_exact"]).max())
        figure.axes[0].set_ylim(0.4, top)
        figure.axes[0].set_ylabel("detections over the most allowed")
        claim = rf"the most that $\epsilon = {epsilon:g}$, $\delta = {_power(delta)}$ allows"
        handles = [Line2D([], [], color="black", linestyle="--", linewidth=1, label=claim)]
        handles += [
            Line2D([], [], color=colour, marker=_SCHEME_MARKERS[scheme], markersize=3,
                   label=f"{SCHEMES[scheme]} Gaussian, as printed")
            for scheme, colour in _SCHEME_COLOURS.items()
        ]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _power(value: float) -> str:
    """Return a number for use in a formula, as a power of ten if it is one."""
    exponent = np.log10(value)
    whole = abs(exponent - round(exponent)) < 1e-9
    return f"10^{{{round(exponent)}}}" if whole else f"{value:g}"


def _verdicts(axes: Axes, rows: pd.DataFrame) -> None:
    """Write the epsilon that is needed, exactly and by the attack."""
    for place, (_, row) in enumerate(rows[rows["chosen"] == 1].iterrows()):
        text = (
            rf"{SCHEMES[row['scheme']]}: needs $\epsilon = {row['epsilon_exact']:.3g}$, "
            rf"attack proves $\epsilon \geq {row['epsilon_lower']:.3g}$"
        )
        axes.text(
            0.97, 0.96 - 0.08 * place, text, transform=axes.transAxes, va="top", ha="right",
            color=_SCHEME_COLOURS[row["scheme"]], fontsize=7.5,
        )  # fmt: skip
