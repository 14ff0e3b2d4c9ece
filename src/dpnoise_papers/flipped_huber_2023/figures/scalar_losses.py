"""Figures 5 to 7 of flipped-huber-2023: privacy losses and profiles in one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from dpnoise_papers.style import COLOURS, COLUMN, GREY, NAMES, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST = 1e-12  # smaller delta is of no use to anyone
_LINES_7 = {"gaussian": "--", "laplace": "-.", "offset-symmetric-gaussian": "-"}


def figure_5(table: pd.DataFrame) -> Figure:
    """Draw centred privacy losses of flipped Huber noise below their affine bounds.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_losses.loss_and_bound` returns it.

    Returns
    -------
    Figure
        One panel per shift d. The open dot is the ridge, where loss and bound meet.
    """
    shifts = sorted(set(table["d"]))
    with house_style():
        figure = new_figure(PAGE, 2.7)
        panels = np.atleast_1d(figure.subplots(1, len(shifts)))
        for axes, (d, rows) in zip(panels, table.groupby("d"), strict=True):
            ridge = rows[rows["ridge"] == 1]
            axes.plot(rows["t"], rows["bound"], color=GREY, linestyle="--", linewidth=1)
            axes.plot(rows["t"], rows["loss"], color=COLOURS["flipped-huber"])
            axes.plot(
                ridge["t"], ridge["loss"], "o", color="black", markerfacecolor="white",
                markersize=5,
            )  # fmt: skip
            axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
            axes.axvline(0, color=GREY, linewidth=0.4, zorder=0)
            axes.set_xlim(rows["t"].min(), rows["t"].max())
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            axes.set_xlabel(r"centred noise $t$")
            axes.set_title(_relation(rows["alpha"].iloc[0], d))
        _name_parts(panels[0], table[table["d"] == shifts[0]])
        panels[0].set_ylabel(r"centred privacy loss $\tilde{\zeta}_d(t)$")
        noise = rf"$\alpha={table['alpha'].iloc[0]:g},\ \gamma={table['gamma'].iloc[0]:g}$"
        panels[-1].text(0.97, 0.04, noise, transform=panels[-1].transAxes, ha="right")
    return figure


def _relation(alpha: float, d: float) -> str:
    """Return which of the three cases of (25) a shift belongs to."""
    if alpha >= d:
        case = r"$|d| \leq \alpha$"
    elif alpha >= d / 2:
        case = r"$|d|/2 \leq \alpha < |d|$"
    else:
        case = r"$\alpha < |d|/2$"
    return f"d = {d:g}: {case}"


def _name_parts(axes: Axes, rows: pd.DataFrame) -> None:
    """Name bound, ridge and loss in the first panel."""
    ridge = rows[rows["ridge"] == 1].iloc[0]
    top = rows["t"].max()
    right, left = (rows.iloc[(rows["t"] - at * top).abs().argmin()] for at in (0.72, -0.3))
    offset = {"textcoords": "offset points"}
    green = COLOURS["flipped-huber"]
    axes.annotate("ridge", (ridge["t"], ridge["loss"]), (-4, 6), ha="right", **offset)
    axes.annotate(
        "bound (18)", (right["t"], right["bound"]), (-3, 4), ha="right", color=GREY, **offset
    )
    axes.annotate("loss", (left["t"], left["loss"]), (0, -11), ha="right", color=green, **offset)


def figure_6(table: pd.DataFrame) -> Figure:
    """Draw the privacy profiles of three mechanisms with one variance.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_losses.profiles_at_one_variance` returns it.

    Returns
    -------
    Figure
        A logarithmic panel over all epsilon and a plain one near 0, up to where flipped Huber
        noise takes over.
    """
    positive = table[table["delta"] > 0]
    crossing = _crossing(table)
    with house_style():
        figure = new_figure(PAGE, 2.8)
        whole, near = figure.subplots(1, 2)
        for mechanism, rows in positive.groupby("mechanism", sort=False):
            for axes in (whole, near):
                axes.plot(rows["epsilon"], rows["delta"], color=COLOURS[mechanism],
                          label=NAMES[mechanism])  # fmt: skip
        whole.set_yscale("log")
        whole.set_xlim(table["epsilon"].min(), table["epsilon"].max())
        whole.set_ylim(max(positive["delta"].min(), _LEAST), positive["delta"].max() * 1.5)
        inside = table[table["epsilon"] <= max(2.5 * crossing, table["epsilon"].iloc[1])]
        near.set_xlim(inside["epsilon"].min(), inside["epsilon"].max())
        near.set_ylim(inside["delta"].min(), inside["delta"].max() * 1.03)
        near.axvline(crossing, color=GREY, linestyle=":", linewidth=1)
        near.annotate(
            f"from {crossing:.2g} on flipped Huber\nhas the smallest $\\delta$", (crossing, 1),
            (4, -2), xycoords=("data", "axes fraction"), textcoords="offset points",
            va="top", color=GREY, fontsize=7,
        )  # fmt: skip
        whole.set_ylabel(r"privacy profile $\delta(\epsilon)$")
        whole.set_title("One variance, three mechanisms")
        near.set_title("Near 0 the order is reversed")
        whole.legend(loc="upper right", borderaxespad=0)
        for axes in (whole, near):
            axes.set_xlabel(r"privacy budget $\epsilon$")
            axes.grid(color=GREY, alpha=0.2, linewidth=0.5)
    return figure


def _crossing(table: pd.DataFrame) -> float:
    """Return the epsilon from which on flipped Huber has the smallest delta, at most the last."""
    wide = table.pivot_table(index="epsilon", columns="mechanism", values="delta")
    worse = np.flatnonzero(wide["flipped-huber"] > wide.min(axis=1))
    place = worse[-1] + 1 if len(worse) else 0
    return float(wide.index[min(place, len(wide) - 1)])


def figure_7(table: pd.DataFrame) -> Figure:
    """Draw the centred privacy losses of four mechanisms with one scale parameter.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_losses.losses_at_one_scale` returns it.

    Returns
    -------
    Figure
        The flipped Huber's loss joins the Gaussian's in the tails; the offset-symmetric
        Gaussian's is the sum of Gaussian and Laplace throughout.
    """
    with house_style():
        figure = new_figure(COLUMN * 1.4, 3.2)
        axes = figure.subplots()
        axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
        axes.axvline(0, color=GREY, linewidth=0.4, zorder=0)
        right = table["t"].max()
        for mechanism, rows in table.groupby("mechanism", sort=False):
            colour = COLOURS[mechanism]
            line = _LINES_7.get(mechanism, "-")
            front = 3 if mechanism == "gaussian" else 2  # its dashes lie on the flipped Huber's
            axes.plot(rows["t"], rows["loss"], color=colour, linestyle=line, zorder=front)
            last = rows["loss"].iloc[-1]
            lift = {"gaussian": -7, "flipped-huber": 5}.get(mechanism, 0)
            axes.annotate(
                NAMES[mechanism].replace(" Gaussian", "\nGaussian"), (right, last), (5, lift),
                textcoords="offset points", va="center", color=colour, annotation_clip=False,
            )  # fmt: skip
        axes.set_xlim(table["t"].min(), right)
        axes.set_xlabel(r"centred noise $t$")
        axes.set_ylabel(r"centred privacy loss $\tilde{\zeta}_d(t)$")
        axes.set_title("One scale parameter, four losses")
    return figure
