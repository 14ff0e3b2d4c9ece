# Every printed number, ordering and statement against our results: the tables that the claims and
# the causes in published/ name, and the README.


rule verdicts:
    input:
        published=sorted(
            str(path) for path in Path(PUBLISHED).iterdir() if path.suffix != ".md"
        ),
        tables=judged_tables,
        readme=README,
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
    params:
        strict=config["strict"],
    script:
        "../scripts/verdicts.py"
