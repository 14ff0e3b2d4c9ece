"""A city to release maps of: the real one as far as it can be had, synthetic for the rest.

Without network and mirror there is neither map nor trips. Streets are then those of
`dpnoise_papers.data.city.synthetic_streets`, and trips gather at a few hot spots, more or less
strongly by the hour. Where only trips are missing, synthetic ones run on the real map. Either way
the hour is marked 'synthetic', and so is every table and figure made of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.data.city.counts import City, Hour
from dpnoise_papers.data.city.synthetic_streets import street_graph
from dpnoise_papers.data.city.trips import Spreading, count_events
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array

_SPOTS = 12
_RADII = (200.0, 900.0)  # metres
_BACKGROUND = 0.1  # of a hot spot's height


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

    `city` is what could be had, as `dpnoise_papers.data.city.counts.read_city` returns it. `rows`
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
