"""A small street map with every oddity, and trips on it, for the tests of city maps."""

from __future__ import annotations

import numpy as np

from dpnoise_papers.data.city import City, Hour, Tally

STEP = 0.001  # degrees between neighbouring nodes
LATITUDE, LONGITUDE = 40.75, -73.98


def street_map(rows: int = 5, columns: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates and segments of a grid of streets, one block without corners of degree 3.

    The corners of the grid have degree 2, so that each becomes a bend in a section. Added to the
    grid are a loop, a repeated and a reversed segment, a dead end of two segments and a separate
    street of three nodes.
    """
    i, j = np.divmod(np.arange(rows * columns), columns)
    n = rows * columns
    number = np.arange(n).reshape(rows, columns)
    east = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    north = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    odd = [(5, 5), (0, 1), (1, 0), (5, n), (n, n + 1), (n + 2, n + 3), (n + 3, n + 4)]
    latitude = np.concatenate([LATITUDE + STEP * i, LATITUDE - STEP * np.arange(1, 6)])
    longitude = np.concatenate([LONGITUDE + STEP * j, np.full(5, LONGITUDE - 0.01)])
    return latitude, longitude, np.concatenate([east, north, odd])


def grid(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y in metres and the edges of a square grid."""
    y, x = (80.0 * axis for axis in np.divmod(np.arange(rows * columns), columns))
    number = np.arange(rows * columns).reshape(rows, columns)
    east = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    north = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    return x, y, np.concatenate([east, north])


def town(rows: int = 14, columns: int = 8, hours: tuple[int, ...] = (0, 8)) -> City:
    """Return a square city with a busy half."""
    x, y, edges = grid(rows, columns)
    counts = np.where(y > np.median(y), 40.0, 5.0)
    hour = Hour("synthetic", "never", 1.0, Tally(10, 1, 2, 3, 4))
    return City("toytown", x, y, edges, dict.fromkeys(hours, counts), dict.fromkeys(hours, hour))
