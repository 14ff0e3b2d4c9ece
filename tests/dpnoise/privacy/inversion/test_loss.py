"""Every stretch agrees with the density that it was cut from."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from dpnoise.noise import (
    FlippedHuber,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    TruncatedLaplace,
)
from dpnoise.privacy.inversion.loss import canonical, coordinate_loss

CURVED = [
    FlippedHuber(0.5, 2.0),
    FlippedHuber(3.0, 2.0),
    # Shifting a breakpoint back and forth by 1 rounds here.
    FlippedHuber(0.11937685432397643, 7.761635328900043),
    Huber(1.0, 2.0),
    Huber(3.0, 0.1),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 7.3),
    TruncatedLaplace(0.4, 0.8),
    Laplace(0.4),
]


@pytest.mark.parametrize("noise", CURVED)
def test_masses_and_means_match_the_density(noise):
    loss = coordinate_loss(noise)
    mass = math.fsum(math.exp(log_mass) for _, log_mass in loss.atoms)
    mean = math.fsum(value * math.exp(log_mass) for value, log_mass in loss.atoms)
    for cut in loss.stretches:
        end = min(cut.length, 60.0 / max(math.sqrt(cut.psi_2), 0.1))

        def psi(y, cut=cut):
            return cut.psi_0 + y * (cut.psi_1 + 0.5 * y * cut.psi_2)

        def zeta(y, cut=cut):
            return cut.zeta_0 + y * (cut.zeta_1 + 0.5 * y * cut.zeta_2)

        mass += integrate.quad(lambda y: math.exp(-psi(y)), 0, end, epsabs=1e-12)[0]
        mean += integrate.quad(lambda y: zeta(y) * math.exp(-psi(y)), 0, end, epsabs=1e-12)[0]
    assert mass + loss.infinite == pytest.approx(1.0, rel=1e-9)

    span = 60.0 * noise.std()
    left, right = max(-span, -noise.bound), min(span, noise.bound - 1.0)
    breaks = [p.left for p in noise.pieces()]
    breaks = [b + s for b in breaks + [-b for b in breaks] for s in (0.0, -1.0)]

    def weighted(t):
        return float(noise.pdf(t) * (noise.logpdf(t) - noise.logpdf(t + 1.0)))

    inside = sorted({left, right, *(b for b in breaks if left < b < right)})
    panels = itertools.pairwise(inside)
    # Just inside the support, whose ends the shift rounds.
    expected = math.fsum(
        integrate.quad(weighted, a + 1e-12, b - 1e-12, epsabs=1e-12, limit=200)[0]
        for a, b in panels
    )
    assert mean == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("noise", CURVED)
def test_the_greatest_loss_is_that_of_the_density(noise):
    loss = coordinate_loss(noise)
    t = np.linspace(-60.0, 60.0, 24_001)
    t = t[(t >= -noise.bound) & (t <= noise.bound - 1.0 - 1e-9)]
    found = noise.logpdf(t) - noise.logpdf(t + 1.0)
    assert found.max() <= loss.largest * (1.0 + 1e-12) + 1e-12
    if loss.largest < math.inf:
        assert found.max() >= loss.largest - 0.05 * max(1.0, loss.largest)


@pytest.mark.parametrize("gamma", [0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("width", [1.0, 1.7, 40.0])
def test_staircase_loss_is_that_of_its_density(gamma, width):
    noise = Staircase(0.8, width, gamma)
    loss = coordinate_loss(noise)
    # The density is constant between breaks, so the middle of each interval tells all.
    steps = np.arange(60.0)[:, None] * width + np.array([0.0, gamma * width])
    breaks = np.concatenate([steps.ravel(), -steps.ravel()])
    breaks = np.unique(np.concatenate([breaks, breaks - 1.0]))
    middle, size = 0.5 * (breaks[1:] + breaks[:-1]), np.diff(breaks)
    values = noise.logpdf(middle) - noise.logpdf(middle + 1.0)
    masses = noise.pdf(middle) * size
    for value, log_mass in loss.atoms:
        expected = masses[np.abs(values - value) < 1e-9].sum()
        assert math.exp(log_mass) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert math.fsum(math.exp(m) for _, m in loss.atoms) == pytest.approx(1.0, rel=1e-14)


def test_a_shift_beyond_the_support_is_fatal():
    assert coordinate_loss(TruncatedLaplace(1.0, 0.5)).infinite == 1.0
    loss = coordinate_loss(TruncatedLaplace(1.0, 3.0))
    assert loss.infinite == pytest.approx(TruncatedLaplace(1.0, 3.0).sf(2.0), rel=1e-14)


def test_noise_in_proportion_to_the_sensitivity_is_one_distribution():
    keys = {canonical(FlippedHuber(3.0 * d, 2.0 * d), d)[0] for d in (0.1, 0.3, 0.7, 1.1, 1e5)}
    assert len(keys) == 1
    assert canonical(Laplace(1.0), 1.0)[0] != canonical(Laplace(1.0 + 1e-10), 1.0)[0]
