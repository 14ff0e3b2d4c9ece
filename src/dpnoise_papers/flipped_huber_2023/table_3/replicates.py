"""Table III of flipped-huber-2023, replicated: how far do seeds and open choices move it?

The printed protocol takes the smallest of thousands of means over five trials. The standard error
of the five trials that were selected says little of how far that smallest mean moves when all is
drawn anew. So the whole protocol is repeated with partitions and noise of its own each time. The
text partitions a data set once and runs five trials; so the trials of a replication share its
partition, unless the reading says otherwise.

A reading is a variant or a combination. A variant says which noise stands for the Gaussian and for
the flipped Huber row, which numbers of passes are tried and what NMSE is measured from: the exact
minimum, or where the descent without noise or clipping (step 1 / M_i) is after some passes. A
combination changes open choices, several together. Both have `variant_replications`, the chosen
reading has more.

Most of the grid can never win. So the trials of the first replication, the pilot, are run first, to
leave out what errs too much: a configuration whose NMSE, averaged over the better half of these
trials, exceeds `keep` times the smallest mean over all of them. It is given up as soon as that is
known. The last `audit` replications start from the whole grid again, and say whether something that
was left out would have won. In each replication a configuration is given up once it has lost
(`run_for_best`).

Two replications of one mechanism differ by seeds alone. So the share of pairs of replications
whose ratio of NMSE is at least the printed Gaussian's over flipped Huber's is the probability
that seeds alone give the printed gain; for it the Gaussian of one replication stands beside the
flipped Huber noise of another, with another partition and other noise. `same seeds` is the share of
replications that give it when both mechanisms see the same partition and uniforms.

The Gaussian row is the control of the row beside it: a reading whose Gaussian row cannot be the
printed one is not the authors', unless the same is true of ours; and what the paper leaves open and
moves our Gaussian row to the printed one may move the flipped Huber row as far.

Beside the mechanisms of the paper there is noise by the bound of Mangold et al. and by the exact
account. The paper tunes private coordinate descent 'as described in' Mangold, Bellet, Salmon &
Tommasi (ICML 2022), [53], and adapts the noise to each coordinate 'as done for Gaussian in [53]'.
Whether its Gaussian row also takes the size of the noise from there is not said. Their
Theorem 3.1, as we remember it (the text could not be had), is sigma_j^2 = 12 L_j^2 T log(1 / delta)
/ (n epsilon)^2 for T updates, epsilon <= 1 and delta < 1/3; with the sensitivity
lambda_j = 2 L_j / n that is 3 lambda_j^2 T log(1 / delta) / epsilon^2. Two things speak for it: the
Renyi divergence of order 1 + sqrt(6) log(1 / delta) / epsilon gives epsilon^2 / (6 log(1 / delta))
+ 2 epsilon / sqrt(6), below epsilon in just that range; and it is zCDP with
eta = epsilon^2 / (6 log(1 / delta)), whose conversion is below epsilon (checked for every use). An
early talk of theirs has 8 in the place of 3.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import Gaussian
from dpnoise.privacy.odometer.concentrated import epsilon_from_zcdp
from dpnoise_papers.descent.harness import in_threads, mean_and_error
from dpnoise_papers.flipped_huber_2023.table_3.runs import EXACT, Contest, Runs, run_for_best
from dpnoise_papers.flipped_huber_2023.table_3.settings import CHOSEN, NoiseVariant, combined
from dpnoise_papers.flipped_huber_2023.table_3.trials import account, describe_centre

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from dpnoise._types import Array
    from dpnoise.noise import Noise
    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.descent.harness import Task
    from dpnoise_papers.flipped_huber_2023.table_3.runs import Key
    from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3

METRICS = ("nmse", "test_error")
ROWS = ("gaussian", "flipped-huber")
JUDGED_BY = "flipped-huber-2023/table-3.csv"  # the result of the claims of Table III
_FIRST = 25  # number of the first trial; smaller ones are those of the slides' curves
RUNS_COLUMNS = [
    "dataset", "reading", "mechanism", "replication", "nmse", "test_error", "passes", "step",
    "clip", "shape", "same_noise", "audited", "missed",
]  # fmt: skip
# What the claims compare, as a range over the readings that the paper leaves open.
_JUDGED = ("", "_gain", "_apart")
CURVE_COLUMNS = [
    "dataset", "mechanism", "passes", *(f"{m}{end}" for m in METRICS for end in ("", "_se"))
]  # fmt: skip
_ENDS = (0.005, 0.995)
_FACTOR = 3.0  # sigma^2 = 3 lambda^2 T log(1 / delta) / epsilon^2
_RARELY = 0.05  # the share of replications with two distributions below which a row has one
_OF_METRIC = (
    "", "_low", "_high", "_sd", "_printed", "_percentile", "_ratio", "_ratio_low", "_ratio_high",
    "_gain", "_gain_low", "_gain_high", "_apart", "_apart_low", "_apart_high", "_printed_ratio",
    "_better", "_worse", "_same_seeds", "_independent_seeds",
    *(f"{judged}_{end}" for judged in _JUDGED for end in ("least", "greatest")),
)  # fmt: skip
COLUMNS = [
    "dataset", "reading", "mechanism", "combination", "status", "reason", "replications", "audited",
    "missed", "graft_share", "same_noise", "equal_by_construction", "contradicted",
    *(f"{metric}{end}" for metric in METRICS for end in _OF_METRIC),
]  # fmt: skip


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def replications(settings: Table3, dataset: Dataset | None, *, threads: int = 1) -> pd.DataFrame:
    """Repeat the printed protocol of Table III on one data set.

    One row per (reading, mechanism, replication) with the numbers of the best configuration, the
    shape of its first trial's noise, whether both mechanisms have the same configuration and there
    the same noise (`same_noise`), whether the replication was `audited` and, if so, whether the
    thinned grid `missed` the best. The two mechanisms of a replication share partition and
    uniforms; replications share nothing.

    Parameters
    ----------
    threads : int
        Does not change the result.
    """
    if dataset is None:
        return pd.DataFrame(columns=RUNS_COLUMNS)
    whole = _Repeated(settings, dataset, settings.variants)
    rows = {CHOSEN: whole.rows(settings.replications, threads)}
    several = {
        name: _Repeated(one, dataset, {name: NoiseVariant()}, whole.runs)
        for name, one in combined(settings, dataset.name).items()
    }
    for name, repeated in several.items():
        rows[name] = repeated.rows(settings.variant_replications, threads)
    return pd.DataFrame([row for some in rows.values() for row in some], columns=RUNS_COLUMNS)


@threadpool_limits.wrap(limits=1)  # as for the replications
def curves(settings: Table3, dataset: Dataset | None, *, threads: int = 1) -> pd.DataFrame:
    """Run the printed protocol once on one data set for each number of passes alone.

    One row per (mechanism, passes): the smallest mean NMSE and its test error, each with its
    standard error over the trials; columns `CURVE_COLUMNS`.

    Parameters
    ----------
    threads : int
        Does not change the result.
    """
    if dataset is None:
        return pd.DataFrame(columns=CURVE_COLUMNS)
    asked: dict[Key, tuple[int, ...]] = {(name, EXACT): settings.passes for name in settings.curves}
    runs = Runs(dataset, settings, asked, trials=settings.trials)
    contests = [Contest(key, (passes,)) for key in asked for passes in settings.passes]
    run_for_best(runs, range(settings.trials), contests, threads)
    rows = []
    for key, (passes,) in contests:
        place = runs.best(key, (passes,), slice(None))
        errors = runs.nmse[key][place], runs.test_error[key[0]][place]
        numbers = [number for one in errors for number in mean_and_error(one)]
        rows.append([dataset.name, key[0], passes, *numbers])
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


class _Repeated:
    """Replications of some variants under one setting, which share their runs.

    What is likely to win is taken from the runs of another setting, if there are any.
    """

    def __init__(
        self,
        settings: Table3,
        dataset: Dataset,
        variants: Mapping[str, NoiseVariant],
        others: Runs | None = None,
    ) -> None:
        self.settings, self.dataset, self.variants = settings, dataset, variants
        asked: dict[Key, set[int]] = {}
        for variant in variants.values():
            for key in _keys(variant):
                asked.setdefault(key, set()).update(variant.passes or settings.passes)
        most = settings.variant_replications if others else settings.replications
        size = settings.trials
        trials = size * most
        self.runs = Runs(
            dataset,
            settings,
            asked,
            trials=trials,
            first=_FIRST,
            together=size,
            noise_of=variant_noise,
        )
        if others:
            self.runs.presume(others)
        self.trials = [slice(first, first + size) for first in range(0, trials, size)]

    def rows(self, count: int, threads: int) -> list[list[Any]]:
        """Rows of the table, of so many replications; the pilot comes first."""
        pilot = range(self.settings.trials)
        contests, keep = self._contests(0), self.settings.keep
        run_for_best(self.runs, pilot, contests, threads, keep=keep)
        self.runs.thin(pilot, contests, keep)
        numbers = range(count)
        in_threads(self._replicate, numbers, threads)
        return [row for number in numbers for row in self._rows(number)]

    def _made(self, number: int) -> dict[str, NoiseVariant]:
        """Variants of which this replication is made: those beside the chosen one have fewer."""
        rest = number >= self.settings.variant_replications
        return {
            name: variant for name, variant in self.variants.items()
            if not (rest and variant != NoiseVariant())
        }  # fmt: skip

    def _audited(self, number: int) -> bool:
        return number >= self.settings.replications - self.settings.audit

    def _contests(self, number: int) -> list[Contest]:
        return [
            Contest(key, variant.passes or self.settings.passes)
            for variant in self._made(number).values()
            for key in _keys(variant)
        ]

    def _replicate(self, number: int) -> None:
        trials = range(self.trials[number].start, self.trials[number].stop)
        run_for_best(self.runs, trials, self._contests(number), whole=self._audited(number))

    def _rows(self, number: int) -> Iterator[list[Any]]:
        runs, trials, whole = self.runs, self.trials[number], self._audited(number)
        for name, variant in self._made(number).items():
            keys = _keys(variant)
            tried = variant.passes or self.settings.passes
            places = [runs.best(key, tried, trials) for key in keys]
            passes = [runs.configuration(place)[0] for place in places]
            noises = [
                runs.noises[key[0], one, trials.start]
                for key, one in zip(keys, passes, strict=True)
            ]
            same_noise = places[0] == places[1] and noises[0] == noises[1]
            for row, key, place, noise in zip(ROWS, keys, places, noises, strict=True):
                yield [
                    self.dataset.name, name, row, number, runs.nmse[key][place][trials].mean(),
                    runs.test_error[key[0]][place][trials].mean(), *runs.configuration(place),
                    describe_centre(noise), int(same_noise), int(whole),
                    int(whole and not runs.kept[key][place]),
                ]  # fmt: skip


def _keys(variant: NoiseVariant) -> tuple[Key, Key]:
    """Mechanism and optimum of the Gaussian and of the flipped Huber row."""
    return (variant.gaussian, variant.optimum), (variant.flipped_huber, variant.optimum)


def variant_noise(task: Task, mechanism: str, settings: Table3, passes: int) -> Noise:
    """Return the noise of one update of sensitivity 1.

    Parameters
    ----------
    mechanism : str
        One of `account`; "gaussian-dp-cd", Gaussian noise by the bound of Mangold et al.; or
        "flipped-huber-exact", flipped Huber noise of the smallest variance under the exact
        privacy profile of all updates together.
    passes : int
        L; K L updates are released.
    """
    releases = task.problem.coordinates * passes
    if mechanism == "gaussian-dp-cd":
        return bound_of_mangold(settings.epsilon, task.delta, releases)
    if mechanism == "flipped-huber-exact":
        return _exact(settings.epsilon, task.delta, releases)
    return account(task, mechanism, settings, passes).unit


def bound_of_mangold(epsilon: float, delta: float, releases: int) -> Gaussian:
    """Return the Gaussian noise of a release of sensitivity 1 by the bound of Mangold et al.

    Parameters
    ----------
    epsilon : float
        In (0, 1].
    delta : float
        In (0, 1/3).
    releases : int
        The number of updates.

    References
    ----------
    Mangold, Bellet, Salmon & Tommasi (ICML 2022), Theorem 3.1.
    """
    noise = Gaussian(math.sqrt(_FACTOR * releases * math.log(1.0 / delta)) / epsilon)
    spent = epsilon_from_zcdp(0.0, releases / (2.0 * noise.sigma**2), delta)
    if spent > epsilon:
        message = f"bound of Mangold et al. (2022): {noise!r} spends {spent!r} > {epsilon!r}"
        raise RuntimeError(message)
    return noise


@lru_cache(maxsize=256)
def _exact(epsilon: float, delta: float, releases: int) -> Noise:
    return calibrate("flipped-huber", epsilon=epsilon, delta=delta, dimension=releases).noise


def table_3(
    settings: Table3,
    runs: Mapping[str, pd.DataFrame],
    *,
    claims: Sequence[Claim],
    statuses: Mapping[str, Mapping[str, Any]],
) -> pd.DataFrame:
    """Return what the replications say of each printed number and of each printed gain.

    One row per data set, reading (a variant or a `combination`) and mechanism, columns `COLUMNS`:
    of each metric the median over replications, the ends of an interval that holds 99 % of them and
    the standard deviation; the printed number and which share of replications is at most that; and
    for flipped Huber noise, with the same seeds, the ratio of the Gaussian's number to it, the mean
    of the difference with its 99 % interval (`gain`), the same difference of one replication with
    independent seeds (`apart`), the printed ratio, and the probability that the Gaussian's is
    larger (`better`), smaller (`worse`), and larger by the printed ratio with the same and with
    independent seeds. `graft_share` is the share of replications whose noise is not Gaussian,
    `same_noise` that in which both rows are one distribution; where nearly all are,
    `equal_by_construction` says so. `contradicted` names the metric, or 'both', whose printed
    number for the Gaussian a reading's interval leaves out ('no': neither).

    `_least` and `_greatest` hold the intervals of all readings that the paper leaves open. For
    flipped Huber noise these are the readings that the Gaussian row contradicts in no metric but
    where it contradicts the chosen one as well, and the number moves as far as the printed
    Gaussian's is from ours. Where both rows are one distribution the gain of a reading is 0.

    Parameters
    ----------
    settings : Table3
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
        for name in dict.fromkeys([*settings.variants, *table["reading"]]):
            part = table[table["reading"] == name]
            contradicted = _contradicted(part, dataset, printed)
            for mechanism in ROWS:
                row: dict[str, Any] = {
                    "dataset": dataset, "reading": name, "mechanism": mechanism,
                    "combination": int(name not in settings.variants),
                }  # fmt: skip
                if part.empty:
                    row |= {"status": "missing", "reason": statuses[dataset]["reason"]}
                else:
                    row |= {"status": "ok", "reason": "", **_numbers(part, mechanism)}
                    row["contradicted"] = contradicted
                    for metric in METRICS:
                        values = [printed.get((dataset, one, metric), np.nan) for one in ROWS]
                        row |= _against_printed(part, mechanism, metric, values)
                rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=COLUMNS)
    stated = [name for name, one in settings.variants.items() if one.flipped_huber != ROWS[1]]
    left_open = table[~table["reading"].isin(stated) & (table["status"] == "ok")]
    for one, both in left_open.groupby("dataset"):
        gaussian = both[both["mechanism"] == ROWS[0]].set_index("reading")
        for row_name, same in both.groupby("mechanism"):
            here = (table["dataset"] == one) & (table["mechanism"] == row_name)
            for name, end in _ranges(same.set_index("reading"), gaussian).items():
                table.loc[here, name] = end
    return table


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


def _contradicted(part: pd.DataFrame, dataset: str, printed: Mapping[Hashable, float]) -> str:
    """Metric whose printed number for the Gaussian lies outside of a reading's interval.

    'no' if neither does, 'both' if both do.
    """
    if part.empty:
        return "no"
    found = []
    for metric in METRICS:
        value = printed.get((dataset, ROWS[0], metric), np.nan)
        spread = _spread(metric, _of(part, ROWS[0], metric))
        if value < spread[f"{metric}_low"] or value > spread[f"{metric}_high"]:
            found.append(metric)
    return "both" if len(found) > 1 else "".join(found) or "no"


def _ranges(rows: pd.DataFrame, gaussian: pd.DataFrame) -> dict[str, float]:
    """Ends of what is judged over the readings that are left open, one row for each."""
    control = rows["mechanism"].iloc[0] != ROWS[0]
    # what is held against a reading must not be true of ours
    known = {"no": set(), "both": set(METRICS)} | {metric: {metric} for metric in METRICS}
    faults = rows["contradicted"].map(known)
    agree = [one <= faults[CHOSEN] for one in faults]
    used = rows[agree] if control else rows
    found = {}
    for metric in METRICS:
        shift = np.ones(len(used))
        if control:
            ratio = gaussian[f"{metric}_printed"] / gaussian[metric]
            shift = ratio.loc[used.index].fillna(1.0).to_numpy(dtype=float)
        ends = {"": (used[f"{metric}_low"] * np.minimum(shift, 1.0),
                     used[f"{metric}_high"] * np.maximum(shift, 1.0))}  # fmt: skip
        if control:
            for name in ("_apart", "_gain"):
                ends[name] = used[f"{metric}{name}_low"], used[f"{metric}{name}_high"]
        for name, (low, high) in ends.items():
            found[f"{metric}{name}_least"], found[f"{metric}{name}_greatest"] = (
                low.min(),
                high.max(),
            )
    return found


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
        "same_noise": float(mine["same_noise"].mean()),
        "equal_by_construction": "",
    }
    equal = int(mine["same_noise"].sum())
    if mechanism != ROWS[0] and equal >= (1.0 - _RARELY) * len(mine):
        row["equal_by_construction"] = (
            f"in {equal} of {len(mine)} replications the calibration as read gives both rows "
            "Gaussian noise of one variance (alpha = 0)"
        )
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


@np.errstate(invalid="ignore")  # inf - inf: the gain over a diverged run is not a number
def _mean(name: str, values: Array) -> dict[str, float]:
    """Return the mean over replications with its 99 % interval (Student's)."""
    mean, error = mean_and_error(values)
    reach = stdtrit(len(values) - 1, _ENDS[1]) * error
    return {
        name: float(mean),
        f"{name}_low": float(mean - reach),
        f"{name}_high": float(mean + reach),
    }


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
    row |= _mean(f"{metric}_gain", first - second)
    others = ~np.eye(len(first), dtype=bool)
    row |= _spread(f"{metric}_apart", (first[:, None] - second)[others], len(first))
    row[f"{metric}_better"] = float((first > second).mean())
    row[f"{metric}_worse"] = float((first < second).mean())
    ratio = printed[0] / printed[1]
    row[f"{metric}_printed_ratio"] = ratio
    if np.isfinite(ratio):
        row[f"{metric}_same_seeds"] = float((first / second >= ratio).mean())
        pairs = first[:, None] / second >= ratio
        row[f"{metric}_independent_seeds"] = float(pairs[others].mean())
    return row
