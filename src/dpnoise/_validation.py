"""Checks of arguments: all problems with an input are collected, and it is refused once.

A user who mistypes three settings should learn of all three from one message.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAXIMUM_EPSILON, MINIMUM_DELTA = 1e4, 1e-300  # of a guarantee; below it only delta = 0
_MOST_AXES = 64  # of an array of NumPy
_MOST_DRAWS = 2**40


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, of Python or NumPy, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def has_mask(values: object, _depth: int = 0) -> bool:
    """Whether values are a masked array of NumPy, or a list or array of objects that has one.

    Also where no entry is masked: what is refused must not depend on the data. NumPy's own
    conversion to a plain array drops the mask and keeps the values below it.
    """
    if isinstance(values, np.ma.MaskedArray):
        return True
    if getattr(getattr(values, "dtype", None), "kind", None) == "O":
        values = np.asarray(values, dtype=object).ravel().tolist()
    if not isinstance(values, list | tuple) or _depth > _MOST_AXES:
        return False
    return any(has_mask(value, _depth + 1) for value in values)


class Problems:
    """A growing list of what is wrong with one input, whose name `subject` opens the message."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.found: list[str] = []

    def add(self, problem: str) -> None:
        """Record of one problem, worded as 'name: expected ..., got ...'."""
        self.found.append(problem)

    def require(self, ok: bool, name: str, expected: str, value: object) -> bool:
        """A problem is recorded unless `ok`."""
        if not ok:
            self.add(f"{name}: expected {expected}, got {value!r}")
        return ok

    def unmasked(self, name: str, values: object) -> bool:
        """A problem is recorded if values have a mask; the message shows none of them."""
        ok = not has_mask(values)
        if not ok:
            expected = "values without a mask (fill or leave out the masked entries before)"
            self.add(f"{name}: expected {expected}, got a masked array")
        return ok

    def number(
        self,
        name: str,
        value: object,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        open_low: bool = False,
        open_high: bool = False,
        finite: bool = True,
    ) -> bool:
        """A problem is recorded unless a value is a real number in an interval."""
        try:
            x = math.nan
            if isinstance(value, float | Real) and not isinstance(value, bool | np.timedelta64):
                x = float(value)  # not a float32: the limits would overflow
            ok = not math.isnan(x)
        except OverflowError:  # an integer beyond all floats
            ok = False
        if ok:
            above = x > low if open_low else x >= low
            below = x < high if open_high else x <= high
            ok = above and below and (math.isfinite(x) or not finite)
        if not ok:
            left, right = "(" if open_low else "[", ")" if open_high else "]"
            kind = "a finite number" if finite else "a number"
            self.require(ok, name, f"{kind} in {left}{low:g}, {high:g}{right}", value)
        return ok

    def budget(self, epsilon: object, delta: float) -> None:
        """What is wrong with the epsilon and delta of a guarantee is recorded."""
        self.number("epsilon", epsilon, low=0.0, high=MAXIMUM_EPSILON)
        if self.number("delta", delta, low=0.0, high=1.0, open_high=True):
            positive_or_zero = delta == 0 or delta >= MINIMUM_DELTA
            self.require(positive_or_zero, "delta", f"0 or at least {MINIMUM_DELTA:g}", delta)

    def raise_if_any(self, error: type[Exception] = ValueError) -> None:
        """One exception that names every problem found, if there is any."""
        if self.found:
            message = f"{self.subject}: " + "; ".join(self.found)
            raise error(message)


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
    """`value` as float64, with a problem recorded unless all of it lies in the interval.

    Infinite and missing values are always refused; NaN stands for what could not be read.
    """
    array = _numbers(value)
    array = np.asarray(math.nan) if array is None else array
    above = array > low if open_low else array >= low
    below = array < high if open_high else array <= high
    ok = above & below & np.isfinite(array)
    if not ok.all():
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        expected = f"finite numbers in {left}{low:g}, {high:g}{right}"
        got = value if array.ndim == 0 else array[~ok][:3].tolist()
        problems.require(False, name, expected, got)
    return array


def _numbers(value: object) -> NDArray[np.float64] | None:
    """`value` as float64, or None if it is no array of real numbers or has a mask."""
    if has_mask(value):
        return None
    try:
        array = np.asarray(value)
        with np.errstate(over="ignore"):  # of extended precision: infinity is for the caller
            return array.astype(float) if array.dtype.kind in "iuf" else None
    except (TypeError, ValueError):  # ragged nesting
        return None


def points(subject: object, name: str, value: ArrayLike) -> NDArray[np.float64]:
    """An argument of a density or quantile of `subject`, as float64; it may be infinite or NaN.

    Raises a ValueError if it is no array of real numbers.
    """
    array = _numbers(value)
    if array is None:
        problems = Problems(repr(subject))
        problems.require(False, name, "a real number or an array of them", value)
        problems.raise_if_any()
    assert array is not None  # noqa: S101  (or refused)
    return array


def check_factor(subject: object, factor: object) -> None:
    """A ValueError unless a subject can be scaled by `factor`."""
    problems = Problems(f"scaling {subject!r}")
    problems.number("factor", factor, low=0.0, open_low=True)
    problems.raise_if_any()


def draws(
    subject: object,
    size: int | tuple[int, ...] | None,
    random_state: int | np.random.Generator | None,
) -> tuple[tuple[int, ...], np.random.Generator]:
    """Shape of a sample of `subject`, and the generator to draw it from.

    Without a seed, `random_state` None, the generator starts from the operating system's entropy.
    Raises a ValueError if `size` is no shape or `random_state` no seed.
    """
    problems = Problems(f"sample of {subject!r}")
    lengths = () if size is None else size if isinstance(size, tuple | list) else (size,)
    whole = all(is_integer(n) and n >= 0 for n in lengths)
    fits = whole and math.prod(map(int, lengths)) < _MOST_DRAWS
    problems.require(fits, "size", f"lengths >= 0, below {_MOST_DRAWS} in all", size)
    rng = None
    try:
        seed = not isinstance(random_state, bool | str)
        rng = np.random.default_rng(random_state) if seed else None
    except (TypeError, ValueError):
        pass
    problems.require(rng is not None, "random_state", "a seed or a Generator", random_state)
    problems.raise_if_any()
    assert rng is not None  # noqa: S101  (or refused)
    return tuple(map(int, lengths)), rng
