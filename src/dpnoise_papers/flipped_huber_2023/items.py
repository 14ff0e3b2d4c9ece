"""Items of flipped-huber-2023.

P. Muthukrishnan and S. Kalyani, Grafting Laplace and Gaussian distributions: A new noise mechanism
for differential privacy, IEEE Transactions on Information Forensics and Security, 2023.
"""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Page, Paper, Table

DENSITIES = (
    Item(
        id="figure-1",
        caption="Flipped Huber densities for several transitions alpha and scales gamma, plain "
        "and logarithmic (the paper does not print its parameters). Up to the dots at "
        "abs(t) = alpha the logarithm is straight, as for Laplace noise; beyond, it is a "
        "parabola, as for Gaussian noise.",
        table=Table(function=".tables.privacy.densities"),
        figure=Figure(function=".figures.privacy.figure_1"),
    ),
    Item(
        id="figure-2",
        caption="Normalised Fisher information (Fisher information times variance) of the "
        "flipped Huber distribution against alpha/gamma. It depends on that ratio alone and "
        "rises from 1, the Gaussian's, to 2, Laplace's; nearly all of the rise lies between "
        "0.5 and 3.",
        table=Table(function=".tables.privacy.fisher_information"),
        figure=Figure(function=".figures.privacy.figure_2"),
    ),
)
LOSSES = (
    Item(
        id="table-1",
        caption="The five cases of the exact scalar profile (13) and the borders between them: the "
        "formula as printed, at 50 digits, beside our profile at random parameters.",
        table=Table(function=".tables.privacy.published_cases"),
        page=Page(function=".figures.privacy.table_1_page", formats=("md", "tex")),
    ),
    Item(
        id="figure-5",
        caption="Centred privacy loss of flipped Huber noise (green, dashed) and the affine bound "
        "behind Theorem 8 (solid grey), which touch at the open circle.",
        table=Table(function=".tables.privacy.loss_and_bound"),
        figure=Figure(function=".figures.privacy.figure_5"),
    ),
    Item(
        id="figure-6",
        caption="Privacy profiles of three noises of variance 16: the smallest delta that each "
        "affords at epsilon. Close to 0 the order is the reverse of that beyond.",
        table=Table(function=".tables.privacy.profiles_at_one_variance"),
        figure=Figure(function=".figures.privacy.figure_6"),
    ),
    Item(
        id="figure-7",
        caption="Centred privacy losses of four mechanisms at one scale. The transition "
        "parameters are not printed; here they equal the scale.",
        table=Table(function=".tables.privacy.losses_at_one_scale"),
        figure=Figure(function=".figures.privacy.figure_7"),
    ),
)
_SHARED = "Methods of one mechanism that agree within 2 % everywhere share a curve."
VARIANCES = (
    Item(
        id="figure-3a",
        caption="The minimum variance of each mechanism in one dimension at delta = 1e-6, "
        "sensitivity 1. Open circles are numbers that the paper prints. Below, the smallest variance "
        "of those drawn runs in the grey band. Curves 'in the search box' (squares) take alpha or "
        "theta from 0.02 to 150 and gamma from 0.02 to 50, as the paper searches; the others are "
        "unrestricted. "
        + _SHARED
        + " The offset-symmetric Gaussian approaches the Laplace limit, which its "
        "printed numbers are far from.",
        table=Table(function=".tables.variances.scalar_variances"),
        figure=Figure(function=".figures.variances.figure_3a", printed=("figure-3a",)),
    ),
    Item(
        id="figure-3b",
        caption="Variance of flipped Huber noise over that of (epsilon, delta)-DP Laplace noise, "
        "in decibels.",
        table=Table(function=".tables.variances.variance_ratio", alone=True),
        figure=Figure(function=".figures.variances.ratio_map"),
    ),
    Item(
        id="figure-3c",
        caption="Variance of (epsilon, delta)-DP flipped Huber noise over that of the epsilon-DP "
        "staircase, in decibels.",
        table=Table(function=".tables.variances.variance_ratio", alone=True),
        figure=Figure(function=".figures.variances.ratio_map"),
    ),
    Item(
        id="limit",
        caption="Where each mechanism is certainly within 1 % of the minimum that any additive noise "
        "needs. Linear programs bound it from both sides: the variance and the mean absolute error by "
        "epsilon and delta.",
        table=Table(function=".tables.limit.limit", alone=True),
        page=Page(function=".tables.limit.limit_page", reads=("limit", "limit-within")),
    ),
    Item(
        id="limit-within",
        table=Table(function=".tables.limit.within", settings=(), reads=("limit",)),
    ),
    Item(
        id="remark-1",
        table=Table(function=".tables.remarks.remark_1", alone=True),
    ),
    Item(
        id="identification",
        table=Table(function=".tables.remarks.identification"),
    ),
)
_BOX = (
    "Curves 'in the search box' take the parameters that the paper searches, alpha or theta from 0.02 "
    "to 150 and gamma from 0.02 to 50. They end where none of them is private; the others are "
    "unrestricted. "
    + _SHARED
    + " Flipped Huber noise at its optimum and Laplace noise often lie on one another."
)
_PANELS = (
    "{} dimensions, at the paper's delta = 1e-8 and at 1e-6: variance per coordinate (top), decibels "
    "below the exact Gaussian (middle) and per cent above the best of those drawn (bottom). The best "
    "runs in the grey band. "
)

DIMENSIONS = (
    Item(
        id="figure-4a",
        caption=_PANELS.format("Three") + _BOX,
        table=Table(function=".tables.variances.vector_variances", alone=True),
        figure=Figure(function=".figures.variances.figure_4", printed=("figure-4a",)),
    ),
    Item(
        id="figure-4b",
        caption=_PANELS.format("Five")
        + _BOX
        + " The exact curve is the variance below which no flipped Huber noise is private; "
        "the printed 502 at epsilon = 0.3 lies below it.",
        table=Table(function=".tables.variances.vector_variances", alone=True),
        figure=Figure(function=".figures.variances.figure_4", printed=("figure-4b",)),
    ),
    Item(
        id="figure-4-dimensions",
        table=Table(
            function=".tables.remarks.compare_dimensions",
            settings=(),
            reads=("figure-4a", "figure-4b"),
        ),
    ),
    Item(
        id="table-2",
        caption="Twenty dimensions: the optimum (the best found), Theorem 8 and the paper's alternatives. "
        "Open circles are the numbers of Table II, in the table in brackets. At the bottom the best "
        "of those drawn runs in the grey band; decibels are spread near 0. " + _BOX,
        table=Table(function=".tables.variances.vector_variances", alone=True),
        figure=Figure(function=".figures.variances.table_2", printed=("table-2",)),
        page=Page(function=".figures.variances.table_2_page", claims=True, formats=("md", "tex")),
    ),
    Item(
        id="gain",
        caption="What flipped Huber noise gains over the better of Gaussian and Laplace, against "
        "the number of coordinates; points are the numbers that were computed. Left of a peak Laplace is the better of the two, right of it "
        "the Gaussian. In more dimensions than are shown the gain is below a thousandth of the "
        "largest.",
        table=Table(function=".tables.variances.gain_by_dimension", alone=True),
        figure=Figure(function=".figures.variances.gain"),
    ),
)
TABLE_3 = (
    Item(  # Table III and the slides' curves: one job for each data set, then all together
        id="table-3-runs",
        table=Table(
            function=".table_3.replicates.replications",
            settings=("table_3",),
            parts="table_3.tasks",
            for_each=True,
            data=("{part}",),
            makes=("table-3/{part}",),
            threads=8,
            memory=3000,
            minutes=30,
        ),
    ),
    Item(
        id="table-3-curves",
        table=Table(
            function=".table_3.replicates.curves",
            settings=("table_3",),
            parts="table_3.tasks",
            for_each=True,
            data=("{part}",),
            makes=("table-3-curves/{part}",),
            threads=8,
            memory=2000,
        ),
    ),
    Item(
        id="table-3",
        caption="Private coordinate descent with Gaussian and with flipped Huber noise: normalised "
        "squared error of the coefficients (NMSE), test error and, at the right, the ratio of the "
        "two NMSE. The whole protocol is replicated with partitions and noise of its own: dots "
        "are medians, bars hold 99 % of the replications, open marks are printed. NMSE and test "
        "error are in units of the number printed for the Gaussian. The page gives the place of each "
        "printed number among the replications and the probability of the printed gain by seeds "
        "alone. It also says what other choices do that the paper leaves open.",
        table=Table(
            function=".table_3.replicates.table_3",
            parts="table_3.tasks",
            reads=("table-3/{part}",),
            statuses=True,
            claims=True,
        ),
        page=Page(function=".table_3.figures.pages", claims=True, formats=("md", "tex")),
        figure=Figure(function=".table_3.figures.table_3", printed=("table-3",)),
    ),
    Item(
        id="table-3-joint",
        caption="Each column of Table III as a whole: the p-value of its eight printed numbers as one "
        "more replication of a reading. Readings that contradict a Gaussian column are not "
        "the authors'; the others judge the columns of flipped Huber noise.",
        table=Table(
            function=".table_3.joint.joint",
            settings=("table_3",),
            parts="table_3.tasks",
            reads=("table-3/{part}",),
            claims=True,
        ),
        page=Page(function=".table_3.figures.joint_page"),
    ),
)
STATEMENTS = (
    Item(
        id="algorithm-2",
        table=Table(function=".tables.privacy.algorithm_2"),
    ),
    Item(
        id="theory",
        table=Table(function=".theory.statements.theory", alone=True),
    ),
    Item(
        id="counterexamples",
        table=Table(function=".theory.counterexamples.counterexamples"),
    ),
)

PAPER = Paper(
    id="flipped-huber-2023",
    items=(*DENSITIES, *LOSSES, *VARIANCES, *DIMENSIONS, *TABLE_3, *STATEMENTS),
)
