"""Table III of flipped-huber-2023 again and again: how far do seeds alone move it?

The printed protocol takes the smallest of thousands of means over five trials. The standard error
of the five trials that were selected says little of how far that smallest mean moves when all is
drawn anew. So the whole protocol is repeated with independent splits and noise.

A variant says which noise stands for the Gaussian and for the flipped Huber row, which numbers
of passes are tried and what NMSE is measured from: the exact minimum, or where the descent
without noise or clipping (step 1 / M_i) is after some passes.

Most of the grid can never win. The first replications, the pilot, start from all of it and give a
combination up when its NMSE on some trials sums to more than twice `keep` times that of another
one on all. The later replications start from the combinations whose NMSE, averaged over the better
half of the pilot's trials, is at most `keep` times the mean of the pilot's smallest means. The
last `audit` replications start from all of it again, and say whether something that was left out
would have won. In each replication a combination is given up once it has lost (`table_3_race`).

Two replications of one mechanism differ by seeds alone. So the share of pairs of replications
whose ratio of NMSE is at least the printed Gaussian's over flipped Huber's is the probability
that seeds alone give the printed gain; for it the Gaussian of one replication stands beside the
flipped Huber noise of another, with other splits and other noise. `same seeds` is the share of
replications that give it when both mechanisms see the same splits and uniforms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits

from dpnoise_papers.descent.harness import in_threads
from dpnoise_papers.flipped_huber_2023.tables.table_3 import METRICS, printed_values
from dpnoise_papers.flipped_huber_2023.tables.table_3_noise import describe_centre
from dpnoise_papers.flipped_huber_2023.tables.table_3_race import Contest, run_for_best
from dpnoise_papers.flipped_huber_2023.tables.table_3_runs import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.data.dataset import Dataset
    from dpnoise_papers.flipped_huber_2023.settings_table_3 import Table3, Table3Replicates

ROWS = ("gaussian", "flipped-huber")
RUNS_COLUMNS = [
    "dataset", "reading", "mechanism", "replication", "nmse", "test_error", "passes", "step",
    "clip", "shape", "audited", "missed",
]  # fmt: skip
# What the claims compare, as a range over the variants that the paper leaves open.
_JUDGED = ("", "_gain", "_apart")
_ENDS = (0.005, 0.995)
_OF_METRIC = (
    "", "_low", "_high", "_sd", "_printed", "_percentile", "_ratio", "_ratio_low", "_ratio_high",
    "_gain", "_gain_low", "_gain_high", "_apart", "_apart_low", "_apart_high", "_printed_ratio",
    "_better", "_same_seeds", "_independent_seeds",
    *(f"{judged}_{end}" for judged in _JUDGED for end in ("least", "greatest")),
)  # fmt: skip
COLUMNS = [
    "dataset", "reading", "mechanism", "status", "reason", "replications", "audited", "missed",
    "graft_share", *(f"{metric}{end}" for metric in METRICS for end in _OF_METRIC),
]  # fmt: skip


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def replications(
    settings: Table3, again: Table3Replicates, dataset: Dataset | None, *, threads: int = 1
) -> pd.DataFrame:
    """Repeat the printed protocol of Table III on one data set.

    One row per (variant, mechanism, replication) with the numbers of the best configuration, the
    shape of its first trial's noise, whether the replication was `audited` and, if so, whether the
    thinned grid `missed` the best. The two mechanisms of a replication share splits and uniforms;
    replications share nothing.

    Parameters
    ----------
    threads : int
        Does not change the result.
    """
    if dataset is None:
        return pd.DataFrame(columns=RUNS_COLUMNS)
    size, count = settings.trials, again.replications
    asked: dict[tuple[str, str | int], set[int]] = {}
    for variant in again.variants.values():
        for mechanism in (variant.gaussian, variant.flipped_huber):
            tried = asked.setdefault((mechanism, variant.optimum), set())
            tried.update(variant.passes or settings.passes)
    # trials that the table itself has not seen
    runs = Runs(dataset, settings, asked, trials=size * count, first=settings.all_trials)
    contests = [
        Contest((mechanism, variant.optimum), variant.passes or settings.passes)
        for variant in again.variants.values()
        for mechanism in (variant.gaussian, variant.flipped_huber)
    ]
    each = [slice(first, first + size) for first in range(0, size * count, size)]
    pilot, audited = each[: again.pilot], each[count - again.audit :]

    def work(trials: slice) -> None:
        whole, slack = trials in (*pilot, *audited), 2.0 * again.keep if trials in pilot else 1.0
        numbers = range(trials.start, trials.stop)
        run_for_best(runs, numbers, contests, whole=whole, slack=slack)

    in_threads(work, pilot, threads, "replications of the pilot")
    runs.thin(pilot, again.keep)
    in_threads(work, each[again.pilot :], threads, "replications")
    rows = []
    for replication, trials in enumerate(each):
        whole = trials in audited
        for name, variant in again.variants.items():
            noises = (variant.gaussian, variant.flipped_huber)
            for row, mechanism in zip(ROWS, noises, strict=True):
                key = mechanism, variant.optimum
                place = runs.best(key, variant.passes or settings.passes, trials)
                passes, step, clip = runs.configuration(place)
                rows.append([
                    dataset.name, name, row, replication, runs.nmse[key][place][trials].mean(),
                    runs.test_error[mechanism][place][trials].mean(), passes, step, clip,
                    describe_centre(runs.noises[mechanism, passes, trials.start]), int(whole),
                    int(whole and not runs.kept[key][place]),
                ])  # fmt: skip
    return pd.DataFrame(rows, columns=RUNS_COLUMNS)


def summary(
    again: Table3Replicates,
    runs: Mapping[str, pd.DataFrame],
    *,
    claims: Sequence[Claim],
    statuses: Mapping[str, Mapping[str, Any]],
) -> pd.DataFrame:
    """Return what the replications say of each printed number and of each printed gain.

    One row per data set, variant and mechanism, columns `COLUMNS`: of each metric the median over
    replications, the ends of an interval that holds 99 % of them and the standard deviation; the
    printed number and which share of replications is at most that; and for flipped Huber noise,
    with the same seeds, the ratio of the Gaussian's number to it and the difference (`gain`), the
    same difference with independent seeds (`apart`), the printed ratio, and the probability that
    the Gaussian's is larger (`better`), and is larger by the printed ratio with the same and with
    independent seeds. `graft_share` is the share of replications whose noise is not Gaussian.
    `_least` and `_greatest` hold the intervals of all variants that the paper leaves open.

    Parameters
    ----------
    again : Table3Replicates
        The paper states the account of flipped Huber noise; what the other variants change (the
        Gaussian's account, the passes, what stands for the optimum) it leaves open.
    runs : mapping of str to DataFrame
        By data set, as `replications` returns it.
    statuses : mapping of str to mapping
        By data set its `status` and, where it could not be had, the `reason`.
    """
    paper = printed_values(claims)
    printed = paper.set_index(["dataset", "mechanism", "metric"])["value"].to_dict()
    rows = []
    for dataset, table in runs.items():
        for name in again.variants:
            part = table[table["reading"] == name] if len(table) else table
            for mechanism in ROWS:
                row: dict[str, Any] = {
                    "dataset": dataset, "reading": name, "mechanism": mechanism,
                }  # fmt: skip
                if part.empty:
                    row |= {"status": "missing", "reason": statuses[dataset]["reason"]}
                else:
                    row |= {"status": "ok", "reason": "", **_numbers(part, mechanism)}
                    for metric in METRICS:
                        values = [printed.get((dataset, one, metric), np.nan) for one in ROWS]
                        row |= _against_printed(part, mechanism, metric, values)
                rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=COLUMNS)
    left_open = [
        name for name, variant in again.variants.items() if variant.flipped_huber == ROWS[1]
    ]
    for _, same in table[table["reading"].isin(left_open)].groupby(["dataset", "mechanism"]):
        here = (table["dataset"] == same["dataset"].iloc[0]) & (
            table["mechanism"] == same["mechanism"].iloc[0]
        )
        for name in (f"{metric}{judged}" for metric in METRICS for judged in _JUDGED):
            table.loc[here, f"{name}_least"] = same[f"{name}_low"].min()
            table.loc[here, f"{name}_greatest"] = same[f"{name}_high"].max()
    return table


def _of(part: pd.DataFrame, mechanism: str, metric: str) -> Array:
    mine = part[part["mechanism"] == mechanism].sort_values("replication")
    return mine[metric].to_numpy(dtype=float)


def _numbers(part: pd.DataFrame, mechanism: str) -> dict[str, Any]:
    mine = part[part["mechanism"] == mechanism]
    row = {
        "replications": len(mine),
        "audited": int(mine["audited"].sum()),
        "missed": int(mine["missed"].sum()),
        "graft_share": float((~mine["shape"].str.startswith("Gaussian")).mean()),
    }
    for metric in METRICS:
        values = _of(part, mechanism, metric)
        row |= _spread(metric, values)
        row[f"{metric}_sd"] = float(values.std(ddof=1))
    return row


def _spread(name: str, values: Array, size: int | None = None) -> dict[str, float]:
    """Return the median and an interval that holds 99 % of replications.

    A hundred replications say little of the last half per cent: on each side of the median the
    interval is the wider of the quantile and of Student's prediction interval for one more
    replication after `size`, with that side's spread (of the logarithms, if all are positive).
    """
    low, middle, high = np.quantile(values, [_ENDS[0], 0.5, _ENDS[1]])
    size = len(values) if size is None else size
    if not np.isfinite(values).all():  # a diverged replication
        return {name: middle, f"{name}_low": low, f"{name}_high": high}
    positive = bool((values > 0).all())
    away = np.log(values / middle) if positive else values - middle
    reach = stdtrit(size - 1, _ENDS[1]) * np.sqrt(1.0 + 1.0 / size)
    ends = [
        sign * reach * np.sqrt(np.mean(side**2)) if side.size else 0.0
        for sign, side in ((-1.0, away[away < 0]), (1.0, away[away > 0]))
    ]
    ends = middle * np.exp(ends) if positive else middle + np.array(ends)
    return {name: middle, f"{name}_low": min(low, *ends), f"{name}_high": max(high, *ends)}


def _against_printed(
    part: pd.DataFrame, mechanism: str, metric: str, printed: list[float]
) -> dict[str, float]:
    """Return percentile and, for flipped Huber noise, ratios and their probabilities."""
    first, second = (_of(part, name, metric) for name in ROWS)
    mine, value = (first, printed[0]) if mechanism == ROWS[0] else (second, printed[1])
    row = {f"{metric}_printed": value}
    if np.isfinite(value):
        # a tie counts half, as for a printed number that equals some of ours
        row[f"{metric}_percentile"] = float((mine < value).mean() + (mine == value).mean() / 2)
    if mechanism == ROWS[0]:
        return row
    row |= _spread(f"{metric}_ratio", first / second)
    row |= _spread(f"{metric}_gain", first - second)
    others = ~np.eye(len(first), dtype=bool)
    row |= _spread(f"{metric}_apart", (first[:, None] - second)[others], len(first))
    row[f"{metric}_better"] = float((first > second).mean())
    ratio = printed[0] / printed[1]
    row[f"{metric}_printed_ratio"] = ratio
    if np.isfinite(ratio):
        row[f"{metric}_same_seeds"] = float((first / second >= ratio).mean())
        pairs = first[:, None] / second >= ratio
        row[f"{metric}_independent_seeds"] = float(pairs[others].mean())
    return row
