"""Concentrated bounds against Renyi divergences by quadrature and the exact Gaussian profile."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dpnoise.noise import FlippedHuber, Gaussian, Huber, Laplace
from dpnoise.privacy.odometer.concentrated import zcdp
from dpnoise.privacy.zcdp import (
    ZCDP,
    epsilon_from_zcdp,
    eta_from_dp,
    transition_cost,
    transition_for_cost,
)
from for_all import for_all
from refusals import names_every_problem

NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def renyi(noise, shift, order):
    """Return the Renyi divergence between noise and noise + shift, by quadrature.

    The integrand g(t)^s g(t - d)^(1 - s) has kinks at 0, d and there shifted by +-alpha; it is
    largest near s d at most, beyond which both tails fall off.
    """
    alpha = getattr(noise, "alpha", 0.0)
    scale = getattr(noise, "gamma", None) or noise.std()
    reach = order * abs(shift) + alpha + 40 * scale
    kinks = [0.0, shift, alpha, -alpha, shift + alpha, shift - alpha]
    edges = np.unique([*kinks, *np.linspace(-reach, reach, 120)])
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    t = middle[:, None] + half[:, None] * NODES
    power = order * noise.logpdf(t) + (1 - order) * noise.logpdf(t - shift)
    peak = power.max()
    return (peak + math.log(np.sum(half[:, None] * WEIGHTS * np.exp(power - peak)))) / (order - 1)


@for_all("seed", range(40))
def test_renyi_divergence_keeps_the_bound(seed):
    rng = np.random.default_rng(seed)
    sensitivity = float(10 ** rng.uniform(-1, 1))
    gamma = sensitivity * float(10 ** rng.uniform(-0.7, 1))
    noises = [
        FlippedHuber(gamma * float(10 ** rng.uniform(-2, 1.3)), gamma),
        FlippedHuber(sensitivity * float(rng.uniform(0.5, 1.5)), gamma),
        Laplace(gamma),
    ]
    for noise in noises:
        xi, eta = zcdp(noise, sensitivity)
        for order in (1.0001, 1.3, 2.0, 5.0, 20.0):
            for part in (1.0, -1.0, 0.4):
                divergence = renyi(noise, part * sensitivity, order)
                assert divergence <= (xi + order * eta) * (1 + 1e-9) + 1e-9


@for_all("order", [1.001, 2.0, 17.0])
def test_gaussian_bound_is_exact(order):
    xi, eta = zcdp(Gaussian(1.7), 0.9)
    assert xi == 0
    assert math.isclose(renyi(Gaussian(1.7), 0.9, order), order * eta, rel_tol=1e-9)
    assert zcdp(FlippedHuber(0.0, 1.7), 0.9) == pytest.approx((xi, eta), rel=1e-15)


def test_rho_of_laplace_noise_is_its_divergence_at_order_1():
    """(0, epsilon + exp(-epsilon) - 1): the ratio D_s / s rises to it as s falls to 1."""
    xi, rho = zcdp(Laplace(4.0), 2.0)
    assert xi == 0.0
    assert rho == pytest.approx(0.5 + math.exp(-0.5) - 1.0, rel=1e-11)
    ratios = [renyi(Laplace(4.0), 2.0, s) / s for s in (1.0001, 1.01, 1.5, 3.0, 20.0)]
    assert 0.999 * rho < ratios[0] <= rho * (1.0 + 1e-9)
    assert all(np.diff(ratios) < 0.0)


def test_tiny_rho_is_never_rounded_to_nothing():
    for noise in (Gaussian(1e200), Laplace(1e200), Huber(1.0, 1e200)):
        assert zcdp(noise).eta > 0.0


def test_transition_cost_is_the_printed_one_and_inverts():
    alpha = np.array([0.0, 1e-8, 0.3, 0.999, 1.0, 1.001, 2.0, 50.0, 1e12])
    for d in (0.2, 1.0, 7.0):
        cost = transition_cost(alpha, d)
        printed = alpha**2 - np.maximum(alpha - d, 0) ** 2
        assert np.allclose(cost[:-1], printed[:-1], rtol=1e-12)
        assert np.allclose(transition_for_cost(cost, d), alpha, rtol=1e-14)
        assert np.all(np.diff(cost) > 0)
    assert transition_for_cost(0.49) == pytest.approx(0.7, rel=1e-15)
    assert transition_for_cost(3.0) == 2.0


@for_all("epsilon", [1e-8, 1e-3, 0.5, 3.0, 400.0])
@for_all("delta", [1e-300, 1e-9, 0.01, 0.7])
def test_conversion_and_inverse_are_a_round_trip(epsilon, delta):
    xi = epsilon * np.array([0.0, 1e-9, 0.3, 0.9, 1 - 1e-9, 1.0])
    eta = eta_from_dp(epsilon, delta, xi)
    assert np.all(np.diff(eta) <= 0)
    assert eta[-1] == 0
    assert np.allclose(epsilon_from_zcdp(xi, eta, delta), epsilon, rtol=1e-13)
    assert isinstance(eta_from_dp(epsilon, delta), float)


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: zcdp("noise", -1), ["noise", "'noise'", "sensitivity", "got -1"]),
        (lambda: epsilon_from_zcdp(-1, math.nan, 2), ["xi", "-1", "eta", "nan", "delta", "2"]),
        (lambda: eta_from_dp(0.0, 0.0), ["epsilon", "delta", "got 0.0"]),
        (lambda: eta_from_dp(1.0, 0.1, [0.5, 1.5]), ["xi", "[0, 1]", "1.5"]),
    ]
)


def test_bounds_add_under_composition():
    """Sums, integer multiples and `sum` compose; tuples are not concatenated."""
    a, b = zcdp(Gaussian(2.0)), zcdp(Laplace(4.0))
    assert a + b == pytest.approx((0.0, 0.125 + 0.25 + math.exp(-0.25) - 1.0), rel=1e-11)
    assert sum([a, a, b]) == 2 * a + b
    assert ZCDP(0.25, 0.0) + a == ZCDP(0.25, 0.125)
    assert b * 3 == b.composed(3) == b + b + b
    assert 0 * a == ZCDP(0.0, 0.0)
    epsilon = epsilon_from_zcdp(*(a + b), 1e-6)
    assert epsilon >= epsilon_from_zcdp(*a, 1e-6)
    for wrong in ((0.1, 0.2), 1.0, "a"):
        with pytest.raises(TypeError, match="expected another one to add"):
            a + wrong
        with pytest.raises(TypeError, match="expected another one to add"):
            wrong + a
    for times in (-1, 0.5, True, "2", math.nan):
        with pytest.raises(ValueError, match="times: expected a non-negative integer"):
            a.composed(times)


def test_bounds_are_never_below_the_exact_ones():
    """In rational arithmetic; sums and multiples are rounded up too."""
    rng = np.random.default_rng(12)
    total, exact = ZCDP(0.0, 0.0), [Fraction(0), Fraction(0)]
    for alpha, scale, d in 10 ** rng.uniform(-8, 8, (200, 3)):
        a, s, D = Fraction(alpha), Fraction(scale), Fraction(d)
        cost = a * a - max(a - D, Fraction(0)) ** 2
        for noise, parts in (
            (Gaussian(scale), (Fraction(0), D * D / s / s / 2)),
            (FlippedHuber(alpha, scale), (cost / s / s / 2, D * D / s / s / 2)),
        ):
            bound = zcdp(noise, d)
            for value, part in zip(bound, parts, strict=True):
                assert part <= Fraction(value) <= part * (1 + Fraction(1, 2**52))
            total += 3 * bound
            exact = [x + 3 * y for x, y in zip(exact, parts, strict=True)]
    assert all(Fraction(x) >= y for x, y in zip(total, exact, strict=True))
    # The smallest double in place of 0 where the bound has none.
    assert zcdp(Gaussian(1e200), 1.0) == ZCDP(0.0, 5e-324)
    for eta, delta in ((1e-3, 1e-6), (0.3, 0.01), (5e-324, 0.5), (1e9, 1e-300)):
        with mp.workdps(60):
            e = mp.mpf(eta)
            true = e + 2 * mp.sqrt(e) * mp.sqrt(-mp.log(mp.mpf(delta)))
            found = epsilon_from_zcdp(0.0, eta, delta)
            assert true <= mp.mpf(float(found)) <= true * (1 + mp.mpf(2) ** -47)
    for epsilon, delta in ((0.1, 1e-6), (1.0, 0.3), (3e-7, 1e-100)):
        with mp.workdps(60):
            log_inverse = -mp.log(mp.mpf(delta))
            true = mp.mpf(epsilon) / (mp.sqrt(epsilon + log_inverse) + mp.sqrt(log_inverse))
            found = mp.mpf(float(eta_from_dp(epsilon, delta)))
            assert true**2 * (1 - mp.mpf(2) ** -46) <= found <= true**2
