"""The times over the number of coordinates as a figure and as a page of the documents.

python benchmarks/over_k/show.py writes docs/images/over-k.svg and the table in
docs/peers.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.result_files import write_bytes, write_text
from dpnoise_papers.style import house_style, page, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PANELS = {
    "independent noise": ("calibrate", "dp_accounting"),
    "joint noise": ("calibrate_joint",),
    "which noise, and the floor": ("best", "floor"),
}
SHOWN = (1, 2, 5, 10, 100, 1000)  # columns of the table on the page
MARKS = "<!-- over k -->", "<!-- end of over k -->"
_STYLES = ("-", "--", ":", "-.")


def _label(function: str, of: str) -> str:
    if function in {"calibrate", "calibrate_joint"}:
        return of
    return f"{function}: {of}"


@house_style()
def figure(table: pd.DataFrame) -> Figure:
    """Processor seconds of each function against the number of coordinates, both logarithmic."""
    drawing, panels = page(1, len(PANELS), height=4.2)
    for panel, (title, functions) in zip(np.ravel(panels), PANELS.items(), strict=True):
        rows = table[table["function"].isin(functions)]
        for k, ((function, of), times) in enumerate(rows.groupby(["function", "of"], sort=False)):
            style, colour = _STYLES[k // 5], f"C{k % 5}"
            label = _label(str(function), str(of))
            panel.plot(times["K"], times["seconds"], style, color=colour, label=label)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(1e-4, 10.0)
        panel.set_title(title, loc="left")
        panel.set_xlabel("coordinates $K$")
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize="x-small")
    np.ravel(panels)[0].set_ylabel("processor seconds")
    return drawing


def lines(table: pd.DataFrame) -> list[str]:
    """Lines of the table in Markdown; times in milliseconds."""
    found = ["", _line("function", "of", *(f"K = {K}" for K in SHOWN))]
    found += [_line("---", "---", *["---:"] * len(SHOWN))]
    for (function, of), rows in table.groupby(["function", "of"], sort=False):
        times = rows.set_index("K")["seconds"]
        shown = [f"{1e3 * times[K]:.2g}" for K in SHOWN]
        found.append(_line(function, of, *(f"{float(text):g}" for text in shown)))
    return [*found, ""]


def filled(text: str, table: pd.DataFrame) -> str:
    """Page with the table between its marks."""
    block = "\n".join([MARKS[0], *lines(table), MARKS[1]])
    return re.sub(f"{MARKS[0]}.*{MARKS[1]}", lambda _: block, text, flags=re.DOTALL)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Write the figure and the page."""
    table = pd.read_csv(HERE / "over_k.csv")
    words = "Processor seconds of calibration, best noise and floor against the number K"
    svg, *others = save(figure(table), HERE / "over-k", title="Time over K", description=words)
    write_bytes(svg.read_bytes(), DOCS / "images" / "over-k.svg")
    for path in (svg, *others):
        path.unlink()
    document = DOCS / "peers.md"
    write_text(filled(document.read_text(encoding="utf-8"), table), document)


if __name__ == "__main__":
    main()
