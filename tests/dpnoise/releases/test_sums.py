"""What `release` takes, returns and refuses; noise on the integers; the source of bits."""

import numpy as np
import pytest
from scipy import stats

from dpnoise import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Gaussian,
    Laplace,
    best,
    release,
)
from dpnoise.noise import KNorm
from dpnoise.noise.base import Noise
from exact_release import entropy, seeded


class Unknown(Laplace):
    """A family without an exact sampler: its parent's would be another distribution."""


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(2.0), DiscreteGaussian(3.0), DiscreteStaircase(1.0, 3, 1)], ids=repr
)
def test_integers_have_their_probabilities(noise):
    found = seeded(3)(np.full(40_000, 7), noise)
    assert found.dtype == np.int64
    k = np.arange(-6, 7)
    seen = np.array([np.sum(found == 7 + i) for i in k])
    chance = noise.pmf(k)
    everything = np.append(seen, 40_000 - seen.sum()), np.append(chance, 1.0 - chance.sum())
    assert stats.chisquare(everything[0], everything[1] * 40_000).pvalue > 1e-4


def test_shapes_and_types():
    assert isinstance(release(3.0, Gaussian(1.0)), float)
    assert release([[1, 2], [3, 4]], Laplace(1.0)).shape == (2, 2)
    assert release([1, 2], [Laplace(1.0), Gaussian(1.0)]).shape == (2,)
    assert release([1, 2], [DiscreteLaplace(1.0), DiscreteGaussian(1.0)]).dtype == np.int64
    for noise in (Laplace(1.0), DiscreteLaplace(2.0), DiscreteGaussian(2.0)):
        assert release([], noise).shape == (0,)
        assert release(np.zeros((0, 3)), noise).shape == (0, 3)
    found = [best([1, 1, 1], epsilon=1.0, integer=integer).noise for integer in (False, True)]
    for noise in ([Laplace(1.0)] * 3, [DiscreteLaplace(2.0)] * 3, KNorm(2, 3, 1.0), *found):
        assert release(np.zeros((0, 3)), noise).shape == (0, 3)


def test_coordinates_without_noise_stay_as_they_are():
    noise = best([1.0, 0.0], epsilon=1.0).noise
    assert release([1.0, 0.1], noise)[1] == 0.1


def test_independent_noise_keeps_its_scales():
    noise = best([1.0, 1e-4], epsilon=1.0, delta=1e-6, error="half-width").noise
    found = seeded(5)(np.zeros((4000, 2)), noise)
    np.testing.assert_allclose(np.mean(np.abs(found), axis=0), noise.mean_abs(), rtol=0.1)


@pytest.mark.parametrize(
    ("values", "noise", "message"),
    [
        ([1.0, np.nan, np.inf], Laplace(1.0), "finite numbers .* got 2 that are not"),
        ([1e300], Laplace(1.0), "2\\^52 steps of the grid"),
        (2**60 + 1, Laplace(1e5), "doubles hold exactly"),
        ([1.5], DiscreteLaplace(1.0), "integers up to 2\\^62"),
        ([1.0], "laplace", "noise with an exact sampler"),
        ([1.0], Laplace, "noise with an exact sampler"),
        ([1.0], Unknown(1.0), "noise with an exact sampler"),
        ([1.0], [Laplace(1.0), "none"], "noise of coordinate 2"),
        ([1, 2], [Laplace(1.0), DiscreteLaplace(1.0)], "in all coordinates or in none"),
        ([1.0, 2.0], [Laplace(1.0)] * 3, "a last axis of length 3"),
        (["a"], Laplace(1.0), "real numbers"),
        ([[1], [1, 2]], Laplace(1.0), "real numbers"),
        ([1.0], Laplace(1e-300), "from 1e-290 to 1e\\+290"),
    ],
)
def test_mistakes_are_refused(values, noise, message):
    with pytest.raises(ValueError, match=message):
        release(values, noise)


@pytest.mark.parametrize("grid", [0.3, 0.0, -1.0, np.nan, 2.0**-60, "fine"])
def test_grids_are_powers_of_two(grid):
    with pytest.raises(ValueError, match="grid"):
        release(1.0, Laplace(1.0), grid=grid)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64])
def test_the_ends_of_integer_types_are_read_as_what_they_are(dtype, sign):
    """-2^63 is a double, and so is 2^63 of uint64; 2^63 - 1 and 2^64 - 1 are not."""
    ends = np.iinfo(dtype)
    end = ends.min if sign < 0 else ends.max
    wide = Gaussian(1e9)
    if int(float(end)) == end:
        assert abs(float(release(np.array([end, 0], dtype), wide)[0]) - end) < 1e11
    else:
        with pytest.raises(ValueError, match="1 that are not"):
            release(np.array([end, 0], dtype), wide)
    if dtype == np.uint64:
        assert release(np.array([2**63], dtype), wide)[0] > 9e18
    with pytest.raises(ValueError, match=r"at most 2\^52 steps of the grid"):
        release([-(2**63), 0], Gaussian(2.0))


def test_all_problems_are_named_at_once():
    with pytest.raises(ValueError, match=r"values.*grid"):
        release(np.nan, Laplace(1.0), grid=0.3)


def test_no_family_falls_back_to_its_ordinary_sampler(monkeypatch):
    monkeypatch.setattr(Noise, "rvs", None)
    assert np.isfinite(release(1.0, Laplace(1.0)))


def test_integers_of_the_source_have_no_bias():
    found = entropy(1).integers(0, 3, 30_000)
    assert stats.chisquare(np.bincount(found)).pvalue > 1e-4
    assert entropy(1).integers(5, 6, 3).tolist() == [5, 5, 5]
    assert entropy(1).integers(0, 2**64, dtype=np.uint64) < 2**64


@pytest.mark.parametrize("noise", [Laplace(1.0), DiscreteLaplace(1.0)], ids=repr)
@pytest.mark.parametrize("values", [[12345.5, 1e300], ["secret", "12345"]])
def test_messages_show_no_value(values, noise):
    with pytest.raises(ValueError, match="values") as error:
        release(values, noise)
    assert not any(str(value) in str(error.value) for value in values)


def test_two_releases_differ():
    assert not np.array_equal(
        release(np.zeros(20), Gaussian(1.0)), release(np.zeros(20), Gaussian(1.0))
    )
