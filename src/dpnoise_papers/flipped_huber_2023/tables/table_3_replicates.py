"""Table III of flipped-huber-2023 again and again: how far do seeds alone move it?

The printed protocol takes the least of thousands of means over five trials. The standard error
of the five trials that were picked says little of how far that least mean moves when all is
drawn anew. So the whole protocol is repeated with independent splits and noise.

A reading says which noise stands for the Gaussian and for the flipped Huber row, which numbers
of passes are tried and what NMSE is measured from: the exact minimum, or where the descent
without noise or clipping (step 1 / M_i) is after some passes.

Most of the grid can never win. The first replications, the pilot, run all of it; the later ones
run the combinations whose NMSE, averaged over the better half of the pilot's trials, is at most
`keep` times the pilot's least mean. The last `audit` replications run all of it again, and say
whether something that was left out would have won.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise._validation import Problems
from dpnoise.learn.cd import coordinate_orders, descend
from dpnoise_papers.descent.trials import Split, law_of, make_split
from dpnoise_papers.flipped_huber_2023.tables.table_3 import grid
from dpnoise_papers.flipped_huber_2023.tables.table_3_noise import (
    MECHANISMS,
    describe_centre,
    release_noise,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise.noise import Noise
    from dpnoise_papers.data.dataset import Dataset

    Array = np.ndarray

EXACT = "exact"
ROWS = ("gaussian", "flipped-huber")
COLUMNS = [
    "dataset", "reading", "mechanism", "replication", "nmse", "test_error", "passes", "step",
    "clip", "shape", "audited", "missed",
]  # fmt: skip
_UNCLIPPED = 1e12


class Reading(NamedTuple):
    """Which noise stands for the two rows, which passes are tried, and what NMSE is from."""

    gaussian: str
    flipped_huber: str
    passes: tuple[int, ...]
    optimum: str | int

    @classmethod
    def of(cls, spec: Mapping[str, Any], passes: Sequence[int]) -> Reading:
        """Return the reading of a config entry; what it leaves out is as printed."""
        return cls(
            spec.get("gaussian", ROWS[0]),
            spec.get("flipped_huber", ROWS[1]),
            tuple(spec.get("passes", passes)),
            spec.get("optimum", EXACT),
        )


def _checked(settings: Mapping[str, Any], again: Mapping[str, Any]) -> dict[str, Reading]:
    problems = Problems("replications of Table III")
    counts = [again[name] for name in ("replications", "pilot", "audit")]
    good = counts[1] >= 1 and counts[2] >= 0 and sum(counts[1:]) <= counts[0]
    expected = "pilot >= 1 and pilot + audit <= replications"
    problems.require(good, "replications, pilot, audit", expected, counts)
    problems.number("keep", again["keep"], low=1.0)
    readings = {
        name: Reading.of(spec, settings["passes"]) for name, spec in again["readings"].items()
    }
    for name, reading in readings.items():
        for mechanism in reading[:2]:
            expected = f"mechanisms among {', '.join(MECHANISMS)}"
            problems.require(mechanism in MECHANISMS, f"readings: {name}", expected, mechanism)
    problems.raise_if_any()
    return readings


class _Runs:
    """NMSE and test error of every combination and trial; inf where it was not run."""

    def __init__(
        self,
        dataset: Dataset,
        task: Mapping[str, Any],
        settings: Mapping[str, Any],
        readings: Mapping[str, Reading],
        *,
        trials: int,
        seed: int,
    ) -> None:
        self.dataset, self.task, self.settings, self.seed = dataset, task, settings, seed
        self.steps, self.clips = grid(settings["steps"]), grid(settings["clips"])
        self.passes = sorted({p for reading in readings.values() for p in reading.passes})
        # what is asked for: (mechanism, optimum) -> passes
        self.asked: dict[tuple[str, str | int], set[int]] = {}
        for reading in readings.values():
            for mechanism in reading[:2]:
                key = mechanism, reading.optimum
                self.asked.setdefault(key, set()).update(reading.passes)
        shape = (len(self.passes), len(self.steps), len(self.clips), trials)
        self.kept = {key: np.ones(shape[:3], dtype=bool) for key in self.asked}
        self.nmse = {key: np.full(shape, np.inf) for key in self.asked}
        self.test_error = {mechanism: np.full(shape, np.inf) for mechanism, _ in self.asked}
        self.first = settings["trials"] + sum(settings["honest"].values())  # unseen by the table
        self.laws: dict[tuple[str, int], Noise] = {}

    def run(self, trial: int, *, whole: bool) -> None:
        """Run one trial: of all combinations, or of those that are kept."""
        number = self.first + trial
        setting = self.settings["setting"]
        own = number if setting["split"] == "per-trial" else 0
        split = make_split(self.dataset, self.task, setting, self.seed, own)
        optima = {optimum: _optimum(split, optimum) for _, optimum in self.asked}
        for place, passes in enumerate(self.passes):
            done: dict[Noise, list[tuple[str, Array]]] = {}
            for mechanism in self.test_error:
                keys = [k for k, p in self.asked.items() if k[0] == mechanism and passes in p]
                if keys:
                    law = law_of(release_noise(split.problem, mechanism, self.settings, passes))
                    self.laws[mechanism, passes] = law
                    run = np.any([whole | self.kept[key][place] for key in keys], axis=0)
                    done.setdefault(law, []).append((mechanism, run))
            for law, wanted in done.items():
                run = np.any([mask for _, mask in wanted], axis=0)
                weights = self._descend(split, law, passes, number, run)
                error = split.test_error(weights)
                for mechanism, _ in wanted:
                    self.test_error[mechanism][place][run, trial] = error
                    for key in (k for k in self.asked if k[0] == mechanism):
                        nmse = split.nmse(weights, optima[key[1]])
                        self.nmse[key][place][run, trial] = nmse

    def _descend(self, split: Split, law: Noise, passes: int, number: int, run: Array) -> Array:
        """Return the final parameters of the combinations to run, shape (count, K)."""
        shape = (1, passes, split.problem.coordinates)
        stream = generator(self.seed, "table-3", self.dataset.name, "noise", passes, number)
        noise = law.ppf(np.maximum(stream.random(shape[1:]), 2.0**-54))[None]
        setting = self.settings["setting"]
        orders = coordinate_orders(setting["order"], shape[1:], stream)[None]
        parts = [np.empty((0, shape[2]))]
        for step, clips in zip(self.steps, run, strict=True):
            if clips.any():
                weights = descend(
                    split.problem,
                    steps=[step],
                    clips=self.clips[clips],
                    noise=noise,
                    orders=orders,
                    iterate=setting["iterate"],
                )
                parts.append(weights[0, :, 0])
        return np.concatenate(parts)

    def thin(self, trials: int, keep: float) -> None:
        """Keep the combinations that may win, by the first `trials` trials."""
        for key, nmse in self.nmse.items():
            pilot = np.sort(nmse[..., :trials], axis=-1)
            better = pilot[..., : (trials + 1) // 2].mean(axis=-1)
            self.kept[key] = better <= keep * pilot.mean(axis=-1).min()

    def best(self, key: tuple[str, str | int], passes: Sequence[int], trials: slice) -> Array:
        """Return mean NMSE by combination, inf outside of the passes asked for."""
        mean = self.nmse[key][..., trials].mean(axis=-1)
        mean[[p not in passes for p in self.passes]] = np.inf
        return mean


def _optimum(split: Split, optimum: str | int) -> Array:
    """Return what NMSE is measured from."""
    if optimum == EXACT:
        return split.optimum
    still = np.zeros((1, int(optimum), split.problem.coordinates))
    return descend(split.problem, steps=[1.0], clips=[_UNCLIPPED], noise=still)[0, 0, 0]


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def table_3_replicates(
    dataset: Dataset,
    task: Mapping[str, Any],
    settings: Mapping[str, Any],
    again: Mapping[str, Any],
    *,
    seed: int,
    threads: int = 1,
) -> pd.DataFrame:
    """Repeat the printed protocol of Table III on one data set.

    Parameters
    ----------
    dataset : Dataset
    task : mapping
        loss, penalty, strength.
    settings : mapping
        Section `table_3` of the config: grids, `trials` of each combination, setting.
    again : mapping
        Section `table_3_replicates`: `replications`, of which `pilot` and `audit` run the whole
        grid, `keep` and `readings`, from a name to what is read otherwise (`gaussian` and
        `flipped_huber`, mechanisms of `release_noise`; `passes`; `optimum`, "exact" or a number
        of passes).
    seed : int
    threads : int
        Does not change the result.

    Returns
    -------
    DataFrame
        One row per (reading, mechanism, replication) with the numbers of the best combination,
        the noise's shape, whether the replication was `audited` and, if so, whether the thinned
        grid `missed` the best. The two mechanisms of a replication share splits and uniforms;
        replications share nothing.

    Raises
    ------
    ValueError
        If a setting is not as above; names all that are not.
    """
    readings = _checked(settings, again)
    size, count = settings["trials"], again["replications"]
    runs = _Runs(dataset, task, settings, readings, trials=size * count, seed=seed)
    pilot, audit = size * again["pilot"], size * (count - again["audit"])

    def all_of(trials: range, *, whole: bool) -> None:
        # every trial writes its own place, so the result does not depend on `threads`
        list(pool.map(lambda trial: runs.run(trial, whole=whole), trials))

    with ThreadPoolExecutor(threads) as pool:
        all_of(range(pilot), whole=True)
        runs.thin(pilot, again["keep"])
        all_of(range(pilot, audit), whole=False)
        all_of(range(audit, size * count), whole=True)
    rows = []
    for replication in range(count):
        trials = slice(size * replication, size * (replication + 1))
        audited = replication >= count - again["audit"]
        for name, reading in readings.items():
            for row, mechanism in zip(ROWS, reading[:2], strict=True):
                key = mechanism, reading.optimum
                mean = runs.best(key, reading.passes, trials)
                place = np.unravel_index(np.argmin(mean), mean.shape)
                passes = runs.passes[place[0]]
                rows.append([
                    dataset.name, name, row, replication, mean[place],
                    runs.test_error[mechanism][(*place, trials)].mean(), passes,
                    runs.steps[place[1]], runs.clips[place[2]],
                    describe_centre(runs.laws[mechanism, passes]), int(audited),
                    int(audited and not runs.kept[key][place]),
                ])  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)
