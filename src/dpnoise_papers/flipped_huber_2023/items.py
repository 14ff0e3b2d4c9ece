"""Items of flipped-huber-2023.

P. Muthukrishnan and S. Kalyani, Grafting Laplace and Gaussian distributions: A new noise mechanism
for differential privacy, IEEE Transactions on Information Forensics and Security, 2023.
"""

from __future__ import annotations

from dpnoise_papers.flipped_huber_2023.items_scalar import DENSITIES, LOSSES, VARIANCES
from dpnoise_papers.flipped_huber_2023.items_table_3 import TABLE_3
from dpnoise_papers.item import Figure, Item, Page, Paper, Table

_BOX = (
    "Curves 'in the search box' take the parameters that the paper searches, alpha or theta from 0.02 "
    "to 150 and gamma from 0.02 to 50, and end where none of them is private; the others are "
    "unrestricted. Flipped Huber noise at its optimum and Laplace noise often lie on one another."
)

DIMENSIONS = (
    Item(
        id="figure-4a",
        caption="Three dimensions: variance per coordinate (top), decibels below the exact "
        "Gaussian (middle) and per cent above the best of those drawn (bottom; the best runs along "
        "the lower edge), at the paper's delta = 1e-8 and at 1e-6. " + _BOX,
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
        "Gaussian (middle) and per cent above the best of those drawn (bottom; the best runs along "
        "the lower edge), at the paper's delta = 1e-8 and at 1e-6. "
        + _BOX
        + " The exact curve is the variance below which no flipped Huber noise is private; "
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
        "Open circles are the numbers of Table II, in the table in brackets. At the bottom the best "
        "of those drawn runs along the lower edge; decibels are spread near 0. " + _BOX,
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
        "the Gaussian. In more dimensions than are shown the gain is below a thousandth of the "
        "largest.",
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
        caption="Beyond the paper: variance per coordinate against the number K of coordinates, each "
        "of which may change by 1, and a floor that no additive noise is below (grey area). Below, "
        "the same over the floor. Joint noise is the best that was found, in the norm of the box "
        "of all changes, abs(d_i) <= 1 for every i, and for more coordinates in that of the l2 ball "
        "around it; for one coordinate it is the scalar staircase. The floor need not be attained.",
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
        extra="docs",
        target="which_noise",  # not made by every run
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
