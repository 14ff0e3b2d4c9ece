"""Read an argument that may be a number or an array, and list what is wrong with it.

The companion of `dpnoise._check.Problems.number` for functions that broadcast.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._check import Problems


def floats(
    problems: Problems,
    name: str,
    value: ArrayLike,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> NDArray[np.float64]:
    """Return `value` as float64, recording a problem unless all of it lies in the interval.

    Parameters
    ----------
    problems : Problems
        Where the problem is recorded.
    name : str
        The name of the argument.
    value : array_like of float
        A number or an array of numbers.
    low, high : float
        The ends of the interval.
    open_low, open_high : bool
        Whether an end is left out. Infinite and missing values are always refused.

    Returns
    -------
    numpy.ndarray
        The array; NaN in place of what could not be read.
    """
    left, right = "(" if open_low else "[", ")" if open_high else "]"
    expected = f"finite numbers in {left}{low:g}, {high:g}{right}"
    try:
        array = np.asarray(value)
        numeric = array.dtype.kind in "iuf"
        array = array.astype(float) if numeric else np.asarray(math.nan)
    except (TypeError, ValueError):  # ragged nesting
        array = np.asarray(math.nan)
    above = array > low if open_low else array >= low
    below = array < high if open_high else array <= high
    ok = above & below & np.isfinite(array)
    got = value if array.ndim == 0 or ok.all() else array[~ok][:3].tolist()
    problems.require(bool(ok.all()), name, expected, got)
    return array
