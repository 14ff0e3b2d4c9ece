"""Sums at equally spaced points, beside the sums themselves."""

import numpy as np
import pytest

from dpnoise.privacy.sampled import transform
from dpnoise.privacy.sampled.transform import equispaced_sums


def sums(count, first, *, nodes=2000):
    rng = np.random.default_rng(count)
    x, weight = rng.normal(scale=0.7, size=nodes), rng.random(nodes)
    weight /= weight.sum()
    found, error = equispaced_sums(x, weight, first, count)
    exact = np.exp(1j * np.outer(first + np.arange(count), x)) @ weight
    return np.abs(found - exact).max(), error


@pytest.mark.parametrize(("count", "first"), [(2, 0.0), (101, 0.0), (1000, 37.0), (4000, 4000.0)])
def test_sums_are_those_of_the_exponentials(count, first):
    off, error = sums(count, first)
    # The products (first + k) x are rounded as well.
    assert off <= error + 1e-15 * (first + count)
    assert error < 3e-13


def test_too_few_points_are_seen(monkeypatch):
    monkeypatch.setattr(transform, "_HALF", 9)
    monkeypatch.setattr(transform, "_OFFSETS", np.arange(-9, 10))
    off, error = sums(101, 0.0)
    assert off > 100.0 * error
