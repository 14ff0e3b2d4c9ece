# Settings, read strictly and checked once; the items of the papers; what every rule file uses.

from snakemake.exceptions import WorkflowError

from dpnoise_papers.code_inputs import code_inputs
from dpnoise_papers.papers import papers
from dpnoise_papers.config import ConfigError, load
from dpnoise_papers.steps import PUBLISHED, steps, target

SCRIPTS = "workflow/scripts"
given = workflow.config_settings
try:
    SETTINGS = load("config.yaml", *given.configfiles, overrides=given.config)
except ConfigError as error:
    raise WorkflowError(str(error))
PAPERS = papers()
