"""Table III of inid-2024 over what the text leaves open: the data model and the clipping.

The text says that entries are clipped for i.n.i.d. noise, and prints neither how nor where. The
range of the variant 'stated', which clips each entry at its printed sensitivity, therefore holds
the printed noise with nothing clipped and noise that is private without clipping, each with either
choice of the dominant eigenvectors that was tried. A sample is added or removed in all of them and
Laplace noise has delta = 0, as the text says.

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
# Other ways to clip that the text allows, whose values belong to the range of a variant.
_CLIPPING = {"stated": ("stated-largest", "unclipped", "unclipped-largest", "add-remove")}


def dp_pca_over_models(settings: Pca) -> pd.DataFrame:
    """Table III on the data model 'product', with its range over unions of subspaces.

    Columns as of `dp_pca_table` for 'product'. Beside each measure its least and greatest mean over
    all data models, in `_least` and `_greatest`, and for the variant 'stated' also over the other
    ways to clip; `models` is how many data models there are: 1 for a variant that was tried on
    'product' only. `rival` is 0 for i.n.i.d. Gaussian noise, which the text calls the best, else 1.
    """
    others = settings.model_copy(
        update={"variants": settings.others.variants, "trials": settings.others.trials}
    )
    unions = [dp_pca_table(others, "union-of-subspaces", count) for count in settings.others.counts]
    return _over_models(dp_pca_table(settings), unions)


def _over_models(table: pd.DataFrame, unions: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table with the range of each measure over it and the same rows of others."""
    together = pd.concat([table, *unions])
    ends = _ends(together).join(together.groupby(_KEYS).size().rename("models"))
    for variant, others in _CLIPPING.items():
        alike = together[together["reading"].isin([variant, *others])].copy()
        alike["reading"] = variant
        wider = _ends(alike)
        ends.loc[ends.index.get_level_values("reading") == variant, wider.columns] = wider
    table = table.merge(ends.reset_index(), on=_KEYS, how="left")
    best = (table["noise"] == "gaussian") & (table["scheme"] == "inid")
    return table.assign(rival=(~best).astype(int))


def _ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Least and greatest of each measure among rows of one variant, noise, scheme and epsilon."""
    groups = rows.groupby(_KEYS)[_MEASURES]
    return groups.min().add_suffix("_least").join(groups.max().add_suffix("_greatest"))
