"""Noise of a step of Table IV of inid-2024 over the gradient, by cell and by what was run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

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
