"""Optional item of inid-2024: thresholds and weights by group without private data."""

from __future__ import annotations

from dpnoise_papers.item import Item, Table

WEIGHTS = (
    Item(
        id="table-4-weights",
        extra="deep",
        target="deep_weights",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.weights.table_4_weights",
            settings=("table_4_digits", "table_4_weights", "table_4_cifar10"),
            makes=("table-4-weights", "table-4-weights-curvature"),
            memory=3000,
            minutes=60,
        ),
    ),
)
