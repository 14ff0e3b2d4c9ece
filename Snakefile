# Entry of the pipeline: settings, checked once, then the rules of the declared items.
#   snakemake --cores 2                           everything
#   snakemake --cores 2 flipped_huber_2023        one paper
#   snakemake --cores 2 results/verdicts.md       one file
# Settings: config.yaml, read strictly in workflow/rules/common.smk; a file given by --configfile
# and settings given by --config lie over it. Where things are: README.md.


pathvars:
    results="results",
    figures="figures",
    logs="logs",
    benchmarks="logs/benchmarks",


include: "workflow/rules/common.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/items.smk"
include: "workflow/rules/verdicts.smk"


rule all:
    default_target: True
    input:
        [target(SETTINGS, paper) for paper in PAPERS],
        rules.datasets.output,
        rules.verdicts.output,
