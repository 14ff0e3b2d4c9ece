"""One look for every figure, and files that are byte-identical between runs.

A mechanism has one colour in all papers, from the colour-blind-safe palette of Okabe and
Ito (its yellow, unreadable on white, is left out). Figures are drawn without pyplot, so
that nothing depends on a display, on global state or on a user's own settings.
"""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMN = 3.5  # inches; the width of one column
PAGE = 7.16  # inches; the width of both

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

_HOUSE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, hence the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "legend.fontsize": 7,
    "legend.frameon": False,
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
    """Draw inside this context: matplotlib's defaults, then ours; a user's are set aside."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_HOUSE)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches; call it inside `house_style`."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, stem: str | Path) -> list[Path]:
    """Write a figure as SVG, PDF and PNG, with the same bytes on every run.

    Parameters
    ----------
    figure : Figure
    stem : str or Path
        Path without an ending; the folder is made if need be.

    Returns
    -------
    list of Path
        The files, in the order SVG, PDF, PNG. Each appears whole or not at all.
    """
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
