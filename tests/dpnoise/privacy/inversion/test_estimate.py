"""Estimates of many deltas at once agree with the two-sided account, or say nothing."""

import math

import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    TruncatedLaplace,
    calibrate,
    vector_profile,
)
from dpnoise.calibration import search
from dpnoise.privacy.inversion import trapezoid
from dpnoise.privacy.inversion.loss import coordinate_loss

FAMILIES = [
    lambda b: FlippedHuber(b, 1.0),
    lambda b: OffsetSymmetricGaussian(b, 1.0),
    Huber,
    lambda b: TruncatedLaplace(1.0, 3.0 + 9.0 * b),
]


def noises(family, variance):
    """Noise of many shapes and one variance."""
    some = [FAMILIES[family](b) for b in np.geomspace(1e-3, 4.0, 12).tolist()]
    return [noise.scaled(math.sqrt(variance / noise.var())) for noise in some]


@pytest.mark.parametrize(
    ("copies", "epsilon", "variance"),
    [(2, 0.5, 30.0), (5, 0.0, 40.0), (20, 1.0, 357.0), (20, 4.0, 80.0), (100, 1.0, 1785.0)],
)
@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_estimates_are_those_of_the_account_or_none(family, copies, epsilon, variance):
    some = noises(family, variance)
    found, line = trapezoid.log_deltas([coordinate_loss(one) for one in some], copies, epsilon)
    for noise, value in zip(some, found.tolist(), strict=True):
        if not math.isnan(value):
            exact = vector_profile(noise, 1.0, epsilon, copies=copies)
            assert exact.log_lower - 1e-7 <= value <= exact.log_upper + 1e-7
    if copies >= 20 and family < 2:
        assert np.isfinite(found).sum() >= 6
        losses = [coordinate_loss(one) for one in some]
        for near in (line, 1e-3 * line, 1e3 * line):  # a line elsewhere is no worse
            again, _ = trapezoid.log_deltas(losses, copies, epsilon, near)
            both = np.isfinite(again) & np.isfinite(found)
            assert both.sum() >= 6
            assert np.allclose(again[both], found[both], rtol=0.0, atol=1e-7)


def test_what_atoms_decide_has_no_estimate():
    losses = [coordinate_loss(one) for one in (Laplace(20.0), FlippedHuber(300.0, 40.0))]
    assert np.isnan(trapezoid.log_deltas(losses, 20, 1.0)[0]).all()
    assert np.isnan(trapezoid.log_deltas([coordinate_loss(Gaussian(9.0))], 20, 1.0)[0]).all()


def test_a_wrong_estimate_never_costs_privacy(monkeypatch):
    """As if delta were a tenth of what it is, or ten times: the account has the last word."""
    best = calibrate("flipped-huber", epsilon=1.0, delta=1e-4, dimension=20)
    for error in (-math.log(10.0), math.log(10.0)):

        def wrong(*args, error=error):
            found, line = trapezoid.log_deltas(*args)
            return found + error, line

        monkeypatch.setattr(search, "log_deltas", wrong)
        found = calibrate("flipped-huber", epsilon=1.0, delta=1e-4, dimension=20)
        assert found.delta <= 1e-4
        assert found.variance >= best.variance * (1.0 - 1e-7)


GROUPS = [
    [Laplace(2.0), Laplace(3.1), Laplace(7.7)],
    [FlippedHuber(2.0, 2.0), Gaussian(3.0), Laplace(4.0)],
    [Huber(1.0, 2.0), FlippedHuber(1.0, 4.0)],
]


@pytest.mark.parametrize("noises", GROUPS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_slopes_agree_with_the_exact_profile(noises, epsilon):
    counts = np.array([2, 1, 3][: len(noises)])

    def exact(x):
        scaled = [noise.scaled(float(np.exp(s))) for noise, s in zip(noises, x, strict=True)]
        every = [noise for noise, n in zip(scaled, counts, strict=True) for _ in range(n)]
        return float(vector_profile(every, [1.0] * len(every), epsilon, rtol=1e-6).log_estimate)

    found = trapezoid.log_delta_and_slopes(noises, np.ones(len(noises)), counts, epsilon)
    assert found.log_delta == pytest.approx(exact(np.zeros(len(noises))), abs=0.01)
    for k, step in enumerate(1e-2 * np.eye(len(noises))):
        slope = (exact(step) - exact(-step)) / 2e-2
        assert found.slopes[k] == pytest.approx(slope, rel=0.02)
