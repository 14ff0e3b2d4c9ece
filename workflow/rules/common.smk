# What every rule file uses. Functions live in the package, where they are tested.

from pathlib import Path

from snakemake.exceptions import WorkflowError

from dpnoise_papers.closure import closure
from dpnoise_papers.settings import ConfigError, check

try:
    check(config, workflow.source_path("../schemas/config.schema.yaml"))
except ConfigError as error:
    raise WorkflowError(str(error))

FORMATS = ["svg", "pdf", "png"]
SCRIPTS = "workflow/scripts"
PUBLISHED = "published"  # what is printed, one file per paper
ITEMS = {}  # see items.smk


README = [
    name
    for name in ("README.md", f"{PUBLISHED}/what-came-out.md")
    if Path(name).is_file()
]
README = README if len(README) == 2 else []


def judged_tables(wildcards):
    """Return every table that a claim, a cause or the README names."""
    from dpnoise_papers.claims import named_tables, read_published

    texts = [Path(name).read_text(encoding="utf-8") for name in README[1:]]
    tables = named_tables(read_published(PUBLISHED), *texts)
    return [f"<results>/{table}" for table in tables]


wildcard_constraints:
    dataset="[a-z0-9-]+",
