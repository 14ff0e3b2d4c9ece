# Entry of the pipeline: settings, checked once, then the rules of each paper.
#   snakemake --cores 2                           everything
#   snakemake --cores 2 flipped_huber_2023        one paper
#   snakemake --cores 2 results/verdicts.md       one file
# Settings: config.yaml. Where things are: README.md.


configfile: "config.yaml"


pathvars:
    results="results",
    figures="figures",
    logs="logs",
    benchmarks="logs/benchmarks",


include: "workflow/rules/common.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/flipped_huber_2023.smk"
include: "workflow/rules/flipped_huber_slides.smk"
include: "workflow/rules/balle_wang_2018.smk"
include: "workflow/rules/inid_2024.smk"
include: "workflow/rules/items.smk"
include: "workflow/rules/verdicts.smk"


rule all:
    default_target: True
    input:
        rules.flipped_huber_2023.input,
        rules.flipped_huber_slides.input,
        rules.balle_wang_2018.input,
        rules.inid_2024.input,
        rules.datasets.output,
        rules.verdicts.output,
