"""Many different coordinates as fewer equal ones, on either side of the truth.

In the dispersive order noise T' is at least as dispersed as T if the map of equal quantiles from
T to T' stretches all distances; then T' is more private at every shift (docs/vector-privacy.md,
section 10). Each family here grows in that order with each of one or two parameters, so that a
cell of parameters lies between its least corner (less private, for upper bounds on delta) and its
greatest corner (more private, for lower bounds).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    Noise,
    OffsetSymmetricGaussian,
    Subbotin,
    TruncatedLaplace,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array

    Shares = Sequence[tuple[Noise, int]]

_MARGIN = 1e-13  # over the rounding of a corner


def parameters(noise: Noise) -> tuple[tuple[object, ...], tuple[float, ...]]:
    """Return the family of a noise and the parameters with which privacy grows.

    Returns
    -------
    family : tuple
        Equal for noise that can be compared; what `corner` needs besides the parameters.
    parameters : tuple of float
        Positive; with none of them smaller, noise of the same family is at least as private.
    """
    kind = type(noise)
    match noise:
        case FlippedHuber(alpha=0.0, gamma=x) | OffsetSymmetricGaussian(theta=0.0, rho=x):
            found = (Gaussian,), (x,)
        case Gaussian(sigma=x) | Laplace(beta=x):
            found = (kind,), (x,)
        case Subbotin(p=p, scale=x):
            found = (kind, p), (x,)
        case FlippedHuber(alpha=x, gamma=y) | OffsetSymmetricGaussian(theta=x, rho=y) if (
            y / x < math.inf
        ):
            found = (kind,), (x, y / x)
        case TruncatedLaplace(beta=x, bound=y) if y / x < math.inf:
            found = (kind,), (x, y / x)
        case Huber(alpha=a, scale=s):
            found = (kind,), (a * s, 1.0 / a)
        case _:
            found = (noise,), ()
    return found


def corner(family: tuple[object, ...], values: Array, margin: float) -> Noise:
    """Return the noise with given parameters, moved outwards by a relative margin."""
    kind, *fixed = family
    x, *ratios = (value * (1.0 + margin) for value in values)
    if kind is Subbotin:
        return Subbotin(fixed[0], x)
    if kind is Huber:
        return Huber(1.0 / ratios[0], x * ratios[0])
    return kind(x, *(x * ratio for ratio in ratios))


def _cells(values: Array, most: int) -> NDArray[np.intp]:
    """Return the cell of each row of parameters, of at most `most` cells of equal ratios."""
    logs = np.log(values)
    low, span = logs.min(axis=0), np.ptp(logs, axis=0)
    wide = span > 0.0
    counts = np.ones(len(span), dtype=int)
    if wide.any():
        # As square as possible.
        width = (np.prod(span[wide]) / most) ** (1.0 / wide.sum())
        counts[wide] = np.clip(np.floor(span[wide] / width), 1, most)
        while np.prod(counts) > most:
            counts[np.argmax(counts)] -= 1
    share = np.divide(logs - low, span, out=np.zeros_like(logs), where=wide)
    places = np.minimum((share * counts).astype(int), counts - 1)
    return places @ np.cumprod(np.append(1, counts[:-1]))


def grouped(shares: Shares, most: int) -> tuple[Shares, Shares]:
    """Return fewer coordinates that are less private, and as many that are more private.

    Parameters
    ----------
    shares : sequence of (Noise, int)
        Noise in units of the shift, and how many coordinates have it.
    most : int
        How many different ones to aim at; families that cannot be compared stay apart.

    Returns
    -------
    less_private, more_private : list of (Noise, int)
        Delta for the first is at least, for the second at most that for `shares`.
    """
    families: dict[tuple[object, ...], list[tuple[Noise, int, tuple[float, ...]]]] = {}
    for noise, copies in shares:
        family, values = parameters(noise)
        families.setdefault(family, []).append((noise, copies, values))
    alone = sum(len(members) == 1 for members in families.values())
    room = max(most - alone, 0) / max(len(shares) - alone, 1)
    less: list[tuple[Noise, int]] = []
    more: list[tuple[Noise, int]] = []
    for family, members in families.items():
        values = np.array([value for _, _, value in members])
        cells = _cells(values, max(int(room * len(members)), 1)) if values.size else np.zeros(1)
        for cell in np.unique(cells):
            here = np.flatnonzero(cells == cell)
            count = sum(members[k][1] for k in here)
            if len(here) == 1:
                ends = [members[here[0]][0]] * 2
            else:
                least, greatest = values[here].min(axis=0), values[here].max(axis=0)
                ends = [corner(family, least, -_MARGIN), corner(family, greatest, _MARGIN)]
            less.append((ends[0], count))
            more.append((ends[1], count))
    return less, more
