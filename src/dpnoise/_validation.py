"""Collection of all problems with an input, which is then refused once.

A user who mistypes three settings should learn of all three from one message.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TypeGuard

import numpy as np

_MOST_AXES = 64  # of an array of NumPy


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, of Python or NumPy, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


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
        """Record of a problem unless `ok`."""
        if not ok:
            self.add(f"{name}: expected {expected}, got {value!r}")
        return ok

    def unmasked(self, name: str, values: object) -> bool:
        """Record of a problem if values have a mask; the message shows none of them."""
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
        """Record of a problem unless a value is a real number in an interval."""
        try:
            x = math.nan
            if isinstance(value, float | Real) and not isinstance(value, bool):
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

    def raise_if_any(self, error: type[Exception] = ValueError) -> None:
        """One exception that names every problem found, if there is any."""
        if self.found:
            message = f"{self.subject}: " + "; ".join(self.found)
            raise error(message)
