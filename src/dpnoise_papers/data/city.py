"""Counts of pick-ups and drop-offs at the junctions of Manhattan, hour by hour.

The counts behind Figures 2, 5 and 6 of balle-wang-2018 were never published. 'Scaled' counts
replace them: trips sampled on working days from 2009 to 2015, whose cabs are not known. Each trip
is taken for the only one of its cab, and the counts are multiplied to the total of the paper's own
day and hour.

The repository ships the counts of the sampled trips and no trip: the table `EVENTS` by junction and
hour, and what became of the trips by hour, `HOURS`. Both hold for the settings that the registry
names; for others the trips themselves are needed. `write_counts` makes the two tables of trips.

Balle & Wang (ICML 2018, Section 5.3) count pick-ups and drop-offs at every junction of
Manhattan, spread over junctions by a kernel, and take Delta = 5 as the l2 sensitivity, since no
cab makes more than five trips an hour. What holds is this. One event (a pick-up or a drop-off)
adds non-negative weights that sum to at most 1, so that k events of a cab add a vector with
l2 norm <= l1 norm <= k, with equality when all fall on one junction. With at most k events kept
for each cab and hour, the l2 sensitivity is

- k, where neighbouring data differ by all events of one cab, added or removed;
- k sqrt 2, where the events of one cab are replaced by others: two non-negative vectors v, w of
  l2 norm at most k have |v - w|^2 <= |v|^2 + |w|^2.

Five trips have ten events; Delta = 5 needs five *events*, and adding or removing a cab.
"""

from __future__ import annotations

import json
import lzma
import math
from dataclasses import asdict, astuple, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial import KDTree

from dpnoise._validation import Problems, is_integer
from dpnoise_papers.data.copies import obtain, places_of
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.roads import (
    junction_graph,
    local_metres,
    split_map,
)
from dpnoise_papers.data.sets import Contents, DatasetUnavailable, read_arrays
from dpnoise_papers.result_files import write_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise_papers.data.roads import RoadGraph
    from dpnoise_papers.data.tables import DataTable

    Flags = NDArray[np.bool_]

ROADS = "manhattan-roads"
EVENTS = "manhattan-events"
HOURS = "manhattan-hours"
SAMPLES = "new-york-trips-sampled"
TOTALS = "new-york-passengers-2014-09-24"
_HOUR = 3600.0
_WORKING_DAYS = 5  # Monday is 1
_DAYS = "working days 2009-2015, to the total of 24 September 2014"
_NEAREST = 32  # most junctions that one event is spread over
_TRUNCATED = 3.0  # bandwidths beyond which the kernel is cut off


@dataclass(frozen=True)
class Tally:
    """What became of the events of one hour.

    `events` pick-ups and drop-offs were read. Of these, `malformed` have no position on Earth (NaN,
    out of range, or the origin (0, 0) that a broken receiver reports), `outside` are farther from
    every junction than the map reaches, `beyond_limit` are on the map but after the cab's last
    event that counts; the rest is `kept`.
    """

    events: int
    malformed: int
    outside: int
    beyond_limit: int
    kept: int


def l2_sensitivity(events: int, *, replace: bool = False) -> float:
    """l2 sensitivity of counts with at most `events` events of each cab.

    With `replace` neighbouring data differ by replacing a cab rather than by adding or removing
    one.
    """
    return events * (math.sqrt(2.0) if replace else 1.0)


def well_formed(latitude: ArrayLike, longitude: ArrayLike) -> Flags:
    """Which positions in degrees, shape (n,), are on Earth and are not the origin (0, 0)."""
    latitude, longitude = np.asarray(latitude, float), np.asarray(longitude, float)
    good = (np.abs(latitude) <= 90.0) & (np.abs(longitude) <= 180.0)
    return good & ((latitude != 0.0) | (longitude != 0.0))


def first_events(cab: ArrayLike, time: ArrayLike, events_per_cab: int) -> Flags:
    """Which of n events are among the first `events_per_cab` of their cab.

    Events at the same time keep their order. What is kept of a cab depends on its own events alone,
    which is why the bound is one on sensitivity.
    """
    cab, time = np.asarray(cab), np.asarray(time)
    order = np.lexsort((time, cab))
    ordered = cab[order]
    fresh = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: cab.size])
    starts = np.repeat(fresh, np.diff(np.append(fresh, cab.size)))
    kept = np.empty(cab.size, dtype=bool)
    kept[order] = np.arange(cab.size) - starts < events_per_cab
    return kept


class Spreading:
    """Counts of positions at n junctions x, y, by a Gaussian kernel over the nearest ones.

    All lengths are in metres. A position farther than `reach` from every junction is outside the
    map. `bandwidth` is the standard deviation of the kernel, which is cut off at 3 bandwidths and
    at 32 junctions, whichever is less, and scaled for each event so that its weights sum to 1. An
    event always has the nearest junction; 0 gives all of it to that one.
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, *, reach: float, bandwidth: float) -> None:
        points = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
        self._tree, self._size = KDTree(points), len(points)
        self._reach, self._bandwidth = float(reach), float(bandwidth)

    def inside(self, x: ArrayLike, y: ArrayLike) -> Flags:
        """Which positions, shape (m,), the map reaches; what is not finite is not on the map."""
        positions = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
        good = np.all(np.isfinite(positions), axis=1)
        distance, _ = self._tree.query(positions[good])
        good[good] = distance <= self._reach
        return good

    def counts(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Counts at all junctions, shape (n,) with the sum m, of m positions inside the map."""
        positions = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
        k = min(_NEAREST, self._size) if self._bandwidth else 1
        # In parts, since an event may have 32 weights.
        total = np.zeros(self._size)
        for part in np.array_split(positions, 1 + len(positions) // 50_000):
            distance, junction = map(np.asarray, self._tree.query(part, k=[*range(1, k + 1)]))
            weight = np.ones_like(distance)
            if self._bandwidth:
                # Relative to the nearest, whose weight must not underflow.
                exponent = (distance[:, :1] ** 2 - distance**2) / (2.0 * self._bandwidth**2)
                weight = np.exp(exponent) * (distance <= _TRUNCATED * self._bandwidth)
                weight[:, 0] = 1.0
            weight /= np.sum(weight, axis=1, keepdims=True)
            total += np.bincount(junction.ravel(), weight.ravel(), minlength=self._size)
        return total


def count_events(
    spreading: Spreading,
    position: tuple[ArrayLike, ArrayLike],
    *,
    malformed: ArrayLike,
    cab: ArrayLike,
    time: ArrayLike,
    events_per_cab: int,
) -> tuple[Array, Tally]:
    """Counts at junctions to which each cab contributes at most `events_per_cab` events, and their
    tally.

    The n events have positions (x, y) in metres, but for `malformed` ones; `cab` and `time` are as
    for `first_events`. Only events on the map count towards the limit.
    """
    malformed, cab, time = np.asarray(malformed, bool), np.asarray(cab), np.asarray(time)
    x, y = (np.where(malformed, np.nan, axis) for axis in position)
    inside = spreading.inside(x, y)
    places = np.flatnonzero(inside)
    kept = places[first_events(cab[places], time[places], events_per_cab)]
    tally = Tally(
        events=len(inside),
        malformed=int(np.sum(malformed)),
        outside=int(np.sum(~inside & ~malformed)),
        beyond_limit=len(places) - len(kept),
        kept=len(kept),
    )
    return spreading.counts(x[kept], y[kept]), tally


@dataclass(frozen=True)
class Hour:
    """Where the counts of one hour come from.

    `source` is 'scaled', `day` tells of which day or days the trips are, `scale`
    what the counts were multiplied by, `tally` what became of the events.
    """

    source: str
    day: str
    scale: float
    tally: Tally


@dataclass(frozen=True, eq=False)
class City:
    """Junctions, sections, and counts by hour.

    Junctions x, y of shape (n,) are in metres east
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

    `events_per_cab` are kept of a cab in an hour, see `first_events`; `bandwidth` and `reach` are
    those of `Spreading`, in metres; `passengers_per_trip` turns the day's
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
    first = obtain({name: wanted[name] for name in (ROADS, TOTALS)}, places)
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
        more = obtain({name: wanted[name] for name in names}, places)
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
    tables: Mapping[str, DataTable],
    roads: RoadGraph,
    hours: Sequence[int],
    settings: dict[str, Any],
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
    trips: DataTable,
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
    found = obtain(needed, places_of(registry, **where))
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


def _passengers(totals: DataTable, hour: int) -> float:
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


def read_city(npz: str | os.PathLike[str]) -> City:
    """City that `dpnoise_papers.data.sets.prepare` wrote."""
    arrays = read_arrays(npz)
    name, told, missing = arrays["facts"].tolist()
    hours = {
        int(hour): Hour(**(details | {"tally": Tally(**details["tally"])}))
        for hour, details in json.loads(told).items()
    }
    counts = {hour: arrays[f"counts/{hour}"] for hour in hours}
    return City(name, arrays["x"], arrays["y"], arrays["sections"], counts, hours, missing)
