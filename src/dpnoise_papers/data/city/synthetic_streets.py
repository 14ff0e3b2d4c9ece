"""Synthetic streets: a planar graph like that of a city, for tests and for runs without data.

A lattice of junctions, long blocks one way and short the other, bent a little; a park without
streets in its middle; some sections missing and some corners cut by diagonals. Dead ends are
taken away, so that every junction has two neighbours or more, most three or four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.city.roads import largest_component, two_core

if TYPE_CHECKING:
    from dpnoise._types import Array

_BLOCK = (270.0, 80.0)  # metres between avenues and between streets
_BEND = 0.15  # of a block; below 1/4 no two sections can cross
_MISSING = 0.06
_DIAGONALS = 0.03
_MINIMUM = 4


class StreetMap(NamedTuple):
    """A street graph and where its junctions are."""

    graph: Graph
    coordinates: Array  # metres, shape (n, 2): east and north


def street_graph(rows: int, columns: int, rng: np.random.Generator) -> StreetMap:
    """A made-up city of at least 4 streets (rows) and 4 avenues (columns), else ValueError.

    A few percent of rows * columns junctions are lost to the park and to dead ends. `rng` draws
    bends, missing sections and diagonals.
    """
    problems = Problems("street graph")
    for name, value in (("rows", rows), ("columns", columns)):
        expected = f"an integer of at least {_MINIMUM}"
        problems.require(is_integer(value) and value >= _MINIMUM, name, expected, value)
    problems.raise_if_any()
    number = np.arange(rows * columns).reshape(rows, columns)
    row, column = np.divmod(number.ravel(), columns)
    bend = rng.uniform(-_BEND, _BEND, size=(rows * columns, 2))
    coordinates = (np.column_stack([column, row]) + bend) * _BLOCK
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
            lattice[rng.random(len(lattice)) >= _MISSING],
            diagonals[rng.random(len(diagonals)) < _DIAGONALS],
        ]
    )
    park = (np.abs(2 * row + 1 - rows) < rows / 4) & (
        np.abs(2 * column + 1 - columns) < columns / 4
    )
    edges = edges[~np.any(park[edges], axis=1)]
    edges = largest_component(rows * columns, two_core(rows * columns, edges))
    kept, renumbered = np.unique(edges, return_inverse=True)
    return StreetMap(Graph(len(kept), renumbered.reshape(-1, 2)), coordinates[kept])
