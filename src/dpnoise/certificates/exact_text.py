"""Exact numbers as text: 'p/q' in lowest terms, 'p' for integers.

A double is a rational number, so nothing is rounded.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

INFINITY = "infinity"
_LONGEST = 2000  # characters; the doubles need 770
_PATTERN = re.compile(r"-?\d+(/\d+)?", re.ASCII)


def text_of(value: float | Fraction) -> str:
    """The text of a number; only infinity is no fraction."""
    return INFINITY if value == math.inf else str(Fraction(value))


def fraction_of(text: object) -> Fraction:
    """The rational number that a text states; ValueError for any other text."""
    message = f"expected a fraction in lowest terms such as '3/4', got {str(text)[:80]!r}"
    good = isinstance(text, str) and len(text) <= _LONGEST and _PATTERN.fullmatch(text)
    if not good or re.search(r"/0+$", str(text)) or str(Fraction(str(text))) != text:
        raise ValueError(message)
    return Fraction(str(text))


def double_of(text: object) -> float:
    """The double that a text states exactly; ValueError for any other text."""
    if text == INFINITY:
        return math.inf
    value = fraction_of(text)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if found != value:
        message = f"expected a fraction that is a double, got {str(text)[:80]!r}"
        raise ValueError(message)
    return found
