# The code of this checkout, in this process and in its jobs, and whether all that it needs is there.

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

SOURCES = str(Path(workflow.basedir).resolve() / "src")
if SOURCES not in sys.path[:1]:
    sys.path.insert(0, SOURCES)

from dpnoise_papers.run.start import hand_on, refusal_of_environment

hand_on(SOURCES)
if workflow.is_main_process:
    lacking = refusal_of_environment(Path(SOURCES).parent / "pyproject.toml")
    if lacking:
        raise WorkflowError(lacking)
