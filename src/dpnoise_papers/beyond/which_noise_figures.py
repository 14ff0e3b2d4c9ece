"""Map of the best mechanism over the number of coordinates and epsilon, and the page of all points.

Mechanisms are called as by `dpnoise.compare`; each has the colour of its cells here and on the
page, 'which noise?': one HTML file that opens from disk and shows the table point by point.

    python -m dpnoise_papers.beyond.which_noise_figures TABLE.csv PAGE.html

It shows points of the grid and nothing between them, so that whatever it says is certified. Bounds
are rounded to the safe side: delta up, the floor down.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dpnoise_papers.beyond.which_noise import lower, upper
from dpnoise_papers.pages import from_template
from dpnoise_papers.result_files import read_table, write_text
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
        As `dpnoise_papers.beyond.which_noise.which_noise` returns it.
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


DIGITS = 4


def nearest(x: float) -> str:
    """Text of a number, rounded."""
    return f"{x:.{DIGITS}g}"


def more(x: float) -> str:
    """Text of a number, rounded up."""
    return f"{upper(x, DIGITS):.{DIGITS}g}"


def less(x: float) -> str:
    """Text of a number, rounded down."""
    return f"{lower(x, DIGITS):.{DIGITS}g}"


def point(rows: pd.DataFrame) -> dict[str, Any]:
    """What the page shows at one point of the grid, best mechanism first."""
    columns = [rows[name].tolist() for name in ("mechanism", "variance", "certified")]
    shown = [
        [name, variance, nearest(variance), nearest(variance**0.5), more(certified)]
        for name, variance, certified in zip(*columns, strict=True)
    ]
    floor = float(rows["floor"].iloc[0])
    return {"floor": [floor, less(floor), less(floor**0.5)], "rows": shown}


def data(table: pd.DataFrame) -> dict[str, Any]:
    """The table as the page holds it: axes, and points by 'set K epsilon delta' as written."""
    axes = {
        name: sorted(table[name].unique().tolist()) for name in ("dimension", "epsilon", "delta")
    }
    groups = table.groupby(["set", "dimension", "epsilon", "delta"], sort=False)
    points = {
        f"{name} {K} {epsilon:g} {delta:g}": point(rows)
        for (name, K, epsilon, delta), rows in groups
    }
    shown = {name: [f"{x:g}" for x in values] for name, values in axes.items()}
    colours = {name: colour(name) for name in table["mechanism"].unique()}
    sets = {name: told for name, told in SETS.items() if (table["set"] == name).any()}
    return {"axes": shown, "sets": sets, "colours": colours, "points": points}


def render(table: pd.DataFrame) -> str:
    """The page as HTML."""
    content = json.dumps(data(table), separators=(",", ":"), sort_keys=True)
    content = Markup(content.replace("<", "\\u003c"))  # noqa: S704 - nothing ends the script
    return from_template("dpnoise_papers.beyond", "explore", filters={}, names={}, data=content)


if __name__ == "__main__":
    write_text(render(read_table(Path(sys.argv[1]))), Path(sys.argv[2]))
