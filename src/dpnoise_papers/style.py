"""One look for every figure, and files that are byte-identical between runs.

Every figure is as wide as the page and has one size of text; what tells its curves apart stands
below the panels. A mechanism has one colour in all papers, from the colour-blind-safe palette of
Okabe and Ito (its yellow, unreadable on white, is left out). Figures are drawn without pyplot, so
that nothing depends on a display, on global state or on a user's own settings.

A figure function is decorated with `house_style()` and starts with `page`:

    @house_style()
    def figure_1(table: pd.DataFrame) -> Figure:
        figure, panels = page(1, 2, height=2.9)
        ...
        legend_below(figure)
        return figure
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.legend import Legend

PAGE = 7.16  # inches; the width of every figure
TEXT = 8  # points, for every text

COLOURS = {
    "gaussian": "#0072B2",
    "laplace": "#D55E00",
    "flipped-huber": "#009E73",
    "offset-symmetric-gaussian": "#CC79A7",
    "staircase": "#E69F00",
    "truncated-laplace": "#56B4E9",
    "subbotin": "#000000",
    "huber": "#7F7F7F",
}
NAMES = {
    "gaussian": "Gaussian",
    "laplace": "Laplace",
    "flipped-huber": "flipped Huber",
    "offset-symmetric-gaussian": "offset-symmetric Gaussian",
    "staircase": "staircase",
    "truncated-laplace": "truncated Laplace",
    "subbotin": "Subbotin",
    "huber": "Huber",
}
GREY = "#767676"  # notes and guides: 4.5 to 1 on white
PLAIN = FuncFormatter(lambda x, _: f"{x:g}")  # 0.1 and 10, not powers, on a logarithmic axis

_HOUSE: Any = {  # a dict; its keys are literal types to matplotlib
    "font.family": "DejaVu Sans",  # comes with matplotlib, hence the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TEXT,
    "figure.titlesize": TEXT,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "legend.fontsize": TEXT,
    "legend.title_fontsize": TEXT,
    "legend.frameon": False,
    "grid.color": GREY,
    "grid.alpha": 0.2,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 300,
    "svg.hashsalt": "dpnoise",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
# Dates and program versions differ between runs and machines, so none is written.
_METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


@contextmanager
def house_style() -> Iterator[None]:
    """Our settings of matplotlib, over its defaults; a context or a decorator."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_HOUSE)
        yield


def page(
    rows: int = 1,
    columns: int = 1,
    *,
    height: float,
    **options: Any,  # noqa: ANN401 - as matplotlib has it
) -> tuple[Figure, np.ndarray]:
    """Figure of the width of the page and of `height` inches, with rows and columns of panels.

    `options` are those of `Figure.subplots`, such as sharex or height_ratios.
    """
    figure = new_figure(PAGE, height)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def new_figure(width: float, height: float) -> Figure:
    """Empty figure of a size in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def legend_below(figure: Figure, handles: Sequence[Artist] | None = None, **options: Any) -> Legend:  # noqa: ANN401
    """Legend below all panels, in as few rows as the width of the page allows.

    Without `handles`, of what is labelled in any panel, each label once. `options` are those of
    `Figure.legend`.
    """
    if handles is None:
        found = (axes.get_legend_handles_labels() for axes in figure.axes)
        named = {
            label: one for ones, labels in found for one, label in zip(ones, labels, strict=True)
        }
    else:
        named = {str(one.get_label()): one for one in handles}
    for columns in range(max(len(named), 1), 0, -1):
        legend = figure.legend(
            list(named.values()), list(named), loc="outside lower center", ncols=columns, **options
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    return legend


def cell_edges(centres: np.ndarray) -> np.ndarray:
    """Edges of cells around the points of an even grid."""
    inner = 0.5 * (centres[1:] + centres[:-1])
    return np.concatenate([[2 * centres[0] - inner[0]], inner, [2 * centres[-1] - inner[-1]]])


def power_of_ten(value: float) -> str:
    """Text of a positive number in a formula, without dollar signs: 10^{-6}, but 0.01 and 2.5."""
    exponent = math.log10(value)
    small = exponent < -2.5 and abs(exponent - round(exponent)) < 1e-9
    return f"10^{{{round(exponent)}}}" if small else f"{value:g}"


def save(figure: Figure, stem: str | Path) -> list[Path]:
    """Write a figure as SVG, PDF and PNG, in this order, with the same bytes on every run.

    ValueError if it is not as wide as the page.
    """
    if figure.get_figwidth() != PAGE:
        raise ValueError(f"{stem}: expected a width of {PAGE} in, got {figure.get_figwidth():g}")
    stem = Path(stem)
    contents = {}
    with house_style():
        for ending, metadata in _METADATA.items():
            buffer = BytesIO()
            figure.savefig(buffer, format=ending, metadata=metadata)
            contents[stem.with_name(f"{stem.name}.{ending}")] = buffer.getvalue()
    for path, content in contents.items():
        write_bytes(content, path)
    return list(contents)
