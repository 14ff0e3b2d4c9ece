"""Figures of flipped-huber-slides: densities, best parameters against epsilon, and DP-CD curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from dpnoise_papers.claims.interval import reach
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    MECHANISMS,
    NAMES,
    PAGE,
    house_style,
    legend_below,
    log_ticks,
    look,
    new_figure,
    page,
    power_of_ten,
    title,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAINT = 1e-8  # in units of the peak, the smallest density of a logarithmic panel
_SEEN = 5e-3  # and of a plain one
_COLOUR = COLOURS["flipped-huber"]
_PARAMETERS = {"alpha": r"transition $\alpha$", "gamma": r"scale $\gamma$"}
_DOWN = (-4, -4)  # points from a dot to its value: below the line, which falls
# The tight account is the same noise family as the Gaussian: its colour, another marker. Where
# flipped Huber noise *is* Gaussian noise its dashes lie on the Gaussian's line and both show.
_LOOKS = {
    "gaussian": {**look("gaussian"), "marker": "o", "zorder": 2},
    "flipped-huber": {**look("flipped-huber"), "marker": "o", "zorder": 3},
    "gaussian-tight": {**look("gaussian"), "marker": "v", "zorder": 2},
}
_COLUMNS = 4


def huber_density(table: pd.DataFrame) -> Figure:
    """Huber's density between the Gaussian and the Laplace that it is made of.

    The logarithmic panel shows a parabola (Gaussian) between the dots and straight (Laplace) tails
    beyond: the opposite of flipped Huber noise.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.huber_density` returns it.
    """
    return _densities(table, ("Huber noise", "Gaussian centre, Laplace tails"))


def densities_1d(table: pd.DataFrame) -> Figure:
    """Densities of each mechanism's minimum-variance noise for one budget.

    The legend gives the standard deviations.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.calibrated_densities` returns it.
    """
    return _densities(
        table, ("Equal privacy, unequal noise", "The same, logarithmic, to the tails")
    )


@house_style()
def _densities(table: pd.DataFrame, titles: tuple[str, str]) -> Figure:
    """Draw a plain and a logarithmic panel."""
    marks = table[table["transition"] == 1] if "transition" in table else table.iloc[:0]
    figure, ((plain, logarithmic),) = page(1, 2, height=3.4)
    for axes, heading in zip((plain, logarithmic), titles, strict=True):
        _curves(axes, table)
        axes.plot(marks["t"], marks["density"], "o", color=COLOURS["huber"], zorder=4)
        axes.set_xlim(table["t"].min(), table["t"].max())
        axes.set_xlabel(r"noise $t$")
        axes.set_title(heading)
    plain.set_ylim(0, None)
    plain.set_ylabel(r"density $g(t)$")
    logarithmic.set_yscale("log")
    peak, smallest = table["density"].max(), table.loc[table["density"] > 0, "density"].min()
    logarithmic.set_ylim(max(peak * _FAINT, smallest), peak * 2)
    seen = table.loc[table["density"] > _SEEN * peak, "t"].abs().max()
    plain.set_xlim(-seen, seen)
    legend_below(figure)
    return figure


def _curves(axes: Axes, table: pd.DataFrame) -> None:
    """Draw each density, with its standard deviation in the legend where there is one."""
    for mechanism in dict.fromkeys(table["mechanism"]):
        rows = table[table["mechanism"] == mechanism]
        deviation = f": std {rows['variance'].iloc[0] ** 0.5:.4g}" if "variance" in rows else ""
        axes.plot(
            rows["t"], rows["density"], **look(mechanism), label=f"{NAMES[mechanism]}{deviation}"
        )


@house_style()
def illustrative_values(table: pd.DataFrame) -> Figure:
    """Best alpha and gamma against epsilon, by the paper's grid and exactly, a panel for each.

    The exact values are written at their dots. Open circles are what our run of the paper's grid
    search finds. They can lie far off at nearly the same variance, since the variance hardly
    changes along a ridge towards Laplace.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.illustrative_values`
        returns it.
    """
    figure, (panels,) = page(1, 2, height=3.4)
    for axes, (name, words) in zip(panels, _PARAMETERS.items(), strict=True):
        exact = table[f"{name}_exact"]
        axes.plot(table["epsilon"], exact, "o-", color=_COLOUR, label="optimum, with its value")
        axes.plot(
            table["epsilon"], table[name], "o", color=_COLOUR, markerfacecolor="none",
            markersize=7, label="our run of the paper's grid search",
        )  # fmt: skip
        for epsilon, value in zip(table["epsilon"], exact, strict=True):
            axes.annotate(
                f"{value:.3g}", (epsilon, value), _DOWN, textcoords="offset points",
                color=_COLOUR, ha="right", va="top",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(r"privacy budget $\epsilon$")
        axes.set_title(rf"{words}, $\delta = {power_of_ten(table['delta_bound'].max())}$")
        axes.margins(x=0.14, y=0.14)
        for axis in (axes.xaxis, axes.yaxis):
            log_ticks(axis)
    panels[0].set_ylabel("parameter of minimum variance")
    legend_below(figure)
    return figure


def descent_curves(table: pd.DataFrame) -> Figure:
    """Draw the smallest NMSE of each mechanism against the number of passes.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.descent_curves` returns it;
        bars are 99 % intervals.
    """
    datasets = sorted(set(table["dataset"]))
    rows = max(1, math.ceil(len(datasets) / _COLUMNS))
    with house_style():
        figure = new_figure(PAGE, 0.4 + 1.7 * rows)
        panels = figure.subplots(rows, _COLUMNS, sharex=True, squeeze=False).ravel()
        for panel in panels[len(datasets) :]:
            panel.set_visible(False)
        for panel, dataset in zip(panels, datasets, strict=False):
            here = table[table["dataset"] == dataset]
            for mechanism, curve in here.groupby("mechanism", sort=False):
                panel.errorbar(
                    curve["passes"], curve["nmse"], yerr=reach(curve, "nmse"),
                    markersize=3, elinewidth=0.6, label=MECHANISMS[mechanism], **_LOOKS[mechanism],
                )  # fmt: skip
            panel.set_title(title(dataset))
            panel.set_xscale("log")
            panel.set_ylim(0, None)
            panel.yaxis.set_major_locator(MaxNLocator(4))
            ticks = sorted(set(table["passes"]))
            panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
            panel.minorticks_off()
            panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
        for place, panel in enumerate(panels[: len(datasets)]):
            if place % _COLUMNS == 0:
                panel.set_ylabel("best NMSE")
            if place >= len(datasets) - _COLUMNS:
                panel.set_xlabel("passes")
                panel.tick_params(labelbottom=True)
        if datasets:
            legend_below(figure)
    return figure
