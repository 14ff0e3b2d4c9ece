"""Partitions into blocks: the dynamic program against all partitions."""

import math

import numpy as np
import pytest

from dpnoise.mechanisms.partition import best_partitions


def all_partitions(items):
    """Yield every partition of a list into non-empty sets."""
    if not items:
        yield []
        return
    first, *rest = items
    for blocks in all_partitions(rest):
        yield [[first], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [first, *block], *blocks[i + 1 :]]


def root(volume, size):
    return math.cbrt(volume * (size + 1.0) * (size + 2.0))


@pytest.mark.parametrize("seed", range(12))
def test_intervals_of_sorted_coordinates_are_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.exponential(size=7) ** rng.integers(1, 6))[::-1]
    if seed % 3 == 0:  # ties
        values = np.sort(np.round(values, 0) + 1.0)[::-1]
    least = min(
        sum(root(sum(values[i] for i in block), len(block)) for block in blocks)
        for blocks in all_partitions(list(range(7)))
    )
    found = best_partitions(values, np.ones(7, dtype=int))
    assert found.values[-1] == pytest.approx(least, rel=1e-12)


def test_the_blocks_have_the_value_that_is_stated_for_every_prefix():
    values, sizes = np.array([100.0, 90.0, 8.0, 3.0, 2.0, 0.1]), np.array([1, 3, 1, 2, 2, 5])
    found = best_partitions(values, sizes)
    for j in range(7):
        blocks = found.blocks(j)
        assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(j))
        total = sum(root(float(np.sum(values[b])), int(np.sum(sizes[b]))) for b in blocks)
        assert found.values[j] == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("K", [1, 2, 10, 300])
def test_equal_coordinates_stay_together(K):
    assert best_partitions(np.ones(K), np.ones(K, dtype=int)).blocks(K) == [slice(0, K)]


def test_sensitivities_far_apart_are_separated():
    found = best_partitions(np.array([1e12, 1.0, 1e-12]), np.ones(3, dtype=int))
    assert len(found.blocks(3)) == 3
