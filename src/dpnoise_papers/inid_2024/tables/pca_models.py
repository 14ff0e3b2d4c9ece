"""Table III of inid-2024 on other data: how far the data model moves it.

The text names the fully random model of Soltanolkotabi & Candes (Ann. Statist. 2012) and prints
M, N and r. How many subspaces there are, and of which dimensions, it does not print. Here their
dimensions add up to r, as equal as possible, with as many samples in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from dpnoise._validation import Problems
from dpnoise_papers.inid_2024.tables.pca import METRICS, dp_pca_table

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS = ["reading", "noise", "scheme", "epsilon"]
_MEASURES = [f"{metric}{part}" for metric in METRICS for part in ("", "_gain", "_behind")]


def dp_pca_over_models(
    *,
    seed: int,
    readings: Sequence[str],
    trials: int,
    others: dict[str, Any],
    **settings: Any,  # noqa: ANN401
) -> pd.DataFrame:
    """Return Table III on the data model 'product', with its range over unions of subspaces.

    Parameters
    ----------
    seed, readings, trials, **settings
        As for `dpnoise_papers.inid_2024.tables.pca.dp_pca_table`, without `model` and `subspaces`.
    others : dict
        Of the unions: `counts`, numbers of subspaces, each from 1 to the rank and once;
        `readings` and `trials`.

    Returns
    -------
    DataFrame
        As `dp_pca_table` returns it for 'product'. Beside each measure its least and greatest
        mean over all data models, in `_least` and `_greatest`; `models` is how many there are:
        1 for a reading that was tried on 'product' only.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    counts = others["counts"]
    problems = Problems("DP-PCA on unions of subspaces")
    ok = len(counts) > 0 and len(set(counts)) == len(counts)
    problems.require(ok, "counts", "one or more numbers, each once", list(counts))
    problems.raise_if_any()
    one = {"seed": seed, "subspaces": 1, **settings}
    table = dp_pca_table(model="product", readings=readings, trials=trials, **one)
    more = {"readings": others["readings"], "trials": others["trials"]}
    unions = [
        dp_pca_table(model="union-of-subspaces", **one | more | {"subspaces": count})
        for count in counts
    ]
    return over_models(table, unions)


def over_models(table: pd.DataFrame, unions: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return a table with the range of each measure over it and the same rows of others."""
    groups = pd.concat([table, *unions]).groupby(_KEYS)[_MEASURES]
    ends = groups.min().add_suffix("_least").join(groups.max().add_suffix("_greatest"))
    ends["models"] = groups.size()
    return table.merge(ends.reset_index(), on=_KEYS, how="left")
