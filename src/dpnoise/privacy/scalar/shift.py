"""Noise beside itself shifted: which module of `privacy.scalar` computes its profile.

A family made of quadratic pieces needs no entry here (`scalar.pieces`), nor does any other
symmetric noise that falls with |t| (`scalar.unimodal`: upper bounds instead of values).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Subbotin
from dpnoise.noise.integers import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    IntegerNoise,
)
from dpnoise.noise.stepwise import Histogram, Staircase
from dpnoise.privacy.scalar.discrete_laplace import DiscreteLaplaceShift
from dpnoise.privacy.scalar.histogram import MOST_SHIFTS, HistogramShift, cells_of
from dpnoise.privacy.scalar.integers import IntegerShift
from dpnoise.privacy.scalar.pieces import PieceShift
from dpnoise.privacy.scalar.staircase import StaircaseShift
from dpnoise.privacy.scalar.subbotin import SubbotinShift
from dpnoise.privacy.scalar.unimodal import UnimodalShift

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array, BoolArray
    from dpnoise._validation import Problems

# Sensitivity over E|T|, and E|T| itself, as far as doubles carry all intermediate values.
_MIN_RATIO, _MAX_RATIO = 1e-100, 1e50
_MIN_SIZE, _MAX_SIZE = 1e-200, 1e200
_MOST_STEPS = 2.0**50  # integers and their halves are exact
_MOST_INTEGER = 2.0**53  # from it on, a double stands for several integers
WHOLE = "integers below 2^53: noise on the integers is for integer-valued queries"


class Shift(Protocol):
    """Noise and a shift of it.

    Attributes
    ----------
    largest_loss : float
        The least double that no finite loss exceeds, or infinity.
    smallest_delta : Fraction
        No less than delta at the largest loss, the mass of infinite loss.
    log_error, epsilon_error : float
        A computed log delta is that of an epsilon off by at most the factor epsilon_error, up
        to log_error (below delta = 1e-300, up to log_error times log delta / 700).
    """

    largest_loss: float
    smallest_delta: Fraction
    log_error: float
    epsilon_error: float

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of -d delta / d epsilon, at epsilon >= 0."""
        ...


class NoShift:
    """Two equal distributions."""

    largest_loss = log_error = epsilon_error = 0.0
    smallest_delta = Fraction(0)

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """-inf for log delta and for log of its slope."""
        return np.full_like(epsilon, -math.inf), np.full_like(epsilon, -math.inf)


_OWN: dict[type[Noise], Callable[..., Shift]] = {
    Staircase: StaircaseShift,
    Subbotin: SubbotinShift,
    Histogram: HistogramShift,
}

_INTEGERS: dict[type[IntegerNoise], Callable[..., Shift]] = {
    DiscreteGaussian: IntegerShift,
    DiscreteLaplace: DiscreteLaplaceShift,
    DiscreteStaircase: lambda noise, shift: StaircaseShift(noise.continuous, shift),
}


def whole_shift(sensitivity: Array) -> BoolArray:
    """Whether noise on the integers is for such sensitivities."""
    return (sensitivity == np.floor(sensitivity)) & (sensitivity < _MOST_INTEGER)


def check_shift(problems: Problems, noise: object, sensitivity: Array) -> None:
    """Check of noise and of non-negative sensitivities that may be too far from its scale."""
    expected = "symmetric noise of one number, or noise on the integers"
    if not isinstance(noise, Noise | IntegerNoise):
        problems.add(f"noise: expected {expected}, got {noise!r}")
        return
    size = noise.mean_abs()
    if isinstance(noise, IntegerNoise):
        size = max(size, 1.0)
        whole = whole_shift(sensitivity)
        got = sensitivity if sensitivity.ndim == 0 else sensitivity[~whole][:3]
        problems.require(bool(whole.all()), "sensitivity", WHOLE, got.tolist())
    problems.number("E|T|", size, low=_MIN_SIZE, high=_MAX_SIZE)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, or already
        ratio = sensitivity[sensitivity > 0.0] / max(size, _MIN_SIZE)
    good = (ratio >= _MIN_RATIO) & (ratio <= _MAX_RATIO)
    span = f"0 or within [{_MIN_RATIO:g}, {_MAX_RATIO:g}]"
    if isinstance(noise, Staircase | DiscreteStaircase):
        steps = float(np.max(sensitivity, initial=0.0)) / noise.sensitivity
        problems.number("sensitivity / step width", steps, low=0.0, high=_MOST_STEPS)
    if isinstance(noise, Histogram) and not problems.found:
        cells = float(cells_of(noise, Fraction(float(np.max(sensitivity, initial=0.0)))))
        problems.number("sensitivity / width of a cell", cells, high=float(MOST_SHIFTS))
    if ratio.size:
        bad = ratio[~good] if not good.all() else ratio
        problems.require(bool(good.all()), "sensitivity / E|T|", span, float(bad[0]))


@lru_cache(maxsize=256)
def shifted(noise: Noise | IntegerNoise, shift: float) -> Shift:
    """Noise beside itself shifted, for checked arguments."""
    d = Fraction(shift)
    if not d:
        return NoShift()
    if isinstance(noise, IntegerNoise):
        return _INTEGERS[type(noise)](noise, d)
    # By a power of 2, which is exact: then all lengths are moderate.
    factor = 2.0 ** -math.frexp(noise.mean_abs())[1]
    noise, d = noise.scaled(factor), d * Fraction(factor)
    if noise.log_concave and noise.pieces() is not None:
        return PieceShift(noise, d)
    return _OWN.get(type(noise), UnimodalShift)(noise, d)
