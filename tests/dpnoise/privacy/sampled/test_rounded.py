"""Steps on a lattice, beside closed forms and the inversion of the transform."""

import math

import pytest

from dpnoise.privacy.inversion.transform import LossTransform
from dpnoise.privacy.sampled.composition import Composition
from dpnoise.privacy.sampled.lines import Contour, search
from dpnoise.privacy.sampled.pairs import ADDED, REMOVED, Kind, one_step, pair_of
from dpnoise.privacy.sampled.rounded import Rounded, SampledCoordinate
from dpnoise.privacy.sampled.transform import MixedTransform, SampledGaussianLoss


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.1), (0.05, 0.3), (20.0, 0.01)])
def test_nodes_hold_everything(sigma, rate, removed):
    part = SampledCoordinate(sigma, rate, 1, removed=removed)
    assert part.sketch.log_moment(0.0)[0] == pytest.approx(0.0, abs=1e-5)
    turn = 1.0 if removed else -1.0
    # The mean of e^-loss is 1: all of the other distribution.
    total = part.sketch.log_moment(-1.0)[0] - turn * math.log1p(-rate)
    assert total == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("direction", [REMOVED, ADDED])
@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon"), [(1.0, 0.1, 0.05), (0.05, 1e-4, 5e-5), (0.02, 0.5, 0.3)]
)
def test_one_step_is_its_closed_form(sigma, rate, epsilon, direction):
    exact = one_step(pair_of(Kind(sigma, rate), direction), epsilon).estimate
    found = Rounded([(sigma, rate, 1)], removed=direction == REMOVED).log_delta(epsilon)
    assert found.lower <= exact <= found.upper
    assert found.gap <= 1e-5


@pytest.mark.parametrize("removed", [True, False])
def test_many_steps_are_those_of_the_inversion(removed):
    sigma, rate, steps, epsilon = 1.1, 0.05, 40, 0.4
    loss = SampledGaussianLoss(sigma, rate, removed=removed)
    transform = MixedTransform(LossTransform([], [], 0.0), [(loss, steps)])
    tilts = search(transform, 5.0, lambda found: (found.epsilon, epsilon))
    line = Contour(tilts, tilts.interpolated(tilts.epsilon, epsilon), epsilon)
    first = line.bounds(epsilon)
    second = Rounded([(sigma, rate, steps)], removed=removed).log_delta(epsilon)
    assert max(first.lower, second.lower) <= min(first.upper, second.upper)
    assert second.gap <= 1e-3


def test_an_epsilon_has_its_delta():
    """Of steps whose transform does not fade, so that no line and no inversion answers."""
    kinds, log_delta = {Kind(0.05, 1e-4): 1000}, math.log(1e-3)
    low, high = Composition(kinds).epsilon(log_delta, REMOVED)
    assert 0.0 < low <= high <= low * (1.0 + 1e-5)
    again = Rounded([(0.05, 1e-4, 1000)], removed=True)
    assert again.log_delta(low).upper >= log_delta >= again.log_delta(high).lower


def test_the_last_sums_serve_where_they_are_as_good(monkeypatch):
    made, exact = [], Rounded._sums

    def counted(self, epsilon, size):
        made.append(size)
        return exact(self, epsilon, size)

    monkeypatch.setattr(Rounded, "_sums", counted)
    one, fresh = (Rounded([(0.05, 1e-4, 1000)], removed=True) for _ in range(2))
    first, own = one.log_delta(405.0), fresh.log_delta(100.0)
    before = len(made)
    found = one.log_delta(100.0)
    assert len(made) == before
    assert max(found.lower, own.lower) <= min(found.upper, own.upper)
    rough = Rounded([(0.05, 1e-4, 1000)], removed=True)
    assert rough.log_delta(405.0, rough=True).gap > 1.5 * first.gap
    assert rough.log_delta(405.0).gap == first.gap


def test_a_bound_far_below_the_epsilon_that_was_planned_is_on_its_side():
    """There all payoffs are below the least double, which once made them 0."""
    step = Kind(2.8705253395018246, 1.128919664097609e-09)
    rounded = Rounded([(step.sigma, step.rate, 2)], removed=True)
    assert rounded._sums(5.2e-4, 1 << 13)
    for epsilon in (0.0, 1e-9, 1e-7, 1e-6):
        found = rounded._bounds(epsilon)
        assert found.lower <= one_step(pair_of(step, REMOVED), epsilon).estimate <= found.upper
