"""Item of inid-2024 beyond the paper: joint noise and the floor beside its errors."""

from __future__ import annotations

from dpnoise_papers.item import Item, Page, Table

_FIGURES = ("figure-1a", "figure-1b", "figure-3a", "figure-3b", "figure-4")

JOINT = (
    Item(
        id="joint-rows",
        caption="Beyond the paper: the best joint noise found, and a floor under any additive "
        "noise, for the sensitivities and budgets of Figures 1, 3 and 4 and Table II, beside "
        "the paper's mechanism of lowest error. No verdict on the paper rests on it.",
        table=Table(
            function="dpnoise_papers.inid_2024.tables.joint_rows.joint_rows",
            settings=("joint_rows", *(name.replace("-", "_") for name in _FIGURES)),
            reads=(*_FIGURES, "table-2"),
        ),
        page=Page(function="dpnoise_papers.inid_2024.figures.pages.joint_rows"),
    ),
)
