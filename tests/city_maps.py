"""A small street map with every oddity, and trips on it, for the tests of city maps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.city import City, Hour, Tally, largest_component, two_core

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
    hour = Hour("scaled", "never", 1.0, Tally(10, 1, 2, 3, 4))
    return City("toytown", x, y, edges, dict.fromkeys(hours, counts), dict.fromkeys(hours, hour))


class StreetMap(NamedTuple):
    """A street graph and where its junctions are."""

    graph: Graph
    coordinates: np.ndarray  # metres, shape (n, 2): east and north


def street_graph(rows: int, columns: int, rng: np.random.Generator) -> StreetMap:
    """A made-up city of at least 4 streets (rows) and 4 avenues (columns).

    A few percent of rows * columns junctions are lost to the park and to dead ends. `rng` draws
    bends, missing sections and diagonals.
    """
    number = np.arange(rows * columns).reshape(rows, columns)
    row, column = np.divmod(number.ravel(), columns)
    bend = rng.uniform(-0.15, 0.15, size=(rows * columns, 2))
    coordinates = (np.column_stack([column, row]) + bend) * (270.0, 80.0)
    lattice = np.concatenate(
        [
            np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
            np.column_stack([number[:-1].ravel(), number[1:].ravel()]),
        ]
    )
    # one diagonal to a block at most, in either direction
    rising = np.column_stack([number[:-1, :-1].ravel(), number[1:, 1:].ravel()])
    falling = np.column_stack([number[:-1, 1:].ravel(), number[1:, :-1].ravel()])
    diagonals = np.where(rng.random((len(rising), 1)) < 0.5, rising, falling)
    edges = np.concatenate(
        [
            lattice[rng.random(len(lattice)) >= 0.06],
            diagonals[rng.random(len(diagonals)) < 0.03],
        ]
    )
    park = (np.abs(2 * row + 1 - rows) < rows / 4) & (
        np.abs(2 * column + 1 - columns) < columns / 4
    )
    edges = edges[~np.any(park[edges], axis=1)]
    edges = largest_component(rows * columns, two_core(rows * columns, edges))
    kept, renumbered = np.unique(edges, return_inverse=True)
    return StreetMap(Graph(len(kept), renumbered.reshape(-1, 2)), coordinates[kept])
