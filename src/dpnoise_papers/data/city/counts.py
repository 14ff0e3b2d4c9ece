"""Counts of pick-ups and drop-offs at the junctions of Manhattan, hour by hour.

The counts behind Figures 2, 5 and 6 of balle-wang-2018 were never published. 'Scaled' counts
replace them: trips sampled on working days from 2009 to 2015, whose cabs are not known. Each
trip is taken for the only one of its cab, and the counts are multiplied to the total of the
paper's own day and hour. Another kind, 'synthetic', is made in
`dpnoise_papers.data.city.synthetic` where these cannot be had.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise_papers.data.city.roads import junction_graph, local_metres, split_map
from dpnoise_papers.data.city.trips import Spreading, Tally, count_events, well_formed
from dpnoise_papers.data.copies import mirror_folder
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import Contents, read_arrays
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.sets import obtain_all

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.data.tables import Table

ROADS = "manhattan-roads"
SAMPLES = "new-york-trips-sampled"
TOTALS = "new-york-passengers-2014-09-24"
_HOUR = 3600.0
_WORKING_DAYS = 5  # Monday is 1


@dataclass(frozen=True)
class Hour:
    """Where the counts of one hour come from.

    `source` is 'scaled' or 'synthetic', `day` tells of which day or days the trips are, `scale`
    what the counts were multiplied by, `tally` what became of the events.
    """

    source: str
    day: str
    scale: float
    tally: Tally


@dataclass(frozen=True, eq=False)
class City:
    """Junctions, sections, and counts by hour.

    `name` has 'synthetic' in it where the city is. Junctions x, y of shape (n,) are in metres east
    and north; `sections`, shape (m, 2), include loops and parallels. `counts`, each of shape (n,),
    and `hours` are by hour of the day, 0 to 23. `missing` is why counts or the whole map could not
    be had, or "".
    """

    name: str
    x: Array
    y: Array
    sections: NDArray[np.int64]
    counts: Mapping[int, Array] = field(default_factory=dict)
    hours: Mapping[int, Hour] = field(default_factory=dict)
    missing: str = ""


def load_city(
    hours: Sequence[int],
    *,
    events_per_cab: int = 5,
    bandwidth: float = 80.0,
    reach: float = 200.0,
    passengers_per_trip: float = 1.6,
    cache: str | os.PathLike[str] = "data/raw",
    mirror: str | os.PathLike[str] | None = None,
    offline: bool = False,
    registry: str | os.PathLike[str] | None = None,
) -> City:
    """Manhattan with the counts of some hours of the day, of those that can be had.

    `events_per_cab` are kept of a cab in an hour, see `dpnoise_papers.data.city.trips`; `bandwidth`
    and `reach` are those of `Spreading` there, in metres; `passengers_per_trip` turns the day's
    totals, which count passengers, into trips. The places are as for
    `dpnoise_papers.data.sets.load`, the registry is data/cities.yaml.

    Hours without data are left out, and `missing` says why. DatasetUnavailable if there is no map,
    ValueError if an argument is out of range.
    """
    problems = Problems("city")
    for hour in hours:
        problems.require(is_integer(hour) and 0 <= hour < 24, "hours", "hours from 0 to 23", hour)
    problems.number("passengers_per_trip", passengers_per_trip, low=0.0, open_low=True)
    problems.raise_if_any()
    _, wanted = read_cities(registry).find("manhattan")
    tables, _, reason = obtain_all(wanted, Path(cache), mirror_folder(mirror), offline)
    if ROADS not in tables:
        raise DatasetUnavailable("manhattan", reason)
    roads = junction_graph(*split_map(tables[ROADS].values))
    origin = (float(np.mean(roads.latitude)), float(np.mean(roads.longitude)))
    x, y = local_metres(roads.latitude, roads.longitude, origin)
    spreading = Spreading(x, y, reach=reach, bandwidth=bandwidth)
    found = {}
    if {SAMPLES, TOTALS} <= set(tables):
        for hour in sorted(set(hours)):
            trips = _passengers(tables[TOTALS], hour) / passengers_per_trip
            found[hour] = _sampled(
                tables[SAMPLES], hour, trips,
                spreading=spreading, origin=origin, events_per_cab=events_per_cab,
            )  # fmt: skip
    return City(
        "Manhattan", x, y, roads.sections,
        {hour: counts for hour, (counts, _) in found.items()},
        {hour: details for hour, (_, details) in found.items()},
        reason,
    )  # fmt: skip


def _sampled(
    trips: Table,
    hour: int,
    total: float,
    *,
    spreading: Spreading,
    origin: tuple[float, float],
    events_per_cab: int,
) -> tuple[Array, Hour]:
    """Count both ends of the trips that begin in an hour, scaled to `total` trips.

    The drop-offs of an hour are those of the trips that begin in it, but for the few that
    are under way at its ends, about as many at the one as at the other.
    """
    chosen = (trips["pickup_hour"] == hour) & (trips["pickup_isodow"] <= _WORKING_DAYS)
    n = int(np.sum(chosen))
    latitude = np.concatenate([trips["pickup_lat"][chosen], trips["dropoff_lat"][chosen]])
    longitude = np.concatenate([trips["pickup_lon"][chosen], trips["dropoff_lon"][chosen]])
    cab = np.tile(np.arange(n), 2)  # unknown: one cab for each trip
    counts, tally = count_events(
        spreading, local_metres(latitude, longitude, origin),
        malformed=~well_formed(latitude, longitude), cab=cab, time=np.zeros(2 * n),
        events_per_cab=events_per_cab,
    )  # fmt: skip
    scale = total / n
    days = "working days 2009-2015, to the total of 24 September 2014"
    return counts * scale, Hour("scaled", days, scale, tally)


def _passengers(totals: Table, hour: int) -> float:
    of_day = totals["timestamp"] % 86400
    return float(np.sum(totals["passengers"][of_day // _HOUR == hour]))


def city_contents(hours: Sequence[int], **settings: Any) -> Contents:  # noqa: ANN401 - of load_city
    """What is stored of a city, with a reason if the counts of an hour are missing.

    Settings and errors are those of `load_city`.
    """
    city = load_city(hours, **settings)
    told = {str(hour): asdict(details) for hour, details in city.hours.items()}
    arrays = {
        "facts": np.array([city.name, json.dumps(told), city.missing]),
        "x": city.x,
        "y": city.y,
        "sections": city.sections,
        **{f"counts/{hour}": counts for hour, counts in city.counts.items()},
    }
    return Contents(arrays, {}, city.missing if set(hours) - set(city.counts) else "")


def read_city(npz: str | os.PathLike[str]) -> City | None:
    """City that `dpnoise_papers.data.prepared.prepare` wrote, or None if there was no map."""
    arrays = read_arrays(npz)
    if not arrays:
        return None
    name, told, missing = arrays["facts"].tolist()
    hours = {
        int(hour): Hour(**(details | {"tally": Tally(**details["tally"])}))
        for hour, details in json.loads(told).items()
    }
    counts = {hour: arrays[f"counts/{hour}"] for hour in hours}
    return City(name, arrays["x"], arrays["y"], arrays["sections"], counts, hours, missing)
