"""Groups of equal coordinates, which a search gives one scale each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

_NODES = 400  # of the rule for E|T|^p, whose error is below 1e-10 of it
MAXIMUM_POWER = 64.0


def absolute_moment(noise: Noise, p: float) -> float:
    """Return E|T|^p.

    Parameters
    ----------
    noise : Noise
        Its quantiles are used: |T| = isf(e^-E / 2) with E standard exponential.
    p : float
        From 1 to 64.
    """
    if p == 1.0:
        return noise.mean_abs()
    if p == 2.0:
        return noise.var()
    # E = exp(x - exp(-x)) flattens both ends, where the trapezoidal rule is exact to rounding.
    x, step = np.linspace(-4.5, 7.0, _NODES, retstep=True)
    level = np.exp(x - np.exp(-x))
    level = level[level < 700.0]
    slope = level * (1.0 + np.exp(-x[: level.size]))
    size = noise.isf(0.5 * np.exp(-level))
    top = float(size[-1])
    return float(np.sum((size / top) ** p * np.exp(-level) * slope)) * step * top**p


def tail_slope(noise: Noise) -> float:
    """Return the largest slope of -log density, by which a bounded privacy loss is measured.

    Parameters
    ----------
    noise : Noise
        Log-concave.

    Returns
    -------
    float
        A shift by d costs at most d times this slope. Infinite where the loss is not bounded.
    """
    slope = noise.largest_loss(1.0)
    try:
        return float(slope)
    except OverflowError:  # beyond all doubles
        return math.inf


class Groups(NamedTuple):
    """Coordinates by groups with the same noise, sensitivity and weight.

    Attributes
    ----------
    noises : list of Noise
        Of each of G groups, at scale 1.
    sensitivities, costs : numpy.ndarray, shape (G,)
        lambda_g and w_g E|T_g|^p, both positive.
    counts : numpy.ndarray of int, shape (G,)
        How many coordinates, all compositions together.
    member : numpy.ndarray of int, shape (K,)
        The group of each coordinate.
    """

    noises: list[Noise]
    sensitivities: Array
    costs: Array
    counts: NDArray[np.int64]
    member: NDArray[np.intp]

    def error(self, scales: Array, p: float) -> float:
        """Return the logarithm of sum w_i E|T_i|^p at scales of the groups, shape (G,)."""
        terms = np.log(self.counts * self.costs) + p * np.log(scales)
        return float(np.logaddexp.reduce(terms))


class GroupedRequest(NamedTuple):
    """A request for scales of groups, checked.

    Attributes
    ----------
    groups : Groups
        The coordinates.
    epsilon, delta : float
        The budget, delta positive.
    p : float
        The power of the error.
    """

    groups: Groups
    epsilon: float
    delta: float
    p: float


def make_groups(
    noises: Sequence[Noise],
    moments: Mapping[Noise, float],
    sensitivities: Array,
    weights: Array | None,
    compositions: int,
) -> Groups:
    """Group coordinates, all with positive sensitivities.

    Parameters
    ----------
    noises : sequence of Noise
        One for all, or one for each coordinate.
    moments : mapping of Noise to float
        E|T|^p of each.
    sensitivities, weights : numpy.ndarray, shape (K,)
        Weights may be None.
    compositions : int
        How often the whole query is answered.
    """
    known = list(moments)
    place = {noise: k for k, noise in enumerate(known)}
    kind = np.broadcast_to([place[noise] for noise in noises], sensitivities.shape)
    some = np.ones_like(sensitivities) if weights is None else weights
    if all(np.ptp(column) == 0 for column in (kind, sensitivities, some)):
        only = known[int(kind[0])]
        return Groups(
            [only],
            sensitivities[:1].copy(),
            some[:1] * moments[only],
            np.array([sensitivities.size * compositions], dtype=np.int64),
            np.zeros(sensitivities.size, dtype=np.intp),
        )
    table = np.column_stack([kind, sensitivities, some])
    rows, member, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    of = rows[:, 0].astype(int)
    size = np.array([moments[noise] for noise in known])
    return Groups(
        [known[k] for k in of],
        rows[:, 1],
        rows[:, 2] * size[of],
        counts.astype(np.int64) * compositions,
        member.ravel(),
    )
