"""Items of flipped-huber-2023 in one dimension: densities, privacy losses and variances."""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Page, Table

DENSITIES = (
    Item(
        id="figure-1",
        caption="Flipped Huber densities for several transitions alpha and scales gamma, plain "
        "and logarithmic (the paper does not print its parameters). Up to the dots at "
        "abs(t) = alpha the logarithm is straight, as for Laplace noise; beyond, it is a "
        "parabola, as for Gaussian noise.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.densities.densities",
            settings=("figure_1",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.densities.figure_1"),
    ),
    Item(
        id="figure-2",
        caption="Normalised Fisher information (Fisher information times variance) of the "
        "flipped Huber distribution against alpha/gamma. It depends on that ratio alone and "
        "rises from 1, the Gaussian's, to 2, Laplace's; nearly all of the rise lies between "
        "0.5 and 3.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.densities.fisher_information",
            settings=("figure_2",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.densities.figure_2"),
    ),
)
LOSSES = (
    Item(
        id="table-1",
        caption="The five cases of the exact scalar profile (13) by the two ratios that decide "
        "between them. For each case and each border (black) the formula as printed, at 50 "
        "digits, was compared with our profile at random parameters; a cross would mark a "
        "trial that contradicts the table.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_cases.published_cases",
            settings=("table_1",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.scalar_cases.table_1"),
        page=Page(
            function="dpnoise_papers.flipped_huber_2023.figures.table_pages.table_1",
            formats=("md", "tex"),
        ),
    ),
    Item(
        id="figure-5",
        caption="Centred privacy loss of flipped Huber noise (green, dashed) and the affine bound "
        "behind Theorem 8 (solid grey), which touch at the open circle.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_losses.loss_and_bound",
            settings=("figure_5",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.scalar_losses.figure_5"),
    ),
    Item(
        id="figure-6",
        caption="Privacy profiles of three noises of variance 16: the smallest delta that each "
        "affords at epsilon. Close to 0 the order is the reverse of that beyond.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_losses.profiles_at_one_variance",
            settings=("figure_6",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.scalar_losses.figure_6"),
    ),
    Item(
        id="figure-7",
        caption="Centred privacy losses of four mechanisms at one scale. The transition "
        "parameters are not printed; here they equal the scale.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_losses.losses_at_one_scale",
            settings=("figure_7",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.scalar_losses.figure_7"),
    ),
)
VARIANCES = (
    Item(
        id="figure-3a",
        caption="The minimum variance of each mechanism in one dimension at delta = 1e-6, "
        "sensitivity 1. Open circles are numbers that the paper prints. Below, the smallest variance "
        "of those drawn runs along the lower edge. Curves 'in the search box' (squares) take alpha or "
        "theta from 0.02 to 150 and gamma from 0.02 to 50, as the paper searches; the others are "
        "unrestricted. The offset-symmetric Gaussian approaches the Laplace limit, which its "
        "printed numbers are far from.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_variances.scalar_variances",
            settings=("figure_3a",),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.scalar_variances.figure_3a",
            printed=("figure-3a",),
        ),
    ),
    Item(
        id="figure-3b",
        caption="Variance of flipped Huber noise over that of (epsilon, delta)-DP Laplace noise, "
        "in decibels.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_variances.variance_ratio",
            settings=("figure_3b",),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.scalar_variances.ratio_map"
        ),
    ),
    Item(
        id="figure-3c",
        caption="Variance of (epsilon, delta)-DP flipped Huber noise over that of the epsilon-DP "
        "staircase, in decibels.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.scalar_variances.variance_ratio",
            settings=("figure_3c",),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.scalar_variances.ratio_map"
        ),
    ),
    Item(
        id="limit",
        caption="How far each mechanism is above the minimum that any additive noise needs, which "
        "linear programs bound from both sides: the variance and the mean absolute error by "
        "epsilon, for pure privacy and the paper's delta, and where a mechanism is certainly "
        "within 1 %. limit-supplement shows the other deltas.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.limit.limit",
            settings=("limit",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.limit.limit"),
        page=Page(
            function="dpnoise_papers.flipped_huber_2023.figures.limit_page.limit_page",
            reads=("limit", "limit-within"),
        ),
    ),
    Item(
        id="limit-supplement",
        caption="How far each mechanism is above the minimum that any additive noise needs, as "
        "in limit, for all other deltas.",
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.limit.limit_supplement",
            reads=("limit",),
        ),
    ),
    Item(
        id="limit-within",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.limit.within", reads=("limit",)
        ),
    ),
    Item(
        id="remark-1",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.remarks.remark_1",
            settings=("remark_1",),
        ),
    ),
    Item(
        id="identification",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.remarks.identification",
            settings=("identification",),
        ),
    ),
)
