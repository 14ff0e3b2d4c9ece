"""Figures 5 and 6 of inid-2024, with other noise and in other orders of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator

from dpnoise_papers.claims.interval import ends, reach
from dpnoise_papers.style import COLOURS, GREY, GROUND, PAGE, house_style, legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As in Figures 1 and 3: black i.i.d., grey SPR, optimal in the colour of the noise, the Gaussian.
SCHEMES: dict[str, dict[str, Any]] = {
    "iid": {"color": "#000000", "linestyle": (0, (1, 1.4)), "marker": "^", "label": "i.i.d.*"},
    "spr": {"color": GREY, "linestyle": "-", "marker": "o", "label": "SPR (usual DP-CD)"},
    "optimal": {
        "color": COLOURS["gaussian"], "linestyle": (0, (4, 1.8)), "marker": "s", "label": "optimal",
    },
    "weighted": {
        "color": "#C46A00", "linestyle": (0, (6, 1.5, 1, 1.5)), "marker": "D",
        "label": "for $M_i$*",
    },
}  # fmt: skip
FEATURES = {"raw": "raw features", "standardise": "standardised features"}
TITLES = {"california": "California, LASSO", "electricity": "Electricity, logistic"}
VARIANTS = {
    "spr": "SPR",
    "spr-concentrated": "SPR, account by zCDP",
    "optimal": "optimal, after the step",
    "optimal-on-gradient": "optimal, on the gradient",
    "optimal-step-never": "optimal for $C_i$ alone, after the step",
    "optimal-half": "optimal, half the noise",
    "optimal-one-pass": "optimal, one pass accounted for",
    "spr-half": "SPR, half the noise",
    "spr-each-alone": "SPR, one coordinate accounted for",
    "optimal-step-twice": "optimal for $\\tau_i C_i$, on the gradient",
}
_PERCENT = FuncFormatter(lambda value, _: f"{100 * value:g} %")
LOOKS: dict[str, dict[str, Any]] = {
    "spr": {"color": SCHEMES["spr"]["color"], "marker": "o", "label": "SPR (usual DP-CD)"},
    "spr-half": {
        "color": SCHEMES["spr"]["color"], "marker": "o", "facecolors": "white",
        "label": "SPR, half the noise: not private",
    },
    "optimal": {"color": SCHEMES["optimal"]["color"], "marker": "s", "label": "optimal"},
}  # fmt: skip
PRINTED = {"spr": "printed, DP-CD", "optimal": "printed, improved DP-CD"}
_BELOW = 4.0  # times, how far the axis goes below the smallest error; bars may be cut there


def _percent_axis(axis: Axes, subs: tuple[float, ...] = (1.0,)) -> None:
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter(_PERCENT)
    axis.yaxis.set_major_locator(LogLocator(10, subs))
    axis.yaxis.set_minor_formatter("")
    axis.grid(color=GREY, alpha=0.2, linewidth=0.5)


def descent_paths(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the relative error against passes, one panel for each way of scaling the features.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.improved_descent.improved_descent` returns it. Lines
        with bars, 99 % intervals, are one run of the most passes, hollow marks runs of
        their own for fewer passes; both on fresh trials and in cyclic order.
    printed : DataFrame
        The paper's numbers (judged by the printed protocol) and those read off the figures of
        Mangold et al. (by the fresh one).
    """
    shown = table[(table["order"] == "cyclic") & (table["protocol"] == "fresh")]
    scalings = [name for name in FEATURES if name in set(shown["features"])]
    with house_style():
        figure = new_figure(PAGE, 2.9)
        panels = figure.subplots(1, max(1, len(scalings)), sharey=True, squeeze=False)[0]
        for panel, scaling in zip(panels, scalings, strict=False):
            here = shown[shown["features"] == scaling]
            schemes = [s for s in SCHEMES if s in set(here["scheme"])]
            one = here.pivot_table("error", ["reading", "passes"], "scheme")
            if np.allclose(one.min(axis=1), one.max(axis=1), rtol=1e-6):
                schemes = ["spr"]  # all schemes are one: every M_i is the same
                panel.text(
                    0.97, 0.95, "all three schemes are one", transform=panel.transAxes,
                    ha="right", va="top", color=GREY,
                )  # fmt: skip
            for scheme in schemes:
                _path(panel, here[here["scheme"] == scheme], scheme)
            if len(printed):
                _printed(panel, printed[printed["features"] == scaling])
            _percent_axis(panel)
            name = str(here["dataset"].iloc[0])
            panel.set_title(f"{TITLES.get(name, name)}, {FEATURES[scaling]}")
            panel.set_xlabel("passes over the data")
        if scalings:
            panels[0].set_ylabel("relative error of the objective")
            panels[0].scatter(
                [], [], s=16, facecolors="none", edgecolors=GREY, linewidths=0.9,
                label="a run of its own for this many passes",
            )  # fmt: skip
            legend_below(figure)
    return figure


def _path(panel: Axes, rows: pd.DataFrame, scheme: str) -> None:
    look = dict(SCHEMES[scheme])
    marker, label = look.pop("marker"), look.pop("label")
    run = rows[rows["reading"] == "run"].sort_values("passes")
    panel.errorbar(
        run["passes"],
        run["error"],
        yerr=reach(run, "error"),
        elinewidth=0.7,
        label=label,
        **look,
    )
    own = rows[rows["reading"] == "budget"]
    panel.scatter(
        own["passes"], own["error"], s=16, marker=marker, facecolors="white",
        edgecolors=look["color"], linewidths=0.9, zorder=3,
    )  # fmt: skip


def _printed(panel: Axes, rows: pd.DataFrame) -> None:
    """Mark the paper's numbers and those of the figures of Mangold et al."""
    ours = rows[rows["protocol"] == "printed"]
    panel.scatter(
        ours["passes"].astype(float), ours["printed"], s=36, marker="*", color="#000000",
        zorder=4, label="printed" if len(ours) else None,
    )  # fmt: skip
    theirs = rows[rows["protocol"] == "fresh"]
    panel.scatter(
        theirs["passes"].astype(float), theirs["printed"], s=18, marker="x", color="#000000",
        linewidths=0.8, zorder=4, label="DP-CD of Mangold et al." if len(theirs) else None,
    )  # fmt: skip


def spr_or_optimal(table: pd.DataFrame) -> Figure:
    """Draw, for each data set, losses by weights, measured errors and losses by clipping.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_variants.weights_and_variants`,
        all data sets together.
    """
    datasets = sorted(set(table["dataset"]))
    with house_style():
        figure = new_figure(PAGE, 0.6 + 2.1 * max(1, len(datasets)))
        grid = figure.subplots(max(1, len(datasets)), 3, squeeze=False)
        for row, dataset in zip(grid, datasets, strict=False):
            here = table[table["dataset"] == dataset]
            parts = {name: here[here["part"] == name] for name in ("error", "measured", "clips")}
            _losses(row[0], parts["error"], ("iid", "spr", "optimal"))
            row[0].set_ylabel(f"{TITLES.get(dataset, dataset)}\nloss over the smallest")
            row[0].set_xlabel("a, where $\\Sigma\\,M_i^a\\sigma_i^2$ is the loss")
            _measured(row[1], parts["measured"])
            _losses(row[2], parts["clips"], ("optimal", "weighted"))
            row[2].axhline(1.0, color=SCHEMES["spr"]["color"], linewidth=1.0)
            row[2].set_ylabel("loss $\\Sigma\\,M_i\\sigma_i^2$ over SPR's")
            row[2].set_xlabel("c, where $C_i \\propto M_i^c$ (here 0.5)")
        for panel, title in zip(
            grid[0], ("loss of each scheme", "the descent, measured", "other clipping levels"),
            strict=True,
        ):  # fmt: skip
            panel.set_title(title)
        for panel in grid[:, 0]:
            panel.set_ylim(0.8, 1e4)
        for panel in grid[:, 2]:
            panel.set_ylim(0.05, 200)
        legend_below(figure)
    return figure


def _losses(panel: Axes, rows: pd.DataFrame, schemes: tuple[str, ...]) -> None:
    for scheme in schemes:
        look = {key: SCHEMES[scheme][key] for key in ("color", "linestyle", "label")}
        curve = rows[rows["scheme"] == scheme].sort_values("exponent")
        panel.plot(curve["exponent"], curve["ratio"], **look)
    panel.set_yscale("log")
    panel.grid(color=GREY, alpha=0.2, linewidth=0.5)


def _measured(panel: Axes, rows: pd.DataFrame) -> None:
    curve = rows.sort_values("exponent")
    panel.errorbar(
        curve["exponent"], curve["error"], yerr=reach(curve, "error"), color="#000000", marker="o",
        markersize=3, linewidth=0.8, elinewidth=0.7, label="measured error, noise for $M^a$",
    )  # fmt: skip
    for exponent, scheme in ((-1.0, "iid"), (0.0, "optimal"), (1.0, "spr")):
        at = curve[np.isclose(curve["exponent"], exponent)]
        panel.scatter(
            at["exponent"], at["error"], s=42, marker=SCHEMES[scheme]["marker"],
            facecolors="none", edgecolors=SCHEMES[scheme]["color"], linewidths=1.3, zorder=4,
        )  # fmt: skip
    _percent_axis(panel, (1.0, 2.0, 5.0))
    panel.set_ylabel("relative error of the\nobjective, last pass")
    panel.set_xlabel("a, where the noise is optimal for $M_i^a$")


def variants(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the error under each variant of the noise beside what the paper prints.

    Parameters
    ----------
    table : DataFrame
        The second one of `dpnoise_papers.inid_2024.tables.descent_variants.weights_and_variants`,
        all data sets together. Filled marks keep the privacy budget, hollow ones do not and carry
        the epsilon that they spend; crosses are the printed protocol, which reports the trials
        that it chose on.
    printed : DataFrame
        The numbers of Figures 5 and 6: the lines of DP-CD (scheme 'spr') and improved DP-CD
        ('optimal').
    """
    datasets = sorted(set(table["dataset"]))
    names = [name for name in VARIANTS if name in set(table["reading"])]
    with house_style():
        figure = new_figure(PAGE, 0.9 + 0.22 * len(names))
        panels = figure.subplots(1, max(1, len(datasets)), sharey=True, squeeze=False)[0]
        for panel, dataset in zip(panels, datasets, strict=False):
            here = table[table["dataset"] == dataset].set_index("reading").loc[names]
            height = np.arange(len(names))[::-1]
            kept = here["private"].to_numpy() == 1
            colours = [SCHEMES[name.split("-")[0]]["color"] for name in names]
            panel.errorbar(
                here["error"], height, xerr=reach(here, "error"), fmt="none", ecolor=GREY,
                elinewidth=0.8,
            )  # fmt: skip
            panel.scatter(
                here["flattered"], height, s=12, marker="x", color=GREY, linewidths=0.8,
                label="on the trials of the search",
            )  # fmt: skip
            faces = [c if k else "white" for c, k in zip(colours, kept, strict=True)]
            panel.scatter(here["error"], height, s=22, c=faces, edgecolors=colours, zorder=3)
            for value, level, epsilon, inside in zip(
                here["error"], height, here["epsilon"], kept, strict=True
            ):
                if not inside:
                    panel.annotate(
                        f"$\\varepsilon$ = {_short(epsilon)}", (value, level), (0, 4),
                        textcoords="offset points", ha="center", color=GREY, bbox=GROUND, zorder=2,
                    )  # fmt: skip
            if len(printed):
                _lines(panel.axvline, printed[printed["dataset"].astype(str) == dataset])
            panel.set_yticks(height, [VARIANTS[name] for name in names])
            panel.set_ylim(-0.6, len(names) - 0.3)
            panel.set_xscale("log")
            panel.margins(x=0.12)
            panel.xaxis.set_major_locator(LogLocator(10, numticks=4))
            panel.minorticks_off()
            panel.xaxis.set_major_formatter(_PERCENT)
            panel.grid(axis="x", color=GREY, alpha=0.2, linewidth=0.5)
            panel.set_title(TITLES.get(dataset, dataset))
            panel.set_xlabel("relative error of the objective\nafter the last pass")
        if datasets:
            legend_below(figure)
    return figure


def _short(value: float) -> str:
    return f"{value:.2g}" if value < 1e3 else f"$10^{{{np.log10(value):.0f}}}$"


def descent_orders(table: pd.DataFrame, printed: pd.DataFrame) -> Figure:
    """Draw the error after the last pass for every order of the columns, sorted by SPR's.

    Parameters
    ----------
    table : DataFrame
        The first one of `dpnoise_papers.inid_2024.tables.descent_variants.descent_orders`, all data
        sets together; drawn by the protocol 'printed', with 99 % intervals.
    printed : DataFrame
        The numbers of Figures 5 and 6: lines.
    """
    shown = table[table["protocol"] == "printed"]
    datasets = sorted(set(shown["dataset"]))
    with house_style():
        figure = new_figure(PAGE, 3.4)
        panels = figure.subplots(1, max(1, len(datasets)), squeeze=False)[0]
        for panel, dataset in zip(panels, datasets, strict=False):
            here = shown[shown["dataset"] == dataset]
            last = here[here["passes"] == here["passes"].max()]
            _orders(panel, last)
            if len(printed):
                _lines(panel.axhline, printed[printed["dataset"].astype(str) == dataset])
            panel.set_title(f"{TITLES.get(dataset, dataset)}, raw features")
        if datasets:
            panels[0].set_ylabel("relative error of the objective,\nafter the last pass")
            legend_below(figure)
    return figure


def _orders(panel: Axes, rows: pd.DataFrame) -> None:
    """Draw one point per order and scheme; documented orders are named."""
    errors = rows.pivot_table("error", "order", "scheme")
    table = rows.assign(low=ends(rows, "error")[0], high=ends(rows, "error")[1])
    low, high = (table.pivot_table(end, "order", "scheme") for end in ("low", "high"))
    names = list(errors["spr"].sort_values().index)
    places = np.arange(len(names))
    for scheme, look in LOOKS.items():
        values = errors.loc[names, scheme]
        bars = [values - low.loc[names, scheme], high.loc[names, scheme] - values]
        panel.errorbar(places, values, yerr=bars, fmt="none", ecolor=look["color"], elinewidth=0.6)
        style = {key: look[key] for key in ("marker", "label")}
        faces = look.get("facecolors", look["color"])
        panel.scatter(
            places, values, s=16, facecolors=faces, edgecolors=look["color"], linewidths=0.9,
            zorder=3, **style,
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


def _lines(draw: Callable[..., object], rows: pd.DataFrame) -> None:
    for scheme, label in PRINTED.items():
        chosen = (rows["protocol"] == "printed") & (rows["scheme"] == scheme)
        for value in rows.loc[chosen, "printed"]:
            draw(
                value, color=SCHEMES[scheme]["color"], linewidth=0.9, label=label, zorder=1,
                linestyle=SCHEMES[scheme]["linestyle"],
            )  # fmt: skip
