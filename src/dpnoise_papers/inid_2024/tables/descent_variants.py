"""Which noise by coordinate suits coordinate descent, and which readings print a gain.

inid-2024 minimises sum_i sigma_i^2. An error t_i in parameter i raises a smooth objective by
about M_i t_i^2 / 2, so coordinate descent pays sum_i M_i sigma_i^2 instead. Under the budget
sum_i (lambda_i / sigma_i)^2 <= mu^2 that is least at sigma_i^2 proportional to
lambda_i / sqrt(M_i) (Cauchy-Schwarz). With C_i proportional to sqrt(M_i) and lambda_i to
C_i / M_i this is sigma_i proportional to lambda_i: SPR, the usual DP-CD.

For C_i proportional to M_i^c the loss of SPR is K sum M^(2c-1), that of the paper's optimal
noise (sum M^c) (sum M^(c-1)). By Chebyshev's inequality for sums SPR loses less exactly if
M^c and M^(c-1) are ordered oppositely, that is for 0 < c < 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.noise import Gaussian
from dpnoise.privacy.profile import epsilon_at
from dpnoise_papers.descent.search import (
    Found,
    Task,
    draw,
    gain_and_error,
    in_threads,
    make_task,
    mean_and_error,
    noise_ratios,
    run,
    same,
    search,
)

if TYPE_CHECKING:
    from dpnoise_papers.data.dataset import Dataset

    Array = np.ndarray

LOSS_COLUMNS = ["dataset", "part", "scheme", "exponent", "ratio"]
_MEASURED = ["error", "error_se", "gain", "gain_se", "step", "clip", "edge"]
WEIGHTS_COLUMNS = [*LOSS_COLUMNS, *_MEASURED]
READINGS_COLUMNS = [
    "dataset", "reading", *_MEASURED, "flattered", "luckiest", "loss", "epsilon", "private",
]  # fmt: skip
_ACCOUNT = 1e-9  # relative accuracy of the epsilon that a reading spends


class _Reading(NamedTuple):
    """Noise as one may read or misread the paper: unit noise times ratios times step^power."""

    ratios: Array
    power: float = 0.0


def readings(task: Task, epsilon: float, passes: int) -> dict[str, _Reading]:
    """Return the readings of 'noise by coordinate', honest and not, for L passes.

    Three keep (epsilon, delta) whatever the data; the others have a mistake that would make
    the noise smaller or put it elsewhere.
    """
    problem = task.problem
    smoothness, coordinates = problem.smoothness, problem.coordinates
    spr = noise_ratios(task, "spr", epsilon=epsilon, passes=passes)
    optimal = noise_ratios(task, "optimal", epsilon=epsilon, passes=passes)
    # least sum of squares on the gradient, whose sensitivity 2 C_i / N lacks the step tau / M_i:
    # after the step that is the optimum for weights M_i^2
    gradient = noise_ratios(task, "optimal", epsilon=epsilon, passes=passes, exponent=2.0)
    concentrated = coordinate_noise(
        "gaussian", epsilon=epsilon, delta=task.delta, coordinates=coordinates, passes=passes
    )
    return {
        "spr": _Reading(spr),
        "optimal": _Reading(optimal),
        "optimal-on-gradient": _Reading(gradient),
        "spr-concentrated": _Reading(np.full(coordinates, concentrated.unit.std())),
        "spr-half": _Reading(spr / 2.0),
        "optimal-half": _Reading(optimal / 2.0),
        "spr-each-alone": _Reading(spr / np.sqrt(coordinates)),
        "optimal-one-pass": _Reading(optimal / np.sqrt(passes)),
        # sigma_i for tau_i C_i, but on the gradient: the step scales it again
        "optimal-step-twice": _Reading(optimal / smoothness, 1.0),
        # sigma_i for C_i alone, but after the step
        "optimal-step-never": _Reading(gradient * smoothness, -1.0),
    }


def spent(reading: _Reading, step: float, passes: int, delta: float) -> float:
    """Return the least epsilon at which a reading's noise is (epsilon, delta)-DP."""
    releases = passes * np.sum((reading.ratios * step**reading.power) ** -2.0)
    return float(epsilon_at(Gaussian(float(releases**-0.5)), 1.0, delta))


def losses(task: Task, settings: dict[str, Any]) -> pd.DataFrame:
    """Return what each scheme loses in theory, as a ratio to the least possible.

    Parameters
    ----------
    task : Task
    settings : dict
        `exponents` {low, high, count} of the weights M^a, `clip_exponents` the same of the
        clipping levels M^c.

    Returns
    -------
    DataFrame
        Columns dataset, part, scheme, exponent and ratio. `part` is "error" (sum M^a sigma^2 of
        a scheme over its least value for that a) or "clips" (sum M sigma^2 of a scheme over
        that of SPR, for clipping levels proportional to M^c).
    """
    M = task.problem.smoothness
    size = len(M)

    def axis(name: str) -> Array:
        spec = settings[name]
        return np.linspace(spec["low"], spec["high"], spec["count"])

    rows = []
    lambdas = M**-0.5
    for a in axis("exponents"):
        loss = {
            "iid": np.sum(M**a) * np.sum(lambdas**2),
            "spr": size * np.sum(M**a * lambdas**2),
            "optimal": np.sum(M**a * lambdas) * np.sum(lambdas),
        }
        least = np.sum(lambdas * M ** (a / 2.0)) ** 2
        rows += [[task.name, "error", scheme, a, value / least] for scheme, value in loss.items()]
    for c in axis("clip_exponents"):
        lambdas = M ** (c - 1.0)
        loss = {
            "iid": np.sum(M) * np.sum(lambdas**2),
            "spr": size * np.sum(M * lambdas**2),
            "optimal": np.sum(M * lambdas) * np.sum(lambdas),
            "weighted": np.sum(lambdas * np.sqrt(M)) ** 2,
        }
        rows += [
            [task.name, "clips", scheme, c, value / loss["spr"]] for scheme, value in loss.items()
        ]
    return pd.DataFrame(rows, columns=LOSS_COLUMNS)


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def descent_readings(
    dataset: Dataset,
    task: dict[str, Any],
    settings: dict[str, Any],
    more: dict[str, Any],
    *,
    seed: int,
    threads: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure the error after the longest run on raw features, by weights and by reading.

    Parameters
    ----------
    dataset : Dataset
    task, settings : dict
        As for `dpnoise_papers.inid_2024.tables.improved_descent.improved_descent`.
    more : dict
        `exponents`, `clip_exponents`: see `losses`. `measured`: the exponents a at which the
        descent is run with noise that is optimal for weights M^a.
    seed, threads : int
        The number of threads does not change the result.

    Returns
    -------
    weights : DataFrame
        Columns `WEIGHTS_COLUMNS`: the rows of `losses`, and those with `part` "measured", where
        `exponent` is a, `ratio` the loss sum M sigma^2 over SPR's, and `error` the mean over
        fresh trials with `gain`, the paired difference of SPR's error less this one's.
    readings : DataFrame
        Columns `READINGS_COLUMNS`, one row per reading: `error` and `gain` as above,
        `flattered` the mean over the trials of the search themselves, `luckiest` the mean
        over them of each one's best configuration, `loss` is sum M sigma^2 over SPR's at the
        chosen step, `epsilon` what the noise really spends and `private` 1 if that is within
        the budget.
    """
    one = make_task(dataset, task, "raw", settings["delta"])
    passes, epsilon = max(settings["passes"]), settings["epsilon"]
    named = readings(one, epsilon, passes)
    weighted = {
        a: _Reading(noise_ratios(one, "optimal", epsilon=epsilon, passes=passes, exponent=a))
        for a in more["measured"]
    }
    distinct: list[_Reading] = []
    for reading in [*named.values(), *weighted.values()]:
        if not any(_same(reading, other) for other in distinct):
            distinct.append(reading)

    def work(reading: _Reading) -> tuple[Found, Array]:
        ratios, power = reading
        found = search(one, ratios, settings, passes=passes, order="cyclic", seed=seed, power=power)
        fresh = range(settings["trials"], settings["trials"] + settings["evaluate"])
        draws = draw(one, passes, "cyclic", fresh, seed)
        step, clip = np.array([found.step]), np.array([found.clip])
        return found, run(one, ratios, draws, step, clip, power=power)[0, 0]

    results = in_threads(work, distinct, threads)

    def result(reading: _Reading) -> tuple[Found, Array]:
        return next(r for other, r in zip(distinct, results, strict=True) if _same(reading, other))

    def measured(reading: _Reading) -> list[float]:
        found, errors = result(reading)
        gain = gain_and_error(result(named["spr"])[1], errors)
        return [*mean_and_error(errors), *gain, found.step, found.clip, int(found.edge)]

    def loss(reading: _Reading) -> float:
        noise = reading.ratios * result(reading)[0].step ** reading.power
        return float(np.sum(noise**2) / np.sum(named["spr"].ratios ** 2))

    weights = [
        [one.name, "measured", "weighted", a, loss(reading), *measured(reading)]
        for a, reading in weighted.items()
    ]
    table = []
    for name, reading in named.items():
        found, _ = result(reading)
        used = spent(reading, found.step, passes, one.delta)
        table.append(
            [
                one.name, name, *measured(reading), mean_and_error(found.errors)[0],
                found.luckiest, loss(reading), used, int(used <= epsilon * (1.0 + _ACCOUNT)),
            ]
        )  # fmt: skip
    theory = losses(one, more).reindex(columns=WEIGHTS_COLUMNS)
    both = [*theory.astype(object).to_numpy().tolist(), *weights]
    return (
        pd.DataFrame(both, columns=WEIGHTS_COLUMNS),
        pd.DataFrame(table, columns=READINGS_COLUMNS),
    )


def _same(reading: _Reading, other: _Reading) -> bool:
    return reading.power == other.power and same(reading.ratios, other.ratios)
