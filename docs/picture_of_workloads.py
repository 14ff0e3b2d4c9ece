"""Picture of docs/workloads.md, docs/images/workloads.svg: error by question.

python docs/picture_of_workloads.py docs/images/workloads.svg
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.mechanisms.compare import compare
from dpnoise.sensitivity.workload import Workload
from dpnoise_papers.style import GREY, house_style, legend_below, look, page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
DAYS, CELLS = 365, 64
SHOWN = {"workload Gaussian": "joint", "cells, summed": "staircase", "Gaussian": "gaussian"}


@house_style()
def picture() -> Figure:
    """Standard deviations of cumulative counts by day, and of ranges by their length."""
    figure, ((days, ranges),) = page(1, 2, height=2.5)
    cases = (
        (days, Workload.prefix_sums(DAYS, relation="add-remove"), np.arange(1, DAYS + 1), "day"),
        (ranges, Workload.ranges(CELLS, relation="add-remove"), None, "cells in the range"),
    )
    for axes, workload, places, label in cases:
        table = compare(workload, exhaustive=False, **BUDGET)
        for name, colour in SHOWN.items():
            x, y = places, table[name].stds
            if places is None:  # the mean variance of the ranges of one length
                sizes = np.diff(workload.questions.indptr)
                x = np.unique(sizes)
                y = np.sqrt([np.mean(table[name].variances[sizes == size]) for size in x])
            axes.plot(x, y, **look(colour), label=name)
        floor = np.sqrt(table.floor)
        axes.axhline(floor, color=GREY, linestyle=":", label="root of the floor of the mean")
        axes.set_yscale("log")
        axes.set_xlabel(label)
        axes.grid(visible=True)
    days.set_ylabel("standard deviation")
    legend_below(figure)
    return figure


def svg() -> bytes:
    """The picture as SVG, with the same bytes on every run."""
    buffer = BytesIO()
    figure = picture()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(svg())
