# On a cluster (docs/cluster.md): which jobs share a submission, what a submission asks for, and a
# look at the cluster before the first one.

from snakemake.jobs import GroupJob
from snakemake.logging import logger

from dpnoise_papers.cluster.costs import measured
from dpnoise_papers.cluster.slurm import (
    ClusterError,
    Request,
    check_requests,
    status_command,
)
from dpnoise_papers.cluster.submissions import COLLECTED, group_names, submissions

# Snakemake is told a number of submissions (--jobs) where there is a cluster, and only there.
ON_CLUSTER = workflow.resource_settings.nodes is not None
GROUPS = group_names(submissions(SETTINGS, PAPERS, measured())) if ON_CLUSTER else {}
COLLECTING = COLLECTED if ON_CLUSTER else None


def submission_of(rule):
    """Submission of the jobs of a rule: a name, or a function of the wildcards, or none."""
    names = GROUPS.get(rule, {"": None})
    return names[""] if "" in names else lambda wildcards: names[wildcards.part]


def growing(amount):
    """Amount of a resource that each further attempt asks for once more."""
    return lambda wildcards, attempt: amount * attempt


def requests(dag):
    """What the submissions of a run ask for."""
    jobs = [job for job in dag.needrun_jobs() if not job.is_local]
    for one in {dag.get_job_group(job) or job for job in jobs}:
        asked = one.resources
        yield Request(
            name=one.groupid if one.is_group() else one.rule.name,
            cores=one.threads,
            memory=asked.get("mem_mb", 0),
            minutes=asked.get("runtime", 0),
            gpus=asked.get("gpu", 0),
            partition=str(asked.get("slurm_partition", "")),
            account=str(asked.get("slurm_account", "")),
        )


# The SLURM plugin names the rule of a job that it fails to submit. Jobs that share a submission
# have none, so that the error would be lost and the run would wait for ever.
setattr(GroupJob, "rule", property(lambda group: next(iter(group.jobs)).rule))


def look_at_cluster():
    """Refuse what the cluster cannot run; ask squeue where sacct does not answer."""
    settings = workflow.executor_settings
    if hasattr(settings, "status_command"):  # of the SLURM plugin
        try:
            answers = status_command()
            check_requests(requests(workflow.dag))
        except ClusterError as error:
            raise WorkflowError(str(error))
        if settings.status_command != answers == "squeue":
            logger.info("SLURM: sacct does not answer, states of jobs come from squeue")
            settings.status_command = answers
