"""Items of flipped-huber-slides, by the authors of flipped-huber-2023.

What equals an item of the paper is made by the same function; the pages on noise that differs by
coordinate show the figures of inid-2024.
"""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Paper, Table

DENSITIES = (
    Item(
        id="huber-density",
        caption="Huber's distribution, Gaussian in the centre and Laplace in the tails, beside "
        "both, plain and logarithmic. The dots at abs(t) = alpha are where it turns.",
        table=Table(function=".tables.huber_density"),
        figure=Figure(function=".figures.huber_density"),
    ),
    Item(
        id="huber-mass",
        table=Table(function=".tables.huber_mass"),
    ),
    Item(
        id="densities",
        caption="Flipped Huber densities: Figure 1 of flipped-huber-2023 once more, from the same "
        "function and settings, since the slides show it too.",
        table=Table(function="dpnoise_papers.flipped_huber_2023.tables.privacy.densities"),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.privacy.figure_1"),
    ),
    Item(
        id="normalised-fisher-information",
        caption="Normalised Fisher information of the flipped Huber distribution, from 1 "
        "(Gaussian) to 2 (Laplace): Figure 2 of flipped-huber-2023 once more, from the same "
        "function and settings.",
        table=Table(function="dpnoise_papers.flipped_huber_2023.tables.privacy.fisher_information"),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.privacy.figure_2"),
    ),
    Item(
        id="densities-1d",
        caption="Calibrated densities in one dimension at epsilon = 2, delta = 1e-6, with their "
        "standard deviations.",
        table=Table(function=".tables.calibrated_densities"),
        figure=Figure(function=".figures.densities_1d"),
    ),
    Item(
        id="densities-20d",
        caption="Calibrated densities of one coordinate of twenty at epsilon = 5, delta = 1e-6, "
        "with their standard deviations.",
        table=Table(function=".tables.calibrated_densities"),
        figure=Figure(function=".figures.densities_1d"),
    ),
)
VARIANCES = (
    Item(
        id="variances",
        caption="The minimum variance of four mechanisms in one dimension at delta = 1e-6, and "
        "how far each is above the smallest of them, which runs in the grey band. It is Figure 3a of "
        "flipped-huber-2023 without its Laplace and staircase noise. Curves 'in the search box' "
        "(squares) take alpha or theta from 0.02 to 150 and gamma from 0.02 to 50; the others are "
        "unrestricted. Methods of one mechanism that agree within 2 % everywhere share a curve. The "
        "slides print no variances.",
        table=Table(function="dpnoise_papers.flipped_huber_2023.tables.variances.scalar_variances"),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.variances.figure_3a"),
    ),
    Item(
        id="illustrative-values",
        caption="The best alpha (left) and gamma (right) at delta = 1e-6. Dots with values are "
        "exact; open circles are by our run of the paper's grid search, which can lie far off at "
        "nearly the same variance.",
        table=Table(function=".tables.illustrative_values"),
        figure=Figure(function=".figures.illustrative_values"),
    ),
    Item(
        id="ratio-laplace",
        caption="Variance of flipped Huber noise over that of (epsilon, delta)-DP Laplace noise, "
        "in decibels: Figure 3b of flipped-huber-2023 once more, from the same table.",
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.variances.ratio_map",
            reads=("flipped-huber-2023/figure-3b",),
        ),
    ),
    Item(
        id="ratio-staircase",
        caption="Variance of flipped Huber noise over that of the epsilon-DP staircase, in "
        "decibels: Figure 3c of flipped-huber-2023 once more, from the same table.",
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.variances.ratio_map",
            reads=("flipped-huber-2023/figure-3c",),
        ),
    ),
    Item(
        id="variances-20d",
        caption="Twenty dimensions at delta = 1e-6: variance per coordinate (top), decibels below "
        "the exact Gaussian (middle) and per cent above the best of those drawn (bottom). The best "
        "runs in the grey band. Methods of one mechanism that agree within 2 % everywhere share a "
        "curve: those in the paper's search box do so here, where it holds private noise at all. "
        "Decibels are spread near 0.",
        table=Table(function="dpnoise_papers.flipped_huber_2023.tables.variances.vector_variances"),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.variances.variances"),
    ),
    Item(
        id="composition",
        table=Table(function=".tables.composition", settings=(), reads=("variances-20d",)),
    ),
    Item(
        id="curves-kd",
        caption="The minimum variance of each mechanism in 2, 10 and 50 dimensions. The panels have "
        "the variance per coordinate (top), decibels below the exact Gaussian (middle) and per cent "
        "above the best of those drawn (bottom). The best runs in the grey band: in 50 dimensions the Gaussian "
        "and flipped Huber noise, which are one there but for 0.001 %.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.variances.vector_variances",
            alone=True,
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.variances.variances"),
    ),
)

DESCENT = Item(
    id="dp-cd-curves",
    caption="The best error of private coordinate descent against the number of passes, "
    "epsilon = 1, delta = 1/N^2. Where the curves of two mechanisms lie on one another they are "
    "one distribution: the zCDP calibration has chosen alpha = 0.",
    table=Table(
        function=".tables.descent_curves",
        settings=(),
        parts="flipped_huber_2023.table_3.tasks",
        reads=("flipped-huber-2023/table-3-curves/{part}",),
    ),
    figure=Figure(function=".figures.descent_curves"),
)

PAPER = Paper(
    id="flipped-huber-slides",
    items=(*DENSITIES, *VARIANCES, DESCENT),
    shows=(
        "inid-2024/figure-1a",
        "inid-2024/figure-1b",
        "inid-2024/figure-3a",
        "inid-2024/figure-3b",
        "inid-2024/figure-4",
        "inid-2024/figure-5",
        "inid-2024/figure-6",
    ),
)
