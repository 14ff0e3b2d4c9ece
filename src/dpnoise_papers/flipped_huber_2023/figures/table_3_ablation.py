"""The ablation of Table III of flipped-huber-2023 as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.flipped_huber_2023.figures.table_3_pages import METRICS
from dpnoise_papers.flipped_huber_2023.tables.table_3 import REFERENCE, printed_values
from dpnoise_papers.flipped_huber_2023.tables.table_3_ablation import distances
from dpnoise_papers.pages import markdown_table, together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise_papers.claims.model import Claim

_NOTE = (
    "One change of the chosen setting at a time, on a coarser grid than the table itself. "
    "`distance` is the mean of |log(ours / printed)| over all printed numbers; the setting "
    "is chosen for all rows together, never per row."
)


def page(
    ranking: pd.DataFrame, runs: Mapping[str, pd.DataFrame], *, claims: Sequence[Claim]
) -> str:
    """Return the ranking, then ours / printed for the Gaussian rows.

    Parameters
    ----------
    ranking : DataFrame
        As `dpnoise_papers.flipped_huber_2023.tables.table_3_ablation.ranking` returns it.
    runs : mapping of str to DataFrame
        What it was made of.
    """
    shown = pd.DataFrame(
        {
            "variant": ranking["variant"],
            "distance": _texts(ranking["distance"], ".3f"),
            "NMSE only": _texts(ranking["nmse"], ".3f"),
            "test error only": _texts(ranking["test_error"], ".3f"),
            "worst": _texts(ranking["worst"], ".2f"),
            "diverged": [f"{row['diverged']} of {row['numbers']}" for _, row in ranking.iterrows()],
        }
    )
    title = "# Ablation of what Table III of flipped-huber-2023 leaves open"
    parts = [title, _NOTE, markdown_table(shown)]
    table = distances(together(runs), printed_values(claims))
    for metric, name in METRICS.items():
        part = table[(table["metric"] == metric) & (table["mechanism"] == REFERENCE)]
        wide = part.pivot_table("log_ratio", "variant", "dataset", sort=False, dropna=False)
        texts = wide.map(lambda value: f"{np.exp(value):.3g}").reset_index()
        parts += [f"## Ours / printed: {name}, Gaussian noise", markdown_table(texts)]
    return "\n\n".join(parts) + "\n"


def _texts(values: pd.Series, form: str) -> list[str]:
    return [format(value, form) for value in values]
