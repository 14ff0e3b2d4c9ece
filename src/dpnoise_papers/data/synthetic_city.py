"""A city to release maps of: the real one as far as it can be had, synthetic for the rest.

Without network and mirror there is neither map nor trips. Trips then gather at a few hot spots,
more or less strongly by the hour. Where only trips are missing, synthetic ones run on the real map.
Either way the hour is marked 'synthetic', and so is every table and figure made of it.

Synthetic streets are a planar graph like that of a city, for tests too: a lattice of junctions,
long blocks one way and short the other, bent a little; a park without streets in its middle; some
sections missing and some corners cut by diagonals. Dead ends are taken away, so that every junction
has two neighbours or more, most three or four.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.city import City, Hour, Spreading, count_events
from dpnoise_papers.data.roads import largest_component, two_core
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array


_BLOCK = (270.0, 80.0)  # metres between avenues and between streets
_BEND = 0.15  # of a block; below 1/4 no two sections can cross
_MISSING = 0.06
_DIAGONALS = 0.03
_SPOTS = 12
_RADII = (200.0, 900.0)  # metres
_BACKGROUND = 0.1  # of a hot spot's height


class StreetMap(NamedTuple):
    """A street graph and where its junctions are."""

    graph: Graph
    coordinates: Array  # metres, shape (n, 2): east and north


def street_graph(rows: int, columns: int, rng: np.random.Generator) -> StreetMap:
    """A made-up city of at least 4 streets (rows) and 4 avenues (columns).

    A few percent of rows * columns junctions are lost to the park and to dead ends. `rng` draws
    bends, missing sections and diagonals.
    """
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


def complete_city(
    city: City | None,
    hours: Sequence[int],
    *,
    seed: int,
    rows: int,
    columns: int,
    events: int,
    events_per_cab: int,
    bandwidth: float,
    reach: float,
) -> City:
    """City with counts for every hour asked for, synthetic where there are none.

    `city` is what could be had, as `dpnoise_papers.data.city.read_city` returns it. `rows`
    and `columns` are the size of the synthetic street grid, `events` the synthetic pick-ups and
    drop-offs in each hour. `events_per_cab` are kept of a cab in an hour; synthetic cabs make as
    many. `bandwidth` and `reach` are in metres, as for real trips.
    """
    if city is None:
        x, y, sections = _streets(rows, columns, seed)
        city = City("synthetic city", x, y, sections, missing="no road map could be had")
    counts, details = dict(city.counts), dict(city.hours)
    wanting = [hour for hour in hours if hour not in counts]
    if wanting:
        spreading = Spreading(city.x, city.y, reach=reach, bandwidth=bandwidth)
        for hour in wanting:
            place = _events(city, hour, events, seed)
            counts[hour], tally = count_events(
                spreading, (city.x[place], city.y[place]), malformed=np.zeros(events, bool),
                cab=np.arange(events) // events_per_cab, time=np.zeros(events),
                events_per_cab=events_per_cab,
            )  # fmt: skip
            details[hour] = Hour("synthetic", "made up", 1.0, tally)
    return replace(city, counts=counts, hours=details)


def _streets(rows: int, columns: int, seed: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Synthetic junctions, east and north, and the sections between them."""
    streets = street_graph(rows, columns, generator(seed, "synthetic-city", "streets"))
    return *streets.coordinates.T, streets.graph.edges


def _events(city: City, hour: int, events: int, seed: int) -> NDArray[np.int64]:
    """Junctions at which the events of an hour happen."""
    # The spots stay where they are; how busy they are changes with the hour.
    rng = generator(seed, "synthetic-city", "hot spots")
    spots = rng.integers(len(city.x), size=_SPOTS)
    radius = rng.uniform(*_RADII, size=_SPOTS)
    rng = generator(seed, "synthetic-city", "hour", hour)
    height = rng.lognormal(0.0, 1.0, size=_SPOTS)
    east = np.subtract.outer(city.x, city.x[spots])
    north = np.subtract.outer(city.y, city.y[spots])
    intensity = _BACKGROUND + np.exp(-(east**2 + north**2) / (2.0 * radius**2)) @ height
    return rng.choice(len(city.x), size=events, p=intensity / np.sum(intensity))
