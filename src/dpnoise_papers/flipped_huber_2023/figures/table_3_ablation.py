"""Which reading of the paper explains its Table III best, over all rows together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpnoise_papers.flipped_huber_2023.figures.table_3_pages import METRICS

RANKING_COLUMNS = ["variant", "distance", "nmse", "test_error", "worst", "numbers", "diverged"]


def distances(runs: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return log(ours / printed) for each printed number and variant.

    Parameters
    ----------
    runs : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.table_3_ablation.ablate` returns it, all data sets together.
    paper : DataFrame
        As `dpnoise_papers.flipped_huber_2023.figures.table_3_pages.printed_values` returns it.

    Returns
    -------
    DataFrame
        Columns variant, dataset, mechanism, metric, log_ratio; inf for a diverged run.
    """
    index = ["variant", "dataset", "mechanism"]
    long = runs.melt(index, list(METRICS), var_name="metric", value_name="ours")
    both = long.merge(paper, on=["dataset", "mechanism", "metric"])
    ratio = both["ours"].to_numpy(dtype=float) / both["value"].to_numpy(dtype=float)
    positive = ratio > 0
    both["log_ratio"] = np.where(positive, np.log(np.where(positive, ratio, 1.0)), -np.inf)
    return both[[*index, "metric", "log_ratio"]]


def rank(runs: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Rank the variants by mean |log(ours / printed)|, NMSE and test error alike.

    A diverged run has no logarithm to average; variants are ranked first by how many of
    their numbers diverged.

    Returns
    -------
    DataFrame
        Columns `RANKING_COLUMNS`, the best variant first.
    """
    table = distances(runs, paper)
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
    ranking = pd.DataFrame(rows, columns=RANKING_COLUMNS)
    return ranking.sort_values(["diverged", "distance"], kind="stable", ignore_index=True)


def markdown(ranking: pd.DataFrame, runs: pd.DataFrame, paper: pd.DataFrame) -> str:
    """Return the page of the ablation: the ranking, then ours / printed for the Gaussian NMSE.

    Parameters
    ----------
    ranking, runs, paper : DataFrame
        From `rank`, and what it was given.
    """
    note = (
        "One change of the chosen setting at a time, on a coarser grid than the table itself. "
        "`distance` is the mean of |log(ours / printed)| over all printed numbers; the setting "
        "is chosen for all rows together, never per row."
    )
    lines = [
        "# Ablation of what Table III of flipped-huber-2023 leaves open",
        "",
        note,
        "",
        "| variant | distance | NMSE only | test error only | worst | diverged |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {r.variant} | {r.distance:.3f} | {r.nmse:.3f} | {r.test_error:.3f} | {r.worst:.2f} "
        f"| {r.diverged} of {r.numbers} |"
        for r in ranking.itertuples()
    ]
    table = distances(runs, paper)
    for metric, title in METRICS.items():
        part = table[(table["metric"] == metric) & (table["mechanism"] == "gaussian")]
        wide = part.pivot_table("log_ratio", "variant", "dataset", sort=False, dropna=False)
        lines += ["", f"## Ours / printed: {title}, Gaussian noise", ""]
        lines += ["| variant | " + " | ".join(wide.columns) + " |"]
        lines += ["| --- " * (len(wide.columns) + 1) + "|"]
        lines += [
            f"| {variant} | " + " | ".join(f"{np.exp(value):.3g}" for value in row) + " |"
            for variant, row in zip(wide.index, wide.to_numpy(), strict=True)
        ]
    return "\n".join(lines) + "\n"
