"""Delta and epsilon by lines, and which line serves."""

import math

import numpy as np
import pytest

from dpnoise.privacy.inversion.inversion import Inversion, LogBounds
from dpnoise.privacy.inversion.transform import LossTransform
from dpnoise.privacy.sampled import lines
from dpnoise.privacy.sampled.composition import Composition
from dpnoise.privacy.sampled.lines import (
    ADDED,
    REMOVED,
    Contour,
    search,
    tilted,
    with_rest,
)
from dpnoise.privacy.sampled.pairs import Kind
from dpnoise.privacy.sampled.transform import MixedTransform, SampledGaussianLoss


def test_what_is_cut_is_added_to_the_upper_bound():
    found = with_rest(LogBounds(-2.0, -2.0, -2.0), math.log(0.01))
    assert found.upper == pytest.approx(math.log(math.exp(-2.0) + 0.01))
    assert found.lower == pytest.approx(math.log(math.exp(-2.0) - 0.01))
    assert with_rest(one := LogBounds(-2.0, -2.0, -2.0), -math.inf) == one


@pytest.mark.parametrize("direction", [REMOVED, ADDED])
def test_chernoff_is_above_delta(direction):
    composition = Composition({Kind(1.5, 0.04): 2250})
    found = composition.log_delta(6.5, direction)
    bound = composition._lines.chernoff(6.5, direction, found.upper)
    assert found.upper <= bound <= found.upper + 4.0


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        (1.2452, 0.001027, 613, 1.83e-7),  # two kinds of outputs at one tilt
        (0.5, 1e-3, 100, 1e-5),  # hardly any record is sampled
        (5.0, 1e-3, 100, 1e-8),
        (0.79, 1e-3, 10_000, 1e-6),
    ],
)
def test_rare_samples_have_close_bounds(sigma, rate, steps, delta):
    composition = Composition({Kind(sigma, rate): steps})
    low, high = composition.worst_epsilon(math.log(delta), (REMOVED, ADDED))
    assert 0.0 < low <= high <= low * (1 + 1e-6)
    for side in (REMOVED, ADDED):
        assert composition.log_delta(high, side).lower <= math.log(delta)
    assert max(composition.log_delta(low, side).upper for side in (REMOVED, ADDED)) >= math.log(
        delta
    ) * (1 + 1e-12)


def mixed(*, removed=True, gaussian=0.0, steps=2250):
    loss = SampledGaussianLoss(1.5, 0.04, removed=removed)
    return MixedTransform(LossTransform([], [], gaussian), [(loss, steps)])


def line(epsilon=6.77, **options):
    transform = mixed(**options)
    tilts = search(transform, 3.0, lambda found: (found.epsilon, epsilon))
    return Contour(tilts, tilts.interpolated(tilts.epsilon, epsilon), epsilon)


def test_derivatives_are_those_of_the_transform():
    transform = mixed(gaussian=0.3)
    c = np.array([1.0, 1.001, 1.002])
    found = tilted(transform, c)
    slope = np.gradient(found.log_m, c)[1]
    bend = np.diff(found.log_m, 2)[0] / 1e-6
    assert found.mean[1] == pytest.approx(slope, rel=1e-4)
    assert found.square[1] == pytest.approx(bend, rel=1e-2)


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("gaussian", [0.0, 0.2])
def test_a_line_serves_epsilons_around_its_own(removed, gaussian):
    one = line(removed=removed, gaussian=gaussian)
    assert one.good
    for epsilon in (5.5, 6.5, 6.77, 7.0, 8.0):
        found = one.bounds(epsilon)
        other = Inversion(mixed(removed=removed, gaussian=gaussian), 1e-8).bounds(epsilon)
        assert max(found.lower, other.lower) <= min(found.upper, other.upper)
        assert found.gap <= 1e-6


def test_what_is_left_out_is_counted(monkeypatch):
    """A line that is cut short is wider, and its bounds hold."""
    truth = line().bounds(6.77)
    monkeypatch.setattr(lines, "_TAIL", 1e-3)
    monkeypatch.setattr(lines, "_ALIAS", 1e-3)
    short = line().bounds(6.77)
    assert short.gap > 1e-6
    assert short.lower <= truth.lower <= truth.upper <= short.upper
    assert truth.gap < 1e-8
