"""Scales in closed form: budgets kept in exact arithmetic, no scheme that errs less, shares."""

from fractions import Fraction

import mpmath
import numpy as np
from scipy import optimize, special

from dpnoise import Gaussian, Huber, Laplace, allocate, gaussian_sigma
from for_all import for_all

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
