"""The page 'which noise?': one HTML file that opens from disk and shows the table point by point.

    python -m dpnoise_papers.beyond.which_noise.page TABLE.csv PAGE.html

It shows points of the grid and nothing between them, so that whatever it says is certified. Bounds
are rounded to the safe side: delta up, the floor down.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpnoise_papers.beyond.which_noise.figure import SETS, colour
from dpnoise_papers.beyond.which_noise.table import lower, upper
from dpnoise_papers.result_files import read_table, write_text

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 4


def nearest(x: float) -> str:
    """Text of a number, rounded."""
    return f"{x:.{DIGITS}g}"


def more(x: float) -> str:
    """Text of a number, rounded up."""
    return f"{upper(x, DIGITS):.{DIGITS}g}"


def less(x: float) -> str:
    """Text of a number, rounded down."""
    return f"{lower(x, DIGITS):.{DIGITS}g}"


def point(rows: pd.DataFrame) -> dict[str, Any]:
    """What the page shows at one point of the grid, best mechanism first."""
    columns = [rows[name].tolist() for name in ("mechanism", "variance", "certified")]
    shown = [
        [name, variance, nearest(variance), nearest(variance**0.5), more(certified)]
        for name, variance, certified in zip(*columns, strict=True)
    ]
    floor = float(rows["floor"].iloc[0])
    return {"floor": [floor, less(floor), less(floor**0.5)], "rows": shown}


def data(table: pd.DataFrame) -> dict[str, Any]:
    """The table as the page holds it: axes, and points by 'set K epsilon delta' as written."""
    axes = {
        name: sorted(table[name].unique().tolist()) for name in ("dimension", "epsilon", "delta")
    }
    groups = table.groupby(["set", "dimension", "epsilon", "delta"], sort=False)
    points = {
        f"{name} {K} {epsilon:g} {delta:g}": point(rows)
        for (name, K, epsilon, delta), rows in groups
    }
    shown = {name: [f"{x:g}" for x in values] for name, values in axes.items()}
    colours = {name: colour(name) for name in table["mechanism"].unique()}
    sets = {name: told for name, told in SETS.items() if (table["set"] == name).any()}
    return {"axes": shown, "sets": sets, "colours": colours, "points": points}


def render(table: pd.DataFrame) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("dpnoise_papers.beyond.which_noise"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    loader = environment.loader
    assert loader  # noqa: S101 - just given
    style, script = (
        Markup(loader.get_source(environment, name)[0])  # noqa: S704 - our own files
        for name in ("explore.css", "explore.js")
    )
    content = json.dumps(data(table), separators=(",", ":"), sort_keys=True)
    content = Markup(content.replace("<", "\\u003c"))  # noqa: S704 - nothing ends the script
    return environment.get_template("explore.html.jinja").render(
        style=style, script=script, data=content
    )


if __name__ == "__main__":
    write_text(render(read_table(Path(sys.argv[1]))), Path(sys.argv[2]))
