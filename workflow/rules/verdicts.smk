# Every printed number, ordering and statement against our results: the tables that the claims and
# the causes in published/ name, the documents and the snapshot in docs/.

from pathlib import Path

from dpnoise_papers.claims.references import templates

CLAIMS = sorted(str(path) for path in Path(PUBLISHED).iterdir() if path.suffix != ".md")
ACCOUNTS = list(templates().values())
SNAPSHOT = sorted(str(path) for path in Path("docs/snapshot").glob("*.csv"))
try:
    JUDGED = named_results(SETTINGS, PAPERS, ACCOUNTS)
except ValueError as error:
    raise WorkflowError(str(error))
also_made(
    "verdicts",
    ["<results>/verdicts.csv", "<results>/verdicts.md"],
    [*CLAIMS, *JUDGED, *ACCOUNTS, *SNAPSHOT, *SEEN],
    told={
        "strict": SETTINGS.strict,
        "changed": CHANGED,
        "optional": standing(OPTIONAL, PLACES["results"]),
    },
)


rule verdicts:
    input:
        published=CLAIMS,
        tables=JUDGED,
        templates=ACCOUNTS,
        snapshot=SNAPSHOT,
        status=SEEN,
        mark=mark("verdicts"),
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
    group:
        COLLECTING
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        **recorded("verdicts"),
        strict=SETTINGS.strict,
        # Optional tables are no inputs: a run without their extra counts them and makes none.
        optional=lambda w: standing(OPTIONAL, PLACES["results"]),
        changed=CHANGED,
    script:
        "../scripts/verdicts.py"


for name in targets(PAPERS):
    about = [path for path, one in OPTIONAL.items() if one.target == name]
    files = [f"<results>/verdicts-{name}.csv", f"<results>/verdicts-{name}.md"]
    there = any(Path(placed(path, PLACES)).is_file() for path in files)
    tables = named_results(SETTINGS, PAPERS, [], name) if there else []
    also_made(
        f"verdicts-{name}",
        files,
        [*CLAIMS, *tables],
        script="optional_verdicts",
        told={"judged": about, "changed": CHANGED},
    )

    rule:
        name:
            f"verdicts_{name}"
        input:
            published=CLAIMS,
            tables=lambda w, name=name: named_results(SETTINGS, PAPERS, [], name),
            mark=mark(f"verdicts-{name}"),
        output:
            table=f"<results>/verdicts-{name}.csv",
            page=report(
                f"<results>/verdicts-{name}.md",
                caption="../report/verdicts.rst",
                category="verdicts",
                labels={"item": f"claims about the tables of the target {name}"},
            ),
        log:
            f"<logs>/verdicts-{name}.log",
        conda:
            "../envs/dpnoise.yaml"
        resources:
            mem_mb=500,
            runtime=5,
        params:
            **recorded(f"verdicts-{name}"),
            judged=about,
            changed=CHANGED,
        script:
            "../scripts/optional_verdicts.py"
