"""Items of flipped-huber-2023.

P. Muthukrishnan and S. Kalyani, Grafting Laplace and Gaussian distributions: A new noise mechanism
for differential privacy, IEEE Transactions on Information Forensics and Security, 2023.
"""

from __future__ import annotations

from dpnoise_papers.flipped_huber_2023.items_scalar import DENSITIES, LOSSES, VARIANCES
from dpnoise_papers.flipped_huber_2023.items_table_3 import TABLE_3
from dpnoise_papers.item import Figure, Item, Page, Paper, Table

DIMENSIONS = (
    Item(
        id="figure-4a",
        caption="Three dimensions: variance per coordinate (top), decibels below the exact "
        "Gaussian (middle) and per cent above the best (bottom), at the paper's delta = 1e-8 and "
        "at 1e-6.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.vector_variances.vector_variances",
            settings=("figure_4a",),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.vector_variances.figure_4",
            printed=("figure-4a",),
        ),
    ),
    Item(
        id="figure-4b",
        caption="Five dimensions: variance per coordinate (top), decibels below the exact "
        "Gaussian (middle) and per cent above the best (bottom), at the paper's delta = 1e-8 and "
        "at 1e-6. The exact curve is the variance below which no flipped Huber noise is private; "
        "the printed 502 at epsilon = 0.3 lies below it.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.vector_variances.vector_variances",
            settings=("figure_4b",),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.vector_variances.figure_4",
            printed=("figure-4b",),
        ),
    ),
    Item(
        id="figure-4-dimensions",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.figure_4_dimensions.compare_dimensions",
            reads=("figure-4a", "figure-4b"),
        ),
    ),
    Item(
        id="table-2",
        caption="Twenty dimensions: the optimum (proved to 0.1 %), Theorem 8 and the paper's alternatives. "
        "Open circles are the numbers of Table II, in the table in brackets.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.vector_variances.vector_variances",
            settings=("table_2",),
        ),
        figure=Figure(
            function="dpnoise_papers.flipped_huber_2023.figures.vector_variances.table_2",
            printed=("table-2",),
        ),
        page=Page(
            function="dpnoise_papers.flipped_huber_2023.figures.table_pages.table_2",
            claims=True,
            formats=("md", "tex"),
        ),
    ),
    Item(
        id="gain",
        caption="What flipped Huber noise gains over the better of Gaussian and Laplace, against "
        "the number of coordinates. Left of a peak Laplace is the better of the two, right of it "
        "the Gaussian.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.vector_variances.gain_by_dimension",
            settings=("gain",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.vector_variances.gain"),
    ),
)
JOINT = (
    Item(
        id="joint-noise",
        caption="Beyond the paper: variance per coordinate, divided by the number K of "
        "coordinates, each of which may change by 1, and a floor that no additive noise is below "
        "(grey area). Joint noise is "
        "the best that was found, in the norm of the box and then, where the curve flattens, of "
        "the l2 ball around it; for one coordinate it is the scalar staircase. The floor need not be "
        "attained.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.joint_noise.joint_noise",
            settings=("joint_noise",),
            reads=("gain",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.joint_noise.joint_noise"),
    ),
    Item(
        id="joint-rows",
        caption="Beyond the paper: the best joint noise found, and a floor under any additive "
        "noise, for the budgets of Figure 4 and Table II. No verdict on the paper rests on it.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.joint_noise.joint_rows",
            reads=("figure-4a", "figure-4b", "table-2"),
        ),
        page=Page(function="dpnoise_papers.flipped_huber_2023.figures.joint_noise.joint_rows"),
    ),
    Item(
        id="which-noise",
        caption="Beyond the paper: the mechanism of least variance among all of the library, by "
        "the number K of coordinates, epsilon and delta. Above, one person changes all K numbers "
        "by at most 1 each; below, at most three of them. A dot: Laplace or Gaussian noise needs "
        "at most 5 % more variance than the best.",
        table=Table(
            function="dpnoise_papers.which_noise.table.which_noise", settings=("which_noise",)
        ),
        figure=Figure(function="dpnoise_papers.which_noise.figure.which_noise"),
        extra="docs",  # made by `make docs`, not by every run
    ),
)
STATEMENTS = (
    Item(
        id="algorithm-2",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.algorithm_2.algorithm_2",
            settings=("algorithm_2",),
        ),
    ),
    Item(
        id="theorem-8-search",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.tables.theorem_8_search.theorem_8_search",
            settings=("theorem_8_search",),
        ),
    ),
    Item(
        id="theory",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.theory.statements.theory",
            settings=("theory",),
        ),
    ),
    Item(
        id="counterexamples",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.theory.counterexamples.counterexamples",
            settings=("counterexamples",),
        ),
    ),
    Item(
        id="lemma-7",
        caption="Both sides of Lemma 7 of flipped-huber-2023 for differences d = (r, ..., r): "
        "where ||d||_2 is below Delta_2 the probability falls below what the lemma says it "
        "exceeds.",
        table=Table(
            function="dpnoise_papers.flipped_huber_2023.theory.counterexamples.lemma_7",
            settings=("lemma_7",),
        ),
        figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.lemma_7.lemma_7"),
    ),
)

PAPER = Paper(
    id="flipped-huber-2023",
    items=(*DENSITIES, *LOSSES, *VARIANCES, *DIMENSIONS, *JOINT, *TABLE_3, *STATEMENTS),
)
