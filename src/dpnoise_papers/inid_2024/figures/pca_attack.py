"""Attack on the printed DP-PCA of inid-2024: detections against false alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from scipy import special

from dpnoise_papers.style import (
    COLOURS,
    GREY,
    GROUND,
    house_style,
    legend_below,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpnoise._types import Array

    Curve = Array | pd.Series

_SCHEMES: dict[Any, str] = {"iid": "i.i.d.", "inid": "i.n.i.d."}
_COLOURS: dict[Any, str] = {"iid": "#000000", "inid": COLOURS["gaussian"]}
_MARKERS: dict[Any, str] = {"iid": "s", "inid": "o"}


@house_style()
def attack(table: pd.DataFrame) -> Figure:
    """Detections of a sample over the most that the claimed budget allows, by relation.

    The chance of detection over e^epsilon times that of a false alarm plus delta, which no
    mechanism with the claimed epsilon and delta brings above 1 (shaded). Bars reach down to what
    the counts prove at the confidence of the run, and the point chosen beforehand is ringed.
    """
    epsilon, delta = table["epsilon"].iloc[0], table["delta"].iloc[0]
    titles: dict[Any, str] = {
        "add-remove": "$e_1$ added or not",
        "replace-one": "$e_1$ in place of $e_2$ or not",
    }
    alarms = np.geomspace(1e-7, 0.05, 300)

    def ratio(detection: Curve, alarm: Curve) -> Curve:
        """Detections over the most that is allowed at this chance of a false alarm."""
        return detection / (np.exp(epsilon) * alarm + delta)

    figure, panels = page(1, 2, height=3.3, sharey=True)
    groups = table.groupby("relation", sort=False)
    for axes, (relation, rows) in zip(panels[0], groups, strict=True):
        axes.axhspan(1.0, 10.0, color=GREY, alpha=0.15, linewidth=0)
        axes.axhline(1.0, color="black", linewidth=1, linestyle="--")
        for scheme, own in rows.groupby("scheme", sort=False):
            look = {"color": _COLOURS[scheme]}
            mu = own["separation"].iloc[0]
            axes.plot(alarms, ratio(special.ndtr(special.ndtri(alarms) + mu), alarms), **look)
            some = own[(own["detection_lower"] > 0) & (own["false_alarm"] > 1e-6)]
            drawn = ratio(some["detection"], some["false_alarm"])
            proved = ratio(some["detection_lower"], some["false_alarm_upper"])
            axes.errorbar(
                some["false_alarm"], drawn, yerr=[drawn - proved, 0.0 * drawn], **look,
                linestyle="none", marker=_MARKERS[scheme], markersize=3, elinewidth=0.8,
            )  # fmt: skip
            ringed = (some["chosen"] == 1).to_numpy()
            axes.scatter(
                some["false_alarm"][ringed], drawn[ringed], s=70, facecolors="none",
                edgecolors=look["color"], zorder=4,
            )  # fmt: skip
        _verdicts(axes, rows)
        axes.set_xscale("log")
        axes.set_xlim(8e-7, 0.05)
        axes.set_xlabel("chance of a false alarm")
        axes.set_title(titles[relation])
        axes.grid()
    top = max(2.0, 1.35 * ratio(table["detection_exact"], table["false_alarm_exact"]).max())
    figure.axes[0].set_ylim(0.4, top)
    figure.axes[0].set_ylabel("detections over the most allowed")
    claim = rf"the most that $\epsilon = {epsilon:g}$, $\delta = {power_of_ten(delta)}$ allows"
    handles = [Line2D([], [], color="black", linestyle="--", linewidth=1, label=claim)]
    handles += [
        Line2D([], [], color=colour, marker=_MARKERS[scheme], markersize=3,
               label=f"{_SCHEMES[scheme]} Gaussian, as printed")
        for scheme, colour in _COLOURS.items()
    ]  # fmt: skip
    legend_below(figure, handles)
    return figure


def _verdicts(axes: Axes, rows: pd.DataFrame) -> None:
    """Text of the epsilon that is needed, exactly and by the attack."""
    for place, (_, row) in enumerate(rows[rows["chosen"] == 1].iterrows()):
        text = (
            rf"{_SCHEMES[row['scheme']]}: needs $\epsilon = {row['epsilon_exact']:.3g}$, "
            rf"attack proves $\epsilon \geq {row['epsilon_lower']:.3g}$"
        )
        axes.text(
            0.97, 0.96 - 0.08 * place, text, transform=axes.transAxes, va="top", ha="right",
            color=_COLOURS[row["scheme"]], bbox=GROUND,
        )  # fmt: skip
