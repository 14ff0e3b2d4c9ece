# Tables, figures and pages of all items, as each paper's items.py declares them.

for step in steps(SETTINGS, PAPERS, "table"):

    rule:
        name:
            step.rule
        input:
            **step.inputs,
            mark=mark(step.rule),
        output:
            *step.outputs,
        log:
            f"<logs>/{step.stem}.log",
        benchmark:
            f"<benchmarks>/{step.stem}.tsv"
        wildcard_constraints:
            part="|".join(step.parts) or "none",
        priority: priority(step, KNOWN_SECONDS)
        group:
            submission_of(step.rule)
        conda:
            "../envs/dpnoise.yaml"
        threads: own_threads(step.declared.threads)
        resources:
            **step.resources,
            mem_mb=growing(step.declared.memory),
            runtime=growing(step.declared.minutes),
        params:
            **step.params,
            **recorded(step.rule),
        script:
            "../scripts/table.py"


for step in steps(SETTINGS, PAPERS, "figure"):

    rule:
        name:
            step.rule
        input:
            **step.inputs,
            mark=mark(step.rule),
        output:
            *shown(step, "figures", ".svg"),
        log:
            f"<logs>/{step.stem}.log",
        group:
            submission_of(step.rule)
        conda:
            "../envs/dpnoise.yaml"
        resources:
            mem_mb=growing(step.declared.memory),
            runtime=growing(step.declared.minutes),
        params:
            **step.params,
            **recorded(step.rule),
        script:
            "../scripts/figure.py"


for step in steps(SETTINGS, PAPERS, "page"):

    rule:
        name:
            step.rule
        input:
            **step.inputs,
            mark=mark(step.rule),
        output:
            *shown(step, "tables", ".md"),
        log:
            f"<logs>/{step.stem}.log",
        group:
            submission_of(step.rule)
        conda:
            "../envs/dpnoise.yaml"
        resources:
            mem_mb=growing(step.declared.memory),
            runtime=growing(step.declared.minutes),
        params:
            **step.params,
            **recorded(step.rule),
        script:
            "../scripts/page.py"


for paper in PAPERS:
    for name in (paper.module, paper.id):

        rule:
            name:
                name
            input:
                target(SETTINGS, paper),


# Optional items, which no rule above asks for: `make deep` in an environment with their extra.
for name in targets(PAPERS):

    rule:
        name:
            name
        input:
            [target(SETTINGS, paper, name) for paper in PAPERS],
            lambda w, name=name: verdicts(SETTINGS, PAPERS, name),
