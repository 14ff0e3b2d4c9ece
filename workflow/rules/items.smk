# Tables, figures and pages of all items, as each paper's items.py declares them.

for step in steps(SETTINGS, PAPERS, "table"):

    rule:
        name:
            step.rule
        input:
            **step.inputs,
            code=code_inputs(f"{SCRIPTS}/table.py", *step.functions),
        output:
            *step.outputs,
        log:
            f"<logs>/{step.stem}.log",
        benchmark:
            f"<benchmarks>/{step.stem}.tsv"
        wildcard_constraints:
            part="|".join(step.parts) or "none",
        conda:
            "../envs/dpnoise.yaml"
        threads: step.declared.threads
        resources:
            mem_mb=step.declared.memory,
            runtime=step.declared.minutes,
        params:
            **step.params,
        script:
            "../scripts/table.py"


for step in steps(SETTINGS, PAPERS, "figure"):

    rule:
        name:
            step.rule
        input:
            **step.inputs,
            code=code_inputs(f"{SCRIPTS}/figure.py", *step.functions),
        output:
            report(
                step.outputs,
                caption="../report/item.rst",
                category=step.paper,
                subcategory="figures",
                labels={"item": step.item},
            ),
        log:
            f"<logs>/{step.stem}.log",
        conda:
            "../envs/dpnoise.yaml"
        resources:
            mem_mb=step.declared.memory,
            runtime=step.declared.minutes,
        params:
            **step.params,
        script:
            "../scripts/figure.py"


for step in steps(SETTINGS, PAPERS, "page"):

    rule:
        name:
            step.rule
        input:
            **step.inputs,
            code=code_inputs(f"{SCRIPTS}/page.py", *step.functions),
        output:
            report(
                step.outputs,
                caption="../report/item.rst",
                category=step.paper,
                subcategory="tables",
                labels={"item": step.item},
            ),
        log:
            f"<logs>/{step.stem}.log",
        conda:
            "../envs/dpnoise.yaml"
        resources:
            mem_mb=step.declared.memory,
            runtime=step.declared.minutes,
        params:
            **step.params,
        script:
            "../scripts/page.py"


for paper in PAPERS:
    for name in (paper.module, paper.id):

        rule:
            name:
                name
            input:
                target(SETTINGS, paper),
