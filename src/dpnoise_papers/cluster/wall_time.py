"""Wall time of a run on a cluster, on paper: submissions placed on nodes as SLURM would.

A submission starts when what it reads is made and a node has cores for it, those with most work
first; inside, its jobs start as soon as they can. What is left out: waiting behind other users,
the file system, and processors of another speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.cluster.submissions import Job, Submission

WIDTH = 4  # cores of a submission, `cores` in profiles/slurm/profile.yaml
START = 20.0  # seconds from sbatch to the first job and from the last job to its being noticed
_COLLECTING = 10.0  # core-seconds of the last submission, the verdicts


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
