"""Laplace noise of Table IV of inid-2024 by variant, beside measured gradients.

`table-4-laplace` leaves open how much of a gradient clipping in l1 takes away; measured gradients
of the network say it for the steps at which they were measured.
"""

from __future__ import annotations

import pandas as pd

from dpnoise_papers.inid_2024.tables.printed_order import excluded

COLUMNS = [
    "variant", "epsilon", "scheme", "gradients", "noise_over_gaussian_minimum",
    "noise_over_gaussian_maximum", "multiplier_from", "multiplier_to", "excluded",
    "printed_accuracy", "data_note",
]  # fmt: skip


def table_4_laplace_measured(laplace: pd.DataFrame, shapes: pd.DataFrame) -> pd.DataFrame:
    """Laplace noise over measured gradients, in units of Gaussian noise over the same ones.

    Parameters
    ----------
    laplace : pandas.DataFrame
        From `table_4_laplace`.
    shapes : pandas.DataFrame
        From `measured_gradients`: the shape of the gradients of some states of the network.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`: the smallest and the largest over the states, whose number is
        `gradients`, and whether all between them is outside of what the printed accuracies leave.
        No rows without states.
    """
    rows = []
    for row in laplace.to_dict("records") if len(shapes) else []:
        whole = row["scheme"] == "iid"
        some = shapes[shapes["clipping"] == ("whole" if whole else "group")]
        # One clipped gradient in both: without the ratio of the norms that clipping leaves.
        ratio = some["signal_l2"] / some["signal_l1"] if row["clipping"] == "l1" else [1.0]
        noise = row["noise_over_gaussian_minimum"]
        low, high = noise * min(ratio), noise * max(ratio)
        bounds = row["multiplier_from"], row["multiplier_to"]
        ends = low * row["multiplier"], high * row["multiplier"]
        rows.append(
            [
                row["variant"], row["epsilon"], row["scheme"], len(some), low, high, *bounds,
                excluded(ends, bounds), row["printed_accuracy"], shapes["data_note"].iloc[0],
            ]
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)
