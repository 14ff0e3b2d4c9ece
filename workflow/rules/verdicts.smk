# Every printed number, ordering and statement against our results.


rule verdicts:
    input:
        claims=CLAIMS,
        tables=expand("<results>/{item}.csv", item=ITEMS),
        flipped_huber=expand(
            "<results>/flipped-huber-2023/{item}.csv",
            item=["figure-4-dimensions", "table-3", "table-3-honest", "theory"],
        ),
        heat_maps=expand(
            "<results>/balle-wang-2018/{item}.csv",
            item=["figure-2", "figure-5", "figure-6", "heat-map-data"],
        ),
        descent=expand("<results>/{item}.csv", item=DESCENT_ITEMS),
        code=closure(f"{SCRIPTS}/verdicts.py"),
    output:
        table="<results>/verdicts.csv",
        page=report(
            "<results>/verdicts.md",
            caption="../report/verdicts.rst",
            category="verdicts",
            labels={"item": "every claim"},
        ),
    log:
        "<logs>/verdicts.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/verdicts.py"
