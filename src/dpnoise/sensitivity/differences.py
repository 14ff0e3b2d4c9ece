"""True differences between the answers on neighbouring data sets, where they are not convex.

A person who is in one of 20 regions changes one count, and none by a bit: the differences are the
points of 20 segments, and the convex set around them holds more. Privacy may be proved for either.
A lower bound on the error holds for what is promised only if it is proved for the true differences.

Where these are fewer than the points of the convex set, three numbers describe them, the same for
all coordinates: how many entries rise, how many fall, and how far. All entries that are not 0 may
have any place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array, BoolArray


@dataclass(frozen=True)
class Differences:
    """The vectors d of K entries of which d or -d has few that rise and few that fall.

    Parameters
    ----------
    of : int
        The number K of entries.
    up, down : int
        The most entries above 0 and the most below 0, of d or of -d; `up` is at least `down`.
    moved : int
        The most entries that are not 0.
    size : float
        The largest |d_i|, the same for all coordinates.
    whole : bool
        Whether entries are whole numbers. If not, with d also t d is a difference, 0 <= t <= 1.
    full : bool
        Whether as many entries rise as fall, and each that is not 0 is `size` or -`size`.

    Examples
    --------
    >>> from dpnoise import Counts
    >>> found = Counts(3, of=12, relation="add-remove").differences
    >>> found
    Differences(of=12, up=3, down=0, moved=3, size=1.0, whole=True, full=False)
    >>> found.holds([[1.0] * 3 + [0.0] * 9, [0.25] * 12]).tolist()    # both are in the convex set
    [True, False]
    """

    of: int
    up: int
    down: int
    moved: int
    size: float
    whole: bool = False
    full: bool = False

    listed: ClassVar[bool] = False  # whether the places of entries are those of a list

    def holds_pattern(self, up: int, down: int) -> bool:
        """Whether d with so many entries `size` and so many -`size` are differences."""
        few = self.down >= min(up, down) and self.up >= max(up, down) and up + down <= self.moved
        return few and (up == down or not self.full)

    def holds(self, d: Array) -> BoolArray:
        """Whether vectors are differences.

        Parameters
        ----------
        d : array_like, shape (..., K)
            Vectors.

        Returns
        -------
        numpy.ndarray of bool, shape (...)
        """
        d = np.asarray(d, dtype=float)
        up, down = np.sum(d > 0.0, axis=-1), np.sum(d < 0.0, axis=-1)
        few = (np.maximum(up, down) <= self.up) & (np.minimum(up, down) <= self.down)
        good = few & (up + down <= self.moved) & (np.max(np.abs(d), axis=-1) <= self.size)
        if self.whole:
            good &= np.all(d == np.rint(d), axis=-1)
        if self.full:
            good &= (up == down) & np.all((d == 0.0) | (np.abs(d) == self.size), axis=-1)
        return good


@dataclass(frozen=True, eq=False)
class ListedDifferences(Differences):
    """A list of vectors and their negatives; the numbers bound what these have.

    Entries may not have any place, so that only `moved`, `size` and `whole` are used.

    Parameters
    ----------
    columns : sparse array, shape (of, N)
        One of each pair.
    """

    columns: Any = None

    listed = True

    def holds_pattern(self, up: int, down: int) -> bool:  # noqa: ARG002
        """False: no numbers of entries are enough."""
        return False

    def holds(self, d: Array) -> BoolArray:
        """Whether vectors, shape (..., K), are 0 or in the list, up to the sign; shape (...)."""
        d = np.asarray(d, dtype=float)
        known = {row.tobytes() for row in self.columns.T.toarray() + 0.0}
        rows = d.reshape(-1, self.of) + 0.0
        found = [not x.any() or x.tobytes() in known or (0.0 - x).tobytes() in known for x in rows]
        return np.array(found, dtype=bool).reshape(d.shape[:-1])
