"""Scales: closed forms in exact arithmetic, those under the exact vector profile, least errors."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy import optimize, special

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Subbotin,
    TruncatedLaplace,
    allocate,
    calibrate,
    gaussian_sigma,
    vector_profile,
)
from dpnoise.allocation.scales import (
    GroupedRequest,
    absolute_moment,
    exact_scales,
    make_groups,
    tail_slope,
)
from dpnoise.privacy.lattice.bounds import lattice_bounds
from for_all import for_all, thinned

GRAFT = FlippedHuber(2.0, 2.0)
THREE = np.array([0.1, 0.4, 1.0])
MIX = [GRAFT, Laplace(1.0), Gaussian(1.0)]


def log_upper(noises, scales, lambdas, epsilon, *, copies=1, rtol=1e-7):
    every = [noise.scaled(s) for noise, s in zip(noises, scales, strict=True)] * copies
    profile = vector_profile(every, list(lambdas) * copies, epsilon, rtol=rtol)
    return float(profile.log_upper)


CASES = [
    ([Laplace(1.0)] * 3, 0.5, 0.02, 2.0, None),
    ([Laplace(1.0)] * 3, 2.0, 1e-3, 1.0, [5.0, 1.0, 1.0]),
    ([GRAFT] * 3, 0.5, 1e-3, 2.0, None),
    (MIX, 1.0, 1e-5, 2.0, None),
    (MIX, 1.0, 1e-3, 3.0, [1.0, 2.0, 3.0]),
    ([Huber(1.0), GRAFT, OffsetSymmetricGaussian(1.0, 1.0)], 1.0, 0.01, 2.0, None),
]


@cache
def optimal(k):
    """Scales of a case."""
    noises, epsilon, delta, p, weights = CASES[k]
    return allocate(THREE, noise=noises, epsilon=epsilon, delta=delta, p=p, weights=weights)


@pytest.mark.parametrize("k", thinned(range(6)))
def test_the_budget_is_kept_and_spent(k):
    noises, epsilon, delta, p, weights = CASES[k]
    request = {"epsilon": epsilon, "delta": delta, "p": p, "weights": weights}
    for scheme in ("optimal", ("iid", "spr")[k % 2])[: 1 if k in {2, 5} else 2]:  # the dearest
        scales = optimal(k)
        if scheme != "optimal":
            scales = allocate(THREE, noise=noises, scheme=scheme, **request)
        log_delta = log_upper(noises, scales, THREE, epsilon)
        assert -1e-5 < log_delta - math.log(delta) <= 1e-7
        # An independent computation: its lower bound must not exceed the budget.
        shares = [(n.scaled(s), a, 1) for n, s, a in zip(noises, scales, THREE, strict=True)]
        found = lattice_bounds(shares, epsilon, size=2**14)
        assert found.log_lower <= math.log(delta) <= found.log_upper + 1e-5
        if scheme != "optimal":
            expected = (np.ones(3), THREE)[k % 2]
            np.testing.assert_allclose(scales / scales[0], expected / expected[0], rtol=1e-12)


# Steps along six directions that keep the product of the scales: three axes, both ways.
TURNS = [
    step * np.array(axis)
    for step in (-0.2, -0.0125, 0.0125)
    for axis in ((1.0, -1.0, 0.0), (0.0, 1.0, -1.0), (-1.0, 0.0, 1.0))
]


@pytest.mark.parametrize("k", thinned(range(6)))
def test_no_direction_with_less_error_is_private(k):
    """A neighbour whose error is smaller by 1e-4 of it exceeds the budget, near and far."""
    noises, epsilon, delta, p, weights = CASES[k]
    costs = np.array([noise.var() if p == 2 else noise.mean_abs() for noise in noises])
    if p == 3:  # E|T|^3 by sampling without chance: the mean over quantiles
        levels = (np.arange(200_000) + 0.5) / 400_000
        costs = np.array([np.mean(np.abs(noise.isf(levels)) ** 3) for noise in noises])
    costs = costs * (1.0 if weights is None else np.array(weights))
    scales = optimal(k)
    ours = np.sum(costs * scales**p)
    for turn in TURNS:
        other = scales * np.exp(turn)
        other *= ((1.0 - 1e-4) * ours / np.sum(costs * other**p)) ** (1.0 / p)
        assert log_upper(noises, other, THREE, epsilon, rtol=1e-6) > math.log(delta), turn


@pytest.mark.parametrize(
    "family", thinned([FlippedHuber, OffsetSymmetricGaussian, Laplace, Subbotin])
)
def test_equal_coordinates_need_what_calibration_finds(family):
    dimension = 1 if family is Subbotin else 2
    known = calibrate(family, epsilon=1.0, delta=1e-5, dimension=dimension)
    scales = allocate(np.ones(dimension), noise=known.noise, epsilon=1.0, delta=1e-5)
    np.testing.assert_allclose(scales, 1.0, rtol=2e-6)


def test_gaussian_noise_through_the_search_agrees_with_the_closed_form():
    groups = make_groups([Gaussian(1.0)], {Gaussian(1.0): 1.0}, THREE, None, 2)
    found = exact_scales(GroupedRequest(groups, 1.0, 1e-6, 2.0), "optimal")[groups.member]
    closed = allocate(THREE, epsilon=1.0, delta=1e-6, compositions=2)
    np.testing.assert_allclose(found, closed, rtol=1e-6)


def test_scalar_laplace_noise_has_a_closed_form():
    for epsilon, delta in ((0.5, 1e-12), (0.5, 1e-6), (3.0, 0.2), (0.0, 0.1)):
        scale = allocate([2.0], noise="laplace", epsilon=epsilon, delta=delta)
        expected = 2.0 / (epsilon - 2.0 * math.log1p(-delta))
        assert expected * (1 - 1e-9) <= scale <= expected * (1 + 1e-5)


def corollary_6(lambdas, epsilon, delta):
    """Return the sufficient scales of Corollary 6: those of (epsilon - log(1 - delta), 0)-DP."""
    return allocate(lambdas, noise="laplace", epsilon=epsilon - math.log1p(-delta))


@pytest.mark.parametrize(
    ("size", "epsilon", "delta"),
    [(1, 0.5, 1e-10), (2, 0.2, 0.1), (5, 1.0, 1e-5), (12, 0.5, 1e-10), (12, 0.2, 0.1)],
)
def test_never_worse_than_corollary_6(size, epsilon, delta):
    lambdas = np.random.default_rng(size).integers(1, 5, size).astype(float)
    tight = allocate(lambdas, noise="laplace", epsilon=epsilon, delta=delta)
    printed = corollary_6(lambdas, epsilon, delta)
    noises = [Laplace(beta) for beta in printed]
    assert vector_profile(noises, lambdas.tolist(), epsilon).upper <= delta
    assert np.sum(tight**2) <= np.sum(printed**2) * (1 + 1e-11)


def test_at_the_kink_of_flipped_huber_noise_no_direction_with_less_error_is_private():
    # Calibrated noise has Laplace centres whose greatest losses add up to epsilon.
    lambdas = np.array([0.2, 1.0])
    budget = {"epsilon": 0.5, "delta": 1e-4}
    noise = calibrate(FlippedHuber, **budget, dimension=2).noise
    scales = allocate(lambdas, noise=noise, **budget)
    assert log_upper([noise] * 2, scales, lambdas, 0.5) <= math.log(1e-4) + 1e-7
    for turn in (-0.1, 0.005):
        other = scales * np.exp([turn, -turn])
        other *= math.sqrt(0.995 * np.sum(scales**2) / np.sum(other**2))
        assert log_upper([noise] * 2, other, lambdas, 0.5, rtol=1e-3) > math.log(1e-4)


@pytest.mark.parametrize(
    ("lambdas", "epsilon", "delta"),
    [
        ([10.2, 1.0158, 0.11153, 18.557], 2.5116, 1.1908e-8),
        ([0.098, 0.499, 0.153], 4.7666, 4.99e-8),
    ],
)
def test_the_account_that_a_user_would_make_agrees(lambdas, epsilon, delta):
    """Where the bounds are 1e-5 apart, those of another tolerance would say 'not private'."""
    scales = allocate(lambdas, noise="laplace", epsilon=epsilon, delta=delta)
    profile = vector_profile([Laplace(s) for s in scales], lambdas, epsilon)
    assert profile.upper <= delta
    assert profile.upper > (1.0 - 1e-5) * delta


def test_passes_are_accounted_together():
    noises, passes = [Laplace(1.0), GRAFT], 4
    scales = allocate([1.0, 2.0], noise=noises, epsilon=1.0, delta=1e-4, compositions=passes)
    spent = log_upper(noises, scales, [1.0, 2.0], 1.0, copies=passes)
    assert -1e-5 < spent - math.log(1e-4) <= 1e-7


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 20.0, 64.0])
def test_absolute_moments(p):
    laplace, normal = absolute_moment(Laplace(3.0), p), absolute_moment(Gaussian(3.0), p)
    assert laplace == pytest.approx(special.gamma(p + 1) * 3.0**p, rel=1e-9)
    expected = 6.0**p * 2.0 ** (-p / 2) * special.gamma((p + 1) / 2) / np.sqrt(np.pi)
    assert normal == pytest.approx(expected, rel=1e-9)
    bound = absolute_moment(TruncatedLaplace(1e6, 2.0), p)  # almost uniform
    assert bound == pytest.approx(2.0**p / (p + 1), rel=1e-5)


def test_the_slope_of_a_bounded_loss_is_the_limit_of_the_log_density():
    for noise in (Laplace(0.7), Huber(1.3, 2.0)):
        drop = noise.logpdf(1e6) - noise.logpdf(1e6 + 10.0)
        assert tail_slope(noise) == pytest.approx(float(drop) / 10.0, rel=1e-9)
    assert tail_slope(Gaussian(1.0)) == np.inf


# Closed forms.

BUDGET = {"gaussian": {"epsilon": 0.7, "delta": 1e-6}, "laplace": {"epsilon": 0.7}}
POWER = {"gaussian": 2, "laplace": 1}
RNG = np.random.default_rng(20240501)
PROFILES = [RNG.random(7) + 0.01, 10.0 ** RNG.uniform(-6, 6, 5), np.array([0.85, 0.15])]
NOISES = ["gaussian", "laplace"]
SCHEMES = ["iid", "spr", "optimal"]


def least_unit(noise):
    """Return the scale of a scalar query of sensitivity 1."""
    if noise == "gaussian":
        return float(gaussian_sigma(**BUDGET[noise]))
    return Fraction(1) / Fraction(BUDGET[noise]["epsilon"])


@for_all("noise", NOISES)
@for_all("scheme", SCHEMES)
@for_all("spread", [0, 3, 100])
@for_all("compositions", [1, 7])
def test_account_holds_in_exact_arithmetic(noise, scheme, spread, compositions):
    rng = np.random.default_rng(spread)
    for size in (1, 2, 33):
        lambdas, weights = 10.0 ** rng.uniform(-spread, spread, (2, size))
        p = float(rng.uniform(1, 9))
        scales = allocate(
            lambdas, noise=noise, scheme=scheme, p=p, weights=weights, compositions=compositions,
            **BUDGET[noise],
        )  # fmt: skip
        q = POWER[noise]
        spent = compositions * sum(
            (Fraction(a) / Fraction(s)) ** q for a, s in zip(lambdas, scales, strict=True)
        )
        share = spent * Fraction(least_unit(noise)) ** q
        assert 1 - Fraction(1, 10**12) < share <= 1


@for_all("noise", NOISES)
def test_account_holds_for_many_coordinates(noise):
    lambdas = np.random.default_rng(1).random(20_000) ** 4
    scales = allocate(lambdas, noise=noise, p=3, **BUDGET[noise])
    q = POWER[noise]
    with mpmath.workdps(40):
        pairs = zip(lambdas.tolist(), scales.tolist(), strict=True)
        spent = mpmath.fsum((mpmath.mpf(a) / mpmath.mpf(s)) ** q for a, s in pairs)
        unit = least_unit(noise)
        whole = mpmath.mpf(1) if q == 2 else mpmath.mpf(unit.denominator) / unit.numerator
        whole = mpmath.mpf(unit) ** -2 if q == 2 else whole
        assert 1 - mpmath.mpf(10) ** -12 < spent / whole <= 1


@for_all("lambdas", PROFILES)
def test_paper_formulas(lambdas):
    mu = 1.0 / least_unit("gaussian")
    epsilon = BUDGET["laplace"]["epsilon"]

    def close(noise, scheme, expected, **options):
        scales = allocate(lambdas, noise=noise, scheme=scheme, **options, **BUDGET[noise])
        np.testing.assert_allclose(scales, np.broadcast_to(expected, lambdas.shape), rtol=1e-12)

    close("gaussian", "iid", np.linalg.norm(lambdas) / mu)
    close("gaussian", "spr", np.sqrt(lambdas.size) * lambdas / mu)
    close("gaussian", "optimal", np.sqrt(lambdas * lambdas.sum()) / mu)
    close("laplace", "iid", lambdas.sum() / epsilon)
    close("laplace", "spr", lambdas.size * lambdas / epsilon)
    close("laplace", "optimal", np.cbrt(lambdas) * np.sum(np.cbrt(lambdas) ** 2) / epsilon)
    for p in (1, 1.5, 4, 50):
        total = np.sum(lambdas ** (2 * p / (p + 2)))
        close("gaussian", "optimal", np.sqrt(lambdas ** (4 / (p + 2)) * total) / mu, p=p)
        total = np.sum(lambdas ** (p / (p + 1)))
        close("laplace", "optimal", lambdas ** (1 / (p + 1)) * total / epsilon, p=p)


@for_all("noise", NOISES)
@for_all("p", [1.0, 1.7, 2.0, 6.0])
@for_all("seed", [0, 1, 2])
def test_a_generic_optimiser_finds_the_same(noise, p, seed):
    # In x = log s both the error and the account are log-sum-exp functions: a convex problem.
    rng = np.random.default_rng(seed)
    log_lambda, log_weight = rng.normal(size=(2, 4 + seed))
    q = POWER[noise]
    budget = -q * np.log(float(least_unit(noise)))

    def room(x):
        return budget - special.logsumexp(q * (log_lambda - x))

    def room_slope(x):
        return q * special.softmax(q * (log_lambda - x))

    found = optimize.minimize(
        lambda x: special.logsumexp(log_weight + p * x),
        log_lambda - budget / q + 1.0,
        jac=lambda x: p * special.softmax(log_weight + p * x),
        constraints={"type": "ineq", "fun": room, "jac": room_slope},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert abs(room(found.x)) < 1e-9
    scales = allocate(
        np.exp(log_lambda), noise=noise, p=p, weights=np.exp(log_weight), **BUDGET[noise]
    )
    np.testing.assert_allclose(np.log(scales), found.x, atol=2e-5)
    ours = special.logsumexp(log_weight + p * np.log(scales))
    assert ours <= found.fun + 1e-11


@for_all("noise", NOISES)
@for_all("p", [1.0, 2.0, 3.5])
def test_stationarity(noise, p):
    lambdas, weights = RNG.random(50), RNG.random(50) + 0.1
    scales = allocate(lambdas, noise=noise, p=p, weights=weights, **BUDGET[noise])
    q = POWER[noise]
    multiplier = weights * scales ** (p + q) / lambdas**q
    np.testing.assert_allclose(multiplier, multiplier[0], rtol=1e-10)


@for_all("noise", NOISES)
@for_all("scheme", SCHEMES)
def test_units_order_and_weights_in_common_do_not_matter(noise, scheme):
    lambdas, weights = RNG.random(40), RNG.random(40)
    order = RNG.permutation(40)

    def scales(lambdas, weights):
        return allocate(lambdas, noise=noise, scheme=scheme, weights=weights, **BUDGET[noise])

    one = scales(lambdas, weights)
    np.testing.assert_allclose(scales(1e30 * lambdas, weights), 1e30 * one, rtol=1e-12)
    np.testing.assert_allclose(scales(lambdas[order], weights[order]), one[order], rtol=1e-12)
    np.testing.assert_allclose(scales(lambdas, 1e-9 * weights), one, rtol=1e-12)


@for_all("noise", NOISES)
@for_all("scheme", SCHEMES)
def test_coordinates_that_never_move_get_no_noise_and_do_not_count(noise, scheme):
    lambdas = np.array([0.0, 2.0, 0.0, 1.0])
    scales = allocate(lambdas, noise=noise, scheme=scheme, **BUDGET[noise])
    inner = allocate(lambdas[[1, 3]], noise=noise, scheme=scheme, **BUDGET[noise])
    assert np.array_equal(scales, [0.0, inner[0], 0.0, inner[1]])
    assert np.array_equal(allocate([0.0, 0], noise=noise, scheme=scheme, **BUDGET[noise]), [0, 0])


@for_all("p", [1.0, 2.0, 3.0])
def test_noise_objects_stand_for_their_shapes(p):
    lambdas, weights = np.array([0.5, 1.0, 4.0]), np.array([1.0, 3.0, 2.0])
    mixed = [Gaussian(0.2), Gaussian(1.0), Gaussian(7.0)]
    budget = BUDGET["gaussian"]
    sigma = allocate(lambdas, p=p, weights=weights, **budget)
    factors = allocate(lambdas, noise=mixed, p=p, weights=weights, **budget)
    np.testing.assert_allclose(factors * [0.2, 1.0, 7.0], sigma, rtol=1e-9)
    for scheme in SCHEMES:
        sigma = allocate(lambdas, scheme=scheme, **budget)
        factor = allocate(lambdas, noise=Gaussian(3.0), scheme=scheme, **budget)
        np.testing.assert_allclose(3.0 * factor, sigma, rtol=1e-12)


@for_all("scheme", SCHEMES)
def test_bounded_losses_add_up_to_epsilon(scheme):
    lambdas = np.array([0.5, 1.0, 4.0])
    noises = [Laplace(2.0), Huber(1.5, 3.0), Laplace(0.1)]
    scales = allocate(lambdas, noise=noises, scheme=scheme, epsilon=0.7)
    slopes = [Fraction(1, 2), Fraction(1.5) / 3, 1 / Fraction(0.1)]
    spent = sum(
        Fraction(a) * b / Fraction(s) for a, b, s in zip(lambdas, slopes, scales, strict=True)
    )
    assert 1 - Fraction(1, 10**12) < spent / Fraction(0.7) <= 1
