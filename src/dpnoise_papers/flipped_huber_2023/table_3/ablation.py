"""Which choices explain Table III best: the printed protocol under one change at a time, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise_papers.descent.harness import in_threads
from dpnoise_papers.flipped_huber_2023.table_3.protocols import (
    METRICS,
    SWEEP_COLUMNS,
    means,
    prepared_runs,
    printed_values,
)
from dpnoise_papers.flipped_huber_2023.table_3.runs import EXACT, Contest, Runs, run_for_best
from dpnoise_papers.flipped_huber_2023.table_3.settings import (
    all_passes,
    varied,
    where_it_matters,
)
from dpnoise_papers.pages import together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3, Table3Ablation

COLUMNS = ["dataset", "variant", "mechanism", *SWEEP_COLUMNS[4:], *SWEEP_COLUMNS[1:4]]
RANKING_COLUMNS = ["variant", "distance", "nmse", "test_error", "worst", "numbers", "diverged"]


@threadpool_limits.wrap(limits=1)  # as for the table itself
def variants(
    settings: Table3, ablation: Table3Ablation, dataset: Dataset | None, *, threads: int = 1
) -> pd.DataFrame:
    """Run the printed protocol on one data set under every variant of the open choices.

    One row per (variant, mechanism): the smallest mean NMSE and its test error; columns `COLUMNS`.

    Parameters
    ----------
    threads : int
        Does not change the result.
    """
    if dataset is None:
        return pd.DataFrame(columns=COLUMNS)
    changed = {
        name: where_it_matters(varied(settings, ablation, variant), dataset.name)
        for name, variant in ablation.variants.items()
    }
    tried = {"passes": all_passes(changed.values())}
    distinct: list[Table3] = []  # variants that come to the same here but for the passes run once
    groups: list[set[tuple[int, ...]]] = []  # the numbers of passes of each such variant
    group_of = {}
    for name, one in changed.items():
        shared = one.model_copy(update=tried)
        if shared not in distinct:
            distinct.append(shared)
            groups.append(set())
        group_of[name] = distinct.index(shared)
        groups[group_of[name]].add(one.passes)
    done = in_threads(
        lambda one: _run(*one, dataset, ablation.trials),
        list(zip(distinct, groups, strict=True)),
        threads,
        "variants",
    )
    trials = slice(ablation.trials)
    rows = []
    for name, one in changed.items():
        runs = done[group_of[name]]
        table = {
            tuple(row[column] for column in SWEEP_COLUMNS[:4]): row
            for row in means(runs, trials).to_dict("records")
        }
        for mechanism in ablation.mechanisms:
            place = runs.best((mechanism, EXACT), one.passes, trials)
            row = table[mechanism, *runs.configuration(place)]
            rows.append({"dataset": dataset.name, "variant": name} | row)
    return pd.DataFrame(rows, columns=COLUMNS)


def _run(
    settings: Table3, groups: Iterable[tuple[int, ...]], dataset: Dataset, trials: int
) -> Runs:
    """Runs of variants that differ in their passes alone, as far as the best ones need them."""
    runs = prepared_runs(settings, dataset, trials)
    contests = [Contest(key, passes) for key in runs.asked for passes in sorted(groups)]
    run_for_best(runs, range(trials), contests)
    return runs


def distances(runs: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return log(ours / printed) for each printed number and variant.

    Columns variant, dataset, mechanism, metric, log_ratio; inf for a diverged run.

    Parameters
    ----------
    runs : DataFrame
        As `variants` returns it, all data sets together.
    paper : DataFrame
        As `dpnoise_papers.flipped_huber_2023.table_3.protocols.printed_values` returns it.
    """
    index = ["variant", "dataset", "mechanism"]
    long = runs.melt(index, list(METRICS), var_name="metric", value_name="ours")
    both = long.merge(paper, on=["dataset", "mechanism", "metric"])
    ratio = both["ours"].to_numpy(dtype=float) / both["value"].to_numpy(dtype=float)
    positive = ratio > 0
    both["log_ratio"] = np.where(positive, np.log(np.where(positive, ratio, 1.0)), -np.inf)
    return both[[*index, "metric", "log_ratio"]]


def ranking(runs: Mapping[str, pd.DataFrame], *, claims: Sequence[Claim]) -> pd.DataFrame:
    """Rank the variants by mean |log(ours / printed)|, NMSE and test error alike.

    Columns `RANKING_COLUMNS`, the best variant first. A diverged run has no logarithm to average;
    variants are ranked first by how many of their numbers diverged.

    Parameters
    ----------
    runs : mapping of str to DataFrame
        By data set, as `variants` returns it.
    """
    table = distances(together(runs), printed_values(claims))
    rows = []
    for variant, part in table.groupby("variant", sort=False):
        size = part["log_ratio"].abs()
        finite = size[np.isfinite(size)]
        by_metric = {m: finite[part["metric"] == m].mean() for m in METRICS}
        rows.append(
            {
                "variant": variant,
                "distance": finite.mean(),
                **by_metric,
                "worst": finite.max(),
                "numbers": len(size),
                "diverged": len(size) - len(finite),
            }
        )
    ranked = pd.DataFrame(rows, columns=RANKING_COLUMNS)
    return ranked.sort_values(["diverged", "distance"], kind="stable", ignore_index=True)
