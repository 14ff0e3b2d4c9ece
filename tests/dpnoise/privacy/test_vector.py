"""Vector profiles against convolution, closed forms, other accountants and simulation.

Noise with greater parameters is more dispersed, and more private at every shift.
"""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pandas as pd
import pytest
from dp_accounting.pld import privacy_loss_distribution
from flint import arb
from scipy import optimize

from dpnoise import vector_profile
from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.privacy import vector
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.vector import profile_of_counted
from dpnoise_papers.verify.oracles.gaussian import gaussian_ball
from for_all import for_all
from hockey_stick import hockey_stick
from oracles.gaussian import number

RTOL = 1e-7
FAMILIES = [
    Gaussian(2.0),
    Laplace(2.0),
    FlippedHuber(0.5, 2.0),
    FlippedHuber(3.0, 2.0),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 17.3),
    Huber(1.0, 2.0),
    Staircase(0.4, 1.0, 0.3),
    Subbotin(1.0, 2.0),
    Subbotin(1.5, 2.0),
    Subbotin(2.0, 2.0),
]
ORDERED = [
    FlippedHuber(2.0, 2.0),
    FlippedHuber(0.1, 3.0),
    FlippedHuber(30.0, 4.0),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 7.0),
    Huber(1.0, 2.0),
    Huber(0.1, 2.0),
    Laplace(2.0),
    Gaussian(1.5),
    Subbotin(1.5, 2.0),
    Subbotin(7.0, 2.0),
]


def _holds(found, log_exact, slack=1e-12):
    return np.all(found.log_lower <= log_exact + slack) and np.all(
        log_exact - slack <= found.log_upper
    )


@pytest.mark.parametrize("noise", FAMILIES)
def test_one_coordinate_is_the_scalar_profile(noise):
    epsilon = np.array([0.0, 0.05, 0.3, 0.49, 0.5, 2.0])
    found = vector_profile(noise, 1.0, epsilon)
    exact = log_privacy_profile(noise, 1.0, epsilon)
    assert _holds(found, exact, 0.0)
    finite = np.isfinite(exact)
    assert np.all(found.log_upper[finite] - found.log_lower[finite] <= 1e-9)
    assert np.all(found.upper[~finite] == 0.0)


def _breaks(noise, epsilon, reach):
    """Return where delta_1(epsilon - loss(t)) may fail to be smooth, loss rising in t."""
    edges = [p.left for p in noise.pieces()]
    edges = [e + s for e in edges + [-e for e in edges] for s in (0.0, -1.0)]
    left = max(-reach, -noise.bound)
    right = min(reach, noise.bound - 1.0)
    edges = [e for e in edges if left < e < right]

    def loss(t):
        return noise.logpdf(t) - noise.logpdf(t + 1.0)

    inner = np.unique([left + 1e-13, right - 1e-13, *edges])
    ends, middles = loss(inner), loss(0.5 * (inner[1:] + inner[:-1]))
    found = set(inner.tolist())
    for level in {*ends.tolist(), *middles.tolist()}:
        gaps = ends - epsilon + level
        for k in np.flatnonzero(gaps[:-1] * gaps[1:] < 0.0):
            places = inner[k], inner[k + 1]
            found.add(
                optimize.brentq(lambda t, v=level: loss(t) - epsilon + v, *places, xtol=1e-14)
            )
    return np.array(sorted(found))


_TWO = [
    FlippedHuber(0.5, 2.0),
    FlippedHuber(3.0, 2.0),
    FlippedHuber(30.0, 20.0),
    OffsetSymmetricGaussian(1.0, 2.0),
    Huber(1.0, 2.0),
    Laplace(3.0),
    TruncatedLaplace(2.0, 9.3),
]


# (noise, epsilon) where epsilon is a sum of two values that the loss takes with positive mass,
# or one of those plus a loss at a break of the density.
_TIES = [
    (FlippedHuber(2.0, 2.0), 1.0),
    (FlippedHuber(2.0, 2.0), 0.5),
    (FlippedHuber(4.0, 2.0), 2.0),
    (FlippedHuber(1.5, 1.0), 3.0),
    (FlippedHuber(1.0, 1.0), 1.0),
    (FlippedHuber(3.0, math.sqrt(3.0)), 2.0),
    (FlippedHuber(3.0, 2.0), 0.75),
    (OffsetSymmetricGaussian(1.0, 1.0), 1.0),
    (Huber(1.0, 1.0), 1.0),
    (Huber(1.0, 2.0), 0.5),
    (Laplace(2.0), 0.5),
    (TruncatedLaplace(2.0, 3.0), 0.5),
    (TruncatedLaplace(1.0, 1.0), 1.0),
    *((noise, 0.0) for noise in (*_TWO[::3], FlippedHuber(2.0, 2.0))),
]


@for_all(("noise", "epsilon"), [*zip(_TWO, (0.05, 0.4) * 4, strict=False), *_TIES])
def test_two_coordinates_convolve(noise, epsilon):
    # delta_2(epsilon) = E delta_1(epsilon - loss), plus the mass that leaves the support.
    breaks = _breaks(noise, epsilon, 45.0 * noise.std())
    nodes, weights = np.polynomial.legendre.leggauss(30)
    low = np.linspace(breaks[:-1], breaks[1:], 4, endpoint=False)
    half = 0.125 * (breaks[1:] - breaks[:-1])[:, None]
    t = low[..., None] + half * (1.0 + nodes)
    loss = noise.logpdf(t) - noise.logpdf(t + 1.0)
    first = np.exp(hockey_stick(noise, 1.0, epsilon - loss)[0])
    exact = float(noise.sf(noise.bound - 1.0)) if noise.bound < math.inf else 0.0
    exact += float(np.sum(half * weights * noise.pdf(t) * first))
    found = vector_profile(noise, 1.0, epsilon, copies=2, rtol=5e-9)
    assert _holds(found, math.log(exact), 1e-10)
    assert abs(found.log_estimate - math.log(exact)) <= 5e-10
    assert found.log_upper - found.log_lower <= 1e-8


@pytest.mark.parametrize("copies", [1, 2, 20, 1000, 10_000, 10**8])
def test_gaussian_coordinates_have_the_closed_form(copies):
    epsilon = np.array([0.0, 0.3, 4.0, 40.0])
    found = vector_profile(Gaussian(2.0), 0.5, epsilon, copies=copies)
    exact = gaussian_log_delta(0.25 * math.sqrt(copies), epsilon)
    assert _holds(found, exact, 0.0)
    mixed = vector_profile([Gaussian(1.0), Gaussian(2.0), Laplace(1.0)], [3.0, 8.0, 0.0], 2.0)
    assert _holds(mixed, gaussian_log_delta(5.0, 2.0))


def _laplace_power(copies, loss, epsilon):
    """Return delta of K Laplace losses from the residues of their transform.

    M(s) = (e^(s l) (s + 1) + e^(-(s + 1) l) s) / (2 s + 1), so that each term of M^K
    e^(-s epsilon) / (s (s + 1)) with a positive exponent is a sum of residues.
    """
    total = mpmath.mpf(0)
    for j in range(copies + 1):
        x = loss * (copies - 2 * j) - epsilon
        if x <= 0:
            continue
        a, b = copies - j - 1, j - 1
        residues = mpmath.mpf(0)
        if b < 0:
            residues += 1
        if a < 0:
            residues += mpmath.mpf(-1) ** (copies + b) * mpmath.exp(-x)
        # At -1/2: the coefficient of w^(K - 1) of (w + 1/2)^a (w - 1/2)^b e^(w x).
        series = [mpmath.mpf(0)] * copies
        series[0] = mpmath.mpf(1)
        factors = (
            [mpmath.binomial(a, n) * mpmath.mpf(2) ** (n - a) for n in range(copies)],
            [mpmath.binomial(b, n) * mpmath.mpf(-2) ** (n - b) for n in range(copies)],
            [x**n / mpmath.factorial(n) for n in range(copies)],
        )
        for factor in factors:
            series = [
                mpmath.fsum(series[m] * factor[n - m] for m in range(n + 1)) for n in range(copies)
            ]
        residues += mpmath.exp(-x / 2) * series[-1] / mpmath.mpf(2) ** copies
        total += mpmath.binomial(copies, j) * mpmath.exp(-j * loss) * residues
    return total


@pytest.mark.parametrize("copies", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("beta", [20.0, 4.0])
def test_laplace_coordinates_have_residues(copies, beta):
    with mpmath.workdps(60):
        for share in (0.05, 0.4, 0.9):
            epsilon = share * copies / beta
            exact = _laplace_power(copies, 1 / mpmath.mpf(beta), mpmath.mpf(epsilon))
            found = vector_profile(Laplace(beta), 1.0, epsilon, copies=copies)
            assert _holds(found, float(mpmath.log(exact)), 1e-12)
            assert found.log_upper - found.log_lower <= RTOL


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_dp_accounting_agrees(epsilon):
    # Connect-the-dots on a lattice of 1e-4: pessimistic, and near by its own account.
    pair = privacy_loss_distribution.from_laplace_mechanism(
        10.0, value_discretization_interval=1e-4
    )
    theirs = pair.self_compose(20).get_delta_for_epsilon(epsilon)
    found = vector_profile(Laplace(10.0), 1.0, epsilon, copies=20)
    assert found.lower <= theirs + 1e-12
    assert found.estimate == pytest.approx(theirs, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_lattice_bounds_overlap_on_random_mixtures(seed):
    rng = np.random.default_rng(seed)
    noise = []
    for _ in range(4):
        a, b = 10.0 ** rng.uniform(-0.3, 1.5, 2)
        kinds = (
            FlippedHuber(a, b),
            Laplace(a),
            TruncatedLaplace(a, 3.0 * a + 2.0),
            Huber(1.0, b),
            OffsetSymmetricGaussian(a, b),
            Gaussian(b),
        )
        noise += [kinds[rng.integers(6)]] * int(rng.integers(1, 4))
    sensitivity = [1.0] * len(noise)
    for epsilon in (0.2, 1.0, 5.0):
        found = vector_profile(noise, sensitivity, epsilon)
        other = lattice_bounds([(n, 1.0, 1) for n in noise], epsilon, size=2**13)
        assert found.log_lower <= other.log_upper + 1e-12
        assert other.log_lower <= found.log_upper + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_default_gap_and_order_on_random_parameters(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(4):
        a, b = 10.0 ** rng.uniform(-0.5, 2.5, 2)
        noise = (
            FlippedHuber(a, b),
            FlippedHuber(1e4, b),
            Laplace(a),
            TruncatedLaplace(a, a * (1.0 + b)),
            Huber(1.0, b),
            OffsetSymmetricGaussian(a, b),
            Staircase(0.3, 1.0 + a, 0.4),
        )[rng.integers(7)]
        copies = int(10.0 ** rng.uniform(0.4, 4.0))
        scale = math.sqrt(copies) / noise.std() + 0.5 * copies / noise.var()
        epsilon = scale * np.array([0.0, 0.3, 1.0, 3.0])
        found = vector_profile(noise, 1.0, epsilon, copies=copies)
        assert np.all(found.log_lower <= found.log_estimate)
        assert np.all(found.log_estimate <= found.log_upper)
        assert np.all(found.log_upper <= 0.0)
        assert np.all(found.log_lower[1:] <= found.log_upper[:-1])
        large = found.estimate >= 1e-14
        assert np.all((found.log_upper - found.log_lower)[large] <= RTOL)


def test_far_below_the_smallest_double():
    found = vector_profile(FlippedHuber(2.0, 5.0), 1.0, np.array([20.0, 40.0, 90.0]), copies=20)
    assert np.all(found.log_upper - found.log_lower <= RTOL)
    assert found.log_upper[-1] < -2000.0
    assert found.lower[-1] == 0.0
    assert found.upper[-1] > 0.0


def test_far_below_the_smallest_double_against_arb():
    """The logarithm itself is rounded: by 3e-11 at the first of these."""
    cases = [(735206.301381468, 496147.7284267968, 404.930860014663)]
    cases += [
        (10.0**k, 10.0**k * c, c * e) for k in (-3, 0, 6) for c in (1e-3, 1.0) for e in (7, 900)
    ]
    for sigma, shift, epsilon in cases:
        found = vector_profile(Gaussian(sigma), shift, epsilon)
        exact = number(
            lambda d=shift, s=sigma, e=epsilon: gaussian_ball(arb(d) / arb(s), arb(e)), ""
        )
        with mpmath.workdps(40):
            low, high = (mpmath.mpf(float(x)) for x in (found.log_lower, found.log_upper))
            assert low <= mpmath.log(exact) <= high


def test_simulation_from_shifted_noise():
    # T_i drawn from noise moved towards losses above epsilon, weighted back. The mean of
    # 200,000 such values lies within 5 standard errors but once in 1.7 million runs.
    noise = [FlippedHuber(8.0, 6.0)] * 3 + [Laplace(9.0)] * 2 + [OffsetSymmetricGaussian(3.0, 7.0)]
    epsilon, shift, size = 0.65, 5.0, 200_000
    loss, log_weight = np.zeros(size), np.zeros(size)
    for k, one in enumerate(noise):
        t = one.rvs(size, random_state=[17, k]) + shift
        loss += one.logpdf(t) - one.logpdf(t + 1.0)
        log_weight += one.logpdf(t) - one.logpdf(t - shift)
    value = np.exp(log_weight) * -np.expm1(np.minimum(epsilon - loss, 0.0))
    error = 5.0 * value.std() / math.sqrt(size)
    found = vector_profile(noise, [1.0] * 6, epsilon)
    assert error < 0.05 * found.estimate
    assert abs(value.mean() - found.estimate) <= error


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-30, 1e-12, 1e-3, 1.0, 1e2, 1e4, 1e100])
def test_flipped_huber_from_gaussian_to_laplace(alpha):
    # At a scale that keeps the noise near sigma = 10 or beta = 10.
    gamma = max(10.0, math.sqrt(10.0 * alpha))
    found = vector_profile(FlippedHuber(alpha, gamma), 1.0, 0.4, copies=20)
    assert found.log_upper - found.log_lower <= RTOL
    if alpha <= 1e-12:
        exact = vector_profile(Gaussian(10.0), 1.0, 0.4, copies=20)
        assert found.log_estimate == pytest.approx(exact.log_estimate, abs=1e-7)
    if alpha >= 1e100:
        exact = vector_profile(Laplace(10.0), 1.0, 0.4, copies=20)
        assert found.log_estimate == pytest.approx(exact.log_estimate, abs=1e-7)


def test_the_order_of_coordinates_and_units_do_not_matter():
    noise = [FlippedHuber(8.0, 6.0), Laplace(9.0), Laplace(5.0)]
    one = vector_profile(noise, [1.0, 2.0, 0.3], 0.4)
    two = vector_profile(noise[::-1], [0.3, 2.0, 1.0], 0.4)
    many = vector_profile([n.scaled(1e5) for n in noise], [1e5, 2e5, 0.3e5], 0.4)
    for other in (two, many):
        assert other.log_estimate == pytest.approx(one.log_estimate, abs=1e-8)
        assert one.log_lower <= other.log_upper
        assert other.log_lower <= one.log_upper


def test_more_copies_leak_more_and_epsilon_keeps_its_shape():
    epsilon = np.array([[0.1, 0.5], [1.0, 2.0]])
    few, more = (vector_profile(FlippedHuber(9.0, 8.0), 1.0, epsilon, copies=k) for k in (5, 9))
    assert few.lower.shape == (2, 2)
    assert np.all(few.upper < more.lower)
    assert np.ndim(vector_profile(Laplace(2.0), 1.0, 0.1, copies=3).estimate) == 0


def test_staircases_of_equal_width_are_trinomial():
    # With gamma -> 1 - gamma -> 0 at the limit the loss has two values: randomised response.
    noise = Staircase(0.5, 1.0, 0.5)
    p = 1.0 / (1.0 + math.exp(-0.5))
    exact = sum(
        math.comb(9, k) * p**k * (1 - p) ** (9 - k) * max(-math.expm1(1.2 - 0.5 * (2 * k - 9)), 0.0)
        for k in range(10)
    )
    found = vector_profile(noise, 1.0, 1.2, copies=9)
    assert found.estimate == pytest.approx(exact, rel=1e-11)
    assert found.lower <= exact <= found.upper


def test_subbotin_goes_through_the_lattice():
    found = vector_profile(Subbotin(1.5, 5.0), 1.0, 0.7, copies=10)
    assert found.log_upper - found.log_lower <= 1e-5
    gaussian = vector_profile(Subbotin(2.0, 5.0), 1.0, 0.7, copies=10)
    assert gaussian.estimate == pytest.approx(
        vector_profile(Gaussian(5.0), 1.0, 0.7, copies=10).estimate, rel=1e-12
    )


def test_certainty_and_nothing():
    nothing = vector_profile([Laplace(1.0), Gaussian(1.0)], [0.0, 0], [0.0, 1.0])
    assert nothing.upper.tolist() == [0.0, 0.0]
    certain = vector_profile(TruncatedLaplace(1.0, 0.4), 1.0, 3.0, copies=2)
    assert certain.lower == certain.upper == 1.0
    pure = vector_profile(Laplace(2.0), 1.0, 2.6, copies=5)
    assert pure.upper == 0.0


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        ((Laplace(1.0), 1.0, -0.1), {}, ["epsilon", "-0.1"]),
        ((Laplace(1.0), -1.0, math.nan), {"copies": 0}, ["epsilon", "copies", "0", "-1.0"]),
        ((Laplace(1.0), 1.0, 0.1), {"copies": 2.5}, ["copies", "2.5"]),
        ((Laplace(1.0), 1.0, 0.1), {"rtol": 0.0}, ["rtol"]),
        ((Laplace(1.0), math.nan, 0.1), {}, ["sensitivity", "nan"]),
        (([Laplace(1.0)], [1.0, 2.0], 0.1), {}, ["equal length", "(1, 2)"]),
        (([Laplace(1.0)], 1.0, 0.1), {}, ["one each"]),
        (([], [], 0.1), {}, ["at least one"]),
        (([Laplace(1.0)] * 2, [1.0] * 2, 0.1), {"copies": 2}, ["copies", "sequences"]),
        (([Laplace(1.0), "x"], [1.0, -2.0], 0.1), {}, ["coordinate 1", "'x'", "-2.0"]),
        ((Laplace(1.0), 1e9, 0.1), {"copies": 2}, ["sensitivity / E|T|"]),
        ((Staircase(1.0, 1.0, 0.5), 1.5, 0.1), {"copies": 2}, ["staircase", "1.5"]),
        (
            (Staircase(1.0, 1.0, 0.5), 1.0 + 2.0**-50, 2.5),
            {"copies": 2},
            ["staircase", "1.0000000000000009"],
        ),
        ((FlippedHuber(1.0, 1.0), 1.0, 1e300), {"copies": 3}, ["epsilon", "1e+99", "1e+300"]),
        (([Laplace(1.0)] * 2, np.ones((2, 2)), 0.1), {}, ["sensitivity of coordinate 0"]),
    ],
)
def test_bad_input_is_refused_once(arguments, options, expected):
    with pytest.raises(ValueError, match="vector profile") as refusal:
        vector_profile(*arguments, **options)
    for part in expected:
        assert part in str(refusal.value)


def test_any_one_dimensional_array_like_holds_the_coordinates():
    noise, sizes = [Laplace(1.0), FlippedHuber(1.0, 1.0)], [1.0, 0.5]
    expected = vector_profile(noise, sizes, 0.5).upper
    lists = (list, tuple, pd.Series, lambda values: pd.Series(values, index=["b", "a"]))
    for kind in (*lists, lambda values: np.array(values, dtype=object)):
        assert vector_profile(kind(noise), kind(sizes), 0.5).upper == expected
    assert vector_profile(noise, np.array(sizes), pd.Series([0.5])).upper == expected


@for_all("noise", FAMILIES[:8])
@for_all("scale", [1e-5, 1.0, 1e5])
def test_every_epsilon_has_bounds(noise, scale):
    epsilon = np.array([1e5, 1e7, 1e9, 1e12, 1e15, 1e40, 1e99])
    for copies in (2, 3, 1000):
        found = vector_profile(
            noise.scaled(scale), 1.0 if scale > 0.1 else 0.4 * scale, epsilon, copies=copies
        )
        assert np.all(found.log_lower <= found.log_estimate)
        assert np.all(found.log_estimate <= found.log_upper)
        assert np.all(found.log_upper <= 0.0)
        # P(L_i > epsilon / K for all i) and Chernoff at the least.
        assert np.all(found.log_upper < -100.0) or noise.bound < math.inf


def test_epsilon_beyond_all_digits_is_above_the_chance_that_each_coordinate_exceeds_its_share():
    # For Gaussian tails beyond alpha the loss is (2 t + 1) / (2 gamma^2).
    for epsilon in (1e4, 1e6, 1e8):
        found = vector_profile(FlippedHuber(1.0, 1.0), 1.0, epsilon, copies=3)
        tail = FlippedHuber(1.0, 1.0).logsf((epsilon + 1.0) / 3.0 - 0.5)
        assert found.log_upper >= 3.0 * tail + math.log(-math.expm1(-1.0))


def test_counted_coordinates_are_those_of_a_list_and_refused_alike():
    first, second = Laplace(1.0), FlippedHuber(2.0, 2.0)
    counted = profile_of_counted([(first, 1.0, 2), (second, 0.5, 1), (first, 1.0, 1)], 0.7)
    listed = vector_profile([first] * 3 + [second], [1.0] * 3 + [0.5], 0.7)
    assert counted == listed
    assert profile_of_counted([(first, 0.0, 3)], 0.7).upper == 0.0
    many = profile_of_counted([(Gaussian(3e4), 1.0, 10**8)], 1.0)  # too many for a list
    one = log_privacy_profile(Gaussian(3.0), 1.0, 1.0)
    assert many.log_lower <= one <= many.log_upper
    wide = [(Staircase(1.0, 1.0, 0.5), 1.5, 2)]
    for shares, epsilon in ((wide, 1.0), ([(first, 1.0, 1)], -1.0), ([(first, -1.0, 1)], 1.0)):
        with pytest.raises(ValueError, match="vector profile: "):
            profile_of_counted(shares, epsilon)
    with pytest.raises(ValueError, match=r"expected at most 100000000 coordinates, got 300000000"):
        profile_of_counted([(Gaussian(3e4), 1.0, 3 * 10**8)], 1.0)


def test_long_lists_are_counted_or_refused():
    noise = [Laplace(9.0), FlippedHuber(9.0, 9.0)] * 50_000
    found = vector_profile(noise, np.ones(100_000), 900.0)
    assert found.log_upper - found.log_lower < 1e-6
    with pytest.raises(ValueError, match="at most 1000000 coordinates one by one"):
        vector_profile(noise * 11, np.ones(1_100_000), 1.0)
    with pytest.raises(ValueError, match="at most 100000 different ones"):
        vector_profile([Laplace(9.0 + k * 1e-6) for k in range(100_001)], np.ones(100_001), 1.0)
    with pytest.raises(ValueError, match="coordinate 99") as refusal:
        vector_profile([Laplace(9.0)] * 1000, [-1.0] * 1000, 1.0)
    assert "coordinate 100" not in str(refusal.value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lengths_without_a_square_are_refused():
    with pytest.raises(ValueError, match="squares have doubles"):
        vector_profile(FlippedHuber(1e161, 1e16), 1.7e-129, 1.6e-152, copies=2)


def _made(family, values):
    """The noise of a family with given values of what varies."""
    kind, *fixed = family
    x, *ratios = map(float, values)
    if kind is Huber:
        return Huber(1.0 / ratios[0], x * ratios[0])
    return kind(*fixed, x, *(x * ratio for ratio in ratios))


def _greater(noise):
    """Return noise with each of the parameters, and with all, raised a little and a lot."""
    family, values = noise.dispersion()
    for factor in (1.0 + 1e-6, 1.3, 10.0):
        for some in product([1.0, factor], repeat=len(values)):
            if max(some) > 1.0:
                yield _made(family, np.array(values) * some)


@pytest.mark.parametrize("noise", ORDERED)
def test_density_at_each_quantile_falls_with_each_parameter(noise):
    levels = np.concatenate([np.geomspace(1e-6, 1.0, 60), np.linspace(1.0, 300.0, 400)])
    density = noise.logpdf(noise._magnitude(levels))
    for other in _greater(noise):
        assert np.all(other.logpdf(other._magnitude(levels)) <= density + 1e-11 * (1.0 + levels))


@for_all("noise", ORDERED)
@for_all("shift", [0.1, 1.0, 5.0])
def test_greater_parameters_are_more_private_at_every_epsilon(noise, shift):
    epsilon = np.linspace(-3.0, 3.0, 61)
    delta = hockey_stick(noise, shift, epsilon)[0]
    for other in _greater(noise):
        assert np.all(hockey_stick(other, shift, epsilon)[0] <= delta + 1e-10)


def test_different_coordinates_are_limited_but_for_gaussian_noise(monkeypatch):
    monkeypatch.setattr(vector, "_MOST_DIFFERENT", 10)
    noise = [Gaussian(3.0 + k) for k in range(20)] + [FlippedHuber(0.0, 5.0)]
    found = vector_profile(noise, [1.0] * 21, 0.3)
    assert found.log_upper - found.log_lower < 1e-9
    noise += [Laplace(20.0 + k / 99.0) for k in range(11)]
    with pytest.raises(ValueError, match=r"at most 10 different coordinates .*, got 11"):
        vector_profile(noise, [1.0] * 32, 0.3)
    odd = [Subbotin(p, 9.0) for p in np.linspace(2.1, 3.0, 5)]
    monkeypatch.setattr(vector, "_SECONDS", 0.03)
    with pytest.raises(ValueError, match=r"at most 2 different coordinates at 1 epsilons .*got 5"):
        vector_profile(odd, [1.0] * 5, 0.3)


def test_many_epsilons_are_refused_with_the_number_that_is_not():
    with pytest.raises(ValueError, match=r"expected at most \d+ values at") as refusal:
        vector_profile(FlippedHuber(9.0, 9.0), 1.0, np.linspace(0.0, 1.0, 10**6), copies=20)
    assert "got 1000000" in str(refusal.value)
    with pytest.raises(ValueError, match=r"at most 0 different coordinates at 100000"):
        vector_profile(Subbotin(3.0, 9.0), 1.0, np.linspace(0.0, 1.0, 10**5), copies=20)
    assert math.isfinite(vector_profile(Gaussian(9.0), 1.0, np.zeros(10**5), copies=9).upper[0])
