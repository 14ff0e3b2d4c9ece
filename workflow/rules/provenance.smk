# From which code, settings and data, on which machine, every file of a run was made.

from pathlib import Path

from dpnoise_papers.config import settings_digest
from dpnoise_papers.provenance import Origin, origins, revision

DEFAULT = {path for paper in PAPERS for path in target(SETTINGS, paper)}
ORIGINS = {
    path: origin
    for path, origin in origins(SETTINGS, PAPERS).items()
    if path in DEFAULT  # not of optional items
}
for name in ("datasets.csv", "verdicts.csv", "verdicts.md"):
    ORIGINS[f"<results>/{name}"] = Origin(Path(name).stem, {}, DATASETS)


rule provenance:
    input:
        files=list(ORIGINS),
        status=[
            *expand("data/prepared/{dataset}.json", dataset=DATASETS),
            rules.city.output.status,
        ],
    output:
        "<results>/provenance.json",
    log:
        "<logs>/provenance.log",
    localrule: True  # the machine is the one that leads the run
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        code=code_digest(f"{SCRIPTS}/provenance.py"),
        revision=revision()[0],
        modified=revision()[1],
        seed=SETTINGS.seed,
        settings_changed=CHANGED,
        strays=lambda w: STRAYS,
        files=[
            {
                "item": origin.item,
                "settings": settings_digest(origin.settings),
                "data": origin.data,
            }
            for origin in ORIGINS.values()
        ],
    script:
        "../scripts/provenance.py"
