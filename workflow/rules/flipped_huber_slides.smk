# flipped-huber-slides: slides of the same authors. What equals an item of the paper is made by
# the same function; the figures on noise that differs by coordinate belong to inid-2024.

SLIDES = config["flipped_huber_slides"]
SLIDES_PAPER = "flipped-huber-slides"

ITEMS |= {
    f"{SLIDES_PAPER}/huber-density": {
        "experiment": "dpnoise_papers.flipped_huber_slides.tables.densities:huber_density",
        "settings": SLIDES["huber_density"],
        "figure": "dpnoise_papers.flipped_huber_slides.figures.densities:huber_density",
    },
    f"{SLIDES_PAPER}/huber-mass": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.remarks:huber_mass",
        "settings": SLIDES["huber_mass"],
    },
    f"{SLIDES_PAPER}/densities": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.densities:densities",
        "settings": SLIDES["densities"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.densities:figure_1",
    },
    f"{SLIDES_PAPER}/normalised-fisher-information": {
        "experiment": "dpnoise_papers.flipped_huber_2023.tables.densities:fisher_information",
        "settings": SLIDES["normalised_fisher_information"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.densities:figure_2",
    },
    f"{SLIDES_PAPER}/variances": {
        "experiment": f"{SCALAR}variances:scalar_variances",
        "settings": SLIDES["variances"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_variances:figure_3a",
        "printed": True,
    },
    f"{SLIDES_PAPER}/illustrative-values": {
        "experiment": f"{SCALAR}variances:illustrative_values",
        "settings": SLIDES["illustrative_values"],
        "figure": "dpnoise_papers.flipped_huber_slides.figures.densities:illustrative_values",
    },
    f"{SLIDES_PAPER}/ratio-laplace": {
        "experiment": f"{SCALAR}variances:variance_ratio",
        "settings": SLIDES["ratios"] | {"against": "laplace"},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_variances:ratio_map",
    },
    f"{SLIDES_PAPER}/ratio-staircase": {
        "experiment": f"{SCALAR}variances:variance_ratio",
        "settings": SLIDES["ratios"] | {"against": "staircase"},
        "figure": "dpnoise_papers.flipped_huber_2023.figures.scalar_variances:ratio_map",
    },
    f"{SLIDES_PAPER}/densities-1d": {
        "experiment": "dpnoise_papers.flipped_huber_slides.tables.densities:calibrated_densities",
        "settings": SLIDES["densities_1d"],
        "figure": "dpnoise_papers.flipped_huber_slides.figures.densities:densities_1d",
    },
    f"{SLIDES_PAPER}/densities-20d": {
        "experiment": "dpnoise_papers.flipped_huber_slides.tables.densities:calibrated_densities",
        "settings": SLIDES["densities_20d"],
        "figure": "dpnoise_papers.flipped_huber_slides.figures.densities:densities_1d",
    },
    f"{SLIDES_PAPER}/variances-20d": {
        "experiment": f"{VECTOR}:vector_variances",
        "settings": SLIDES["variances_20d"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.vector_variances:variances",
    },
    f"{SLIDES_PAPER}/curves-kd": {
        "experiment": f"{VECTOR}:vector_variances",
        "settings": SLIDES["curves_kd"],
        "figure": "dpnoise_papers.flipped_huber_2023.figures.vector_variances:variances",
    },
}


rule flipped_huber_slides:
    input:
        expand(
            "<results>/{item}.csv",
            item=[i for i in ITEMS if i.startswith(SLIDES_PAPER)],
        ),
        expand(
            "<figures>/{item}.{format}",
            item=[
                i for i in ITEMS if i.startswith(SLIDES_PAPER) and "figure" in ITEMS[i]
            ],
            format=FORMATS,
        ),
        "<results>/flipped-huber-slides/dp-cd-curves.csv",
        expand("<figures>/flipped-huber-slides/dp-cd-curves.{format}", format=FORMATS),
        # The pages on noise that differs by coordinate show the figures of inid-2024.
        expand(
            "<figures>/inid-2024/figure-{number}.{format}",
            number=["1a", "1b", "3a", "3b", "4", "5", "6"],
            format=FORMATS,
        ),


rule slides_dp_cd_curves:
    input:
        sweeps=expand(
            "<results>/flipped-huber-2023/table-3/{dataset}-sweep.csv",
            dataset=FH_TASKS,
        ),
        code=closure(f"{SCRIPTS}/descent_curves.py"),
    output:
        "<results>/flipped-huber-slides/dp-cd-curves.csv",
    log:
        "<logs>/flipped-huber-slides/dp-cd-curves.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        datasets=FH_TASKS,
    script:
        "../scripts/descent_curves.py"


rule slides_dp_cd_curves_figure:
    input:
        table="<results>/flipped-huber-slides/dp-cd-curves.csv",
        code=closure(f"{SCRIPTS}/figure_descent_curves.py"),
    output:
        report(
            multiext(
                "<figures>/flipped-huber-slides/dp-cd-curves", ".svg", ".pdf", ".png"
            ),
            caption="../report/dp-cd-curves.rst",
            category="flipped-huber-slides",
            subcategory="figures",
            labels={"item": "dp-cd-curves"},
        ),
    log:
        "<logs>/flipped-huber-slides/dp-cd-curves-figure.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/figure_descent_curves.py"
