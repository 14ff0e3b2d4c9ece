"""Table I of flipped-huber-2023 as a map: which regime of (13) holds where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps

from dpnoise_papers.style import house_style, legend_below, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Cases are no mechanisms: from dark to light, with marks of their own.
_MARKS = dict(zip(("i", "ii", "iii", "iv", "v"), "os^Dv", strict=True))
_SHADES = colormaps["viridis"](np.linspace(0.0, 0.85, len(_MARKS)))
_WINDOW = 2.0  # the largest alpha / Delta shown; beyond, the borders are straight lines


@house_style()
def table_1(table: pd.DataFrame) -> Figure:
    """Random trials of Table I by case, in the two ratios that decide it.

    Small black points lie on borders between two cases. A cross marks a trial where t1 or t2 is
    outside its interval, or where not exactly one of the five ranges holds epsilon.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_cases.published_cases` returns it.
    """
    ratio = table["alpha"] / table["sensitivity"]
    scaled = table["epsilon"] * (table["gamma"] / table["sensitivity"]) ** 2
    wrong = (table["t1_in_interval"] * table["t2_in_interval"] == 0) | (table["ranges"] != 1)
    border = table["case"].str.contains("-")
    figure, ((axes,),) = page(height=3.8)
    for (case, mark), colour in zip(_MARKS.items(), _SHADES, strict=True):
        inside = (table["case"] == case) & (ratio < _WINDOW)
        axes.plot(
            ratio[inside], scaled[inside], mark, color=colour, markersize=3, label=f"({case})"
        )
    axes.plot(ratio[border], scaled[border], "o", color="black", markersize=1.5, label="border")
    if wrong.any():
        contradicts = "contradicts the table"
        axes.plot(ratio[wrong], scaled[wrong], "x", color="black", markersize=8, label=contradicts)
    axes.set_xlim(0, _WINDOW)
    axes.set_ylim(0, 1.25 * _WINDOW)
    axes.set_xlabel(r"transition over sensitivity, $\alpha/\Delta$")
    axes.set_ylabel(r"$\epsilon\,\gamma^2/\Delta^2$")
    axes.set_title("The case of Table I depends on two ratios")
    legend_below(figure)
    return figure
