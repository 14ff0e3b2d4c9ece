# One table and one figure for each item that a paper's file adds to ITEMS: which function of
# dpnoise.experiments makes the table, with which settings, and which of dpnoise.figures draws it.


rule item_table:
    input:
        code=lambda w: closure(f"{SCRIPTS}/item_table.py", ITEMS[w.item]["experiment"]),
    output:
        "<results>/{item}.csv",
    log:
        "<logs>/{item}-table.log",
    benchmark:
        "<benchmarks>/{item}.tsv"
    wildcard_constraints:
        item="|".join(ITEMS),
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        experiment=lambda w: ITEMS[w.item]["experiment"],
        settings=lambda w: ITEMS[w.item]["settings"],
    script:
        "../scripts/item_table.py"


rule item_figure:
    input:
        table="<results>/{item}.csv",
        claims=lambda w: (
            f"{PUBLISHED}/{w.item.split('/')[0]}.csv"
            if ITEMS[w.item].get("printed")
            else []
        ),
        code=lambda w: closure(f"{SCRIPTS}/item_figure.py", ITEMS[w.item]["figure"]),
    output:
        report(
            multiext("<figures>/{item}", ".svg", ".pdf", ".png"),
            caption="../report/items.rst",
            category=lambda w: w.item.split("/")[0],
            subcategory="figures",
            labels=lambda w: {"item": w.item.split("/")[1]},
        ),
    log:
        "<logs>/{item}-figure.log",
    wildcard_constraints:
        item="|".join(item for item in ITEMS if "figure" in ITEMS[item]),
    conda:
        "../envs/dpnoise.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        figure=lambda w: ITEMS[w.item]["figure"],
    script:
        "../scripts/item_figure.py"
