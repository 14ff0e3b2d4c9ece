"""Counts of trips at junctions: mass, limits and the sensitivity that they promise."""

import itertools
import math

import numpy as np
import pytest

from dpnoise_papers.data.city.trips import (
    Spreading,
    count_events,
    first_events,
    l2_sensitivity,
    well_formed,
)


@pytest.fixture
def plane():
    rng = np.random.default_rng(11)
    return rng.uniform(0, 1000, 80), rng.uniform(0, 1000, 80)


def counted(plane, x, y, cab, time=None, *, events_per_cab=5, bandwidth=80.0, reach=200.0):
    spreading = Spreading(*plane, reach=reach, bandwidth=bandwidth)
    time = np.arange(len(x)) if time is None else time
    return count_events(spreading, (x, y), malformed=np.zeros(len(x), bool), cab=cab, time=time,
                        events_per_cab=events_per_cab)  # fmt: skip


def test_first_events_of_each_cab():
    cab = np.array([7, 3, 7, 7, 3, 7, 9])
    time = np.array([5, 1, 1, 3, 0, 3, 2])
    assert first_events(cab, time, 2).tolist() == [False, True, True, True, True, False, True]
    assert first_events(cab, time, 9).all()
    assert first_events([], [], 1).tolist() == []
    rng = np.random.default_rng(5)
    cab, time = rng.integers(40, size=600), rng.integers(50, size=600)
    kept = first_events(cab, time, 5)
    for one in range(40):
        mine = np.flatnonzero(cab == one)
        expected = mine[np.argsort(time[mine], kind="stable")][:5]
        assert np.array_equal(np.flatnonzero(kept & (cab == one)), np.sort(expected))


@pytest.mark.parametrize("bandwidth", [0.0, 1e-3, 80.0, 1e5])
def test_each_event_counts_once(plane, bandwidth):
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-400, 1400, (2, 500))
    counts, tally = counted(plane, x, y, np.arange(500), bandwidth=bandwidth)
    assert np.all(counts >= 0)
    assert np.sum(counts) == pytest.approx(tally.kept, rel=1e-12)
    nearest = np.min(np.hypot(x[:, None] - plane[0], y[:, None] - plane[1]), axis=1)
    assert tally.kept == np.sum(nearest <= 200)
    assert tally.outside == np.sum(nearest > 200)
    assert tally.events == 500


def test_kernel_weights_and_nearest_junction(plane):
    rng = np.random.default_rng(4)
    x, y = rng.uniform(0, 1000, (2, 1))
    distance = np.hypot(x - plane[0], y - plane[1])
    weight = np.exp(-(distance**2) / (2 * 60.0**2)) * (distance <= 180)
    counts, _ = counted(plane, x, y, [1], bandwidth=60.0, reach=1e3)
    assert np.allclose(counts, weight / np.sum(weight), rtol=1e-12, atol=0)
    alone, _ = counted(plane, x, y, [1], bandwidth=0.0, reach=1e3)
    assert alone.tolist() == (distance == np.min(distance)).tolist()
    # at a junction itself, and far beyond the kernel, the nearest one still has it
    far, _ = counted(plane, [-5e3], [-5e3], [1], bandwidth=1.0, reach=1e5)
    assert np.max(far) == 1


@pytest.mark.parametrize("bandwidth", [0.0, 80.0])
def test_sensitivity_holds_for_any_cab(plane, bandwidth):
    """Adding a cab moves the counts by at most 5, replacing one by at most 5 sqrt 2."""
    rng = np.random.default_rng(8)
    others = rng.uniform(0, 1000, (2, 300))
    cabs = [rng.uniform(0, 1000, (2, int(rng.integers(1, 20)))) for _ in range(12)]
    # the worst that can be: everything at one junction, all of another cab at another
    cabs += [np.repeat([[axis[k]] for axis in plane], 9, axis=1) for k in (0, 1)]

    def counts(cab):
        x, y = np.concatenate([others, cab], axis=1)
        owner = np.concatenate([np.arange(300) // 3, np.full(cab.shape[1], 999)])
        return counted(plane, x, y, owner, bandwidth=bandwidth)[0]

    without = counts(np.empty((2, 0)))
    released = [counts(cab) for cab in cabs]
    added = [np.linalg.norm(one - without) for one in released]
    replaced = [np.linalg.norm(a - b) for a, b in itertools.combinations(released, 2)]
    assert max(added) <= l2_sensitivity(5) * (1 + 1e-12)
    assert max(replaced) <= l2_sensitivity(5, replace=True) * (1 + 1e-12)
    if bandwidth == 0.0:  # both are attained
        assert max(added) == pytest.approx(5)
        assert max(replaced) == pytest.approx(5 * math.sqrt(2))
        assert max(replaced) > l2_sensitivity(5)


def test_every_event_is_accounted_for(plane):
    x = np.concatenate([np.full(7, plane[0][0]), [9e5, np.nan, 10.0]])
    y = np.concatenate([np.full(7, plane[1][0]), [9e5, 5.0, 10.0]])
    malformed = np.arange(10) >= 8
    spreading = Spreading(*plane, reach=50.0, bandwidth=0.0)
    counts, tally = count_events(spreading, (x, y), malformed=malformed, cab=np.zeros(10),
                                 time=np.arange(10)[::-1], events_per_cab=5)  # fmt: skip
    assert vars(tally) == {"events": 10, "malformed": 2, "outside": 1, "beyond_limit": 2, "kept": 5}
    assert counts[0] == 5


def test_positions_that_are_none():
    latitude = [40.7, 0.0, np.nan, 404.0, 40.7, 0.0]
    longitude = [-74.0, 0.0, -74.0, -74.0, np.inf, -74.0]
    assert well_formed(latitude, longitude).tolist() == [True, False, False, False, False, True]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"x, y.*reach.*bandwidth"):
        Spreading([np.nan], [0.0], reach=0.0, bandwidth=-1.0)
    with pytest.raises(ValueError, match=r"events_per_cab: expected a positive.*got 0.*one length"):
        first_events([1, 2], [1], 0)
    for bad in (0, 2.5, True):
        with pytest.raises(ValueError, match="events: expected a positive whole number"):
            l2_sensitivity(bad)
    with pytest.raises(ValueError, match="coordinates of junctions"):
        Spreading([], [], reach=1.0, bandwidth=1.0)
