"""Tables that were made in parts, together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping


def together(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of all parts as one, in the order of the parts' names.

    Parameters
    ----------
    parts : mapping of str to DataFrame
        Tables with the same columns. Parts without rows are left out, because their columns
        have no types.
    """
    tables = [parts[name] for name in sorted(parts)]
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
