"""Fewer coordinates in place of many different ones, less private and more private.

In the dispersive order noise T' is at least as dispersed as T if the map of equal quantiles from
T to T' stretches all distances; then T' is more private at every shift (docs/vector-privacy.md,
section 10). Each family here grows in that order with each of one or two parameters, so that a
cell of parameters lies between its lowest corner (less private, for upper bounds on delta) and its
highest corner (more private, for lower bounds).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

    Shares = list[tuple[Noise, int]]

_MARGIN = 1e-13  # over the rounding of a corner


def corner(family: tuple[Any, ...], values: Array, margin: float) -> Noise:
    """The noise with given parameters of `Noise.dispersion`, each enlarged by a relative margin."""
    kind, *fixed = family
    return kind.from_dispersion(*fixed, *(value * (1.0 + margin) for value in values))


def _cells(values: Array, most: int) -> NDArray[np.intp]:
    """The cell of each row of parameters, of at most `most` cells of equal ratios."""
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
    """Fewer coordinates that are less private, and as many that are more private.

    Pairs are noise in units of the sensitivity and its number of coordinates. `most` different ones
    are aimed at, and families that cannot be compared stay apart. Delta for the first result is at
    least, for the second at most that for `shares`.
    """
    families: dict[tuple[Any, ...], list[tuple[Noise, int, tuple[float, ...]]]] = {}
    for noise, copies in shares:
        family, values = noise.dispersion()
        families.setdefault(family, []).append((noise, copies, values))
    alone = sum(len(members) == 1 for members in families.values())
    spare = max(most - alone, 0) / max(len(shares) - alone, 1)
    less: list[tuple[Noise, int]] = []
    more: list[tuple[Noise, int]] = []
    for family, members in families.items():
        table = np.array([value for _, _, value in members])
        cells = _cells(table, max(int(spare * len(members)), 1)) if table.size else np.zeros(1)
        for cell in np.unique(cells):
            here = np.flatnonzero(cells == cell)
            count = sum(members[k][1] for k in here)
            if len(here) == 1:
                ends = [members[here[0]][0]] * 2
            else:
                low, high = table[here].min(axis=0), table[here].max(axis=0)
                ends = [corner(family, low, -_MARGIN), corner(family, high, _MARGIN)]
            less.append((ends[0], count))
            more.append((ends[1], count))
    return less, more
