"""The bound on the transform along a line holds and falls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from dpnoise.noise import (
    FlippedHuber,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    TruncatedLaplace,
)
from dpnoise.privacy.inversion.envelope import REACH, Line
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.transform import LossTransform

FAMILIES = [
    FlippedHuber(0.5, 2.0),
    FlippedHuber(1.0, 2.0),
    FlippedHuber(3.0, 2.0),
    FlippedHuber(1e-3, 1.0),
    FlippedHuber(30.0, 10.0),
    FlippedHuber(1.0, 0.2),
    Huber(1.0, 2.0),
    Huber(3.0, 0.2),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 7.3),
    Laplace(0.4),
]


def _line(noise, c):
    transform = LossTransform([coordinate_loss(noise)], [1], 0.0)
    return transform, Line(transform, c)


@pytest.mark.parametrize("noise", FAMILIES)
@pytest.mark.parametrize("c", [0.05, 1.0, 7.0, 60.0])
def test_the_transform_stays_below_its_envelope(noise, c):
    transform, line = _line(noise, c)
    u = np.geomspace(1e-3, 1e6, 1500)
    envelope = line.envelope(u)[0]
    found = transform.values(c + 1j * u, line.peak)
    size = (np.abs(found.continuous[0]) - found.error[0]) / line.norm[0]
    assert np.all(size <= envelope + 1e-300)
    assert np.all(np.diff(envelope) <= 1e-12 * envelope[:-1])
    # It bounds what lies beyond, and that at the least rate of an isolated stationary point.
    assert envelope[-1] <= 1e3 * envelope[0] / np.sqrt(u[-1])


@pytest.mark.parametrize("noise", FAMILIES)
def test_shares_and_normalisation(noise):
    transform, line = _line(noise, 2.0)
    assert line.log_transform == pytest.approx(transform.log_real(np.array([2.0]))[0], rel=1e-13)
    assert line.norm_error < 1e-10
    assert np.all((line.atoms >= 0.0) & (line.atoms <= 1.0))
    assert np.all(line.envelope(np.array([1e-6])) <= 1.0 - line.atoms + 1e-12)


def test_the_scaled_error_function_decays_from_one_over_z():
    y = np.geomspace(1e-3, 1e3, 100_001)
    size = np.sqrt(np.pi) * y * np.abs(special.erfcx(1j * y))
    assert 1.3 < size.max() < REACH
    rng = np.random.default_rng(0)
    z = 10.0 ** rng.uniform(-2.0, 2.0, 10_000) * np.exp(0.5j * np.pi * rng.uniform(-1, 1, 10_000))
    size = np.abs(special.erfcx(z))
    assert np.all(size <= np.minimum(1.0, REACH / (np.sqrt(np.pi) * np.abs(z))) + 1e-13)


def test_random_parameters_stay_below_their_envelope():
    rng = np.random.default_rng(8)
    u = np.geomspace(1e-2, 1e5, 200)
    for _ in range(60):
        alpha, gamma, c = 10.0 ** rng.uniform(-2.0, 2.0, 3)
        transform, line = _line(FlippedHuber(alpha, gamma), c)
        if not np.isfinite(transform.log_real(np.array([c]))).all():
            continue
        found = transform.values(c + 1j * u, line.peak)
        size = (np.abs(found.continuous[0]) - found.error[0]) / line.norm[0]
        assert np.all(size <= line.envelope(u)[0])
