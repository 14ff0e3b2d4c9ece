# flipped-huber-2023: Muthukrishnan & Kalyani, Grafting Laplace and Gaussian distributions.

FH = config["flipped_huber_2023"]
FH_TASKS = sorted(FH["table_3"]["tasks"])


rule flipped_huber_2023:
    input:
        expand(
            "<figures>/flipped-huber-2023/{item}.{format}",
            item=["figure-1", "figure-2", "table-3"],
            format=FORMATS,
        ),
        expand(
            "<results>/flipped-huber-2023/{item}",
            item=[
                "figure-1.csv",
                "figure-2.csv",
                "table-3.csv",
                "table-3.md",
                "table-3.tex",
                "table-3-honest.csv",
                "table-3-ablation.csv",
                "table-3-ablation.md",
            ],
        ),


rule fh_figure_1_data:
    input:
        code=closure(f"{SCRIPTS}/densities.py"),
    output:
        "<results>/flipped-huber-2023/figure-1.csv",
    log:
        "<logs>/flipped-huber-2023/figure-1-data.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        settings=FH["figure_1"],
    script:
        "../scripts/densities.py"


rule fh_figure_2_data:
    input:
        code=closure(f"{SCRIPTS}/fisher_information.py"),
    output:
        "<results>/flipped-huber-2023/figure-2.csv",
    log:
        "<logs>/flipped-huber-2023/figure-2-data.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        settings=FH["figure_2"],
    script:
        "../scripts/fisher_information.py"


rule fh_figure:
    input:
        table="<results>/flipped-huber-2023/figure-{number}.csv",
        code=lambda w: closure(f"{SCRIPTS}/figure_flipped_huber_{w.number}.py"),
    output:
        report(
            multiext(
                "<figures>/flipped-huber-2023/figure-{number}", ".svg", ".pdf", ".png"
            ),
            caption="../report/figures.rst",
            category="flipped-huber-2023",
            subcategory="figures",
            labels={"item": "figure {number}"},
        ),
    log:
        "<logs>/flipped-huber-2023/figure-{number}.log",
    wildcard_constraints:
        number="1|2",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/figure_flipped_huber_{wildcards.number}.py"


rule fh_table_3_sweep:
    input:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
        code=closure(f"{SCRIPTS}/table_3_sweep.py"),
    output:
        sweep="<results>/flipped-huber-2023/table-3/{dataset}-sweep.csv",
        chosen="<results>/flipped-huber-2023/table-3/{dataset}-chosen.csv",
    log:
        "<logs>/flipped-huber-2023/table-3/{dataset}.log",
    benchmark:
        "<benchmarks>/flipped-huber-2023/table-3/{dataset}.tsv"
    conda:
        "../envs/dpnoise.yaml"
    threads: 8
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        seed=config["seed"],
        task=lambda w: FH["table_3"]["tasks"][w.dataset],
        settings={k: v for k, v in sorted(FH["table_3"].items()) if k != "tasks"},
    script:
        "../scripts/table_3_sweep.py"


rule fh_table_3:
    input:
        chosen=expand(
            "<results>/flipped-huber-2023/table-3/{dataset}-chosen.csv",
            dataset=FH_TASKS,
        ),
        status=expand("data/prepared/{dataset}.json", dataset=FH_TASKS),
        claims="published/claims.csv",
        code=closure(f"{SCRIPTS}/table_3.py"),
    output:
        printed="<results>/flipped-huber-2023/table-3.csv",
        honest="<results>/flipped-huber-2023/table-3-honest.csv",
        page=report(
            "<results>/flipped-huber-2023/table-3.md",
            caption="../report/table-3.rst",
            category="flipped-huber-2023",
            subcategory="tables",
            labels={"item": "table 3"},
        ),
        latex="<results>/flipped-huber-2023/table-3.tex",
    log:
        "<logs>/flipped-huber-2023/table-3.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        settings={
            k: FH["table_3"][k] for k in ["mechanisms", "tasks", "trials", "honest"]
        },
    script:
        "../scripts/table_3.py"


rule fh_table_3_figure:
    input:
        table="<results>/flipped-huber-2023/table-3.csv",
        claims="published/claims.csv",
        code=closure(f"{SCRIPTS}/figure_table_3.py"),
    output:
        report(
            multiext("<figures>/flipped-huber-2023/table-3", ".svg", ".pdf", ".png"),
            caption="../report/table-3.rst",
            category="flipped-huber-2023",
            subcategory="tables",
            labels={"item": "table 3, printed beside ours"},
        ),
    log:
        "<logs>/flipped-huber-2023/table-3-figure.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/figure_table_3.py"


rule fh_table_3_ablation_sweep:
    input:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
        code=closure(f"{SCRIPTS}/table_3_ablation_sweep.py"),
    output:
        "<results>/flipped-huber-2023/table-3-ablation/{dataset}.csv",
    log:
        "<logs>/flipped-huber-2023/table-3-ablation/{dataset}.log",
    benchmark:
        "<benchmarks>/flipped-huber-2023/table-3-ablation/{dataset}.tsv"
    conda:
        "../envs/dpnoise.yaml"
    threads: 8
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        seed=config["seed"],
        task=lambda w: FH["table_3"]["tasks"][w.dataset],
        settings={
            k: FH["table_3"][k]
            for k in ["delta", "epsilon", "passes", "setting", "xi_grid"]
        },
        ablation=FH["table_3_ablation"],
    script:
        "../scripts/table_3_ablation_sweep.py"


rule fh_table_3_ablation:
    input:
        tables=expand(
            "<results>/flipped-huber-2023/table-3-ablation/{dataset}.csv",
            dataset=FH_TASKS,
        ),
        claims="published/claims.csv",
        code=closure(f"{SCRIPTS}/table_3_ablation.py"),
    output:
        table="<results>/flipped-huber-2023/table-3-ablation.csv",
        page=report(
            "<results>/flipped-huber-2023/table-3-ablation.md",
            caption="../report/ablation.rst",
            category="flipped-huber-2023",
            subcategory="tables",
            labels={"item": "table 3, ablation of unprinted choices"},
        ),
    log:
        "<logs>/flipped-huber-2023/table-3-ablation.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/table_3_ablation.py"
