"""Joint noise beside the mechanisms of inid-2024 for people: Markdown."""

from __future__ import annotations

import pandas as pd

from dpnoise_papers.inid_2024.figures.pages import NOISES, SCHEMES
from dpnoise_papers.pages import markdown, number

_ITEMS = {
    "figure-1a": "Figure 1a", "figure-1b": "Figure 1b", "figure-3a": "Figure 3a",
    "figure-3b": "Figure 3b", "figure-4": "Figure 4", "table-2": "Table II",
}  # fmt: skip


def joint_rows(table: pd.DataFrame) -> tuple[str]:
    """Joint noise and the floor beside the best noise of the paper at each setting.

    Parameters
    ----------
    table : DataFrame
        As `dpnoise_papers.inid_2024.tables.joint_rows.joint_rows` returns it.
    """
    keys = ["item", "profile", "dimension", "epsilon", "delta"]
    table = table.fillna({"profile": "-"})
    lowest = table.loc[table.groupby(keys, sort=False)["error"].idxmin()]
    rows = [
        {
            "item": _ITEMS[row["item"]],
            "profile": row["profile"],
            "K": f"{row['dimension']}",
            "epsilon": f"{row['epsilon']:g}",
            "delta": f"{row['delta']:g}",
            "best of the paper": _words(row["mechanism"]),
            "error": number(row["error"]),
            "joint*": number(row["joint_error"]),
            "which*": row["joint"],
            "floor*": number(row["floor"]),
            "paper / joint*": f"{row['over_joint']:.2f}",
            "joint / floor*": f"{row['joint_over_floor']:.2f}",
        }
        for row in lowest.to_dict("records")
    ]
    note = (
        "Beyond the paper, and no verdict on it. Of the paper's mechanisms at each setting the one "
        "of lowest error, by our calibration: the mean squared error in Figures 1, 3 and 4, the "
        "mean absolute error in Table II, summed over the coordinates, where coordinate i may "
        "change by lambda_i. The staircase of Table II is told the sum of the sensitivities alone. "
        "Columns with an asterisk are not in the paper: the best noise with a joint density that "
        "`compare` finds without its slow searches (for one sensitive coordinate the scalar "
        "staircase), and a floor that no additive noise is below, which need not be attained. All "
        "mechanisms are in joint-rows.csv."
    )
    title = "Joint noise beside Figures 1, 3 and 4 and Table II of inid-2024"
    return (markdown(title, note, pd.DataFrame(rows)),)


def _words(mechanism: str) -> str:
    """Name of a mechanism: 'gaussian-optimal' is 'Gaussian, optimal i.n.i.d.'."""
    if mechanism == "staircase":
        return "staircase in two dimensions"
    noise, scheme = mechanism.split("-")
    return f"{NOISES[noise]}, {SCHEMES[scheme]}"
