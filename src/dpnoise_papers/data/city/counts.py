"""Counts of pick-ups and drop-offs at the junctions of Manhattan, hour by hour.

The counts behind Figures 2, 5 and 6 of balle-wang-2018 were never published. 'Scaled' counts
replace them: trips sampled on working days from 2009 to 2015, whose cabs are not known. Each
trip is taken for the only one of its cab, and the counts are multiplied to the total of the
paper's own day and hour. Another kind, 'synthetic', is made in
`dpnoise_papers.data.city.synthetic` where these cannot be had.

The repository ships the counts of the sampled trips and no trip: the table `EVENTS` by junction and
hour, and what became of the trips by hour, `HOURS`. Both hold for the settings that the registry
names; for others the trips themselves are needed. `write_counts` makes the two tables of trips.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import asdict, astuple, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise_papers.data.city.roads import junction_graph, local_metres, split_map
from dpnoise_papers.data.city.trips import Spreading, Tally, count_events, well_formed
from dpnoise_papers.data.copies import places_of
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.fetch import obtain_all
from dpnoise_papers.data.prepared import Contents, read_arrays
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.data.city.roads import RoadGraph
    from dpnoise_papers.data.tables import Table

ROADS = "manhattan-roads"
EVENTS = "manhattan-events"
HOURS = "manhattan-hours"
SAMPLES = "new-york-trips-sampled"
TOTALS = "new-york-passengers-2014-09-24"
_HOUR = 3600.0
_WORKING_DAYS = 5  # Monday is 1
_DAYS = "working days 2009-2015, to the total of 24 September 2014"


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
    be had, or ""; `sources` are the places that served, `refused` copies that are not what they
    should be, both known to `load_city` only.
    """

    name: str
    x: Array
    y: Array
    sections: NDArray[np.int64]
    counts: Mapping[int, Array] = field(default_factory=dict)
    hours: Mapping[int, Hour] = field(default_factory=dict)
    missing: str = ""
    sources: Sequence[str] = ()
    refused: Sequence[str] = ()


class HourCount(NamedTuple):
    """Sampled trips that begin in an hour: their number, both ends counted by junction, a tally."""

    trips: int
    counts: Array
    tally: Tally


def load_city(
    hours: Sequence[int],
    *,
    events_per_cab: int = 5,
    bandwidth: float = 80.0,
    reach: float = 200.0,
    passengers_per_trip: float = 1.6,
    registry: str | os.PathLike[str] | None = None,
    **where: Any,  # noqa: ANN401 - those of `places_of`
) -> City:
    """Manhattan with the counts of some hours of the day, of those that can be had.

    `events_per_cab` are kept of a cab in an hour, see `dpnoise_papers.data.city.trips`; `bandwidth`
    and `reach` are those of `Spreading` there, in metres; `passengers_per_trip` turns the day's
    totals, which count passengers, into trips. `where` are the keywords of
    `dpnoise_papers.data.copies.places_of`, the registry is data/cities.yaml.

    Hours without data are left out, and `missing` says why. DatasetUnavailable if there is no map,
    ValueError if an argument is out of range.
    """
    problems = Problems("city")
    for hour in hours:
        problems.require(is_integer(hour) and 0 <= hour < 24, "hours", "hours from 0 to 23", hour)
    problems.number("passengers_per_trip", passengers_per_trip, low=0.0, open_low=True)
    count = is_integer(events_per_cab) and events_per_cab >= 1
    problems.require(count, "events_per_cab", "a positive whole number", events_per_cab)
    problems.number("bandwidth", bandwidth, low=0.0)
    problems.number("reach", reach, low=0.0, open_low=True)
    problems.raise_if_any()
    entry, wanted = read_cities(registry).find("manhattan")
    places = places_of(registry, **where)
    first = obtain_all({name: wanted[name] for name in (ROADS, TOTALS)}, places)
    tables, sources, refused = dict(first.tables), list(first.sources), list(first.refused)
    if ROADS not in tables:
        raise DatasetUnavailable("manhattan", first.reason, refused)
    reasons = [first.reason] if first.reason else []
    asked = {"events_per_cab": events_per_cab, "bandwidth": bandwidth, "reach": reach}
    made = entry.counted_with.model_dump()
    if asked != made:
        kept, told = (", ".join(f"{k} {v!r}" for k, v in one.items()) for one in (made, asked))
        reasons.append(f"the tables of counts hold for {kept}; for {told} trips are needed")
    for names in ([(EVENTS, HOURS)] if asked == made else []) + [(SAMPLES,)]:
        more = obtain_all({name: wanted[name] for name in names}, places)
        sources += more.sources
        refused += more.refused
        tables |= more.tables
        if not more.reason:
            reasons = [first.reason] if first.reason else []
            break
        reasons.append(more.reason)
    roads = junction_graph(*split_map(tables[ROADS].values))
    counted = _counted(tables, roads, hours, asked)
    x, y, _ = _metres(roads)
    found, told_of = {}, {}
    if TOTALS in tables:
        for hour, one in counted.items():
            if not one.trips:
                reasons.append(f"no sampled trip begins in hour {hour}")
                continue
            scale = _passengers(tables[TOTALS], hour) / passengers_per_trip / one.trips
            found[hour] = one.counts * scale
            told_of[hour] = Hour("scaled", _DAYS, scale, one.tally)
    once = [list(dict.fromkeys(part)) for part in (reasons, sources, refused)]
    return City("Manhattan", x, y, roads.sections, found, told_of, "; ".join(once[0]), *once[1:])


def _counted(
    tables: Mapping[str, Table], roads: RoadGraph, hours: Sequence[int], settings: dict[str, Any]
) -> dict[int, HourCount]:
    """Counts of the sampled trips by hour, from the tables of counts or from the trips."""
    if SAMPLES in tables:
        return count_trips(tables[SAMPLES], roads, hours, **settings)
    if not {EVENTS, HOURS} <= set(tables):
        return {}
    events, tallies = tables[EVENTS], tables[HOURS]
    if not np.array_equal(events["junction"], roads.node):
        raise DatasetUnavailable("manhattan", f"{EVENTS}: not the junctions of {ROADS}")
    rows = {int(row[0]): [int(value) for value in row[1:]] for row in tallies.values}
    return {
        hour: HourCount(rows[hour][0], events[f"hour_{hour}"].copy(), Tally(*rows[hour][1:]))
        for hour in sorted(set(hours))
    }


def _metres(roads: RoadGraph) -> tuple[Array, Array, tuple[float, float]]:
    """Junctions in metres east and north of their mean, and that mean in degrees."""
    origin = (float(np.mean(roads.latitude)), float(np.mean(roads.longitude)))
    return *local_metres(roads.latitude, roads.longitude, origin), origin


def count_trips(
    trips: Table,
    roads: RoadGraph,
    hours: Sequence[int],
    *,
    events_per_cab: int,
    bandwidth: float,
    reach: float,
) -> dict[int, HourCount]:
    """Counts of both ends of the trips that begin in each hour, on working days.

    Settings are those of `load_city`. The drop-offs of an hour are those of the trips that begin in
    it, but for the few that are under way at its ends, about as many at the one as at the other.
    """
    x, y, origin = _metres(roads)
    spreading = Spreading(x, y, reach=reach, bandwidth=bandwidth)
    found = {}
    for hour in sorted(set(hours)):
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
        found[hour] = HourCount(n, counts, tally)
    return found


def write_counts(
    folder: str | os.PathLike[str],
    *,
    registry: str | os.PathLike[str] | None = None,
    **where: Any,  # noqa: ANN401 - those of `places_of`
) -> list[Path]:
    """Write the tables `EVENTS` and `HOURS`, made of single trips, and return their paths.

    The settings are those of the registry; places as for `load_city`. DatasetUnavailable if there
    is no road map or there are no trips.
    """
    entry, wanted = read_cities(registry).find("manhattan")
    needed = {name: wanted[name] for name in (ROADS, SAMPLES)}
    found = obtain_all(needed, places_of(registry, **where))
    if found.reason:
        raise DatasetUnavailable("manhattan", found.reason, found.refused)
    roads = junction_graph(*split_map(found.tables[ROADS].values))
    settings = entry.counted_with.model_dump()
    counted = count_trips(found.tables[SAMPLES], roads, range(24), **settings)
    by_junction = zip(roads.node, *(one.counts for one in counted.values()), strict=True)
    texts = {
        EVENTS: [
            ["junction", *(f"hour_{hour}" for hour in counted)],
            *([repr(float(value)) if value % 1 else f"{value:.0f}" for value in row]
              for row in by_junction),
        ],
        HOURS: [
            ["hour", "trips", *(field.name for field in fields(Tally))],
            *([str(hour), str(one.trips), *map(str, astuple(one.tally))]
              for hour, one in counted.items()),
        ],
    }  # fmt: skip
    paths = []
    for name, rows in texts.items():
        text = "".join(",".join(row) + "\n" for row in rows)
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        paths.append(Path(folder) / f"{name}.csv.xz")
        write_bytes(packed, paths[-1])
    return paths


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
    missing = city.missing if set(hours) - set(city.counts) else ""
    return Contents(arrays, {"source": "; ".join(city.sources)}, missing, city.refused)


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
