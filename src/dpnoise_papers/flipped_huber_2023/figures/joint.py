"""Joint noise and the floor beside the independent noise of the paper, over the dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    import pandas as pd
    from matplotlib.figure import Figure

_MARGIN = 0.6  # of the lowest floor, where the axis starts
_FAR = 1e-9  # of the floor, where the grey area ends, out of sight
_AXES = ("variance per coordinate", "variance over the floor")


@house_style()
def joint_noise(table: pd.DataFrame) -> Figure:
    """Variance per coordinate against K, and the same over the floor, a column for each budget.

    No additive noise is in the grey area.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.joint.joint_noise` returns it.
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
