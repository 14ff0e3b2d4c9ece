"""Table III of flipped-huber-2023: private coordinate descent by the printed protocol and held out.

The printed protocol runs a few trials of every configuration (passes, step, clipping level), keeps
the smallest mean NMSE and reports that very mean. Selecting the best of thousands on five trials
flatters the result. The held-out protocol selects on some trials and reports on others.

Differences between mechanisms are paired by trial and judged by the spread of the differences.

The ablation runs the printed protocol under one change at a time and ranks the variants: which
choices explain Table III best?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers.descent.harness import in_threads, mean_and_error
from dpnoise_papers.flipped_huber_2023.table_3.runs import EXACT, Contest, Runs, run_for_best
from dpnoise_papers.flipped_huber_2023.table_3.settings import (
    all_passes,
    varied,
    where_it_matters,
)
from dpnoise_papers.flipped_huber_2023.table_3.trials import (
    Split,
    account,
    describe_centre,
    make_split,
)
from dpnoise_papers.pages import together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.flipped_huber_2023.table_3.runs import Key
    from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3, Table3Ablation


METRICS = ("nmse", "test_error")
REFERENCE = "gaussian"
JUDGED_BY = "flipped-huber-2023/table-3-replicates.csv"  # the result of the claims of Table III
NOISE_COLUMNS = [
    "passes", "step", "clip", "xi", "eta", "epsilon", "delta", "alpha", "gamma",
    "sensitivity", "shape", "coordinates", "size", "optimum_error",
]  # fmt: skip
CHOSEN_COLUMNS = ["dataset", "protocol", "mechanism", "phase", "trial", *METRICS, *NOISE_COLUMNS]
SWEEP_COLUMNS = [
    "mechanism", "passes", "step", "clip", *(f"{m}{end}" for m in METRICS for end in ("", "_se"))
]  # fmt: skip


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def sweep(
    settings: Table3, dataset: Dataset | None, *, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run all configurations on one data set.

    Parameters
    ----------
    threads : int
        Does not change the result.

    Returns
    -------
    sweep : DataFrame
        One row per (mechanism, passes, step, clip): means over the printed protocol's trials.
    chosen : DataFrame
        One row per (protocol, mechanism, phase, trial) at the configuration that the
        protocol chose; columns `CHOSEN_COLUMNS`.
    """
    if dataset is None:
        return pd.DataFrame(columns=SWEEP_COLUMNS), pd.DataFrame(columns=CHOSEN_COLUMNS)
    select = settings.trials + settings.held_out.select
    printed = slice(settings.trials)
    protocols = {
        "printed": {"pick": printed, "report": printed},
        "honest": {
            "pick": slice(settings.trials, select), "report": slice(select, settings.all_trials),
        },
    }  # fmt: skip
    runs = prepared_runs(settings, dataset, settings.all_trials)
    runs.run(range(settings.trials), threads)
    contests = [Contest(key, settings.passes) for key in runs.asked]
    run_for_best(runs, range(settings.trials, select), contests, threads)
    chosen = {
        protocol: {key: runs.best(key, runs.passes, phases["pick"]) for key in runs.asked}
        for protocol, phases in protocols.items()
    }
    runs.run_places(range(select, settings.all_trials), chosen["honest"], threads)
    split = make_split(dataset, settings, 0)
    rows: list[dict[str, Any]] = []
    for protocol, phases in protocols.items():
        for mechanism in settings.mechanisms:
            place = chosen[protocol][mechanism, EXACT]
            passes, step, clip = runs.configuration(place)
            shared = {
                "dataset": dataset.name,
                "protocol": protocol,
                "mechanism": mechanism,
                "passes": passes,
                "step": step,
                "clip": clip,
                **_noise(split, mechanism, settings, passes, clip),
            }
            nmse = runs.nmse[mechanism, EXACT][place]
            error = runs.test_error[mechanism][place]
            for phase, trials in phases.items():
                rows.extend(
                    {**shared, "phase": phase, "trial": t, "nmse": nmse[t], "test_error": error[t]}
                    for t in range(settings.all_trials)[trials]
                )  # fmt: skip
    return means(runs, printed), pd.DataFrame(rows, columns=CHOSEN_COLUMNS)


def prepared_runs(settings: Table3, dataset: Dataset, trials: int) -> Runs:
    """Runs of every mechanism of the settings with all configurations, still to be made."""
    asked: dict[Key, tuple[int, ...]] = {
        (mechanism, EXACT): settings.passes for mechanism in settings.mechanisms
    }
    return Runs(dataset, settings, asked, trials=trials)


def means(runs: Runs, trials: slice) -> pd.DataFrame:
    """Return mean and standard error of every configuration over some trials.

    Columns `SWEEP_COLUMNS`.
    """
    index = pd.MultiIndex.from_product(
        [runs.test_error, runs.passes, runs.steps, runs.clips], names=SWEEP_COLUMNS[:4]
    )
    columns = {}
    nmse = {mechanism: values for (mechanism, _), values in runs.nmse.items()}
    for name, metric in zip(METRICS, (nmse, runs.test_error), strict=True):
        mean, error = mean_and_error(np.stack([values[..., trials] for values in metric.values()]))
        columns[name], columns[f"{name}_se"] = mean.ravel(), error.ravel()
    return pd.DataFrame(columns, index=index).reset_index()


def _noise(
    split: Split, mechanism: str, settings: Table3, passes: int, clip: float
) -> dict[str, Any]:
    """Return the noise of a chosen configuration, at its most sensitive coordinate."""
    noise = account(split, mechanism, settings, passes)
    unit = noise.unit
    alpha = unit.alpha if isinstance(unit, FlippedHuber) else 0.0
    if not isinstance(unit, Gaussian | FlippedHuber):
        raise TypeError(f"{mechanism}: expected Gaussian or flipped Huber noise, got {unit!r}")
    gamma = unit.sigma if isinstance(unit, Gaussian) else unit.gamma
    sensitivity = float(split.problem.sensitivities(clip).max())
    return {
        "xi": noise.xi,
        "eta": noise.eta,
        "epsilon": noise.epsilon,
        "delta": noise.delta,
        "alpha": alpha * sensitivity,
        "gamma": gamma * sensitivity,
        "sensitivity": sensitivity,
        "shape": describe_centre(unit),
        "coordinates": split.problem.coordinates,
        "size": split.problem.size,
        "optimum_error": float(split.test_error(split.optimum)),
    }


def table_3(
    settings: Table3,
    chosen: Mapping[str, pd.DataFrame],
    *,
    statuses: Mapping[str, Mapping[str, Any]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of Table III by the printed and by the held-out protocol.

    Parameters
    ----------
    chosen : mapping of str to DataFrame
        By data set, the second table of `sweep`.
    statuses : mapping of str to mapping
        By data set its `status` and, where it could not be had, the `reason`.

    Returns
    -------
    printed, held_out : DataFrame
        One row per (data set, mechanism): for each metric its mean, `_se`, `_pick` (mean on the
        trials that it was selected on), `_gain` over Gaussian noise and `_gain_se`.
    """
    names = [f"{m}{s}" for m in METRICS for s in ("", "_se", "_pick", "_gain", "_gain_se")]
    head = ["task", "dataset", "penalty", "strength", "mechanism", "status", "reason"]
    tables = []
    for protocol in ("printed", "honest"):
        rows = []
        for dataset, task in settings.tasks.items():
            part = chosen[dataset][chosen[dataset]["protocol"] == protocol]
            for mechanism in settings.mechanisms:
                row = {"dataset": dataset, "task": task.loss, "penalty": task.penalty,
                       "strength": task.strength, "mechanism": mechanism}  # fmt: skip
                mine = part[part["mechanism"] == mechanism]
                if mine.empty:
                    row |= {"status": "missing", "reason": statuses[dataset]["reason"]}
                else:
                    reference = part[part["mechanism"] == REFERENCE]
                    row |= {"status": "ok", "reason": "", **_numbers(mine, reference)}
                rows.append(row)
        tables.append(pd.DataFrame(rows).reindex(columns=[*head, *names, *NOISE_COLUMNS]))
    return tables[0], tables[1]


@np.errstate(invalid="ignore")  # inf - inf: the gain over a diverged run is not a number
def _numbers(mine: pd.DataFrame, reference: pd.DataFrame) -> dict[str, Any]:
    """Return the numbers of one mechanism on one data set."""
    report, pick = mine[mine["phase"] == "report"], mine[mine["phase"] == "pick"]
    row: dict[str, Any] = {name: report[name].iloc[0] for name in NOISE_COLUMNS}
    base = reference[reference["phase"] == "report"].set_index("trial")
    for metric in METRICS:
        values = report[metric].to_numpy()
        row[metric], row[f"{metric}_se"] = mean_and_error(values)
        row[f"{metric}_pick"] = pick[metric].mean()
        if not base.empty:
            gain = base.loc[report["trial"], metric].to_numpy() - values
            row[f"{metric}_gain"], row[f"{metric}_gain_se"] = mean_and_error(gain)
    return row


def printed_values(claims: Sequence[Claim]) -> pd.DataFrame:
    """Return what the paper prints in Table III.

    Columns dataset, mechanism, metric, printed (as text) and value.

    Parameters
    ----------
    claims : sequence of Claim
        All claims; the single numbers of Table III are taken out.
    """
    rows = []
    for claim in claims:
        where = {condition.column: condition.value for condition in claim.select}
        single = claim.quantity == "number" and not claim.relation and claim.column in METRICS
        if claim.result == JUDGED_BY and single and claim.printed is not None:
            rows.append(
                {
                    "dataset": where["dataset"],
                    "mechanism": where["mechanism"],
                    "metric": claim.column,
                    "printed": claim.printed.text,
                    "value": claim.printed.value,
                }
            )
    return pd.DataFrame(rows, columns=["dataset", "mechanism", "metric", "printed", "value"])


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
