# Every printed number, ordering and statement against our results: the tables that the claims
# and the causes in published/ name.


def judged_tables(wildcards):
    from dpnoise.claims import named_tables, read_published

    return [f"<results>/{table}" for table in named_tables(read_published(PUBLISHED))]


rule verdicts:
    input:
        published=sorted(
            str(path) for path in Path(PUBLISHED).iterdir() if path.suffix != ".md"
        ),
        tables=judged_tables,
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
