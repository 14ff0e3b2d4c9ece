"""Two accounts for what is handed out: they agree, and a fault in the first is caught."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    calibrate,
    privacy_profile,
)
from dpnoise.calibration.budget import Target, certified_calibration, cross_checked
from dpnoise.noise import FAMILIES
from dpnoise.privacy import accounts, second
from dpnoise.privacy.accounts import SCALAR, VECTOR
from dpnoise.privacy.integer_sets import PURE
from dpnoise.privacy.vector import VectorProfile, vector_profile
from exact_noise import exact_noise

DIMENSIONS = 1, 2, 3, 5, 20, 100


def some_budget(family, dimension):
    """Return a round budget, where losses have ties, or a random one, by turns."""
    rng = np.random.default_rng([7, dimension, *family.encode()])
    if (list(FAMILIES).index(family) + DIMENSIONS.index(dimension)) % 2:
        return float(10 ** rng.uniform(-2, 1)), float(10 ** rng.uniform(-8, -0.1))
    return float(rng.choice([0.1, 0.5, 1.0, 2.0, 3.0, 5.0])), 10.0 ** -int(rng.integers(1, 8))


def one_and_several():
    """Each family in one coordinate and in several, whose number goes round."""
    for k, family in enumerate(FAMILIES):
        yield from ((family, 1), (family, DIMENSIONS[1 + 2 * k % 5]))


@pytest.mark.parametrize(("family", "dimension"), list(one_and_several()))
def test_every_calibration_is_certified_twice(family, dimension):
    """No contradiction; where the second account is sharp it is within the budget too."""
    if family == "subbotin" and dimension > 1:
        found = calibrate(family, epsilon=1.0, dimension=dimension)
        assert found.certified_by == ("greatest loss", "density ratio")
        return
    epsilon, delta = some_budget(family, dimension)
    found = calibrate(family, epsilon=epsilon, delta=delta, dimension=dimension)
    first, other = found.certified_by
    assert other in {"density ratio", "half-lines", "lattice"}
    again = second.second_account([(found.noise, 1.0, dimension)], epsilon, pure=first == PURE)
    assert again.log_lower <= again.log_upper
    if first in {VECTOR, SCALAR} and again.log_upper - again.log_lower < 1e-3:
        assert again.log_lower <= math.log(found.delta) <= again.log_upper + 2e-7


@pytest.mark.parametrize(
    "noise",
    [
        Gaussian(2.0),
        Laplace(2.0),
        FlippedHuber(3.0, 2.0),
        FlippedHuber(0.5, 1.0),
        OffsetSymmetricGaussian(1.0, 2.0),
        TruncatedLaplace(2.0, 5.0),
        TruncatedLaplace(2.0, 0.4),
        Subbotin(1.5, 2.0),
        Subbotin(7.0, 3.0),
        Huber(1.0, 2.0),
        Huber(0.5, 0.5),
    ],
)
def test_half_lines_against_the_definition(noise):
    """Also at ties: epsilon 0, the loss of a Laplace centre, the greatest loss."""
    for epsilon in (0.0, 0.3, 0.5, 0.75, 1.0, 3.0):
        found = second.half_lines(noise, 1.0, epsilon)
        exact = exact_noise(noise).log_delta(1.0, epsilon)
        assert found.log_lower <= exact <= found.log_upper or (
            exact == -mp.inf and found.log_lower == -math.inf
        )
        if exact > math.log(1e-9):
            assert found.log_upper - found.log_lower < 1e-3


def test_half_lines_far_out():
    """Down to the smallest deltas, as the scalar profile says."""
    for noise in (Gaussian(0.05), FlippedHuber(0.3, 0.1), Gaussian(1e4)):
        for epsilon in (1e-3, 1.0, 400.0):
            delta = float(privacy_profile(noise, 1.0, epsilon))
            found = second.half_lines(noise, 1.0, epsilon)
            if delta > 0.0:
                assert found.log_lower <= math.log(delta) + 1e-11
                assert math.log(delta) <= found.log_upper + 1e-11


def test_a_share_of_a_rounded_tail_may_be_above_one():
    """Only what leaves the support counts: delta is SF(a), of which the double is too small."""
    noise, shift = TruncatedLaplace(1e6, 28768802.75899709), 0.02632573530015699
    found = second.half_lines(noise, shift, 0.0323742394124247)
    exact = exact_noise(noise).log_delta(shift, 0.0323742394124247)
    assert mp.mpf(found.log_lower) <= exact <= mp.mpf(found.log_upper)


@pytest.mark.parametrize("beta", [0.03, 1.1, 70.0])
def test_no_loss_that_is_seen_is_above_the_largest(beta):
    assert (1.0 - 1e-9) / beta < second._largest_seen(Laplace(beta), 1.0) < 1.0 / beta


def test_density_ratio_sees_too_steep_noise():
    for noise, loss in [
        (Laplace(2.0), 0.5),
        (Huber(1.0, 4.0), 0.25),
        (Staircase(2.0, 1.0, 0.3), 2.0),
    ]:
        good, wrong = (
            second.second_account([(noise, 1.0, 1)], x * loss, pure=True)
            for x in (1.0, 1.0 - 1e-11)
        )
        second.require_agreement("noise", PURE, 0.0, good)
        with pytest.raises(RuntimeError, match=r"disagree.*'greatest loss'.*'density ratio'"):
            second.require_agreement("noise", PURE, 0.0, wrong)


@pytest.mark.parametrize("dimension", [1, 20])
@pytest.mark.parametrize(
    "family", ["flipped-huber", "offset-symmetric-gaussian", "huber", "gaussian"]
)
def test_an_error_of_the_first_account_is_caught(monkeypatch, family, dimension):
    """As if the profile were too small by a tenth."""
    true_profile = accounts.known_profile

    def wrong(*args, **options):
        found = true_profile(*args, **options)
        low, middle, high = (
            x - 0.1 for x in (found.log_lower, found.log_estimate, found.log_upper)
        )
        return VectorProfile(low, middle, high)

    noise = calibrate(family, epsilon=1.0, delta=1e-4, dimension=dimension).noise.scaled(0.9999)
    monkeypatch.setattr(accounts, "known_profile", wrong)
    budget = Target(1.0, 1e-4, 1.0, dimension)
    found = certified_calibration(noise, budget)
    with pytest.raises(RuntimeError, match="accounts disagree"):
        cross_checked(found, budget)


def test_the_lattice_agrees_at_a_tie():
    """At 2 alpha / gamma^2 = epsilon the vector profile once was a fifth too small."""
    noise = FlippedHuber(4.0, 2.0)
    found = vector_profile(noise, 1.0, 2.0, copies=2)
    again = second.second_account([(noise, 1.0, 2)], 2.0, pure=False)
    assert again.name == "lattice"
    assert again.log_lower <= found.log_upper <= found.log_lower + 1e-6
    assert found.log_lower <= again.log_upper <= again.log_lower + 1e-3


def test_what_is_too_dear_has_one_account():
    found = calibrate("flipped-huber", epsilon=1.0, delta=1e-5, dimension=10**6)
    assert len(found.certified_by) == 1
