"""Joint noise beside the mechanisms of inid-2024, which the paper does not consider.

Coordinate i may change by lambda_i, all at once (a box). The paper adds independent noise, or a
staircase that knows ||lambda||_1 alone; noise with a joint density is private for the same box.
Errors are those of the paper, sums over the coordinates: mean squared ('mse') in Figures 1, 3 and
4, mean absolute ('mae') in Table II.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.best_joint import COLUMNS, best_joint, with_ratios
from dpnoise_papers.inid_2024.tables.profiles import profile
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.settings import Errors, JointRows

_SETTING = ["item", "profile", "dimension", "epsilon", "delta"]
_OF_PAPER = ("staircase", "laplace-iid", "laplace-optimal")  # the rows of Table II
_JOINT, _FLOOR = "box-staircase", "lower-bound"


def joint_rows(  # noqa: PLR0917  (settings of one item each)
    settings: JointRows,
    figure_1a: Errors,
    figure_1b: Errors,
    figure_3a: Errors,
    figure_3b: Errors,
    figure_4: Errors,
    *tables: pd.DataFrame,
) -> pd.DataFrame:
    """Joint noise and the floor beside errors of Figures 1, 3 and 4 and Table II.

    Columns item, profile ('-' in Table II), dimension, epsilon, delta, mechanism, measure ('mse' or
    'mae'), error, joint (which noise), joint_delta (certified), joint_error (in the same measure),
    floor (for any additive noise), over_joint (error over that of joint noise) and
    joint_over_floor. `tables` are those of the items, Table II last.
    """
    figures = {
        "figure-1a": figure_1a, "figure-1b": figure_1b, "figure-3a": figure_3a,
        "figure-3b": figure_3b, "figure-4": figure_4,
    }  # fmt: skip
    parts = [
        _of_figure(table, settings.points).assign(item=name, norm=section.norm)
        for (name, section), table in zip(figures.items(), tables, strict=False)
    ]
    rows = pd.concat(parts, ignore_index=True)
    beside = []
    for row in counted(rows.to_dict("records"), "rows"):
        K = row["dimension"]
        lambdas = profile(row["profile"], K, row["norm"])
        found = best_joint(tuple(lambdas.tolist()), row["epsilon"], row["delta"])
        beside.append((found.name, found.delta, K * found.error, K * found.floor))
    rows = rows.join(pd.DataFrame(beside, columns=list(COLUMNS)))
    table = pd.concat([rows, _of_table_2(tables[-1])], ignore_index=True)
    return with_ratios(table[[*_SETTING, "mechanism", "measure", "error", *COLUMNS]], "error")


def _of_figure(table: pd.DataFrame, points: int) -> pd.DataFrame:
    """Rows of a figure at some points along its axis, evenly spread from the first to the last."""
    along = "epsilon" if len(set(table["dimension"])) == 1 else "dimension"
    grid = np.unique(table[along])
    places = np.round(np.linspace(0, len(grid) - 1, min(points, len(grid)))).astype(int)
    rows = table[table[along].isin(grid[places])].reset_index(drop=True)
    return rows.assign(
        mechanism=rows["noise"] + "-" + rows["scheme"], measure="mse", error=rows["mse"]
    )


def _of_table_2(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of Table II, which has the best joint noise for its error and the floor itself."""
    known = table.set_index(["mechanism", "epsilon"])["mae"]
    rows = []
    for row in table[table["mechanism"].isin(_OF_PAPER)].to_dict("records"):
        epsilon = row["epsilon"]
        budget = ("table-2", "-", 2, epsilon, 0.0)
        beside = ("staircase in the norm", 0.0, known[_JOINT, epsilon], known[_FLOOR, epsilon])
        rows.append((*budget, row["mechanism"], "mae", row["mae"], *beside))
    return pd.DataFrame(rows, columns=[*_SETTING, "mechanism", "measure", "error", *COLUMNS])
