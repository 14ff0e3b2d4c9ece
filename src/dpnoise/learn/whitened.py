"""Private gradient descent on features that a noisy second moment has made uncorrelated.

Coordinate descent is slow where columns are correlated, as an intercept and a column in a corner of
its bounds are, and every pass costs noise. Here one release pays for the directions of the data:

1.  The mean M of r r' over the rows r, clipped features in [-1, 1] with the intercept, gets
    symmetric Gaussian noise. Eigenvalues below a share of the noise are raised to it.
2.  With the eigenvectors V and eigenvalues v of that, rows z = r V v^(-1/2) have second moments
    near the identity.
3.  T steps u <- u - (mean of z e + noise) / h from zero, with h = 1 and e = z'u - y for the squared
    loss, and h = 1/4 and e = p - y for labels y in {0, 1} with probabilities p. Here e is clipped
    so that |z e| <= C. The mean u of the last third gives the weights V v^(-1/2) u.

Privacy, replace-one, with K columns, N rows and m fits (one against the rest), by Gaussian noise
throughout:

-   |r|^2 <= K, and |r r' - q q'|_F^2 = |r|^4 + |q|^4 - 2 (r'q)^2 <= 2 K^2, with equality for
    corners at right angles. Noise with standard deviation s on the diagonal and s / sqrt 2 off it
    is alike in all directions of symmetric matrices with the Frobenius norm: mu = sqrt 2 K / (N s),
    exactly.
-   Given the matrix and u, which are published, z and e of a record depend on that record alone. A
    replaced record moves the mean of z e by at most 2 C / N. Less is not enough: where u is large,
    two rows in nearly the same place can have p = 0 with y = 1 and p = 1 with y = 0.
-   The m T gradients have equal noise, and the matrix that of k releases averaged. Squares of mu
    add up, so that the account is that of k + m T equal releases: `coordinate_noise` has it.

Rounding: sums of N terms in double precision, in whatever order, are off by a relative (N + 1)
2^-53 of the sum of their norms, at either neighbour; a computed |z e| exceeds C by a relative
(K + 8) 2^-53. Sensitivities are enlarged by (N^2 + K + 64) 2^-51.

C, T, k and the floor of the eigenvalues depend on public numbers alone. C, T and the floor go by
the spectral norm of the noise of M, where no mean square of a feature is above 1. None of the
constants matters to privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpnoise.learn.pca import symmetric

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_CURVATURE = {"squared": 1.0, "logistic": 0.25}  # the largest second derivative of a loss
_PATHS = (20.0, 250.0)  # steps times the largest curvature, at least and at most
_WORK = 2**31  # multiplications of a product with all rows at most, beyond the fewest steps
_SHARE = 0.15  # of the squared mu that the matrix gets
_CLIPS = (0.3, 10.0)  # c^3 where the strain is 1, and the largest c


@dataclass(frozen=True)
class Schedule:
    """Constants of a descent for `fits` targets, from public numbers.

    `sigma` is the noise of one Gaussian release of sensitivity 1 that has the whole budget, 0
    without noise. `columns` counts the intercept.
    """

    loss: str
    size: int
    columns: int
    fits: int
    sigma: float

    @cached_property
    def steps(self) -> int:
        """Number of steps T: more where noise leaves more to find."""
        h = _CURVATURE[self.loss]
        most = min(_PATHS[1], _WORK * h / (self.size * self.columns * self.fits))
        return round(max(min(1.0 / max(self.strain, 1e-300), most), _PATHS[0]) / h)

    @property
    def copies(self) -> int:
        """Number k of releases for which the matrix counts."""
        return math.ceil(_SHARE / (1.0 - _SHARE) * self.steps * self.fits)

    @property
    def releases(self) -> int:
        """Number of releases of equal noise that the account is for."""
        return self.copies + self.steps * self.fits

    @property
    def noise(self) -> float:
        """Spectral norm that the noise of the matrix has, about."""
        entry = math.sqrt(2.0) * self.columns / self.size * self.sigma / math.sqrt(_SHARE)
        return entry * math.sqrt(2.0 * self.columns)

    @property
    def strain(self) -> float:
        """The same, times what fits for several labels add to the noise of each gradient."""
        return self.noise * math.sqrt(self.fits)

    @cached_property
    def clip(self) -> float:
        """Largest length C of a record's gradient: c sqrt K with residuals of c / 3, or 1."""
        c = min((_CLIPS[0] / max(self.strain, 1e-300)) ** (1.0 / 3.0), _CLIPS[1])
        return c * math.sqrt(self.columns) * (c / 3.0 if self.loss == "squared" else 1.0)

    @cached_property
    def sensitivities(self) -> Array:
        """Of the matrix, in Frobenius norm, and of a gradient, in l2 norm, rounded up."""
        rounding = 1.0 + (float(self.size) ** 2 + self.columns + 64.0) * 2.0**-51
        return np.array([math.sqrt(2.0) * self.columns, 2.0 * self.clip]) / self.size * rounding


def noisy_second_moment(
    schedule: Schedule, rows: Array, draw: Callable[[tuple[int, ...]], Array]
) -> Array:
    """The mean of r r' over rows r of shape (N, K) with symmetric noise, shape (K, K)."""
    unit = draw((schedule.columns, schedule.columns)) / math.sqrt(schedule.copies)
    unit = math.sqrt(0.5) * unit + (1.0 - math.sqrt(0.5)) * np.diag(np.diag(unit))
    return symmetric(rows.T @ rows / schedule.size + schedule.sensitivities[0] * unit)


def largest_slopes(schedule: Schedule, z: Array) -> Array:
    """Largest size of e, shape (N, 1), that keeps |z e| <= C, for rows z of shape (N, K)."""
    return schedule.clip / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-100)


def mean_gradient(loss: str, z: Array, targets: Array, u: Array, largest: Array) -> Array:
    """Mean of z e, shape (K, m), for rows z, targets of shape (m, N) and u of shape (K, m)."""
    e = z @ u - targets.T if loss == "squared" else expit(z @ u) - (targets.T > 0.0)
    return z.T @ np.clip(e, -largest, largest) / len(z)


def whitened_descent(
    schedule: Schedule, rows: Array, targets: Array, draw: Callable[[tuple[int, ...]], Array]
) -> Array:
    """Weights, shape (m, K), for rows in [-1, 1], shape (N, K), and targets, shape (m, N).

    Targets are numbers in [-1, 1], or -1 and 1 for labels; rows of zeros contribute nothing. `draw`
    gives independent unit noise of a shape.
    """
    values, vectors = np.linalg.eigh(noisy_second_moment(schedule, rows, draw))
    whitening = vectors / np.sqrt(np.maximum(values, max(schedule.noise / 3.0, 1e-12)))
    z = rows @ whitening
    largest = largest_slopes(schedule, z)
    u = mean = np.zeros((schedule.columns, schedule.fits))
    last = schedule.steps // 3
    noises = schedule.sensitivities[1] * draw((schedule.steps, *u.shape))
    for step, noise in enumerate(noises):
        gradient = mean_gradient(schedule.loss, z, targets, u, largest) + noise
        u = u - gradient / _CURVATURE[schedule.loss]
        mean = mean + u / last if step >= schedule.steps - last else mean
    return (whitening @ mean).T
