"""Best (alpha, gamma) of flipped Huber noise against epsilon, from their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.style import COLOURS, house_style, legend_below, log_ticks, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_COLOUR = COLOURS["flipped-huber"]
_PARAMETERS = {"alpha": r"transition $\alpha$", "gamma": r"scale $\gamma$"}
_DOWN = (-4, -4)  # points from a dot to its value: below the line, which falls


@house_style()
def illustrative_values(table: pd.DataFrame) -> Figure:
    """Best alpha and gamma against epsilon, by the paper's grid and exactly, a panel for each.

    The exact values are written at their dots. The grid's, open circles, can lie far off at nearly
    the same variance, since the variance hardly changes along a ridge towards Laplace.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.illustrative_values.illustrative_values`
        returns it.
    """
    figure, (panels,) = page(1, 2, height=3.4)
    for axes, (name, words) in zip(panels, _PARAMETERS.items(), strict=True):
        exact = table[f"{name}_exact"]
        axes.plot(table["epsilon"], exact, "o-", color=_COLOUR, label="optimum, with its value")
        axes.plot(
            table["epsilon"], table[name], "o", color=_COLOUR, markerfacecolor="none",
            markersize=7, label="the paper's grid search",
        )  # fmt: skip
        for epsilon, value in zip(table["epsilon"], exact, strict=True):
            axes.annotate(
                f"{value:.3g}", (epsilon, value), _DOWN, textcoords="offset points",
                color=_COLOUR, ha="right", va="top",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(r"privacy budget $\epsilon$")
        axes.set_title(words)
        axes.margins(x=0.14, y=0.14)
        for axis in (axes.xaxis, axes.yaxis):
            log_ticks(axis)
    panels[0].set_ylabel("parameter of minimum variance")
    legend_below(figure)
    return figure
