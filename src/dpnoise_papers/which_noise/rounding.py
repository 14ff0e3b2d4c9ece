"""Numbers rounded to the safe side, as the shortest decimals that stand for them: 1e-6 is 1e-6."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def upper(x: float, digits: int) -> float:
    """A number in some significant digits, rounded up."""
    return _rounded(x, digits, ROUND_CEILING)


def lower(x: float, digits: int) -> float:
    """A number in some significant digits, rounded down."""
    return _rounded(x, digits, ROUND_FLOOR)


def _rounded(x: float, digits: int, rounding: str) -> float:
    return float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(float(x)))))
