"""Items of Table IV of inid-2024 that train networks: optional, made by targets of their own."""

from __future__ import annotations

from dpnoise_papers.item import Figure, Item, Page, Table

DEEP = (
    Item(  # one job for each cell of the table
        id="table-4-digits-runs",
        extra="deep",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.training.digits_cell",
            settings=("table_4_digits",),
            parts="table_4_digits.cells",
            for_each=True,
            makes=("table-4-digits-runs-{part}", "table-4-digits-groups-{part}"),
        ),
    ),
    Item(
        id="table-4-digits",
        extra="deep",
        caption="Table IV on digits instead of CIFAR-10: test accuracy of networks trained "
        "privately, by budget and scheme. Points are means over networks that differ in initial "
        "weights, batches and noise, bars 99 % intervals, small dots single networks. Lines are "
        "training without clipping and noise, and guessing; the panel of Laplace noise has an "
        "axis of its own. I.i.d. noise with global clipping, the others with clipping by layer.",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.summary.table_4_trained",
            settings=("table_4_digits",),
            reads=("table-4-digits-runs-{part}",),
            parts="table_4_digits.cells",
        ),
        figure=Figure(
            function="dpnoise_papers.inid_2024.figures.table_4.accuracy_by_scheme",
            reads=("table-4-digits", "table-4-digits-runs-{part}"),
            parts="table_4_digits.cells",
        ),
        page=Page(
            function="dpnoise_papers.inid_2024.figures.table_4.accuracies",
        ),
    ),
    Item(
        id="table-4-digits-gains",
        extra="deep",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.summary.table_4_gains",
            reads=("table-4-digits",),
        ),
    ),
    Item(
        id="table-4-digits-groups",
        extra="deep",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.summary.groups_of_cells",
            reads=("table-4-digits-groups-{part}",),
            parts="table_4_digits.cells",
        ),
    ),
    Item(  # one job for each cell, on a GPU if the settings say so
        id="table-4-cifar10-runs",
        extra="deep",
        target="deep_cifar10",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.training.cifar10_cell",
            settings=("table_4_cifar10",),
            data=("images/cifar10",),
            parts="table_4_cifar10.cells",
            for_each=True,
            makes=("table-4-cifar10-runs-{part}", "table-4-cifar10-groups-{part}"),
            device="table_4_cifar10.device",
            memory=8000,
            minutes=720,
        ),
    ),
    Item(
        id="table-4-cifar10",
        extra="deep",
        target="deep_cifar10",
        caption="Table IV: test accuracy of ResNet-20 on CIFAR-10, trained privately, by budget and "
        "scheme. Points are means over networks, bars 99 % intervals, small dots single networks. "
        "Lines are training without clipping and noise, and guessing; the panel of Laplace noise "
        "has an axis of its own.",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.summary.table_4_trained",
            settings=("table_4_cifar10",),
            reads=("table-4-cifar10-runs-{part}",),
            parts="table_4_cifar10.cells",
        ),
        figure=Figure(
            function="dpnoise_papers.inid_2024.figures.table_4.accuracy_by_scheme",
            reads=("table-4-cifar10", "table-4-cifar10-runs-{part}"),
            parts="table_4_cifar10.cells",
        ),
        page=Page(
            function="dpnoise_papers.inid_2024.figures.table_4.accuracies",
        ),
    ),
    Item(
        id="table-4-gradients",
        extra="deep",
        target="deep_gradients",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.gradients.measured_gradients",
            settings=("table_4_gradients", "table_4_cifar10"),
            data=("images/cifar10",),
            makes=(
                "table-4-gradients",
                "table-4-gradients-groups",
                "table-4-gradients-shapes",
            ),
            memory=6000,
            minutes=120,
        ),
    ),
    Item(
        id="table-4-laplace-measured",
        extra="deep",
        target="deep_gradients",
        table=Table(
            function="dpnoise_papers.inid_2024.table_4.laplace.table_4_laplace_measured",
            reads=("table-4-laplace", "table-4-gradients-shapes"),
        ),
    ),
)
