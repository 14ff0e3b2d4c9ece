"""Counts of pick-ups and drop-offs at the junctions of Manhattan, hour by hour.

The counts behind Figures 2, 5 and 6 of balle-wang-2018 were never published. 'Scaled' counts
replace them: trips sampled on working days from 2009 to 2015, whose cabs are not known. Each trip
is taken for the only one of its cab, and the counts are multiplied to the total of the paper's own
day and hour.

The repository ships the counts of the sampled trips and no trip: the table `EVENTS` by junction and
hour, and what became of the trips by hour, `HOURS`. The note in data/cities.yaml says how they were
counted.

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

A street map has many more nodes than junctions, which only give a road its shape. The graph of
junctions is what remains of

1. the segments without direction, repetition and segments of a node to itself,
2. their largest connected component,
3. its 2-core: dead ends, removed until none is left, are no part of the network,
4. after each chain of nodes of degree 2 has become one section.

Two junctions may be joined by several sections, and a section may lead back to where it began;
both are kept here, and merged by `dpnoise.denoise.Graph`, which counts them.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpnoise._validation import Problems, is_integer
from dpnoise_papers.data.copies import obtain, places_of
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.sets import Contents, DatasetUnavailable, read_arrays

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise_papers.data.tables import DataTable

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

EARTH_RADIUS = 6_371_008.8  # metres, the mean radius of the WGS84 ellipsoid


@dataclass(frozen=True, eq=False)
class RoadGraph:
    """Junctions and sections, with what was found on the way.

    `latitude` and `longitude` of the n junctions are in degrees, `node` are their ascending numbers
    in the map that the graph was made of. `sections`, shape (m, 2), hold the two junctions of each
    section, the lower number first, in lexicographic order; `length` is in metres along the
    section, `segments` how many segments of the map make it up. `component` and `core` count nodes
    and segments of the largest component, and of its 2-core.
    """

    latitude: Array
    longitude: Array
    node: Integers
    sections: Integers
    length: Array
    segments: Integers
    component: tuple[int, int]
    core: tuple[int, int]


def split_map(values: Array) -> tuple[Array, Array, Integers]:
    """Latitude, longitude (n,) and segments (m, 2) of a map that is written as one table.

    Its 1 + n + m rows of 3 hold the numbers of nodes n and segments m; latitude and longitude of
    each node; from, to and weight of each segment. NaN where a line is shorter. Weights are not
    used. ValueError if the rows are not as many as the first one says, or ends of segments are not
    whole numbers.
    """
    values = np.asarray(values, dtype=float)
    problems = Problems("road map")
    if problems.require(values.ndim == 2 and values.shape[1:] == (3,) and len(values) > 1,
                        "rows", "a first row with two counts, then nodes and segments",
                        values.shape):  # fmt: skip
        nodes, arcs = values[0, :2]
        expected = f"1 + {nodes:g} + {arcs:g} as the first row says"
        problems.require(len(values) == 1 + nodes + arcs, "rows", expected, len(values))
    problems.raise_if_any()
    n = int(nodes)
    ends = values[1 + n :, :2]
    whole = np.isfinite(ends) & (ends == np.round(ends))
    problems.require(bool(np.all(whole)), "segments", "whole node numbers", ends[~whole][:3])
    problems.raise_if_any()
    return values[1 : 1 + n, 0], values[1 : 1 + n, 1], ends.astype(np.int64)


def junction_graph(latitude: ArrayLike, longitude: ArrayLike, segments: ArrayLike) -> RoadGraph:
    """Junctions of a street map and the sections between them.

    Coordinates of the nodes of the map are in degrees, shape (n,); segments, shape (m, 2), are
    straight pieces of road between two nodes, in any order and direction, once or more. ValueError
    if coordinates are malformed, segments name no node, or no junction remains.
    """
    latitude, longitude = np.asarray(latitude, float), np.asarray(longitude, float)
    segments = np.asarray(segments)
    problems = Problems("road map")
    for name, degrees, most in (("latitude", latitude, 90.0), ("longitude", longitude, 180.0)):
        bad = degrees[~(np.abs(degrees) <= most)]
        problems.require(not bad.size, name, f"degrees in [-{most:g}, {most:g}]", bad[:3].tolist())
    n = len(latitude)
    problems.require(latitude.shape == longitude.shape == (n,), "coordinates",
                     "two sequences of one length", (latitude.shape, longitude.shape))  # fmt: skip
    if problems.require(
        segments.ndim == 2 and segments.shape[1] == 2 and segments.dtype.kind in "iu" and n > 0,
        "segments", "pairs of node numbers, and nodes", f"{segments.dtype} of {segments.shape}",
    ):  # fmt: skip
        outside = segments[(segments < 0) | (segments >= n)]
        expected = f"node numbers from 0 to {n - 1}"
        problems.require(not outside.size, "segments", expected, outside[:3].tolist())
    problems.raise_if_any()

    edges = np.unique(np.sort(segments[segments[:, 0] != segments[:, 1]], axis=1), axis=0)
    edges = largest_component(n, edges)
    component = (len(np.unique(edges)), len(edges))
    edges = two_core(n, edges)
    core = (len(np.unique(edges)), len(edges))
    node, ends, section = _contract(n, edges)
    problems.require(node.size > 0, "segments", "a map with junctions", f"{core[1]} in its core")
    problems.raise_if_any()
    metres = great_circle(latitude, longitude, edges)
    length = np.bincount(section, weights=metres).astype(float)
    segment_count = np.bincount(section)
    order = np.lexsort((length, ends[:, 1], ends[:, 0]))
    return RoadGraph(
        latitude[node], longitude[node], node, ends[order], length[order], segment_count[order],
        component, core,
    )  # fmt: skip


def great_circle(latitude: Array, longitude: Array, pairs: Integers) -> Array:
    """Metres between pairs (m, 2) of nodes at n places in degrees, by the haversine formula on a
    sphere.
    """
    phi, lam = np.radians(latitude)[pairs], np.radians(longitude)[pairs]
    half = np.sin(np.diff(phi, axis=1)[:, 0] / 2) ** 2
    half += np.prod(np.cos(phi), axis=1) * np.sin(np.diff(lam, axis=1)[:, 0] / 2) ** 2
    return 2.0 * EARTH_RADIUS * np.arcsin(np.sqrt(half))


def local_metres(
    latitude: ArrayLike, longitude: ArrayLike, origin: tuple[float, float]
) -> tuple[Array, Array]:
    """Metres east and north of an origin (latitude, longitude), of places in degrees, shape (n,).

    The plane touches the sphere at the origin's latitude; over the 22 km of Manhattan distances
    between neighbouring junctions are right to 0.2 %.
    """
    unit = np.radians(EARTH_RADIUS)
    east = unit * np.cos(np.radians(origin[0])) * (np.asarray(longitude, float) - origin[1])
    return east, unit * (np.asarray(latitude, float) - origin[0])


def largest_component(n: int, edges: Integers) -> Integers:
    """Edges, shape (k, 2), of the largest connected component of n nodes."""
    if not len(edges):
        return edges
    ones = np.ones(len(edges))
    matrix = sparse.coo_array((ones, edges.T), shape=(n, n))
    _, label = csgraph.connected_components(matrix, directed=False)
    return edges[label[edges[:, 0]] == np.argmax(np.bincount(label))]


def two_core(n: int, edges: Integers) -> Integers:
    """Edges, shape (k, 2), left of n nodes when none ends at a node that has no other."""
    # ends: fewer edges each time
    while True:
        degree = np.bincount(edges.ravel(), minlength=n)
        kept = np.all(degree[edges] > 1, axis=1)
        if np.all(kept):
            return edges
        edges = edges[kept]


def _contract(n: int, edges: Integers) -> tuple[Integers, Integers, Integers]:
    """Nodes that are junctions, the ends of each section, and each edge's section."""
    degree = np.bincount(edges.ravel(), minlength=n)
    node = np.flatnonzero(degree > 2)
    m = len(edges)
    if not node.size:
        return node, np.empty((0, 2), np.int64), np.zeros(m, np.int64)
    # Two edges that meet in a node of degree 2 belong to one section.
    passed = np.flatnonzero(degree[edges.ravel()] == 2)
    by_node = passed[np.argsort(edges.ravel()[passed], kind="stable")] // 2
    links = (np.ones(len(by_node) // 2), (by_node[::2], by_node[1::2]))
    _, section = csgraph.connected_components(sparse.coo_array(links, shape=(m, m)), directed=False)
    # Each section has two ends in junctions, perhaps in the same one.
    ending = np.flatnonzero(degree[edges.ravel()] > 2)
    number = np.searchsorted(node, edges.ravel()[ending])
    order = np.lexsort((number, section[ending // 2]))
    return node, number[order].reshape(-1, 2), section.astype(np.int64)


ROADS = "manhattan-roads"
EVENTS = "manhattan-events"
HOURS = "manhattan-hours"
TOTALS = "new-york-passengers-2014-09-24"
_HOUR = 3600.0
_DAYS = "working days 2009-2015, to the total of 24 September 2014"


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


def load_city(
    hours: Sequence[int],
    *,
    passengers_per_trip: float = 1.6,
    registry: str | os.PathLike[str] | None = None,
    **where: Any,  # noqa: ANN401 - those of `places_of`
) -> City:
    """Manhattan with the counts of some hours of the day, of those that can be had.

    `passengers_per_trip` turns the day's totals, which count passengers, into trips. `where` are
    the keywords of `dpnoise_papers.data.copies.places_of`, the registry is data/cities.yaml.

    Hours without data are left out, and `missing` says why. DatasetUnavailable if there is no map,
    ValueError if an argument is out of range.
    """
    problems = Problems("city")
    for hour in hours:
        problems.require(is_integer(hour) and 0 <= hour < 24, "hours", "hours from 0 to 23", hour)
    problems.number("passengers_per_trip", passengers_per_trip, low=0.0, open_low=True)
    problems.raise_if_any()
    _, wanted = read_cities(registry).find("manhattan")
    found = obtain(wanted, places_of(registry, **where))
    tables, reasons = found.tables, list(found.reasons)
    if ROADS not in tables:
        raise DatasetUnavailable("manhattan", found.reason, found.refused)
    roads = junction_graph(*split_map(tables[ROADS].values))
    origin = (float(np.mean(roads.latitude)), float(np.mean(roads.longitude)))
    x, y = local_metres(roads.latitude, roads.longitude, origin)
    counts, told = {}, {}
    if {EVENTS, HOURS, TOTALS} <= set(tables):
        events, totals = tables[EVENTS], tables[TOTALS]
        if not np.array_equal(events["junction"], roads.node):
            raise DatasetUnavailable("manhattan", f"{EVENTS}: not the junctions of {ROADS}")
        rows = {int(row[0]): [int(value) for value in row[1:]] for row in tables[HOURS].values}
        for hour in sorted(set(hours)):
            trips, *tally = rows[hour]
            if not trips:
                reasons.append(f"no sampled trip begins in hour {hour}")
                continue
            scale = _passengers(totals, hour) / passengers_per_trip / trips
            counts[hour] = events[f"hour_{hour}"] * scale
            told[hour] = Hour("scaled", _DAYS, scale, Tally(*tally))
    missing = "; ".join(dict.fromkeys(reasons))
    sources, refused = found.sources, found.refused
    return City("Manhattan", x, y, roads.sections, counts, told, missing, sources, refused)


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
