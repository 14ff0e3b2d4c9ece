# flipped-huber-2023: Muthukrishnan & Kalyani, Grafting Laplace and Gaussian distributions.

FH = config["flipped_huber_2023"]
FH_TASKS = sorted(FH["table_3"]["tasks"])


FH_PAPER = "flipped-huber-2023"
SCALAR = "dpnoise.experiments.scalar_"
VECTOR = "dpnoise_papers.flipped_huber_2023.tables.vector_variances"

ITEMS |= {
    f"{FH_PAPER}/figure-1": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.densities:densities",
        "settings": FH["figure_1"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.densities:figure_1",
    },
    f"{FH_PAPER}/figure-2": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.densities:fisher_information",
        "settings": FH["figure_2"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.densities:figure_2",
    },
    f"{FH_PAPER}/table-1": {
        "experiment": f"{SCALAR}cases:published_cases",
        "settings": FH["table_1"] | {"seed": config["seed"]},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_cases:table_1",
    },
    f"{FH_PAPER}/figure-3a": {
        "experiment": f"{SCALAR}variances:scalar_variances",
        "settings": FH["figure_3a"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_variances:figure_3a",
        "printed": True,
    },
    f"{FH_PAPER}/figure-3b": {
        "experiment": f"{SCALAR}variances:variance_ratio",
        "settings": FH["figure_3bc"] | {"against": "laplace"},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_variances:ratio_map",
    },
    f"{FH_PAPER}/figure-3c": {
        "experiment": f"{SCALAR}variances:variance_ratio",
        "settings": FH["figure_3bc"] | {"against": "staircase"},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_variances:ratio_map",
    },
    f"{FH_PAPER}/figure-4a": {
        "experiment": f"{VECTOR}:vector_variances",
        "settings": FH["figure_4"] | {"dimensions": [3]},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.vector_variances:variances",
        "printed": True,
    },
    f"{FH_PAPER}/figure-4b": {
        "experiment": f"{VECTOR}:vector_variances",
        "settings": FH["figure_4"] | {"dimensions": [5]},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.vector_variances:variances",
        "printed": True,
    },
    f"{FH_PAPER}/table-2": {
        "experiment": f"{VECTOR}:vector_variances",
        "settings": FH["table_2"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.vector_variances:variances",
        "printed": True,
    },
    f"{FH_PAPER}/algorithm-2": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.algorithm_2:algorithm_2",
        "settings": FH["algorithm_2"],
    },
    f"{FH_PAPER}/remark-1": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.remarks:remark_1",
        "settings": FH["remark_1"],
    },
    f"{FH_PAPER}/identification": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.remarks:identification",
        "settings": FH["identification"],
    },
    f"{FH_PAPER}/theorem-8-search": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.theorem_8_search:theorem_8_search",
        "settings": FH["theorem_8_search"] | {"seed": config["seed"]},
    },
    f"{FH_PAPER}/gain": {
        "experiment": f"{VECTOR}:gain_by_dimension",
        "settings": FH["gain"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.vector_variances:gain",
    },
    f"{FH_PAPER}/figure-5": {
        "experiment": f"{SCALAR}losses:loss_and_bound",
        "settings": FH["figure_5"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_losses:figure_5",
    },
    f"{FH_PAPER}/figure-6": {
        "experiment": f"{SCALAR}losses:profiles_at_one_variance",
        "settings": FH["figure_6"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_losses:figure_6",
    },
    f"{FH_PAPER}/figure-7": {
        "experiment": f"{SCALAR}losses:losses_at_one_scale",
        "settings": FH["figure_7"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_losses:figure_7",
    },
    f"{FH_PAPER}/limit": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.limit:limit",
        "settings": FH["limit"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.limit:limit",
    },
}


rule flipped_huber_2023:
    input:
        expand(
            "<results>/{item}.csv", item=[i for i in ITEMS if i.startswith(FH_PAPER)]
        ),
        expand(
            "<figures>/{item}.{format}",
            item=[i for i in ITEMS if i.startswith(FH_PAPER) and "figure" in ITEMS[i]],
            format=FORMATS,
        ),
        expand(
            "<figures>/flipped-huber-2023/{item}.{format}",
            item=["table-3", "table-3-replicates", "lemma-7"],
            format=FORMATS,
        ),
        expand(
            "<results>/flipped-huber-2023/{item}",
            item=[
                "figure-4-dimensions.csv",
                "theory.csv",
                "counterexamples.csv",
                "limit.md",
                "limit-within.csv",
                "table-3.csv",
                "table-3.md",
                "table-3.tex",
                "table-3-honest.csv",
                "table-3-ablation.csv",
                "table-3-ablation.md",
                "table-3-replicates.csv",
                "table-3-replicates.md",
            ],
        ),


rule fh_theory:
    input:
        code=closure(f"{SCRIPTS}/theory.py"),
    output:
        theory="<results>/flipped-huber-2023/theory.csv",
        counterexamples="<results>/flipped-huber-2023/counterexamples.csv",
        lemma_7="<results>/flipped-huber-2023/lemma-7.csv",
    log:
        "<logs>/flipped-huber-2023/theory.log",
    benchmark:
        "<benchmarks>/flipped-huber-2023/theory.tsv"
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        seed=config["seed"],
        settings=FH["theory"],
    script:
        "../scripts/theory.py"


rule fh_lemma_7_figure:
    input:
        table="<results>/flipped-huber-2023/lemma-7.csv",
        code=closure(f"{SCRIPTS}/figure_lemma_7.py"),
    output:
        report(
            multiext("<figures>/flipped-huber-2023/lemma-7", ".svg", ".pdf", ".png"),
            caption="../report/lemma-7.rst",
            category="flipped-huber-2023",
            subcategory="figures",
            labels={"item": "lemma 7, where it fails"},
        ),
    log:
        "<logs>/flipped-huber-2023/lemma-7-figure.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/figure_lemma_7.py"


rule fh_figure_4_dimensions:
    input:
        lower="<results>/flipped-huber-2023/figure-4a.csv",
        higher="<results>/flipped-huber-2023/figure-4b.csv",
        code=closure(f"{SCRIPTS}/compare_dimensions.py"),
    output:
        "<results>/flipped-huber-2023/figure-4-dimensions.csv",
    log:
        "<logs>/flipped-huber-2023/figure-4-dimensions.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/compare_dimensions.py"


rule fh_limit_page:
    input:
        table="<results>/flipped-huber-2023/limit.csv",
        code=closure(f"{SCRIPTS}/limit_page.py"),
    output:
        table="<results>/flipped-huber-2023/limit-within.csv",
        page=report(
            "<results>/flipped-huber-2023/limit.md",
            caption="../report/limit.rst",
            category="flipped-huber-2023",
            subcategory="tables",
            labels={"item": "the limit, in words"},
        ),
    log:
        "<logs>/flipped-huber-2023/limit-page.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/limit_page.py"


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
        claims=f"{PUBLISHED}/flipped-huber-2023.csv",
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
        table="<results>/flipped-huber-2023/table-3-replicates.csv",
        claims=f"{PUBLISHED}/flipped-huber-2023.csv",
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
        claims=f"{PUBLISHED}/flipped-huber-2023.csv",
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


rule fh_table_3_replicates_runs:
    input:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
        code=closure(f"{SCRIPTS}/table_3_replicates_runs.py"),
    output:
        "<results>/flipped-huber-2023/table-3-replicates/{dataset}.csv",
    log:
        "<logs>/flipped-huber-2023/table-3-replicates/{dataset}.log",
    benchmark:
        "<benchmarks>/flipped-huber-2023/table-3-replicates/{dataset}.tsv"
    conda:
        "../envs/dpnoise.yaml"
    threads: 8
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        seed=config["seed"],
        task=lambda w: FH["table_3"]["tasks"][w.dataset],
        settings={k: v for k, v in sorted(FH["table_3"].items()) if k != "tasks"},
        again=FH["table_3_replicates"],
    script:
        "../scripts/table_3_replicates_runs.py"


rule fh_table_3_replicates:
    input:
        runs=expand(
            "<results>/flipped-huber-2023/table-3-replicates/{dataset}.csv",
            dataset=FH_TASKS,
        ),
        status=expand("data/prepared/{dataset}.json", dataset=FH_TASKS),
        claims=f"{PUBLISHED}/flipped-huber-2023.csv",
        code=closure(f"{SCRIPTS}/table_3_replicates.py"),
    output:
        table="<results>/flipped-huber-2023/table-3-replicates.csv",
        page=report(
            "<results>/flipped-huber-2023/table-3-replicates.md",
            caption="../report/replicates.rst",
            category="flipped-huber-2023",
            subcategory="tables",
            labels={"item": "table 3, repeated"},
        ),
        figure=report(
            multiext(
                "<figures>/flipped-huber-2023/table-3-replicates",
                ".svg",
                ".pdf",
                ".png",
            ),
            caption="../report/replicates.rst",
            category="flipped-huber-2023",
            subcategory="tables",
            labels={"item": "table 3, printed among replications"},
        ),
    log:
        "<logs>/flipped-huber-2023/table-3-replicates.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        readings=FH["table_3_replicates"]["readings"],
        trials=FH["table_3"]["trials"],
    script:
        "../scripts/table_3_replicates.py"
