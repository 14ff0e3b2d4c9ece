"""Submissions to a cluster: which jobs of the pipeline share one, and how long a run takes.

A job of this pipeline takes seconds, and a submission takes as long to start; so jobs share
submissions, which Snakemake calls groups:

- a job joins the unit whose tables it waits for longest (a figure goes with its table); where
  several are last together, it begins a unit of its own, one wave later,
- the units of a wave are spread over so many submissions that each is worth its start.

No submission waits for itself: what a unit reads is made in an earlier wave. The plan depends on
the settings and on what `dpnoise_papers.cluster.costs` knows alone, because every process of a
run makes it anew.

The wall time of a run is found on paper, submissions placed on nodes as SLURM would. A submission
starts when what it reads is made and a node has cores for it, those with most work first; inside,
its jobs start as soon as they can. What is left out: waiting behind other users, the file system,
and processors of another speed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from types import SimpleNamespace
from typing import TYPE_CHECKING

from dpnoise_papers.cluster.costs import core_seconds, guess, points
from dpnoise_papers.item import PART, Table
from dpnoise_papers.steps import Step, steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.item import Paper
    from dpnoise_papers.settings import Section

    Known = Mapping[str, tuple[float, float]]

MOST_SUBMISSIONS = 24  # named in profiles/slurm/profile.yaml, one line each
COLLECTED = "collected"  # the submission that reads what all others made
_WORTH = 60.0  # core-seconds of a submission, about four times what its start takes
_WAVE = 12
_FOLDER = 255 - len("group_batch-00__...")  # what a file system leaves to the names of rules
WIDTH = 4  # cores of a submission, `cores` in profiles/slurm/profile.yaml
START = 20.0  # seconds from sbatch to the first job and from the last job to its being noticed
_COLLECTING = 10.0  # core-seconds of the last submission, the verdicts


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job: its step, its part (or ''), what it reads and makes, and what it costs.

    It can use as many cores as `threads`; `core_seconds` are estimated from the `points` of its
    settings.
    """

    step: Step
    part: str
    reads: frozenset[str]
    makes: frozenset[str]
    threads: int
    points: float
    core_seconds: float

    @property
    def name(self) -> str:
        """Name of the job, that of its log and benchmark, such as 'inid-2024/figure-1a-table'."""
        return self.step.stem.replace(PART, self.part)

    @property
    def alone(self) -> bool:
        """Whether the job must not share its submission: it asks for a GPU."""
        return bool(self.step.resources)


@dataclass(kw_only=True)
class Unit:
    """Jobs that share a submission because each reads only what others of them make."""

    jobs: list[Job] = field(default_factory=list)
    wave: int = 0

    @property
    def alone(self) -> bool:
        """Whether one of its jobs must not share its submission."""
        return any(job.alone for job in self.jobs)

    @property
    def core_seconds(self) -> float:
        """Core-seconds of all jobs."""
        return sum(job.core_seconds for job in self.jobs)

    @property
    def seconds(self) -> float:
        """Seconds of the unit on many cores, at least those of its longest job."""
        return max(job.core_seconds / job.threads for job in self.jobs)


@dataclass(frozen=True, kw_only=True)
class Submission:
    """Jobs that are submitted together."""

    name: str
    wave: int
    jobs: tuple[Job, ...]

    @property
    def core_seconds(self) -> float:
        """Core-seconds of all jobs."""
        return sum(job.core_seconds for job in self.jobs)


def submissions(config: Section, papers: tuple[Paper, ...], known: Known) -> list[Submission]:
    """Submissions of a full run, wave by wave, the longest first.

    `known` is what `dpnoise_papers.cluster.costs.measured` gives.
    """
    waves = defaultdict(list)
    for unit in _units(jobs(config, papers, known)):
        waves[unit.wave].append(unit)
    planned: list[Submission] = []
    for wave in sorted(waves):
        left = MOST_SUBMISSIONS - len(planned) - (len(waves) - 1 - wave)
        for members in _packed(waves[wave], min(_WAVE, left)):
            name = f"batch-{len(planned) + 1:02d}"
            planned.append(Submission(name=name, wave=wave, jobs=tuple(members)))
    return planned


def jobs(config: Section, papers: tuple[Paper, ...], known: Known) -> list[Job]:
    """Jobs of a full run, each after those whose tables it reads.

    Optional items are no part of it; each of their jobs is a submission of its own.
    """
    papers = tuple(
        replace(paper, items=tuple(item for item in paper.items if not item.extra))
        for paper in papers
    )
    found = [
        _job(step, part, known)
        for kind in ("table", "figure", "page")
        for step in steps(config, papers, kind)
        for part in step.parts or [""]
    ]
    maker = {path: job.name for job in found for path in job.makes}
    before = {
        job.name: [maker[path] for path in sorted(job.reads) if path in maker] for job in found
    }
    by_name = {job.name: job for job in found}
    try:
        return [by_name[name] for name in TopologicalSorter(before).static_order()]
    except CycleError as error:
        raise ValueError(f"items that read each other: {', '.join(error.args[1])}") from None


def group_names(planned: Sequence[Submission]) -> dict[str, dict[str, str]]:
    """Submission of each rule's jobs by their part."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for submission in planned:
        for job in submission.jobs:
            names[job.step.rule][job.part] = submission.name
    return dict(names)


def _job(step: Step, part: str, known: Known) -> Job:
    settings = step.params.get("settings", {})
    if callable(settings):  # of one part
        settings = settings(SimpleNamespace(part=part))
    many = points(settings)
    name = step.stem.replace(PART, part)
    threads = step.declared.threads if isinstance(step.declared, Table) else 1
    return Job(
        step=step,
        part=part,
        reads=_of_part(step.inputs.get("tables", []), part),
        makes=_of_part(step.outputs, part),
        threads=threads,
        points=many,
        core_seconds=core_seconds(name, many, known, guessed=guess(step)),
    )


def _of_part(paths: Iterable[str], part: str) -> frozenset[str]:
    return frozenset(path.replace(PART, part) for path in paths)


def _units(ordered: Sequence[Job]) -> list[Unit]:
    """Units of jobs that come each after those whose tables it reads."""
    units: list[Unit] = []
    maker: dict[str, Unit] = {}
    for job in ordered:
        before = {id(maker[path]): maker[path] for path in job.reads if path in maker}.values()
        wave = max((unit.wave for unit in before), default=-1)
        last = [unit for unit in before if unit.wave == wave]
        if len(last) == 1 and not job.alone and not last[0].alone:
            own = last[0]
        else:
            own = Unit(wave=wave + 1)
            units.append(own)
        own.jobs.append(job)
        maker |= dict.fromkeys(job.makes, own)
    return units


def _packed(units: Sequence[Unit], most: int) -> list[list[Job]]:
    """Jobs of one wave by submission: the longest unit first, each to the shortest submission."""
    alone = [unit.jobs for unit in units if unit.alone]
    shared = [unit for unit in units if not unit.alone]
    if not shared:
        return alone
    worth = max([_WORTH, *(unit.seconds for unit in shared)])
    total = sum(unit.core_seconds for unit in shared)
    count = max(1, min(most - len(alone), len(shared), round(total / worth)))
    bins: list[list[Job]] = [[] for _ in range(count)]
    for unit in sorted(shared, key=lambda one: (-one.core_seconds, one.jobs[0].name)):
        fitting = [members for members in bins if _fit_a_folder(members + unit.jobs)]
        if not fitting:
            bins.append([])
            fitting = bins[-1:]
        min(fitting, key=lambda one: sum(job.core_seconds for job in one)).extend(unit.jobs)
    return alone + bins


def _fit_a_folder(members: Iterable[Job]) -> bool:
    """Whether a folder can be called by any five rules, as the plugin calls that of its logs."""
    longest = sorted(len(rule) for rule in {job.step.rule for job in members})[-5:]
    return sum(longest) + len(longest) - 1 <= _FOLDER


def duration(jobs: Sequence[Job], cores: int) -> float:
    """Seconds of the jobs of one submission on its cores."""
    free = [0.0] * cores
    made: dict[str, float] = {}
    for job in sorted(jobs, key=lambda one: (_depth(one), -one.core_seconds)):
        taken = sorted(free)[: min(job.threads, cores)]
        begin = max([*taken, *(made.get(path, 0.0) for path in job.reads)])
        end = begin + job.core_seconds / len(taken)
        free = sorted(free)[len(taken) :] + [end] * len(taken)
        made |= dict.fromkeys(job.makes, end)
    return max(free)


def wall_time(planned: Sequence[Submission], nodes: int, cores: int, width: int = WIDTH) -> float:
    """Seconds of a run on `nodes` of `cores`, in submissions of at most `width` cores."""
    own = min(cores, width)
    free = [0.0] * (nodes * (cores // own))  # when each place for a submission is free again
    end: dict[str, float] = {}
    for wave in sorted({one.wave for one in planned}):
        members = [one for one in planned if one.wave == wave]
        for one in sorted(members, key=lambda sub: -sub.core_seconds):
            reads = {path for job in one.jobs for path in job.reads}
            ready = max([0.0, *(end[path] for path in reads & end.keys())])
            place = min(range(len(free)), key=free.__getitem__)
            free[place] = max(free[place], ready) + START + duration(one.jobs, own)
            end |= dict.fromkeys((path for job in one.jobs for path in job.makes), free[place])
    return max(free) + START + _COLLECTING


def _depth(job: Job) -> int:
    return ("table", "figure", "page").index(job.step.kind)
