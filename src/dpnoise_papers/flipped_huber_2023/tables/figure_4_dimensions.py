"""Gains and gaps of 3 and of 5 dimensions, which Section V-B compares, from Figure 4's tables.

The paper compares two panels in words: how much of the gain over Gaussian noise is lost, and
how the gap between the sufficient condition (Theorem 8) and the exact one grows. Both are
taken unrestricted and inside the box that the paper searches.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

_KEYS = ["delta", "epsilon"]
_SEARCHES = {"unrestricted": ("exact", "sufficient"), "box": ("box", "sufficient-box")}


def compare_dimensions(lower: pd.DataFrame, higher: pd.DataFrame) -> pd.DataFrame:
    """Gains and gaps of two dimensions side by side.

    One row per search (unrestricted, box), delta and epsilon, but for those where a box has no
    private noise: dimension_from and dimension_to; gain_from_db and gain_to_db, the Gaussian
    variance over the minimum flipped Huber variance in decibels; gain_lost_db, their difference;
    gap_from and gap_to, the variance by the sufficient condition less the minimum; gap_grown, their
    difference; excess_from and excess_to, the gaps in units of the minimum variance, and excess,
    the larger of the two; and over_gaussian and over_osgt, the minimum variance over that of
    Gaussian and of offset-symmetric Gaussian noise of the same search, the larger of both
    dimensions.

    ValueError if a table has several dimensions or the two do not share delta and epsilon.

    Parameters
    ----------
    lower, higher : DataFrame
        The two panels of Figure 4: columns dimension, delta, epsilon, mechanism, method and
        variance, each with one dimension and the same delta and epsilon.
    """
    parts = [_compared(lower, higher, search) for search in _SEARCHES]
    return pd.concat(parts, ignore_index=True)


def _compared(lower: pd.DataFrame, higher: pd.DataFrame, search: str) -> pd.DataFrame:
    """Rows of one search."""
    one, two = _measures(lower, "lower", search), _measures(higher, "higher", search)
    if not one.index.equals(two.index):
        raise ValueError("compare_dimensions: expected the same delta and epsilon in both tables")
    both = one.add_suffix("_from").join(two.add_suffix("_to"))
    both = both.rename(columns={"gain_from": "gain_from_db", "gain_to": "gain_to_db"})
    both["gain_lost_db"] = both["gain_from_db"] - both["gain_to_db"]
    both["gap_grown"] = both["gap_to"] - both["gap_from"]
    for measure in ("excess", "over_gaussian", "over_osgt"):
        both[measure] = both[[f"{measure}_from", f"{measure}_to"]].max(axis=1, skipna=False)
    both.insert(0, "search", search)
    return both.dropna().reset_index().set_index("search").reset_index()


def _measures(table: pd.DataFrame, name: str, search: str) -> pd.DataFrame:
    """Dimension, gain, gap and excess by delta and epsilon."""
    dimensions = table["dimension"].unique()
    if len(dimensions) != 1:
        message = f"compare_dimensions: {name}: expected one dimension, got {dimensions.tolist()}"
        raise ValueError(message)

    def variances(mechanism: str, method: str | None = None) -> pd.Series:
        rows = table[table["mechanism"] == mechanism]
        rows = rows if method is None else rows[rows["method"] == method]
        return rows.set_index(_KEYS)["variance"].sort_index()

    minimum, sufficient = (variances("flipped-huber", method) for method in _SEARCHES[search])
    result = minimum.to_frame("minimum")
    result.insert(0, "dimension", dimensions[0])
    gaussian = variances("gaussian")
    osgt = variances("offset-symmetric-gaussian", _SEARCHES[search][0])
    result["gain"] = 10 * np.log10(gaussian / minimum)
    result["over_gaussian"] = minimum / gaussian
    result["over_osgt"] = minimum / osgt
    result["gap"] = sufficient - minimum
    result["excess"] = result["gap"] / minimum
    return result.drop(columns="minimum")
