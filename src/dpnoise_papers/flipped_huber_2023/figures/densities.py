"""Figures 1 and 2 of flipped-huber-2023, drawn from their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from dpnoise_papers.style import COLOURS, house_style, legend_below, look, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LINES = ("-", "--", ":", "-.")  # by gamma, the most frequent first


@house_style()
def figure_1(table: pd.DataFrame) -> Figure:
    """Flipped Huber densities, plainly and on a logarithmic scale.

    The logarithmic panel shows the graft: straight (Laplace) up to the dot at abs(t) = alpha, a
    parabola (Gaussian) beyond.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.densities.densities` returns it.
    """
    alphas = sorted(set(table["alpha"]) - {0.0})
    gammas = list(table.groupby("gamma").size().sort_values(ascending=False, kind="stable").index)
    figure, ((plain, logarithmic),) = page(1, 2, height=3.2)
    for alpha, gamma in dict.fromkeys(zip(table["alpha"], table["gamma"], strict=True)):
        rows = table[(table["alpha"] == alpha) & (table["gamma"] == gamma)]
        colour = _shade(alpha, alphas)
        look: dict[str, Any] = {
            "color": colour,
            "linestyle": LINES[gammas.index(gamma) % len(LINES)],
            "zorder": 3 if alpha == 0 else 2,  # the reference stays visible
        }
        name = " (Gaussian)" if alpha == 0 else ""
        marks = rows[rows["transition"] == 1]
        for axes in (plain, logarithmic):
            label = rf"$\alpha={alpha:g},\ \gamma={gamma:g}${name}"
            axes.plot(rows["t"], rows["density"], **look, label=label)
            axes.plot(marks["t"], marks["density"], "o", color=colour)
            axes.set_xlim(table["t"].min(), table["t"].max())
            axes.set_xlabel(r"noise $t$")
    peak = table["density"].max()
    logarithmic.set_yscale("log")
    logarithmic.set_ylim(peak * 1e-6, peak * 2)
    plain.set_ylim(0, None)
    plain.set_ylabel(r"density $g(t)$")
    logarithmic.set_ylabel(r"density $g(t)$, logarithmic")
    plain.set_title("Sharp centre")
    logarithmic.set_title("Laplace centre, Gaussian tails")
    legend_below(figure)
    return figure


def _shade(alpha: float, alphas: list[float]) -> tuple[float, ...] | str:
    """Colour of the Gaussian for alpha = 0, else of flipped Huber noise, darker with alpha."""
    if alpha == 0:
        return COLOURS["gaussian"]
    base = np.array(to_rgb(COLOURS["flipped-huber"]))
    weight = alphas.index(alpha) / max(len(alphas) - 1, 1)
    light, dark = 0.5 * base + 0.5, 0.4 * base
    return tuple((light + weight * (dark - light)).tolist())


@house_style()
def figure_2(table: pd.DataFrame) -> Figure:
    """Normalised Fisher information against alpha/gamma.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.densities.fisher_information` returns it.
    """
    curve = table[(table["mechanism"] == "flipped-huber") & (table["ratio"] > 0)]
    figure, ((axes,),) = page(height=2.8)
    left, right = curve["ratio"].min(), curve["ratio"].max()
    for mechanism, word, align, lift in (
        ("gaussian", "Gaussian", "top", -3),
        ("laplace", "Laplace", "bottom", 3),
    ):
        level = table.loc[table["mechanism"] == mechanism, "nfi"].iloc[0]
        axes.axhline(level, **look(mechanism), linewidth=1)
        axes.annotate(
            f"{word}: {level:g}", (right, level), (0, lift), textcoords="offset points",
            ha="right", va=align, color=COLOURS[mechanism],
        )  # fmt: skip
    axes.plot(curve["ratio"], curve["nfi"], **look("flipped-huber"))
    middle = curve.iloc[(curve["nfi"] - 1.5).abs().argmin()]
    axes.annotate(
        "flipped Huber", (middle["ratio"], middle["nfi"]), (-6, 4), textcoords="offset points",
        ha="right", color=COLOURS["flipped-huber"],
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0.9, 2.1)
    axes.set_xlabel(r"$\alpha/\gamma$: Gaussian at 0, Laplace at infinity")
    axes.set_ylabel(r"Fisher information $\times$ variance")
    axes.grid(axis="y")
    return figure
