"""From chosen configurations to the rows of Table III, as printed and as honest.

Differences between mechanisms are paired by trial and judged by the spread of the differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

METRICS = ("nmse", "test_error")
REFERENCE = "gaussian"
NOISE_COLUMNS = [
    "passes", "step", "clip", "xi", "eta", "epsilon", "delta", "alpha", "gamma",
    "sensitivity", "shape", "coordinates", "size", "optimum_error",
]  # fmt: skip


def summarise(
    chosen: Mapping[str, pd.DataFrame],
    status: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any],
    protocol: str,
) -> pd.DataFrame:
    """Return one row per (data set, mechanism).

    Parameters
    ----------
    chosen : mapping of str to DataFrame
        By data set, the second table of `dpnoise_papers.flipped_huber_2023.tables.table_3.table_3`; without rows
        if the data set was not to be had.
    status : mapping of str to mapping
        By data set, what `dpnoise_papers.data.prepared.prepare` recorded: `status` and `reason`.
    settings : mapping
        Section `table_3` of the config.
    protocol : {"printed", "honest"}

    Returns
    -------
    DataFrame
        For each metric its mean, `_se`, `_pick` (mean on the trials that it was picked by),
        `_gain` over Gaussian noise and `_gain_se`.
    """
    rows = []
    for dataset, task in settings["tasks"].items():
        head = {"dataset": dataset, "task": task["loss"], "penalty": task["penalty"],
                "strength": task["strength"]}  # fmt: skip
        for mechanism in settings["mechanisms"]:
            row = {**head, "mechanism": mechanism}
            table = chosen[dataset]
            part = table[table["protocol"] == protocol]
            mine = part[part["mechanism"] == mechanism]
            if mine.empty:
                row |= {"status": "missing", "reason": status[dataset]["reason"]}
            else:
                reference = part[part["mechanism"] == REFERENCE]
                row |= {"status": "ok", "reason": "", **_numbers(mine, reference)}
            rows.append(row)
    names = [f"{m}{s}" for m in METRICS
             for s in ("", "_se", "_pick", "_gain", "_gain_se")]  # fmt: skip
    head = ["task", "dataset", "penalty", "strength", "mechanism", "status", "reason"]
    return pd.DataFrame(rows).reindex(columns=[*head, *names, *NOISE_COLUMNS])


@np.errstate(invalid="ignore")  # inf - inf: the spread of a diverged run is not a number
def _numbers(mine: pd.DataFrame, reference: pd.DataFrame) -> dict[str, Any]:
    """Return the numbers of one mechanism on one data set."""
    report, pick = mine[mine["phase"] == "report"], mine[mine["phase"] == "pick"]
    row: dict[str, Any] = {name: report[name].iloc[0] for name in NOISE_COLUMNS}
    base = reference[reference["phase"] == "report"].set_index("trial")
    for metric in METRICS:
        values = report[metric].to_numpy()
        row[metric] = values.mean()
        row[f"{metric}_se"] = _standard_error(values)
        row[f"{metric}_pick"] = pick[metric].mean()
        if not base.empty:
            gain = base.loc[report["trial"], metric].to_numpy() - values
            row[f"{metric}_gain"] = gain.mean()
            row[f"{metric}_gain_se"] = _standard_error(gain)
    return row


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
