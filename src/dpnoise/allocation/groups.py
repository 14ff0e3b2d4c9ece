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
    """E|T|^p for 1 <= p <= 64, by quantiles: |T| = isf(e^-E / 2), E standard exponential."""
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
    """Largest slope of -log density of log-concave noise, infinite where the loss is unbounded.

    A shift by d costs at most d times this slope.
    """
    slope = noise.largest_loss(1.0)
    try:
        return float(slope)
    except OverflowError:  # beyond all doubles
        return math.inf


class Groups(NamedTuple):
    """Coordinates by G groups with the same noise, sensitivity and weight."""

    noises: list[Noise]  # at scale 1
    sensitivities: Array  # lambda_g, positive
    costs: Array  # w_g E|T_g|^p, positive
    counts: NDArray[np.int64]  # how many coordinates, all compositions together
    member: NDArray[np.intp]  # the group of each coordinate, shape (K,)

    def error(self, scales: Array, p: float) -> float:
        """Logarithm of sum w_i E|T_i|^p at scales of the groups, shape (G,)."""
        terms = np.log(self.counts * self.costs) + p * np.log(scales)
        return float(np.logaddexp.reduce(terms))


class GroupedRequest(NamedTuple):
    """A checked request for scales of groups, delta positive; p is the power of the error."""

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
    """Groups of coordinates with positive sensitivities.

    `noises` holds one for all or one each, `moments` E|T|^p of each; the query is answered
    `compositions` times.
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
