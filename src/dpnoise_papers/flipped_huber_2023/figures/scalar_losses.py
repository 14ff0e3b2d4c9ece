"""Figures 5 to 7 of flipped-huber-2023: privacy losses and profiles in one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from dpnoise_papers.style import GREY, GROUND, NAMES, house_style, legend_below, look, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SMALLEST = 1e-12  # smaller delta is of no use to anyone


@house_style()
def figure_5(table: pd.DataFrame) -> Figure:
    """Centred privacy losses of flipped Huber noise below their affine bounds.

    One panel per shift d. The open dot is the ridge, where loss and bound meet.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_losses.loss_and_bound` returns it.
    """
    shifts = sorted(set(table["d"]))
    alpha, gamma = table["alpha"].iloc[0], table["gamma"].iloc[0]
    figure, (panels,) = page(1, len(shifts), height=2.9)
    for axes, d in zip(panels, shifts, strict=True):
        rows = table[table["d"] == d]
        ridge = rows[rows["ridge"] == 1]
        axes.plot(rows["t"], rows["bound"], color=GREY, linewidth=1, label="affine bound (18)")
        axes.plot(rows["t"], rows["loss"], **look("flipped-huber"), label="privacy loss")
        axes.plot(
            ridge["t"], ridge["loss"], "o", color="black", markerfacecolor="white", markersize=5,
            label="ridge",
        )  # fmt: skip
        _cross(axes)
        axes.set_xlim(rows["t"].min(), rows["t"].max())
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel(r"centred noise $t$")
        axes.set_title(_relation(alpha, d))
    panels[0].set_ylabel(r"centred privacy loss $\tilde{\zeta}_d(t)$")
    legend_below(figure, title=rf"flipped Huber noise, $\alpha={alpha:g},\ \gamma={gamma:g}$")
    return figure


def _cross(axes: Axes) -> None:
    """Draw thin lines through the origin."""
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    axes.axvline(0, color=GREY, linewidth=0.4, zorder=0)


def _relation(alpha: float, d: float) -> str:
    """Case of (25) that a shift belongs to."""
    if alpha >= d:
        case = r"$|d| \leq \alpha$"
    elif alpha >= d / 2:
        case = r"$|d|/2 \leq \alpha < |d|$"
    else:
        case = r"$\alpha < |d|/2$"
    return f"d = {d:g}: {case}"


@house_style()
def figure_6(table: pd.DataFrame) -> Figure:
    """Privacy profiles of three mechanisms with one variance.

    A logarithmic panel over all epsilon and a plain one near 0, up to where flipped Huber noise
    takes over.

    Parameters
    ----------
    table : DataFrame
        As `profiles_at_one_variance` of
        `dpnoise_papers.flipped_huber_2023.tables.scalar_losses` returns it.
    """
    positive = table[table["delta"] > 0]
    crossing = _crossing(table)
    figure, ((whole, near),) = page(1, 2, height=3.1)
    for mechanism in dict.fromkeys(positive["mechanism"]):
        rows = positive[positive["mechanism"] == mechanism]
        for axes in (whole, near):
            axes.plot(rows["epsilon"], rows["delta"], **look(mechanism), label=NAMES[mechanism])
            axes.set_xlabel(r"privacy budget $\epsilon$")
            axes.grid(visible=True)
    whole.set_yscale("log")
    whole.set_xlim(table["epsilon"].min(), table["epsilon"].max())
    whole.set_ylim(max(positive["delta"].min(), _SMALLEST), positive["delta"].max() * 1.5)
    inside = table[table["epsilon"] <= max(2.5 * crossing, table["epsilon"].iloc[1])]
    near.set_xlim(inside["epsilon"].min(), inside["epsilon"].max())
    near.set_ylim(inside["delta"].min(), inside["delta"].max() * 1.03)
    near.axvline(crossing, color=GREY, linestyle=":", linewidth=1)
    near.annotate(
        f"from {crossing:.2g} on flipped Huber\nhas the smallest $\\delta$", (crossing, 1),
        (4, -2), xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
        color=GREY, bbox=GROUND,
    )  # fmt: skip
    whole.set_ylabel(r"privacy profile $\delta(\epsilon)$")
    whole.set_title("One variance, three mechanisms")
    near.set_title("Near 0 the order is reversed")
    legend_below(figure)
    return figure


def _crossing(table: pd.DataFrame) -> float:
    """Epsilon from which on flipped Huber has the smallest delta, at most the last."""
    wide = table.pivot_table(index="epsilon", columns="mechanism", values="delta")
    worse = np.flatnonzero(wide["flipped-huber"] > wide.min(axis=1))
    place = worse[-1] + 1 if len(worse) else 0
    return float(wide.index[min(place, len(wide) - 1)])


@house_style()
def figure_7(table: pd.DataFrame) -> Figure:
    """Centred privacy losses of four mechanisms with one scale parameter.

    The flipped Huber's loss joins the Gaussian's in the tails; the offset-symmetric Gaussian's is
    the sum of Gaussian and Laplace throughout.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.scalar_losses.losses_at_one_scale` returns it.
    """
    figure, ((axes,),) = page(height=3.6)
    _cross(axes)
    for mechanism in dict.fromkeys(table["mechanism"]):
        rows = table[table["mechanism"] == mechanism]
        axes.plot(rows["t"], rows["loss"], **look(mechanism), label=NAMES[mechanism])
    axes.set_xlim(table["t"].min(), table["t"].max())
    axes.set_xlabel(r"centred noise $t$")
    axes.set_ylabel(r"centred privacy loss $\tilde{\zeta}_d(t)$")
    axes.set_title("One scale parameter, four losses")
    legend_below(figure)
    return figure
