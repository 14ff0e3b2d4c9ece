"""Table IV of inid-2024, trained: accuracy of each cell, and differences between cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.table_4.training import CELL, GROUPS_COLUMNS

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.learning_settings import PrivateTraining

SUMMARY_COLUMNS = [
    *CELL, "data_note", "repetitions", "learning_rate", "edge", "accuracy", "accuracy_se",
    "accuracy_sd", "lowest", "highest", "train_loss", "clipped", "signal", "noise_norm",
]  # fmt: skip
OPEN_COLUMNS = [*SUMMARY_COLUMNS, "untried", "accuracy_least", "accuracy_greatest"]
UNTRIED = "other grids of learning rates, groups of parameters and normalisation of the network"
GAIN_COLUMNS = ["comparison", *CELL, "other", "gain", "gain_se", "point_seeds"]


def table_4_trained(settings: PrivateTraining, parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Accuracy of each cell of Table IV over the reported networks.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    parts : dict of str to pandas.DataFrame
        Runs by cell, of `train_cell`.

    Returns
    -------
    pandas.DataFrame
        Columns noise, delta, epsilon, scheme, data_note (what is not as in the original data),
        repetitions, learning_rate, edge (which end of the grid it is, if one), accuracy (mean, %),
        accuracy_se, accuracy_sd, lowest, highest, train_loss, clipped, signal and noise_norm (means
        over the networks in the last epoch). No rows of a cell that was not trained.
    """
    rows = []
    grid = sorted(settings.learning_rates)
    for name in settings.cells:
        runs = parts[name]
        last = runs[(runs["phase"] == "report") & (runs["epoch"] == settings.epochs)]
        if last.empty:
            continue
        accuracy = last["accuracy"].to_numpy(dtype=float)
        rate = float(last["learning_rate"].iloc[0])
        ends = {grid[0]: "lowest", grid[-1]: "highest"} if len(grid) > 1 else {}
        deviation = float(np.std(accuracy, ddof=1)) if len(accuracy) > 1 else math.nan
        rows.append(
            last[[*CELL, "data_note"]].iloc[0].to_dict()
            | {
                "repetitions": len(accuracy),
                "learning_rate": rate,
                "edge": ends.get(rate, ""),
                "accuracy": accuracy.mean(),
                "accuracy_se": deviation / math.sqrt(len(accuracy)),
                "accuracy_sd": deviation,
                "lowest": accuracy.min(),
                "highest": accuracy.max(),
            }
            | last[["train_loss", "clipped", "signal", "noise_norm"]].mean().to_dict()
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def table_4_printed(settings: PrivateTraining, parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Accuracy of each cell as it is compared with the printed one, with the range that is open.

    The paper does not say whether its SPR noise is by parameter (`spr`) or by layer (`spr-group`).

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    parts : dict of str to pandas.DataFrame
        Runs by cell, of `train_cell`.

    Returns
    -------
    pandas.DataFrame
        Columns of `table_4_trained`, untried (open choices that no range covers), and
        accuracy_least and accuracy_greatest: of scheme `spr` the ends over both meanings, missing
        without the other one; else the accuracy itself.
    """
    table = table_4_trained(settings, parts).reindex(columns=OPEN_COLUMNS).assign(untried=UNTRIED)
    by_layer = table[table["scheme"] == "spr-group"].set_index(CELL[:-1])["accuracy"]
    for row, cell in table.iterrows():
        budget, own = tuple(cell[CELL[:-1]]), cell["accuracy"]
        other = by_layer.get(budget, math.nan) if cell["scheme"] == "spr" else own
        table.loc[row, OPEN_COLUMNS[-2:]] = np.minimum(own, other), np.maximum(own, other)
    return table


def table_4_gains(table: pd.DataFrame) -> pd.DataFrame:
    """Differences of accuracy between schemes and between noises, beside their standard errors.

    Parameters
    ----------
    table : pandas.DataFrame
        From `table_4_trained`.

    Returns
    -------
    pandas.DataFrame
        Columns comparison, noise, delta, epsilon, scheme, other, gain (percentage points), gain_se
        and point_seeds: the number of networks of each of the two cells with which a gain of one
        point would be two standard errors. A gain of g points takes 1 / g^2 times as many.
    """
    found = {tuple(row[name] for name in CELL): row for row in table.to_dict("records")}
    rows = []
    for (noise, delta, epsilon, scheme), row in found.items():
        others = [
            ("scheme", other, (noise, delta, epsilon, other))
            for other in ("spr", "iid", "spr-group")
            if scheme == "optimal"
        ]
        others += [
            ("noise", f"gaussian, delta = {key[1]:g}", key)
            for key in found
            if noise == "laplace" and key[0] == "gaussian" and key[2:] == (epsilon, scheme)
        ]
        for comparison, name, key in others:
            if key not in found:
                continue
            other = found[key]
            variance = row["accuracy_sd"] ** 2 + other["accuracy_sd"] ** 2
            error = math.hypot(row["accuracy_se"], other["accuracy_se"])
            gain = row["accuracy"] - other["accuracy"]
            seeds = max(2, math.ceil(4.0 * variance)) if math.isfinite(variance) else math.nan
            rows.append([comparison, noise, delta, epsilon, scheme, name, gain, error, seeds])
    return pd.DataFrame(rows, columns=GAIN_COLUMNS)


def groups_of_cells(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Gradients and noise by group in the last epoch of every cell."""
    last = [table[table["epoch"] == table["epoch"].max()] for table in parts.values() if len(table)]
    return pd.concat(last, ignore_index=True) if last else pd.DataFrame(columns=GROUPS_COLUMNS)
