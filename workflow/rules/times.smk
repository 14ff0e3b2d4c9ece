# How long jobs take (benchmarks/seconds.csv): long ones begin first, and a run tells the time left.

from pathlib import Path

from dpnoise_papers.cluster.costs import measured, priority
from dpnoise_papers.cluster.submissions import jobs
from dpnoise_papers.run.start import TimeLeft

KNOWN_SECONDS = measured()


def own_threads(declared):
    """Threads of a job: half of the cores at most, so that jobs run side by side."""
    return declared if ON_CLUSTER else max(1, min(declared, CORES // 2))


# Beside Snakemake's count of jobs, a run tells the time that its rest takes; it hears of the jobs by
# the events of Snakemake's logger.
TIME_LEFT = TimeLeft(
    {
        (job.step.rule, job.part): job.core_seconds
        for job in jobs(SETTINGS, PAPERS, KNOWN_SECONDS)
        if job.step.kind == "table"
    },
    CORES,
    logger.info,
)
if IS_MAIN and not ON_CLUSTER:
    logger.addHandler(TIME_LEFT)
