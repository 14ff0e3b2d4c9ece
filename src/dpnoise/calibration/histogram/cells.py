"""The masses of a histogram on cells, of a given variance, and as pairs one unit apart.

Part of `dpnoise.calibration.histogram.search`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

if TYPE_CHECKING:
    from dpnoise._types import Array

_LIGHTEST = 1e-120  # of the mass of cell 0: no mass falls below
_DOUBLINGS = 60


class Cells(NamedTuple):
    """Cells j = 0, ..., m - 1 of unit-sensitivity noise with n cells to the unit, and their tail.

    `weight` and `square` are the factors of the masses in the total and in the variance.
    """

    n: int
    ratio: float
    weight: Array
    square: Array

    @classmethod
    def of(cls, n: int, size: int, ratio: float) -> Cells:
        """So many cells and a ratio of the tail."""
        x, r = np.arange(size) / n, ratio
        weight = np.append(1.0, np.full(size - 1, 2.0))
        square = weight * (x * x + 1.0 / (12.0 * n * n))
        last = x[-n:]
        sums = r / (1 - r), r / (1 - r) ** 2, r * (1 + r) / (1 - r) ** 3
        weight[-n:] += 2.0 * sums[0]
        square[-n:] += 2.0 * (
            (last * last + 1.0 / (12.0 * n * n)) * sums[0] + 2.0 * last * sums[1] + sums[2]
        )
        return cls(n, ratio, weight, square)

    def masses(self, psi: Array, variance: float) -> Array:
        """Masses in proportion to exp(-psi - b x^2) with a given variance."""
        x2 = self.square / self.weight

        def tilted(b: float) -> Array:
            exponent = -psi - b * x2
            return np.maximum(np.exp(exponent - exponent.max()), _LIGHTEST)

        def excess(b: float) -> float:
            p = tilted(b)
            return float(self.square @ p) / float(self.weight @ p) / variance - 1.0

        low, high = -0.1 / variance, 0.1 / variance
        for _ in range(_DOUBLINGS):
            if excess(low) > 0.0 > excess(high):
                break
            low, high = 2.0 * low, 2.0 * high
        else:
            raise ArithmeticError("histogram search: no masses of this variance")
        p = tilted(float(optimize.brentq(excess, low, high, xtol=1e-15 / variance)))
        return p / float(self.weight @ p)

    def pair(self, p: Array) -> tuple[Array, Array, Array]:
        """Masses of all cells that count and those one unit on, with the factor of each."""
        n, r = self.n, self.ratio
        right = np.concatenate([p, r * p[-n:]])
        both = np.concatenate([right[:0:-1], right])
        factor = np.ones(both.size - n)
        factor[:n] = factor[-n:] = 1.0 / (1.0 - r)
        return both[:-n], both[n:], factor

    def gather(self, here: Array, there: Array) -> Array:
        """The gradient by the masses listed, from those by the pair."""
        n, size = self.n, self.weight.size
        both = np.zeros(here.size + n)
        both[:-n] += here
        both[n:] += there
        right = both[size + n - 1 :].copy()
        right[1:] += both[: size + n - 1][::-1]
        found = right[:size].copy()
        found[-n:] += self.ratio * right[size:]
        return found


def sorted_masses(cells: Cells, p: Array) -> tuple[Array, float]:
    """Masses that fall with |t|, closest to given ones, and a ratio with which their tail does."""
    fitted = optimize.isotonic_regression(p, weights=cells.weight, increasing=False).x
    return fitted, min(cells.ratio, float(fitted[-1] / fitted[-cells.n]))
