"""Uniform numbers on (-1, 1) as columns, in doubles for many rows or in balls for one.

Samplers of vectors are written once, in operations that NumPy applies to arrays of doubles and of
balls alike. In doubles each says by how much a comparison may err; what is in doubt is decided in
balls, with as many bits of the same uniform numbers as it takes.

Assumed of doubles: logarithms, powers, cosines and square roots of NumPy err by at most 2^-46 of
their value. Where a logarithm is steep (below 2^-24 from 0 or from 1) nothing is decided in
doubles; elsewhere exponential variates err by at most 2^-39 of their value.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from dpnoise.releases.tails import ball

if TYPE_CHECKING:
    from fractions import Fraction

    from dpnoise._types import Array, WordArray

_STEEP = 2.0**-24


class UndecidedError(ArithmeticError):
    """A comparison of balls that overlap."""


class Doubles:
    """Uniform numbers of many rows in double precision.

    Attributes
    ----------
    signed : numpy.ndarray, shape (rows, columns)
        The numbers.
    doubt : numpy.ndarray of bool, shape (rows,)
        Rows of which something is not decided.
    refused : numpy.ndarray of bool, shape (rows,)
        Rows that a sampler by rejection refuses, for certain.
    """

    pi = np.pi

    def __init__(self, words: WordArray) -> None:
        self.signed: Any = (words.astype(float) + 0.5) * 2.0**-63
        # 1 - |s| without cancellation
        most = np.where(words < 0, words - np.int64(-(2**63)), np.int64(2**63 - 1) - words)
        self._rest: Array = (most.astype(float) + 0.5) * 2.0**-63
        self.doubt = np.zeros(words.shape[0], dtype=bool)
        self.refused = np.zeros(words.shape[0], dtype=bool)

    def exponential(self, columns: slice) -> Any:  # noqa: ANN401
        """Exponential variates -log|s|."""
        size, rest = np.abs(self.signed[:, columns]), self._rest[:, columns]
        self.doubt |= np.any((size < _STEEP) | (rest < _STEEP), axis=1)
        return -np.where(size < 0.5, np.log(size), np.log1p(-rest))

    def away_from(self, value: Any, bound: float) -> None:  # noqa: ANN401
        """Doubt where a value is too small for the next operation."""
        self.doubt |= np.any(~(value >= bound), axis=tuple(range(1, value.ndim)))

    def require(self, slack: Any, error: float) -> None:  # noqa: ANN401
        """Refusal of rows with negative slack, which may err by `error`, unless in doubt."""
        self.refused |= (slack < -error) & ~self.doubt
        self.doubt |= ~(np.abs(slack) > error)

    @staticmethod
    def number(value: Fraction | float) -> Any:  # noqa: ANN401
        """A constant."""
        return float(value)

    @staticmethod
    def sign(value: Any) -> Any:  # noqa: ANN401
        """The signs."""
        return np.sign(value)

    @staticmethod
    def smaller(first: Any, second: Any) -> Any:  # noqa: ANN401
        """The smaller of two numbers."""
        return np.minimum(first, second)

    @staticmethod
    def largest(values: Any) -> Any:  # noqa: ANN401
        """The largest entry of each row."""
        return np.max(values, axis=1)


class Balls:
    """The same of one row, as balls around numbers known to some bits."""

    def __init__(self, words: list[int], bits: int) -> None:
        found = [arb((2 * word + 1, -bits), (1, -bits)) for word in words]
        self.signed: Any = np.array([found], dtype=object)
        self.bits = bits
        self.refused = np.zeros(1, dtype=bool)

    @property
    def pi(self) -> Any:  # noqa: ANN401
        """The number pi."""
        return arb.pi()

    def exponential(self, columns: slice) -> Any:  # noqa: ANN401
        """Exponential variates -log|s|."""
        return -np.log(np.abs(self.signed[:, columns]))

    def away_from(self, value: Any, bound: float) -> None:  # noqa: ANN401
        """Nothing: balls carry their errors."""

    def require(self, slack: Any, error: float) -> None:  # noqa: ANN401, ARG002
        """Refusal of the row if its slack is negative."""
        value = slack[0]
        if value < 0:
            self.refused[0] = True
        elif not value > 0 and not self.refused[0]:
            raise UndecidedError

    @staticmethod
    def number(value: Fraction | float) -> Any:  # noqa: ANN401
        """A constant."""
        return ball(value)

    @staticmethod
    def sign(value: Any) -> Any:  # noqa: ANN401
        """The signs."""
        return np.vectorize(lambda x: x.sgn(), otypes=[object])(value)

    @staticmethod
    def smaller(first: Any, second: Any) -> Any:  # noqa: ANN401
        """The smaller of two numbers."""
        return np.vectorize(lambda x, y: x.min(arb(y)), otypes=[object])(first, second)

    @staticmethod
    def largest(values: Any) -> Any:  # noqa: ANN401
        """The largest entry of the row."""
        return np.array([reduce(lambda x, y: x.max(y), row) for row in values], dtype=object)


Numbers = Doubles | Balls
