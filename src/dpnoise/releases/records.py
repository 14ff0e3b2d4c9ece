"""Records of people as numbers, each by a rule that looks at this record alone.

An error, a warning or a change of how others are read that one record causes is a release without
noise. So nothing is refused for the value of a record: a number beyond all doubles is infinite and
is clamped like any other, and what is no number is NaN, for which each helper has one public rule.
Only what is public is refused: the container, its number of axes and the type of a whole array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._frames import kind_of, number_of, records_of

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise._validation import Problems

_EXPECTED = "one record of each person, in a list or in an array with one axis"


def read_records(problems: Problems, name: str, values: Any) -> list[Any]:  # noqa: ANN401
    """The records, of an array as Python's own objects; none where the container is refused."""
    found = _column(problems, name, values)
    if isinstance(found, list):
        return found
    listed = records_of(values)
    return list(records_of(found) or []) if listed is None else listed


def read_numbers(problems: Problems, name: str, values: Any) -> Array:  # noqa: ANN401
    """Doubles, one for each record: infinite beyond all doubles, NaN for what is no number."""
    found = _column(problems, name, values)
    if not isinstance(found, list):
        known = getattr(values, "dtype", found.dtype)
        numeric = found.dtype.kind in "biufO" and kind_of(values) in ("numbers", None)
        if not problems.require(numeric, f"type of {name}", "that of numbers, or objects", known):
            return np.zeros(0)
    with np.errstate(all="ignore"):
        if isinstance(found, list) or found.dtype.kind == "O":
            return np.fromiter(map(number_of, found), dtype=float, count=len(found))
        return found.astype(float)


def count_true(problems: Problems, name: str, records: Any) -> int:  # noqa: ANN401
    """How many records are True, or 1 in a list or an array of objects."""
    found = _column(problems, name, records)
    if not isinstance(found, list):
        flags = found.dtype.kind in "bO"
        problems.require(flags, f"type of {name}", "that of bools, or objects", found.dtype)
        if found.dtype.kind != "O":
            return int(np.count_nonzero(found))
    return sum(number_of(record) == 1.0 for record in found)


def _column(problems: Problems, name: str, values: Any) -> Any:  # noqa: ANN401
    """A list of records, or an array with one axis; an empty list where it is refused.

    A list stays one: NumPy would look into arrays among the records, and below their masks.
    """
    if isinstance(values, np.ma.MaskedArray):
        problems.unmasked(name, values)
        return []
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return list(values)
    known = getattr(values, "dtype", None)
    try:
        # What pandas makes of a nullable column depends on whether an entry is missing.
        found = np.asarray(values, dtype=None if isinstance(known, np.dtype | None) else object)
    except Exception:  # noqa: BLE001  (of whatever container; the message might show a record)
        found = np.asarray(None)
    if found.ndim == 1:
        return found
    got = f"{found.ndim} axes" if found.ndim else type(values).__name__
    problems.add(f"{name}: expected {_EXPECTED}, got {got}")
    return []


def clamped(numbers: Array, low: float, high: float) -> Array:
    """Numbers within public bounds; what is no number counts as the lower one."""
    with np.errstate(all="ignore"):
        return np.clip(np.where(np.isnan(numbers), low, numbers), low, high)
