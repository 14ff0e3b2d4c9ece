"""Our noise as a measurement of OpenDP: its map, its composition and what it releases."""

import math

import pytest

from dpnoise import (
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    epsilon_at,
    opendp_measurement,
)

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib", "honest-but-curious")


@pytest.mark.parametrize("noise", [Gaussian(4.0), FlippedHuber(0.5, 3.0), Laplace(2.0)], ids=repr)
def test_the_map_is_the_exact_profile_rounded_up(noise):
    one = opendp_measurement(noise, delta=1e-6)
    for distance in (0.5, 1.0, 2.0):
        epsilon, delta = one.map(distance)
        assert delta == 1e-6
        exact = float(epsilon_at(noise, distance, 1e-6))
        assert exact < epsilon <= exact * (1.0 + 1e-9)


def test_pure_noise_composes_with_that_of_opendp():
    ours = opendp_measurement(Laplace(2.0))
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    both = dp.c.make_composition([ours, dp.m.make_laplace(*space, scale=4.0)])
    assert both.map(1.0) == pytest.approx(0.75, rel=1e-9)
    assert len(both(3.0)) == 2


def test_it_releases_multiples_of_the_grid_and_integers():
    said = [opendp_measurement(Laplace(2.0))(3.0) for _ in range(5)]
    assert all(math.remainder(value, 2.0**-9) == 0.0 for value in said)
    counts = [opendp_measurement(DiscreteLaplace(2.0))(3) for _ in range(5)]
    assert all(isinstance(value, int) for value in counts)
    assert opendp_measurement(DiscreteLaplace(2.0)).map(2) == pytest.approx(1.0, rel=1e-9)


def test_gaussian_noise_has_no_pure_epsilon():
    assert opendp_measurement(Gaussian(2.0)).map(1.0) == math.inf


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match=r"opendp_measurement: noise.*delta: .*got 1"):
        opendp_measurement("laplace", delta=1.0)
