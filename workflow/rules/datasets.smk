# One verified archive per data set, or the reason why there is none (dpnoise_papers.data).

from pathlib import Path

from dpnoise_papers.data.places import read_yaml
from dpnoise_papers.data.retry import attempt

DATASETS = sorted(read_yaml(Path("data/registry.yaml"))["sets"])


rule dataset:
    input:
        registry="data/registry.yaml",
        code=code_inputs(f"{SCRIPTS}/prepare_dataset.py"),
    output:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
    log:
        "<logs>/datasets/{dataset}.log",
    localrule: True  # compute nodes often have no network
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        name=lambda w: w.dataset,
        cache=SETTINGS.data.cache,
        offline=SETTINGS.data.offline,
        strict=SETTINGS.strict,
        attempt=lambda w: attempt(
            w.dataset,
            f"data/prepared/{w.dataset}.json",
            cache=SETTINGS.data.cache,
            offline=SETTINGS.data.offline,
        ),
    script:
        "../scripts/prepare_dataset.py"


rule datasets:
    input:
        status=expand("data/prepared/{dataset}.json", dataset=DATASETS),
        code=code_inputs(f"{SCRIPTS}/datasets.py"),
    output:
        report(
            "<results>/datasets.csv",
            caption="../report/datasets.rst",
            category="data sets",
            labels={"item": "what was used, and what was not to be had"},
        ),
    log:
        "<logs>/datasets.log",
    localrule: True
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/datasets.py"
