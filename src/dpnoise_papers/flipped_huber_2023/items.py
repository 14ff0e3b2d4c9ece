"""Items of flipped-huber-2023: Muthukrishnan & Kalyani, Grafting Laplace and Gaussian distributions.

IEEE Transactions on Information Forensics and Security, 2023.
"""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Paper, Table

PAPER = Paper(
    id="flipped-huber-2023",
    items=(
        Item(
            id="figure-1",
            caption="Flipped Huber densities for several transitions alpha and scales gamma, plain and "
            "logarithmic (the paper does not print its parameters). Up to the dots at abs(t) = alpha "
            "the logarithm is straight, as for Laplace noise; beyond, it is a parabola, as for "
            "Gaussian noise.",
            table=Table(
                function="dpnoise_papers.flipped_huber_2023.tables.densities.densities",
                settings=("figure_1",),
            ),
            figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.densities.figure_1"),
        ),
        Item(
            id="figure-2",
            caption="Normalised Fisher information (Fisher information times variance) of the flipped "
            "Huber distribution against alpha/gamma. It depends on that ratio alone and rises from "
            "1, the Gaussian's, to 2, Laplace's; nearly all of the rise lies between 0.5 and 3.",
            table=Table(
                function="dpnoise_papers.flipped_huber_2023.tables.densities.fisher_information",
                settings=("figure_2",),
            ),
            figure=Figure(function="dpnoise_papers.flipped_huber_2023.figures.densities.figure_2"),
        ),
    ),
)
