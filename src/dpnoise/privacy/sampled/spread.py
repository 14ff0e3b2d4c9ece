"""Trigonometric sums at equally spaced points, by the fast Fourier transform.

For sum_n w_n e^(i k x_n), |k| <= M / 4, each w_n is spread over M points of a circle with the
weights g(x) = exp(-x^2 / (4 tau)), tau = beta / M^2, whose transform is a Gaussian too. By
Poisson's formula the transform of length M gives the sums times sqrt(beta / pi) e^(-tau k^2), plus
those at k + p M, p != 0, which relative to it are at most e^(-beta (1 - 2 |k| / M)) sum |w_n| for
p = +-1 and far less for others: in all 2.1 e^(-beta / 2). Points further than m + 1/2 are left out,
which hold at most 2 sqrt(pi / beta) (1 + beta / (2 pi^2 m)) e^(beta / 16 - pi^2 (m + 1/2)^2 / beta)
sum |w_n|. With beta = 76 and m = 18 both together are below 1e-15 sum |w_n| (Dutt & Rokhlin, SIAM
J. Sci. Comput. 14 (1993); Greengard & Lee, SIAM Rev. 46 (2004)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

if TYPE_CHECKING:
    from dpnoise._types import Array, ComplexArray

_BETA, _HALF = 76.0, 18
_OFFSETS = np.arange(-_HALF, _HALF + 1)
_CHUNK = 1 << 14  # summands at once
SPREAD_ERROR = 1e-15  # of the method, relative to the sum of |w|
_FFT_ERROR = 8.0 * 2.0**-53  # for each factor of 2 in the length, relative to the 2-norm


def equispaced_sums(
    x: Array, weight: Array, first: float, count: int
) -> tuple[ComplexArray, float]:
    """Sums of weight e^(i (first + k) x) over all x, for k from 0 to count - 1, and their error.

    `weight` is not negative; the error does not count that of the products (first + k) x.
    """
    size = fft.next_fast_len(2 * count + 2)
    middle = count // 2
    turned = weight * np.exp(1j * ((first + middle) * x))
    place = x * (size / (2.0 * math.pi))
    nearest = np.round(place)
    off = place - nearest
    index = np.mod(nearest, size).astype(np.intp)
    grid = np.zeros(size, dtype=complex)
    for start in range(0, len(x), _CHUNK):
        some = slice(start, start + _CHUNK)
        share = np.exp((off[some, None] - _OFFSETS) ** 2 * (-(math.pi**2) / _BETA))
        at = np.mod(index[some, None] + _OFFSETS, size).ravel()
        real = (share * turned.real[some, None]).ravel()
        imaginary = (share * turned.imag[some, None]).ravel()
        grid.real += np.bincount(at, real, minlength=size)
        grid.imag += np.bincount(at, imaginary, minlength=size)
    k = np.arange(count) - middle
    raise_by = math.sqrt(math.pi / _BETA) * np.exp(_BETA * (k / size) ** 2)
    values = fft.ifft(grid, norm="forward")[k] * raise_by
    norm = float(np.linalg.norm(grid)) * float(raise_by.max())
    # So many numbers are added at each point, in turn.
    added = 8.0 * 2.0**-53 * math.sqrt(len(x) * len(_OFFSETS) / size + 1.0)
    error = (SPREAD_ERROR + added) * float(weight.sum()) + _FFT_ERROR * math.log2(size) * norm
    return values, error
