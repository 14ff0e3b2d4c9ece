"""Equality by value for dataclasses that hold arrays, whose own `==` answers with an array."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def same(one: Any, other: Any) -> bool:  # noqa: ANN401  (values of fields)
    """Whether two values are equal; of arrays, in shape and every entry."""
    if hasattr(one, "equals") or hasattr(other, "equals"):  # of pandas: with the index
        return type(one) is type(other) and bool(one.equals(other))
    if isinstance(one, tuple | list):
        alike = type(one) is type(other) and len(one) == len(other)
        return alike and all(map(same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _key(value: Any) -> object:  # noqa: ANN401
    """Something hashable that is equal for equal values."""
    if isinstance(value, np.ndarray) or hasattr(value, "equals"):
        return np.shape(value)
    return tuple(map(_key, value)) if isinstance(value, tuple | list) else value


class EqualByValue:
    """A base of dataclasses with `eq=False`: equal if type and all compared fields are."""

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same type and values."""
        if type(self) is not type(other):
            return NotImplemented
        names = [field.name for field in fields(self) if field.compare]  # type: ignore[arg-type]
        return all(same(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        """A hash of the compared fields, of arrays of their shape only."""
        known = [field.name for field in fields(self) if field.compare]  # type: ignore[arg-type]
        return hash((type(self), *(_key(getattr(self, name)) for name in known)))
