import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize

from dpnoise import vector_profile
from dpnoise.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.privacy.gaussian import gaussian_log_delta, gaussian_sigma
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.lattice import bounds as lattice
from dpnoise.privacy.lattice.bounds import lattice_bounds, round_down, round_up
from dpnoise.privacy.lattice.plan import Nodes, ShiftedNoise, make_plan
from for_all import for_all, thinned

FAMILIES = [
    Gaussian(2.0),
    Laplace(1.7),
    FlippedHuber(0.4, 2.0),
    FlippedHuber(3.0, 2.0),
    OffsetSymmetricGaussian(0.7, 3.0),
    Huber(0.8, 2.0),
    TruncatedLaplace(0.9, 4.0),
    TruncatedLaplace(2.0, 0.8),
    Subbotin(1.5, 2.0),
    Subbotin(3.0, 2.0),
    Subbotin(30.0, 3.0),
]
# What the closed forms and quadratures of this file may be off by.
ROUNDING = 1e-11


class PlainGaussian(Gaussian):
    """A Gaussian that does not say that its -log density is quadratic."""

    def pieces(self):
        return None


def holds(bounds, log_delta, allowance=ROUNDING):
    return bounds.log_lower <= log_delta + allowance and log_delta <= bounds.log_upper + allowance


def gap(bounds):
    return bounds.log_upper - bounds.log_lower


def crossing(loss, epsilon, breaks, end):
    """Return the noise value at which the loss under a shift of 1 exceeds epsilon."""

    def excess(t):
        return loss(t) - epsilon

    if excess(end) <= 0:
        return math.inf
    if excess(-end) > 0:
        return -math.inf
    # A root on the open stretch behind the breaks with no larger loss.
    low = max([-end, *(b for b in breaks if excess(b) <= 0)])
    return optimize.brentq(excess, low, end, xtol=1e-15, rtol=1e-15)


def scalar_delta(noise, loss, epsilon, breaks, end):
    t = crossing(loss, epsilon, breaks, end)
    if t == -math.inf:
        return 1.0 - math.exp(epsilon)
    return noise.sf(t) - math.exp(epsilon) * noise.sf(t + 1.0) if t < math.inf else 0.0


@pytest.mark.parametrize("target", [1e-3, 1e-14, 1e-30, 1e-200])
@pytest.mark.parametrize("copies", [1, 2, 20, 1000, 10_000])
def test_gaussian_coordinates_have_the_closed_form(copies, target):
    sigma = gaussian_sigma(1.0, target) * math.sqrt(copies)
    exact = gaussian_log_delta(math.sqrt(copies) / sigma, 1.0)
    bounds = lattice_bounds([(Gaussian(sigma), 1.0, copies)], 1.0, size=2**14)
    assert holds(bounds, exact, 1e-10)
    # Second order in h, first in the number of coordinates and in log delta.
    assert gap(bounds) <= 1e-6 * copies * math.log(1.0 / target)


def test_pure_privacy_is_exact():
    shares = [(Laplace(2.0), 1.0, 3), (Laplace(1.0), 0.5, 2)]
    bounds = lattice_bounds(shares, [2.5 + 1e-9, 4.0])
    assert np.all(bounds.log_upper == -math.inf)
    assert np.all(bounds.log_lower == -math.inf)
    assert lattice_bounds(shares, 2.49).log_lower > -math.inf


@pytest.mark.parametrize(
    ("noise", "psi", "breaks", "end", "tail"),
    [
        (Subbotin(1.5, 2.0), lambda t: (t / 2.0) ** 1.5 / 1.5, [-1.0, 0.0], 60.0, 30.0),
        (Subbotin(3.0, 2.0), lambda t: (t / 2.0) ** 3.0 / 3.0, [-1.0, 0.0], 12.0, 8.0),
    ],
    ids=["Subbotin 1.5", "Subbotin 3"],
)
def test_two_coordinates_convolve(noise, psi, breaks, end, tail):
    # delta_2(epsilon) is the mean of delta_1(epsilon - loss).
    epsilon = 0.7

    def loss(t):
        return psi(abs(t + 1.0)) - psi(abs(t))

    def integrand(t):
        return noise.pdf(t) * scalar_delta(noise, loss, epsilon - loss(t), breaks, end)

    cuts = [-tail, *breaks, tail]
    parts = [
        integrate.quad(integrand, a, b, epsabs=1e-10, epsrel=1e-8, limit=60)
        for a, b in pairwise(cuts)
    ]
    total, error = map(sum, zip(*parts, strict=True))
    bounds = lattice_bounds([(noise, 1.0, 2)], epsilon)
    assert error <= 1e-8 * total
    assert holds(bounds, math.log(total), error / total + 1e-9)
    assert gap(bounds) <= 1e-6


def test_gaussians_of_different_widths_add_up():
    shares = [(Gaussian(5.0), 1.0, 3), (Gaussian(3.0), 0.5, 10), (PlainGaussian(9.0), 2.0, 1)]
    mu = math.sqrt(3 / 25 + 10 / 36 + 4 / 81)
    bounds = lattice_bounds(shares, [0.0, 1.0, 5.0], size=2**16)
    exact = gaussian_log_delta(mu, [0.0, 1.0, 5.0])
    assert np.all(bounds.log_lower <= exact + ROUNDING)
    assert np.all(exact <= bounds.log_upper + ROUNDING)
    assert np.all(gap(bounds) <= 1e-5)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
def test_closeness_at_twenty_coordinates(noise):
    bounds = lattice_bounds([(noise, 0.3, 20)], 2.0)
    assert 0.0 <= gap(bounds) <= 1e-5


def test_atoms_of_three_families_are_nearly_met():
    shares = [(Laplace(beta), 1.0, 5) for beta in (3.0, 4.1, 5.3)]
    assert 0.0 <= gap(lattice_bounds(shares, 1.0)) <= 1e-4


@pytest.mark.parametrize(
    "noise", [Gaussian(5.0), FlippedHuber(10.0, 4.0), Subbotin(1.5, 4.0)], ids=str
)
def test_twice_the_points_are_four_times_closer(noise):
    gaps = np.array([gap(lattice_bounds([(noise, 1.0, 20)], 3.0, size=2**k)) for k in (12, 16)])
    rate = (gaps[0] / gaps[-1]) ** 0.25
    assert rate >= 3.5


def test_truncated_noise_may_tell_for_certain():
    noise, copies = TruncatedLaplace(1.0, 5.0), 3
    exact = math.log(-math.expm1(copies * math.log1p(-noise.sf(4.0))))
    # The finite loss is at most 1 for each coordinate.
    assert holds(lattice_bounds([(noise, 1.0, copies)], 3.1), exact, 1e-13)
    assert lattice_bounds([(noise, 1.0, copies)], 1.0).log_lower > exact
    certain = lattice_bounds([(noise, 10.0, 1)], 1.0)
    assert certain.log_lower == certain.log_upper == 0.0


def test_units_and_grouping_do_not_matter():
    whole = lattice_bounds([(FlippedHuber(3.0, 2.0), 1.0, 5)], 1.0)
    parts = lattice_bounds([(FlippedHuber(3e-40, 2e-40), 1e-40, k) for k in (2, 3)], 1.0)
    with_idle = lattice_bounds([(FlippedHuber(3.0, 2.0), 1.0, 5), (Laplace(1.0), 0.0, 7)], 1.0)
    assert parts.log_upper == pytest.approx(whole.log_upper, abs=1e-7)
    assert parts.log_lower == pytest.approx(whole.log_lower, abs=1e-7)
    assert with_idle == whole


def test_a_query_that_cannot_change_leaks_nothing():
    bounds = lattice_bounds([(Gaussian(1.0), 0.0, 4)], [[0.0, 1.0]])
    assert bounds.log_upper.shape == (1, 2)
    assert np.all(bounds.log_upper == -math.inf)


@pytest.mark.parametrize(
    ("shares", "epsilon"),
    [
        ([(Gaussian(0.01), 1.0, 5)], 1.0),
        ([(FlippedHuber(1.0, 1e-3), 1.0, 5)], 1.0),
        ([(Subbotin(25.0, 0.1), 1.0, 1)], 2.0),
        ([(Subbotin(1000.0, 0.7), 1.0, 200)], 2.0),
    ],
)
def test_no_privacy_is_delta_one(shares, epsilon):
    bounds = lattice_bounds(shares, epsilon, size=2**14)
    assert -1e-6 <= bounds.log_lower <= 0.0
    assert bounds.log_upper >= -1e-15


def test_below_the_range_the_bounds_still_hold():
    bounds = lattice_bounds([(Gaussian(1.0), 1.0, 1)], 50.0, size=2**12)
    exact = gaussian_log_delta(1.0, 50.0)  # about e^-1230
    assert holds(bounds, exact)


@pytest.mark.parametrize("noise", FAMILIES, ids=str)
def test_the_loss_crosses_levels_where_it_is_said_to(noise):
    source = ShiftedNoise(noise)
    cuts = source.cuts(max(source.left, -12.0), min(source.right, 8.0), 0.125)
    low, high = source.loss(cuts[[0, -1]])
    levels = np.linspace(low, min(high, 20.0), 1001)[1:-1]
    found = source.loss(source.crossings(cuts, levels))
    # Where the loss jumps over no level it is met; the last level of a flat stretch is its end.
    assert np.max(np.abs(found - levels)) <= 1e-5 * (levels[1] - levels[0])


def profile(loss, mass, epsilon):
    return np.sum(mass * -np.expm1(np.minimum(epsilon[:, None] - loss, 0.0)), axis=1)


def on_lattice(masses, h, tilt):
    loss = (masses.start + np.arange(len(masses.weight))) * h
    return loss, masses.weight * np.exp(masses.log_total - tilt * loss)


@for_all("tilt", [1e-3, 2.0, 20.0])
@for_all("noise", FAMILIES)
def test_rounding_up_dominates_and_rounding_down_is_dominated(noise, tilt):
    source = ShiftedNoise(noise)
    nodes = source.nodes(source.cuts(max(source.left, -5.0), min(source.right, 1.5), 0.125))
    width = np.ptp(nodes.loss)
    h, tilt = 0.01 * width, tilt / width
    log_factor = nodes.log_moment(tilt)[0]
    up = round_up(nodes, h, tilt, log_factor)
    down, tolerance = round_down(nodes, h, tilt, log_factor, 1e-12)

    epsilon = np.linspace(nodes.loss.min(), nodes.loss.max(), 57)
    exact = profile(nodes.loss, np.exp(nodes.log_mass), epsilon)
    slack = 1e-12 * exact[0]
    assert np.all(profile(*on_lattice(up, h, tilt), epsilon) >= exact - slack)
    assert np.all(profile(*on_lattice(down, h, tilt), epsilon + tolerance) <= exact + slack)
    assert tolerance <= h
    # At the lattice points the dots are connected.
    at = np.arange(-3, 4) * h
    there = profile(nodes.loss, np.exp(nodes.log_mass), at)
    assert profile(*on_lattice(up, h, tilt), at) == pytest.approx(there, rel=1e-9)


# Seeds at which some atoms can be met in no way but by going down whole, and others.
@pytest.mark.parametrize("seed", [77, 80, 111, 765, 811, 820, 1100, *range(8)])
def test_a_few_atoms_off_the_lattice_are_rounded_safely(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    loss, mass = np.sort(rng.uniform(-1.0, 1.0, n)), rng.dirichlet(np.full(n, 0.3)) + 1e-12
    nodes, h, tilt = Nodes(loss, np.log(mass)), 0.1, rng.uniform(0.1, 5.0)
    down, tolerance = round_down(nodes, h, tilt, 0.0, 1e-12)
    epsilon = np.linspace(-1.2, 1.2, 241)
    exact = profile(loss, mass, epsilon)
    below = profile(*on_lattice(down, h, tilt), epsilon + tolerance)
    above = profile(*on_lattice(round_up(nodes, h, tilt, 0.0), h, tilt), epsilon)
    assert np.all(below <= exact + 1e-14)
    assert np.all(exact <= above + 1e-14)
    assert np.all(below >= profile(loss - 2.0 * h, mass, epsilon) - 1e-14)


def test_an_atom_on_the_lattice_stays():
    nodes = Nodes(np.array([-1.0, 0.5, 1.0]), np.log([0.2, 0.3, 0.5]))
    down, tolerance = round_down(nodes, 0.25, 0.0, 0.0, 1e-12)
    up = round_up(nodes, 0.25, 0.0, 0.0)
    for masses in (down, up):
        loss = (masses.start + np.arange(len(masses.weight))) * 0.25
        kept = dict(
            zip(loss[masses.weight > 1e-12], masses.weight[masses.weight > 1e-12], strict=True)
        )
        assert kept == pytest.approx({-1.0: 0.2, 0.5: 0.3, 1.0: 0.5})
    assert tolerance == pytest.approx(1e-12)


def test_what_is_out_of_range_is_refused_once():
    shares = [
        (DiscreteStaircase(1.0, 1, 1), 1.0, 1),
        (DiscreteGaussian(1e9), 1.0, 1),
        (DiscreteLaplace(2.0), 1.5, 1),
        (Gaussian(1e20), 1.0, 1),
        (Staircase(1.0, 1.0, 0.5), 1.0 + 2.0**-50, 1),
        (Laplace(1.0), 1.0, 10**8),
    ]
    with pytest.raises(ValueError, match="lattice bounds") as caught:
        lattice_bounds(shares, [-1.0, 1e12])
    for part in ("noise", "values of the loss of DiscreteGaussian", "shift", "E|T| / shift",
                 "shift of Staircase", "copies", "epsilon"):  # fmt: skip
        assert f"{part}: expected" in str(caught.value).replace("(sigma=1000000000.0)", "").replace(
            str(shares[4][0]), "Staircase"
        )


_TOPS = [
    (TruncatedLaplace(8.0, 0.075), 0.1, 2),
    (TruncatedLaplace(1.0, 2.0), 1.0, 3),
    (Laplace(0.1), 1.0, 3),
    (Laplace(30.0), 1.0, 3),
    (Huber(100.0, 100.0), 2.0, 2),
    (Huber(0.01, 1.0), 1.0, 5),
]


@pytest.mark.parametrize(("noise", "shift", "copies"), thinned(_TOPS))
def test_near_the_greatest_loss(noise, shift, copies):
    top = copies * coordinate_loss(noise.scaled(1.0 / shift)).largest
    below = top * (1.0 - np.array([1e-2, 1e-4, 1e-7, 1e-10, 1e-13, 2e-16]))
    epsilon = np.concatenate([below, [top], top * (1.0 + np.array([2e-16, 1e-13, 1e-6]))])
    found = lattice_bounds([(noise, shift, copies)], epsilon, size=2**12)
    other = vector_profile(noise, shift, epsilon, copies=copies, rtol=1e-5)
    assert np.all(found.log_lower <= found.log_upper)
    assert np.all(found.log_lower <= other.log_upper + 1e-13)
    assert np.all(other.log_lower <= found.log_upper + 1e-13)


@for_all("beta", [7.999129638995443, 7.9992, 7.999219243122956])
@for_all("size", [2**13, 2**16])
def test_next_to_the_largest_sum_of_atoms(beta, size):
    """There all losses are largest: once the upper bound was that of their chance alone."""
    shares = [(DiscreteLaplace(k * beta), float(k), 4) for k in (1, 3)]
    found = lattice_bounds(shares, 1.0, size=size)
    chance = -4.0 * sum(math.log1p(math.exp(-1.0 / (k * beta))) for k in (1, 3))
    exact = chance + math.log(-math.expm1(1.0 - 8.0 / beta))
    assert found.log_lower <= exact + 1e-10
    assert exact - 1e-10 <= found.log_upper <= found.log_lower + 1e-6


def test_the_loss_grows_beyond_what_is_looked_at():
    # The exponential tails begin where psi has risen by 5000; delta is about e^-2511.
    found = lattice_bounds([(Huber(100.0, 100.0), 2.0, 2)], 1.9996, size=2**12)
    assert found.log_upper >= vector_profile(Huber(100.0, 100.0), 2.0, 1.9996, copies=2).log_lower
    assert found.log_upper > -3000.0


def test_too_much_work_is_refused():
    shares = [(Subbotin(2.5, 9.0 + k), 1.0, 1) for k in range(300)]
    with pytest.raises(ValueError, match="300 different coordinates, 1 epsilons, size 262144"):
        lattice_bounds(shares, 1.0)


def _altered(plan, size, change):
    """Return a plan of other choices."""
    return {
        "higher": plan._replace(start=plan.start + size // 3),
        "lower": plan._replace(start=plan.start - size // 3),
        "narrower": plan._replace(h=plan.h / 2.7, start=int(plan.start * 2.7)),
        "wider": plan._replace(h=plan.h * 1.6, start=int(plan.start / 1.6)),
        "steeper": plan._replace(tilt=2.0 * plan.tilt),
        "flatter": plan._replace(tilt=0.3 * plan.tilt),
    }[change]


@pytest.mark.parametrize("change", ["higher", "lower", "narrower", "wider", "steeper", "flatter"])
def test_bounds_hold_whatever_the_plan(monkeypatch, change):
    cases = [
        ([(FlippedHuber(3.0, 2.0), 1.0, 3)], 1.5),
        ([(TruncatedLaplace(0.1, 0.225), 0.3, 3), (Huber(0.7, 1.5), 1.0, 2)], 5.0),
        ([(Laplace(2.0), 1.0, 4)], 1.9),
    ]
    monkeypatch.setattr(
        lattice,
        "make_plan",
        lambda parts, epsilon, size: _altered(make_plan(parts, epsilon, size), size, change),
    )
    for shares, epsilon in cases:
        found = lattice_bounds(shares, epsilon, size=2**12)
        each = [(noise, shift) for noise, shift, copies in shares for _ in range(copies)]
        noise, shifts = zip(*each, strict=True)
        exact = vector_profile(noise, shifts, epsilon)
        assert found.log_lower <= exact.log_upper
        assert exact.log_lower <= found.log_upper


@pytest.mark.parametrize("p", [125.0, 300.0, 1000.0])
def test_a_loss_without_a_double_is_certainty(p):
    # psi(t + 1) is about scale^-p: all but the neighbours' e^-800 can be told apart.
    for scale in (1e-5, 2e-3, 0.015):
        found = vector_profile(Subbotin(p, scale), 1.0, [0.0, 1e-9, 1.0, 1e6], copies=3)
        assert np.all(found.log_lower >= -1e-15)
        assert np.all(found.log_upper == 0.0)


def test_losses_too_large_for_the_lattice_give_bounds_that_say_nothing():
    wide = [(TruncatedLaplace(3e-130, 0.03), 3e-128, 10_000), (Gaussian(1e-9), 7e-8, 10**6)]
    for share in wide:
        found = lattice_bounds([share], 1.5, size=2**10)
        assert found.log_lower <= found.log_upper <= 0.0


def test_a_loss_that_is_all_but_certain():
    """Nothing spreads beside 0, the likeliest draw; epsilon needs another draw of one of five."""
    sigma = 0.0265
    found = lattice_bounds([(DiscreteGaussian(sigma), 1.0, 5)], 3820.0)
    assert found.log_upper == pytest.approx(math.log(5.0) - 0.5 / sigma**2, abs=1e-3)
    assert found.log_lower <= found.log_upper
