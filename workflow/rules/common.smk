# What every rule file uses. Functions live in the package, where they are tested.

from pathlib import Path

from snakemake.exceptions import WorkflowError

from dpnoise.closure import closure
from dpnoise.config import ConfigError, check

try:
    check(config, workflow.source_path("../schemas/config.schema.yaml"))
except ConfigError as error:
    raise WorkflowError(str(error))

FORMATS = ["svg", "pdf", "png"]
SCRIPTS = "workflow/scripts"
PUBLISHED = "published"  # what is printed, one file per paper
ITEMS = {}  # see items.smk


wildcard_constraints:
    dataset="[a-z0-9-]+",
