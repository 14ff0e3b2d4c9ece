# One verified archive per data set, or the reason why there is none (dpnoise_papers.data). Default
# runs take the copies in data/shipped and ask no network.

from dpnoise_papers.data.copies import tried_with
from dpnoise_papers.data.registry import (
    contents_digest,
    read_cities,
    read_images_registry,
    read_registry,
)

DATASET_CONTENTS = "dpnoise_papers.data.sets.dataset_contents"
CITY_CONTENTS = "dpnoise_papers.data.city.city_contents"
IMAGES_CONTENTS = "dpnoise_papers.data.images.images_contents"
REGISTRY = read_registry("data/registry.yaml")
CITIES = read_cities("data/cities.yaml")
IMAGES_REGISTRY = read_images_registry("data/images.yaml")
DATASETS, IMAGES = sorted(REGISTRY.sets), sorted(IMAGES_REGISTRY)
# For the script, which reads it from its config: as params these would make all sets again when
# they change, but only missing ones are to be tried again (`tried_with`).
config["datasets"] = {
    "cache": SETTINGS.data.cache,
    "source": SETTINGS.data.source,
    "offline": SETTINGS.data.offline,
    "strict": SETTINGS.strict,
}


rule dataset:
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
        code=code_digest(f"{SCRIPTS}/prepare.py", DATASET_CONTENTS),
        name=lambda w: w.dataset,
        registry="data/registry.yaml",
        entry=lambda w: contents_digest(
            REGISTRY.find(w.dataset)[0], *REGISTRY.find(w.dataset)[1].values()
        ),
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
        code=code_digest(f"{SCRIPTS}/prepare.py", CITY_CONTENTS),
        name="manhattan",
        registry="data/cities.yaml",
        entry=contents_digest(
            CITIES.find("manhattan")[0], *CITIES.find("manhattan")[1].values()
        ),
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
            kind="city",
            **config["datasets"],
        ),
    script:
        "../scripts/prepare.py"


rule images:  # no input of `datasets`: only optional items ask for them
    output:
        npz="data/prepared/images/{images}.npz",
        status="data/prepared/images/{images}.json",
    log:
        "<logs>/datasets/{images}.log",
    wildcard_constraints:
        images="|".join(IMAGES),
    localrule: True
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code_digest(f"{SCRIPTS}/prepare.py", IMAGES_CONTENTS),
        name=lambda w: w.images,
        registry="data/images.yaml",
        entry=lambda w: contents_digest(IMAGES_REGISTRY[w.images]),
        contents=IMAGES_CONTENTS,
        told=lambda w: {"name": w.images},
        tried_with=lambda w: tried_with(
            w.images,
            f"data/prepared/images/{w.images}.json",
            registry="data/images.yaml",
            kind="images",
            **config["datasets"],
        ),
    script:
        "../scripts/prepare.py"


STATUSES = expand("data/prepared/{dataset}.json", dataset=DATASETS)
SEEN = [*STATUSES, "data/prepared/city/manhattan.json"]  # in every run
also_made("datasets", ["<results>/datasets.csv"], STATUSES)


rule datasets:
    input:
        status=STATUSES,
        mark=mark("datasets"),
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
    params:
        **recorded("datasets"),
    script:
        "../scripts/datasets.py"
