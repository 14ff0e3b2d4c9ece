"""Best (alpha, gamma) of flipped Huber noise against epsilon, from their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.style import COLOURS, GREY, house_style, legend_below, log_ticks, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_DARK = "#00432F"  # of flipped Huber noise's green: both are parameters of it


@house_style()
def illustrative_values(table: pd.DataFrame) -> Figure:
    """Best alpha and gamma against epsilon, by the paper's grid and exactly.

    The exact values are written at their dots. The grid's, open circles, can lie far off at nearly
    the same variance, since the variance hardly changes along a ridge towards Laplace.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.illustrative_values.illustrative_values`
        returns it.
    """
    figure, ((axes,),) = page(height=3.6)
    for name, colour, shift, side in (
        ("alpha", COLOURS["flipped-huber"], (2, 6), "left"),
        ("gamma", _DARK, (-3, -12), "right"),
    ):
        exact = table[f"{name}_exact"]
        axes.plot(table["epsilon"], exact, "o-", color=colour, label=rf"$\{name}$")
        axes.plot(
            table["epsilon"], table[name], "o", color=colour, markerfacecolor="none", markersize=7
        )
        for epsilon, value in zip(table["epsilon"], exact, strict=True):
            axes.annotate(
                f"{value:.3g}", (epsilon, value), shift, textcoords="offset points", color=colour,
                ha=side,
            )  # fmt: skip
    axes.plot([], [], "o-", color=GREY, label="optimum, as written")
    axes.plot([], [], "o", color=GREY, markerfacecolor="none", markersize=7,
              label="the paper's grid search")  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(r"privacy budget $\epsilon$")
    axes.set_ylabel("parameter")
    axes.set_title("Flipped Huber noise of minimum variance")
    axes.margins(x=0.12, y=0.12)
    for axis in (axes.xaxis, axes.yaxis):
        log_ticks(axis)
    legend_below(figure)
    return figure
