"""Pictures of the flipped Huber slides in one dimension, drawn from their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise_papers.style import COLOURS, NAMES, house_style, legend_below, look, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAINT = 1e-8  # in units of the peak, the smallest density of a logarithmic panel
_SEEN = 5e-3  # and of a plain one


def huber_density(table: pd.DataFrame) -> Figure:
    """Huber's density between the Gaussian and the Laplace that it is made of.

    The logarithmic panel shows a parabola (Gaussian) between the dots and straight (Laplace) tails
    beyond: the opposite of flipped Huber noise.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.densities.huber_density` returns it.
    """
    return _densities(table, ("Huber noise", "Gaussian centre, Laplace tails"))


def densities_1d(table: pd.DataFrame) -> Figure:
    """Densities of each mechanism's minimum-variance noise for one budget.

    The legend gives the standard deviations.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_slides.tables.densities.calibrated_densities` returns it.
    """
    return _densities(
        table, ("Equal privacy, unequal noise", "The same, logarithmic, to the tails")
    )


@house_style()
def _densities(table: pd.DataFrame, titles: tuple[str, str]) -> Figure:
    """Draw a plain and a logarithmic panel."""
    marks = table[table["transition"] == 1] if "transition" in table else table.iloc[:0]
    figure, ((plain, logarithmic),) = page(1, 2, height=3.4)
    for axes, title in zip((plain, logarithmic), titles, strict=True):
        _curves(axes, table)
        axes.plot(marks["t"], marks["density"], "o", color=COLOURS["huber"], zorder=4)
        axes.set_xlim(table["t"].min(), table["t"].max())
        axes.set_xlabel(r"noise $t$")
        axes.set_title(title)
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
