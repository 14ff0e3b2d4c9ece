"""One look for every figure, and files that are byte-identical between runs.

Every figure is as wide as the page and has one size of text; what tells its curves apart stands
below the panels. A mechanism has one colour and one dash in all papers; five of the colours are
Okabe and Ito's, the others were chosen so that mechanisms of one figure differ for every kind of
colour vision (tests/test_palette.py measures it). How a mechanism was calibrated is told by a
marker. What a paper does not show carries an asterisk in the legend. Figures are drawn without
pyplot, so that nothing depends on a display, on global state or on a user's own settings.

A figure function is decorated with `house_style()` and starts with `page`:

    @house_style()
    def figure_1(table: pd.DataFrame) -> Figure:
        figure, panels = page(1, 2, height=2.9)
        ...
        legend_below(figure)
        return figure

The names of data sets are those in figures and pages of private coordinate descent.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend


PAGE = 7.16  # inches; the width of every figure
TEXT = 8  # points, for every text

# Name, colour and dash; those that coincide somewhere let each other show.
_LOOKS: dict[str, tuple[str, str, Any]] = {
    "gaussian": ("Gaussian", "#0072B2", "-"),
    "laplace": ("Laplace", "#D55E00", (0, (10, 1.5))),
    "flipped-huber": ("flipped Huber", "#009E73", (0, (4, 1.8))),
    "offset-symmetric-gaussian": (
        "offset-symmetric Gaussian",
        "#5A0F4B",
        (0, (6, 1.5, 1, 1.5, 1, 1.5)),
    ),
    "staircase": ("staircase", "#E69F00", (0, (2, 1))),
    "truncated-laplace": ("truncated Laplace", "#56B4E9", (0, (1, 1.4))),
    "subbotin": ("Subbotin", "#8F2424", (0, (3, 1, 1, 1))),
    "huber": ("Huber", "#4A4A4A", (0, (4, 1.8, 1, 1.8))),
    "k-norm": ("K-norm", "#3D3DAA", (0, (3, 1.5, 1, 1.5))),
    "joint": ("joint", "#1A1A1A", (0, (7, 0.9))),
    "classical-gaussian": ("classical Gaussian", "#14203F", (0, (6, 1.5, 1, 1.5))),
    "james-stein": ("James-Stein", "#CC79A7", (0, (7, 1.2))),
    "soft-threshold": ("soft threshold", "#B3007A", (0, (5, 1, 1, 1))),
    "wavelets": ("wavelets", "#7FB23A", (0, (3, 1.2))),
    "trend-filtering": ("trend filtering", "#7A5A00", (0, (8, 1, 2, 1))),
}
NAMES = {key: name for key, (name, _, _) in _LOOKS.items()}
COLOURS = {key: colour for key, (_, colour, _) in _LOOKS.items()}
DASHES = {key: dash for key, (_, _, dash) in _LOOKS.items()}
GROUND: Any = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}  # of notes
OURS = "* not in the paper"
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
    "legend.handlelength": 2.9,  # the longest dash and its gap
    "grid.color": GREY,
    "grid.alpha": 0.2,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "figure.constrained_layout.use": True,
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
_PRINT: dict[str, Callable[[Figure], Callable[..., None]]] = {
    "svg": lambda figure: FigureCanvasSVG(figure).print_svg,
    "pdf": lambda figure: FigureCanvasPdf(figure).print_pdf,
    "png": lambda figure: FigureCanvasAgg(figure).print_png,
}
_LAYER = 200  # dots per inch of what is rasterised inside a vector file
_DESCRIPTION = {"svg": "Description", "pdf": "Subject", "png": "Description"}


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

    Without `handles`, of what is labelled in any panel, each label once. What the paper does not
    show is labelled with an asterisk at the end, stands last and is explained. `options` are those
    of `Figure.legend`.
    """
    if handles is None:
        found = (axes.get_legend_handles_labels() for axes in figure.axes)
        named: dict[str, Any] = {
            label: one for ones, labels in found for one, label in zip(ones, labels, strict=True)
        }
    else:
        named = {str(one.get_label()): one for one in handles}
    named = dict(sorted(named.items(), key=lambda entry: entry[0].endswith("*")))
    if any(label.endswith("*") for label in named):
        named[OURS] = Line2D([], [], color="none")
    for columns in range(max(len(named), 1), 0, -1):
        legend = figure.legend(
            list(named.values()), list(named), loc="outside lower center", ncols=columns, **options
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    return legend


def look(mechanism: str) -> dict[str, Any]:
    """Colour and dash of a mechanism, as keywords of a line."""
    return {"color": COLOURS[mechanism], "linestyle": DASHES[mechanism]}


def log_ticks(axis: Axis) -> None:
    """Numbers of a logarithmic axis: plain, and at 1, 2 and 5 where it is short."""
    low, high = axis.get_view_interval()
    decades = math.log10(high / low)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,)))
    if max(abs(math.log10(low)), abs(math.log10(high))) < 6:
        axis.set_major_formatter(PLAIN)
    axis.set_minor_formatter(NullFormatter())


def power_of_ten(value: float) -> str:
    r"""Text of a positive number in a formula: 10^{-6} and 4 \cdot 10^{-10}, but 0.01 and 2.5.

    Without dollar signs.
    """
    exponent = math.log10(value)
    if exponent >= -2.5:
        return f"{value:g}"
    if abs(exponent - round(exponent)) < 1e-9:
        return f"10^{{{round(exponent)}}}"
    factor, power = f"{value:e}".split("e")
    return rf"{float(factor):g} \cdot 10^{{{int(power)}}}"


def save(figure: Figure, path: str | Path, *, title: str = "", description: str = "") -> list[Path]:
    """Write a figure in the format that the path ends with: '.svg', '.pdf' or '.png'.

    A path without one of these is a stem, and the figure is written in all three, in this order. A
    format has the same bytes on every run, whichever others are written.

    `title` and `description` are for those who search or hear the file instead of seeing it: in
    an SVG its `title` and `desc`, in a PDF the title and subject, in a PNG texts of these names.
    ValueError if the figure is not as wide as the page.
    """
    if figure.get_figwidth() != PAGE:
        raise ValueError(f"{path}: expected a width of {PAGE} in, got {figure.get_figwidth():g}")
    path = Path(path)
    alone = path.suffix.removeprefix(".") in _METADATA
    paths = [path] if alone else [path.with_name(f"{path.name}.{end}") for end in _METADATA]
    contents = {}
    # Panels are laid out once, where a point is a dot as in SVG and PDF. `Figure.savefig` would lay
    # them out for each format, and draw twice.
    figure.dpi = 72
    with house_style():
        if layout := figure.get_layout_engine():
            layout.execute(figure)  # alone, without the drawing that `draw_without_rendering` adds
        figure.set_layout_engine("none")
        for path in paths:
            ending = path.suffix[1:]
            told = {"Title": title, _DESCRIPTION[ending]: description}
            told = {name: text for name, text in told.items() if text}
            buffer = BytesIO()
            figure.dpi = 300 if ending == "png" else _LAYER
            _PRINT[ending](figure)(buffer, metadata={**_METADATA[ending], **told})
            content = buffer.getvalue()
            contents[path] = _accessible(content, description) if ending == "svg" else content
    for path, content in contents.items():
        write_bytes(content, path)
    return paths


def _accessible(svg: bytes, description: str) -> bytes:
    """SVG as one image to a screen reader, with its description behind its title."""
    text = escape(description, quote=False)
    told = f"</title>\n <desc>{text}</desc>" if text else "</title>"
    parts = svg.partition(b"<svg ")
    return parts[0] + b'<svg role="img" ' + parts[2].replace(b"</title>", told.encode(), 1)


MECHANISMS = {**NAMES, "gaussian-tight": "Gaussian, tight account"}
_DATASETS = {  # in the order of Table III of flipped-huber-2023
    "houses": "Houses",
    "wine-quality": "Wine quality",
    "pumpkin-seeds": "Pumpkin seeds",
    "heart-statlog": "Heart",
    "california": "California",
    "boston": "Boston housing",
    "airfoil": "Airfoil",
    "diabetes": "Diabetes",
}


def title(dataset: str) -> str:
    """Name of a data set for people, from its name in data/registry.yaml."""
    return _DATASETS.get(dataset, dataset.replace("-", " ").capitalize())


def in_order(datasets: Iterable[str]) -> list[str]:
    """Data sets in the order of the printed table, then the others by name."""
    known = list(_DATASETS)
    return sorted(
        set(datasets), key=lambda name: (known.index(name) if name in known else len(known), name)
    )
