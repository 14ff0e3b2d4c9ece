"""Grouped coordinates lie on the stated side in the dispersive order, and so do their profiles."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpnoise import vector_profile
from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.privacy import vector
from dpnoise.privacy.grouping import corner, grouped
from dpnoise.privacy.profile import hockey_stick

FAMILIES = [
    FlippedHuber(2.0, 2.0),
    FlippedHuber(0.1, 3.0),
    FlippedHuber(30.0, 4.0),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 7.0),
    Huber(1.0, 2.0),
    Huber(0.1, 2.0),
    Laplace(2.0),
    Gaussian(1.5),
    Subbotin(1.5, 2.0),
    Subbotin(7.0, 2.0),
]


def _greater(noise):
    """Return noise with each of the parameters, and with all, raised a little and a lot."""
    family, values = noise.dispersion()
    for factor in (1.0 + 1e-6, 1.3, 10.0):
        for some in itertools.product([1.0, factor], repeat=len(values)):
            if max(some) > 1.0:
                yield corner(family, np.array(values) * some, 0.0)


@pytest.mark.parametrize("noise", FAMILIES)
def test_density_at_each_quantile_falls_with_each_parameter(noise):
    levels = np.concatenate([np.geomspace(1e-6, 1.0, 60), np.linspace(1.0, 300.0, 400)])
    density = noise.logpdf(noise._magnitude(levels))
    for other in _greater(noise):
        assert np.all(other.logpdf(other._magnitude(levels)) <= density + 1e-11 * (1.0 + levels))


@pytest.mark.parametrize("noise", FAMILIES)
@pytest.mark.parametrize("shift", [0.1, 1.0, 5.0])
def test_greater_parameters_are_more_private_at_every_epsilon(noise, shift):
    epsilon = np.linspace(-3.0, 3.0, 61)
    delta = hockey_stick(noise, shift, epsilon)[0]
    for other in _greater(noise):
        assert np.all(hockey_stick(other, shift, epsilon)[0] <= delta + 1e-10)


@pytest.mark.parametrize("noise", FAMILIES)
def test_a_corner_has_its_parameters(noise):
    family, values = noise.dispersion()
    again = corner(family, np.array(values), 0.0)
    assert again.dispersion() == (family, pytest.approx(values, rel=1e-15))
    assert again.var() == pytest.approx(noise.var(), rel=1e-14)


def test_groups_enclose_their_members_and_count_all_copies():
    rng = np.random.default_rng(5)
    shares = []
    for a, b in rng.uniform(1.0, 9.0, (200, 2)):
        kinds = FlippedHuber(a, b), Laplace(a), Huber(a, b), Subbotin(1.5, b)
        kinds += (TruncatedLaplace(a, a * b),)
        shares += [(noise, int(rng.integers(1, 4))) for noise in kinds]
    odd = [Staircase(0.5, 2.0, 0.4), FlippedHuber(0.0, 2.0), Subbotin(2.5, 1.0)]
    shares += [(noise, 7) for noise in odd]
    less, more = grouped(shares, 100)
    assert len(less) == len(more) <= 100
    for end in (less, more):
        assert sum(count for _, count in end) == sum(count for _, count in shares)
        assert all((noise, 7) in end for noise in odd)
    for (low, count), (high, same) in zip(less, more, strict=True):
        assert count == same
        family, least = low.dispersion()
        assert high.dispersion()[0] == family
        inside = [
            n
            for noise, n in shares
            if noise.dispersion()[0] == family
            and all(np.array(least) <= noise.dispersion()[1])
            and all(np.array(noise.dispersion()[1]) <= high.dispersion()[1])
        ]
        assert sum(inside) >= count


def test_equal_parameters_in_one_dimension_make_cells_of_one():
    shares = [(FlippedHuber(a, 2.0 * a), 1) for a in np.geomspace(1.0, 8.0, 500)]
    less, _ = grouped(shares, 50)
    assert 40 <= len(less) <= 50
    assert [n.gamma / n.alpha for n, _ in less] == pytest.approx([2.0] * len(less), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_grouped_bounds_enclose_the_bounds_of_all(monkeypatch, epsilon):
    rng = np.random.default_rng(8)
    noise = [FlippedHuber(*rng.uniform(5.0, 15.0, 2)) for _ in range(60)]
    noise += [Laplace(b) for b in rng.uniform(5.0, 15.0, 60)]
    exact = vector_profile(noise, [1.0] * 120, epsilon, rtol=1e-4)
    monkeypatch.setattr(vector, "_MOST_DIFFERENT", 100)
    monkeypatch.setattr(vector, "_MOST_GROUPS", 40)
    found = vector_profile(noise, [1.0] * 120, epsilon)
    assert found.log_lower < exact.log_lower
    assert exact.log_upper < found.log_upper
    assert found.log_lower <= found.log_estimate <= found.log_upper
    assert found.log_upper - found.log_lower < 3.0
    odd = [Subbotin(p, 9.0) for p in np.linspace(2.1, 3.0, 5)]
    monkeypatch.setattr(vector, "_SECONDS", 0.2)
    small = vector_profile(odd, [1.0] * 5, 0.3)
    assert small.log_upper - small.log_lower < 1e-2
    monkeypatch.setattr(vector, "_SECONDS", 0.03)
    with pytest.raises(ValueError, match="5 different coordinates take too long"):
        vector_profile(odd, [1.0] * 5, 0.3)
    same = [Subbotin(2.5, 9.0 + k / 50.0) for k in range(5)]
    few = vector_profile(same, [1.0] * 5, 0.3)
    whole = vector_profile(Subbotin(2.5, 9.0), 1.0, 0.3, copies=5)
    assert few.log_lower < whole.log_lower
    assert whole.log_upper <= few.log_upper


def test_noise_without_finite_parameters_stays_apart():
    odd = [FlippedHuber(1e-200, 1e120), TruncatedLaplace(1e-200, 1e120)]
    assert [noise.dispersion() for noise in odd] == [((noise,), ()) for noise in odd]
    assert grouped([(noise, 2) for noise in odd], 1) == ([(n, 2) for n in odd],) * 2


def test_gaussians_need_no_groups(monkeypatch):
    monkeypatch.setattr(vector, "_MOST_DIFFERENT", 10)
    monkeypatch.setattr(vector, "_MOST_GROUPS", 10)
    noise = [Gaussian(3.0 + k) for k in range(20)] + [FlippedHuber(0.0, 5.0)]
    found = vector_profile(noise, [1.0] * 21, 0.3)
    assert found.log_upper - found.log_lower < 1e-9
    noise += [Laplace(20.0 + k / 99.0) for k in range(11)]
    found = vector_profile(noise, [1.0] * 32, 0.3)
    assert 0.0 < found.log_upper - found.log_lower < 1e-2


def test_many_epsilons_are_refused_with_the_number_that_is_not():
    with pytest.raises(ValueError, match=r"expected at most \d+ values at") as refusal:
        vector_profile(FlippedHuber(9.0, 9.0), 1.0, np.linspace(0.0, 1.0, 10**6), copies=20)
    assert "got 1000000" in str(refusal.value)
    with pytest.raises(ValueError, match=r"1 different coordinates take too long"):
        vector_profile(Subbotin(3.0, 9.0), 1.0, np.linspace(0.0, 1.0, 10**5), copies=20)
    assert math.isfinite(vector_profile(Gaussian(9.0), 1.0, np.zeros(10**5), copies=9).upper[0])
