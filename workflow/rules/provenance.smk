# From which code, settings and data, on which machine, every file of a run was made.

from pathlib import Path

from dpnoise_papers.run.provenance import Origin, origins, revision, told

DEFAULT = {path for paper in PAPERS for path in target(SETTINGS, paper)}
EVERY = origins(SETTINGS, PAPERS)
ORIGINS = {path: origin for path, origin in EVERY.items() if path in DEFAULT}
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
        files=[told(origin) for origin in ORIGINS.values()],
        # As for the verdicts: optional tables that count, which this run does not make.
        optional=lambda w: {
            f"{PLACES['results']}/{path}": told(EVERY[f"<results>/{path}"])
            | {"sha256": state["content"]}
            for path, state in standing(OPTIONAL, PLACES["results"]).items()
            if state["content"]
        },
    script:
        "../scripts/provenance.py"
