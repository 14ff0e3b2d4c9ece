"""Two-sided bounds on the profile of several coordinates, for any noise that falls with |t|.

No log-concavity is needed: bounds on P(L > x) at lattice points (`scalar.unimodal`) give losses
that are stochastically larger and smaller, and delta, the mean of (1 - e^(epsilon - sum))_+, rises
with each of them. The bounds are as wide as the lattice is coarse, and do not reach
below a delta of about 1e-12 for each coordinate. For noise without closed forms only; the accounts
of other noise are far closer.

The corner of the box is the worst neighbour for every such noise: the scalar profile rises with the
shift at every epsilon >= 0, by symmetry at epsilon < 0 too, and Blackwell's theorem carries that
over to products (see `lattice.bounds`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.lattice.rounding import Masses
from dpnoise.privacy.lattice.sums import RoundedLoss, log_any_infinite, sum_weights
from dpnoise.privacy.scalar.unimodal import UnimodalShift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

_MOST_POINTS, _FEWEST, _SIZE = 2**13, 2**6, 2**20  # of one coordinate's lattice, and of the sum's
_NEGLIGIBLE = 1e-14  # mass of the losses above the lattice


def _reach(losses: Sequence[tuple[UnimodalShift, int]], total: int) -> float:
    """A loss that is exceeded with negligible mass only, or the largest one of any cell."""
    reach = 0.0
    for loss, _ in losses:
        finite = loss.cells.high[np.isfinite(loss.cells.high)]
        x = max(float(np.max(finite, initial=0.0)), 1e-300) * np.geomspace(1e-12, 1.0, 400)
        rare = np.flatnonzero(loss.loss_tails(x)[1] <= _NEGLIGIBLE / total)
        reach = max(reach, float(x[rare[0] if rare.size else -1]))
    return reach


def _rounded(loss: UnimodalShift, copies: int, h: float, half: int) -> tuple[RoundedLoss, ...]:
    """The loss rounded down and rounded up to points k h, -half <= k <= half."""
    points = h * np.arange(-half, half + 1)
    low, high = loss.loss_tails(np.append(points, np.finfo(float).max))
    infinite, low, high = low[-1], low[:-1], high[:-1]
    # The tail falls; so do the largest lower and the smallest upper bounds.
    low = np.maximum.accumulate(low[::-1])[::-1]
    high = np.minimum.accumulate(high)
    down, up = -np.diff(low, append=infinite), -np.diff(high, prepend=1.0)
    return tuple(
        RoundedLoss(
            copies, math.log(top) if top > 0.0 else -math.inf, Masses(-half, weight, 0.0), 0.0, 0.0
        )
        for weight, top in ((down, infinite), (up, high[-1]))
    )


def composed_bounds(groups: Sequence[tuple[Noise, int]], epsilon: Array) -> tuple[Array, Array]:
    """Bounds on log delta of independent noise on the coordinates of a query.

    Groups are noise in units of the sensitivity and how many coordinates have it; epsilon >= 0 of
    any shape. A ValueError is raised if there are too many coordinates for a lattice.
    """
    total = sum(copies for _, copies in groups)
    points = min(_MOST_POINTS, _SIZE // total)
    if points < _FEWEST:
        message = (
            f"vector profile: expected at most {_SIZE // _FEWEST} coordinates beside noise that "
            f"is not log-concave, got {total}"
        )
        raise ValueError(message)
    losses = [(UnimodalShift(noise, Fraction(1)), copies) for noise, copies in groups]
    half = points // 2
    h = _reach(losses, total) / half
    start, size = -half * total, 2 * half * total + 1
    gap = h * (start + np.arange(size)) - epsilon.reshape(-1, 1)
    payoff = -np.expm1(-np.maximum(gap, 0.0))
    bounds = []
    pairs = [_rounded(loss, copies, h, half) for loss, copies in losses]
    for side, parts in zip((-1.0, 1.0), map(list, zip(*pairs, strict=True)), strict=True):
        weights, error = sum_weights(parts, start, size)
        infinite = math.exp(log_any_infinite([(part.copies, part.log_infinite) for part in parts]))
        delta = payoff @ weights + side * error * np.linalg.norm(payoff, axis=1) + infinite
        with np.errstate(divide="ignore"):  # 0
            bounds.append(np.log(np.clip(delta, 0.0, 1.0)).reshape(epsilon.shape))
    return bounds[0], bounds[1]
