# balle-wang-2018: Balle & Wang, Improving the Gaussian mechanism for differential privacy.

BW = config["balle_wang_2018"]
BW_PAPER = "balle-wang-2018"
GAUSSIAN = "dpnoise_papers.balle_wang_2018.tables.gaussian_calibration"
GAUSSIAN_FIGURES = "dpnoise_papers.balle_wang_2018.figures.gaussian_calibration"
DENOISED_FIGURES = "dpnoise_papers.balle_wang_2018.figures.denoising_curves"

ITEMS |= {
    f"{BW_PAPER}/figure-1a": {
        "experiment": f"{GAUSSIAN}:classical_against_analytic",
        "settings": BW["figure_1a"],
        "figure": f"{GAUSSIAN_FIGURES}:deviations",
    },
    f"{BW_PAPER}/figure-1b": {
        "experiment": f"{GAUSSIAN}:classical_against_analytic",
        "settings": BW["figure_1b"],
        "figure": f"{GAUSSIAN_FIGURES}:gain_by_epsilon",
    },
    f"{BW_PAPER}/figure-3a": {
        "experiment": f"{GAUSSIAN}:classical_against_analytic",
        "settings": BW["figure_3a"],
        "figure": f"{GAUSSIAN_FIGURES}:gain_by_delta",
    },
    f"{BW_PAPER}/gain-crossings": {
        "experiment": f"{GAUSSIAN}:gain_crossings",
        "settings": BW["gain_crossings"],
    },
    f"{BW_PAPER}/algorithm-1": {
        "experiment": f"{GAUSSIAN}:published_algorithm",
        "settings": BW["algorithm_1"],
        "figure": f"{GAUSSIAN_FIGURES}:published_algorithm",
    },
    f"{BW_PAPER}/algorithm-1-sizes": {
        "experiment": f"{GAUSSIAN}:published_algorithm_sizes",
        "settings": BW["algorithm_1"] | BW["algorithm_1_sizes"],
    },
    f"{BW_PAPER}/theory": {
        "experiment": "dpnoise_papers.balle_wang_2018.theory.statements:gaussian_theory",
        "settings": BW["theory"] | {"seed": config["seed"]},
    },
}
# Figures 1, 3 and 4 have one panel per epsilon; 1d and 4d show the denoised in high dimension.
ITEMS |= {
    f"{BW_PAPER}/{item}": {
        "experiment": f"dpnoise.experiments.{experiment}:{experiment}",
        "settings": BW[experiment] | {"seed": config["seed"], "epsilons": [epsilon]},
        "figure": f"{DENOISED_FIGURES}:error_curves",
    }
    for item, experiment, epsilon in [
        ("figure-1c", "mean_estimation", 0.01),
        ("figure-3b", "mean_estimation", 1.0),
        ("figure-3c", "mean_estimation", 0.1),
        ("figure-4a", "histograms", 1.0),
        ("figure-4b", "histograms", 0.1),
        ("figure-4c", "histograms", 0.01),
    ]
}
ITEMS |= {
    f"{BW_PAPER}/{item}": {
        "experiment": f"dpnoise.experiments.{experiment}:{experiment}",
        "settings": BW[experiment]
        | {"seed": config["seed"], "epsilons": [0.01, 0.1, 1.0]}
        | {"dimensions": BW["high_dimensions"], "exact_up_to": 0},
        "figure": f"{DENOISED_FIGURES}:denoised_curves",
    }
    for item, experiment in [
        ("figure-1d", "mean_estimation"),
        ("figure-4d", "histograms"),
    ]
}


CITY = BW["city"]
CITY_HOURS = sorted(
    {m["hour"] for m in BW["heat_maps"].values()} | set(BW["figure_6"]["hours"])
)
COUNTING = {key: CITY[key] for key in ("bandwidth", "most", "reach")}
SYNTHETIC = COUNTING | {key: CITY[key] for key in ("columns", "events", "rows")}
CITY_BUDGET = {"delta": CITY["delta"], "most": CITY["most"]}


rule balle_wang_2018:
    input:
        expand(
            "<results>/{item}.csv", item=[i for i in ITEMS if i.startswith(BW_PAPER)]
        ),
        expand(
            "<figures>/{item}.{format}",
            item=[i for i in ITEMS if i.startswith(BW_PAPER) and "figure" in ITEMS[i]],
            format=FORMATS,
        ),
        expand(
            "<results>/balle-wang-2018/{item}.csv",
            item=["heat-map-data", "figure-2", "figure-5", "figure-6"],
        ),
        expand(
            "<figures>/balle-wang-2018/{item}.{format}",
            item=["figure-2", "figure-5", "figure-6"],
            format=FORMATS,
        ),


rule city:
    input:
        registry="data/cities.yaml",
        code=closure(f"{SCRIPTS}/prepare_city.py"),
    output:
        npz="data/prepared/city/manhattan.npz",
        status="data/prepared/city/manhattan.json",
    log:
        "<logs>/datasets/manhattan.log",
    localrule: True
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        hours=CITY_HOURS,
        counting=COUNTING | {"passengers_per_trip": CITY["passengers_per_trip"]},
        cache=config["data"]["cache"],
        offline=config["data"]["offline"],
        strict=config["strict"],
        attempt=lambda w: attempt(
            "manhattan",
            "data/prepared/city/manhattan.json",
            cache=config["data"]["cache"],
            offline=config["data"]["offline"],
            registry="data/cities.yaml",
        ),
    script:
        "../scripts/prepare_city.py"


rule city_data:
    input:
        city="data/prepared/city/manhattan.npz",
        code=closure(f"{SCRIPTS}/city_data.py"),
    output:
        "<results>/balle-wang-2018/heat-map-data.csv",
    log:
        "<logs>/balle-wang-2018/heat-map-data.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        seed=config["seed"],
        hours=CITY_HOURS,
        synthetic=SYNTHETIC,
    script:
        "../scripts/city_data.py"


rule heat_maps:
    input:
        city="data/prepared/city/manhattan.npz",
        code=closure(f"{SCRIPTS}/heat_maps.py"),
    output:  # in this order
        "<results>/balle-wang-2018/{map}.csv",
        "<results>/balle-wang-2018/{map}-maps.csv",
        "<results>/balle-wang-2018/{map}-roads.csv",
    log:
        "<logs>/balle-wang-2018/{map}.log",
    benchmark:
        "<benchmarks>/balle-wang-2018/{map}.tsv"
    wildcard_constraints:
        map="figure-[25]",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        seed=config["seed"],
        synthetic=SYNTHETIC,
        settings=lambda w: CITY_BUDGET | BW["heat_maps"][w.map.replace("-", "_")],
    script:
        "../scripts/heat_maps.py"


rule heat_map_errors:
    input:
        city="data/prepared/city/manhattan.npz",
        code=closure(f"{SCRIPTS}/heat_map_errors.py"),
    output:
        "<results>/balle-wang-2018/figure-6/hour-{hour}.csv",
    log:
        "<logs>/balle-wang-2018/figure-6-hour-{hour}.log",
    benchmark:
        "<benchmarks>/balle-wang-2018/figure-6-hour-{hour}.tsv"
    wildcard_constraints:
        hour=r"\d+",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        seed=config["seed"],
        hour=lambda w: int(w.hour),
        synthetic=SYNTHETIC,
        settings=CITY_BUDGET
        | {key: BW["figure_6"][key] for key in ("epsilons", "methods", "repetitions")},
    script:
        "../scripts/heat_map_errors.py"


rule heat_map_hours:
    input:
        tables=expand(
            "<results>/balle-wang-2018/figure-6/hour-{hour}.csv",
            hour=BW["figure_6"]["hours"],
        ),
        code=closure(f"{SCRIPTS}/concatenate.py"),
    output:
        "<results>/balle-wang-2018/figure-6.csv",
    log:
        "<logs>/balle-wang-2018/figure-6.log",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    script:
        "../scripts/concatenate.py"


rule figure_heat_maps:
    input:
        tables=lambda w: [
            f"<results>/balle-wang-2018/{w.map}{end}.csv"
            for end in ([""] if w.map == "figure-6" else ["", "-maps", "-roads"])
        ],
        code=closure(f"{SCRIPTS}/figure_heat_maps.py"),
    output:
        report(
            multiext("<figures>/balle-wang-2018/{map}", ".svg", ".pdf", ".png"),
            caption="../report/heat-maps.rst",
            category="balle-wang-2018",
            subcategory="figures",
            labels=lambda w: {"item": w.map},
        ),
    log:
        "<logs>/balle-wang-2018/{map}-figure.log",
    wildcard_constraints:
        map="figure-[256]",
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        drawing=lambda w: "errors" if w.map == "figure-6" else "maps",
    script:
        "../scripts/figure_heat_maps.py"
