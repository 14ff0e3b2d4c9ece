# On a cluster (docs/cluster.md): which jobs share a submission, what a submission asks for, and a
# look at the cluster before the first one.

import shlex
import signal

from dpnoise_papers.cluster.costs import measured
from dpnoise_papers.cluster.slurm import (
    ClusterError,
    Groups,
    JobRequest,
    begin,
    check_logs,
    check_requests,
    status_command,
)
from dpnoise_papers.cluster.submissions import COLLECTED, group_names, submissions

GROUPS = group_names(submissions(SETTINGS, PAPERS, measured())) if ON_CLUSTER else {}
COLLECTING = COLLECTED if ON_CLUSTER else None


def submission_of(rule):
    """Submission of the jobs of a rule: a name, or a function of the wildcards, or none."""
    names = GROUPS.get(rule, {"": None})
    return names[""] if "" in names else lambda wildcards: names[wildcards.part]


def growing(amount):
    """Amount of a resource that each further attempt asks for once more."""
    return lambda wildcards, attempt: amount * attempt


def sbatch_options(resources):
    """Options of sbatch that resources and settings of the plugin stand for, as it writes them."""
    settings = workflow.executor_settings
    named = {name: resources.get(name) for name in ("constraint", "qos", "gres")}
    if model := resources.get("gpu_model"):
        named["gpus"] = f"{model}:{resources.get('gpu', 1)}"
    named |= {k: v for k in ("qos", "reservation") if (v := getattr(settings, k))}
    given = tuple(f"--{name}={value}" for name, value in named.items() if value)
    return given + tuple(shlex.split(str(resources.get("slurm_extra", ""))))


def requests(dag):
    """What the submissions of a run ask for."""
    jobs = [job for job in dag.needrun_jobs() if not job.is_local]
    for one in {dag.get_job_group(job) or job for job in jobs}:
        asked = one.resources
        yield JobRequest(
            name=one.groupid if one.is_group() else one.rule.name,
            cores=one.threads,
            memory=asked.get("mem_mb", 0),
            minutes=asked.get("runtime", 0),
            gpus=asked.get("gpu", 0),
            partition=str(asked.get("slurm_partition", "")),
            account=str(asked.get("slurm_account", "")),
            options=sbatch_options(asked),
        )


def look_at_cluster():
    """Refuse what the cluster cannot run; ask SLURM by commands that outlive its silence."""
    settings = workflow.executor_settings
    if hasattr(settings, "status_command"):  # of the SLURM plugin
        # Nothing is submitted yet, and each look may take half a minute.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            answers = status_command()
            check_logs(getattr(settings, "logdir", None) or ".snakemake/slurm_logs")
            check_requests(requests(workflow.dag))
        except ClusterError as error:
            raise WorkflowError(str(error))
        except KeyboardInterrupt:
            raise WorkflowError("ended on request, before anything was submitted")
        if settings.status_command != answers == "squeue":
            logger.info("SLURM: sacct does not answer, states of jobs come from squeue")
        groups = Groups()
        logger.addHandler(groups)
        begin(".snakemake", answers, logger.warning, groups)
