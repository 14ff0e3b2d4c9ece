"""Conversion of data to numbers that neither warns nor fails for the value of one record.

A missing entry of pandas (NA, NaT), an integer or fraction beyond all floats, a signalling NaN or a
complex number in a column of objects, or a number in extended precision beyond all doubles, would
otherwise raise or warn for one record and not for another: a release without noise. (Warnings are
for the caller to switch off, with `numpy.errstate`, as the fits do: under
`numpy.seterr(all="raise")` an underflow shows as well.)
"""

from __future__ import annotations

import math
from numbers import Complex, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_ODD = {"O", "c"}  # types that one entry can make of a whole column
_REFUSED = str, bytes, list, tuple, dict, set, np.ndarray  # text and nested data are no numbers


def convert_with_nan(convert: Callable[[object], Array], data: object) -> Array:
    """Numbers that `convert` makes of data, with NaN in place of the entries that have no float.

    `convert` raises where it meets such an entry. Whatever else it cannot read, such as text or an
    array of complex numbers, is left to the error that it raises.
    """
    if _kinds(data) & _ODD:
        return convert(_numbers(data))
    try:
        return convert(data)
    except (TypeError, OverflowError):  # missing entries of nullable columns
        if isinstance(data, np.ndarray):
            raise
        return convert(_numbers(data))


def real_numbers(data: object) -> Array:
    """An array of doubles; TypeError for an array of complex numbers."""
    found = np.asarray(data)
    if found.dtype.kind == "c":
        raise TypeError("complex numbers")
    return found.astype(np.float64)


def as_target(data: Any) -> Any:  # noqa: ANN401
    """A target as it is; as objects where one entry made NumPy or pandas take all for complex."""
    array = isinstance(data, np.ndarray)
    return data if array or np.asarray(data).dtype.kind != "c" else np.array(list(data), object)


def _kinds(data: Any) -> set[str]:  # noqa: ANN401
    """The kinds of the types of an array, of a list as an array, or of the columns of pandas."""
    if isinstance(data, np.ndarray):
        return {data.dtype.kind} - {"c"}  # not of one entry
    types = getattr(data, "dtypes", getattr(data, "dtype", None))
    if types is None:
        try:
            return {np.asarray(data).dtype.kind}
        except ValueError:  # rows of different lengths
            return set()
    return {getattr(one, "kind", "O") for one in np.atleast_1d(np.asarray(types, dtype=object))}


def _numbers(data: Any) -> Any:  # noqa: ANN401
    """The data with NaN for entries that have no float; as it is where it is no table."""
    if hasattr(data, "map"):  # of pandas
        return data.map(_number)
    entries = np.asarray(data, dtype=object)
    return np.frompyfunc(_number, 1, 1)(entries) if entries.ndim in {1, 2} else data


def _number(entry: object) -> object:
    """A float, NaN for whatever has none; text and nested data as they are."""
    if isinstance(entry, _REFUSED):
        return entry
    if isinstance(entry, Complex) and not isinstance(entry, Real):
        entry = entry.real if entry.imag == 0 else math.nan
    try:
        return float(entry)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
