"""Beyond Section V of inid-2024: where Laplace noise wins, delta > 0, and Theorem 7's measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dpnoise_papers.style import COLOURS, GREY, PAGE, house_style, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PLAIN = FuncFormatter(lambda x, _: f"{x:g}")
_FAMILIES = {
    "linear": ("linear", "^"),
    "quadratic": ("quadratic", "s"),
    "exponential": ("exponential", "D"),
    "block": ("equal or absent", "_"),
    "outlier": ("one large, many small", "|"),
}


def crossovers(table: pd.DataFrame) -> Figure:
    """Draw the dimension from which optimal Laplace noise is worse than Gaussian noise.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.profiles.laplace_against_gaussian` returns it.

    Returns
    -------
    Figure
        One panel per profile. Triangles at the top stand for 'in no dimension'.
    """
    panels = list(table.groupby("profile", sort=False))
    top = 2.0 * table["crossover"].max()
    with house_style():
        figure = new_figure(PAGE, 2.8)
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for place, (panel, (name, rows)) in enumerate(zip(axes, panels, strict=True)):
            deltas = sorted(set(rows["delta"]), reverse=True)
            for step, delta in enumerate(deltas):
                here = rows[rows["delta"] == delta].sort_values("epsilon")
                shade = 0.75 - 0.75 * step / max(len(deltas) - 1, 1)
                colour = (shade, shade, shade)
                label = rf"$\delta = 10^{{{np.log10(delta):.0f}}}$"
                panel.plot(here["epsilon"], here["crossover"], color=colour, label=label,
                           drawstyle="steps-mid")  # fmt: skip
                never = here[here["crossover"].isna()]
                panel.plot(never["epsilon"], np.full(len(never), top * 0.72**step), marker="^",
                           linestyle="none", color=colour, markersize=3, markevery=5)  # fmt: skip
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_title(name)
            panel.set_xlabel(r"$\epsilon$")
            panel.xaxis.set_major_formatter(PLAIN)
            panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
            if place == 0:
                panel.set_ylabel("dimension from which\nLaplace noise is worse")
        axes[0].set_ylim(0.9, top * 1.4)
        axes[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes[0].yaxis.set_major_formatter(PLAIN)
        axes[0].yaxis.set_minor_formatter(NullFormatter())
        axes[0].set_xlim(table["epsilon"].min(), table["epsilon"].max())
        handles, labels = axes[0].get_legend_handles_labels()
        never_seen = axes[0].plot([], [], marker="^", linestyle="none", color="black", markersize=3)
        figure.legend([*handles, *never_seen], [*labels, "in no dimension"],
                      loc="outside lower center", ncols=4)  # fmt: skip
    return figure


def approximate_laplace(table: pd.DataFrame) -> Figure:
    """Draw Laplace noise for (epsilon, delta) against Gaussian noise over the dimension.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.corollary_6.approximate_laplace` returns it.

    Returns
    -------
    Figure
        One panel per delta; dashed with delta = 0 (Corollary 6 is within a line's width of it),
        solid by the exact account.
    """
    deltas = sorted(set(table["delta"]), reverse=True)
    with house_style():
        figure = new_figure(PAGE, 2.9)
        axes = figure.subplots(1, len(deltas), sharex=True, sharey=True, squeeze=False)[0]
        for place, (panel, delta) in enumerate(zip(axes, deltas, strict=True)):
            here = table[table["delta"] == delta]
            for name, rows in here.groupby("profile", sort=False):
                marker = {"uniform": "o", "linear": "^", "exponential": "D"}.get(name, "s")
                for column, line in (("over_gaussian_pure_db", (0, (4, 1.5))),
                                     ("over_gaussian_exact_db", "-")):  # fmt: skip
                    solid = line == "-"
                    panel.plot(
                        rows["dimension"], rows[column], linestyle=line, linewidth=1.0,
                        color=COLOURS["laplace"], marker=marker, markersize=3,
                        markerfacecolor=COLOURS["laplace"] if solid else "none",
                        label=f"{name}, " + ("exact account" if solid else r"$\delta = 0$"),
                    )  # fmt: skip
            panel.axhline(0.0, color=COLOURS["gaussian"], linewidth=1.2)
            limit = 10.0 * np.log10(2.0)
            panel.axhline(limit, color=GREY, linewidth=0.8, linestyle=(0, (2, 2)))
            last = table["dimension"].max()
            for level, words, shift, colour in (
                (limit, "twice the Gaussian noise", 3, GREY),
                (0.0, "Gaussian noise", -9, COLOURS["gaussian"]),
            ):
                panel.annotate(words, (last, level), (0, shift), color=colour, fontsize=6.5,
                               ha="right", textcoords="offset points")  # fmt: skip
            panel.set_xscale("log")
            panel.set_xlabel("dimension $K$")
            panel.set_title(rf"$\mathbf{{\delta = 10^{{{np.log10(delta):.0f}}}}}$")
            panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
            if place == 0:
                panel.set_ylabel("error of Laplace over\nGaussian noise [dB]")
        axes[0].set_xlim(table["dimension"].min(), table["dimension"].max())
        axes[0].set_ylim(-13, 22)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def theorem_7(table: pd.DataFrame) -> Figure:
    """Draw the ratio of the errors against nu, between what is true and what is claimed.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.theorem_7.theorem_7` returns it.
    """
    nu = np.geomspace(table["nu"].min(), 1.0, 60)
    with house_style():
        figure = new_figure(PAGE, 3.1)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        for panel, noise in zip(axes, ("gaussian", "laplace"), strict=True):
            panel.fill_between(nu, nu, 1.0, color=GREY, alpha=0.15, linewidth=0,
                               label=r"possible: $\nu \leq$ ratio $\leq 1$")  # fmt: skip
            panel.plot(nu, nu**2, color="black", linestyle=(0, (4, 1.5)), linewidth=1.0,
                       label=r"$\nu^2$, Theorem 7")  # fmt: skip
            for name, (words, marker) in _FAMILIES.items():
                rows = table[table["profile"] == name]
                panel.plot(rows["nu"], rows[noise], linestyle="none", marker=marker, markersize=4,
                           color=COLOURS[noise], markerfacecolor="none", label=words)  # fmt: skip
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel(r"$\nu$, mean over largest sensitivity")
            panel.set_title({"gaussian": "Gaussian", "laplace": "Laplace"}[noise])
            panel.grid(color=GREY, alpha=0.2, linewidth=0.5)
        axes[0].set_ylabel("error of optimal over i.i.d. noise")
        axes[0].set_xlim(nu[0], 1.05)
        axes[0].set_ylim(max(nu[0] ** 2, 1e-6), 1.5)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
