# inid-2024: Muthukrishnan & Kalyani, Differential Privacy with Higher Utility by Exploiting
# Coordinate-wise Disparity.

INID = config["inid_2024"]
INID_PAPER = "inid-2024"
PROFILES = "dpnoise_papers.inid_2024.tables.profiles"
TWO_DIMENSIONS = "dpnoise_papers.inid_2024.tables.two_dimensions"
INID_CURVES = "dpnoise_papers.inid_2024.figures.curves"
INID_BEYOND = "dpnoise_papers.inid_2024.figures.laplace"
PCA_PRIVACY = "dpnoise_papers.inid_2024.tables.pca_privacy"

ITEMS |= {
    f"{INID_PAPER}/{item}": {
        "experiment": f"{PROFILES}:error_curves",
        "settings": INID[item.replace("-", "_")],
        "figure": f"{INID_CURVES}:error_curves",
        "printed": True,
    }
    for item in ["figure-1a", "figure-1b", "figure-3a", "figure-3b"]
}
ITEMS |= {
    f"{INID_PAPER}/figure-2": {
        "experiment": f"{PROFILES}:dispersion",
        "settings": INID["figure_2"],
        "figure": f"{INID_CURVES}:dispersion",
    },
    f"{INID_PAPER}/figure-4": {
        "experiment": f"{PROFILES}:error_curves",
        "settings": INID["figure_4"],
        "figure": f"{INID_CURVES}:laplace_and_gaussian",
    },
    f"{INID_PAPER}/laplace-or-gaussian": {
        "experiment": f"{PROFILES}:laplace_against_gaussian",
        "settings": INID["laplace_or_gaussian"],
        "figure": f"{INID_BEYOND}:crossovers",
    },
    f"{INID_PAPER}/table-2": {
        "experiment": f"{TWO_DIMENSIONS}:two_dimensions",
        "settings": INID["table_2"],
        "figure": "dpnoise_papers.inid_2024.figures.two_dimensions:table_2",
        "printed": True,
    },
    f"{INID_PAPER}/table-2-curves": {
        "experiment": f"{TWO_DIMENSIONS}:two_dimensions",
        "settings": INID["table_2_curves"],
        "figure": "dpnoise_papers.inid_2024.figures.two_dimensions:curves",
    },
    f"{INID_PAPER}/table-2-crossings": {
        "experiment": f"{TWO_DIMENSIONS}:staircase_crossings",
        "settings": INID["table_2_crossings"],
    },
    f"{INID_PAPER}/algorithm-1": {
        "experiment": "dpnoise_papers.inid_2024.tables.bisection:bisection",
        "settings": INID["algorithm_1"],
        "figure": "dpnoise_papers.inid_2024.figures.bisection:bisection",
    },
    f"{INID_PAPER}/corollary-6": {
        "experiment": "dpnoise_papers.inid_2024.tables.corollary_6:approximate_laplace",
        "settings": INID["corollary_6"],
        "figure": f"{INID_BEYOND}:approximate_laplace",
    },
    f"{INID_PAPER}/theorem-7": {
        "experiment": "dpnoise_papers.inid_2024.tables.theorem_7:theorem_7",
        "settings": INID["theorem_7"],
        "figure": f"{INID_BEYOND}:theorem_7",
    },
    f"{INID_PAPER}/table-1": {
        "experiment": "dpnoise_papers.inid_2024.tables.table_1:table_1",
        "settings": INID["table_1"],
    },
    f"{INID_PAPER}/table-4": {
        "experiment": "dpnoise_papers.inid_2024.tables.table_4:table_4",
        "settings": INID["table_4"],
    },
    f"{INID_PAPER}/theory": {
        "experiment": "dpnoise_papers.inid_2024.theory.statements:inid_theory",
        "settings": INID["theory"] | {"seed": config["seed"]},
    },
    f"{INID_PAPER}/table-3": {
        "experiment": "dpnoise_papers.inid_2024.tables.pca_models:dp_pca_over_models",
        "settings": INID["dp_pca"] | {"seed": config["seed"]},
        "figure": "dpnoise_papers.inid_2024.figures.pca:table_3",
        "printed": True,
    },
    f"{INID_PAPER}/dp-pca-attack": {
        "experiment": "dpnoise_papers.inid_2024.tables.pca_attack:dp_pca_attack",
        "settings": INID["dp_pca_attack"] | {"seed": config["seed"]},
        "figure": "dpnoise_papers.inid_2024.figures.pca:attack",
    },
    f"{INID_PAPER}/dp-pca-privacy": {
        "experiment": f"{PCA_PRIVACY}:dp_pca_privacy",
        "settings": INID["dp_pca_privacy"],
    },
    f"{INID_PAPER}/dp-pca-sensitivities": {
        "experiment": f"{PCA_PRIVACY}:dp_pca_sensitivities",
        "settings": INID["dp_pca_sensitivities"],
    },
}


DESCENT = {"figure-5": "california", "figure-6": "electricity"}
DESCENT_SETTINGS = {
    k: v for k, v in sorted(INID["improved_descent"].items()) if k != "tasks"
}
IMPROVED = "dpnoise_papers.inid_2024.figures.improved_descent"
DESCENT_FIGURES = (
    {  # the function that draws it, and whose printed numbers stand beside
        "figure-5": (f"{IMPROVED}:descent_paths", ["figure-5"]),
        "figure-6": (f"{IMPROVED}:descent_paths", ["figure-6"]),
        "spr-or-optimal": (f"{IMPROVED}:spr_or_optimal", []),
        "descent-readings": (f"{IMPROVED}:readings", sorted(DESCENT)),
        "descent-orders": (
            "dpnoise_papers.inid_2024.figures.descent_orders:descent_orders",
            sorted(DESCENT),
        ),
    }
)
DESCENT_DRAWN = [f"{INID_PAPER}/{item}" for item in DESCENT_FIGURES]
DESCENT_ITEMS = [*DESCENT_DRAWN, f"{INID_PAPER}/descent-orders-spread"]


rule inid_2024:
    input:
        expand(
            "<results>/inid-2024/{table}.{format}",
            table=["table-1", "table-2", "table-3"],
            format=["md", "tex"],
        ),
        expand(
            "<results>/{item}.csv",
            item=[i for i in ITEMS if i.startswith(INID_PAPER)] + DESCENT_ITEMS,
        ),
        expand(
            "<figures>/{item}.{format}",
            item=[
                i for i in ITEMS if i.startswith(INID_PAPER) and "figure" in ITEMS[i]
            ]
            + DESCENT_DRAWN,
            format=FORMATS,
        ),


rule inid_pages:
    input:
        table="<results>/inid-2024/{table}.csv",
        claims=f"{PUBLISHED}/inid-2024.csv",
        code=closure(f"{SCRIPTS}/inid_pages.py"),
    output:
        page=report(
            "<results>/inid-2024/{table}.md",
            caption="../report/items.rst",
            category="inid-2024",
            subcategory="tables",
            labels=lambda w: {"item": w.table},
        ),
        latex="<results>/inid-2024/{table}.tex",
    log:
        "<logs>/inid-2024/{table}-page.log",
    wildcard_constraints:
        table="table-[123]",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/inid_pages.py"


rule inid_descent:
    input:
        npz=lambda w: f"data/prepared/{DESCENT[w.figure]}.npz",
        status=lambda w: f"data/prepared/{DESCENT[w.figure]}.json",
        code=closure(f"{SCRIPTS}/improved_descent.py"),
    output:
        "<results>/inid-2024/{figure}.csv",
    log:
        "<logs>/inid-2024/{figure}.log",
    benchmark:
        "<benchmarks>/inid-2024/{figure}.tsv"
    wildcard_constraints:
        figure="|".join(DESCENT),
    conda:
        "../envs/dpnoise.yaml"
    threads: 8
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        seed=config["seed"],
        task=lambda w: INID["improved_descent"]["tasks"][DESCENT[w.figure]],
        settings=DESCENT_SETTINGS,
    script:
        "../scripts/improved_descent.py"


rule inid_descent_readings:
    input:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
        code=closure(f"{SCRIPTS}/descent_readings.py"),
    output:
        weights="<results>/inid-2024/descent/{dataset}-weights.csv",
        readings="<results>/inid-2024/descent/{dataset}-readings.csv",
    log:
        "<logs>/inid-2024/descent/{dataset}.log",
    benchmark:
        "<benchmarks>/inid-2024/descent/{dataset}.tsv"
    conda:
        "../envs/dpnoise.yaml"
    threads: 8
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        seed=config["seed"],
        task=lambda w: INID["improved_descent"]["tasks"][w.dataset],
        settings=DESCENT_SETTINGS,
        more=INID["descent_readings"],
    script:
        "../scripts/descent_readings.py"


rule inid_descent_orders:
    input:
        npz="data/prepared/{dataset}.npz",
        status="data/prepared/{dataset}.json",
        code=closure(f"{SCRIPTS}/descent_orders.py"),
    output:
        orders="<results>/inid-2024/descent/{dataset}-orders.csv",
        spread="<results>/inid-2024/descent/{dataset}-orders-spread.csv",
    log:
        "<logs>/inid-2024/descent/{dataset}-orders.log",
    benchmark:
        "<benchmarks>/inid-2024/descent/{dataset}-orders.tsv"
    wildcard_constraints:
        dataset="|".join(DESCENT.values()),
    conda:
        "../envs/dpnoise.yaml"
    threads: 8
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        seed=config["seed"],
        task=lambda w: INID["improved_descent"]["tasks"][w.dataset],
        settings=DESCENT_SETTINGS,
        more=INID["descent_orders"],
    script:
        "../scripts/descent_orders.py"


rule inid_descent_together:
    input:
        tables=lambda w: expand(
            "<results>/inid-2024/descent/{dataset}-{part}.csv",
            dataset=sorted(DESCENT.values()),
            part={
                "spr-or-optimal": "weights",
                "descent-readings": "readings",
                "descent-orders": "orders",
                "descent-orders-spread": "orders-spread",
            }[w.item],
        ),
        code=closure(f"{SCRIPTS}/concatenate.py"),
    output:
        "<results>/inid-2024/{item}.csv",
    log:
        "<logs>/inid-2024/{item}.log",
    wildcard_constraints:
        item="spr-or-optimal|descent-readings|descent-orders|descent-orders-spread",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/concatenate.py"


rule inid_descent_figure:
    input:
        table="<results>/inid-2024/{item}.csv",
        claims=f"{PUBLISHED}/inid-2024.csv",
        code=lambda w: closure(
            f"{SCRIPTS}/figure_descent.py", DESCENT_FIGURES[w.item][0]
        ),
    output:
        report(
            multiext("<figures>/inid-2024/{item}", ".svg", ".pdf", ".png"),
            caption="../report/items.rst",
            category="inid-2024",
            subcategory="figures",
            labels=lambda w: {"item": w.item},
        ),
    log:
        "<logs>/inid-2024/{item}-figure.log",
    wildcard_constraints:
        item="|".join(DESCENT_FIGURES),
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        figure=lambda w: DESCENT_FIGURES[w.item][0],
        beside=lambda w: DESCENT_FIGURES[w.item][1],
    script:
        "../scripts/figure_descent.py"
