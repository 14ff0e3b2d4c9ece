# From which code, settings and data, on which machine, every file of a run was made.

from pathlib import Path

from dpnoise_papers.making import FOLDER
from dpnoise_papers.run.provenance import Origin, origins, revision, told

DEFAULT = {path for paper in PAPERS for path in target(SETTINGS, paper)}
EVERY = origins(SETTINGS, PAPERS)
ORIGINS = {path: origin for path, origin in EVERY.items() if path in DEFAULT}
for name in ("datasets.csv", "verdicts.csv", "verdicts.md"):
    ORIGINS[f"<results>/{name}"] = Origin(Path(name).stem, {}, DATASETS)
STEMS = {path: one.stem for one in MAKINGS.values() for path in one.outputs}
also_made(
    "provenance",
    ["<results>/provenance.json"],
    [*ORIGINS, *SEEN],
    told={
        "revision": revision(),
        "seed": SETTINGS.seed,
        "changed": CHANGED,
        "optional": standing(OPTIONAL, PLACES["results"]),
    },
)


rule provenance:
    input:
        files=list(ORIGINS),
        status=SEEN,
        mark=mark("provenance"),
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
        **recorded("provenance"),
        records=str(Path(PLACES["results"]) / FOLDER),
        stems=[STEMS[placed(path, PLACES)] for path in ORIGINS],
        revision=revision()[0],
        modified=revision()[1],
        seed=SETTINGS.seed,
        settings_changed=CHANGED,
        strays=lambda w: STRAYS,
        files=[told(origin) for origin in ORIGINS.values()],
        also=lambda w: [
            OPTIONAL[path].stem
            for path, state in standing(OPTIONAL, PLACES["results"]).items()
            if state["content"]
        ],
        # As for the verdicts: optional tables that count, which this run does not make.
        optional=lambda w: {
            f"{PLACES['results']}/{path}": told(EVERY[f"<results>/{path}"])
            | {"sha256": state["content"]}
            for path, state in standing(OPTIONAL, PLACES["results"]).items()
            if state["content"]
        },
    script:
        "../scripts/provenance.py"
