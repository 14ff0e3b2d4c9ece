# One verified archive per data set, or the reason why there is none (dpnoise.data).

from dpnoise.data.retry import attempt


rule dataset:
    localrule: True   # compute nodes often have no network
    input:
        registry="data/registry.yaml",
        code=closure(f"{SCRIPTS}/prepare_dataset.py"),
    output:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
    log:
        "<logs>/datasets/{dataset}.log",
    params:
        name=lambda w: w.dataset,
        cache=config["data"]["cache"],
        offline=config["data"]["offline"],
        strict=config["strict"],
        attempt=lambda w: attempt(
            w.dataset,
            f"data/prepared/{w.dataset}.json",
            cache=config["data"]["cache"],
            offline=config["data"]["offline"],
        ),
    resources:
        mem_mb=1000,
        runtime=30,
    conda:
        "../envs/dpnoise.yaml"
    script:
        "../scripts/prepare_dataset.py"
