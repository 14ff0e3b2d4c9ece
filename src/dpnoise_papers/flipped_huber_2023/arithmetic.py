"""Elementary functions of doubles and of long decimals, for formulas that are written once.

What the paper prints is evaluated with arrays of doubles over many random parameters, and to 50
digits where doubles cancel.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import mpmath
import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

ROOT_2PI = math.sqrt(2.0 * math.pi)


class Arithmetic(NamedTuple):
    """Elementary functions of one kind of number.

    Attributes
    ----------
    root_2pi : callable
        Without arguments; decimals have the precision that is set when it is called.
    upper_tail : callable
        Q, the standard normal survival function.
    """

    root_2pi: Callable[[], Any]
    upper_tail: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    sinh: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    maximum: Callable[[Any, Any], Any]
    minimum: Callable[[Any, Any], Any]


def upper_tail(x: Array | float) -> Array:
    """Standard normal survival function Q(x) in doubles."""
    return special.ndtr(-np.asarray(x))


def _decimal_tail(x: Any) -> Any:  # noqa: ANN401 - mpmath has no types
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


DOUBLES = Arithmetic(
    lambda: ROOT_2PI, upper_tail, np.exp, np.expm1, np.sinh, np.sqrt, np.maximum, np.minimum
)
DECIMALS = Arithmetic(
    lambda: mpmath.sqrt(2 * mpmath.pi),
    _decimal_tail,
    mpmath.exp,
    mpmath.expm1,
    mpmath.sinh,
    mpmath.sqrt,
    max,
    min,
)


def omega(ratio: Any, using: Arithmetic = DOUBLES) -> Any:  # noqa: ANN401 - of either kind
    """Factor omega of the density, equation (9), as printed."""
    return 2 * (using.root_2pi() * using.upper_tail(ratio) + 2 / ratio * using.sinh(ratio**2 / 2))
