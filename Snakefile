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


# What lies among the results and no rule makes.
STRAYS = stray_files(
    [PLACES["results"], PLACES["figures"]],
    {path for one in MAKINGS.values() for path in one.outputs}
    | set(kept_in(PLACES["results"])),
)
if IS_MAIN:
    remember_digests()
    look_at_results()
    if STRAYS:
        logger.warning(warning(STRAYS))


onstart:
    plan_sources()
    RECORDS.restore()
    end_on_sigterm()
    if ON_CLUSTER:
        look_at_cluster()
    else:
        TIME_LEFT.begin()


onsuccess:
    if STRAYS:
        logger.warning(warning(STRAYS))
