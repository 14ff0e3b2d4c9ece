"""Table IV of inid-2024: accuracy of trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise_papers.claims.interval import ends, reach
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    house_style,
    legend_below,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Black i.i.d., grey SPR and optimal in the colour of the noise, as in Figures 1 to 6.
SCHEMES = {
    "iid": ("i.i.d., global clipping", "#000000", "o"),
    "spr": ("SPR by parameter (Definition 5)", GREY, "s"),
    "spr-group": ("SPR by layer (He et al.)", "#A8A8A8", "D"),
    "optimal": ("optimal i.n.i.d.", "", "^"),
}
_CHANCE = 10.0  # per cent, of ten classes
_MARGIN = 0.06  # of the height of a panel, above and below


class _Guide(NamedTuple):
    """An accuracy to compare with, its dash and its words."""

    accuracy: float
    dash: str
    words: str


@house_style()
def accuracy_by_scheme(table: pd.DataFrame, runs: dict[str, pd.DataFrame]) -> Figure:
    """Mean accuracy of each cell with its 99 % interval, and every network.

    Panels of one noise have one axis, which reaches to the nearest guide: training without clipping
    and noise, or guessing.
    """
    private = table[table["noise"] != "none"]
    kinds = list(dict.fromkeys(zip(private["noise"], private["delta"], strict=True)))
    figure, panels = page(1, max(len(kinds), 1), height=3.2)
    singles = [_last(one) for one in runs.values() if len(one)]
    for axes, (noise, delta) in zip(panels[0], kinds, strict=False):
        own = private[private["noise"] == noise]
        points = [one for one in singles if one["noise"].iloc[0] == noise]
        _panel(axes, own[own["delta"] == delta], points)
        low, high = _ends(own, points)
        guide = min(_guides(table), key=lambda one: abs(one.accuracy - (low + high) / 2))
        low, high = min(low, guide.accuracy), max(high, guide.accuracy)
        space = _MARGIN * (high - low)
        axes.set_ylim(low - space, high + space)
        axes.axhline(
            guide.accuracy, color=GREY, linewidth=1, linestyle=guide.dash, label=guide.words,
            zorder=0,
        )  # fmt: skip
        what = "0" if delta == 0 else power_of_ten(delta)
        title = f"{NAMES[noise]} noise, $\\delta = {what}$"
        axes.set_title(title, color=COLOURS[noise])
    panels[0, 0].set_ylabel("\n".join(["test accuracy (%)", *_notes(table)]))
    legend_below(figure)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, singles: list[pd.DataFrame]) -> None:
    """Cells of one noise and delta, by epsilon and scheme."""
    epsilons = sorted(set(rows["epsilon"]))
    schemes = [scheme for scheme in SCHEMES if (rows["scheme"] == scheme).any()]
    for k, scheme in enumerate(schemes):
        label, colour, marker = SCHEMES[scheme]
        some = rows[rows["scheme"] == scheme]
        noise, delta = some[["noise", "delta"]].iloc[0]
        if not colour:
            label, colour = f"{label}, {NAMES[noise]} noise", COLOURS[noise]
        shift = 0.16 * (k - (len(schemes) - 1) / 2)
        x = np.array([epsilons.index(one) for one in some["epsilon"]]) + shift
        axes.errorbar(
            x, some["accuracy"], reach(some, "accuracy"), label=label, color=colour,
            marker=marker, linestyle="none", capsize=2, elinewidth=1,
        )  # fmt: skip
        for single in singles:
            first = single.iloc[0]
            if (first["delta"], first["scheme"]) == (delta, scheme):
                place = epsilons.index(first["epsilon"]) + shift
                spread = np.linspace(-0.05, 0.05, len(single))
                axes.plot(
                    place + spread, single["accuracy"], ".", color=colour, markersize=2, alpha=0.5
                )
    axes.set_xticks(range(len(epsilons)), [f"{one:g}" for one in epsilons])
    axes.set_xlim(-0.5, len(epsilons) - 0.5)
    axes.set_xlabel(r"$\epsilon$")


def _ends(rows: pd.DataFrame, singles: list[pd.DataFrame]) -> tuple[float, float]:
    """Lowest and highest of all intervals and networks."""
    values = np.concatenate([*ends(rows, "accuracy"), *(one["accuracy"] for one in singles)])
    return float(np.nanmin(values)), float(np.nanmax(values))


def _guides(table: pd.DataFrame) -> list[_Guide]:
    """What private accuracies are compared with."""
    best = table.loc[table["noise"] == "none", "accuracy"]
    return [
        _Guide(_CHANCE, ":", f"guessing ({_CHANCE:g} %)"),
        *(_Guide(one, "--", f"no clipping, no noise ({one:.1f} %)") for one in best),
    ]


def accuracies(table: pd.DataFrame) -> str:
    """Table IV on other data, as it is printed: a row for each budget, a column for each scheme."""
    lines = []
    schemes = [scheme for scheme in SCHEMES if (table["scheme"] == scheme).any()]
    heads = ["noise", "delta", "epsilon", *(SCHEMES[scheme][0] for scheme in schemes)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    private = table[table["noise"] != "none"]
    for (noise, delta, epsilon), rows in private.groupby(["noise", "delta", "epsilon"], sort=False):
        cells = [str(noise), f"{delta:g}", f"{epsilon:g}"]
        for scheme in schemes:
            some = rows[rows["scheme"] == scheme]
            cells += [
                f"{one['accuracy']:.2f} +- {one['accuracy_se']:.2f}"
                for one in some.to_dict("records")
            ] or [""]
        lines.append(f"| {' | '.join(cells)} |")
    counts = sorted(set(table["repetitions"]))
    below = [
        f"Test accuracy (%), mean and standard error over {' or '.join(map(str, counts))} networks."
    ]
    below += [
        f"Without clipping and noise: {one['accuracy']:.2f} +- {one['accuracy_se']:.2f}."
        for one in table[table["noise"] == "none"].to_dict("records")
    ]
    below += [f"Other data than the paper's: {note}." for note in _notes(table)]
    return "\n".join([*lines, "", *below]) + "\n"


def _notes(table: pd.DataFrame) -> list[str]:
    """What is not as in the original data, each note once."""
    return sorted(set(table["data_note"].dropna()) - {""})


def _last(runs: pd.DataFrame) -> pd.DataFrame:
    """Reported networks of a cell after their last epoch."""
    report = runs[runs["phase"] == "report"]
    return report[report["epoch"] == report["epoch"].max()]
