"""Attacks on floating point, which tell values apart from doubles of `rvs` and not of `release`.

Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012), and
Haney, Desfontaines, Hartman, Shrestha & Hay, "Precision-based attacks and interval refining: how to
break, then fix, differential privacy on finite computers" (2022).
"""

import numpy as np
import pytest
from scipy import stats

from dpnoise import Laplace, LInf
from dpnoise.joint.noise import RadialNoise
from exact_release import NOISES, seeded

COUNT = 20_000


def precision(found):
    """Haney et al.: the exponent of the last bit of each double."""
    mantissa, exponent = np.frexp(found)
    whole = (np.abs(mantissa) * 2.0**53).astype(np.int64)
    return np.where(found == 0.0, 99, exponent - 53 + np.log2(np.maximum(whole & -whole, 1)))


def rvs(value, noise, seed):
    return value + noise.rvs(COUNT, random_state=seed)


def released(value, noise, seed):
    return seeded(seed)(np.full(COUNT, value), noise)


@pytest.mark.parametrize("scale", [2.0**20, 2.0**30])
def test_the_last_bit_tells_the_size_of_the_value(scale):
    noise = Laplace(1.0)
    plain = [precision(rvs(v, noise, 2)) for v in (0.0, scale)]
    assert np.min(plain[1]) > np.median(plain[0]) + 10
    exact = [precision(released(v, noise, 2)) for v in (0.0, scale)]
    for last in exact:
        assert np.min(last) == -10  # the grid of Laplace(1)
        assert np.mean(last == -10) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_low_bits_of_a_release_do_not_depend_on_the_value(noise):
    rows = []
    for value, seed in ((0.0, 3), (1.0, 4), (1 / 3, 5)):
        grid = 2.0 ** np.floor(np.log2(noise.mean_abs())) / 2**10
        steps = released(value, noise, seed) / grid
        assert np.all(steps == np.round(steps))
        rows.append(np.bincount(steps.astype(np.int64) & 15, minlength=16))
    assert stats.chi2_contingency(np.array(rows)).pvalue > 1e-4


def test_vectors_have_no_low_bits_either():
    noise = RadialNoise(LInf(1.0, of=3), 1.0)
    found = [seeded(6)(np.full((COUNT, 3), v), noise) for v in (0.0, 2.0**20)]
    for rows in found:
        last = precision(rows)
        assert np.min(last) == -9
        assert np.mean(last == -9) == pytest.approx(0.5, abs=0.02)


def test_zero_has_no_sign():
    found = seeded(7)(np.zeros(COUNT), Laplace(1.0), grid=4.0)
    assert np.any(found == 0.0)
    assert not np.any(np.signbit(found[found == 0.0]))
