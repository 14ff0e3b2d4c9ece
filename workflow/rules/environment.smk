# The code of this checkout, in this process and in its jobs, and whether all that it needs is there;
# and what Snakemake's `workflow` object tells of the run. It is read here, and in cluster.smk at the
# start of a run on a cluster; nothing of Snakemake is changed anywhere (tests/test_workflow.py).

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

SOURCES = str(Path(workflow.basedir).resolve() / "src")
if SOURCES not in sys.path[:1]:
    sys.path.insert(0, SOURCES)

from dpnoise_papers.run.start import hand_on, refusal_of_environment

hand_on(SOURCES)
IS_MAIN = workflow.is_main_process  # else a job of a run
GIVEN = workflow.config_settings  # files of --configfile, settings of --config
# Snakemake is told a number of submissions (--jobs) where there is a cluster, and only there.
ON_CLUSTER = workflow.resource_settings.nodes is not None
CORES = workflow.resource_settings.cores or 1
if IS_MAIN:
    lacking = refusal_of_environment(Path(SOURCES).parent / "pyproject.toml")
    if lacking:
        raise WorkflowError(lacking)
