"""Noise of a step of Table IV of inid-2024 beside the gradient, by cell and by what was run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from dpnoise_papers.style import COLOURS, GREY, NAMES, house_style, legend_below, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCHEMES: dict[Any, tuple[str, str]] = {
    "iid": ("s", "i.i.d., global clipping"),
    "spr-group": ("D", "SPR by layer"),
    "spr": ("^", "SPR by parameter"),
    "optimal": ("o", "their i.n.i.d."),
}
_VARIANTS = {
    "stated": r"as stated: $\ell_1$, $\delta = 0$",
    "partition": "batches as partition",
    "renyi": r"$\ell_1$, Renyi at $\delta = 10^{-5}$",
    "one-step": r"$\ell_1$, $\epsilon$ for each step",
    "by-parameter": r"$\ell_1$, parameter by itself",
    "l2-clipped-box": r"$\ell_2$, all parameters counted",
    "l2-clipped": r"$\ell_2$, counted as $\ell_1$",
    "l2-clipped-renyi": r"the same, Renyi at $\delta = 10^{-5}$",
    "l2-clipped-one-step": r"$\ell_2$, $\epsilon$ for each step",
    "l2-clipped-gaussian-multiplier": r"$\ell_2$, $\beta = \sigma$ of Gaussian",
    "l2-clipped-gaussian-variance": r"$\ell_2$, variance of Gaussian",
}
_SHIFT = 0.15


@house_style()
def signal_and_noise(cells: pd.DataFrame, variants: pd.DataFrame) -> Figure:
    """Noise of a step by cell of Table IV, and noise over gradient by variant of Laplace noise.

    Left: l2 norms in the mean gradient of a batch; lines are those of a clipped gradient. Right:
    noise over a flat gradient, in units of that of Gaussian noise at the same epsilon, on a line
    that reaches from the smallest to the largest over gradients of all shapes. The band is what the
    printed accuracies of i.i.d. noise leave; hollow markers are outside of theirs for every shape.
    """
    figure, panels = page(1, 2, height=3.7, width_ratios=[1, 1.05])
    _cells(panels[0, 0], cells)
    _variants(panels[0, 1], variants)
    handles = [
        Line2D([], [], color=GREY, marker=marker, linestyle="none", label=label)
        for scheme, (marker, label) in _SCHEMES.items()
        if scheme in set(cells["scheme"])
    ]
    handles += [
        Line2D([], [], color=COLOURS[noise], linewidth=4, label=f"{NAMES[noise]} noise")
        for noise in ("gaussian", "laplace")
    ]
    handles += [
        Line2D([], [], color=GREY, marker="s", markerfacecolor="none", linestyle="none",
               label="outside of the printed accuracies for every gradient"),
        Line2D([], [], color=GREY, alpha=0.25, linewidth=6, label="left by them to i.i.d. noise"),
    ]  # fmt: skip
    legend_below(figure, handles)
    return figure


def _cells(axes: Axes, table: pd.DataFrame) -> None:
    """Noise by budget and scheme, and the gradient that it should show."""
    budgets = list(table.groupby(["noise", "delta", "epsilon"], sort=False))
    for place, ((noise, _, _), rows) in enumerate(budgets):
        for k, (scheme, (marker, _)) in enumerate(_SCHEMES.items()):
            own = rows[rows["scheme"] == scheme]
            x = np.full(len(own), place + _SHIFT * (k - 1.5))
            axes.plot(x, own["noise_l2"], marker, color=COLOURS[str(noise)], markersize=4)
    names = [
        f"$\\epsilon = {epsilon:g}$\n{delta:.0e}" if delta else f"$\\epsilon = {epsilon:g}$\n0"
        for (_, delta, epsilon), _ in budgets
    ]
    axes.set_xticks(range(len(budgets)), names)
    axes.set_yscale("log")
    flat = table[table["noise"] == "laplace"]["gradient_flat"]
    lines = [(float(table["gradient_most"].max()), "largest clipped gradient")]
    lines += [(float(value), r"flat gradient clipped in $\ell_1$") for value in flat[:1]]
    for height, words in lines:
        axes.axhline(height, color="black", linewidth=0.8, linestyle="--")
        axes.annotate(words, (1.0, height), (0, 2), xycoords=("axes fraction", "data"),
                      textcoords="offset points", va="bottom", ha="right")  # fmt: skip
    axes.set_ylabel("norm in the mean gradient of a batch")
    axes.set_xlabel(r"budget: $\epsilon$, below it $\delta$")
    axes.set_title("Noise of one step by cell")
    axes.grid(axis="y")


def _variants(axes: Axes, table: pd.DataFrame) -> None:
    """Noise over gradient of Laplace noise by variant at the largest epsilon."""
    epsilon = table["epsilon"].max()
    now = table[table["epsilon"] == epsilon]
    names = [name for name in _VARIANTS if name in set(now["variant"])]
    one = now[now["scheme"] == "iid"].iloc[0]
    ends = one["multiplier_from"] / one["multiplier"], one["multiplier_to"] / one["multiplier"]
    axes.axvline(1.0, color=COLOURS["gaussian"], linewidth=1)
    for place, name in enumerate(reversed(names)):
        rows = now[now["variant"] == name]
        for k, (scheme, (marker, _)) in enumerate(_SCHEMES.items()):
            own = rows[rows["scheme"] == scheme]
            y = np.full(len(own), place + _SHIFT * (1.5 - k))
            fill = "white" if (own["excluded"] == 1).any() else COLOURS["laplace"]
            if own["clipping"].eq("l1").any():
                shapes = (own[f"noise_over_gaussian_{end}"] for end in ("minimum", "maximum"))
                axes.hlines(y, *shapes, color=COLOURS["laplace"], linewidth=0.6)
            axes.plot(own["noise_over_gaussian"], y, marker, color=COLOURS["laplace"],
                      markerfacecolor=fill, markersize=4)  # fmt: skip
    axes.set_yticks(range(len(names)), [_VARIANTS[name] for name in reversed(names)])
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if not np.isnan(ends[0]):  # from 0 and to infinity where printed accuracies leave that
        axes.axvspan(max(ends[0], low), min(ends[1], high), color=GREY, alpha=0.25, linewidth=0)
        axes.set_xlim(low, high)
    axes.set_xlabel("noise over flat gradient, Gaussian noise = 1")
    axes.set_title(rf"Laplace noise by variant, $\epsilon = {epsilon:g}$")
    axes.grid(axis="x")
