"""K-norm noise in the l2 norm: against independent bounds, published numbers, Gaussian noise."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dpnoise import L2, Budget, Ellipsoid
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.noise import KNorm
from dpnoise.privacy.odometer.accounts import ExactAccount
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.spherical import _cells, spherical_loss
from for_all import thinned

FIGURE_3 = {2: 227.06, 8: 1142.34, 32: 4816.60}
K, EPSILON, DELTA = 10, 1.0, 1e-5


def total_delta(mean_square, releases):
    """Delta of releases of K-norm noise whose total mean square error is K (K + 1) scale^2."""
    scale = math.sqrt(mean_square / (K * (K + 1.0)))
    shares = {(spherical_loss(K, Fraction(scale)), 1.0): releases}
    return ExactAccount(EPSILON, DELTA).delta_of(Ledger(shares), EPSILON)


@pytest.mark.parametrize("dimension", [2, 10, 300])
def test_masses_of_cells_hold_their_rounding(dimension):
    """Beside 40 digits; `under` and `over` are sharp to what SciPy is trusted with."""
    found = _cells(dimension)
    for k in np.linspace(0, found.low.size - 1, 9).astype(int).tolist():
        ends = [1 / mp.mpf(z) if z else mp.inf for z in (found.high[k], found.low[k])]
        with mp.workdps(40):
            exact = mp.gammainc(dimension + 1, *ends, regularized=True)
        doubt = 1e-13 * exact + 1e-300  # of 1 / z as a double
        assert found.under[k] <= exact + doubt
        assert exact <= found.over[k] + doubt


@pytest.mark.parametrize(("dimension", "scale"), [(2, 0.5), (3, 5.0), (10, 1.4), (40, 0.3)])
def test_it_is_above_the_layers_lower_bound_and_close_to_their_upper_one(dimension, scale):
    found = spherical_loss(dimension, Fraction(scale))
    noise = RadialNoise(L2(1.0, of=dimension), scale)
    for share in (0.0, 0.2, 0.6, 0.9):
        lower, upper = radial_delta_bounds(noise, share / scale, cells=2**12)
        delta = math.exp(float(found.log_delta(np.array(share / scale))))
        assert lower <= delta <= upper * (1.0 + 2e-3)
    assert float(found.log_delta(np.array(1.0 / scale * (1 + 1e-15)))) == -math.inf
    assert found.largest_loss(1.0) == 1 / Fraction(scale)


@pytest.mark.parametrize("scale", [1.0 / 599.0, 1.0 / 690.0, 1e-3, 1e-4])
def test_losses_without_a_double_in_their_exponential_are_bounded_by_laplace_noise(scale):
    """An overflow would be a warning, and a difference of infinities no bound."""
    budget = Budget(1e4, 1e-6, relation="replace-one")
    budget.spend(RadialNoise(L2(1.0, of=2), scale), L2(1.0, of=2))
    assert 0.99 / scale <= budget.epsilon_of() <= 1.0 / scale


@pytest.mark.parametrize(("releases", "published"), thinned(FIGURE_3.items()))
def test_figure_3_of_arxiv_2606_08681(releases, published):
    """The printed errors to 1e-4: a little more keeps the budget, a little less exceeds it."""
    assert total_delta(published * (1.0 + 1e-4), releases) <= DELTA
    assert total_delta(published * (1.0 - 1e-4), releases) > DELTA


def test_joint_noise_of_an_l2_norm_is_charged_by_its_own_loss():
    budgets = [Budget(9.0, 1e-6, relation="add-remove") for _ in range(4)]
    budgets[0].spend(KNorm(2, 5, 3.0), 1.5, times=3)
    budgets[1].spend(RadialNoise(L2(2.0, of=5), 3.0), L2(3.0, of=5), times=3)
    axes = Ellipsoid([1.0, 2.0, 0.5, 1.0, 4.0])
    budgets[2].spend(RadialNoise(axes, 2.0), axes, times=3)
    budgets[3].spend(KNorm(math.inf, 5, 2.0), 1.0, times=3)
    found = [budget.epsilon_of() for budget in budgets]
    assert found[0] == found[1] == found[2] < 0.9 * found[3]
    assert [budget.epsilon_of(0.0) for budget in budgets] == [1.5] * 4
