# Three papers on noise for differential privacy, recomputed from config.yaml:
#
#   fetch -> experiments -> grids and tables -> figures and pages -> verdicts -> page
#
#   snakemake --cores 2                                    everything
#   snakemake --cores 2 inid-2024                          one paper
#   snakemake --cores 2 results/inid-2024/table-3.csv      one file, with what it needs
#   snakemake --cores 2 --configfile config.quick.yaml     a small run, in quick/
#
# <paper>/items.yaml lists what a paper has; src/dpnoise_papers/steps.py makes jobs of it.
# Settings of --configfile and --config need their own folder (--config folder=runs/mine). A
# job is told its settings and a digest of its code: it runs again when one of them changes.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, f"{workflow.basedir}/src")

from dpnoise_papers.making import end_on_sigterm, hand_on
from dpnoise_papers.steps import Run, code, inputs, one_of, shown

hand_on(workflow.basedir)
GIVEN = workflow.config_settings  # of --configfile and --config
try:
    run = Run.of(*GIVEN.configfiles, overrides=GIVEN.config)
except ValueError as error:  # every mistake in the settings
    raise WorkflowError(str(error))
RESULTS, LOGS = run.results, run.logs
CORES = workflow.resource_settings.cores or 8
ENVIRONMENT = "workflow/envs/dpnoise.yaml"
config["places"] = run.sources.told  # of fetch; no params, since they change no content


report: "workflow/report/workflow.rst"


rule all:
    default_target: True
    input:
        run.unhad(*run.papers),
        run.everything(),
        [] if run.config.items else f"{RESULTS}/verdicts.md",
        f"{RESULTS}/provenance.json",


# Papers by their names; optional items by theirs: `deep`, ...
for target, files in run.targets().items():

    rule:
        name:
            target
        input:
            files,


# Data: a verified copy of each set. One that is missing or wrong is an error of its job.
rule fetch:
    input:
        lambda w: run.sources.copies(w.dataset),
    output:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
    log:
        f"{LOGS}/fetch/{{dataset}}.log",
    wildcard_constraints:
        dataset=one_of(run.sources.names),
    priority: 9
    localrule: True  # compute nodes often have no network
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        call=lambda w: run.sources.fetching(w.dataset),
        code=lambda w: code("fetch", [run.sources.fetching(w.dataset)]),
    script:
        "workflow/scripts/fetch.py"


# experiments        one job for each data set, hour or network
# grids              the cheap tables of a paper in one process
# tables             those that take longer or read others: one job each
# figures and pages  those of cheap tables in one process of a paper, others one job each item;
#                    PDF and PNG on request (figures/inid-2024/figure-1a.pdf)
for job in run.jobs():

    rule:
        name:
            job.name
        input:
            lambda w, job=job: inputs(job.calls(w)),
            lambda w, job=job: run.lacking(job.calls(w), workflow),
        output:
            [shown(report, path) for path in job.outputs],
        log:
            f"{LOGS}/{job.log}.log",
        benchmark:
            f"{LOGS}/benchmarks/{job.log}.tsv"
        wildcard_constraints:
            **job.wildcards,
        priority: job.priority
        group:
            job.group
        conda:
            ENVIRONMENT
        threads: max(1, min(CORES // 2, job.threads))
        resources:
            mem_mb=lambda w, attempt, job=job: attempt * job.memory,
            runtime=lambda w, attempt, job=job: attempt * job.minutes,
            gpu=job.gpu,
        params:
            calls=job.calls,
            code=lambda w, job=job: code(job.script, job.calls(w)),
            script=job.script,
        script:
            "workflow/scripts/{params.script}.py"


# Every printed claim against the tables.
rule verdicts:
    input:
        run.judged_files(),
        status=run.statuses(),
    output:
        f"{RESULTS}/verdicts.csv",
        shown(report, f"{RESULTS}/verdicts.md", "verdicts"),
        shown(report, f"{RESULTS}/datasets.csv", "datasets"),
    log:
        f"{LOGS}/verdicts.log",
    group:
        "collected"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=5,
    params:
        **run.judged(),
        code=code("verdicts"),
    script:
        "workflow/scripts/verdicts.py"


# From which code, settings and data, on which machine, each file was made.
rule provenance:
    input:
        run.everything(),
        [] if run.config.items else rules.verdicts.output,
    output:
        f"{RESULTS}/provenance.json",
    log:
        f"{LOGS}/provenance.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=500,
        runtime=5,
    params:
        run={"seed": run.config.seed, "settings_changed": run.changed},
        told=run.told(),
        code=code("provenance"),
    script:
        "workflow/scripts/provenance.py"


# The page for reviewers, report.html: `make report`.
rule review:
    input:
        rules.verdicts.output,
        rules.provenance.output,
        [path.replace(".svg", ".png") for path in run.everything(".svg")],
    output:
        run.page_for_reviewers,
    log:
        f"{LOGS}/review.log",
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        files=[os.path.relpath(path) for path in GIVEN.configfiles],
        overrides=dict(GIVEN.config),
        code=code("review"),
    script:
        "workflow/scripts/review.py"


onstart:
    end_on_sigterm()
    print(*run.no_data(), sep="\n", file=sys.stderr)


onerror:
    print(*run.no_data(), sep="\n", file=sys.stderr)
