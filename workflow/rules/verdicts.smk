# Every printed number, ordering and statement against our results: the tables that the claims and
# the causes in published/ name, and the README.


from pathlib import Path

from dpnoise_papers.steps import named_results

CLAIMS = sorted(str(path) for path in Path(PUBLISHED).iterdir() if path.suffix != ".md")
README = [
    name
    for name in ("README.md", f"{PUBLISHED}/what-came-out.md")
    if Path(name).is_file()
]
README = README if len(README) == 2 else []


rule verdicts:
    input:
        published=CLAIMS,
        tables=lambda w: named_results(SETTINGS, PAPERS, README),
        readme=README,
        code=code_inputs(f"{SCRIPTS}/verdicts.py"),
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
        strict=SETTINGS.strict,
    script:
        "../scripts/verdicts.py"
