"""Tails in balls against those of the families in doubles."""

from fractions import Fraction

import pytest
from flint import ctx

from dpnoise import FlippedHuber, Gaussian, Histogram, OffsetSymmetricGaussian, Staircase, Subbotin
from dpnoise.noise import FAMILIES
from dpnoise.releases.tails import TAILS
from exact_release import NOISES

EXTREME = [
    Gaussian(1e-280),
    FlippedHuber(1e-200, 1.0),
    FlippedHuber(30.0, 1.0),
    OffsetSymmetricGaussian(1e6, 1.0),
    Staircase(1e-9, 1e200, 0.5),
    Subbotin(1000.0, 1e250),
    Histogram(3.0, 2, (0.1, 0.2, 0.0, 0.3), 0.25),  # the density rises
    Histogram(1.0, 1, (1.0, 1e-280), 0.0),
]


def test_every_family_has_a_tail():
    assert set(TAILS) == {*FAMILIES.values(), Histogram}


@pytest.mark.parametrize("noise", NOISES + EXTREME, ids=repr)
@pytest.mark.parametrize("size", [1e-3, 0.3, 1.0, 2.0, 9.0])
def test_a_tail_is_that_of_the_family(noise, size):
    t = size * noise.mean_abs()
    with ctx.workprec(160):
        found = TAILS[type(noise)](noise, Fraction(t))
    assert found.rel_accuracy_bits() > 60 or abs(found) < 1e-300
    assert float(found) == pytest.approx(2.0 * noise.sf(t), rel=1e-11, abs=1e-300)
