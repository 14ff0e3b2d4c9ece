"""Table IV of inid-2024: noise of a step over the gradient, and accuracy of trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D

from dpnoise_papers.claims.interval import ends, reach
from dpnoise_papers.style import (
    COLOURS,
    GREY,
    NAMES,
    house_style,
    legend_below,
    log_ticks,
    page,
    power_of_ten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCHEMES: dict[Any, tuple[str, str]] = {
    "iid": ("s", "i.i.d., global clipping"),
    "spr-group": ("D", "SPR by layer"),
    "spr": ("^", "SPR by parameter"),
    "optimal": ("o", "optimal i.n.i.d."),
}
# By how gradients are clipped.
_VARIANTS = {
    r"clipped in $\ell_1$": {
        "stated": r"as stated, $\delta = 0$",
        "partition": "the same, batches without overlap",
        "renyi": r"$\delta = 10^{-5}$ by Renyi divergences",
        "one-step": r"$\epsilon$ for each step alone",
        "by-parameter": "each parameter by itself",
    },
    r"clipped in $\ell_2$": {
        "l2-clipped-box": r"$\delta = 0$, every parameter counted",
        "l2-clipped": r"$\delta = 0$, counted as if $\ell_1$",
        "l2-clipped-renyi": r"the same, $\delta = 10^{-5}$ by Renyi",
        "l2-clipped-one-step": r"$\epsilon$ for each step alone",
        "l2-clipped-gaussian-multiplier": "scale of the Gaussian noise",
        "l2-clipped-gaussian-variance": "variance of the Gaussian noise",
    },
}
_SHIFT = 0.17
# Black i.i.d., grey SPR and optimal in the colour of the noise, as in Figures 1 to 6.
SCHEMES = {
    "iid": ("i.i.d., global clipping", "#000000", "o"),
    "spr": ("SPR by parameter (Definition 5)", GREY, "s"),
    "spr-group": ("SPR by layer (He et al.)", "#A8A8A8", "D"),
    "optimal": ("optimal i.n.i.d.", "", "^"),
}
_CHANCE = 10.0  # per cent, of ten classes
_MARGIN = 0.06  # of the height of a panel, above and below


@house_style()
def signal_and_noise(cells: pd.DataFrame, variants: pd.DataFrame) -> Figure:
    """Noise over gradient by cell of Table IV, and by variant of Laplace noise.

    Left: l2 norm of the noise of one step over that of the largest mean gradient of a batch that
    clipping leaves. Right: noise over a gradient of entries of one size, in units of Gaussian noise
    at the same epsilon; hollow markers disagree with the printed accuracies for every shape.
    """
    figure, panels = page(1, 2, height=4.8, width_ratios=[1, 1.05])
    _cells(panels[0, 0], cells)
    _variants(panels[0, 1], variants)
    handles = [
        Line2D([], [], color=GREY, marker=marker, linestyle="none", label=label)
        for scheme, (marker, label) in _SCHEMES.items()
        if scheme in set(cells["scheme"])
    ]
    handles += [
        Line2D([], [], color=COLOURS["gaussian"], label="Gaussian noise of the same $\\epsilon$"),
        Line2D([], [], color=COLOURS["laplace"], marker="o", linestyle="none",
               label="may have given the printed accuracies"),
        Line2D([], [], color=COLOURS["laplace"], marker="o", markerfacecolor="white",
               linestyle="none", label="disagrees with them for every gradient"),
    ]  # fmt: skip
    legend_below(figure, handles)
    return figure


def _cells(axes: Axes, table: pd.DataFrame) -> None:
    """Noise over the largest clipped gradient by budget and scheme."""
    budgets = list(table.groupby(["noise", "delta", "epsilon"], sort=False))
    for place, ((name, _, _), rows) in enumerate(budgets):
        for k, (scheme, (marker, _)) in enumerate(_SCHEMES.items()):
            own = rows[rows["scheme"] == scheme]
            x = np.full(len(own), place + _SHIFT * (k - 1.5))
            axes.plot(x, own["noise_over_most"], marker, color=COLOURS[str(name)], markersize=4)
    kinds: dict[tuple[str, float], list[int]] = {}
    for place, (_, rows) in enumerate(budgets):
        kinds.setdefault((rows["noise"].iloc[0], rows["delta"].iloc[0]), []).append(place)
    for (noise, delta), places in kinds.items():
        words = f"{NAMES[noise]}\n$\\delta = {power_of_ten(delta) if delta else 0}$"
        axes.annotate(words, (float(np.mean(places)), 0), (0, -18), color=COLOURS[noise],
                      xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", va="top")  # fmt: skip
    axes.set_xticks(
        range(len(budgets)), [rf"$\epsilon = {epsilon:g}$" for (_, _, epsilon), _ in budgets]
    )
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
    axes.annotate("as large as\nthe gradient", (1.0, 1.0), (0, 3), va="bottom", ha="right",
                  xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
    log_ticks(axes.yaxis)
    axes.set_ylabel("noise over the largest clipped gradient")
    axes.set_title("Noise of one step by cell")
    axes.grid(axis="y")


def _variants(axes: Axes, table: pd.DataFrame) -> None:
    """Noise over gradient of Laplace noise by variant at the largest epsilon."""
    epsilon = table["epsilon"].max()
    now = table[table["epsilon"] == epsilon]
    height, ticks, labels = 0.0, [], []
    for head, names in _VARIANTS.items():
        axes.annotate(head, (0.0, height), (-2, 0), xycoords=("axes fraction", "data"),
                      textcoords="offset points", ha="right", va="center",
                      fontweight="bold")  # fmt: skip
        height += 1.0
        for name, words in names.items():
            rows = now[now["variant"] == name]
            if rows.empty:
                continue
            _schemes(axes, rows, height)
            ticks.append(height)
            labels.append(words)
            height += 1.0
    axes.axvline(1.0, color=COLOURS["gaussian"], linewidth=1, zorder=1)
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(height - 0.4, -0.5)
    axes.set_xscale("log")
    axes.set_xlabel("Laplace noise over Gaussian noise,\neach over the gradient")
    axes.set_title(rf"Laplace noise, what may have been run, $\epsilon = {epsilon:g}$", x=-0.5)
    axes.grid(axis="x")


def _schemes(axes: Axes, rows: pd.DataFrame, height: float) -> None:
    """Marks of the schemes of one variant, hollow where printed accuracies exclude them."""
    for k, (scheme, (marker, _)) in enumerate(_SCHEMES.items()):
        own = rows[rows["scheme"] == scheme]
        fill = "white" if (own["excluded"] == 1).any() else COLOURS["laplace"]
        axes.plot(
            own["noise_over_gaussian"], np.full(len(own), height + _SHIFT * (k - 1.5)), marker,
            color=COLOURS["laplace"], markerfacecolor=fill, markersize=4, zorder=3,
        )  # fmt: skip


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
