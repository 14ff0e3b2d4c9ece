# Settings, read strictly and checked once; the items of the papers; what every rule file uses.

import re
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from dpnoise_papers.making import (
    code_digest,
    plan_sources,
    record_path,
    remember_digests,
)
from dpnoise_papers.item import papers
from dpnoise_papers.data.copies import check_mirror
from dpnoise_papers.run.doubts import (
    Making,
    Records,
    kept_in,
    makings,
    mark_path,
    placed,
    told_digest,
)
from dpnoise_papers.config import load_run, places
from dpnoise_papers.run.start import (
    NearestTargets,
    end_on_sigterm,
    lock_notice,
    refusal,
    stray_files,
    warning,
)
from dpnoise_papers.steps import (
    PUBLISHED,
    named_results,
    optional_tables,
    standing,
    steps,
    target,
    targets,
    verdicts,
)

if IS_MAIN and refusal():
    raise WorkflowError(refusal())
if IS_MAIN and lock_notice():
    logger.warning(lock_notice())

SCRIPTS = "workflow/scripts"
try:
    if IS_MAIN:
        check_mirror()
    SETTINGS, CHANGED = load_run(
        "config.yaml", *GIVEN.configfiles, overrides=GIVEN.config
    )
except ValueError as error:  # a ConfigError too
    raise WorkflowError(str(error))
PAPERS = papers()
OPTIONAL = optional_tables(SETTINGS, PAPERS)
PLACES = places(SETTINGS)

CODE = {}


def code_of(step):
    """Digest of the code of a step."""
    name = step.rule
    if name not in CODE:
        CODE[name] = code_digest(f"{SCRIPTS}/{step.kind}.py", *step.functions)
    return CODE[name]


# Every job whose files lie among the results, by rule and part, as it would be run now.
MAKINGS = {
    (rule, part): making
    for rule, part, making in makings(SETTINGS, PAPERS, PLACES, code_of)
}


def recorded(rule):
    """Params by which a job of a rule records what it made."""

    def making(wildcards):
        return MAKINGS[rule, getattr(wildcards, "part", "")]

    return {
        "code": lambda w: making(w).code,
        "told": lambda w: making(w).told,
        "record": lambda w: record_path(PLACES["results"], making(w).stem),
    }


RECORDS = Records(PLACES["results"])


def mark(rule):
    """Input by which a job of a rule runs again when its files are in doubt."""

    def marks(wildcards):
        making = MAKINGS[rule, getattr(wildcards, "part", "")]
        path = mark_path(PLACES["results"], making.stem)
        return [path] if Path(path).exists() else []

    return marks


def also_made(rule, outputs, inputs, script="", told=None):
    """Note a job that is not of an item, by its script, files, and what else it is told."""
    paths = [tuple(placed(str(p), PLACES) for p in some) for some in (outputs, inputs)]
    code = code_digest(f"{SCRIPTS}/{script or rule}.py")
    MAKINGS[rule, ""] = Making(rule, *paths, told_digest(told or {}), code)


def shown(step, group, ending):
    """Outputs of a step; Snakemake's report shows those with one ending, under the caption."""
    marks = {"caption": "../report/item.rst", "category": step.paper}
    marks |= {"subcategory": group, "labels": {"item": step.item}}
    return [report(p, **marks) if p.endswith(ending) else p for p in step.outputs]
