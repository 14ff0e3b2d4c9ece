"""Map of the best mechanism over the number of coordinates and epsilon, a panel for each delta.

Mechanisms are called as by `dpnoise.compare`; each has the colour of its cells here and on the
page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dpnoise_papers.style import COLOURS, GREY, TEXT, house_style, legend_below, page, power_of_ten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELLS = {
    "Laplace": COLOURS["laplace"],
    "Laplace, delta used": "#F2A679",
    "truncated Laplace": COLOURS["truncated-laplace"],
    "Gaussian": COLOURS["gaussian"],
    "flipped Huber": COLOURS["flipped-huber"],
    "Huber": COLOURS["huber"],
    "offset symmetric Gaussian": COLOURS["offset-symmetric-gaussian"],
    "Subbotin": COLOURS["subbotin"],
    "staircase per coordinate": COLOURS["staircase"],
    "staircase per coordinate, delta used": "#F7C873",
    "staircase in the norm": "#F4DE8A",
    "K-norm": COLOURS["k-norm"],
    "K-norm, delta used": "#9C9CE0",
    "truncated K-norm": "#C79AD9",
    "generalised gamma": "#B8C4D9",
    "K-norm of an ellipsoid": COLOURS["james-stein"],
    "generalised gamma of an ellipsoid": "#6E7A8A",
    "correlated Gaussian": "#5BB5C9",
    "blocks": "#B5A58A",
}
SETS = {"all": "all K change by 1", "three": "at most 3 of K change by 1"}
PLAIN_NOISE = ("Laplace", "Gaussian")
NEAR = 1.05  # times the best variance: a dot
DOT: Any = {
    "marker": ".", "linestyle": "none", "markersize": 4, "color": "white",
    "markeredgecolor": "black", "markeredgewidth": 0.5,
}  # fmt: skip
_LABELLED = 2  # every second value of an axis


def colour(mechanism: str) -> str:
    """Colour of a mechanism's cells; grey for one that is new."""
    return CELLS.get(mechanism, GREY)


@house_style()
def which_noise(table: pd.DataFrame) -> Figure:
    """Cells coloured by the mechanism of least variance; a dot where plain noise is close.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.beyond.which_noise.table.which_noise` returns it.
    """
    sets = [name for name in SETS if (table["set"] == name).any()]
    deltas = sorted(table["delta"].unique())
    best = table.drop_duplicates(["set", "dimension", "epsilon", "delta"])
    names = [name for name in CELLS if (best["mechanism"] == name).any()]
    figure, panels = page(len(sets), len(deltas), height=0.8 + 1.9 * len(sets))
    for i, name in enumerate(sets):
        for j, delta in enumerate(deltas):
            axes, here = panels[i, j], table[(table["set"] == name) & (table["delta"] == delta)]
            _cells(axes, here, names)
            axes.tick_params(labelleft=j == 0)
            if i == 0:
                zero = r"$\delta = 0$"
                axes.set_title(rf"$\delta = {power_of_ten(delta)}$" if delta else zero)
            if i == len(sets) - 1:
                axes.set_xlabel("K")
        panels[i, 0].set_ylabel(f"{SETS[name]}\n" + r"$\epsilon$")
    cells = [Patch(facecolor=colour(name), edgecolor=GREY, label=name) for name in names]
    dot = Line2D([], [], label="Laplace or Gaussian within 5 %", **DOT)
    legend_below(figure, [*cells, dot])
    return figure


def _cells(axes: Axes, table: pd.DataFrame, names: list[str]) -> None:
    """One panel: K along, epsilon up."""
    found = table.drop_duplicates(["dimension", "epsilon"])
    best = found.pivot_table(index="epsilon", columns="dimension", values="variance")
    codes = found.assign(code=found["mechanism"].map(names.index))
    codes = codes.pivot_table(index="epsilon", columns="dimension", values="code")
    axes.imshow(
        codes.to_numpy(),
        cmap=ListedColormap([colour(name) for name in names]),
        vmin=-0.5,
        vmax=len(names) - 0.5,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    plain = table[table["mechanism"].isin(PLAIN_NOISE)]
    plain = plain.pivot_table(
        index="epsilon", columns="dimension", values="variance", aggfunc="min"
    )
    rows, columns = np.nonzero((plain <= NEAR * best).to_numpy())
    axes.plot(columns, rows, **DOT)
    axes.set_xticks(range(0, codes.shape[1], _LABELLED))
    axes.set_xticklabels([f"{K:g}" for K in codes.columns[::_LABELLED]], rotation=90, size=TEXT)
    axes.set_yticks(range(0, codes.shape[0], _LABELLED))
    axes.set_yticklabels([f"{epsilon:g}" for epsilon in codes.index[::_LABELLED]])
    axes.tick_params(length=2)
