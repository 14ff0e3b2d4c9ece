"""The transform of the loss against arithmetic with 60 digits, and its bound along a line."""

from __future__ import annotations

import math

import mpmath
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
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.transform import REACH, Line, LossTransform, integrate
from for_all import for_all

FAMILIES = [
    FlippedHuber(0.5, 2.0),
    FlippedHuber(3.0, 2.0),
    FlippedHuber(1e-3, 1.0),
    FlippedHuber(1e4, 100.0),
    FlippedHuber(60.0, 0.5),
    Huber(1.0, 2.0),
    Huber(40.0, 0.3),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 7.3),
    TruncatedLaplace(0.4, 0.8),
    Laplace(0.4),
    Laplace(1e6),
]
ON_A_LINE = [
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


def _exact(cut, s):
    """Return the integral over a stretch, by the error function of complex argument."""
    length, *terms = (mpmath.mpf(x) for x in cut)
    f0, f1, f2 = (s * z - p for p, z in zip(terms[:3], terms[3:], strict=True))
    if f2 == 0:
        end = 0 if mpmath.isinf(length) else mpmath.expm1(f1 * length) + 1
        return mpmath.exp(f0) * ((end - 1) / f1 if f1 != 0 else length)
    r = mpmath.sqrt(-f2 / 2)
    z = -f1 / (2 * r)
    start = mpmath.erfc(z)
    rest = 0 if mpmath.isinf(length) else mpmath.erfc(z + r * length)
    return mpmath.sqrt(mpmath.pi) / (2 * r) * mpmath.exp(f0 + z * z) * (start - rest)


@for_all("noise", FAMILIES)
@for_all("c", [0.3, 6.0])
def test_error_bounds_hold(noise, c):
    loss = coordinate_loss(noise)
    transform = LossTransform([loss], [1], 0.0)
    s = c + 1j * np.array([0.0, 0.01, 0.7, 3.0, 20.0, 1e3, 1e5])
    peak = transform.peaks(np.array([c]))
    found = transform.values(s, peak)
    with mpmath.workdps(60):
        for k, point in enumerate(s):
            scale = mpmath.exp(-mpmath.mpf(float(peak[0, 0])))
            at = mpmath.mpc(point)
            exact = mpmath.fsum(_exact(cut, at) for cut in loss.stretches) * scale
            atoms = mpmath.fsum(mpmath.exp(at * v + m) for v, m in loss.atoms) * scale
            doubt = abs(complex(exact) - found.continuous[0, k])
            doubt += abs(complex(atoms) - found.atoms[0, k])
            assert doubt <= found.error[0, k]
    assert found.error[0, 0] <= 1e-10


def test_short_and_long_stretches_agree_with_quadrature():
    # Lengths around the switch from quadrature to error functions.
    table = np.array([(10.0**e, 0.1, 0.7, 0.3, 0.2, -0.4, 0.5) for e in np.linspace(-3, 1, 30)])
    s = np.array([1.5 + 0.0j, 1.5 + 1.0j, 1.5 + 9.0j, 0.6 + 0.0j])  # at 0.6 no quadratic term
    found, error = integrate(table, s)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    for row, length in enumerate(table[:, 0]):
        y = 0.5 * length * (nodes + 1.0)
        f = np.exp(s[:, None] * (0.2 - 0.4 * y + 0.25 * y * y) - (0.1 + 0.7 * y + 0.15 * y * y))
        exact = 0.5 * length * (f @ weights)
        assert np.all(np.abs(found[row] - exact) <= error[row] + 1e-14 * length)


@for_all("noise", FAMILIES)
def test_symmetries_on_the_real_axis(noise):
    transform = LossTransform([coordinate_loss(noise)], [3], 0.7)
    c = np.array([0.2, 1.0, 4.0])
    log_m = transform.log_real(c)
    # Exchanging the neighbours: M(-1 - s) = M(s).
    assert transform.log_real(-1.0 - c) == pytest.approx(log_m, rel=1e-9, abs=1e-11)
    # M(0) is the mass of finite losses.
    mass = transform.log_real(np.array([1e-300]))[0]
    assert mass == pytest.approx(math.log1p(-transform.infinite), abs=1e-11)


def test_values_hidden_by_rounding_are_infinite():
    transform = LossTransform([coordinate_loss(FlippedHuber(1.0, 1.0))], [10], 0.0)
    assert math.isinf(transform.log_real(np.array([1e12]))[0])
    assert np.isfinite(transform.log_real(np.array([1e3]))).all()


def _line(noise, c):
    transform = LossTransform([coordinate_loss(noise)], [1], 0.0)
    return transform, Line(transform, c)


@for_all("noise", ON_A_LINE)
@for_all("c", [0.05, 1.0, 7.0, 60.0])
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


@for_all("noise", ON_A_LINE)
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
