"""Items of Table III of flipped-huber-2023, its ablation and its replications."""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Page, Table

TABLE_3 = (
    Item(  # Table III and what surrounds it: one job for each data set, then all together
        id="table-3-sweep",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.table_3.sweep",
            settings=("table_3",),
            parts="table_3.tasks",
            for_each=True,
            data=("{part}",),
            makes=("table-3/{part}-sweep", "table-3/{part}-chosen"),
            threads=8,
            memory=2000,
            minutes=20,
        ),
    ),
    Item(
        id="table-3",
        caption="Private coordinate descent with Gaussian and with flipped Huber noise: normalised "
        "squared error of the coefficients and test error. In the figure each data set is in "
        "units of the number printed for the Gaussian. Open circles are printed, dots are our "
        "medians with an interval that holds 99 % of the replications, and the marks at the "
        "right give the verdict on each number. The table also lists the noise parameters that "
        "the calibration selected: where alpha = 0 the two mechanisms are one.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.table_3.table_3",
            settings=("table_3",),
            parts="table_3.tasks",
            reads=("table-3/{part}-chosen",),
            statuses=True,
            makes=("table-3", "table-3-honest"),
        ),
        page=Page(
            function="dpnoise_papers.flipped_huber_2023.figures.table_3_pages.pages",
            claims=True,
            formats=("md", "tex"),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.table_3.table_3",
            reads=("table-3-replicates",),
            printed=("table-3",),
        ),
    ),
    Item(
        id="table-3-ablation-runs",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.table_3_ablation.variants",
            settings=("table_3", "table_3_ablation"),
            parts="table_3.tasks",
            for_each=True,
            data=("{part}",),
            makes=("table-3-ablation/{part}",),
            threads=8,
            memory=2000,
            minutes=20,
        ),
    ),
    Item(
        id="table-3-ablation",
        caption="Table III with one unprinted choice changed at a time, ranked by the mean of "
        "abs(log(ours / printed)) over all its numbers. 'chosen' is the setting of "
        "config.yaml, one for all rows together; variants within a few hundredths of each "
        "other cannot be told apart on five trials.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.table_3_ablation.ranking",
            parts="table_3.tasks",
            reads=("table-3-ablation/{part}",),
            claims=True,
        ),
        page=Page(
            function="dpnoise_papers.flipped_huber_2023.figures.table_3_ablation.page",
            parts="table_3.tasks",
            reads=("table-3-ablation", "table-3-ablation/{part}"),
            claims=True,
        ),
    ),
    Item(
        id="table-3-replicates-runs",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.table_3_replicates.replications",
            settings=("table_3", "table_3_replicates"),
            parts="table_3.tasks",
            for_each=True,
            data=("{part}",),
            makes=("table-3-replicates/{part}",),
            threads=8,
            memory=3000,
            minutes=20,
        ),
    ),
    Item(
        id="table-3-replicates",
        caption="The whole protocol of Table III with independent partitions and noise, many times: "
        "where each printed number lies among the replications, how probable the printed gain "
        "is by seeds alone, the mean gain, and what other readings of what the paper leaves open, "
        "alone and together, do to the Gaussian row, which is the control, and to the gain.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.table_3_replicates.summary",
            settings=("table_3_replicates",),
            parts="table_3.tasks",
            reads=("table-3-replicates/{part}",),
            statuses=True,
            claims=True,
        ),
        page=Page(
            function="dpnoise_papers.flipped_huber_2023.figures.table_3_replicates.page",
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.table_3_replicates.replicates",
        ),
    ),
)
