"""Items of Figures 5 and 6 of inid-2024 and of what varies them: private coordinate descent."""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Table

DESCENT = (
    Item(
        id="figure-5",
        caption="Private coordinate descent on California (LASSO) with i.i.d., SPR and "
        "optimal noise: relative error of the objective against passes. Lines are one run "
        "whose noise pays for all passes, hollow marks runs of their own; stars are printed, "
        "crosses are read off the figures of Mangold et al. On standardised features the "
        "three schemes are one.",
        table=Table(
            function="dpnoise_papers.inid_2024.tables.improved_descent.improved_descent",
            settings=("improved_descent",),
            data=("california",),
            threads=8,
            memory=2000,
            minutes=15,
        ),
        figure=Figure(
            function="dpnoise_papers.inid_2024.figures.improved_descent.descent_paths",
            printed=("figure-5",),
        ),
    ),
    Item(
        id="figure-6",
        caption="Private coordinate descent on Electricity (logistic regression) with i.i.d., SPR "
        "and optimal noise: relative error of the objective against passes, as in Figure 5.",
        table=Table(
            function="dpnoise_papers.inid_2024.tables.improved_descent.improved_descent",
            settings=("improved_descent",),
            data=("electricity",),
            threads=8,
            memory=2000,
            minutes=15,
        ),
        figure=Figure(
            function="dpnoise_papers.inid_2024.figures.improved_descent.descent_paths",
            printed=("figure-6",),
        ),
    ),
    Item(  # what varies Figures 5 and 6: one job for each data set, then all together
        id="descent-variants-runs",
        table=Table(
            function="dpnoise_papers.inid_2024.tables.descent_variants.weights_and_variants",
            settings=("improved_descent", "descent_variants"),
            parts="improved_descent.tasks",
            for_each=True,
            data=("{part}",),
            makes=("descent/{part}-weights", "descent/{part}-readings"),
            threads=8,
            memory=2000,
            minutes=15,
        ),
    ),
    Item(
        id="descent-orders-runs",
        table=Table(
            function="dpnoise_papers.inid_2024.tables.descent_orders.descent_orders",
            settings=("improved_descent", "descent_orders"),
            parts="improved_descent.tasks",
            for_each=True,
            data=("{part}",),
            makes=("descent/{part}-orders", "descent/{part}-orders-spread"),
            threads=8,
            memory=2000,
            minutes=15,
        ),
    ),
    Item(
        id="spr-or-optimal",
        caption="Which noise suits coordinate descent. Left: loss of each scheme over the "
        "smallest loss, against the weights M_i^a of the squared errors; the descent pays "
        "about a = 1, for which SPR is best. Middle: the measured error with noise that is "
        "optimal for M_i^a. Right: the optimal noise over SPR for other clipping levels.",
        table=Table(
            function="dpnoise_papers.pages.together",
            parts="improved_descent.tasks",
            reads=("descent/{part}-weights",),
        ),
        figure=Figure(function="dpnoise_papers.inid_2024.figures.improved_descent.spr_or_optimal"),
    ),
    Item(
        id="descent-readings",
        caption="Error after the last pass under variants of 'noise by coordinate'. Filled "
        "marks keep the privacy budget; hollow ones do not and carry the epsilon that they "
        "spend. Crosses are the trials of the search, lines the printed numbers of Figures 5 "
        "and 6.",
        table=Table(
            function="dpnoise_papers.pages.together",
            parts="improved_descent.tasks",
            reads=("descent/{part}-readings",),
        ),
        figure=Figure(
            function="dpnoise_papers.inid_2024.figures.improved_descent.variants",
            printed=("figure-5", "figure-6"),
        ),
    ),
    Item(
        id="descent-orders",
        caption="Error after the last pass for documented and random orders of the columns, "
        "sorted by SPR's. The paper does not print its order; on raw features it moves the "
        "error of every scheme. Bars, 99 % intervals, may be cut at the lower edge. Lines are the "
        "printed numbers of Figures 5 and 6.",
        table=Table(
            function="dpnoise_papers.pages.together",
            parts="improved_descent.tasks",
            reads=("descent/{part}-orders",),
        ),
        figure=Figure(
            function="dpnoise_papers.inid_2024.figures.descent_orders.descent_orders",
            printed=("figure-5", "figure-6"),
        ),
    ),
    Item(
        id="descent-orders-spread",
        table=Table(
            function="dpnoise_papers.pages.together",
            parts="improved_descent.tasks",
            reads=("descent/{part}-orders-spread",),
        ),
    ),
)
