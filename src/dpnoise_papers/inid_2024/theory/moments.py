"""Delta of independent Gaussian noise from its densities, without the closed form.

With L the privacy loss, the log of the ratio of the densities, delta = E (1 - exp(epsilon - L))_+
is (2 pi i)^(-1) times the integral of exp(-epsilon s) E exp(s L) / (s (s + 1)) along a line
Re s = c > 0. The loss of independent coordinates is a sum, so that E exp(s L) is a product, each
factor of which is a sum over a grid here. Nothing says that a sum of Gaussian losses is Gaussian,
which is what Lemmas 1 and 3 of inid-2024 rest on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array

# Trapezoidal sums: of the noise, in standard deviations, and along the line, in 1/mu.
_REACH, _STEP = 10.0, 0.25
_HEIGHT, _POINTS = 10.0, 121
ACCURACY = 1e-9  # relative, for delta from 1e-12 on


def gaussian_delta(ratios: Array, epsilon: float, counts: Array | None = None) -> float:
    """Delta at epsilon of Gaussian noise on coordinates that move by `ratios` standard deviations.

    `counts` says how many coordinates have each ratio, 1 unless given. Relative error below
    `ACCURACY` for 1e-12 <= delta; smaller ones are found to be small.
    """
    m = np.abs(np.asarray(ratios, dtype=float))
    copies = np.ones(len(m)) if counts is None else np.asarray(counts, dtype=float)
    size = math.sqrt(float(copies @ m**2))
    # Near the saddle point, off the pole at 0; beyond 12/mu delta is below 1e-31.
    line = max(min(epsilon / size**2 - 0.5, 12.0 / size), 1.0 / size)
    y = np.linspace(0.0, _HEIGHT / size, _POINTS)
    s = line + 1j * y
    product = np.ones(_POINTS, dtype=complex)
    for ratio, count in zip(m[m > 0.0], copies[m > 0.0], strict=True):
        t = np.arange(-_REACH, _REACH + _STEP / 2, _STEP) + line * ratio
        loss = 0.5 * ((t + ratio) ** 2 - t**2)
        density = np.exp(-0.5 * t**2) / math.sqrt(2.0 * math.pi)
        product *= (_STEP * np.exp(s[:, None] * loss) @ density) ** count
    values = (product * np.exp(-epsilon * s) / (s * (s + 1.0))).real
    weights = np.full(_POINTS, y[1])
    weights[0] *= 0.5
    return float(weights @ values) / math.pi
