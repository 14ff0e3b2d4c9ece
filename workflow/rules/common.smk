# Settings, read strictly and checked once; the items of the papers; what every rule file uses.

import re

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from dpnoise_papers.code_inputs import code_digest, remember_digests
from dpnoise_papers.optional import optional_tables, standing, targets
from dpnoise_papers.papers import papers
from dpnoise_papers.data.copies import check_mirror
from dpnoise_papers.run.settings import load_run, places
from dpnoise_papers.run.surroundings import end_on_sigterm, lock_notice, refusal
from dpnoise_papers.run.strays import stray_files, warning
from dpnoise_papers.steps import PUBLISHED, named_results, steps, target, verdicts

if workflow.is_main_process and refusal():
    raise WorkflowError(refusal())
if workflow.is_main_process and lock_notice():
    logger.warning(lock_notice())

SCRIPTS = "workflow/scripts"
given = workflow.config_settings
try:
    if workflow.is_main_process:
        check_mirror()
    SETTINGS, CHANGED = load_run(
        "config.yaml", *given.configfiles, overrides=given.config
    )
except ValueError as error:  # a ConfigError too
    raise WorkflowError(str(error))
PAPERS = papers()
OPTIONAL = optional_tables(SETTINGS, PAPERS)
PLACES = places(SETTINGS)


def shown(step, group, ending):
    """Outputs of a step; Snakemake's report shows those with one ending, under the caption."""
    marks = {"caption": "../report/item.rst", "category": step.paper}
    marks |= {"subcategory": group, "labels": {"item": step.item}}
    return [report(p, **marks) if p.endswith(ending) else p for p in step.outputs]
