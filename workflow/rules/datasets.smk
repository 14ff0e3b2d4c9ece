# One verified archive per data set, or the reason why there is none (dpnoise_papers.data).

from dpnoise_papers.data.attempts import tried_with
from dpnoise_papers.data.registry import read_registry

DATASET_CONTENTS = "dpnoise_papers.data.prepared.dataset_contents"
CITY_CONTENTS = "dpnoise_papers.data.city.counts.city_contents"
DATASETS = sorted(read_registry("data/registry.yaml").sets)
# For the script, which reads it from its config: as params these would make all sets again when
# they change, but only missing ones are to be tried again (`tried_with`).
config["datasets"] = {
    "cache": SETTINGS.data.cache,
    "offline": SETTINGS.data.offline,
    "strict": SETTINGS.strict,
}


rule dataset:
    input:
        registry="data/registry.yaml",
        code=code_inputs(f"{SCRIPTS}/prepare.py", DATASET_CONTENTS),
    output:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
    log:
        "<logs>/datasets/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(DATASETS),
    localrule: True  # compute nodes often have no network
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        name=lambda w: w.dataset,
        contents=DATASET_CONTENTS,
        told=lambda w: {"name": w.dataset},
        tried_with=lambda w: tried_with(
            w.dataset,
            f"data/prepared/{w.dataset}.json",
            registry="data/registry.yaml",
            **config["datasets"],
        ),
    script:
        "../scripts/prepare.py"


rule city:
    input:
        registry="data/cities.yaml",
        code=code_inputs(f"{SCRIPTS}/prepare.py", CITY_CONTENTS),
    output:
        npz="data/prepared/city/manhattan.npz",
        status="data/prepared/city/manhattan.json",
    log:
        "<logs>/datasets/manhattan.log",
    localrule: True
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        name="manhattan",
        contents=CITY_CONTENTS,
        told={
            "hours": SETTINGS.balle_wang_2018.hours,
            **SETTINGS.balle_wang_2018.city.model_dump(
                include={"events_per_cab", "bandwidth", "reach", "passengers_per_trip"}
            ),
        },
        tried_with=lambda w: tried_with(
            "manhattan",
            "data/prepared/city/manhattan.json",
            registry="data/cities.yaml",
            city=True,
            **config["datasets"],
        ),
    script:
        "../scripts/prepare.py"


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
