"""Which data sets are neighbours, and the sentence that states a promise about them.

Two data sets are neighbours if one person is added or removed ("add-remove") or if the record of
one person is replaced ("replace-one"). A guarantee of (epsilon, delta) means little without the
relation that it is for: two people who replace each other can move twice as much as one person
who is added.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


ADD_REMOVE, REPLACE_ONE = "add-remove", "replace-one"
RELATIONS = {ADD_REMOVE: "one person more or less", REPLACE_ONE: "one person replaced by another"}
UNSTATED = "relation between neighbouring data sets not stated"

_MOST_LISTED = 6


def number_words(value: float) -> str:
    """A number as a sentence states it: all digits, whole numbers without a decimal point."""
    return repr(float(value)).removesuffix(".0")


def list_words(values: Sequence[float]) -> str:
    """Numbers as a sentence states them: '1, 2 and 0.5', or their range beyond six."""
    if len(values) > _MOST_LISTED:
        return f"from {number_words(min(values))} to {number_words(max(values))}"
    parts = [number_words(value) for value in values]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def each_words(count: int, size: float) -> str:
    """The change of numbers that all change by at most as much, in words."""
    if count == 1:
        return f"in one number, by at most {number_words(size)}"
    return f"in {count} numbers, each by at most {number_words(size)}"


def own_words(sizes: Sequence[float]) -> str:
    """The change of numbers that have a largest change each, in words."""
    if min(sizes) == max(sizes):
        return each_words(len(sizes), sizes[0])
    return f"in {len(sizes)} numbers, each by at most its own sensitivity ({list_words(sizes)})"


def neighbours_words(relation: str | None, change: str) -> str:
    """Which data sets are neighbours and what one person changes, in words."""
    return f"{UNSTATED if relation is None else RELATIONS[relation]}, {change}"


def _rounded_up(delta: float) -> str:
    """Delta in four digits, rounded up: a promise that is not larger than what was proved."""
    shown = Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(float(delta)))
    return number_words(float(shown))


def promise(relation: str | None, change: str, epsilon: float, delta: float) -> str:
    """The sentence that states a guarantee.

    Parameters
    ----------
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours; the sentence says so where it is not stated.
    change : str
        What one person changes, in words.
    epsilon, delta : float
        The guarantee; delta is rounded up to four digits.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from dpnoise.sensitivity.relation import promise
    >>> promise("add-remove", "in one number, by at most 1", 1.0, 0.0)
    'one person more or less, in one number, by at most 1: epsilon = 1, delta = 0'
    """
    budget = f"epsilon = {number_words(epsilon)}, delta = {_rounded_up(delta)}"
    return f"{neighbours_words(relation, change)}: {budget}"
