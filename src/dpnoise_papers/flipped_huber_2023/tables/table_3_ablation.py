"""What if the paper's unprinted choices were others? Table III under one change at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise_papers.flipped_huber_2023.tables.table_3 import Sweep

if TYPE_CHECKING:
    from dpnoise_papers.data.dataset import Dataset

GRIDS = ("passes", "steps", "clips")
COLUMNS = [
    "dataset", "variant", "mechanism", "nmse", "nmse_se", "test_error", "test_error_se",
    "passes", "step", "clip",
]  # fmt: skip


@threadpool_limits.wrap(limits=1)  # as for the table itself
def ablate(
    dataset: Dataset,
    task: dict[str, Any],
    settings: dict[str, Any],
    ablation: dict[str, Any],
    *,
    seed: int,
    threads: int = 1,
) -> pd.DataFrame:
    """Run the printed protocol under every variant of the open choices.

    Parameters
    ----------
    dataset : Dataset
    task : dict
        loss, penalty, strength.
    settings, ablation : dict
        Sections `table_3` and `table_3_ablation` of the config. A variant is a change of
        `settings["setting"]` or of the grids.
    seed, threads : int

    Returns
    -------
    DataFrame
        One row per (variant, mechanism): the best mean NMSE and its test error; columns
        `COLUMNS`.
    """
    trials = ablation["trials"]
    shared = {**settings, **{k: ablation[k] for k in ("steps", "clips", "mechanisms")}}
    done: dict[str, Sweep] = {}  # variants that come to the same for this data set run once
    rows = []
    for variant, change in ablation["variants"].items():
        grids = {k: change[k] for k in GRIDS if k in change}
        setting = {**settings["setting"], **{k: v for k, v in change.items() if k not in GRIDS}}
        if task["loss"] == "logistic":
            setting["target"] = "raw"
        if dataset.name != "wine-quality":
            setting["wine_task"] = "colour"
        if dataset.name != "california":
            setting["california_features"] = "ratios"
        key = repr((sorted(setting.items()), sorted(grids.items())))
        if key not in done:
            changed = {**shared, **grids, "setting": setting}
            done[key] = Sweep(dataset, task, changed, trials=trials, seed=seed, threads=threads)
        sweep = done[key]
        table = sweep.table(range(trials)).set_index(["mechanism", "passes", "step", "clip"])
        for mechanism in ablation["mechanisms"]:
            p, s, c = sweep.best(mechanism, range(trials))
            place = (mechanism, sweep.passes[p], sweep.steps[s], sweep.clips[c])
            rows.append(
                {
                    "dataset": dataset.name,
                    "variant": variant,
                    "mechanism": mechanism,
                    **table.loc[place].to_dict(),
                    **dict(zip(("passes", "step", "clip"), place[1:], strict=True)),
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)
