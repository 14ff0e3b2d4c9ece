"""Map and page of the best mechanism by budget, and joint noise beside the papers' mechanisms.

Mechanisms are called as by `dpnoise.compare`; each has the colour of its cells here and on the
page, 'which noise?': one HTML file that opens from disk and shows the table point by point.

    python -m dpnoise_papers.beyond.figures TABLE.csv PAGE.html

It shows points of the grid and nothing between them, so that whatever it says is certified. Bounds
are rounded to the safe side: delta up, the floor down.

Joint noise stands beside the mechanisms of the papers over the dimension, and row by row.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dpnoise_papers.beyond.tables import lower, upper
from dpnoise_papers.inid_2024.figures.pages import NOISES, SCHEMES
from dpnoise_papers.pages import from_template, markdown, number
from dpnoise_papers.result_files import read_table, write_text
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    PLAIN,
    TEXT,
    house_style,
    legend_below,
    log_ticks,
    look,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
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
_MARGIN = 0.6  # of the lowest floor, where the axis starts
_FAR = 1e-9  # of the floor, where the grey area ends, out of sight
_AXES = ("variance per coordinate", "variance over the floor")
_OF_FLIPPED_HUBER = {"figure-4a": "Figure 4a", "figure-4b": "Figure 4b", "table-2": "Table II"}
_OF_INID = {
    "figure-1a": "Figure 1a", "figure-1b": "Figure 1b", "figure-3a": "Figure 3a",
    "figure-3b": "Figure 3b", "figure-4": "Figure 4", "table-2": "Table II",
}  # fmt: skip
_SHOWN = {"gaussian": "exact", "laplace": "pure", "flipped-huber": "exact"}


def colour(mechanism: str) -> str:
    """Colour of a mechanism's cells; grey for one that is new."""
    return CELLS.get(mechanism, GREY)


@house_style()
def which_noise(table: pd.DataFrame) -> Figure:
    """Cells coloured by the mechanism of least variance; a dot where plain noise is close.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.beyond.tables.which_noise` returns it.
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


@house_style()
def joint_noise(table: pd.DataFrame) -> Figure:
    """Variance per coordinate against K, and the same over the floor, a column for each budget.

    No additive noise is in the grey area.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.beyond.tables.joint_noise` returns it.
    """
    budgets = list(dict.fromkeys(zip(table["epsilon"], table["delta"], strict=True)))
    figure, panels = page(2, len(budgets), height=5.2, sharex=True, sharey="row")
    for (axes, below), (epsilon, delta) in zip(panels.T, budgets, strict=True):
        here = table[(table["epsilon"] == epsilon) & (table["delta"] == delta)]
        floor = here.drop_duplicates("dimension").sort_values("dimension")
        K, lowest = floor["dimension"], floor["floor"]
        for panel, height in ((axes, lowest), (below, lowest / lowest)):
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.grid(visible=True)
            panel.fill_between(K, _FAR * height, height, color=GREY, alpha=0.25, linewidth=0)
            panel.plot(K, height, color=GREY, linewidth=1.0, label="floor*")
        for name in dict.fromkeys(here["mechanism"]):
            rows = here[here["mechanism"] == name].sort_values("dimension")
            label = NAMES[name] + ("*" if name == "joint" else "")
            axes.plot(rows["dimension"], rows["variance"], **look(name), label=label)
            below.plot(rows["dimension"], rows["variance"] / rows["floor"], **look(name))
        axes.set_title(rf"$\epsilon = {epsilon:g},\ \delta = {power_of_ten(delta)}$")
        below.set_xlabel("dimension K")
        below.xaxis.set_major_formatter(PLAIN)
    panels[0, 0].set_xlim(table["dimension"].min(), table["dimension"].max())
    panels[0, 0].set_ylim(_MARGIN * table["floor"].min(), None)
    panels[1, 0].set_ylim(_MARGIN, None)
    for panel, words in zip(panels[:, 0], _AXES, strict=True):
        panel.set_ylabel(words)
        log_ticks(panel.yaxis)
    legend_below(figure)
    return figure


def flipped_huber_rows(table: pd.DataFrame) -> tuple[str]:
    """Joint noise and the floor beside the paper's three mechanisms, as Markdown.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.beyond.tables.flipped_huber_rows` returns it; the
        paper's delta comes first.
    """
    rows = []
    own = table[table["delta"] == table["delta"].iloc[0]]
    for (item, K, epsilon), here in own.groupby(["item", "dimension", "epsilon"], sort=False):
        known = here.set_index(["mechanism", "method"])["variance"]
        one = here.iloc[0]
        variances = {
            NAMES[name]: number(known.get((name, method), float("nan")))
            for name, method in _SHOWN.items()
        }
        huber = known.get(("flipped-huber", "exact"), float("nan"))
        rows.append(
            {"item": _OF_FLIPPED_HUBER[item], "K": f"{K}", "epsilon": f"{epsilon:g}"}
            | variances
            | {
                "joint*": number(one["joint_error"]),
                "which*": one["joint"],
                "floor*": number(one["floor"]),
                "flipped Huber / joint*": f"{huber / one['joint_error']:.2f}",
                "joint / floor*": f"{one['joint_over_floor']:.2f}",
            }
        )
    note = (
        f"Beyond the paper, and no verdict on it. Variance per coordinate at delta = "
        f"{own['delta'].iloc[0]:g} where each of K coordinates may change by 1; Laplace noise has "
        "delta = 0. Columns with an asterisk are not in the paper: the best noise with a joint "
        "density that `compare` finds without its slow searches, and a floor that no additive "
        "noise is below, which need not be attained. All mechanisms and the other deltas are in "
        "joint-rows.csv."
    )
    return (markdown("Joint noise beside Figure 4 and Table II", note, pd.DataFrame(rows)),)


def inid_rows(table: pd.DataFrame) -> tuple[str]:
    """Joint noise and the floor beside the best noise of the paper at each setting.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.beyond.tables.inid_rows` returns it.
    """
    keys = ["item", "profile", "dimension", "epsilon", "delta"]
    table = table.fillna({"profile": "-"})
    lowest = table.loc[table.groupby(keys, sort=False)["error"].idxmin()]
    rows = [
        {
            "item": _OF_INID[row["item"]],
            "profile": row["profile"],
            "K": f"{row['dimension']}",
            "epsilon": f"{row['epsilon']:g}",
            "delta": f"{row['delta']:g}",
            "best of the paper": _words(row["mechanism"]),
            "error": number(row["error"]),
            "joint*": number(row["joint_error"]),
            "which*": row["joint"],
            "floor*": number(row["floor"]),
            "paper / joint*": f"{row['over_joint']:.2f}",
            "joint / floor*": f"{row['joint_over_floor']:.2f}",
        }
        for row in lowest.to_dict("records")
    ]
    note = (
        "Beyond the paper, and no verdict on it. Of the paper's mechanisms at each setting the one "
        "of lowest error, by our calibration: the mean squared error in Figures 1, 3 and 4, the "
        "mean absolute error in Table II, summed over the coordinates, where coordinate i may "
        "change by lambda_i. The staircase of Table II is told the sum of the sensitivities alone. "
        "Columns with an asterisk are not in the paper: the best noise with a joint density that "
        "`compare` finds without its slow searches (for one sensitive coordinate the scalar "
        "staircase), and a floor that no additive noise is below, which need not be attained. All "
        "mechanisms are in joint-rows.csv."
    )
    title = "Joint noise beside Figures 1, 3 and 4 and Table II of inid-2024"
    return (markdown(title, note, pd.DataFrame(rows)),)


def _words(mechanism: str) -> str:
    """Name of a mechanism: 'gaussian-optimal' is 'Gaussian, optimal i.n.i.d.'."""
    if mechanism == "staircase":
        return "staircase in two dimensions"
    noise, scheme = mechanism.split("-")
    return f"{NOISES[noise]}, {SCHEMES[scheme]}"


if __name__ == "__main__":
    write_text(render(read_table(Path(sys.argv[1]))), Path(sys.argv[2]))
