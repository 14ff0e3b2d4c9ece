"""Joint test of several printed numbers against replications of one protocol.

One printed number inside of the scatter of our replications says little; many of them, each near
the same end, say much. The null hypothesis is that what is printed is one more replication. Then
the printed row of a block (a data set, say) and the n of ours are exchangeable: each of the n + 1
is equally likely to be the printed one. That gives any score of the rows an exact distribution.

The score is Fisher's for one side, -2 times the sum of the logarithms of #{<= y} / (n + 1), ranks
among all n + 1, which are never 0; for the other side of #{>= y} / (n + 1). The p-value is twice
the smaller of the two, since either side was possible. A protocol that is not ours moves a whole
column to one side. p-values that are two-sided number by number forget the sides: eight numbers
at our lowest decile get 0.04 by them and 0.0014 here. Numbers far off on both sides are found as
well, though later: one at the other end adds 0 and takes nothing away.

Fisher's chi-squared distribution does not hold, since such p-values are few, floored and, with
ties, uneven: 8 numbers below 6 replications each get 0.026 by it, where 2 / 7^8 = 3e-7 is right. So
the distribution is found from the ranks themselves: in a block every row of the pool gets the score
that it would have as the printed one, and blocks, which are independent, are convolved. The numbers
of one row may depend on each other in any way.

Scores are kept as whole multiples of 1e-3, which makes the distribution of the rounded score exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_UNIT = 1e-3  # of a score


class Joint(NamedTuple):
    """Result of a joint test.

    Attributes
    ----------
    low, high : float
        Probabilities of numbers as low, and as high, if they are one more replication.
    p_value : float
        Twice the smaller one, at most 1.
    """

    low: float
    high: float

    @property
    def p_value(self) -> float:  # numpydoc ignore=RT01
        """Two-sided p-value."""
        return min(1.0, 2.0 * min(self.low, self.high))


def joint_test(blocks: Sequence[tuple[ArrayLike, ArrayLike]]) -> Joint:
    """Test whether printed numbers are one more replication in each of some independent blocks.

    Parameters
    ----------
    blocks : sequence of (array_like, array_like)
        Of each block our replications, shape (n, m) or (n,) for m = 1, and what is printed, shape
        (m,) or a number. Infinite replications count as largest.

    Returns
    -------
    Joint

    Raises
    ------
    ValueError
        Without a block, or if one has no replication, NaN, or shapes that do not fit.
    """
    pools = [_pool(*block) for block in blocks]
    if bad := [number for number, pool in enumerate(pools) if pool is None] or not pools:
        expected = "blocks of at least one replication, of as many numbers as printed, none NaN"
        raise ValueError(f"joint test: expected {expected}, got {bad if pools else 'no'} otherwise")
    known = [pool for pool in pools if pool is not None]
    return Joint(_tail(known), _tail([-pool for pool in known]))


def _tail(pools: Sequence[NDArray[Any]]) -> float:
    """Probability of rows as low as the last ones of the pools."""
    known, reached = np.ones(1), 0
    for pool in pools:
        scores = _scores(pool)
        atoms, counts = np.unique(scores, return_counts=True)
        wider = np.zeros(len(known) + atoms[-1])
        for atom, count in zip(atoms, counts, strict=True):
            wider[atom : atom + len(known)] += count / len(scores) * known
        known, reached = wider, reached + int(scores[-1])
    return min(1.0, float(known[reached:].sum()))


def _pool(replications: ArrayLike, printed: ArrayLike) -> NDArray[Any] | None:
    """Replications and the printed row below them, shape (n + 1, m); None if they do not fit."""
    ours, row = np.asarray(replications, dtype=float), np.atleast_1d(printed)
    ours = ours[:, None] if ours.ndim == 1 else ours
    if ours.ndim != 2 or not ours.size or row.shape != ours.shape[1:]:
        return None
    pool = np.vstack([ours, row])
    return None if np.isnan(pool).any() else pool


def _scores(pool: NDArray[Any]) -> NDArray[np.int64]:
    """Score of each row of a pool as the printed one, in units: large where its numbers are low."""
    below = [np.searchsorted(np.sort(column), column, "right") for column in pool.T]
    total = -2.0 * np.log(np.array(below) / len(pool)).sum(axis=0)
    return np.rint(total / _UNIT).astype(np.int64)
