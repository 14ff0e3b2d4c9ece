# Entry of the pipeline: settings, checked once, then the rules of the declared items.
#   snakemake --cores 2                           everything
#   snakemake --cores 2 flipped_huber_2023        one paper
#   snakemake --cores 2 results/verdicts.md       one file
#   snakemake --cores 2 deep                      optional items, which need an extra (`make deep`)
# Settings: config.yaml, read strictly in workflow/rules/common.smk; a file given by --configfile
# and settings given by --config lie over it, and need a folder of their own (--config folder=NAME).
# Any environment with the packages that pyproject.toml names for the papers will do; src is put on
# the path, here and for the jobs. Where things are: README.md.


include: "workflow/rules/environment.smk"
include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


pathvars:
    results=PLACES["results"],
    figures=PLACES["figures"],
    logs=PLACES["logs"],
    benchmarks=PLACES["benchmarks"],


include: "workflow/rules/cluster.smk"
include: "workflow/rules/times.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/items.smk"
include: "workflow/rules/verdicts.smk"
include: "workflow/rules/provenance.smk"
include: "workflow/rules/review.smk"


rule all:
    default_target: True
    input:
        [target(SETTINGS, paper) for paper in PAPERS],
        rules.datasets.output,
        rules.verdicts.output,
        rules.provenance.output,


include: "workflow/rules/targets.smk"
include: "workflow/rules/results.smk"


# After all rules: what lies among the results and none of them makes.
OUTPUTS = [path for one in workflow.rules for path in one.output]
STRAYS = stray_files(
    [PLACES["results"], PLACES["figures"]],
    {str(path) for path in OUTPUTS} | set(kept_in(PLACES["results"])),
    [re.compile(path.regex()) for path in OUTPUTS if path.contains_wildcard()],
)
if workflow.is_main_process:
    remember_digests()
    look_at_results()
if STRAYS and workflow.is_main_process:
    logger.warning(warning(STRAYS))


onstart:
    plan_sources()
    RECORDS.restore()
    end_on_sigterm(workflow.scheduler.exit_gracefully)
    look_at_cluster()
    if not ON_CLUSTER:
        tell_time_left()
        # Snakemake limits how many jobs begin in a time, for the sake of clusters, and looks for
        # work once in that time for every job that has ended.
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    if STRAYS:
        logger.warning(warning(STRAYS))
