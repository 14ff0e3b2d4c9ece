"""From taxi trips to counts at junctions, with a bound on what one cab contributes.

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

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import KDTree

from dpnoise._validation import Problems, is_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array

    Flags = NDArray[np.bool_]

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
    one. ValueError if `events` is not a positive whole number.
    """
    problems = Problems("sensitivity of the counts")
    _require_count(problems, "events", events)
    problems.raise_if_any()
    return events * (math.sqrt(2.0) if replace else 1.0)


def well_formed(latitude: ArrayLike, longitude: ArrayLike) -> Flags:
    """Which positions in degrees, shape (n,), are on Earth and are not the origin (0, 0)."""
    latitude, longitude = np.asarray(latitude, float), np.asarray(longitude, float)
    good = (np.abs(latitude) <= 90.0) & (np.abs(longitude) <= 180.0)
    return good & ((latitude != 0.0) | (longitude != 0.0))


def first_events(cab: ArrayLike, time: ArrayLike, events_per_cab: int) -> Flags:
    """Which of n events are among the first `events_per_cab` of their cab.

    Events at the same time keep their order. What is kept of a cab depends on its own events alone,
    which is why the bound is one on sensitivity. ValueError if lengths differ or `events_per_cab`
    is not a positive whole number.
    """
    cab, time = np.asarray(cab), np.asarray(time)
    problems = Problems("limit on a cab's events")
    _require_count(problems, "events_per_cab", events_per_cab)
    problems.require(cab.shape == time.shape == (cab.size,), "cab, time",
                     "two sequences of one length", (cab.shape, time.shape))  # fmt: skip
    problems.raise_if_any()
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
    event always has the nearest junction; 0 gives all of it to that one. ValueError if coordinates
    are malformed, `reach` is not positive or `bandwidth` is negative.
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, *, reach: float, bandwidth: float) -> None:
        points = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
        problems = Problems("spreading over junctions")
        finite = bool(points.size) and bool(np.all(np.isfinite(points)))
        problems.require(finite, "x, y", "finite coordinates of junctions", points[:2].tolist())
        problems.number("reach", reach, low=0.0, open_low=True)
        problems.number("bandwidth", bandwidth, low=0.0)
        problems.raise_if_any()
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


def _require_count(problems: Problems, name: str, value: object) -> None:
    """Record a problem unless `value` is a positive whole number."""
    problems.require(is_integer(value) and value >= 1, name, "a positive whole number", value)
