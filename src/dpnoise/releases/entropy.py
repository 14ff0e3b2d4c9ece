"""Random bits of the operating system, with the one method of a generator that exact draws need."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_WORD = 64


class Entropy:
    """Independent fair bits.

    There is no seed: whoever knows it knows the noise. Tests pass a source of their own.

    Parameters
    ----------
    source : callable
        Returns a given number of random bytes; `os.urandom` by default.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        self._source = source

    def words(self, count: int) -> NDArray[np.uint64]:
        """Uniform integers below 2^64, shape (count,)."""
        return np.frombuffer(self._source(8 * count), dtype="<u8").astype(np.uint64)

    def bits(self, count: int) -> int:
        """A uniform integer below 2^count, `count` a multiple of 8."""
        return int.from_bytes(self._source(count // 8), "little")

    def integers(
        self,
        low: int,
        high: int,
        size: int | tuple[int, ...] | None = None,
        dtype: Any = np.int64,  # noqa: ANN401  (as NumPy's)
    ) -> Any:  # noqa: ANN401
        """Uniform integers from `low` to below `high`, without bias; arguments as NumPy's."""
        shape = () if size is None else size
        count, span = int(np.prod(shape)), high - low
        if span == 2**_WORD:
            return self.words(count).astype(dtype).reshape(shape)[()]
        excess = np.uint64(2**_WORD % span)
        found = self.words(count)
        # The last 2^64 mod span words would favour small remainders: they are drawn anew.
        # ends: a rejection sampler: ends with probability 1
        while excess and (bad := np.flatnonzero(found > np.uint64(2**_WORD - 1) - excess)).size:
            found[bad] = self.words(bad.size)
        return (low + (found % np.uint64(span)).astype(dtype)).reshape(shape)[()]
