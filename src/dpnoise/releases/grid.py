"""The grid of released values, chosen from the noise alone, and the numbers on it.

Rounding value + noise to a grid that does not depend on the data is post-processing. Grids are
powers of two, so that every multiple of one within range is a double.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise._validation import Problems

_FINENESS = 2**10  # steps of the grid in the mean size of the noise
_FINEST = 2.0**-40  # of the mean size
MOST_STEPS = 2.0**52  # of the grid in a value: half a step has a double
_SMALLEST, _LARGEST = 1e-290, 1e290  # mean sizes


def power_below(x: float) -> float:
    """The largest power of two that is at most a positive number."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def read_grid(problems: Problems, mean_abs: Array, grid: object) -> Array:
    """The step of the grid of each coordinate, from the mean size of its noise or as given."""
    some = mean_abs > 0.0
    good = bool(np.all((mean_abs[some] >= _SMALLEST) & (mean_abs[some] <= _LARGEST)))
    problems.require(good, "E|noise|", f"from {_SMALLEST:g} to {_LARGEST:g}", mean_abs.tolist())
    if grid is not None and problems.number("grid", grid, low=0.0, open_low=True):
        step = float(grid)  # type: ignore[arg-type]  # a number
        low = float(np.max(mean_abs, initial=0.0)) * _FINEST
        expected = f"a power of two of at least 2^-40 E|noise| = {low:g}, at most {_LARGEST:g}"
        even = math.frexp(step)[0] == 0.5 and low <= step <= _LARGEST
        problems.require(even, "grid", expected, grid)
        return np.full(mean_abs.shape, step)
    if problems.found:
        return np.ones(mean_abs.shape)
    found = [power_below(x) / _FINENESS if x > 0.0 else 1.0 for x in mean_abs.ravel().tolist()]
    return np.array(found).reshape(mean_abs.shape)


def read_values(problems: Problems, values: ArrayLike) -> Array:
    """Finite values as the doubles that they are; none is rounded."""
    array = _array(problems, values)
    kind = array.dtype.kind
    if not problems.require(kind in "iuf", "values", "real numbers", array.dtype):
        return np.zeros(array.shape)
    with np.errstate(over="ignore"):
        doubles = array.astype(float)
    bad = ~np.isfinite(doubles)
    expected = "finite numbers (an error that depends on the data: docs/release.md)"
    _refuse(problems, bad, expected)
    with np.errstate(over="ignore", invalid="ignore"):
        same = doubles.astype(array.dtype) == array
    same &= (np.abs(doubles) < 2.0**63) | (kind == "f")
    _refuse(problems, ~same & ~bad, "numbers that doubles hold exactly")
    return doubles


def read_integers(problems: Problems, values: ArrayLike) -> Any:  # noqa: ANN401  (int64)
    """Values that are integers below 2^62, as int64."""
    array = _array(problems, values)
    kind = array.dtype.kind
    if not problems.require(kind in "iuf", "values", "integers", array.dtype):
        return np.zeros(array.shape, dtype=np.int64)
    good = (np.abs(array.astype(float)) <= 2.0**62) & (array == np.floor(array))
    _refuse(problems, ~good, "integers up to 2^62")
    return np.where(good, array, 0).astype(np.int64)


def _refuse(problems: Problems, bad: Any, expected: str) -> None:  # noqa: ANN401  (of bools)
    """Record of values that are out of range: how many, as the message may be published."""
    count = int(np.count_nonzero(bad))
    if count:
        problems.add(f"values: expected {expected}, got {count} that are not")


def _array(problems: Problems, values: ArrayLike) -> Any:  # noqa: ANN401  (of any type)
    problems.unmasked("values", values)
    problems.raise_if_any()  # no check behind this one may look below the mask
    try:
        return np.asarray(values)
    except ValueError:  # ragged nesting
        return np.asarray(None)


def check_range(problems: Problems, values: Array, step: Array) -> None:
    """Record of values that have too many steps of the grid."""
    with np.errstate(over="ignore"):
        most = np.minimum(step * MOST_STEPS, 1e300)
    expected = f"at most 2^52 steps of the grid, {float(np.min(most, initial=1e300)):g}"
    _refuse(problems, np.abs(values) > most, expected)
