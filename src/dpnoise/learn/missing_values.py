"""Conversion of data to numbers that neither warns nor fails for what one record holds.

A missing entry of pandas and an integer beyond all floats in a column of objects, or a number in
extended precision beyond all doubles, would otherwise raise or warn at one record and not at
another: a release without noise. (Warnings are for the caller to switch off, with
`numpy.errstate`, as the fits do: under `numpy.seterr(all="raise")` an underflow tells as well.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    Numbers = TypeVar("Numbers")


def _number(entry: object) -> object:
    """Return NaN for a missing entry and for an integer that no float holds."""
    if type(entry).__name__ == "NAType":  # pandas.NA, without pandas
        return math.nan
    try:
        return float(entry) if isinstance(entry, int) else entry
    except OverflowError:
        return math.nan


def convert_with_nan(convert: Callable[[ArrayLike], Numbers], data: ArrayLike) -> Numbers:
    """Return `convert(data)`, with NaN in place of entries that have no float.

    Parameters
    ----------
    convert : callable
        Raises TypeError or OverflowError where such entries are met.
    data : array_like or pandas object
        Anything that it cannot read otherwise is left to its own refusal.
    """
    try:
        return convert(data)
    except (TypeError, OverflowError):
        if hasattr(data, "map"):  # of pandas
            return convert(data.map(_number))
        entries = np.asarray(data, dtype=object)
        if entries.ndim not in {1, 2}:
            raise
        plain = np.empty_like(entries)
        plain.flat = [_number(entry) for entry in entries.flat]
        return convert(plain)
