"""Conversion of data to numbers that neither warns nor fails for the value of one record.

A missing entry of pandas and an integer beyond all floats in a column of objects, or a number in
extended precision beyond all doubles, would otherwise raise or warn for one record and not for
another: a release without noise. (Warnings are for the caller to switch off, with
`numpy.errstate`, as the fits do: under `numpy.seterr(all="raise")` an underflow shows as well.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array


def convert_with_nan(convert: Callable[[object], Array], data: object) -> Array:
    """Numbers that `convert` makes of data, with NaN in place of the entries that have no float.

    `convert` raises TypeError or OverflowError where it meets such an entry. Whatever else it
    cannot read is left to the error that it raises. A masked array is refused, ValueError.
    """
    refuse_mask(data)
    try:
        return convert(data)
    except (TypeError, OverflowError):
        if hasattr(data, "map"):  # of pandas
            return convert(data.map(_number))
        entries = np.asarray(data, dtype=object)
        if entries.ndim not in {1, 2}:
            raise
        return convert(np.frompyfunc(_number, 1, 1)(entries))


def refuse_mask(data: object) -> None:
    """A ValueError that shows no value if data have a mask, below which values would be used."""
    problems = Problems("fit")
    problems.unmasked("data", data)
    problems.raise_if_any()


def _number(entry: object) -> object:
    """NaN for a missing entry and for an integer that no float holds."""
    if type(entry).__name__ == "NAType":  # pandas.NA, without pandas
        return math.nan
    try:
        return float(entry) if isinstance(entry, int) else entry
    except OverflowError:
        return math.nan
