"""Table III of flipped-huber-2023: private coordinate descent by the printed protocol and held out.

The printed protocol runs a few trials of every configuration (passes, step, clipping level), keeps
the smallest mean NMSE and reports that very mean. Selecting the best of thousands on five trials
flatters the result. The held-out protocol selects on some trials and reports on others.

Differences between mechanisms are paired by trial and judged by the spread of the differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers.descent.harness import mean_and_error
from dpnoise_papers.flipped_huber_2023.table_3.runs import EXACT, Contest, Runs, run_for_best
from dpnoise_papers.flipped_huber_2023.table_3.trials import (
    Split,
    account,
    describe_centre,
    make_split,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.flipped_huber_2023.table_3.runs import Key
    from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3

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
