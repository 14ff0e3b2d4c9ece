"""Joint noise beside the mechanisms of the papers: over the dimension, and row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.inid_2024.figures.pages import NOISES, SCHEMES
from dpnoise_papers.pages import markdown, number
from dpnoise_papers.style import (
    GREY,
    NAMES,
    PLAIN,
    house_style,
    legend_below,
    log_ticks,
    look,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARGIN = 0.6  # of the lowest floor, where the axis starts
_FAR = 1e-9  # of the floor, where the grey area ends, out of sight
_AXES = ("variance per coordinate", "variance over the floor")
_OF_FLIPPED_HUBER = {"figure-4a": "Figure 4a", "figure-4b": "Figure 4b", "table-2": "Table II"}
_OF_INID = {
    "figure-1a": "Figure 1a", "figure-1b": "Figure 1b", "figure-3a": "Figure 3a",
    "figure-3b": "Figure 3b", "figure-4": "Figure 4", "table-2": "Table II",
}  # fmt: skip
_SHOWN = {"gaussian": "exact", "laplace": "pure", "flipped-huber": "exact"}


@house_style()
def joint_noise(table: pd.DataFrame) -> Figure:
    """Variance per coordinate against K, and the same over the floor, a column for each budget.

    No additive noise is in the grey area.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.beyond.joint_noise.joint_noise` returns it.
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
        As `dpnoise_papers.beyond.joint_noise.flipped_huber_rows` returns it; the
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
        As `dpnoise_papers.beyond.joint_noise.inid_rows` returns it.
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
