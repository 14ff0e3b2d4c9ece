# How long jobs take (benchmarks/seconds.csv): long ones begin first, and a run tells the time left.

from pathlib import Path

from dpnoise_papers.cluster.costs import measured, priority
from dpnoise_papers.cluster.submissions import jobs
from dpnoise_papers.run.time_left import SHORT, TimeLeft

KNOWN_SECONDS = measured()


def own_threads(declared):
    """Threads of a job: half of the cores at most, so that jobs run side by side."""
    cores = 1 if ON_CLUSTER else workflow.resource_settings.cores or 1
    return declared if ON_CLUSTER else max(1, min(declared, cores // 2))


def tell_time_left():
    """Beside Snakemake's count of jobs, the time that the rest of a run takes."""
    expected = {
        (job.step.rule, job.part): job.core_seconds
        for job in jobs(SETTINGS, PAPERS, KNOWN_SECONDS)
        if job.step.kind == "table"
    }
    seconds = {
        job.jobid: expected.get(
            (job.rule.name, job.wildcards_dict.get("part", "")), SHORT
        )
        for job in workflow.dag.needrun_jobs()
    }
    listener = TimeLeft(seconds, workflow.resource_settings.cores or 1, logger.info)
    logger.addHandler(listener)
    listener.begin()
