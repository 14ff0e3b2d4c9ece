"""Joint noise beside the mechanisms of flipped-huber-2023: over the dimension, and row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

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

_MARGIN = 0.7  # of the lowest floor, where the axis starts
_ITEMS = {"figure-4a": "Figure 4a", "figure-4b": "Figure 4b", "table-2": "Table II"}
_SHOWN = {"gaussian": "exact", "laplace": "pure", "flipped-huber": "exact"}


@house_style()
def joint_noise(table: pd.DataFrame) -> Figure:
    """Variance per coordinate over K against the dimension K, a panel for each budget.

    No additive noise is in the grey area.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.joint_noise.joint_noise` returns it.
    """
    budgets = list(dict.fromkeys(zip(table["epsilon"], table["delta"], strict=True)))
    figure, (panels,) = page(1, len(budgets), height=3.3, sharex=True)
    for axes, (epsilon, delta) in zip(panels, budgets, strict=True):
        here = table[(table["epsilon"] == epsilon) & (table["delta"] == delta)]
        floor = here.drop_duplicates("dimension").sort_values("dimension")
        K, lowest = floor["dimension"], floor["floor"] / floor["dimension"]
        bottom = _MARGIN * lowest.min()
        axes.fill_between(K, bottom, lowest, color=GREY, alpha=0.25, linewidth=0)
        axes.plot(K, lowest, color=GREY, linewidth=1.0, label="floor*")
        for name in dict.fromkeys(here["mechanism"]):
            rows = here[here["mechanism"] == name].sort_values("dimension")
            label = NAMES[name] + ("*" if name == "joint" else "")
            each = rows["variance"] / rows["dimension"]
            axes.plot(rows["dimension"], each, **look(name), label=label)
        axes.set_title(rf"$\epsilon = {epsilon:g},\ \delta = {power_of_ten(delta)}$")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(table["dimension"].min(), table["dimension"].max())
        axes.set_ylim(bottom, None)
        axes.xaxis.set_major_formatter(PLAIN)
        axes.set_xlabel("dimension K")
        axes.grid(visible=True)
        log_ticks(axes.yaxis)
    panels[0].set_ylabel("variance per coordinate / K")
    legend_below(figure)
    return figure


def joint_rows(table: pd.DataFrame) -> tuple[str]:
    """Joint noise and the floor beside the paper's three mechanisms, as Markdown.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.joint_noise.joint_rows` returns it; the
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
            {"item": _ITEMS[item], "K": f"{K}", "epsilon": f"{epsilon:g}"}
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
