"""Table III of inid-2024 on other data: how far the data model moves it.

The text names the fully random model of Soltanolkotabi & Candes (Ann. Statist. 2012) and prints
M, N and r. How many subspaces there are, and of which dimensions, it does not print. Here their
dimensions add up to r, as equal as possible, with as many samples in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.inid_2024.tables.pca import METRICS, dp_pca_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.inid_2024.learning_settings import Pca

_KEYS = ["reading", "noise", "scheme", "epsilon"]
_MEASURES = [f"{metric}{part}" for metric in METRICS for part in ("", "_gain", "_behind")]


def dp_pca_over_models(settings: Pca) -> pd.DataFrame:
    """Table III on the data model 'product', with its range over unions of subspaces.

    Columns as of `dp_pca_table` for 'product'. Beside each measure its least and greatest mean over
    all data models, in `_least` and `_greatest`; `models` is how many there are: 1 for a variant
    that was tried on 'product' only.
    """
    others = settings.model_copy(
        update={"variants": settings.others.variants, "trials": settings.others.trials}
    )
    unions = [dp_pca_table(others, "union-of-subspaces", count) for count in settings.others.counts]
    return _over_models(dp_pca_table(settings), unions)


def _over_models(table: pd.DataFrame, unions: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table with the range of each measure over it and the same rows of others."""
    groups = pd.concat([table, *unions]).groupby(_KEYS)[_MEASURES]
    ends = groups.min().add_suffix("_least").join(groups.max().add_suffix("_greatest"))
    ends["models"] = groups.size()
    return table.merge(ends.reset_index(), on=_KEYS, how="left")
